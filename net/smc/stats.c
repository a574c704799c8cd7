// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of a network namespace and /proc/net/smc_stat.
 *
 * Each counter is a 64-bit number per cpu, added to without a lock by
 * smc_stats_add(); a reader sums the cpus, so that a sum is exact once
 * traffic has stopped and never goes backwards.  The file has one line for each
 * counter of SMC_STAT_LIST, name and value, the way of /proc/net/tls_stat, and
 * needs no tool to be read, in a container too.
 *
 * Context: process.  Test: selftests/vm/tests.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include "net.h"
#include "stats.h"

#define STAT_NAME(sym, name, text)	name,
static const char * const stat_names[SMC_STAT_NUM] = {
	SMC_STAT_LIST(STAT_NAME)
};

/**
 * smc_stats_read() - value of one counter
 * @sn: namespace state
 * @stat: which counter
 *
 * Context: any.
 * Return: the sum over all cpus.
 */
u64 smc_stats_read(const struct smc_net *sn, enum smc_stat stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(sn->stats, cpu)->val[stat]);
	return sum;
}

static int stats_show(struct seq_file *seq, void *v)
{
	struct net *net = seq->private;
	const struct smc_net *sn = smc_net(net);
	enum smc_stat stat;

	for (stat = 0; stat < SMC_STAT_NUM; stat++)
		seq_printf(seq, "%-32s\t%llu\n", stat_names[stat],
			   smc_stats_read(sn, stat));
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

/**
 * smc_stats_net_exit() - undo smc_stats_net_init()
 * @sn: namespace state; nobody counts any more
 *
 * Context: process.
 */
void smc_stats_net_exit(struct smc_net *sn)
{
	remove_proc_entry("smc_stat", sn->net->proc_net);
	free_percpu(sn->stats);
}
