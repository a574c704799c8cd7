// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of net/smc/wire/llc.c.
 */
#include "unit_llc.h"

/* Encoding @msg, and the keys of @v where they stay outside of it. */
static ssize_t encode(u8 *p, size_t room, const struct smc_llc_msg *msg,
		      const struct golden *v)
{
	ssize_t len = smc_llc_encode(p, room, msg);
	unsigned int i;

	if (msg->type == SMC_LLC_ADD_LINK && msg->add_link.has_ext)
		memcpy(p + 72, v->bytes + 72, 16 * msg->add_link.n_rkeys);
	if (msg->type == SMC_LLC_DELETE_RKEY && !msg->response)
		for (i = 8; i < msg->delete_rkey.n_keys; i++)
			memcpy(p + 8 + 4 * i, v->bytes + 8 + 4 * i, 4);
	return len;
}

static void decode__golden_is_canonical(void **state)
{
	struct smc_llc_msg msg;
	u8 buf[GOLDEN_MAX];
	size_t i;

	for (i = 0; i < n_vectors; i++) {
		const struct golden *v = &vectors[i];

		if (decode(v->bytes, v->len, &msg))
			fail_msg("%s refused", v->name);
		if (encode(buf, sizeof(buf), &msg, v) != (ssize_t)v->len ||
		    memcmp(buf, v->bytes, v->len))
			fail_msg("%s: other bytes", v->name);
	}
}

static void decode__confirm_link(void **state)
{
	const struct smc_llc_confirm_link *cl;
	struct smc_llc_msg msg;

	decode_ok("two-ports@0.088421:confirm-link", &msg);
	cl = &msg.confirm_link;
	assert_int_equal(msg.type, SMC_LLC_CONFIRM_LINK);
	assert_true(msg.v2);
	assert_false(msg.response);
	assert_int_equal(msg.flags, SMC_LLC_CL_NO_EYEC);
	assert_int_equal(cl->mac[0], 0x52);
	assert_int_equal(cl->gid[15], 1);
	assert_int_equal(cl->qpn, 0x11);
	assert_int_equal(cl->link_id, 1);
	assert_int_equal(cl->user_id, 0x101);
	assert_int_equal(cl->max_links, 2);
	assert_int_equal(cl->max_conns, 255);

	decode_ok("example:v1-confirm-link-response", &msg);
	assert_false(msg.v2);
	assert_true(msg.response);
	assert_int_equal(msg.flags, SMC_LLC_CL_NO_EYEC);
}

static void decode__add_link_v2(void **state)
{
	const struct smc_llc_add_link *al;
	struct smc_llc_msg msg;

	decode_ok("two-ports@0.118675:add-link", &msg);
	al = &msg.add_link;
	assert_int_equal(msg.type, SMC_LLC_ADD_LINK);
	assert_int_equal(al->mac[5], 1);
	assert_int_equal(al->gid[15], 11);
	assert_int_equal(al->qpn, 0x11);
	assert_int_equal(al->link_id, 2);
	assert_int_equal(al->mtu, SMC_MTU_4096);
	assert_int_equal(al->psn, 0x822281);
	assert_true(al->has_ext);
	assert_true(al->direct);
	assert_memory_equal(al->target_gid, al->gid, 16);
	assert_int_equal(al->n_rkeys, 1);

	decode_ok("two-ports@12.326871:add-link-response", &msg);
	assert_true(msg.response);
	assert_int_equal(msg.flags, SMC_LLC_AL_REJECT);
	assert_false(al->has_ext);
}

/* One bit says that the keys are for this link alone. */
static void decode__add_link_direct(void **state)
{
	const struct golden *v = vector("two-ports@0.118675:add-link");
	u8 *p = exact(v->bytes, v->len);
	struct smc_llc_msg msg;

	p[44] = 0x7f;
	assert_int_equal(decode(p, v->len, &msg), 0);
	assert_false(msg.add_link.direct);
	assert_int_equal(smc_llc_encode(p, v->len, &msg), v->len);
	assert_int_equal(p[44], 0);
	free(p);
}

