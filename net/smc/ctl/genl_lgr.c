// SPDX-License-Identifier: GPL-2.0
/*
 * Link groups and links over generic netlink.
 *
 * Groups are looked at under the lock of the namespace's table, which keeps
 * them, their device and their transport's part; what is put into the message
 * are values, each one whole, not all of the same instant.  A group that is
 * being set up has no peer yet.
 *
 * Context: process; sn->lgr_lock (spinlock, BH) while rows are written.
 * Tests: selftests/smc/genl.py.
 */
#include <linux/kernel.h>
#include <linux/smc.h>
#include <linux/string.h>
#include "core/lgr.h"
#include "net.h"
#include "pnet.h"
#include "genl.h"

/* Values of SMC_NLA_LGR_R_TYPE: here a group has one link or none. */
#define TYPE_NONE	0
#define TYPE_SINGLE	1

#define BUF_TYPE_PHYS	0

/* A link below this state (xport.h) is not shown. */
#define LINK_SHOWN	1

/**
 * struct group_dump - one call of a dump function
 * @skb: message being filled
 * @cb: dump
 * @id: groups of this transport
 * @after: smc_lgr.seq of the last group that is in a message, in cb->ctx
 */
struct group_dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	enum smc_xport_id id;
	u64 *after;
};

static int put_v2_common(struct sk_buff *skb, int attr,
			 const struct smc_lgr *lgr)
{
	char eid[SMC_MAX_EID_LEN + 1];
	char host[sizeof(lgr->peer_host)];
	struct nlattr *nest;
	u8 os;

	memcpy(eid, lgr->eid, SMC_MAX_EID_LEN);
	eid[SMC_MAX_EID_LEN] = 0;
	/* the handshake may write it now: this dump may show half a name */
	data_race(memcpy(host, lgr->peer_host, sizeof(host)));
	/* the same, but one byte is read whole */
	os = data_race(lgr->peer_os);
	host[sizeof(host) - 1] = 0;

	nest = nla_nest_start(skb, attr);
	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_LGR_V2_VER, lgr->version) ||
	    nla_put_u8(skb, SMC_NLA_LGR_V2_REL, lgr->release) ||
	    nla_put_u8(skb, SMC_NLA_LGR_V2_OS, os) ||
	    nla_put_string(skb, SMC_NLA_LGR_V2_NEG_EID, eid) ||
	    nla_put_string(skb, SMC_NLA_LGR_V2_PEER_HOST, host))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_r_v2(struct sk_buff *skb, const struct smc_lgr *lgr)
{
	struct nlattr *nest;

	nest = nla_nest_start(skb, SMC_NLA_LGR_R_V2);
	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_V2_DIRECT, lgr->direct) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_V2_MAX_CONNS, lgr->max_conns) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_V2_MAX_LINKS, lgr->max_links))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_alloc(struct sk_buff *skb, const struct smc_lgr *lgr,
		     int snd_attr, int rcv_attr)
{
	s64 snd = atomic64_read(&lgr->alloc[SMC_BUF_SND]);
	s64 rcv = atomic64_read(&lgr->alloc[SMC_BUF_RCV]);

	return smc_genl_put_uint(skb, snd_attr, snd) ?:
	       smc_genl_put_uint(skb, rcv_attr, rcv);
}

/* The network of the port, "" if the table has none. */
static void find_pnet(const struct smc_lgr *lgr, char *id)
{
	const struct smc_dev *dev = lgr->path.dev;
	char name[SMC_DEV_NAME_LEN];

	id[0] = 0;
	smc_dev_name(dev, name);
	smc_pnet_of_port(name, dev->parent, lgr->path.port, id);
}

