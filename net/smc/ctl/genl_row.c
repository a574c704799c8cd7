// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family SMC_GEN_NETLINK without its commands, and the
 * messages of its dumps.
 *
 * Every command uses this; genl.c, which names all commands, gives them to the
 * family before it registers it.
 *
 * Context: process, unless a function says otherwise; generic netlink calls one
 * function of a family at a time.
 * Tests: selftests/smc/genl.py.
 */
#include <linux/module.h>
#include <linux/smc.h>
#include "net.h"
#include "genl.h"

/* Attribute 1 where a command takes none. */
static const struct nla_policy no_attrs[] = {
	[SMC_GEN_UNSPEC]	= { .type = NLA_UNSPEC, },
	[SMC_GEN_SYS_INFO]	= { .type = NLA_REJECT, },
};

struct genl_family smc_genl_family __ro_after_init = {
	.name = SMC_GENL_FAMILY_NAME,
	.version = SMC_GENL_FAMILY_VERSION,
	.module = THIS_MODULE,
	.netnsok = true,
	.policy = no_attrs,
	.maxattr = ARRAY_SIZE(no_attrs) - 1,
	.resv_start_op = SMC_NETLINK_DISABLE_HS_LIMITATION + 1,
};

/**
 * smc_genl_net() - whose rows are wanted?
 * @cb: dump
 *
 * Return: state of the requester's namespace.
 */
struct smc_net *smc_genl_net(const struct netlink_callback *cb)
{
	return smc_net(sock_net(cb->skb->sk));
}

/**
 * smc_genl_row() - begin a message of a dump
 * @skb: being filled
 * @cb: dump
 * @cmd: SMC_NETLINK_*
 *
 * Context: any: rows are also written under spinlocks.
 * Return: for smc_genl_end(); NULL: no room.
 */
void *smc_genl_row(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
			   cb->nlh->nlmsg_seq, &smc_genl_family, NLM_F_MULTI,
			   cmd);
}

/**
 * smc_genl_once() - a dump of one message
 * @skb: being filled
 * @cb: dump
 * @fill: puts the attributes; 0 or -EMSGSIZE
 *
 * Return: what a dump function returns.
 */
int smc_genl_once(struct sk_buff *skb, struct netlink_callback *cb,
		  int (*fill)(struct sk_buff *skb, struct smc_net *sn))
{
	void *hdr;
	int rc;

	if (cb->args[0])
		return 0;
	hdr = smc_genl_row(skb, cb, smc_genl_cmd(cb));
	if (!hdr)
		return -EMSGSIZE;
	rc = smc_genl_end(skb, hdr, fill(skb, smc_genl_net(cb)));
	if (rc)
		return rc;
	cb->args[0] = 1;
	return skb->len;
}

/**
 * smc_genl_put_uint() - 32 bits if that is enough, else 64
 * @skb: being filled
 * @attr: attribute
 * @val: value
 *
 * Context: any.
 * Return: 0 or -EMSGSIZE.
 */
int smc_genl_put_uint(struct sk_buff *skb, int attr, u64 val)
{
	u32 low = val;

	if (low == val)
		return nla_put_u32(skb, attr, low);
	return nla_put_u64_64bit(skb, attr, val, 0);
}
