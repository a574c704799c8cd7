/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the generic netlink families share.
 */
#ifndef SMC_CTL_GENL_H
#define SMC_CTL_GENL_H

#include <linux/skbuff.h>
#include <net/genetlink.h>
#include <net/netlink.h>
#include <net/sock.h>

struct smc_net;

int smc_genl_init(void);
void smc_genl_exit(void);

/* genl_row.c */
extern struct genl_family smc_genl_family;
struct smc_net *smc_genl_net(const struct netlink_callback *cb);
void *smc_genl_row(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd);
int smc_genl_once(struct sk_buff *skb, struct netlink_callback *cb,
		  int (*fill)(struct sk_buff *skb, struct smc_net *sn));
int smc_genl_put_uint(struct sk_buff *skb, int attr, u64 val);

/* What is wanted: SMC_NETLINK_*. */
static inline u8 smc_genl_cmd(const struct netlink_callback *cb)
{
	return ((const struct genlmsghdr *)nlmsg_data(cb->nlh))->cmd;
}

/* End a message, or with @rc != 0 take it back; @rc is returned. */
static inline int smc_genl_end(struct sk_buff *skb, void *hdr, int rc)
{
	if (rc)
		genlmsg_cancel(skb, hdr);
	else
		genlmsg_end(skb, hdr);
	return rc;
}

/* genl_lgr.c, genl_dev.c, genl_stats.c, genl_eid.c */
int smc_genl_dump_lgr(struct sk_buff *skb, struct netlink_callback *cb);
int smc_genl_dump_dev(struct sk_buff *skb, struct netlink_callback *cb);
int smc_genl_dump_stats(struct sk_buff *skb, struct netlink_callback *cb);
int smc_genl_dump_fback(struct sk_buff *skb, struct netlink_callback *cb);
int smc_genl_dump_ueid(struct sk_buff *skb, struct netlink_callback *cb);
int smc_genl_add_ueid(struct sk_buff *skb, struct genl_info *info);
int smc_genl_remove_ueid(struct sk_buff *skb, struct genl_info *info);
int smc_genl_flush_ueid(struct sk_buff *skb, struct genl_info *info);
int smc_genl_dump_seid(struct sk_buff *skb, struct netlink_callback *cb);
int smc_genl_set_seid(struct sk_buff *skb, struct genl_info *info);

/* genl_eid.c */
extern const struct nla_policy smc_genl_ueid_policy[];

/* genl_pnet.c: the other family */
extern struct genl_family smc_genl_pnet_family;

#endif /* SMC_CTL_GENL_H */
