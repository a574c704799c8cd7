// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of net/smc/wire/llc.c: the messages we send.
 */
#include "unit_llc.h"

static void encode__golden(void **state)
{
	static const struct {
		const char *name;
		struct smc_llc_msg msg;
	} t[] = {
		{ "two-ports@0.088421:confirm-link", {
			.type = SMC_LLC_CONFIRM_LINK, .v2 = true,
			.flags = SMC_LLC_CL_NO_EYEC,
			.confirm_link = {
				.mac = { 0x52, 0x54, 0, 0, 0, 1 },
				.gid = { [10] = 0xff, 0xff, 10, 9, 0, 1 },
				.qpn = 0x11, .user_id = 0x101, .link_id = 1,
				.max_links = 2, .max_conns = 255,
			} } },
		{ "example:v1-confirm-link-response", {
			.type = SMC_LLC_CONFIRM_LINK, .response = true,
			.flags = SMC_LLC_CL_NO_EYEC,
			.confirm_link = {
				.mac = { 2, 0, 0, 0xaa, 0, 1 },
				.gid = { [10] = 0xff, 0xff, 192, 168, 10, 1 },
				.qpn = 0x13, .user_id = 0x201, .link_id = 1,
				.max_links = 2,
			} } },
		{ "shape:v1-add-link-invitation", {
			.type = SMC_LLC_ADD_LINK,
			.add_link = {
				.mac = { 2, 0, 0, 0xaa, 0, 1 },
				.gid = { [10] = 0xff, 0xff, 192, 168, 10, 1 },
			} } },
		{ "two-ports@18.617451:delete-link", {
			.type = SMC_LLC_DELETE_LINK, .v2 = true,
			.flags = SMC_LLC_DL_ALL | SMC_LLC_DL_ORDERLY,
			.delete_link.reason = SMC_LLC_DEL_OPERATOR } },
		{ "two-ports@7.132720:delete-link-response", {
			.type = SMC_LLC_DELETE_LINK, .v2 = true,
			.response = true, .flags = SMC_LLC_DL_ORDERLY,
			.delete_link = { 2, SMC_LLC_DEL_NO_LINK } } },
		{ "shape:v2-test-link-response", {
			.type = SMC_LLC_TEST_LINK, .v2 = true,
			.response = true } },
		{ "two-ports@0.165848:delete-rkey", {
			.type = SMC_LLC_DELETE_RKEY, .v2 = true,
			.delete_rkey = { 1, { 0x3bb } } } },
		{ "two-ports@0.167252:delete-rkey-response", {
			.type = SMC_LLC_DELETE_RKEY, .v2 = true,
			.response = true, .delete_rkey = { 1, { 0x3bb } } } },
	};
	u8 p[SMC_LLC_LEN];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		memset(p, 0xff, sizeof(p));
		smc_llc_encode(p, &t[i].msg);
		if (memcmp(p, vector(t[i].name)->bytes, sizeof(p)))
			fail_msg("%s: other bytes", t[i].name);
	}
}

/* The link that an ADD LINK proposes has a number. */
static void encode__add_link(void **state)
{
	const struct smc_llc_msg msg = {
		.type = SMC_LLC_ADD_LINK,
		.add_link.link_id = 2,
	};
	u8 want[SMC_LLC_LEN] = { SMC_LLC_ADD_LINK, SMC_LLC_LEN, [31] = 2 };
	u8 p[SMC_LLC_LEN];

	smc_llc_encode(p, &msg);
	assert_memory_equal(p, want, sizeof(p));
}

/* Eight keys fill a DELETE RKEY; the receiver finds each. */
static void encode__delete_rkeys(void **state)
{
	struct smc_llc_msg msg = { .type = SMC_LLC_DELETE_RKEY };
	u8 want[SMC_LLC_LEN] = { SMC_LLC_DELETE_RKEY, SMC_LLC_LEN };
	u8 p[SMC_LLC_LEN];
	u32 n, i;

	for (n = 0; n <= SMC_LLC_DEL_RKEYS; n++) {
		if (n) {
			msg.delete_rkey.rkey[n - 1] = 0x100 * n + 1;
			want[8 + 4 * (n - 1) + 2] = n;
			want[8 + 4 * (n - 1) + 3] = 1;
		}
		msg.delete_rkey.n_keys = n;
		want[4] = n;
		memset(p, 0xff, sizeof(p));
		smc_llc_encode(p, &msg);
		assert_memory_equal(p, want, sizeof(p));
		for (i = 1; i <= SMC_LLC_DEL_RKEYS; i++)
			assert_int_equal(smc_llc_deletes_rkey(p, sizeof(p),
							      0x100 * i + 1),
					 i <= n);
	}
	/* a count that the keys do not come up to is not trusted */
	msg.delete_rkey.n_keys = SMC_LLC_DEL_RKEYS + 1;
	smc_llc_encode(p, &msg);
	assert_memory_equal(p + 8, want + 8, sizeof(p) - 8);
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

		smc_llc_respond(p, t[i].flags);
		assert_int_equal(r->len, SMC_LLC_LEN);
		assert_memory_equal(p, r->bytes, SMC_LLC_LEN);
		free(p);
	}
}

static void respond__v1(void **state)
{
	const struct golden *v = vector("shape:v1-test-link");
	u8 *p = exact(v->bytes, v->len);

	smc_llc_respond(p, 0);
	assert_int_equal(p[1], SMC_LLC_LEN);
	assert_int_equal(p[2], 0);
	assert_int_equal(p[3], SMC_LLC_RESPONSE);
	assert_memory_equal(p + 4, v->bytes + 4, v->len - 4);
	/* not the second half of a length */
	p[2] = 5;
	smc_llc_respond(p, 0);
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
		smc_llc_respond(p, 0);
		assert_int_equal(get_he16(p + 1), SMC_LLC_LEN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encode__golden),
		cmocka_unit_test(encode__add_link),
		cmocka_unit_test(encode__delete_rkeys),
		cmocka_unit_test(respond__as_captured),
		cmocka_unit_test(respond__v1),
		cmocka_unit_test(respond__v2_length),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
