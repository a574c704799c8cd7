// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading.
 *
 * The module is set up by walking one table forward, from the bottom layer to
 * the top: what a program can see (socket and netlink families) comes last.  It
 * is taken down by walking the same table backward.  State of a network namespace
 * is set up and taken down in the same way by smc_net_ops.
 *
 * Context: process.  Test: selftests/vm/tests.
 */
#define pr_fmt(fmt) "smc: " fmt

#include <linux/module.h>
#include <linux/net.h>
#include <linux/rcupdate.h>
#include <linux/smc.h>
#include <linux/stringify.h>
#include <net/net_namespace.h>
#include "ctl/genl.h"
#include "ctl/sysctl.h"
#include "handshake/peer_id.h"
#include "handshake/hs.h"
#include "core/buf.h"
#include "core/lgr.h"
#include "transport/loopback.h"
#include "account.h"
#include "net.h"
#include "pnet.h"
#include "transport/rdma/init.h"
#include "sock/sock.h"
#include "handshake/ueid.h"

/* What a namespace has, from the bottom to the top */
static const struct {
	int (*init)(struct smc_net *sn);
	void (*exit)(struct smc_net *sn);
} net_parts[] = {
	/* by name: hardened kernels shuffle structures of functions */
	{ .init = smc_stats_net_init,	.exit = smc_stats_net_exit },
	{ .init = smc_account_net_init,	.exit = smc_account_net_exit },
	{ .init = smc_lgr_net_init,	.exit = smc_lgr_net_exit },
	{ .init = smc_hs_net_init,	.exit = smc_hs_net_exit },
	{ .init = smc_sysctl_net_init,	.exit = smc_sysctl_net_exit },
};

/* Take down net_parts[n - 1] to net_parts[0]. */
static void net_parts_exit(struct smc_net *sn, unsigned int n)
{
	while (n--)
		net_parts[n].exit(sn);
}

static int __net_init net_init(struct net *net)
{
	struct smc_net *sn = smc_net(net);
	unsigned int i;
	int err;

	sn->net = net;
	smc_row_net_init(sn);
	smc_peer_id_net_init(sn);
	INIT_LIST_HEAD(&sn->pnet);
	for (i = 0; i < ARRAY_SIZE(net_parts); i++) {
		err = net_parts[i].init(sn);
		if (err) {
			net_parts_exit(sn, i);
			return err;
		}
	}
	return 0;
}

/*
 * No socket is left: each holds a reference of its namespace.  Groups without
 * connections may be, and end here.  Namespaces may go together: the groups of
 * all of them are killed before net_exit() waits for those of the first.
 */
static void __net_exit net_pre_exit(struct net *net)
{
	smc_lgr_net_kill(smc_net(net));
}

static void __net_exit net_exit(struct net *net)
{
	struct smc_net *sn = smc_net(net);

	net_parts_exit(sn, ARRAY_SIZE(net_parts));
	smc_pnet_del(sn, NULL);
	smc_row_net_exit(sn);
}

static struct pernet_operations smc_net_ops = {
	.init = net_init,
	.pre_exit = net_pre_exit,
	.exit = net_exit,
	.id = &smc_net_id,
	.size = sizeof(struct smc_net),
};

static int namespaces_init(void)
{
	return register_pernet_subsys(&smc_net_ops);
}

static void namespaces_exit(void)
{
	unregister_pernet_subsys(&smc_net_ops);
}

static const struct {
	const char *name;
	int (*init)(void);
	void (*exit)(void);
} parts[] = {
	{ "accounts",	smc_account_init,	smc_account_exit },
	{ "namespaces",	namespaces_init,	namespaces_exit },
	{ "rings",	smc_buf_init,		smc_buf_exit },
	{ "identity",	smc_ueid_init,		smc_ueid_flush },
	{ "smcd",	smc_lo_init,		smc_lo_exit },
	{ "smcr",	smc_rdma_init,		smc_rdma_exit },
	{ "handshake",	smc_hs_tcp_init,	smc_hs_tcp_exit },
	{ "SYN option",	smc_synopt_init,	smc_synopt_exit },
	{ "sockets",	smc_sock_init,		smc_sock_exit },
	{ "netlink",	smc_genl_init,		smc_genl_exit },
};

/* Take down parts[n - 1] to parts[0]. */
static void parts_exit(unsigned int n)
{
	while (n--)
		parts[n].exit();
	/*
	 * Before 6.12 the core ends a cache that is SLAB_TYPESAFE_BY_RCU in a
	 * work, after a barrier of its own; until then its name cannot be used
	 * again, when the module is loaded again.
	 */
	rcu_barrier();
}

static int __init smc_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		err = parts[i].init();
		if (err) {
			pr_err("%s: %s fails with %d\n", __func__,
			       parts[i].name, err);
			parts_exit(i);
			return err;
		}
	}
	return 0;
}

static void __exit smc_exit(void)
{
	parts_exit(ARRAY_SIZE(parts));
}

module_init(smc_init);
module_exit(smc_exit);

MODULE_DESCRIPTION("Shared Memory Communications: TCP programs over RDMA and shared memory");
MODULE_LICENSE("GPL");
/* the kernel's own smc has none: the tools tell the two apart by it */
MODULE_VERSION(__stringify(SMC_MODULE_VERSION));
MODULE_ALIAS_NETPROTO(PF_SMC);
/* socket(AF_INET or AF_INET6, SOCK_STREAM, IPPROTO_SMC) loads the module */
MODULE_ALIAS("net-pf-2-proto-256-type-1");
MODULE_ALIAS("net-pf-10-proto-256-type-1");
/* so does a program that asks for one of the netlink families */
MODULE_ALIAS_GENL_FAMILY(SMC_GENL_FAMILY_NAME);
MODULE_ALIAS_GENL_FAMILY(SMCR_GENL_FAMILY_NAME);
