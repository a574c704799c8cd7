// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of net/smc/wire/llc.c: the messages we send.
 */
#include "unit_llc.h"

static void encode__no_room(void **state)
{
	struct smc_llc_msg msg;
	size_t i, room;
	u8 *p;

	for (i = 0; i < n_vectors; i++) {
		assert_int_equal(decode(vectors[i].bytes, vectors[i].len, &msg),
				 0);
		for (room = 0; room < vectors[i].len; room++) {
			p = exact(vectors[i].bytes, room);
			assert_int_equal(smc_llc_encode(p, room, &msg),
					 -ENOSPC);
			free(p);
		}
	}
}

static void encode__refuses_what_does_not_fit(void **state)
{
	u8 buf[SMC_LLC_MAX_LEN];
	struct smc_llc_msg msg;

	decode_ok("shape:v2-request-add-link", &msg);
	msg.req_add_link.n_gids = SMC_LLC_MAX_GIDS + 1;
	assert_int_equal(smc_llc_encode(buf, sizeof(buf), &msg), -EINVAL);
	msg.v2 = false;
	msg.req_add_link.n_gids = 1;
	assert_int_equal(smc_llc_encode(buf, sizeof(buf), &msg), -EINVAL);
	decode_ok("shape:v1-confirm-rkey", &msg);
	msg.confirm_rkey.n_more = 3;
	assert_int_equal(smc_llc_encode(buf, sizeof(buf), &msg), -EINVAL);
	decode_ok("shape:v1-delete-rkey-8", &msg);
	msg.delete_rkey.n_keys = 9;
	assert_int_equal(smc_llc_encode(buf, sizeof(buf), &msg), -EINVAL);
	decode_ok("shape:v1-add-link-cont-3", &msg);
	msg.v2 = true;
	assert_int_equal(smc_llc_encode(buf, sizeof(buf), &msg), -EINVAL);
	msg.type = 8;
	assert_int_equal(smc_llc_encode(buf, sizeof(buf), &msg), -EINVAL);
	msg.type = 0;
	assert_int_equal(smc_llc_encode(buf, sizeof(buf), &msg), -EINVAL);
}

/* Encodes @msg into memory of exactly @len bytes, filled before. */
static u8 *encode_exact(const struct smc_llc_msg *msg, ssize_t len)
{
	u8 *p = malloc(len);

	assert_non_null(p);
	memset(p, 0xff, len);
	assert_int_equal(smc_llc_encode(p, len, msg), len);
	return p;
}

static void assert_zeros(const u8 *p, size_t len)
{
	while (len--)
		assert_int_equal(*p++, 0);
}

static void encode__add_link(void **state)
{
	struct smc_llc_msg msg;
	u8 *p;

	decode_ok("two-ports@0.118675:add-link", &msg);
	/* the extension is for version 2, and not for a rejection */
	msg.v2 = false;
	msg.add_link.reason = 5;
	p = encode_exact(&msg, SMC_LLC_LEN);
	assert_int_equal(p[1], SMC_LLC_LEN);
	assert_int_equal(p[2], 0);
	free(p);
	msg.flags = SMC_LLC_AL_REJECT;
	p = encode_exact(&msg, SMC_LLC_LEN);
	assert_int_equal(p[2], 5);
	free(p);
	msg.v2 = true;
	p = encode_exact(&msg, SMC_LLC_LEN);
	assert_int_equal(get_he16(p + 1), SMC_LLC_LEN);
	free(p);
}

/* What is not announced is not sent. */
static void encode__not_announced(void **state)
{
	struct smc_llc_msg msg;
	u8 *p;

	decode_ok("shape:v1-add-link-cont-3", &msg);
	p = encode_exact(&msg, SMC_LLC_LEN);
	free(p);
	msg.add_link_cont.n_left = 1;
	p = encode_exact(&msg, SMC_LLC_LEN);
	assert_int_equal(p[5], 1);
	assert_zeros(p + 24, SMC_LLC_LEN - 24);
	free(p);

	decode_ok("shape:v2-request-add-link", &msg);
	msg.response = true;
	p = encode_exact(&msg, SMC_LLC_LEN);
	assert_zeros(p + 4, SMC_LLC_LEN - 4);
	free(p);

	decode_ok("shape:v1-confirm-rkey", &msg);
	msg.confirm_rkey.overflow = true;
	p = encode_exact(&msg, SMC_LLC_LEN);
	assert_int_equal(p[4], SMC_LLC_MORE_RKEYS + 1);
	free(p);
	msg.confirm_rkey.overflow = false;
	msg.confirm_rkey.n_more = 1;
	p = encode_exact(&msg, SMC_LLC_LEN);
	assert_int_equal(p[4], 1);
	assert_zeros(p + 30, SMC_LLC_LEN - 30);
	free(p);

	decode_ok("shape:v1-delete-rkey-8", &msg);
	msg.delete_rkey.n_keys = 1;
	p = encode_exact(&msg, SMC_LLC_LEN);
	assert_zeros(p + 12, SMC_LLC_LEN - 12);
	free(p);
	msg.response = true;
	p = encode_exact(&msg, SMC_LLC_LEN);
	assert_zeros(p + 6, SMC_LLC_LEN - 6);
	free(p);
}

