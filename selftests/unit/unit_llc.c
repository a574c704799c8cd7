// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of net/smc/wire/llc.c.
 */
#include "unit_llc.h"

static void decode__golden(void **state)
{
	struct smc_llc_msg msg;
	size_t i;

	for (i = 0; i < n_vectors; i++) {
		const struct golden *v = &vectors[i];

		if (decode(v->bytes, v->len, &msg))
			fail_msg("%s refused", v->name);
		assert_int_equal(msg.type, v->bytes[0] & 0x0f);
		assert_int_equal(msg.v2, v->bytes[0] >> 4 == 2);
		assert_int_equal(msg.response, v->bytes[3] >> 7);
		if (msg.type == SMC_LLC_CONFIRM_LINK ||
		    msg.type == SMC_LLC_DELETE_LINK)
			assert_int_equal(msg.flags, v->bytes[3] & 0x7f);
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
	assert_int_equal(cl->link_id, 1);
	assert_int_equal(cl->user_id, 0x101);
	/* nothing looks at the rest */
	assert_int_equal(cl->qpn, 0);
	assert_int_equal(cl->max_conns, 0);

	decode_ok("example:v1-confirm-link-response", &msg);
	assert_false(msg.v2);
	assert_true(msg.response);
	assert_int_equal(msg.flags, SMC_LLC_CL_NO_EYEC);
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
	struct smc_llc_msg msg;

	decode_ok("two-ports@0.667632:confirm-rkey", &msg);
	assert_int_equal(msg.type, SMC_LLC_CONFIRM_RKEY);
	assert_false(msg.overflow);
	decode_ok("shape:v1-confirm-rkey-negative", &msg);
	assert_true(msg.response);
}

static void decode__confirm_rkey_overflow(void **state)
{
	const struct golden *v = vector("shape:v1-confirm-rkey");
	u8 *p = exact(v->bytes, v->len);
	struct smc_llc_msg msg;
	unsigned int n;

	for (n = 0; n < 256; n++) {
		p[4] = n;
		assert_int_equal(decode(p, v->len, &msg), 0);
		assert_int_equal(msg.overflow, n > 2);
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

	decode_ok("shape:v1-delete-rkey-response", &msg);
	assert_true(msg.response);

	v = decode_ok("shape:v2-delete-rkey-12", &msg);
	assert_int_equal(msg.delete_rkey.n_keys, 12);
	for (i = 0; i < 12; i++)
		assert_true(smc_llc_deletes_rkey(v->bytes, v->len, 0x3e0 + i));
	assert_false(smc_llc_deletes_rkey(v->bytes, v->len, 0x3df));
	assert_false(smc_llc_deletes_rkey(v->bytes, v->len, 0x3e0 + 12));
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

/* Of the flags each type has its own, if any is looked at. */
static void decode__flags(void **state)
{
	static const struct {
		u8 type;
		u8 flags;
	} t[] = {
		{ SMC_LLC_CONFIRM_LINK, SMC_LLC_CL_NO_EYEC },
		{ SMC_LLC_ADD_LINK, 0 },
		{ SMC_LLC_ADD_LINK_CONT, 0 },
		{ SMC_LLC_DELETE_LINK, SMC_LLC_DL_ALL | SMC_LLC_DL_ORDERLY },
		{ SMC_LLC_CONFIRM_RKEY, 0 },
		{ SMC_LLC_TEST_LINK, 0 },
		{ SMC_LLC_DELETE_RKEY, 0 },
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

/* 256 bytes: in the byte order of the other end that looks like 1 */
static void decode__length_of_either_order(void **state)
{
	u8 p[256] = { 0x29, 1, 0, 0, 62 };
	struct smc_llc_msg msg;

	assert_int_equal(decode(p, sizeof(p), &msg), 0);
	assert_int_equal(msg.delete_rkey.n_keys, 62);
	p[1] = 0;
	p[2] = 1;
	assert_int_equal(decode(p, sizeof(p), &msg), 0);
	p[2] = 0;
	assert_int_equal(decode(p, sizeof(p), &msg), -EBADMSG);
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
			want = 8 + 4 * (n < want ? n : want);
			assert_int_equal(smc_llc_used(p, len),
					 want > SMC_LLC_LEN ? want : SMC_LLC_LEN);
			oracle_llc(p, len);
			p[0] = 0x09;
			assert_int_equal(smc_llc_decode(p, len, &msg), 0);
			assert_int_equal(msg.delete_rkey.n_keys, n < 8 ? n : 8);
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
		cmocka_unit_test(decode__golden),
		cmocka_unit_test(decode__confirm_link),
		cmocka_unit_test(deletes_rkey__other_messages),
		cmocka_unit_test(decode__delete_link),
		cmocka_unit_test(decode__confirm_rkey),
		cmocka_unit_test(decode__confirm_rkey_overflow),
		cmocka_unit_test(decode__delete_rkey),
		cmocka_unit_test(decode__types),
		cmocka_unit_test(decode__flags),
		cmocka_unit_test(decode__length_field),
		cmocka_unit_test(decode__length_of_either_order),
		cmocka_unit_test(decode__truncated),
		cmocka_unit_test(decode__every_byte_mutated),
		cmocka_unit_test(decode__delete_rkey_counts),
		cmocka_unit_test(decode__random_bytes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
