// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of net/smc/wire/clc.c: whatever the bytes or the struct, going there
 * and back gives the same, and no byte outside the message is touched.
 */
#include "unit_clc.h"

static void decode__truncated(void **state)
{
	struct smc_clc_msg msg;
	size_t i, len;

	for (i = 0; i < n_vectors; i++)
		for (len = 0; len < vectors[i].len; len++)
			if (!decode(vectors[i].bytes, len, &msg))
				fail_msg("%s: %zu bytes accepted",
					 vectors[i].name, len);
}

/* Shortened with an honest length field and a trailer: refused or valid. */
static void decode__truncated_consistently(void **state)
{
	size_t i, len;
	u8 *p;

	for (i = 0; i < n_vectors; i++) {
		for (len = 4; len < vectors[i].len; len++) {
			p = exact(vectors[i].bytes, len);
			memcpy(p + len - 4, vectors[i].bytes, 4);
			if (len > 6)
				put_len(p, len);
			oracle_clc(p, len);
			free(p);
		}
	}
}

static void decode__every_byte_mutated(void **state)
{
	size_t i, at;
	u8 *p, old;
	int v;

	for (i = 0; i < n_vectors; i++) {
		p = exact(vectors[i].bytes, vectors[i].len);
		for (at = 0; at < vectors[i].len; at++) {
			old = p[at];
			for (v = 0; v < 4; v++) {
				p[at] = v == 0 ? 0x00 : v == 1 ? 0xff :
					v == 2 ? old + 1 : old - 1;
				oracle_clc(p, vectors[i].len);
			}
			p[at] = old;
		}
		free(p);
	}
}

/* Both bytes of a 16-bit field through all values. */
static void every_u16(const char *name, size_t at)
{
	const struct golden *v = vector(name);
	u8 *p = exact(v->bytes, v->len);
	u32 val;

	for (val = 0; val <= 0xffff; val++) {
		p[at] = val >> 8;
		p[at + 1] = val;
		oracle_clc(p, v->len);
	}
	free(p);
}

static void decode__every_offset(void **state)
{
	every_u16("example:proposal-v2", 5);
	every_u16("example:proposal-v2", 38);
	every_u16("example:proposal-v2", 50);
	every_u16("example:proposal-v2", 0x5e);
	every_u16("shape:proposal-v1-r", 38);
	every_u16("shape:proposal-v2-d-only", 50);
	every_u16("shape:proposal-v2-d-only", 0x56);
	every_u16("two-ports@0.080549:confirm", 5);
}

/* Many bytes at once, with a length field that often fits. */
static void decode__random_mutations(void **state)
{
	size_t i, k, len, valid = 0;
	u8 buf[GOLDEN_MAX];
	u8 *p;

	rnd_seed(1);
	for (i = 0; i < 100000; i++) {
		const struct golden *v = &vectors[rnd() % n_vectors];

		memcpy(buf, v->bytes, v->len);
		len = v->len;
		for (k = 1 + rnd() % 4; k; k--)
			buf[8 + rnd() % (len - 8)] = rnd();
		if (!(rnd() % 4))
			buf[7] = rnd();
		if (!(rnd() % 4)) {
			len = 8 + rnd() % (len - 7);
			put_len(buf, len);
			memcpy(buf + len - 4, v->bytes, 4);
		}
		p = exact(buf, len);
		valid += oracle_clc(p, len);
		free(p);
	}
	/* the mutations must not all fail at the first check */
	assert_in_range(valid, 10000, 90000);
}

static void random_ism(struct smc_clc_proposal *prop)
{
	u8 i;

	prop->v2.has_d = rnd() % 8;
	if (!prop->v2.has_d)
		return;
	prop->v2.n_ism = rnd() % 9;
	for (i = 0; i < prop->v2.n_ism; i++) {
		prop->v2.ism[i].gid = rnd();
		prop->v2.ism[i].chid = rnd();
	}
}

static void random_v2(struct smc_clc_proposal *prop)
{
	struct smc_clc_v2ext *v2 = &prop->v2;
	u8 i;

	v2->release = rnd() % 16;
	v2->seid_valid = rnd() & 1;
	v2->max_conns = rnd();
	v2->max_links = rnd();
	v2->feature_mask = rnd();
	rnd_fill(v2->gid, SMC_GID_LEN);
	v2->n_eids = rnd() % 9;
	for (i = 0; i < v2->n_eids; i++)
		rnd_fill(v2->eids[i], SMC_EID_LEN);
	if (smc_offer_has_d(prop->offer_v2))
		random_ism(prop);
}