/* Keys are read only from the messages that have them. */
static void deletes_rkey__other_messages(void **state)
{
	const struct golden *v = vector("shape:v1-delete-rkey-8");
	u8 *p = exact(v->bytes, v->len);
	u32 key = get_unaligned_be32(p + 8);

	assert_true(smc_llc_deletes_rkey(p, v->len, key));
	p[0]++;
	assert_false(smc_llc_deletes_rkey(p, v->len, key));
	p[0]--;
	assert_false(smc_llc_deletes_rkey(p, SMC_LLC_LEN - 1, key));
	/* more keys in the message than it says */
	key = get_unaligned_be32(p + 8 + 4 * 7);
	assert_true(smc_llc_deletes_rkey(p, v->len, key));
	p[4]--;
	assert_false(smc_llc_deletes_rkey(p, v->len, key));
	p[4]++;
	p[3] |= SMC_LLC_RESPONSE;
	assert_false(smc_llc_deletes_rkey(p, v->len, key));
	free(p);
}

static void decode__add_link_v1(void **state)
{
	struct smc_llc_msg msg;

	decode_ok("shape:v1-add-link-rejection", &msg);
	assert_true(msg.response);
	assert_int_equal(msg.flags, SMC_LLC_AL_REJECT);
	assert_int_equal(msg.add_link.reason, SMC_LLC_REJ_NO_ALT_PATH);
	decode_ok("shape:v1-add-link-invitation", &msg);
	assert_int_equal(msg.add_link.qpn, 0);
	assert_int_equal(msg.add_link.mtu, 0);
	assert_int_equal(msg.add_link.gid[15], 1);
}

static void decode__add_link_cont(void **state)
{
	struct smc_llc_msg msg;

	decode_ok("shape:v1-add-link-cont-3", &msg);
	assert_int_equal(msg.type, SMC_LLC_ADD_LINK_CONT);
	assert_int_equal(msg.add_link_cont.link_id, 2);
	assert_int_equal(msg.add_link_cont.n_left, 3);
	assert_int_equal(msg.add_link_cont.rkey[1].rkey, 0x3e3);
	assert_int_equal(msg.add_link_cont.rkey[1].new_rkey, 0x3bc);
	assert_true(msg.add_link_cont.rkey[1].new_addr == 0x123500000);
	decode_ok("shape:v1-add-link-cont-1", &msg);
	assert_int_equal(msg.add_link_cont.rkey[0].rkey, 0x3e2);
	assert_int_equal(msg.add_link_cont.rkey[1].rkey, 0);
}

/* What is there but not announced is not taken. */
static void decode__not_announced(void **state)
{
	struct smc_llc_msg msg;
	const struct golden *v;
	u8 *p;

	v = vector("shape:v1-add-link-cont-3");
	p = exact(v->bytes, v->len);
	p[5] = 1;
	assert_int_equal(decode(p, v->len, &msg), 0);
	assert_int_equal(msg.add_link_cont.rkey[0].rkey, 0x3e2);
	assert_int_equal(msg.add_link_cont.rkey[1].rkey, 0);
	free(p);

	v = vector("shape:v1-confirm-rkey");
	p = exact(v->bytes, v->len);
	p[4] = 1;
	assert_int_equal(decode(p, v->len, &msg), 0);
	assert_int_equal(msg.confirm_rkey.more[0].rkey, 0x3bb);
	assert_int_equal(msg.confirm_rkey.more[1].rkey, 0);
	free(p);

	v = vector("shape:v2-request-add-link");
	p = exact(v->bytes, v->len);
	p[3] = SMC_LLC_RESPONSE;
	assert_int_equal(decode(p, v->len, &msg), 0);
	assert_int_equal(msg.req_add_link.n_gids, 0);
	free(p);
}

static void decode__delete_link(void **state)
{
	struct smc_llc_msg msg;

	decode_ok("two-ports@7.106566:delete-link", &msg);
	assert_int_equal(msg.type, SMC_LLC_DELETE_LINK);
	assert_int_equal(msg.flags, SMC_LLC_DL_ORDERLY);
	assert_int_equal(msg.delete_link.link_id, 2);
	assert_int_equal(msg.delete_link.reason, SMC_LLC_DEL_LOST_PATH);
	decode_ok("two-ports@7.132720:delete-link-response", &msg);
	assert_true(msg.response);
	assert_int_equal(msg.delete_link.reason, SMC_LLC_DEL_NO_LINK);
	decode_ok("two-ports@18.617451:delete-link", &msg);
	assert_int_equal(msg.flags, SMC_LLC_DL_ALL | SMC_LLC_DL_ORDERLY);
	assert_int_equal(msg.delete_link.link_id, 0);
	assert_int_equal(msg.delete_link.reason, SMC_LLC_DEL_OPERATOR);
}

