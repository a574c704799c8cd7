// SPDX-License-Identifier: GPL-2.0
/*
 * CLC messages: bytes to validated host structs and back. PURE.
 *
 * A message is an 8-byte header (eye catcher, type, total length, version and
 * flags), a body, and a trailing eye catcher. smc_clc_peek() finds the length
 * in the first bytes of the stream; smc_clc_decode() takes the whole message,
 * checks every offset and count against the bytes that are there, and copies
 * what it needs: nothing points into the buffer afterwards. Reserved fields
 * are sent as zero and ignored on receipt. A Proposal and a Decline must have
 * exactly the length their contents announce, which also bounds every offset;
 * a version 2 Accept or Confirm at least that, what follows is skipped.
 *
 * decode(encode(x)) == x for every x that decode() can return.
 *
 * Context: any, no locks, no allocation. Test: selftests/unit/unit_clc.c
 */
#include <linux/types.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include "clc.h"

#define TRAILER_LEN	4

/* Proposal */
#define PROP_BASE_LEN	40	/* up to and including the IP area's offset */
#define PROP_ISM_LEN	40	/* SMC-D / version 2 pointer area */
#define PROP_V2_REF	52	/* the version 2 offset counts from here */
#define IP_LEN		8
#define V6_LEN		17
#define V2_LEN		40
#define V2_D_REF	8	/* the SMC-D offset counts from here */
#define D_LEN		48
#define D_ENTRY_LEN	10

/* Accept and Confirm */
#define ACC_R_V1_LEN	68
#define ACC_R_V2_LEN	108
#define ACC_D_V1_LEN	48
#define ACC_D_V2_LEN	78
#define FCE_SHORT_LEN	36
#define FCE_LEN		52
#define GIDS_LEN	4

#define DECLINE_V1_LEN	28
#define DECLINE_V2_LEN	44

/* 0 and 1 are for management, the last one is for multicast */
#define QPN_MIN		2
#define QPN_MAX		0xfffffe

#define FLAG_FIRST	0x08	/* in the path byte of Accept and Confirm */
#define FLAG_OUT_OF_SYNC 0x08	/* in the path byte of Decline */

static const u8 eyec_r[4] = { 0xe2, 0xd4, 0xc3, 0xd9 };
static const u8 eyec_d[4] = { 0xe2, 0xd4, 0xc3, 0xc4 };

/* One received message. The body ends at @end: before the trailer, or where
 * the receive buffer ended if the message was longer than that (@cut).
 */
struct frame {
	const u8 *p;
	size_t total;
	size_t end;
	bool cut;
};

static bool is_eyec(const u8 *p, size_t n)
{
	return !memcmp(p, eyec_r, n) || !memcmp(p, eyec_d, n);
}

/**
 * smc_size_code() - code of the smallest buffer size that holds @bytes
 * @bytes: wanted size
 *
 * Return: 0..15; 15 (512 MiB) for everything above.
 */
u8 smc_size_code(u32 bytes)
{
	u8 code = 0;

	while (code < SMC_SIZE_CODE_MAX && smc_size_from_code(code) < bytes)
		code++;
	return code;
}

/**
 * smc_clc_peek() - what do the first bytes of the stream begin?
 * @p: first bytes of the stream, not consumed
 * @have: how many of them there are, 0 and more
 *
 * Meant for a reader that waits until a whole message can be read. The length
 * returned may exceed SMC_CLC_MAX_LEN: then read SMC_CLC_MAX_LEN bytes for
 * smc_clc_decode() and throw the rest away as it comes.
 *
 * Return: total length of the message (28..65535) once 8 bytes are there;
 * -EAGAIN if they may begin a message but more are needed to tell; -ENOMSG if
 * they do not begin an eye catcher: this is no CLC message; -EPROTO if an eye
 * catcher is followed by an impossible header.
 */