static void random_proposal(struct smc_clc_msg *msg)
{
	struct smc_clc_proposal *prop = &msg->proposal;
	u8 i;

	prop->offer_v1 = rnd() % 4;
	prop->offer_v2 = rnd() % 4;
	prop->has_ism = true;
	if (msg->version == 1) {
		prop->offer_v1 = rnd() & 1 ? SMC_OFFER_R : SMC_OFFER_BOTH;
		prop->offer_v2 = SMC_OFFER_NONE;
		prop->has_ism = rnd() & 1;
	}
	rnd_fill(prop->peer_id, SMC_PEER_ID_LEN);
	rnd_fill(prop->gid, SMC_GID_LEN);
	rnd_fill(prop->mac, SMC_MAC_LEN);
	if (prop->offer_v1 != SMC_OFFER_NONE) {
		prop->v4_net = rnd();
		prop->v4_len = rnd() % 33;
		prop->n_v6 = rnd() % 9;
	}
	for (i = 0; i < prop->n_v6; i++) {
		rnd_fill(prop->v6[i].addr, 16);
		prop->v6[i].len = rnd() % 129;
	}
	if (prop->offer_v2 != SMC_OFFER_NONE)
		random_v2(prop);
}

static void random_accept_r(struct smc_clc_accept_r *r)
{
	rnd_fill(r->peer_id, SMC_PEER_ID_LEN);
	rnd_fill(r->gid, SMC_GID_LEN);
	rnd_fill(r->mac, SMC_MAC_LEN);
	r->qpn = 2 + rnd() % 0xfffffd;
	r->psn = rnd() & 0xffffff;
	r->rkey = rnd();
	r->token = rnd() | 1;
	r->addr = rnd() >> 1;
	r->index = 1 + rnd() % 255;
	r->size_code = rnd() % 16;
	r->mtu = 1 + rnd() % 15;
}

static void random_accept(struct smc_clc_msg *msg)
{
	struct smc_clc_accept *acc = &msg->accept;
	bool v2 = msg->version > 1;
	u8 i;

	acc->mode = rnd() & 1;
	acc->first_contact = rnd() & 1;
	if (acc->mode == SMC_CLC_MODE_R) {
		random_accept_r(&acc->r);
	} else {
		acc->d.gid = rnd();
		acc->d.token = rnd();
		acc->d.index = rnd();
		acc->d.size_code = rnd() % 16;
		rnd_fill(acc->d.link_id, 4);
		acc->d.gid_ext = v2 ? rnd() : 0;
		acc->d.chid = v2 ? rnd() : 0;
	}
	if (!v2)
		return;
	rnd_fill(acc->eid, SMC_EID_LEN);
	if (!acc->first_contact)
		return;
	acc->fce.direct = rnd() & 1;
	acc->fce.os = rnd() % 16;
	acc->fce.release = rnd() % 3;
	memset(acc->fce.hostname, 'a' + rnd() % 26, rnd() % 33);
	if (acc->fce.release || acc->mode == SMC_CLC_MODE_R) {
		acc->fce.max_conns = rnd();
		acc->fce.max_links = rnd();
		acc->fce.feature_mask = rnd();
	}
	if (msg->type == SMC_CLC_CONFIRM && acc->mode == SMC_CLC_MODE_R)
		acc->n_gids = rnd() % 9;
	for (i = 0; i < acc->n_gids; i++)
		rnd_fill(acc->gids[i], SMC_GID_LEN);
}

static void random_decline(struct smc_clc_msg *msg)
{
	struct smc_clc_decline *dec = &msg->decline;

	dec->out_of_sync = rnd() & 1;
	dec->os = rnd() % 16;
	rnd_fill(dec->peer_id, SMC_PEER_ID_LEN);
	dec->diagnosis = rnd();
}

static void random_msg(struct smc_clc_msg *msg)
{
	memset(msg, 0, sizeof(*msg));
	msg->type = 1 + rnd() % 4;
	msg->version = 1 + rnd() % 2;
	if (msg->type == SMC_CLC_PROPOSAL)
		random_proposal(msg);
	else if (msg->type == SMC_CLC_DECLINE)
		random_decline(msg);
	else
		random_accept(msg);
}

