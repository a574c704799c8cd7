// SPDX-License-Identifier: GPL-2.0
/*
 * net.smc.*, one directory for each network namespace.
 *
 * Each namespace gets a copy of the table below, whose entries name a place in
 * struct smc_net.  Every value is checked; what is not allowed is refused with
 * EINVAL and changes nothing.  Names, types and ranges of the first part are
 * those of the Linux kernel's own SMC before 6.19, so that existing files in
 * /etc/sysctl.d go on working.  Three of them have no effect and are only kept: this
 * implementation chooses the kind of its buffers itself (smcr_buf_type), uses
 * one link for a group (smcr_max_links_per_lgr), and does not limit handshakes
 * by limit_smc_hs.  The second part is ours; the defaults of its limits are in
 * account.c.
 *
 * Context: process.  Test: selftests/vm/tests.
 */
#include <linux/capability.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>
#include "account.h"
#include "handshake/select.h"
#include "net.h"
#include "sysctl.h"

#define TRANSPORTS_LEN	64	/* longest text taken, with NUL */

static int ring_min = SMC_SIZE_MIN;
static int ring_max = INT_MAX / 2;
static int buf_type_max = 2;
static int max_conns_min = SMC_MIN_CONNS;
static int max_conns_max = SMC_MAX_CONNS;
static int max_links_max = 2;
static int testlink_max = INT_MAX / HZ;
static int timeout_min = 100;
static int timeout_max = 60000;
static int day_s = 86400;
static int acct_max = SMC_ACCT_MAX;

/* Words separated by blanks or commas; none: always plain TCP. */
static int transports_parse(char *text, unsigned int *bits)
{
	unsigned int all = 0;
	char *word;

	while ((word = strsep(&text, " \t\n,"))) {
		if (!*word)
			continue;
		if (!strcmp(word, "smcd"))
			all |= SMC_USE_SMCD;
		else if (!strcmp(word, "smcr"))
			all |= SMC_USE_SMCR;
		else
			return -EINVAL;
	}
	*bits = all;
	return 0;
}

static void transports_print(char *text, size_t size, unsigned int bits)
{
	snprintf(text, size, "%s%s%s", bits & SMC_USE_SMCD ? "smcd" : "",
		 bits == (SMC_USE_SMCD | SMC_USE_SMCR) ? " " : "",
		 bits & SMC_USE_SMCR ? "smcr" : "");
}

static int transports_handler(SMC_CTL_CONST struct ctl_table *ctl, int write,
			      void *buffer, size_t *lenp, loff_t *ppos)
{
	unsigned int *transports = ctl->data;
	char text[TRANSPORTS_LEN] = "";
	struct ctl_table tmp = { .data = text, .maxlen = sizeof(text) };
	unsigned int bits;
	int err;

	/* a text in pieces, or one that would be cut, is not understood */
	if (write && (*ppos || *lenp >= sizeof(text)))
		return -EINVAL;
	if (!write)
		transports_print(text, sizeof(text), READ_ONCE(*transports));
	err = proc_dostring(&tmp, write, buffer, lenp, ppos);
	if (err || !write)
		return err;
	err = transports_parse(text, &bits);
	if (!err)
		WRITE_ONCE(*transports, bits);
	return err;
}

/*
 * The task has to be in the file's namespace: root of a container may open the
 * file there and have a privileged program outside write to it.
 */
static bool may_raise(const struct smc_net *sn)
{
	const struct nsproxy *ns = current->nsproxy;	/* NULL: it exits */

	return ns && net_eq(ns->net_ns, sn->net) && capable(CAP_NET_ADMIN);
}

/*
 * A limit of a namespace or of the host.  Without CAP_NET_ADMIN of the host, or
 * from another namespace, it can only be lowered: root of a container gets no
 * more than it was given.
 */