static void decode__confirm_rkey(void **state)
{
	const struct smc_llc_confirm_rkey *cr;
	struct smc_llc_msg msg;

	decode_ok("two-ports@0.667632:confirm-rkey", &msg);
	cr = &msg.confirm_rkey;
	assert_int_equal(msg.type, SMC_LLC_CONFIRM_RKEY);
	assert_int_equal(cr->rkey, 0x3e2);
	assert_true(cr->addr == 0xff382c2704200000);
	assert_int_equal(cr->n_more, 1);
	assert_false(cr->overflow);
	assert_int_equal(cr->more[0].link_id, 2);
	assert_int_equal(cr->more[0].rkey, 0x3bb);
	assert_true(cr->more[0].addr == 0xff382c2704200000);
	decode_ok("shape:v1-confirm-rkey", &msg);
	assert_int_equal(cr->n_more, 2);
	assert_int_equal(cr->more[1].link_id, 3);
	assert_int_equal(cr->more[1].rkey, 0x3bc);
	assert_true(cr->more[1].addr == 0x123600000);
	decode_ok("shape:v1-confirm-rkey-negative", &msg);
	assert_int_equal(msg.flags, SMC_LLC_CR_NEGATIVE | SMC_LLC_CR_RETRY);
}

static void decode__confirm_rkey_overflow(void **state)
{
	const struct golden *v = vector("shape:v1-confirm-rkey");
	u8 *p = exact(v->bytes, v->len);
	struct smc_llc_msg msg;
	unsigned int n;

	for (n = 3; n < 256; n++) {
		p[4] = n;
		assert_int_equal(decode(p, v->len, &msg), 0);
		assert_true(msg.confirm_rkey.overflow);
		assert_int_equal(msg.confirm_rkey.n_more, 2);
		assert_true(oracle(p, v->len));
	}
	free(p);
}

static void decode__delete_rkey(void **state)
{
	const struct golden *v;
	struct smc_llc_msg msg;
	unsigned int i;

	decode_ok("two-ports@0.165848:delete-rkey", &msg);
	assert_int_equal(msg.type, SMC_LLC_DELETE_RKEY);
	assert_int_equal(msg.delete_rkey.n_keys, 1);
	assert_int_equal(msg.delete_rkey.rkey[0], 0x3bb);

	decode_ok("shape:v1-delete-rkey-response", &msg);
	assert_int_equal(msg.flags, SMC_LLC_DR_NEGATIVE);
	assert_int_equal(msg.delete_rkey.n_keys, 2);
	assert_int_equal(msg.delete_rkey.unknown, 0x40);

	v = decode_ok("shape:v2-delete-rkey-12", &msg);
	assert_int_equal(msg.delete_rkey.n_keys, 12);
	for (i = 0; i < 12; i++)
		assert_true(smc_llc_deletes_rkey(v->bytes, v->len, 0x3e0 + i));
	assert_false(smc_llc_deletes_rkey(v->bytes, v->len, 0x3df));
	assert_false(smc_llc_deletes_rkey(v->bytes, v->len, 0x3e0 + 12));
}

static void decode__req_add_link(void **state)
{
	struct smc_llc_msg msg;

	decode_ok("shape:v2-request-add-link", &msg);
	assert_int_equal(msg.type, SMC_LLC_REQ_ADD_LINK);
	assert_int_equal(msg.req_add_link.n_gids, 2);
	assert_int_equal(msg.req_add_link.gids[1][14], 11);
	decode_ok("shape:v2-request-add-link-response", &msg);
	assert_true(msg.response);
}

static void decode__test_link(void **state)
{
	struct smc_llc_msg msg;
	u8 i;

	decode_ok("shape:v1-test-link", &msg);
	assert_int_equal(msg.type, SMC_LLC_TEST_LINK);
	for (i = 0; i < 16; i++)
		assert_int_equal(msg.test_link.data[i], i);
}