static void encode__decode_gives_the_same(void **state)
{
	u8 buf[SMC_CLC_MAX_LEN];
	struct smc_clc_msg msg, back;
	ssize_t len, i;

	rnd_seed(2);
	for (i = 0; i < 50000; i++) {
		random_msg(&msg);
		len = smc_clc_encode(buf, sizeof(buf), &msg);
		assert_in_range(len, SMC_CLC_MIN_LEN, sizeof(buf));
		assert_int_equal(decode(buf, len, &back), 0);
		assert_memory_equal(&msg, &back, sizeof(msg));
	}
}

static void encode__longest_proposal(void **state)
{
	u8 buf[SMC_CLC_MAX_LEN];
	struct smc_clc_msg msg = {
		.type = SMC_CLC_PROPOSAL,
		.version = 2,
		.proposal = {
			.offer_v1 = SMC_OFFER_BOTH,
			.offer_v2 = SMC_OFFER_BOTH,
			.n_v6 = 8,
			.v2 = { .has_d = true, .n_eids = 8, .n_ism = 8 },
		},
	};

	assert_int_equal(smc_clc_encode(buf, sizeof(buf), &msg),
			 SMC_CLC_MAX_LEN);
	assert_true(oracle(buf, sizeof(buf)));
}

static void encode__no_room(void **state)
{
	struct smc_clc_msg msg;
	size_t i, room;
	u8 *p;

	for (i = 0; i < n_vectors; i++) {
		assert_int_equal(decode(vectors[i].bytes, vectors[i].len, &msg),
				 0);
		for (room = 0; room < vectors[i].len; room++) {
			p = exact(vectors[i].bytes, room);
			assert_int_equal(smc_clc_encode(p, room, &msg),
					 -ENOSPC);
			free(p);
		}
	}
}

static void encode__refuses_what_does_not_fit(void **state)
{
	u8 buf[SMC_CLC_MAX_LEN];
	struct smc_clc_msg msg, bad;

#define BAD(name, field, value) do {					\
	decode_ok(name, &msg);						\
	bad = msg;							\
	bad.field = (value);						\
	if (smc_clc_encode(buf, sizeof(buf), &bad) != -EINVAL)		\
		fail_msg("encoded: " #field " = " #value);		\
} while (0)

	BAD("example:proposal-v2", version, 0);
	BAD("example:proposal-v2", version, 3);
	BAD("example:proposal-v2", version, 1);
	BAD("example:proposal-v2", type, 0);
	BAD("example:proposal-v2", type, 5);
	BAD("example:proposal-v2", proposal.offer_v1, 4);
	BAD("example:proposal-v2", proposal.offer_v2, 4);
	BAD("example:proposal-v2", proposal.n_v6, 9);
	BAD("example:proposal-v2", proposal.v4_len, 33);
	BAD("example:proposal-v2", proposal.v2.n_eids, 9);
	BAD("example:proposal-v2", proposal.v2.n_ism, 9);
	BAD("example:proposal-v2", proposal.v2.release, 16);
	BAD("shape:proposal-v1-r", proposal.offer_v1, SMC_OFFER_NONE);
	BAD("example:accept-r-v2", accept.mode, 2);
	BAD("example:accept-r-v2", accept.r.size_code, 16);
	BAD("example:accept-r-v2", accept.r.mtu, 16);
	BAD("example:accept-r-v2", accept.fce.os, 16);
	BAD("example:accept-r-v2", accept.fce.release, 16);
	BAD("two-ports@0.080549:confirm", accept.n_gids, 9);
	BAD("shape:accept-d-v1-first", accept.d.size_code, 16);
	BAD("shape:decline-v2", decline.os, 16);
#undef BAD
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decode__truncated),
		cmocka_unit_test(decode__truncated_consistently),
		cmocka_unit_test(decode__every_byte_mutated),
		cmocka_unit_test(decode__every_offset),
		cmocka_unit_test(decode__random_mutations),
		cmocka_unit_test(encode__decode_gives_the_same),
		cmocka_unit_test(encode__longest_proposal),
		cmocka_unit_test(encode__no_room),
		cmocka_unit_test(encode__refuses_what_does_not_fit),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