ssize_t smc_clc_peek(const u8 *p, size_t have)
{
	if (!is_eyec(p, have < 4 ? have : 4))
		return -ENOMSG;
	if (have > 4 && (p[4] < SMC_CLC_PROPOSAL || p[4] > SMC_CLC_DECLINE))
		return -EPROTO;
	if (have > 6 && get_unaligned_be16(p + 5) < SMC_CLC_MIN_LEN)
		return -EPROTO;
	if (have < SMC_CLC_HDR_LEN)
		return -EAGAIN;
	if (!(p[7] >> 4))
		return -EPROTO;
	return get_unaligned_be16(p + 5);
}

static int decode_ip(const struct frame *f, size_t at,
		     struct smc_clc_proposal *prop)
{
	const u8 *p;
	u8 i;

	if (at + IP_LEN > f->end)
		return -EPROTO;
	p = f->p + at;
	prop->v4_net = get_unaligned_be32(p);
	prop->v4_len = p[4];
	prop->n_v6 = p[7];
	if (prop->v4_len > 32 || prop->n_v6 > SMC_CLC_MAX_V6 ||
	    at + IP_LEN + V6_LEN * (size_t)prop->n_v6 > f->end)
		return -EPROTO;
	p += IP_LEN;
	for (i = 0; i < prop->n_v6; i++, p += V6_LEN) {
		memcpy(prop->v6[i].addr, p, 16);
		prop->v6[i].len = p[16];
		if (prop->v6[i].len > 128)
			return -EPROTO;
	}
	return 0;
}

/* SMC-D part of the version 2 extension that starts at @ext. */
static int decode_v2_d(const struct frame *f, size_t ext, u16 off, u8 n,
		       struct smc_clc_v2ext *v2)
{
	size_t at = ext + V2_D_REF + off;
	const u8 *p;
	u8 i;

	if (!off)		/* none: the choice of the variant declines */
		return 0;
	if (at + D_LEN + D_ENTRY_LEN * (size_t)n > f->end)
		return -EPROTO;
	p = f->p + at + D_LEN;
	v2->has_d = true;
	v2->n_ism = n;
	for (i = 0; i < n; i++, p += D_ENTRY_LEN) {
		v2->ism[i].gid = get_unaligned_be64(p);
		v2->ism[i].chid = get_unaligned_be16(p + 8);
	}
	return 0;
}

/* Adds the bytes its areas announce to *@want. */
static int decode_v2(const struct frame *f, struct smc_clc_proposal *prop,
		     size_t *want)
{
	size_t at = PROP_V2_REF + get_unaligned_be16(f->p + 50);
	struct smc_clc_v2ext *v2 = &prop->v2;
	const u8 *p;
	u8 i, n_ism;

	if (at < PROP_BASE_LEN + PROP_ISM_LEN || at + V2_LEN > f->end)
		return -EPROTO;
	p = f->p + at;
	v2->n_eids = p[0];
	n_ism = p[1];
	v2->release = p[3] >> 4;
	v2->seid_valid = p[3] & 0x01;
	memcpy(v2->gid, p + 8, SMC_GID_LEN);
	v2->max_conns = p[24];
	v2->max_links = p[25];
	v2->feature_mask = get_unaligned_be16(p + 26);
	if (v2->n_eids > SMC_CLC_MAX_EIDS ||
	    at + V2_LEN + SMC_EID_LEN * (size_t)v2->n_eids > f->end)
		return -EPROTO;
	for (i = 0; i < v2->n_eids; i++)
		memcpy(v2->eids[i], p + V2_LEN + SMC_EID_LEN * i, SMC_EID_LEN);
	*want += V2_LEN + SMC_EID_LEN * (size_t)v2->n_eids;
	if (!smc_offer_has_d(prop->offer_v2))
		return 0;
	if (n_ism > SMC_CLC_MAX_ISM)
		return -EPROTO;
	*want += D_LEN + D_ENTRY_LEN * (size_t)n_ism;
	return decode_v2_d(f, at, get_unaligned_be16(p + 6), n_ism, v2);
}