static int limit_handler(SMC_CTL_CONST struct ctl_table *ctl, int write,
			 void *buffer, size_t *lenp, loff_t *ppos)
{
	int *limit = ctl->data;
	int old = READ_ONCE(*limit);
	int value = old;
	struct ctl_table tmp = *ctl;
	int err;

	tmp.data = &value;
	/* that of @ctl is the namespace */
	tmp.extra1 = SYSCTL_ZERO;
	err = proc_dointvec_minmax(&tmp, write, buffer, lenp, ppos);
	if (err || !write)
		return err;
	/* the limit may be lowered meanwhile: that counts */
	do {
		if (value > old && !may_raise(ctl->extra1))
			return -EPERM;
	} while (!try_cmpxchg(limit, &old, value));
	return 0;
}

/* Where the value of a namespace is: table_fill() adds its struct smc_net. */
#define AT(_member)	((void *)offsetof(struct smc_net, _member))

#define INT_ENTRY(_name, _member, _min, _max)				\
	{ .procname = (_name), .data = AT(_member),			\
	  .maxlen = sizeof(int), .mode = 0644,				\
	  .proc_handler = proc_dointvec_minmax,				\
	  .extra1 = (_min), .extra2 = (_max) }
#define LIMIT_ENTRY(_name, _data)					\
	{ .procname = (_name), .data = (_data),				\
	  .maxlen = sizeof(int), .mode = 0644,				\
	  .proc_handler = limit_handler,				\
	  .extra2 = &acct_max }

static const struct ctl_table net_entries[] = {
	{ .procname = "autocorking_size", .data = AT(autocork),
	  .maxlen = sizeof(int), .mode = 0644,
	  .proc_handler = proc_douintvec },
	{ .procname = "smcr_buf_type", .data = AT(buf_type),
	  .maxlen = sizeof(int), .mode = 0644,
	  .proc_handler = proc_douintvec_minmax,
	  .extra1 = SYSCTL_ZERO, .extra2 = &buf_type_max },
	INT_ENTRY("smcr_max_links_per_lgr", max_links, SYSCTL_ONE,
		  &max_links_max),
	INT_ENTRY("smcr_max_conns_per_lgr", max_conns, &max_conns_min,
		  &max_conns_max),
	INT_ENTRY("smcr_testlink_time", testlink_s, SYSCTL_ZERO,
		  &testlink_max),
	INT_ENTRY("wmem", wmem, &ring_min, &ring_max),
	INT_ENTRY("rmem", rmem, &ring_min, &ring_max),
	INT_ENTRY("limit_smc_hs", limit_hs, SYSCTL_ZERO, SYSCTL_ONE),
	/* ours */
	{ .procname = "transports", .data = AT(transports), .mode = 0644,
	  .proc_handler = transports_handler },
	INT_ENTRY("conns_per_queue", conns_per_queue, SYSCTL_ZERO,
		  &max_conns_max),
	INT_ENTRY("lend_ports", lend_ports, SYSCTL_ZERO, SYSCTL_ONE),
	INT_ENTRY("handshake_timeout_ms", handshake_timeout_ms, &timeout_min,
		  &timeout_max),
	INT_ENTRY("fallback_memory_s", fallback_memory_s, SYSCTL_ZERO, &day_s),
	INT_ENTRY("orphan_timeout_s", orphan_timeout_s, SYSCTL_ONE, &day_s),
	LIMIT_ENTRY("max_orphans", AT(limit[SMC_ACCT_ORPHANS])),
	LIMIT_ENTRY("max_orphans_per_peer", AT(peer_limit[SMC_ACCT_ORPHANS])),
	LIMIT_ENTRY("max_groups", AT(limit[SMC_ACCT_GROUPS])),
	LIMIT_ENTRY("max_groups_per_peer", AT(peer_limit[SMC_ACCT_GROUPS])),
	LIMIT_ENTRY("max_handshakes", AT(limit[SMC_ACCT_HANDSHAKES])),
	LIMIT_ENTRY("max_ring_kbytes", AT(limit[SMC_ACCT_RINGS])),
	LIMIT_ENTRY("max_ring_kbytes_per_peer", AT(peer_limit[SMC_ACCT_RINGS])),
};

