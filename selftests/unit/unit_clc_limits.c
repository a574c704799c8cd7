// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of net/smc/wire/clc.c: the last value that is accepted, and the first
 * that is not.
 */
#include "unit_clc.h"

#define CONFIRM_GIDS	156	/* where its number of GIDs is */
#define QPN		38	/* of an Accept of SMC-R */
#define HOSTNAME	108	/* of an Accept of SMC-R */

/* The message @name with @more bytes before its trailer, which are 0. */
static u8 *longer(const char *name, int more, size_t *len)
{
	const struct golden *v = vector(name);
	size_t keep = v->len - 4 + (more < 0 ? more : 0);
	u8 *p = calloc(1, v->len + more);

	assert_non_null(p);
	*len = v->len + more;
	memcpy(p, v->bytes, keep);
	memcpy(p + *len - 4, v->bytes, 4);
	put_len(p, *len);
	return p;
}

static void decodes(u8 *p, size_t len, int want, struct smc_clc_msg *msg)
{
	assert_int_equal(decode(p, len, msg), want);
	free(p);
}

/* Offers without the part that says what is offered. */
static void proposal__parts_missing(void **state)
{
	const char *v2 = "two-ports@0.020822:proposal";
	struct smc_clc_msg msg;
	size_t len;
	u8 *p;

	/* version 1 offers nothing, and has nothing */
	p = longer("shape:proposal-v1-r", -8, &len);
	p[7] = 0x10 | SMC_OFFER_NONE;
	decodes(p, len, -EPROTO, &msg);
	/* no version 2 part, or one that begins behind the end */
	p = longer(v2, -72, &len);
	decodes(p, len, -EPROTO, &msg);
	p = longer(v2, -72, &len);
	p[51] = 0xff;
	decodes(p, len, -EPROTO, &msg);
	/* SMC-D has nine devices, and no part */
	p = longer(v2, 0, &len);
	p[7] = (p[7] & ~0x0c) | SMC_OFFER_D << 2;
	p[81] = SMC_CLC_MAX_ISM + 1;
	decodes(p, len, -EPROTO, &msg);
}

/* A version 2 part in the place of two IPv6 prefixes. */
static void proposal__parts_overlap(void **state)
{
	struct smc_clc_msg msg;
	u8 *p;
	size_t len;

	p = longer("shape:proposal-v2-only-v1-offered", 0, &len);
	assert_int_equal(decode(p, len, &msg), 0);
	p[7] = (p[7] & ~0x0c) | SMC_OFFER_R << 2;
	p[51] = 80 - 52;
	p[80] = SMC_CLC_MAX_EIDS + 1;
	decodes(p, len, -EPROTO, &msg);
}

static void hostname__characters(void **state)
{
	const struct golden *v = vector("example:accept-r-v2");
	u8 *p = exact(v->bytes, v->len);
	struct smc_clc_msg msg;
	unsigned int c;

	for (c = 1; c < 256; c++) {
		p[HOSTNAME + 2] = c;
		assert_int_equal(decode(p, v->len, &msg), 0);
		if (c >= ' ' && c <= '~')
			assert_memory_equal(msg.accept.fce.hostname,
					    p + HOSTNAME, 7);
		else
			assert_string_equal(msg.accept.fce.hostname, "");
	}
	/* nothing but padding */
	memset(p + HOSTNAME, ' ', SMC_HOSTNAME_LEN);
	assert_int_equal(decode(p, v->len, &msg), 0);
	assert_string_equal(msg.accept.fce.hostname, "");
	memset(p + HOSTNAME, 0, SMC_HOSTNAME_LEN);
	assert_int_equal(decode(p, v->len, &msg), 0);
	assert_string_equal(msg.accept.fce.hostname, "");
	/* no padding at all */
	memset(p + HOSTNAME, 'x', SMC_HOSTNAME_LEN);
	assert_int_equal(decode(p, v->len, &msg), 0);
	assert_int_equal(strlen(msg.accept.fce.hostname), SMC_HOSTNAME_LEN);
	free(p);
}

