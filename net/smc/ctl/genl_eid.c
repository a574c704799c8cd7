// SPDX-License-Identifier: GPL-2.0
/*
 * Enterprise ids over generic netlink: the host's table of user-defined ones,
 * and the system EID, which machines without ISM devices have not.
 *
 * The table is one for the host.  A change acts on the next handshake; groups
 * that exist go on.
 *
 * Context: process.  Tests: selftests/smc/genl.py.
 */
#include <linux/kernel.h>
#include <linux/smc.h>
#include <linux/string.h>
#include "net.h"
#include "handshake/ueid.h"
#include "genl.h"

static_assert(SMC_MAX_UEID == SMC_MAX_UEIDS);
static_assert(SMC_MAX_EID_LEN == SMC_EID_LEN);

const struct nla_policy smc_genl_ueid_policy[] = {
	/* get_eid() looks at the length, and says what is wrong */
	[SMC_NLA_EID_TABLE_ENTRY] = { .type = NLA_BINARY },
};

static int row_ueid(struct sk_buff *skb, struct netlink_callback *cb,
		    const u8 *eid)
{
	char text[SMC_MAX_EID_LEN + 1];
	void *hdr;

	memcpy(text, eid, SMC_MAX_EID_LEN);
	text[SMC_MAX_EID_LEN] = 0;
	hdr = smc_genl_row(skb, cb, SMC_NETLINK_DUMP_UEID);
	if (!hdr)
		return -EMSGSIZE;
	return smc_genl_end(skb, hdr,
			    nla_put_string(skb, SMC_NLA_EID_TABLE_ENTRY, text));
}

/**
 * smc_genl_dump_ueid() - the table of EIDs; all of them fit one message
 * @skb: message to be filled
 * @cb: dump
 *
 * Context: process, the family's lock is held.
 * Return: length of the message, or -errno.
 */
int smc_genl_dump_ueid(struct sk_buff *skb, struct netlink_callback *cb)
{
	u8 eids[SMC_MAX_UEID][SMC_EID_LEN];
	int num = smc_ueid_list(eids, SMC_MAX_UEID);

	while (cb->args[0] < num) {
		if (row_ueid(skb, cb, eids[cb->args[0]]))
			break;
		cb->args[0]++;
	}
	return skb->len;
}

/* 32 characters and NUL, or NULL and a sentence. */
static const u8 *get_eid(const struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[SMC_NLA_EID_TABLE_ENTRY];

	if (!attr) {
		GENL_SET_ERR_MSG(info, "the EID is missing");
		return NULL;
	}
	if (nla_len(attr) != SMC_MAX_EID_LEN + 1 ||
	    ((const char *)nla_data(attr))[SMC_MAX_EID_LEN]) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "an EID is 32 characters, filled up with blanks, and NUL");
		return NULL;
	}
	return nla_data(attr);
}

/**
 * smc_genl_add_ueid() - add an EID to the table
 * @skb: request
 * @info: its attributes
 *
 * Context: process, the family's lock is held.
 * Return: 0, or -errno and a sentence.
 */
int smc_genl_add_ueid(struct sk_buff *skb, struct genl_info *info)
{
	const u8 *eid = get_eid(info);
	int rc;

	if (!eid)
		return -EINVAL;
	rc = smc_ueid_add(eid);
	switch (rc) {
	case -EINVAL:
		GENL_SET_ERR_MSG(info, "an EID has A-Z, 0-9, and not in front . and -");
		break;
	case -EEXIST:
		GENL_SET_ERR_MSG(info, "this EID is in the table already");
		break;
	case -ENOSPC:
		GENL_SET_ERR_MSG(info, "the table is full, remove one of its four EIDs first");
		rc = -ERANGE;
		break;
	default:
		break;
	}
	return rc;
}

/**
 * smc_genl_remove_ueid() - remove an EID from the table
 * @skb: request
 * @info: its attributes
 *
 * Context: process, the family's lock is held.
 * Return: 0, or -errno and a sentence.
 */
int smc_genl_remove_ueid(struct sk_buff *skb, struct genl_info *info)
{
	const u8 *eid = get_eid(info);
	int rc;

	if (!eid)
		return -EINVAL;
	rc = smc_ueid_remove(eid);
	if (rc)
		GENL_SET_ERR_MSG(info, "this EID is not in the table");
	return rc;
}

/**
 * smc_genl_flush_ueid() - empty the table
 * @skb: request
 * @info: its attributes
 *
 * Context: process, the family's lock is held.
 * Return: 0.
 */
int smc_genl_flush_ueid(struct sk_buff *skb, struct genl_info *info)
{
	smc_ueid_flush();
	return 0;
}

static int fill_seid(struct sk_buff *skb, struct smc_net *sn)
{
	return nla_put_string(skb, SMC_NLA_SEID_ENTRY, "") ?:
	       nla_put_u8(skb, SMC_NLA_SEID_ENABLED, 0);
}

/**
 * smc_genl_dump_seid() - the system EID, which is empty and not enabled
 * @skb: message to be filled
 * @cb: dump
 *
 * Context: process, the family's lock is held.
 * Return: length of the message, or -errno.
 */
int smc_genl_dump_seid(struct sk_buff *skb, struct netlink_callback *cb)
{
	return smc_genl_once(skb, cb, fill_seid);
}

/**
 * smc_genl_set_seid() - enable or disable the system EID
 * @skb: request
 * @info: its attributes
 *
 * Context: process, the family's lock is held.
 * Return: -EOPNOTSUPP and a sentence.
 */
int smc_genl_set_seid(struct sk_buff *skb, struct genl_info *info)
{
	GENL_SET_ERR_MSG(info, "this machine has no system EID");
	return -EOPNOTSUPP;
}
