// SPDX-License-Identifier: GPL-2.0
/*
 * LLC messages: bytes to host struct and back. PURE.
 *
 * Version 1 messages have 44 bytes. Version 2 messages have 44 or more; their
 * length field is in the byte order of the sender, so only the length the
 * queue pair reported is trusted, and every count is clamped by it. Only that
 * is decoded which this end looks at: the responses to most messages are the
 * requests themselves, and the keys of a DELETE RKEY stay in the bytes received
 * and are compared there.
 *
 * Reserved fields and unknown flags are sent as zero, but in a response that is
 * the request; these and the flags that this end only sends are dropped on
 * receipt.
 *
 * Context: any, no locks, no allocation. Test: selftests/unit/unit_llc.c
 */
#include <linux/types.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include "llc.h"

#define V2_TYPE		0x20	/* added to the type */
#define MORE_RKEYS	2	/* most further keys in one CONFIRM RKEY */
#define RKEYS_AT	8	/* where they begin */

/* 16-bit fields in the byte order of the sender */
static u16 get_he16(const u8 *p)
{
	u16 val;

	memcpy(&val, p, sizeof(val));
	return val;
}

static void put_he16(u16 val, u8 *p)
{
	memcpy(p, &val, sizeof(val));
}

enum {
	IN_V1 = 1,
	IN_V2 = 2,
	IN_BOTH = 3,
};

/* What is known: types, the versions that have them, flags that are looked at */
static const struct {
	u8 versions;
	u8 flags;
} known[SMC_LLC_TYPES] = {
	[SMC_LLC_CONFIRM_LINK] = { IN_BOTH, SMC_LLC_CL_NO_EYEC },
	[SMC_LLC_ADD_LINK] = { IN_BOTH, 0 },
	[SMC_LLC_ADD_LINK_CONT] = { IN_V1, 0 },
	[SMC_LLC_DELETE_LINK] = { IN_BOTH,
				  SMC_LLC_DL_ALL | SMC_LLC_DL_ORDERLY },
	[SMC_LLC_REQ_ADD_LINK] = { IN_V2, 0 },
	[SMC_LLC_CONFIRM_RKEY] = { IN_BOTH, 0 },
	[SMC_LLC_TEST_LINK] = { IN_BOTH, 0 },
	[SMC_LLC_DELETE_RKEY] = { IN_BOTH, 0 },
};

/* Keys that are really in a DELETE RKEY request of at least 44 bytes */
static size_t deleted_rkeys(const u8 *p, size_t len)
{
	size_t most = p[0] & V2_TYPE ? (len - RKEYS_AT) / 4 : SMC_LLC_DEL_RKEYS;

	return p[4] < most ? p[4] : most;
}

/* The length field may be in the other byte order; it is the true length then. */
static bool is_long(const u8 *p, size_t len)
{
	u16 big_endian = p[1] << 8 | p[2], little_endian = p[2] << 8 | p[1];
	size_t used = smc_llc_used(p, len);

	return get_he16(p + 1) >= SMC_LLC_LEN || big_endian == used ||
	       little_endian == used;
}

/**
 * smc_llc_decode() - bytes of one LLC message to a host struct
 * @p: first byte received
 * @len: bytes received, as the work completion says
 * @out: the message; valid only if 0 is returned
 *
 * RFC 7609 appendix A.3. Nothing in the result is trusted beyond its layout: it
 * is the peer's word.
 *
 * Context: any.
 * Return: 0; -EBADMSG if the message is too short or its length field wrong;
 * -EOPNOTSUPP if the type is unknown. Drop the message in both cases.
 */
int smc_llc_decode(const u8 *p, size_t len, struct smc_llc_msg *out)
{
	u8 type;

	if (len < SMC_LLC_LEN)
		return -EBADMSG;
	memset(out, 0, sizeof(*out));
	out->v2 = (p[0] & 0xf0) == V2_TYPE;
	type = out->v2 ? p[0] - V2_TYPE : p[0];
	if (type >= SMC_LLC_TYPES ||
	    !(known[type].versions & (out->v2 ? IN_V2 : IN_V1)))
		return -EOPNOTSUPP;
	if (out->v2 ? !is_long(p, len) : p[1] != SMC_LLC_LEN)
		return -EBADMSG;
	out->type = type;
	out->response = p[3] & SMC_LLC_RESPONSE;
	out->flags = p[3] & known[type].flags;
	switch (type) {
	case SMC_LLC_CONFIRM_LINK:
		out->confirm_link.link_id = p[29];
		out->confirm_link.user_id = get_unaligned_be32(p + 30);
		break;
	case SMC_LLC_DELETE_LINK:
		out->delete_link.link_id = p[4];
		out->delete_link.reason = get_unaligned_be32(p + 5);
		break;
	case SMC_LLC_CONFIRM_RKEY:
		out->overflow = p[4] > MORE_RKEYS;
		break;
	case SMC_LLC_DELETE_RKEY:
		out->delete_rkey.n_keys = deleted_rkeys(p, len);
		break;
	}
	return 0;
}