static int decode_proposal(const struct frame *f, u8 version,
			   struct smc_clc_proposal *prop)
{
	size_t want = PROP_BASE_LEN + TRAILER_LEN;
	const u8 *p = f->p;
	u16 ip_off;
	int rc;

	if (f->end < PROP_BASE_LEN)
		return -EPROTO;
	ip_off = get_unaligned_be16(p + 38);
	if (ip_off > PROP_ISM_LEN)
		return -EPROTO;
	prop->offer_v1 = p[7] & 0x03;
	prop->offer_v2 = version > 1 ? (p[7] >> 2) & 0x03 : SMC_OFFER_NONE;
	prop->has_ism = version > 1 || ip_off == PROP_ISM_LEN;
	memcpy(prop->peer_id, p + 8, SMC_PEER_ID_LEN);
	memcpy(prop->gid, p + 16, SMC_GID_LEN);
	memcpy(prop->mac, p + 32, SMC_MAC_LEN);
	want += version > 1 ? PROP_ISM_LEN : ip_off;
	if (f->total < want)
		return -EPROTO;
	if (prop->offer_v1 != SMC_OFFER_NONE) {
		if (version > 1 && ip_off != PROP_ISM_LEN)
			return -EPROTO;
		rc = decode_ip(f, PROP_BASE_LEN + ip_off, prop);
		if (rc)
			return rc;
		want += IP_LEN + V6_LEN * (size_t)prop->n_v6;
	} else if (version == 1) {
		return -EPROTO;
	}
	if (prop->offer_v2 != SMC_OFFER_NONE) {
		rc = decode_v2(f, prop, &want);
		if (rc)
			return rc;
	}
	return f->total == want ? 0 : -EPROTO;
}

/* Host name: printable ASCII, or nothing. Blanks at the end are padding. */
static void decode_hostname(char *name, const u8 *p)
{
	size_t n = SMC_HOSTNAME_LEN;
	size_t i;

	while (n && (p[n - 1] == ' ' || !p[n - 1]))
		n--;
	for (i = 0; i < n; i++)
		if (p[i] < 0x20 || p[i] > 0x7e)
			return;
	memcpy(name, p, n);
}

/* Return: length of the extension, or -EPROTO. */
static ssize_t decode_fce(const struct frame *f, size_t at, u8 mode,
			  struct smc_clc_fce *fce)
{
	const u8 *p;

	if (at + FCE_SHORT_LEN > f->end)
		return -EPROTO;
	p = f->p + at;
	fce->direct = p[0] & 0x80;
	fce->os = p[1] >> 4;
	fce->release = p[1] & 0x0f;
	decode_hostname(fce->hostname, p + 4);
	if (mode == SMC_CLC_MODE_D && !fce->release)
		return FCE_SHORT_LEN;
	if (at + FCE_LEN > f->end)
		return -EPROTO;
	fce->max_conns = p[36];
	fce->max_links = p[37];
	fce->feature_mask = get_unaligned_be16(p + 38);
	return FCE_LEN;
}

/* A list that is not there at all is an empty one: only its owner needs it. */
static int decode_gids(const struct frame *f, size_t at,
		       struct smc_clc_accept *acc)
{
	size_t n, keep;

	if (at + GIDS_LEN > f->end)
		return 0;
	n = f->p[at];
	keep = n < SMC_CLC_MAX_GIDS ? n : SMC_CLC_MAX_GIDS;
	at += GIDS_LEN;
	if (at + SMC_GID_LEN * (f->cut ? keep : n) > f->end)
		return -EPROTO;
	memcpy(acc->gids, f->p + at, SMC_GID_LEN * keep);
	acc->n_gids = keep;
	return 0;
}

static int decode_accept_r(const struct frame *f, u8 version,
			   struct smc_clc_accept *acc)
{
	struct smc_clc_accept_r *r = &acc->r;
	const u8 *p = f->p;
	u64 ring;

