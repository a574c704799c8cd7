// SPDX-License-Identifier: GPL-2.0
/*
 * LLC messages: bytes to host struct and back. PURE.
 *
 * Version 1 messages have 44 bytes. Version 2 messages have 44 or more; their
 * length field is in the byte order of the sender, so only the length the
 * queue pair reported is trusted, and every count is clamped by it. Two
 * messages can carry many keys: those of a DELETE RKEY of version 2 stay in the
 * bytes received and are compared there, those of an ADD LINK are not read.
 *
 * Reserved fields and unknown flags are sent as zero and dropped on receipt.
 * decode(encode(x)) == x for every x that decode() can return.
 *
 * Context: any, no locks, no allocation. Test: selftests/unit/unit_llc.c
 */
#include <linux/types.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include "llc.h"

#define V2_TYPE		0x20	/* added to the type */

#define ADD_LINK_RKEYS	72
#define RKEY_LEN	16
#define CONT_RKEYS	8
#define MORE_RKEYS	17
#define MORE_LEN	13
#define REQ_GIDS	28
#define GID_LEN		16
#define DEL_RKEYS	8

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

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

static void get_rkey(const u8 *p, struct smc_llc_rkey *rkey)
{
	rkey->rkey = get_unaligned_be32(p);
	rkey->new_rkey = get_unaligned_be32(p + 4);
	rkey->new_addr = get_unaligned_be64(p + 8);
}

static void put_rkey(u8 *p, const struct smc_llc_rkey *rkey)
{
	put_unaligned_be32(rkey->rkey, p);
	put_unaligned_be32(rkey->new_rkey, p + 4);
	put_unaligned_be64(rkey->new_addr, p + 8);
}

static u8 known_flags(u8 type)
{
	switch (type) {
	case SMC_LLC_CONFIRM_LINK:
		return SMC_LLC_CL_NO_EYEC;
	case SMC_LLC_ADD_LINK:
		return SMC_LLC_AL_REJECT;
	case SMC_LLC_DELETE_LINK:
		return SMC_LLC_DL_ALL | SMC_LLC_DL_ORDERLY;
	case SMC_LLC_CONFIRM_RKEY:
		return SMC_LLC_CR_NEGATIVE | SMC_LLC_CR_RETRY;
	case SMC_LLC_DELETE_RKEY:
		return SMC_LLC_DR_NEGATIVE;
	default:
		return 0;
	}
}

static bool known_type(u8 type, bool v2)
{
	switch (type) {
	case SMC_LLC_CONFIRM_LINK:
	case SMC_LLC_ADD_LINK:
	case SMC_LLC_DELETE_LINK:
	case SMC_LLC_CONFIRM_RKEY:
	case SMC_LLC_TEST_LINK:
	case SMC_LLC_DELETE_RKEY:
		return true;
	case SMC_LLC_ADD_LINK_CONT:
		return !v2;
	case SMC_LLC_REQ_ADD_LINK:
		return v2;
	default:
		return false;
	}
}

static void decode_confirm_link(const u8 *p, struct smc_llc_confirm_link *cl)
{
	memcpy(cl->mac, p + 4, sizeof(cl->mac));
	memcpy(cl->gid, p + 10, sizeof(cl->gid));
	cl->qpn = get_unaligned_be24(p + 26);
	cl->link_id = p[29];
	cl->user_id = get_unaligned_be32(p + 30);
	cl->max_links = p[34];
	cl->max_conns = p[35];
}

/* Keys that are really in a version 2 ADD LINK of at least 72 bytes */
static size_t add_link_rkeys(const u8 *p, size_t len)
{
	size_t n = min_size(get_he16(p + 70), SMC_LLC_MAX_RKEYS);

	return min_size(n, (len - ADD_LINK_RKEYS) / RKEY_LEN);
}