static void decode__types(void **state)
{
	static const u8 known[] = {
		0x01, 0x02, 0x03, 0x04, 0x06, 0x07, 0x09,
		0x21, 0x22, 0x24, 0x25, 0x26, 0x27, 0x29,
	};
	u8 p[SMC_LLC_LEN] = { 0 };
	struct smc_llc_msg msg;
	unsigned int type;

	for (type = 0; type < 256; type++) {
		bool want = memchr(known, type, sizeof(known));

		p[0] = type;
		p[1] = SMC_LLC_LEN;
		p[2] = 0;
		if (decode(p, sizeof(p), &msg) != (want ? 0 : -EOPNOTSUPP))
			fail_msg("type %02x", type);
	}
}

/* Of the flags each type has its own. */
static void decode__flags(void **state)
{
	static const struct {
		u8 type;
		u8 flags;
	} t[] = {
		{ SMC_LLC_CONFIRM_LINK, SMC_LLC_CL_NO_EYEC },
		{ SMC_LLC_ADD_LINK, SMC_LLC_AL_REJECT },
		{ SMC_LLC_ADD_LINK_CONT, 0 },
		{ SMC_LLC_DELETE_LINK, SMC_LLC_DL_ALL | SMC_LLC_DL_ORDERLY },
		{ SMC_LLC_CONFIRM_RKEY,
		  SMC_LLC_CR_NEGATIVE | SMC_LLC_CR_RETRY },
		{ SMC_LLC_TEST_LINK, 0 },
		{ SMC_LLC_DELETE_RKEY, SMC_LLC_DR_NEGATIVE },
	};
	struct smc_llc_msg msg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		u8 p[SMC_LLC_LEN] = { t[i].type, SMC_LLC_LEN, 0, 0xff };

		assert_int_equal(decode(p, sizeof(p), &msg), 0);
		assert_true(msg.response);
		assert_int_equal(msg.flags, t[i].flags);
		p[3] = 0;
		assert_int_equal(decode(p, sizeof(p), &msg), 0);
		assert_false(msg.response);
		assert_int_equal(msg.flags, 0);
	}
}

static void decode__length_field(void **state)
{
	u8 p[SMC_LLC_LEN] = { 0x07 };
	struct smc_llc_msg msg;
	unsigned int len;

	for (len = 0; len < 256; len++) {
		p[1] = len;
		assert_int_equal(decode(p, sizeof(p), &msg),
				 len == SMC_LLC_LEN ? 0 : -EBADMSG);
	}
	/* version 2: 16 bits in either byte order */
	p[0] = 0x27;
	p[1] = 0;
	p[2] = SMC_LLC_LEN;
	assert_int_equal(decode(p, sizeof(p), &msg), 0);
	p[1] = SMC_LLC_LEN;
	p[2] = 0;
	assert_int_equal(decode(p, sizeof(p), &msg), 0);
	p[1] = 0;
	assert_int_equal(decode(p, sizeof(p), &msg), -EBADMSG);
	put_he16(SMC_LLC_LEN - 1, p + 1);
	assert_int_equal(decode(p, sizeof(p), &msg), -EBADMSG);
	put_he16(SMC_LLC_LEN + 1, p + 1);
	assert_int_equal(decode(p, sizeof(p), &msg), 0);
}

static void decode__truncated(void **state)
{
	struct smc_llc_msg msg;
	size_t i, len;

	for (i = 0; i < n_vectors; i++) {
		for (len = 0; len < vectors[i].len; len++) {
			assert_int_equal(decode(vectors[i].bytes, len, &msg),
					 len < SMC_LLC_LEN ? -EBADMSG : 0);
			oracle(vectors[i].bytes, len);
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
				oracle_llc(p, vectors[i].len);
			}
			p[at] = old;
		}
		free(p);
	}
}

