// SPDX-License-Identifier: GPL-2.0
/*
 * Counters and reasons of fallback over generic netlink.
 *
 * Where the counters of stats.h go in the message is said here in tables; what
 * this implementation has nothing to count for is 0.  All nests are always
 * there, programs rely on it.
 *
 * Context: process.  Tests: selftests/smc/genl.py.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/smc.h>
#include "net.h"
#include "reason.h"
#include "stats.h"
#include "core/xport.h"
#include "genl.h"

static_assert(SMC_STATS_XPORTS == SMC_XPORT_NUM);

/* Programs have room for so many reasons of each role: no more are sent. */
#define MAX_REASONS	30

enum { CLIENT, SERVER, ROLES };

struct place {
	u32 next;		/* row; role * SMC_REASON_NUM + reason */
	bool totals_sent;
};

static int put_u64(struct sk_buff *skb, int attr, u64 val)
{
	return nla_put_u64_64bit(skb, attr, val, 0);
}

/* Counters that are attributes of the transport's nest. */
static const struct {
	u8 attr;
	u8 tech;
} flat[] = {
	{ SMC_NLA_STATS_T_CLNT_V1_SUCC,	SMC_TECH_CLNT_V1 },
	{ SMC_NLA_STATS_T_CLNT_V2_SUCC,	SMC_TECH_CLNT_V2 },
	{ SMC_NLA_STATS_T_SRV_V1_SUCC,	SMC_TECH_SRV_V1 },
	{ SMC_NLA_STATS_T_SRV_V2_SUCC,	SMC_TECH_SRV_V2 },
	{ SMC_NLA_STATS_T_SENDPAGE_CNT,	SMC_TECH_NUM },
	{ SMC_NLA_STATS_T_SPLICE_CNT,	SMC_TECH_SPLICE },
	{ SMC_NLA_STATS_T_CORK_CNT,	SMC_TECH_CORK },
	{ SMC_NLA_STATS_T_NDLY_CNT,	SMC_TECH_NODELAY },
	{ SMC_NLA_STATS_T_URG_DATA_CNT,	SMC_TECH_URGENT },
	{ SMC_NLA_STATS_T_RX_BYTES,	SMC_TECH_RX_BYTES },
	{ SMC_NLA_STATS_T_TX_BYTES,	SMC_TECH_TX_BYTES },
	{ SMC_NLA_STATS_T_RX_CNT,	SMC_TECH_RX_CALLS },
	{ SMC_NLA_STATS_T_TX_CNT,	SMC_TECH_TX_CALLS },
};

/* Counters of buffers, in the order of SMC_NLA_STATS_RMB_*; NUM: not counted */
static const u8 tx_bufs[] = {
	SMC_TECH_TX_SMALL_PEER, SMC_TECH_TX_SMALL, SMC_TECH_TX_FULL_PEER,
	SMC_TECH_TX_FULL, SMC_TECH_TX_REUSED, SMC_TECH_TX_ALLOC,
	SMC_TECH_TX_DOWN,
};

static const u8 rx_bufs[] = {
	SMC_TECH_NUM, SMC_TECH_RX_SMALL, SMC_TECH_NUM, SMC_TECH_RX_FULL,
	SMC_TECH_RX_REUSED, SMC_TECH_RX_ALLOC, SMC_TECH_RX_DOWN,
};

static_assert(ARRAY_SIZE(tx_bufs) == SMC_NLA_STATS_RMB_MAX);
static_assert(ARRAY_SIZE(rx_bufs) == SMC_NLA_STATS_RMB_MAX);
static_assert(SMC_HIST_BUCKETS == SMC_NLA_STATS_PLOAD_MAX);