	if (version > 1 ? f->total < ACC_R_V2_LEN : f->total != ACC_R_V1_LEN)
		return -EPROTO;
	memcpy(r->peer_id, p + 8, SMC_PEER_ID_LEN);
	memcpy(r->gid, p + 16, SMC_GID_LEN);
	memcpy(r->mac, p + 32, SMC_MAC_LEN);
	r->qpn = get_unaligned_be24(p + 38);
	r->rkey = get_unaligned_be32(p + 41);
	r->index = p[45];
	r->token = get_unaligned_be32(p + 46);
	r->size_code = p[50] >> 4;
	r->mtu = p[50] & 0x0f;
	r->addr = get_unaligned_be64(p + 52);
	r->psn = get_unaligned_be24(p + 61);
	ring = (u64)smc_size_from_code(r->size_code) * r->index;
	if (r->qpn < QPN_MIN || r->qpn > QPN_MAX || !r->token || !r->index ||
	    !r->mtu || r->addr > ~(u64)0 - ring)
		return -EPROTO;
	if (version > 1)
		memcpy(acc->eid, p + 64, SMC_EID_LEN);
	return 0;
}

static int decode_accept_d(const struct frame *f, u8 version,
			   struct smc_clc_accept *acc)
{
	struct smc_clc_accept_d *d = &acc->d;
	const u8 *p = f->p;

	if (version > 1 ? f->total < ACC_D_V2_LEN : f->total != ACC_D_V1_LEN)
		return -EPROTO;
	d->gid = get_unaligned_be64(p + 8);
	d->token = get_unaligned_be64(p + 16);
	d->index = p[24];
	d->size_code = p[25] >> 4;
	memcpy(d->link_id, p + 28, sizeof(d->link_id));
	if (version > 1) {
		d->chid = get_unaligned_be16(p + 32);
		memcpy(acc->eid, p + 34, SMC_EID_LEN);
		d->gid_ext = get_unaligned_be64(p + 66);
	}
	return 0;
}

static int decode_accept(const struct frame *f, u8 type, u8 version,
			 struct smc_clc_accept *acc)
{
	size_t at;
	ssize_t rc;

	acc->mode = f->p[7] & 0x03;
	acc->first_contact = f->p[7] & FLAG_FIRST;
	if (acc->mode == SMC_CLC_MODE_R) {
		rc = decode_accept_r(f, version, acc);
		at = ACC_R_V2_LEN - TRAILER_LEN;
	} else if (acc->mode == SMC_CLC_MODE_D) {
		rc = decode_accept_d(f, version, acc);
		at = ACC_D_V2_LEN - TRAILER_LEN;
	} else {
		return -EPROTO;
	}
	if (rc)
		return rc;
	if (version == 1 || !acc->first_contact)
		return 0;
	rc = decode_fce(f, at, acc->mode, &acc->fce);
	if (rc < 0)
		return rc;
	if (type == SMC_CLC_CONFIRM && acc->mode == SMC_CLC_MODE_R)
		return decode_gids(f, at + rc, acc);
	return 0;
}

static int decode_decline(const struct frame *f, u8 version,
			  struct smc_clc_decline *dec)
{
	const u8 *p = f->p;

	if (f->total != (version > 1 ? DECLINE_V2_LEN : DECLINE_V1_LEN))
		return -EPROTO;
	dec->out_of_sync = p[7] & FLAG_OUT_OF_SYNC;
	memcpy(dec->peer_id, p + 8, SMC_PEER_ID_LEN);
	dec->diagnosis = get_unaligned_be32(p + 16);
	dec->os = p[20] >> 4;
	return 0;
}

/**
 * smc_clc_decode() - bytes of one CLC message to a host struct
 * @p: first byte of the message
 * @len: bytes at @p. At least the length in the header; if that exceeds
 *	SMC_CLC_MAX_LEN, SMC_CLC_MAX_LEN bytes suffice (the caller drains the
 *	rest). Bytes beyond the message are not looked at
 * @out: the message; valid only if 0 is returned
 *
 * Whether a message of this type is expected here is for the caller to judge.
 *
 * Context: any.
 * Return: 0, or -EPROTO.
 */
