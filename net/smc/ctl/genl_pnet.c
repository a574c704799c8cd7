// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family SMC_PNETID: the operator's table of physical
 * networks (net/smc/pnet.c).
 *
 * Any program may read; changes need CAP_NET_ADMIN in the initial user
 * namespace.  Interfaces belong to the requester's network namespace; devices
 * are named in the initial one and have rows there only.
 *
 * A request without NLM_F_DUMP for one name is answered with all its rows and
 * the end of a dump in one message, as programs are used to.
 *
 * Context: process; generic netlink calls one function of a family at a time.
 * Tests: selftests/smc/genl.py, selftests/vm/tests/pnet.sh.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/smc.h>
#include <linux/string.h>
#include "net.h"
#include "pnet.h"
#include "genl.h"

#define NO_NAME		"n/a"
#define NO_PORT		255

/* One row of a message, at most. */
#define ROW_LEN									\
	(NLMSG_ALIGN(NLMSG_HDRLEN + GENL_HDRLEN) +				\
	 nla_total_size(SMC_PNET_ID_LEN + 1) + nla_total_size(IFNAMSIZ) +	\
	 nla_total_size(SMC_PNET_DEV_LEN) + nla_total_size(1))

static const struct nla_policy pnet_policy[SMC_PNETID_MAX + 1] = {
	/* with blanks around it, which do not count */
	[SMC_PNETID_NAME]	= { .type = NLA_NUL_STRING, .len = 64 },
	[SMC_PNETID_ETHNAME]	= { .type = NLA_NUL_STRING,
				    .len = IFNAMSIZ - 1 },
	[SMC_PNETID_IBNAME]	= { .type = NLA_NUL_STRING,
				    .len = SMC_PNET_DEV_LEN - 1 },
	[SMC_PNETID_IBPORT]	= { .type = NLA_U8 },
};

/**
 * struct row_dump - rows into a message
 * @skb: message being filled
 * @portid: of the requester
 * @seq: of the request
 * @id: only rows of this network; NULL: all
 * @last: number of the last row that is in an earlier message or in this one
 * @num: of rows of @id
 */
struct row_dump {
	struct sk_buff *skb;
	u32 portid;
	u32 seq;
	const char *id;
	unsigned long last;
	int num;
};

/* smc_pnet_walk() calls this for each row; the end is a full message. */
static int dump_row(const struct smc_pnet_row *row, void *arg)
{
	struct row_dump *d = arg;
	void *hdr;
	int rc;

	if (row->nr <= d->last || (d->id && strcmp(row->id, d->id)))
		return 0;
	hdr = genlmsg_put(d->skb, d->portid, d->seq, &smc_genl_pnet_family,
			  NLM_F_MULTI, SMC_PNETID_GET);
	if (!hdr)
		return -EMSGSIZE;
	rc = nla_put_string(d->skb, SMC_PNETID_NAME, row->id) ?:
	     nla_put_string(d->skb, SMC_PNETID_ETHNAME,
			    row->eth[0] ? row->eth : NO_NAME) ?:
	     nla_put_string(d->skb, SMC_PNETID_IBNAME,
			    row->dev[0] ? row->dev : NO_NAME) ?:
	     nla_put_u8(d->skb, SMC_PNETID_IBPORT,
			row->dev[0] ? row->port : NO_PORT);
	if (!rc)
		d->last = row->nr;
	return smc_genl_end(d->skb, hdr, rc);
}

static int dump_pnet(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct row_dump d = {
		.skb = skb,
		.portid = NETLINK_CB(cb->skb).portid,
		.seq = cb->nlh->nlmsg_seq,
		.last = cb->args[0],
	};

	smc_pnet_walk(smc_genl_net(cb), dump_row, &d);
	cb->args[0] = d.last;
	return skb->len;
}

static int get_id(const struct genl_info *info, char *id)
{
	const struct nlattr *attr = info->attrs[SMC_PNETID_NAME];

	if (!attr) {
		GENL_SET_ERR_MSG(info, "the name of the network is missing");
		return -EINVAL;
	}
	if (smc_pnet_parse_id(nla_data(attr), id)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "the name of a network is 1 to 16 letters and digits");
		return -EINVAL;
	}
	return 0;
}

static int count_row(const struct smc_pnet_row *row, void *arg)
{
	struct row_dump *d = arg;

	d->num += !strcmp(row->id, d->id);
	return 0;
}

/* A message with room for the rows of @id and the end of the dump. */
static struct sk_buff *answer_entry(struct smc_net *sn, struct row_dump *d)
{
	smc_pnet_walk(sn, count_row, d);
	d->skb = nlmsg_new(d->num * ROW_LEN + nlmsg_total_size(sizeof(int)),
			   GFP_KERNEL);
	return d->skb;
}

static int get_pnet(struct sk_buff *skb, struct genl_info *info)
{
	struct smc_net *sn = smc_net(genl_info_net(info));
	char id[SMC_PNET_ID_LEN + 1];
	struct row_dump d = {
		.portid = info->snd_portid,
		.seq = info->snd_seq,
		.id = id,
	};
	struct nlmsghdr *nlh;
	int rc;

	rc = get_id(info, id);
	if (rc)
		return rc;
	if (!answer_entry(sn, &d))
		return -ENOMEM;
	rc = smc_pnet_walk(sn, dump_row, &d);
	if (!rc) {
		nlh = nlmsg_put(d.skb, d.portid, d.seq, NLMSG_DONE,
				sizeof(int), NLM_F_MULTI);
		if (nlh)
			memset(nlmsg_data(nlh), 0, sizeof(int));
		else
			rc = -EMSGSIZE;
	}
	if (rc) {
		nlmsg_free(d.skb);
		return rc;
	}
	return genlmsg_reply(d.skb, info);
}