/* Of the host, in the first namespace only: pointers. */
static const struct ctl_table host_entries[] = {
	LIMIT_ENTRY("host_max_groups",
		    &smc_account_host_limit[SMC_ACCT_GROUPS]),
	LIMIT_ENTRY("host_max_handshakes",
		    &smc_account_host_limit[SMC_ACCT_HANDSHAKES]),
	LIMIT_ENTRY("host_max_orphans",
		    &smc_account_host_limit[SMC_ACCT_ORPHANS]),
	LIMIT_ENTRY("host_max_orphans_per_user",
		    &smc_account_user_limit[SMC_ACCT_ORPHANS]),
	LIMIT_ENTRY("host_max_ring_kbytes",
		    &smc_account_host_limit[SMC_ACCT_RINGS]),
	LIMIT_ENTRY("host_max_ring_kbytes_per_user",
		    &smc_account_user_limit[SMC_ACCT_RINGS]),
};

#define NET_ENTRIES	ARRAY_SIZE(net_entries)
#define ALL_ENTRIES	(NET_ENTRIES + ARRAY_SIZE(host_entries))

static void table_fill(struct ctl_table *table, struct smc_net *sn, size_t num)
{
	unsigned int i;

	memcpy(table, net_entries, sizeof(net_entries));
	if (num > NET_ENTRIES)
		memcpy(table + NET_ENTRIES, host_entries, sizeof(host_entries));
	for (i = 0; i < NET_ENTRIES; i++)
		table[i].data = (void *)sn + (uintptr_t)table[i].data;
	for (i = 0; i < num; i++) {
		if (table[i].proc_handler == limit_handler)
			table[i].extra1 = sn;
	}
}

static void defaults(struct smc_net *sn)
{
	sn->autocork = 65536;
	sn->buf_type = 0;
	sn->max_links = 2;
	sn->max_conns = SMC_MAX_CONNS;
	sn->testlink_s = 30;
	sn->wmem = 65536;
	sn->rmem = 65536;
	sn->limit_hs = 0;
	sn->transports = SMC_USE_SMCR | SMC_USE_SMCD;
	sn->conns_per_queue = 32;
	sn->lend_ports = 0;
	sn->handshake_timeout_ms = 2000;
	sn->fallback_memory_s = 60;
	sn->orphan_timeout_s = 120;
}

/**
 * smc_sysctl_net_init() - defaults and net.smc of a new namespace
 * @sn: namespace state, @sn->net is set
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int smc_sysctl_net_init(struct smc_net *sn)
{
	bool is_first = net_eq(sn->net, &init_net);
	size_t num = is_first ? ALL_ENTRIES : NET_ENTRIES;
	struct ctl_table *table;

	defaults(sn);
	if (!IS_ENABLED(CONFIG_SYSCTL))
		return 0;
	/* the last one stays empty: older kernels look for the end */
	table = kcalloc(num + 1, sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	table_fill(table, sn, num);
	sn->sysctl_hdr = register_net_sysctl_sz(sn->net, "net/smc", table, num);
	if (!sn->sysctl_hdr) {
		kfree(table);
		return -ENOMEM;
	}
	return 0;
}

/**
 * smc_sysctl_net_exit() - take net.smc away
 * @sn: namespace state
 *
 * Context: process, waits for readers and writers of the files.
 */
void smc_sysctl_net_exit(struct smc_net *sn)
{
	const struct ctl_table *table;

	if (!sn->sysctl_hdr)
		return;
	table = sn->sysctl_hdr->ctl_table_arg;
	unregister_net_sysctl_table(sn->sysctl_hdr);
	kfree(table);
}