static void decode_add_link(const u8 *p, size_t len, struct smc_llc_msg *out)
{
	bool reject = out->flags & SMC_LLC_AL_REJECT;
	struct smc_llc_add_link *al = &out->add_link;

	memcpy(al->mac, p + 4, sizeof(al->mac));
	memcpy(al->gid, p + 12, sizeof(al->gid));
	al->qpn = get_unaligned_be24(p + 28);
	al->link_id = p[31];
	al->mtu = p[32] & 0x0f;
	al->psn = get_unaligned_be24(p + 33);
	if (!out->v2 && reject)
		al->reason = p[2] & 0x0f;
	if (!out->v2 || reject || len < ADD_LINK_RKEYS)
		return;
	al->has_ext = true;
	al->direct = p[44] & 0x80;
	memcpy(al->target_gid, p + 46, sizeof(al->target_gid));
	al->n_rkeys = add_link_rkeys(p, len);
}

static void decode_add_link_cont(const u8 *p,
				 struct smc_llc_add_link_cont *cont)
{
	size_t i;

	cont->link_id = p[4];
	cont->n_left = p[5];
	for (i = 0; i < min_size(cont->n_left, SMC_LLC_CONT_RKEYS); i++)
		get_rkey(p + CONT_RKEYS + i * RKEY_LEN, &cont->rkey[i]);
}

static void decode_req_add_link(const u8 *p, size_t len,
				struct smc_llc_msg *out)
{
	struct smc_llc_req_add_link *req = &out->req_add_link;
	size_t n;

	if (out->response)
		return;
	n = min_size(p[24], (len - REQ_GIDS) / GID_LEN);
	req->n_gids = min_size(n, SMC_LLC_MAX_GIDS);
	memcpy(req->gids, p + REQ_GIDS, GID_LEN * (size_t)req->n_gids);
}

static void decode_confirm_rkey(const u8 *p, struct smc_llc_confirm_rkey *cr)
{
	size_t i;

	cr->overflow = p[4] > SMC_LLC_MORE_RKEYS;
	cr->n_more = min_size(p[4], SMC_LLC_MORE_RKEYS);
	cr->rkey = get_unaligned_be32(p + 5);
	cr->addr = get_unaligned_be64(p + 9);
	for (i = 0; i < cr->n_more; i++) {
		const u8 *q = p + MORE_RKEYS + i * MORE_LEN;

		cr->more[i].link_id = q[0];
		cr->more[i].rkey = get_unaligned_be32(q + 1);
		cr->more[i].addr = get_unaligned_be64(q + 5);
	}
}

/* Keys that are really in a DELETE RKEY request of at least 44 bytes */
static size_t deleted_rkeys(const u8 *p, size_t len)
{
	if (!(p[0] & V2_TYPE))
		return min_size(p[4], SMC_LLC_V1_DEL_RKEYS);
	return min_size(p[4], (len - DEL_RKEYS) / 4);
}

/* The response of version 2 leaves the keys out but repeats their number. */
static void decode_delete_rkey(const u8 *p, size_t len,
			       struct smc_llc_msg *out)
{
	struct smc_llc_delete_rkey *dr = &out->delete_rkey;
	size_t i;

	if (out->response) {
		dr->n_keys = p[4];
		dr->unknown = p[5];
		return;
	}
	dr->n_keys = deleted_rkeys(p, len);
	for (i = 0; i < min_size(dr->n_keys, SMC_LLC_V1_DEL_RKEYS); i++)
		dr->rkey[i] = get_unaligned_be32(p + DEL_RKEYS + 4 * i);
}