static int get_eth(const struct genl_info *info, struct smc_pnet_row *row)
{
	const struct nlattr *attr = info->attrs[SMC_PNETID_ETHNAME];

	if (!dev_valid_name(nla_data(attr)) ||
	    !strcmp(nla_data(attr), NO_NAME)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "this cannot be the name of an interface");
		return -EINVAL;
	}
	strscpy(row->eth, nla_data(attr), sizeof(row->eth));
	return 0;
}

static int get_port(const struct genl_info *info, struct smc_pnet_row *row)
{
	const struct nlattr *name = info->attrs[SMC_PNETID_IBNAME];
	const struct nlattr *port = info->attrs[SMC_PNETID_IBPORT];

	if (!nla_len(name) || !*(const char *)nla_data(name) ||
	    strchr(nla_data(name), '/') || !strcmp(nla_data(name), NO_NAME)) {
		NL_SET_ERR_MSG_ATTR(info->extack, name,
				    "this cannot be the name of a device");
		return -EINVAL;
	}
	row->port = port ? nla_get_u8(port) : 1;
	if (!row->port || row->port > SMC_PNET_MAX_PORT) {
		NL_SET_ERR_MSG_ATTR(info->extack, port,
				    "the number of the port is 1 or 2");
		return -EINVAL;
	}
	strscpy(row->dev, nla_data(name), sizeof(row->dev));
	return 0;
}

/* The rows a request means.  How many, or -errno and a sentence. */
static int get_rows(struct genl_info *info, struct smc_pnet_row *rows)
{
	bool eth = info->attrs[SMC_PNETID_ETHNAME];
	bool dev = info->attrs[SMC_PNETID_IBNAME];
	char id[SMC_PNET_ID_LEN + 1];
	int num = 0;
	int rc;

	rc = get_id(info, id);
	if (rc)
		return rc;
	if (!eth && !dev) {
		GENL_SET_ERR_MSG(info, "an interface or a device is missing");
		return -EINVAL;
	}
	/* beside an interface it has always been ignored */
	if (dev && !net_eq(genl_info_net(info), &init_net)) {
		if (!eth) {
			GENL_SET_ERR_MSG(info, "only the initial network namespace has devices");
			return -EOPNOTSUPP;
		}
		dev = false;
	}
	if (eth) {
		strscpy(rows[num].id, id, sizeof(id));
		rc = get_eth(info, &rows[num++]);
	}
	if (!rc && dev) {
		strscpy(rows[num].id, id, sizeof(id));
		rc = get_port(info, &rows[num++]);
	}
	return rc ?: num;
}

static int add_pnet(struct sk_buff *skb, struct genl_info *info)
{
	struct smc_pnet_row rows[2] = {};
	int num, rc;

	num = get_rows(info, rows);
	if (num < 0)
		return num;
	rc = smc_pnet_add(smc_net(genl_info_net(info)), rows, num);
	if (rc == -EEXIST)
		GENL_SET_ERR_MSG(info, "the interface or the port is in the table already");
	if (rc == -ENOSPC)
		GENL_SET_ERR_MSG(info, "the table is full");
	return rc;
}

static int del_pnet(struct sk_buff *skb, struct genl_info *info)
{
	char id[SMC_PNET_ID_LEN + 1];
	int rc;

	rc = get_id(info, id);
	if (rc)
		return rc;
	if (!smc_pnet_del(smc_net(genl_info_net(info)), id)) {
		GENL_SET_ERR_MSG(info, "no such network in the table");
		return -ENOENT;
	}
	return 0;
}

static int flush_pnet(struct sk_buff *skb, struct genl_info *info)
{
	smc_pnet_del(smc_net(genl_info_net(info)), NULL);
	return 0;
}

#define LENIENT	(GENL_DONT_VALIDATE_STRICT | GENL_DONT_VALIDATE_DUMP)

static const struct genl_ops pnet_ops[] = {
	{ .cmd = SMC_PNETID_GET, .doit = get_pnet, .dumpit = dump_pnet,
	  .validate = LENIENT },
	{ .cmd = SMC_PNETID_ADD, .doit = add_pnet, .flags = GENL_ADMIN_PERM,
	  .validate = LENIENT },
	{ .cmd = SMC_PNETID_DEL, .doit = del_pnet, .flags = GENL_ADMIN_PERM,
	  .validate = LENIENT },
	{ .cmd = SMC_PNETID_FLUSH, .doit = flush_pnet,
	  .flags = GENL_ADMIN_PERM, .validate = LENIENT },
};

struct genl_family smc_genl_pnet_family __ro_after_init = {
	.name = SMCR_GENL_FAMILY_NAME,
	.version = SMCR_GENL_FAMILY_VERSION,
	.module = THIS_MODULE,
	.netnsok = true,
	.ops = pnet_ops,
	.n_ops = ARRAY_SIZE(pnet_ops),
	.policy = pnet_policy,
	.maxattr = SMC_PNETID_MAX,
	.resv_start_op = SMC_PNETID_FLUSH + 1,
};
