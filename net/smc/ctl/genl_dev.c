// SPDX-License-Identifier: GPL-2.0
/*
 * Devices over generic netlink.
 *
 * A device is shown where it can be used.  How much it is used is counted
 * among the groups of the requester's namespace only, which may be very many: the
 * registry of devices is not locked meanwhile.
 *
 * Context: process.
 * Tests: selftests/smc/genl.py.
 */
#include <linux/kernel.h>
#include <linux/smc.h>
#include <linux/string.h>
#include "core/lgr.h"
#include "net.h"
#include "pnet.h"
#include "genl.h"

/**
 * struct usage - a device, and what groups make of it
 * @seq: smc_dev.seq of the device, which may have gone; after the last, that of
 *	one that is not shown
 * @name: its name
 * @parent: smc_dev.parent
 * @info: what the transport says
 * @sn: the requester's namespace
 * @groups: groups on it
 * @links: links by port; SMC-D: by nothing
 */
struct usage {
	u64 seq;
	char name[SMC_DEV_NAME_LEN];
	char parent[SMC_DEV_NAME_LEN];
	struct smc_dev_info info;
	struct smc_net *sn;
	u32 groups;
	u32 links[SMC_DEV_PORTS];
};

/* smc_dev_walk() calls this for each device: is it the next one to be shown? */
static int next_dev(struct smc_dev *dev, void *arg)
{
	struct usage *use = arg;

	if (dev->seq <= use->seq)
		return 0;
	use->seq = dev->seq;
	memset(&use->info, 0, sizeof(use->info));
	if (!dev->xport->fill_dev(dev, use->sn->net, &use->info))
		return 0;
	smc_dev_name(dev, use->name);
	strscpy(use->parent, dev->parent, sizeof(use->parent));
	return 1;
}

static int count_group(struct smc_lgr *lgr, void *arg)
{
	struct usage *use = arg;
	u8 port = lgr->path.port;

	/* a group in the table holds its device */
	if (lgr->path.dev->seq != use->seq)
		return 0;
	use->groups++;
	if (port && port <= SMC_DEV_PORTS)
		use->links[port - 1]++;
	return 0;
}

static int put_pci(struct sk_buff *skb, const struct usage *use)
{
	const struct smc_dev_info *info = &use->info;
	char id[SMC_PCI_ID_STR_LEN];

	/* a device without a PCI function is known by its own name */
	strscpy(id, info->is_pci ? use->parent : use->name, sizeof(id));
	if (nla_put_u32(skb, SMC_NLA_DEV_PCI_FID, 0) ||
	    nla_put_u16(skb, SMC_NLA_DEV_PCI_CHID, info->chid) ||
	    nla_put_u16(skb, SMC_NLA_DEV_PCI_VENDOR, info->pci_vendor) ||
	    nla_put_u16(skb, SMC_NLA_DEV_PCI_DEVICE, info->pci_device) ||
	    nla_put_string(skb, SMC_NLA_DEV_PCI_ID, id))
		return -EMSGSIZE;
	return 0;
}

static int put_pnet(struct sk_buff *skb, const struct usage *use, u8 port)
{
	char id[SMC_PNET_ID_LEN + 1] = "";
	bool known;

	known = smc_pnet_of_port(use->name, use->parent, port, id);
	return nla_put_u8(skb, SMC_NLA_DEV_PORT_PNET_USR, known) ?:
	       nla_put_string(skb, SMC_NLA_DEV_PORT_PNETID, id);
}

static int put_port(struct sk_buff *skb, u8 port, const struct usage *use)
{
	const struct smc_dev_info *info = &use->info;
	struct nlattr *nest;

	if (!info->port[port - 1].valid)
		return 0;
	nest = nla_nest_start(skb, port == 1 ? SMC_NLA_DEV_PORT :
			      SMC_NLA_DEV_PORT2);
	if (!nest || put_pnet(skb, use, port) ||
	    nla_put_u32(skb, SMC_NLA_DEV_PORT_NETDEV,
			info->port[port - 1].ifindex) ||
	    nla_put_u8(skb, SMC_NLA_DEV_PORT_STATE,
		       info->port[port - 1].active) ||
	    nla_put_u8(skb, SMC_NLA_DEV_PORT_VALID, 1) ||
	    nla_put_u32(skb, SMC_NLA_DEV_PORT_LNK_CNT, use->links[port - 1]))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* A group has one link: every group's device is critical. */
static int put_dev_r(struct sk_buff *skb, const struct usage *use)
{
	struct nlattr *nest;
	u8 port;

	nest = nla_nest_start(skb, SMC_GEN_DEV_SMCR);
	if (!nest || nla_put_u8(skb, SMC_NLA_DEV_IS_CRIT, !!use->groups) ||
	    (use->info.is_pci && put_pci(skb, use)))
		return -EMSGSIZE;
	for (port = 1; port <= SMC_DEV_PORTS; port++)
		if (put_port(skb, port, use))
			return -EMSGSIZE;
	if (nla_put_string(skb, SMC_NLA_DEV_IB_NAME, use->name))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_dev_d(struct sk_buff *skb, const struct usage *use)
{
	struct nlattr *nest, *port;

	nest = nla_nest_start(skb, SMC_GEN_DEV_SMCD);
	if (!nest || nla_put_u32(skb, SMC_NLA_DEV_USE_CNT, use->groups) ||
	    nla_put_u8(skb, SMC_NLA_DEV_IS_CRIT, !!use->groups) ||
	    put_pci(skb, use))
		return -EMSGSIZE;
	port = nla_nest_start(skb, SMC_NLA_DEV_PORT);
	if (!port || put_pnet(skb, use, 0))
		return -EMSGSIZE;
	nla_nest_end(skb, port);
	nla_nest_end(skb, nest);
	return 0;
}

static int put_dev(struct sk_buff *skb, struct netlink_callback *cb, bool is_d,
		   const struct usage *use)
{
	void *hdr = smc_genl_row(skb, cb, smc_genl_cmd(cb));

	if (!hdr)
		return -EMSGSIZE;
	return smc_genl_end(skb, hdr, is_d ? put_dev_d(skb, use) :
					     put_dev_r(skb, use));
}

/**
 * smc_genl_dump_dev() - devices of shared memory, or RDMA devices
 * @skb: message to be filled
 * @cb: dump of SMC_NETLINK_GET_DEV_SMCD or SMC_NETLINK_GET_DEV_SMCR
 *
 * Context: process, the family's lock is held.
 * Return: length of the message, or -errno.
 */
int smc_genl_dump_dev(struct sk_buff *skb, struct netlink_callback *cb)
{
	bool is_d = smc_genl_cmd(cb) == SMC_NETLINK_GET_DEV_SMCD;
	const struct smc_xport *xport = smc_xport_get(is_d ? SMC_XPORT_D :
							     SMC_XPORT_R);
	/* smc_dev.seq of the last device that is in a message */
	u64 *after = (u64 *)cb->ctx;
	struct usage use;

	for (;; *after = use.seq) {
		use = (struct usage){ .sn = smc_genl_net(cb), .seq = *after };
		if (!smc_dev_walk(xport, next_dev, &use))
			break;
		smc_lgr_walk(use.sn, 0, count_group, &use);
		if (put_dev(skb, cb, is_d, &use))
			break;
	}
	return skb->len;
}