static void encode__every_vector(void **state)
{
	struct smc_llc_msg msg;
	size_t i;

	for (i = 0; i < n_vectors; i++) {
		assert_int_equal(decode(vectors[i].bytes, vectors[i].len, &msg),
				 0);
		free(encode_exact(&msg, vectors[i].len));
	}
}

static void encode__most_rkeys(void **state)
{
	struct smc_llc_msg msg;
	ssize_t len = 72 + 16 * SMC_LLC_MAX_RKEYS;
	u8 *p = malloc(len);

	assert_non_null(p);
	decode_ok("two-ports@0.118675:add-link", &msg);
	msg.add_link.n_rkeys = SMC_LLC_MAX_RKEYS;
	assert_int_equal(smc_llc_encode(p, len, &msg), len);
	assert_true(oracle(p, len));
	free(p);
}

/* The responses of the kernel's own SMC are its requests with flags added. */
static void respond__as_captured(void **state)
{
	static const struct {
		const char *request;
		const char *response;
		u8 flags;
	} t[] = {
		{ "two-ports@0.667632:confirm-rkey",
		  "two-ports@0.668292:confirm-rkey-response", 0 },
		{ "two-ports@12.305731:delete-link",
		  "two-ports@12.306796:delete-link-response", 0 },
		{ "two-ports@7.157877:add-link",
		  "two-ports@12.326871:add-link-response", SMC_LLC_AL_REJECT },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		const struct golden *q = vector(t[i].request);
		const struct golden *r = vector(t[i].response);
		u8 *p = exact(q->bytes, q->len);

		assert_int_equal(smc_llc_respond(p, q->len, t[i].flags),
				 SMC_LLC_LEN);
		assert_int_equal(r->len, SMC_LLC_LEN);
		assert_memory_equal(p, r->bytes, SMC_LLC_LEN);
		assert_int_equal(smc_llc_respond(p, SMC_LLC_LEN - 1, 0),
				 -EINVAL);
		free(p);
	}
}

static void respond__v1(void **state)
{
	const struct golden *v = vector("shape:v1-test-link");
	u8 *p = exact(v->bytes, v->len);

	assert_int_equal(smc_llc_respond(p, v->len, 0), SMC_LLC_LEN);
	assert_int_equal(p[1], SMC_LLC_LEN);
	assert_int_equal(p[2], 0);
	assert_int_equal(p[3], SMC_LLC_RESPONSE);
	assert_memory_equal(p + 4, v->bytes + 4, v->len - 4);
	/* not the second half of a length */
	p[2] = 5;
	assert_int_equal(smc_llc_respond(p, v->len, 0), SMC_LLC_LEN);
	assert_int_equal(p[2], 5);
	free(p);
}

/* A request may be longer; its type is any of version 2. */
static void respond__v2_length(void **state)
{
	u8 p[SMC_LLC_LEN + 1];
	unsigned int type;

	for (type = 0x20; type < 0x30; type++) {
		memset(p, 0, sizeof(p));
		p[0] = type;
		put_he16(sizeof(p), p + 1);
		assert_int_equal(smc_llc_respond(p, sizeof(p), 0),
				 SMC_LLC_LEN);
		assert_int_equal(get_he16(p + 1), SMC_LLC_LEN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encode__no_room),
		cmocka_unit_test(encode__refuses_what_does_not_fit),
		cmocka_unit_test(encode__add_link),
		cmocka_unit_test(encode__not_announced),
		cmocka_unit_test(encode__every_vector),
		cmocka_unit_test(encode__most_rkeys),
		cmocka_unit_test(respond__as_captured),
		cmocka_unit_test(respond__v1),
		cmocka_unit_test(respond__v2_length),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