int smc_clc_decode(const u8 *p, size_t len, struct smc_clc_msg *out)
{
	struct frame f = { .p = p };
	ssize_t total;

	memset(out, 0, sizeof(*out));
	total = smc_clc_peek(p, len);
	if (total < 0)
		return -EPROTO;
	f.total = total;
	f.cut = f.total > len;
	f.end = f.cut ? len : f.total - TRAILER_LEN;
	if (f.cut && len < SMC_CLC_MAX_LEN)
		return -EPROTO;
	out->type = p[4];
	out->version = p[7] >> 4 > 1 ? 2 : 1;
	if (!f.cut && out->type != SMC_CLC_DECLINE &&
	    !is_eyec(p + f.end, TRAILER_LEN))
		return -EPROTO;
	switch (out->type) {
	case SMC_CLC_PROPOSAL:
		return decode_proposal(&f, out->version, &out->proposal);
	case SMC_CLC_DECLINE:
		return decode_decline(&f, out->version, &out->decline);
	default:
		return decode_accept(&f, out->type, out->version, &out->accept);
	}
}

static void put_eyec(u8 *p, bool d)
{
	memcpy(p, d ? eyec_d : eyec_r, 4);
}

/* Zeroed message of @len bytes with header and trailer. */
static void put_frame(u8 *p, size_t len, const struct smc_clc_msg *msg,
		      bool d, u8 flags)
{
	memset(p, 0, len);
	put_eyec(p, d);
	p[4] = msg->type;
	put_unaligned_be16(len, p + 5);
	p[7] = msg->version << 4 | flags;
	put_eyec(p + len - TRAILER_LEN, d);
}

static size_t proposal_v2_len(const struct smc_clc_proposal *prop)
{
	size_t len;

	if (prop->offer_v2 == SMC_OFFER_NONE)
		return 0;
	len = V2_LEN + SMC_EID_LEN * (size_t)prop->v2.n_eids;
	if (!smc_offer_has_d(prop->offer_v2))
		return len;
	len += D_LEN;
	if (prop->v2.has_d)
		len += D_ENTRY_LEN * (size_t)prop->v2.n_ism;
	return len;
}

static void encode_ip(u8 *p, const struct smc_clc_proposal *prop)
{
	u8 i;

	put_unaligned_be32(prop->v4_net, p);
	p[4] = prop->v4_len;
	p[7] = prop->n_v6;
	p += IP_LEN;
	for (i = 0; i < prop->n_v6; i++, p += V6_LEN) {
		memcpy(p, prop->v6[i].addr, 16);
		p[16] = prop->v6[i].len;
	}
}

static void encode_v2(u8 *p, const struct smc_clc_proposal *prop)
{
	const struct smc_clc_v2ext *v2 = &prop->v2;
	u8 i;

	p[0] = v2->n_eids;
	p[3] = v2->release << 4 | v2->seid_valid;
	memcpy(p + 8, v2->gid, SMC_GID_LEN);
	p[24] = v2->max_conns;
	p[25] = v2->max_links;
	put_unaligned_be16(v2->feature_mask, p + 26);
	for (i = 0; i < v2->n_eids; i++)
		memcpy(p + V2_LEN + SMC_EID_LEN * i, v2->eids[i], SMC_EID_LEN);
	if (!smc_offer_has_d(prop->offer_v2) || !v2->has_d)
		return;
	p[1] = v2->n_ism;
	put_unaligned_be16(V2_LEN - V2_D_REF + SMC_EID_LEN * v2->n_eids, p + 6);
	p += V2_LEN + SMC_EID_LEN * v2->n_eids + D_LEN;
	for (i = 0; i < v2->n_ism; i++, p += D_ENTRY_LEN) {
		put_unaligned_be64(v2->ism[i].gid, p);
		put_unaligned_be16(v2->ism[i].chid, p + 8);
	}
}