/**
 * smc_llc_decode() - bytes of one LLC message to a host struct
 * @p: first byte received
 * @len: bytes received, as the work completion says
 * @out: the message; valid only if 0 is returned
 *
 * RFC 7609 appendix A.3. Nothing in the result is trusted beyond its layout:
 * link numbers, GIDs, keys and addresses are the peer's word.
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
	if (!known_type(type, out->v2))
		return -EOPNOTSUPP;
	if (out->v2 ? get_he16(p + 1) < SMC_LLC_LEN : p[1] != SMC_LLC_LEN)
		return -EBADMSG;
	out->type = type;
	out->response = p[3] & SMC_LLC_RESPONSE;
	out->flags = p[3] & known_flags(type);
	switch (type) {
	case SMC_LLC_CONFIRM_LINK:
		decode_confirm_link(p, &out->confirm_link);
		break;
	case SMC_LLC_ADD_LINK:
		decode_add_link(p, len, out);
		break;
	case SMC_LLC_ADD_LINK_CONT:
		decode_add_link_cont(p, &out->add_link_cont);
		break;
	case SMC_LLC_DELETE_LINK:
		out->delete_link.link_id = p[4];
		out->delete_link.reason = get_unaligned_be32(p + 5);
		break;
	case SMC_LLC_REQ_ADD_LINK:
		decode_req_add_link(p, len, out);
		break;
	case SMC_LLC_CONFIRM_RKEY:
		decode_confirm_rkey(p, &out->confirm_rkey);
		break;
	case SMC_LLC_TEST_LINK:
		memcpy(out->test_link.data, p + 4, sizeof(out->test_link.data));
		break;
	case SMC_LLC_DELETE_RKEY:
		decode_delete_rkey(p, len, out);
		break;
	}
	return 0;
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

static bool add_link_has_ext(const struct smc_llc_msg *msg)
{
	return msg->v2 && !(msg->flags & SMC_LLC_AL_REJECT) &&
	       msg->add_link.has_ext;
}

static void encode_add_link(u8 *p, const struct smc_llc_msg *msg)
{
	const struct smc_llc_add_link *al = &msg->add_link;

	if (!msg->v2 && (msg->flags & SMC_LLC_AL_REJECT))
		p[2] = al->reason & 0x0f;
	memcpy(p + 4, al->mac, sizeof(al->mac));
	memcpy(p + 12, al->gid, sizeof(al->gid));
	put_unaligned_be24(al->qpn, p + 28);
	p[31] = al->link_id;
	p[32] = al->mtu & 0x0f;
	put_unaligned_be24(al->psn, p + 33);
	if (!add_link_has_ext(msg))
		return;
	p[44] = al->direct ? 0x80 : 0;
	memcpy(p + 46, al->target_gid, sizeof(al->target_gid));
	put_he16(al->n_rkeys, p + 70);
}

static void encode_add_link_cont(u8 *p,
				 const struct smc_llc_add_link_cont *cont)
{
	size_t i;

	p[4] = cont->link_id;
	p[5] = cont->n_left;
	for (i = 0; i < min_size(cont->n_left, SMC_LLC_CONT_RKEYS); i++)
		put_rkey(p + CONT_RKEYS + i * RKEY_LEN, &cont->rkey[i]);
}

static void encode_req_add_link(u8 *p, const struct smc_llc_msg *msg)
{
	const struct smc_llc_req_add_link *req = &msg->req_add_link;

	if (msg->response)
		return;
	p[24] = req->n_gids;
	memcpy(p + REQ_GIDS, req->gids, GID_LEN * (size_t)req->n_gids);
}

static void encode_confirm_rkey(u8 *p, const struct smc_llc_confirm_rkey *cr)
{
	size_t i;

	p[4] = cr->overflow ? SMC_LLC_MORE_RKEYS + 1 : cr->n_more;
	put_unaligned_be32(cr->rkey, p + 5);
	put_unaligned_be64(cr->addr, p + 9);
	for (i = 0; i < cr->n_more; i++) {
		u8 *q = p + MORE_RKEYS + i * MORE_LEN;

		q[0] = cr->more[i].link_id;
		put_unaligned_be32(cr->more[i].rkey, q + 1);
		put_unaligned_be64(cr->more[i].addr, q + 5);
	}
}

static void encode_delete_rkey(u8 *p, const struct smc_llc_msg *msg)
{
	const struct smc_llc_delete_rkey *dr = &msg->delete_rkey;
	size_t i;

	p[4] = dr->n_keys;
	if (msg->response) {
		p[5] = dr->unknown;
		return;
	}
	for (i = 0; i < min_size(dr->n_keys, SMC_LLC_V1_DEL_RKEYS); i++)
		put_unaligned_be32(dr->rkey[i], p + DEL_RKEYS + 4 * i);
}

static size_t msg_len(const struct smc_llc_msg *msg)
{
	size_t len = 0;

	if (msg->type == SMC_LLC_ADD_LINK && add_link_has_ext(msg))
		len = ADD_LINK_RKEYS +
		      RKEY_LEN * (size_t)msg->add_link.n_rkeys;
	else if (msg->type == SMC_LLC_REQ_ADD_LINK && !msg->response)
		len = REQ_GIDS + GID_LEN * (size_t)msg->req_add_link.n_gids;
	else if (msg->type == SMC_LLC_DELETE_RKEY && !msg->response)
		len = DEL_RKEYS + 4 * (size_t)msg->delete_rkey.n_keys;
	return len < SMC_LLC_LEN ? SMC_LLC_LEN : len;
}

static bool encodable(const struct smc_llc_msg *msg)
{
	if (!known_type(msg->type, msg->v2))
		return false;
	switch (msg->type) {
	case SMC_LLC_REQ_ADD_LINK:
		return msg->req_add_link.n_gids <= SMC_LLC_MAX_GIDS;
	case SMC_LLC_CONFIRM_RKEY:
		return msg->confirm_rkey.n_more <= SMC_LLC_MORE_RKEYS;
	case SMC_LLC_DELETE_RKEY:
		return msg->v2 || msg->response ||
		       msg->delete_rkey.n_keys <= SMC_LLC_V1_DEL_RKEYS;
	default:
		return true;
	}
}

/**
 * smc_llc_encode() - bytes of an LLC message
 * @p: buffer
 * @room: its size in bytes; 44 suffice except for long version 2 messages
 * @msg: the message
 *
 * The keys of a version 2 ADD LINK are left zero; so are those of a DELETE RKEY
 * from the ninth on.
 *
 * Context: any.
 * Return: length of the message, -ENOSPC if @room is too small, -EINVAL if
 * @msg cannot be expressed.
 */
