// SPDX-License-Identifier: GPL-2.0
/*
 * Devices over generic netlink.
 *
 * A device is shown where it can be used.  How much it is used is counted
 * among the groups of the requester's namespace only.
 *
 * Context: process; the registry of devices is locked while rows are written.
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
 * struct usage - what groups make of a device
 * @dev: the device
 * @name: its name
 * @groups: groups on it
 * @links: links by port; SMC-D: by nothing
 */
struct usage {
	const struct smc_dev *dev;
	char name[SMC_DEV_NAME_LEN];
	u32 groups;
	u32 links[SMC_DEV_PORTS];
};

/**
 * struct dev_dump - one call of a dump function
 * @skb: message being filled
 * @cb: dump
 * @sn: the requester's namespace
 * @after: smc_dev.seq of the last device that is in a message, in cb->ctx
 */
struct dev_dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	struct smc_net *sn;
	u64 *after;
};

static int count_group(struct smc_lgr *lgr, void *arg)
{
	struct usage *use = arg;
	u8 port = lgr->path.port;

	if (lgr->path.dev != use->dev)
		return 0;
	use->groups++;
	if (port && port <= SMC_DEV_PORTS)
		use->links[port - 1]++;
	return 0;
}

static int put_pci(struct sk_buff *skb, const struct usage *use,
		   const struct smc_dev_info *info)
{
	char id[SMC_PCI_ID_STR_LEN];

	/* a device without a PCI function is known by its own name */
	strscpy(id, info->is_pci ? use->dev->parent : use->name, sizeof(id));
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

	known = smc_pnet_of_port(use->name, use->dev->parent, port, id);
	return nla_put_u8(skb, SMC_NLA_DEV_PORT_PNET_USR, known) ?:
	       nla_put_string(skb, SMC_NLA_DEV_PORT_PNETID, id);
}

static int put_port(struct sk_buff *skb, u8 port,
		    const struct smc_dev_info *info, const struct usage *use)
{
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
static int put_dev_r(struct sk_buff *skb, const struct smc_dev_info *info,
		     const struct usage *use)
{
	struct nlattr *nest;
	u8 port;

	nest = nla_nest_start(skb, SMC_GEN_DEV_SMCR);
	if (!nest || nla_put_u8(skb, SMC_NLA_DEV_IS_CRIT, !!use->groups) ||
	    (info->is_pci && put_pci(skb, use, info)))
		return -EMSGSIZE;
	for (port = 1; port <= SMC_DEV_PORTS; port++)
		if (put_port(skb, port, info, use))
			return -EMSGSIZE;
	if (nla_put_string(skb, SMC_NLA_DEV_IB_NAME, use->name))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_dev_d(struct sk_buff *skb, const struct smc_dev_info *info,
		     const struct usage *use)
{
	struct nlattr *nest, *port;

	nest = nla_nest_start(skb, SMC_GEN_DEV_SMCD);
	if (!nest || nla_put_u32(skb, SMC_NLA_DEV_USE_CNT, use->groups) ||
	    nla_put_u8(skb, SMC_NLA_DEV_IS_CRIT, !!use->groups) ||
	    put_pci(skb, use, info))
		return -EMSGSIZE;
	port = nla_nest_start(skb, SMC_NLA_DEV_PORT);
	if (!port || put_pnet(skb, use, 0))
		return -EMSGSIZE;
	nla_nest_end(skb, port);
	nla_nest_end(skb, nest);
	return 0;
}

/* smc_dev_walk() calls this for each device; the end is a full message. */
static int dump_dev(struct smc_dev *dev, void *arg)
{
	struct usage use = { .dev = dev };
	struct smc_dev_info info = {};
	struct dev_dump *d = arg;
	bool is_d = dev->xport->id == SMC_XPORT_D;
	void *hdr;
	int rc;

	if (dev->seq <= *d->after)
		return 0;
	if (dev->xport->fill_dev(dev, d->sn->net, &info)) {
		smc_dev_name(dev, use.name);
		smc_lgr_walk(d->sn, 0, count_group, &use);
		hdr = smc_genl_row(d->skb, d->cb, smc_genl_cmd(d->cb));
		if (!hdr)
			return -EMSGSIZE;
		rc = is_d ? put_dev_d(d->skb, &info, &use) :
			    put_dev_r(d->skb, &info, &use);
		if (smc_genl_end(d->skb, hdr, rc))
			return rc;
	}
	*d->after = dev->seq;
	return 0;
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
	struct dev_dump d = {
		.skb = skb,
		.cb = cb,
		.sn = smc_genl_net(cb),
		.after = (u64 *)cb->ctx,
	};

	if (xport)
		smc_dev_walk(xport, dump_dev, &d);
	return skb->len;
}
