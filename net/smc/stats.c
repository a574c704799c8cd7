// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of a network namespace and /proc/net/smc_stat.
 *
 * Each counter is a 64-bit number per cpu, added to without a lock by
 * smc_stats_add(); a reader sums the cpus, so that a sum is exact once traffic
 * has stopped.  All but the bytes in use only grow.  The file has one line for
 * each counter of SMC_STAT_LIST and, for each transport, of SMC_TECH_LIST, name
 * and value, the way of /proc/net/tls_stat, and needs no tool to be read, in a
 * container too.  Netlink has histograms and reasons of fallback besides.
 *
 * Some counters come in pairs, of what was made and what is gone.  When a
 * namespace ends nothing of it is left, and the kernel's log says so if a pair
 * is unequal.
 *
 * Context: process.  Test: selftests/vm/tests.
 */
#define pr_fmt(fmt) "smc: " fmt

#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "net.h"
#include "stats.h"

#define STAT_NAME(sym, name, text)	name,
static const char * const stat_names[SMC_STAT_NUM] = {
	SMC_STAT_LIST(STAT_NAME)
};

static const char * const tech_names[SMC_TECH_NUM] = {
	SMC_TECH_LIST(STAT_NAME)
};

static const char * const xport_names[SMC_STATS_XPORTS] = { "Smcr", "Smcd" };

static const struct {
	enum smc_stat made, gone;
} pairs[] = {
	{ SMC_STAT_SOCK_CREATED,	SMC_STAT_SOCK_DESTROYED },
	{ SMC_STAT_LGR_CREATED,		SMC_STAT_LGR_DESTROYED },
	{ SMC_STAT_LINK_CREATED,	SMC_STAT_LINK_DESTROYED },
	{ SMC_STAT_BUF_CREATED,		SMC_STAT_BUF_DESTROYED },
	{ SMC_STAT_CONN_CREATED,	SMC_STAT_CONN_DESTROYED },
	{ SMC_STAT_HS_STARTED,		SMC_STAT_HS_ENDED },
	{ SMC_STAT_WR_POSTED,		SMC_STAT_WR_COMPLETED },
};

/**
 * smc_stats_fallback() - a connection goes on as plain TCP
 * @sn: namespace state
 * @server: our role
 * @reason: enum smc_reason
 *
 * Context: any.
 */
void smc_stats_fallback(struct smc_net *sn, bool server, u32 reason)
{
	unsigned int i = smc_reason_index(reason);

	if (i < SMC_REASON_NUM)
		this_cpu_inc(sn->stats->fallback[server][i]);
}

/* Added on a CPU that has been looked at, and taken away on one that has not. */
static void at_least_0(u64 *sum)
{
	if ((s64)*sum < 0)
		*sum = 0;
}

/**
 * smc_stats_sum() - all counters at once
 * @sn: namespace state
 *
 * Calls are counted for each transport alone: their sums are made here.
 *
 * Context: process.
 * Return: sums over all cpus, for kfree(), or NULL.
 */
struct smc_stats *smc_stats_sum(const struct smc_net *sn)
{
	size_t n = sizeof(struct smc_stats) / sizeof(u64);
	struct smc_stats *sum;
	const u64 *from;
	int cpu, x;
	u64 *to;
	size_t i;

	sum = kzalloc(sizeof(*sum), GFP_KERNEL);
	if (!sum)
		return NULL;
	to = (u64 *)sum;
	for_each_possible_cpu(cpu) {
		from = (const u64 *)per_cpu_ptr(sn->stats, cpu);
		for (i = 0; i < n; i++)
			to[i] += READ_ONCE(from[i]);
	}
	for (x = 0; x < SMC_STATS_XPORTS; x++) {
		at_least_0(&sum->tech[x].val[SMC_TECH_RX_USAGE]);
		at_least_0(&sum->tech[x].val[SMC_TECH_TX_USAGE]);
		sum->val[SMC_STAT_TX_CALLS] +=
			sum->tech[x].val[SMC_TECH_TX_CALLS];
		sum->val[SMC_STAT_RX_CALLS] +=
			sum->tech[x].val[SMC_TECH_RX_CALLS];
	}
	return sum;
}

static int __maybe_unused stats_show(struct seq_file *seq, void *v)
{
	struct net *net = seq->private;
	const struct smc_net *sn = smc_net(net);
	const struct smc_stats *sum;
	enum smc_stat stat;
	enum smc_tech tech;
	int x;

	sum = smc_stats_sum(sn);
	if (!sum)
		return -ENOMEM;
	for (stat = 0; stat < SMC_STAT_NUM; stat++)
		seq_printf(seq, "%-32s\t%llu\n", stat_names[stat],
			   sum->val[stat]);
	for (x = 0; x < SMC_STATS_XPORTS; x++)
		for (tech = 0; tech < SMC_TECH_NUM; tech++)
			seq_printf(seq, "%s%-28s\t%llu\n", xport_names[x],
				   tech_names[tech], sum->tech[x].val[tech]);
	kfree(sum);
	return 0;
}

/**
 * smc_stats_net_init() - counters and /proc file of a new namespace
 * @sn: namespace state, @sn->net is set
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int smc_stats_net_init(struct smc_net *sn)
{
	sn->stats = alloc_percpu(struct smc_stats);
	if (!sn->stats)
		return -ENOMEM;
	if (IS_ENABLED(CONFIG_PROC_FS) &&
	    !proc_create_net_single("smc_stat", 0444, sn->net->proc_net,
				    stats_show, NULL)) {
		free_percpu(sn->stats);
		return -ENOMEM;
	}
	return 0;
}

/* Nothing is left that could be counted: all pairs are equal. */
static void check_pairs(const struct smc_net *sn)
{
	const struct smc_stats *sum = smc_stats_sum(sn);
	unsigned int i;

	for (i = 0; sum && i < ARRAY_SIZE(pairs); i++) {
		enum smc_stat made = pairs[i].made, gone = pairs[i].gone;

		if (sum->val[made] != sum->val[gone])
			pr_warn("unequal: %s %llu, %s %llu\n",
				stat_names[made], sum->val[made],
				stat_names[gone], sum->val[gone]);
	}
	kfree(sum);
}

/**
 * smc_stats_net_exit() - undo smc_stats_net_init()
 * @sn: namespace state; no counter is written any more
 *
 * Context: process.
 */
void smc_stats_net_exit(struct smc_net *sn)
{
	remove_proc_entry("smc_stat", sn->net->proc_net);
	check_pairs(sn);
	free_percpu(sn->stats);
}
