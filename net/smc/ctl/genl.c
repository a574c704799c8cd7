// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family SMC_GEN_NETLINK: commands, rights, and what is
 * too small for a file of its own.
 *
 * Any program may read; changes need CAP_NET_ADMIN in the initial user
 * namespace.  What is shown is the requester's network namespace and nothing
 * of another one.  Rows of a dump are built from plain values, strings are cut
 * to their length, and nothing of the message is left unwritten.
 *
 * A dump that does not fit one message goes on at the first row that was not
 * sent.  Groups and devices have numbers that grow along their lists, so rows
 * that come and go meanwhile make no row appear twice or be left out.
 *
 * Requests may carry attributes we do not know, they are skipped; attribute 1
 * is refused where a command takes none, as programs are used to.
 *
 * Context: process; generic netlink calls one function of a family at a time.
 * Tests: selftests/smc/genl.py.
 */
#include <linux/smc.h>
#include <linux/string.h>
#include <linux/stringify.h>
#include "handshake/peer_id.h"
#include "net.h"
#include "genl.h"

#define SMC_VERSION	2

static int fill_sys_info(struct sk_buff *skb, struct smc_net *sn)
{
	char host[SMC_MAX_HOSTNAME_LEN + 1];
	struct nlattr *nest;
	size_t len;

	smc_peer_id_hostname(sn->net, host);
	len = strlen(host);
	memset(host + len, ' ', SMC_MAX_HOSTNAME_LEN - len);
	host[SMC_MAX_HOSTNAME_LEN] = 0;

	nest = nla_nest_start(skb, SMC_GEN_SYS_INFO);
	if (!nest || nla_put_u8(skb, SMC_NLA_SYS_VER, SMC_VERSION) ||
	    nla_put_u8(skb, SMC_NLA_SYS_REL, SMC_RELEASE) ||
	    nla_put_u8(skb, SMC_NLA_SYS_IS_ISM_V2, 1) ||
	    nla_put_u8(skb, SMC_NLA_SYS_IS_SMCR_V2, 1) ||
	    nla_put_string(skb, SMC_NLA_SYS_LOCAL_HOST, host) ||
	    nla_put_string(skb, SMC_NLA_SYS_SEID, "") ||
	    nla_put_string(skb, SMC_NLA_SYS_MODULE_VERSION,
			   __stringify(SMC_MODULE_VERSION)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int dump_sys_info(struct sk_buff *skb, struct netlink_callback *cb)
{
	return smc_genl_once(skb, cb, fill_sys_info);
}

static int fill_hs_limit(struct sk_buff *skb, struct smc_net *sn)
{
	return nla_put_u8(skb, SMC_NLA_HS_LIMITATION_ENABLED,
			  !!READ_ONCE(sn->limit_hs));
}

static int dump_hs_limit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return smc_genl_once(skb, cb, fill_hs_limit);
}

/* The same as sysctl net.smc.limit_smc_hs. */
static int set_hs_limit(struct sk_buff *skb, struct genl_info *info)
{
	struct smc_net *sn = smc_net(genl_info_net(info));

	WRITE_ONCE(sn->limit_hs, info->genlhdr->cmd ==
		   SMC_NETLINK_ENABLE_HS_LIMITATION);
	return 0;
}

#define LENIENT	(GENL_DONT_VALIDATE_STRICT | GENL_DONT_VALIDATE_DUMP_STRICT)

#define GET(_cmd, _dump)						\
	{ .cmd = (_cmd), .dumpit = (_dump), .validate = LENIENT }

#define SET(_cmd, _do)							\
	{ .cmd = (_cmd), .doit = (_do), .flags = GENL_ADMIN_PERM,	\
	  .validate = LENIENT }

#define SET_UEID(_cmd, _do)						\
	{ .cmd = (_cmd), .doit = (_do), .flags = GENL_ADMIN_PERM,	\
	  .validate = LENIENT, .policy = smc_genl_ueid_policy,		\
	  .maxattr = SMC_NLA_EID_TABLE_MAX }

static const struct genl_ops ops[] = {
	GET(SMC_NETLINK_GET_SYS_INFO, dump_sys_info),
	GET(SMC_NETLINK_GET_LGR_SMCR, smc_genl_dump_lgr),
	GET(SMC_NETLINK_GET_LINK_SMCR, smc_genl_dump_lgr),
	GET(SMC_NETLINK_GET_LGR_SMCD, smc_genl_dump_lgr),
	GET(SMC_NETLINK_GET_DEV_SMCD, smc_genl_dump_dev),
	GET(SMC_NETLINK_GET_DEV_SMCR, smc_genl_dump_dev),
	GET(SMC_NETLINK_GET_STATS, smc_genl_dump_stats),
	GET(SMC_NETLINK_GET_FBACK_STATS, smc_genl_dump_fback),
	GET(SMC_NETLINK_DUMP_UEID, smc_genl_dump_ueid),
	SET_UEID(SMC_NETLINK_ADD_UEID, smc_genl_add_ueid),
	SET_UEID(SMC_NETLINK_REMOVE_UEID, smc_genl_remove_ueid),
	SET(SMC_NETLINK_FLUSH_UEID, smc_genl_flush_ueid),
	GET(SMC_NETLINK_DUMP_SEID, smc_genl_dump_seid),
	SET(SMC_NETLINK_ENABLE_SEID, smc_genl_set_seid),
	SET(SMC_NETLINK_DISABLE_SEID, smc_genl_set_seid),
	GET(SMC_NETLINK_DUMP_HS_LIMITATION, dump_hs_limit),
	SET(SMC_NETLINK_ENABLE_HS_LIMITATION, set_hs_limit),
	SET(SMC_NETLINK_DISABLE_HS_LIMITATION, set_hs_limit),
};

/**
 * smc_genl_init() - register both netlink families
 *
 * Context: process, module init: the family is read-only after it.
 * Return: 0 or -errno.
 */
int smc_genl_init(void)
{
	int rc;

	smc_genl_family.ops = ops;
	smc_genl_family.n_ops = ARRAY_SIZE(ops);
	rc = genl_register_family(&smc_genl_family);
	if (rc)
		return rc;
	rc = genl_register_family(&smc_genl_pnet_family);
	if (rc)
		genl_unregister_family(&smc_genl_family);
	return rc;
}

/**
 * smc_genl_exit() - undo smc_genl_init()
 *
 * Context: process.
 */
void smc_genl_exit(void)
{
	genl_unregister_family(&smc_genl_pnet_family);
	genl_unregister_family(&smc_genl_family);
}