static void encode_rkeys(u8 *p, const struct smc_llc_delete_rkey *dr)
{
	unsigned int i;

	for (i = 0; i < dr->n_keys && i < SMC_LLC_DEL_RKEYS; i++, p += 4)
		put_unaligned_be32(dr->rkey[i], p);
}

static void encode_confirm_link(u8 *p, const struct smc_llc_confirm_link *cl)
{
	memcpy(p + 4, cl->mac, sizeof(cl->mac));
	memcpy(p + 10, cl->gid, sizeof(cl->gid));
	put_unaligned_be24(cl->qpn, p + 26);
	p[29] = cl->link_id;
	put_unaligned_be32(cl->user_id, p + 30);
	p[34] = cl->max_links;
	p[35] = cl->max_conns;
}

/**
 * smc_llc_encode() - bytes of an LLC message
 * @p: SMC_LLC_LEN bytes to fill
 * @msg: the message, of a type that this end sends: CONFIRM LINK, ADD LINK,
 *	DELETE LINK, TEST LINK or DELETE RKEY
 *
 * Context: any.
 */
void smc_llc_encode(u8 p[SMC_LLC_LEN], const struct smc_llc_msg *msg)
{
	memset(p, 0, SMC_LLC_LEN);
	p[0] = msg->v2 ? msg->type + V2_TYPE : msg->type;
	if (msg->v2)
		put_he16(SMC_LLC_LEN, p + 1);
	else
		p[1] = SMC_LLC_LEN;
	p[3] = msg->flags | (msg->response ? SMC_LLC_RESPONSE : 0);
	switch (msg->type) {
	case SMC_LLC_CONFIRM_LINK:
		encode_confirm_link(p, &msg->confirm_link);
		break;
	case SMC_LLC_ADD_LINK:
		memcpy(p + 4, msg->add_link.mac, sizeof(msg->add_link.mac));
		memcpy(p + 12, msg->add_link.gid, sizeof(msg->add_link.gid));
		p[31] = msg->add_link.link_id;
		break;
	case SMC_LLC_DELETE_LINK:
		p[4] = msg->delete_link.link_id;
		put_unaligned_be32(msg->delete_link.reason, p + 5);
		break;
	case SMC_LLC_DELETE_RKEY:
		p[4] = msg->delete_rkey.n_keys;
		if (!msg->response)
			encode_rkeys(p + RKEYS_AT, &msg->delete_rkey);
		break;
	}
}

/**
 * smc_llc_used() - how many bytes of a message are looked at
 * @p: first byte received
 * @len: bytes received, SMC_LLC_LEN at least
 *
 * smc_llc_decode() and smc_llc_deletes_rkey() find the same in so many.
 *
 * Context: any.
 * Return: SMC_LLC_LEN, or more for a long DELETE RKEY; @len at most.
 */
size_t smc_llc_used(const u8 *p, size_t len)
{
	size_t keys;

	if ((p[0] & ~V2_TYPE) != SMC_LLC_DELETE_RKEY)
		return SMC_LLC_LEN;
	keys = RKEYS_AT + 4 * deleted_rkeys(p, len);
	return keys > SMC_LLC_LEN ? keys : SMC_LLC_LEN;
}

/**
 * smc_llc_deletes_rkey() - does a DELETE RKEY request name this key?
 * @p: the bytes received
 * @len: their number
 * @rkey: the key
 *
 * Context: any.
 * Return: true if it does; false, too, for any other message.
 */
bool smc_llc_deletes_rkey(const u8 *p, size_t len, u32 rkey)
{
	const u8 *key;
	size_t n;

	if (len < SMC_LLC_LEN || (p[0] & ~V2_TYPE) != SMC_LLC_DELETE_RKEY ||
	    (p[3] & SMC_LLC_RESPONSE))
		return false;
	n = deleted_rkeys(p, len);
	for (key = p + RKEYS_AT; n; n--, key += 4) {
		if (get_unaligned_be32(key) == rkey)
			return true;
	}
	return false;
}

/**
 * smc_llc_respond() - turn a received request into its response
 * @p: the request, cut to SMC_LLC_LEN bytes; changed in place
 * @flags: flags to set beside SMC_LLC_RESPONSE
 *
 * For the messages whose response repeats the request: TEST LINK, CONFIRM
 * RKEY, DELETE LINK, and an ADD LINK that is rejected. The response has 44
 * bytes, whatever the request had.
 *
 * Context: any.
 */
void smc_llc_respond(u8 p[SMC_LLC_LEN], u8 flags)
{
	if ((p[0] & 0xf0) == V2_TYPE)
		put_he16(SMC_LLC_LEN, p + 1);
	p[3] |= SMC_LLC_RESPONSE | flags;
}