ssize_t smc_llc_encode(u8 *p, size_t room, const struct smc_llc_msg *msg)
{
	size_t len;

	if (!encodable(msg))
		return -EINVAL;
	len = msg_len(msg);
	if (room < len)
		return -ENOSPC;
	memset(p, 0, len);
	p[0] = msg->v2 ? msg->type + V2_TYPE : msg->type;
	if (msg->v2)
		put_he16(len, p + 1);
	else
		p[1] = SMC_LLC_LEN;
	p[3] = (msg->flags & known_flags(msg->type)) |
	       (msg->response ? SMC_LLC_RESPONSE : 0);
	switch (msg->type) {
	case SMC_LLC_CONFIRM_LINK:
		encode_confirm_link(p, &msg->confirm_link);
		break;
	case SMC_LLC_ADD_LINK:
		encode_add_link(p, msg);
		break;
	case SMC_LLC_ADD_LINK_CONT:
		encode_add_link_cont(p, &msg->add_link_cont);
		break;
	case SMC_LLC_DELETE_LINK:
		p[4] = msg->delete_link.link_id;
		put_unaligned_be32(msg->delete_link.reason, p + 5);
		break;
	case SMC_LLC_REQ_ADD_LINK:
		encode_req_add_link(p, msg);
		break;
	case SMC_LLC_CONFIRM_RKEY:
		encode_confirm_rkey(p, &msg->confirm_rkey);
		break;
	case SMC_LLC_TEST_LINK:
		memcpy(p + 4, msg->test_link.data, sizeof(msg->test_link.data));
		break;
	case SMC_LLC_DELETE_RKEY:
		encode_delete_rkey(p, msg);
		break;
	}
	return len;
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
	for (key = p + DEL_RKEYS; n; n--, key += 4) {
		if (get_unaligned_be32(key) == rkey)
			return true;
	}
	return false;
}

/**
 * smc_llc_respond() - turn a received request into its response
 * @p: the request; changed in place
 * @len: its length
 * @flags: flags to set beside SMC_LLC_RESPONSE
 *
 * For the messages whose response repeats the request: TEST LINK, CONFIRM
 * RKEY, DELETE LINK, and an ADD LINK that is rejected. The response has 44
 * bytes, whatever the request had.
 *
 * Context: any.
 * Return: SMC_LLC_LEN, or -EINVAL if @p is shorter.
 */
int smc_llc_respond(u8 *p, size_t len, u8 flags)
{
	if (len < SMC_LLC_LEN)
		return -EINVAL;
	if ((p[0] & 0xf0) == V2_TYPE)
		put_he16(SMC_LLC_LEN, p + 1);
	p[3] |= SMC_LLC_RESPONSE | flags;
	return SMC_LLC_LEN;
}