/* Announced and real number of keys, independent of each other. */
static void decode__add_link_rkey_counts(void **state)
{
	static const u16 counts[] = {
		0, 1, 2, 8, 9, 254, 255, 256, 257, 0x0100, 0x0800, 0xffff,
	};
	const struct golden *v = vector("two-ports@0.118675:add-link");
	size_t i, len, real, want;
	struct smc_llc_msg msg;
	u8 *p;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		for (len = SMC_LLC_LEN; len < 72 + 16 * 260; len += 4) {
			p = calloc(1, len);
			assert_non_null(p);
			memcpy(p, v->bytes, len < 72 ? len : 72);
			if (len >= 72)
				memcpy(p + 70, &counts[i], 2);
			assert_int_equal(smc_llc_decode(p, len, &msg), 0);
			assert_int_equal(msg.add_link.has_ext, len >= 72);
			real = len < 72 ? 0 : (len - 72) / 16;
			want = counts[i] < real ? counts[i] : real;
			if (want > SMC_LLC_MAX_RKEYS)
				want = SMC_LLC_MAX_RKEYS;
			assert_int_equal(msg.add_link.n_rkeys, want);
			free(p);
		}
	}
}

static void decode__delete_rkey_counts(void **state)
{
	struct smc_llc_msg msg;
	unsigned int n;
	size_t len;
	u8 *p;

	for (n = 0; n < 256; n++) {
		for (len = SMC_LLC_LEN; len < 8 + 4 * 257; len += 4) {
			size_t want = (len - 8) / 4;

			p = calloc(1, len);
			assert_non_null(p);
			p[0] = 0x29;
			p[1] = SMC_LLC_LEN;
			p[4] = n;
			assert_int_equal(smc_llc_decode(p, len, &msg), 0);
			assert_int_equal(msg.delete_rkey.n_keys,
					 n < want ? n : want);
			p[0] = 0x09;
			assert_int_equal(smc_llc_decode(p, len, &msg), 0);
			assert_int_equal(msg.delete_rkey.n_keys, n < 8 ? n : 8);
			free(p);
		}
	}
}

static void decode__req_add_link_counts(void **state)
{
	struct smc_llc_msg msg;
	unsigned int n;
	size_t len;
	u8 *p;

	for (n = 0; n < 256; n++) {
		for (len = SMC_LLC_LEN; len < 28 + 16 * 12; len++) {
			size_t want = (len - 28) / 16;

			if (want > SMC_LLC_MAX_GIDS)
				want = SMC_LLC_MAX_GIDS;
			p = calloc(1, len);
			assert_non_null(p);
			p[0] = 0x25;
			p[1] = SMC_LLC_LEN;
			p[24] = n;
			assert_int_equal(smc_llc_decode(p, len, &msg), 0);
			assert_int_equal(msg.req_add_link.n_gids,
					 n < want ? n : want);
			free(p);
		}
	}
}

static void decode__random_bytes(void **state)
{
	static const u8 types[] = { 1, 2, 3, 4, 5, 6, 7, 9 };
	size_t i, len, valid = 0;
	u8 buf[400];

	rnd_seed(4);
	for (i = 0; i < 50000; i++) {
		rnd_fill(buf, sizeof(buf));
		buf[0] = types[rnd() % sizeof(types)] | (rnd() & 1 ? 0x20 : 0);
		buf[1] = SMC_LLC_LEN;
		len = 40 + rnd() % (sizeof(buf) - 39);
		valid += oracle(buf, len);
	}
	assert_in_range(valid, 10000, 50000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decode__golden_is_canonical),
		cmocka_unit_test(decode__confirm_link),
		cmocka_unit_test(decode__add_link_v2),
		cmocka_unit_test(decode__add_link_direct),
		cmocka_unit_test(deletes_rkey__other_messages),
		cmocka_unit_test(decode__add_link_v1),
		cmocka_unit_test(decode__add_link_cont),
		cmocka_unit_test(decode__not_announced),
		cmocka_unit_test(decode__delete_link),
		cmocka_unit_test(decode__confirm_rkey),
		cmocka_unit_test(decode__confirm_rkey_overflow),
		cmocka_unit_test(decode__delete_rkey),
		cmocka_unit_test(decode__req_add_link),
		cmocka_unit_test(decode__test_link),
		cmocka_unit_test(decode__types),
		cmocka_unit_test(decode__flags),
		cmocka_unit_test(decode__length_field),
		cmocka_unit_test(decode__truncated),
		cmocka_unit_test(decode__every_byte_mutated),
		cmocka_unit_test(decode__add_link_rkey_counts),
		cmocka_unit_test(decode__delete_rkey_counts),
		cmocka_unit_test(decode__req_add_link_counts),
		cmocka_unit_test(decode__random_bytes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