static ssize_t encode_proposal(u8 *p, size_t room,
			       const struct smc_clc_msg *msg)
{
	const struct smc_clc_proposal *prop = &msg->proposal;
	bool ism = msg->version > 1 || prop->has_ism;
	size_t at = PROP_BASE_LEN + (ism ? PROP_ISM_LEN : 0);
	size_t len = at + proposal_v2_len(prop) + TRAILER_LEN;
	u8 offers = prop->offer_v1;

	if (prop->offer_v1 > SMC_OFFER_BOTH ||
	    prop->offer_v2 > SMC_OFFER_BOTH || prop->n_v6 > SMC_CLC_MAX_V6 ||
	    prop->v4_len > 32 || prop->v2.n_eids > SMC_CLC_MAX_EIDS ||
	    prop->v2.n_ism > SMC_CLC_MAX_ISM || prop->v2.release > 15)
		return -EINVAL;
	if (msg->version == 1 && (prop->offer_v1 == SMC_OFFER_NONE ||
				  prop->offer_v2 != SMC_OFFER_NONE))
		return -EINVAL;
	if (prop->offer_v1 != SMC_OFFER_NONE)
		len += IP_LEN + V6_LEN * (size_t)prop->n_v6;
	if (room < len)
		return -ENOSPC;
	if (msg->version > 1)
		offers |= prop->offer_v2 << 2;
	put_frame(p, len, msg, false, offers);
	memcpy(p + 8, prop->peer_id, SMC_PEER_ID_LEN);
	memcpy(p + 16, prop->gid, SMC_GID_LEN);
	memcpy(p + 32, prop->mac, SMC_MAC_LEN);
	if (prop->offer_v1 != SMC_OFFER_NONE) {
		put_unaligned_be16(at - PROP_BASE_LEN, p + 38);
		encode_ip(p + at, prop);
		at += IP_LEN + V6_LEN * (size_t)prop->n_v6;
	}
	if (prop->offer_v2 != SMC_OFFER_NONE) {
		put_unaligned_be16(at - PROP_V2_REF, p + 50);
		encode_v2(p + at, prop);
	}
	return len;
}

static size_t fce_len(const struct smc_clc_accept *acc)
{
	if (acc->mode == SMC_CLC_MODE_D && !acc->fce.release)
		return FCE_SHORT_LEN;
	return FCE_LEN;
}

static void encode_fce(u8 *p, const struct smc_clc_accept *acc)
{
	const struct smc_clc_fce *fce = &acc->fce;

	p[0] = fce->direct ? 0x80 : 0;
	p[1] = fce->os << 4 | fce->release;
	memset(p + 4, ' ', SMC_HOSTNAME_LEN);
	memcpy(p + 4, fce->hostname,
	       strnlen(fce->hostname, SMC_HOSTNAME_LEN));
	if (fce_len(acc) == FCE_SHORT_LEN)
		return;
	p[36] = fce->max_conns;
	p[37] = fce->max_links;
	put_unaligned_be16(fce->feature_mask, p + 38);
}

static void encode_accept_r(u8 *p, u8 version, const struct smc_clc_accept *acc)
{
	const struct smc_clc_accept_r *r = &acc->r;

	memcpy(p + 8, r->peer_id, SMC_PEER_ID_LEN);
	memcpy(p + 16, r->gid, SMC_GID_LEN);
	memcpy(p + 32, r->mac, SMC_MAC_LEN);
	put_unaligned_be24(r->qpn, p + 38);
	put_unaligned_be32(r->rkey, p + 41);
	p[45] = r->index;
	put_unaligned_be32(r->token, p + 46);
	p[50] = r->size_code << 4 | r->mtu;
	put_unaligned_be64(r->addr, p + 52);
	put_unaligned_be24(r->psn, p + 61);
	if (version > 1)
		memcpy(p + 64, acc->eid, SMC_EID_LEN);
}