static int put_lgr_r(struct sk_buff *skb, const struct smc_lgr *lgr)
{
	bool active = READ_ONCE(lgr->state) == SMC_LGR_ACTIVE;
	char pnet[SMC_PNET_ID_LEN + 1];
	struct nlattr *nest;

	find_pnet(lgr, pnet);
	nest = nla_nest_start(skb, SMC_GEN_LGR_SMCR);
	if (!nest ||
	    nla_put_u32(skb, SMC_NLA_LGR_R_ID, lgr->id) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_ROLE, lgr->role) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_TYPE,
		       active ? TYPE_SINGLE : TYPE_NONE) ||
	    nla_put_string(skb, SMC_NLA_LGR_R_PNETID, pnet) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_VLAN_ID, lgr->path.vlan_id) ||
	    nla_put_u16(skb, SMC_NLA_LGR_FULL_VLAN_ID, lgr->path.vlan_id) ||
	    nla_put_u32(skb, SMC_NLA_LGR_R_CONNS_NUM,
			READ_ONCE(lgr->conns_num)) ||
	    nla_put_u64_64bit(skb, SMC_NLA_LGR_R_NET_COOKIE,
			      lgr->sn->net->net_cookie, SMC_NLA_LGR_R_PAD) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_BUF_TYPE, BUF_TYPE_PHYS) ||
	    put_alloc(skb, lgr, SMC_NLA_LGR_R_SNDBUF_ALLOC,
		      SMC_NLA_LGR_R_RMB_ALLOC))
		return -EMSGSIZE;
	if (lgr->version > 1 &&
	    (put_v2_common(skb, SMC_NLA_LGR_R_V2_COMMON, lgr) ||
	     put_r_v2(skb, lgr)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_lgr_d(struct sk_buff *skb, const struct smc_lgr *lgr)
{
	struct smc_xport_info info = {};
	char pnet[SMC_PNET_ID_LEN + 1];
	struct nlattr *nest;

	find_pnet(lgr, pnet);
	lgr->xport->fill_info(lgr, NULL, &info);
	nest = nla_nest_start(skb, SMC_GEN_LGR_SMCD);
	if (!nest ||
	    nla_put_u32(skb, SMC_NLA_LGR_D_ID, lgr->id) ||
	    nla_put_u64_64bit(skb, SMC_NLA_LGR_D_GID, info.ism_gid,
			      SMC_NLA_LGR_D_PAD) ||
	    nla_put_u64_64bit(skb, SMC_NLA_LGR_D_PEER_GID, info.peer_ism_gid,
			      SMC_NLA_LGR_D_PAD) ||
	    nla_put_u64_64bit(skb, SMC_NLA_LGR_D_EXT_GID, info.ism_gid_ext,
			      SMC_NLA_LGR_D_PAD) ||
	    nla_put_u64_64bit(skb, SMC_NLA_LGR_D_PEER_EXT_GID,
			      info.peer_ism_gid_ext, SMC_NLA_LGR_D_PAD) ||
	    nla_put_u8(skb, SMC_NLA_LGR_D_VLAN_ID, lgr->path.vlan_id) ||
	    nla_put_u16(skb, SMC_NLA_LGR_FULL_VLAN_ID, lgr->path.vlan_id) ||
	    nla_put_u32(skb, SMC_NLA_LGR_D_CONNS_NUM,
			READ_ONCE(lgr->conns_num)) ||
	    nla_put_string(skb, SMC_NLA_LGR_D_PNETID, pnet) ||
	    nla_put_u32(skb, SMC_NLA_LGR_D_CHID, lgr->path.chid) ||
	    put_alloc(skb, lgr, SMC_NLA_LGR_D_SNDBUF_ALLOC,
		      SMC_NLA_LGR_D_DMB_ALLOC))
		return -EMSGSIZE;
	if (lgr->version > 1 &&
	    put_v2_common(skb, SMC_NLA_LGR_D_V2_COMMON, lgr))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_link(struct sk_buff *skb, const struct smc_lgr *lgr,
		    const struct smc_xport_info *info)
{
	struct nlattr *nest;
	char gid[40], peer_gid[40];

	snprintf(gid, sizeof(gid), "%pI6", info->gid);
	snprintf(peer_gid, sizeof(peer_gid), "%pI6", info->peer_gid);
	nest = nla_nest_start(skb, SMC_GEN_LINK_SMCR);
	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_LINK_ID, info->link_id) ||
	    nla_put_string(skb, SMC_NLA_LINK_IB_DEV, info->dev) ||
	    nla_put_u8(skb, SMC_NLA_LINK_IB_PORT, info->port) ||
	    nla_put_string(skb, SMC_NLA_LINK_GID, gid) ||
	    nla_put_string(skb, SMC_NLA_LINK_PEER_GID, peer_gid) ||
	    nla_put_u32(skb, SMC_NLA_LINK_CONN_CNT,
			READ_ONCE(lgr->conns_num)) ||
	    nla_put_u32(skb, SMC_NLA_LINK_NET_DEV, lgr->path.ifindex) ||
	    nla_put_be32(skb, SMC_NLA_LINK_UID, htonl(info->link_uid)) ||
	    nla_put_be32(skb, SMC_NLA_LINK_PEER_UID,
			 htonl(info->peer_link_uid)) ||
	    nla_put_u32(skb, SMC_NLA_LINK_STATE, info->link_state))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int row_lgr(struct group_dump *d, const struct smc_lgr *lgr)
{
	bool is_d = d->id == SMC_XPORT_D;
	void *hdr;

	hdr = smc_genl_row(d->skb, d->cb, is_d ? SMC_NETLINK_GET_LGR_SMCD :
			   SMC_NETLINK_GET_LGR_SMCR);
	if (!hdr)
		return -EMSGSIZE;
	return smc_genl_end(d->skb, hdr, is_d ? put_lgr_d(d->skb, lgr) :
						put_lgr_r(d->skb, lgr));
}

static int row_link(struct group_dump *d, const struct smc_lgr *lgr)
{
	struct smc_xport_info info = {};
	void *hdr;

	lgr->xport->fill_info(lgr, NULL, &info);
	if (info.link_state < LINK_SHOWN)
		return 0;
	hdr = smc_genl_row(d->skb, d->cb, SMC_NETLINK_GET_LINK_SMCR);
	if (!hdr)
		return -EMSGSIZE;
	return smc_genl_end(d->skb, hdr, put_link(d->skb, lgr, &info));
}

/* smc_lgr_walk() calls this for each group left; the end is a full message. */
static int dump_group(struct smc_lgr *lgr, void *arg)
{
	struct group_dump *d = arg;
	unsigned int len = d->skb->len;
	int rc;

	if (lgr->xport->id != d->id)
		return 0;
	rc = row_lgr(d, lgr);
	if (!rc && smc_genl_cmd(d->cb) == SMC_NETLINK_GET_LINK_SMCR)
		rc = row_link(d, lgr);
	if (rc) {
		/* a group and its link come together */
		nlmsg_trim(d->skb, d->skb->data + len);
		return rc;
	}
	*d->after = lgr->seq;
	return 0;
}

/**
 * smc_genl_dump_lgr() - link groups of shared memory or over RDMA
 * @skb: message to be filled
 * @cb: dump of SMC_NETLINK_GET_LGR_SMCD, of SMC_NETLINK_GET_LGR_SMCR, or of
 *	SMC_NETLINK_GET_LINK_SMCR: the same, each with its link
 *
 * Context: process, the family's lock is held.
 * Return: length of the message, or -errno.
 */
int smc_genl_dump_lgr(struct sk_buff *skb, struct netlink_callback *cb)
{
	bool is_d = smc_genl_cmd(cb) == SMC_NETLINK_GET_LGR_SMCD;
	struct group_dump d = {
		.skb = skb,
		.cb = cb,
		.id = is_d ? SMC_XPORT_D : SMC_XPORT_R,
		.after = (u64 *)cb->ctx,
	};

	smc_lgr_walk(smc_genl_net(cb), *d.after, dump_group, &d);
	return skb->len;
}