/* Blanks alone, with blanks behind them as far as the buffer goes. */
static void hostname__blanks_to_the_end(void **state)
{
	const struct golden *v = vector("example:accept-r-v2");
	u8 *p = malloc(SMC_CLC_MAX_LEN);
	struct smc_clc_msg msg;

	assert_non_null(p);
	memset(p, ' ', SMC_CLC_MAX_LEN);
	memcpy(p, v->bytes, HOSTNAME);
	put_len(p, 0xffff);
	assert_int_equal(decode(p, SMC_CLC_MAX_LEN, &msg), 0);
	assert_string_equal(msg.accept.fce.hostname, "");
	free(p);
}

static void fce__direct_is_one_bit(void **state)
{
	const struct golden *v = vector("example:accept-r-v2");
	u8 *p = exact(v->bytes, v->len);
	struct smc_clc_msg msg;

	p[HOSTNAME - 4] = 0x7f;
	assert_int_equal(decode(p, v->len, &msg), 0);
	assert_false(msg.accept.fce.direct);
	free(p);
}

static void accept__one_byte_short(void **state)
{
	struct smc_clc_msg msg;
	size_t len;
	u8 *p;

	p = longer("two-ports@0.669972:accept", -1, &len);
	decodes(p, len, -EPROTO, &msg);
	p = longer("loopback-clc@0.582056:accept", -1, &len);
	decodes(p, len, -EPROTO, &msg);
	/* version 2 may be longer, version 1 may not */
	p = longer("two-ports@0.669972:accept", 1, &len);
	decodes(p, len, 0, &msg);
	p = longer("loopback-clc@0.582056:accept", 1, &len);
	decodes(p, len, 0, &msg);
	p = longer("shape:accept-r-v1-first", 4, &len);
	decodes(p, len, -EPROTO, &msg);
	p = longer("shape:accept-d-v1-first", 4, &len);
	decodes(p, len, -EPROTO, &msg);
}

/* The ring must not go beyond the end of the address space. */
static void accept__last_address(void **state)
{
	const struct golden *v = vector("shape:accept-r-v1-first");
	u8 *p = exact(v->bytes, v->len);
	struct smc_clc_msg msg;
	u64 ring;
	int i;

	assert_int_equal(decode(p, v->len, &msg), 0);
	ring = smc_size_from_code(msg.accept.r.size_code);
	for (i = 0; i < 8; i++)
		p[52 + i] = -ring >> (56 - 8 * i);
	assert_int_equal(decode(p, v->len, &msg), -EPROTO);
	for (i = 0; i < 8; i++)
		p[52 + i] = (-ring - 1) >> (56 - 8 * i);
	assert_int_equal(decode(p, v->len, &msg), 0);
	assert_true(msg.accept.r.addr == -ring - 1);
	free(p);
}

/* Those of management and of multicast are no peer's. */
static void accept__queue_pairs(void **state)
{
	static const struct {
		u8 qpn[3];
		int want;
	} rows[] = {
		{ { 0, 0, 0 }, -EPROTO },
		{ { 0, 0, 1 }, -EPROTO },
		{ { 0, 0, 2 }, 0 },
		{ { 0xff, 0xff, 0xfe }, 0 },
		{ { 0xff, 0xff, 0xff }, -EPROTO },
	};
	const struct golden *v = vector("example:accept-r-v2");
	struct smc_clc_msg msg;
	unsigned int i;
	u8 *p;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		p = exact(v->bytes, v->len);
		memcpy(p + QPN, rows[i].qpn, 3);
		decodes(p, v->len, rows[i].want, &msg);
	}
}

static void confirm__gids_end(void **state)
{
	const char *name = "two-ports@0.080549:confirm";
	struct smc_clc_msg msg;
	size_t len;
	u8 *p;

	/* the number is the last there is */
	p = longer(name, -2 * SMC_GID_LEN, &len);
	p[CONFIRM_GIDS] = 1;
	decodes(p, len, -EPROTO, &msg);
	p = longer(name, -2 * SMC_GID_LEN, &len);
	p[CONFIRM_GIDS] = 0;
	decodes(p, len, 0, &msg);
	assert_int_equal(msg.accept.n_gids, 0);
	/* those we keep are there, another one is not */
	p = longer(name, (SMC_CLC_MAX_GIDS - 2) * SMC_GID_LEN, &len);
	p[CONFIRM_GIDS] = SMC_CLC_MAX_GIDS + 1;
	decodes(p, len, -EPROTO, &msg);
	p = longer(name, (SMC_CLC_MAX_GIDS - 2) * SMC_GID_LEN, &len);
	p[CONFIRM_GIDS] = SMC_CLC_MAX_GIDS;
	decodes(p, len, 0, &msg);
	assert_int_equal(msg.accept.n_gids, SMC_CLC_MAX_GIDS);
}