static void encode_accept_d(u8 *p, u8 version, const struct smc_clc_accept *acc)
{
	const struct smc_clc_accept_d *d = &acc->d;

	put_unaligned_be64(d->gid, p + 8);
	put_unaligned_be64(d->token, p + 16);
	p[24] = d->index;
	p[25] = d->size_code << 4;
	memcpy(p + 28, d->link_id, sizeof(d->link_id));
	if (version > 1) {
		put_unaligned_be16(d->chid, p + 32);
		memcpy(p + 34, acc->eid, SMC_EID_LEN);
		put_unaligned_be64(d->gid_ext, p + 66);
	}
}

static size_t accept_len(const struct smc_clc_accept *acc, u8 version)
{
	if (acc->mode == SMC_CLC_MODE_D)
		return version > 1 ? ACC_D_V2_LEN : ACC_D_V1_LEN;
	return version > 1 ? ACC_R_V2_LEN : ACC_R_V1_LEN;
}

static ssize_t encode_accept(u8 *p, size_t room, const struct smc_clc_msg *msg)
{
	const struct smc_clc_accept *acc = &msg->accept;
	size_t len = accept_len(acc, msg->version);
	bool d = acc->mode == SMC_CLC_MODE_D;
	size_t at = len - TRAILER_LEN;
	bool fce, gids;

	fce = msg->version > 1 && acc->first_contact;
	gids = fce && !d && msg->type == SMC_CLC_CONFIRM;
	if (acc->mode > SMC_CLC_MODE_D || acc->n_gids > SMC_CLC_MAX_GIDS ||
	    acc->fce.os > 15 || acc->fce.release > 15 ||
	    acc->r.size_code > SMC_SIZE_CODE_MAX || acc->r.mtu > 15 ||
	    acc->d.size_code > SMC_SIZE_CODE_MAX)
		return -EINVAL;
	if (fce)
		len += fce_len(acc);
	if (gids)
		len += GIDS_LEN + SMC_GID_LEN * (size_t)acc->n_gids;
	if (room < len)
		return -ENOSPC;
	put_frame(p, len, msg, d,
		  acc->mode | (acc->first_contact ? FLAG_FIRST : 0));
	if (d)
		encode_accept_d(p, msg->version, acc);
	else
		encode_accept_r(p, msg->version, acc);
	if (fce)
		encode_fce(p + at, acc);
	if (gids) {
		at += fce_len(acc);
		p[at] = acc->n_gids;
		memcpy(p + at + GIDS_LEN, acc->gids,
		       SMC_GID_LEN * (size_t)acc->n_gids);
	}
	return len;
}

static ssize_t encode_decline(u8 *p, size_t room, const struct smc_clc_msg *msg)
{
	size_t len = msg->version > 1 ? DECLINE_V2_LEN : DECLINE_V1_LEN;
	const struct smc_clc_decline *dec = &msg->decline;

	if (dec->os > 15)
		return -EINVAL;
	if (room < len)
		return -ENOSPC;
	put_frame(p, len, msg, false, dec->out_of_sync ? FLAG_OUT_OF_SYNC : 0);
	memcpy(p + 8, dec->peer_id, SMC_PEER_ID_LEN);
	put_unaligned_be32(dec->diagnosis, p + 16);
	p[20] = dec->os << 4;
	return len;
}

/**
 * smc_clc_encode() - bytes of a CLC message
 * @p: buffer
 * @room: its size in bytes; SMC_CLC_MAX_LEN always suffices
 * @msg: the message; what its type, version, mode and offers leave out is
 *	not looked at, values too large for their field are refused
 *
 * Context: any.
 * Return: length of the message, -ENOSPC if @room is too small, -EINVAL if
 * @msg cannot be expressed.
 */
ssize_t smc_clc_encode(u8 *p, size_t room, const struct smc_clc_msg *msg)
{
	if (msg->version != 1 && msg->version != 2)
		return -EINVAL;
	switch (msg->type) {
	case SMC_CLC_PROPOSAL:
		return encode_proposal(p, room, msg);
	case SMC_CLC_ACCEPT:
	case SMC_CLC_CONFIRM:
		return encode_accept(p, room, msg);
	case SMC_CLC_DECLINE:
		return encode_decline(p, room, msg);
	}
	return -EINVAL;
}