static int put_hist(struct sk_buff *skb, int attr, const u64 *hist)
{
	struct nlattr *nest = nla_nest_start(skb, attr);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < SMC_HIST_BUCKETS; i++)
		if (put_u64(skb, SMC_NLA_STATS_PLOAD_8K + i, hist[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static u64 value(const u64 *tech, u8 which)
{
	return which < SMC_TECH_NUM ? tech[which] : 0;
}

static int put_bufs(struct sk_buff *skb, int attr, const u64 *tech,
		    const u8 *which)
{
	struct nlattr *nest = nla_nest_start(skb, attr);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < SMC_NLA_STATS_RMB_MAX; i++)
		if (put_u64(skb, SMC_NLA_STATS_RMB_SIZE_SM_PEER_CNT + i,
			    value(tech, which[i])))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_tech(struct sk_buff *skb, int attr, const struct smc_stats *sum,
		    enum smc_xport_id id)
{
	const u64 (*hist)[SMC_HIST_BUCKETS] = sum->tech[id].hist;
	const u64 *tech = sum->tech[id].val;
	struct nlattr *nest;
	unsigned int i;

	nest = nla_nest_start(skb, attr);
	if (!nest ||
	    put_hist(skb, SMC_NLA_STATS_T_TX_RMB_SIZE, hist[SMC_HIST_TX_BUF]) ||
	    put_hist(skb, SMC_NLA_STATS_T_RX_RMB_SIZE, hist[SMC_HIST_RX_BUF]) ||
	    put_hist(skb, SMC_NLA_STATS_T_TXPLOAD_SIZE,
		     hist[SMC_HIST_TX_CALL]) ||
	    put_hist(skb, SMC_NLA_STATS_T_RXPLOAD_SIZE,
		     hist[SMC_HIST_RX_CALL]) ||
	    put_bufs(skb, SMC_NLA_STATS_T_TX_RMB_STATS, tech, tx_bufs) ||
	    put_bufs(skb, SMC_NLA_STATS_T_RX_RMB_STATS, tech, rx_bufs))
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(flat); i++)
		if (put_u64(skb, flat[i].attr, value(tech, flat[i].tech)))
			return -EMSGSIZE;
	if (smc_genl_put_uint(skb, SMC_NLA_STATS_T_RX_RMB_USAGE,
			      tech[SMC_TECH_RX_USAGE]) ||
	    smc_genl_put_uint(skb, SMC_NLA_STATS_T_TX_RMB_USAGE,
			      tech[SMC_TECH_TX_USAGE]))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_stats(struct sk_buff *skb, const struct smc_stats *sum)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_STATS);

	if (!nest ||
	    put_tech(skb, SMC_NLA_STATS_SMCD_TECH, sum, SMC_XPORT_D) ||
	    put_tech(skb, SMC_NLA_STATS_SMCR_TECH, sum, SMC_XPORT_R) ||
	    put_u64(skb, SMC_NLA_STATS_CLNT_HS_ERR_CNT,
		    sum->val[SMC_STAT_HS_CLNT_ERR]) ||
	    put_u64(skb, SMC_NLA_STATS_SRV_HS_ERR_CNT,
		    sum->val[SMC_STAT_HS_SRV_ERR]))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int fill_stats(struct sk_buff *skb, struct smc_net *sn)
{
	const struct smc_stats *sum = smc_stats_sum(sn);
	int rc;

	if (!sum)
		return -ENOMEM;
	rc = put_stats(skb, sum);
	kfree(sum);
	return rc;
}

/**
 * smc_genl_dump_stats() - counters of both transports
 * @skb: message to be filled
 * @cb: dump
 *
 * Context: process, the family's lock is held.
 * Return: length of the message, or -errno.
 */
int smc_genl_dump_stats(struct sk_buff *skb, struct netlink_callback *cb)
{
	return smc_genl_once(skb, cb, fill_stats);
}

static u64 total(const struct smc_stats *sum, int role)
{
	u64 all = 0;
	int i;

	for (i = 0; i < SMC_REASON_NUM; i++)
		all += sum->fallback[role][i];
	return all;
}

static int put_fback(struct sk_buff *skb, const struct smc_stats *sum,
		     int role, int reason, bool totals)
{
	u64 num = sum->fallback[role][reason];
	struct nlattr *nest;

	nest = nla_nest_start(skb, SMC_GEN_FBACK_STATS);
	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_FBACK_STATS_TYPE, role == SERVER))
		return -EMSGSIZE;
	if (totals && (put_u64(skb, SMC_NLA_FBACK_STATS_SRV_CNT,
			       total(sum, SERVER)) ||
		       put_u64(skb, SMC_NLA_FBACK_STATS_CLNT_CNT,
			       total(sum, CLIENT))))
		return -EMSGSIZE;
	if (nla_put_u32(skb, SMC_NLA_FBACK_STATS_RSN_CODE,
			smc_reason_code(reason)) ||
	    nla_put_u16(skb, SMC_NLA_FBACK_STATS_RSN_CNT, num) ||
	    put_u64(skb, SMC_NLA_FBACK_STATS_FULL_CNT, num))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* May this reason be shown: is it among the first that a role has? */
static bool shown(const struct smc_stats *sum, int role, int reason)
{
	int i, before = 0;

	for (i = 0; i < reason; i++)
		before += !!sum->fallback[role][i];
	return sum->fallback[role][reason] && before < MAX_REASONS;
}

static int dump_fback(struct sk_buff *skb, struct netlink_callback *cb,
		      const struct smc_stats *sum)
{
	struct place *place = (struct place *)cb->ctx;
	int role, reason;
	void *hdr;

	for (; place->next < ROLES * SMC_REASON_NUM; place->next++) {
		role = place->next / SMC_REASON_NUM;
		reason = place->next % SMC_REASON_NUM;
		if (!shown(sum, role, reason))
			continue;
		hdr = smc_genl_row(skb, cb, SMC_NETLINK_GET_FBACK_STATS);
		if (!hdr)
			break;
		if (smc_genl_end(skb, hdr, put_fback(skb, sum, role, reason,
						     !place->totals_sent)))
			break;
		place->totals_sent = true;
	}
	return skb->len;
}

/**
 * smc_genl_dump_fback() - reasons of fallback and how often they occurred
 * @skb: message to be filled
 * @cb: dump
 *
 * Context: process, the family's lock is held.
 * Return: length of the message, or -errno.
 */
int smc_genl_dump_fback(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct smc_stats *sum = smc_stats_sum(smc_genl_net(cb));
	int rc;

	BUILD_BUG_ON(sizeof(struct place) > sizeof(cb->ctx));
	if (!sum)
		return -ENOMEM;
	rc = dump_fback(skb, cb, sum);
	kfree(sum);
	return rc;
}