/* SMC-D has no list of GIDs; what follows there is skipped. */
static void confirm__no_gids_for_smcd(void **state)
{
	struct smc_clc_msg msg;
	size_t len;
	u8 *p = longer("loopback-clc@0.043268:confirm", 20, &len);

	p[len - 24] = 1;
	decodes(p, len, 0, &msg);
	assert_int_equal(msg.accept.n_gids, 0);
}

/* A reader that has read as much as it may, of something else. */
static void decode__no_message_in_a_full_buffer(void **state)
{
	const struct golden *v = vector("example:accept-r-v2");
	u8 *p = calloc(1, SMC_CLC_MAX_LEN);
	struct smc_clc_msg msg;

	assert_non_null(p);
	memcpy(p, v->bytes, v->len);
	put_len(p, SMC_CLC_MIN_LEN - 1);
	assert_int_equal(smc_clc_decode(p, SMC_CLC_MAX_LEN, &msg), -EPROTO);
	put_len(p, v->len);
	p[0]++;
	assert_int_equal(smc_clc_decode(p, SMC_CLC_MAX_LEN, &msg), -EPROTO);
	free(p);
}

/* What was not offered is not sent, whatever the rest of the struct says. */
static void encode__only_what_is_offered(void **state)
{
	const struct golden *v = vector("example:proposal-v2");
	struct smc_clc_msg msg;
	ssize_t full, len;
	u8 *p;

	decode_ok("example:proposal-v2", &msg);
	full = v->len;
	p = malloc(full);
	assert_non_null(p);
	/* a part for SMC-D without devices */
	msg.proposal.v2.has_d = false;
	len = smc_clc_encode(p, full, &msg);
	assert_int_equal(len, full - 10 * msg.proposal.v2.n_ism);
	free(p);
	/* no such part at all */
	msg.proposal.v2.has_d = true;
	msg.proposal.offer_v2 = SMC_OFFER_R;
	len -= 48;
	p = malloc(len);
	assert_non_null(p);
	assert_int_equal(smc_clc_encode(p, len, &msg), len);
	assert_int_equal(smc_clc_encode(p, len - 1, &msg), -ENOSPC);
	assert_int_equal(decode(p, len, &msg), 0);
	assert_false(msg.proposal.v2.has_d);
	free(p);
}

static void encode__exact_room(void **state)
{
	struct smc_clc_msg msg;
	size_t i;

	for (i = 0; i < n_vectors; i++) {
		const struct golden *v = &vectors[i];
		u8 *p = malloc(v->len);

		assert_non_null(p);
		assert_int_equal(decode(v->bytes, v->len, &msg), 0);
		assert_int_equal(smc_clc_encode(p, v->len, &msg), v->len);
		assert_int_equal(smc_clc_encode(p, v->len - 1, &msg), -ENOSPC);
		free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(proposal__parts_missing),
		cmocka_unit_test(proposal__parts_overlap),
		cmocka_unit_test(hostname__characters),
		cmocka_unit_test(hostname__blanks_to_the_end),
		cmocka_unit_test(fce__direct_is_one_bit),
		cmocka_unit_test(accept__one_byte_short),
		cmocka_unit_test(accept__last_address),
		cmocka_unit_test(accept__queue_pairs),
		cmocka_unit_test(confirm__gids_end),
		cmocka_unit_test(confirm__no_gids_for_smcd),
		cmocka_unit_test(decode__no_message_in_a_full_buffer),
		cmocka_unit_test(encode__only_what_is_offered),
		cmocka_unit_test(encode__exact_room),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
