// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/smc/wire/tcpopt.c.
 */
#include <linux/types.h>

#include "wire/tcpopt.h"
#include "unit.h"

#define OFFER	0xfe, 0x06, 0xe2, 0xd4, 0xc3, 0xd9
#define MSS	0x02, 0x04, 0x05, 0xb4
#define STAMP	0x08, 0x0a, 1, 2, 3, 4, 5, 6, 7, 8
#define BYTES(...)	(const u8[]){ __VA_ARGS__ }, \
			sizeof((const u8[]){ __VA_ARGS__ })

/* A copy that ends where memory ends: the sanitizer sees what reads on. */
static bool find(const u8 *opts, size_t len)
{
	u8 *copy = malloc(len ? len : 1);
	bool found;

	memcpy(copy, opts, len);
	found = smc_tcpopt_find(copy, len);
	free(copy);
	return found;
}

static void smc_tcpopt_find__there(void **state)
{
	assert_true(find(BYTES(OFFER)));
	assert_true(find(BYTES(1, 1, OFFER)));
	assert_true(find(BYTES(OFFER, 0, 0)));
	assert_true(find(BYTES(MSS, 4, 2, STAMP, 1, 3, 3, 7, 1, 1, OFFER)));
	/* another experiment in front of it, and more behind the name */
	assert_true(find(BYTES(0xfe, 4, 0xf9, 0x89, OFFER)));
	assert_true(find(BYTES(0xfe, 8, 0xe2, 0xd4, 0xc3, 0xd9, 1, 2)));
	/* an empty option */
	assert_true(find(BYTES(4, 2, OFFER)));
}

static void smc_tcpopt_find__not_there(void **state)
{
	assert_false(find((const u8 *)"", 0));
	assert_false(find(BYTES(MSS, 4, 2, STAMP, 1, 3, 3, 7)));
	assert_false(find(BYTES(0xfe, 6, 0xe2, 0xd4, 0xc3, 0xd8)));
	assert_false(find(BYTES(0xfe, 6, 0xe3, 0xd4, 0xc3, 0xd9)));
	assert_false(find(BYTES(0xfd, 6, 0xe2, 0xd4, 0xc3, 0xd9)));
	/* the name is not part of a shorter option */
	assert_false(find(BYTES(0xfe, 5, 0xe2, 0xd4, 0xc3, 0xd9)));
	/* behind the end, inside another option, cut off */
	assert_false(find(BYTES(0, 1, OFFER)));
	assert_false(find(BYTES(0xfd, 10, 1, 1, OFFER)));
	assert_false(find(BYTES(1, 1, 0xfe, 6, 0xe2, 0xd4, 0xc3)));
	assert_false(find(BYTES(1, 1, 0xfe)));
	/* malformed */
	assert_false(find(BYTES(2, 0, OFFER)));
	assert_false(find(BYTES(2, 1, OFFER)));
	assert_false(find(BYTES(2, 9, OFFER)));
}

/* @want, @want_len: the result; 0: none, nothing changes */
static void add(const u8 *opts, size_t len, const u8 *want, size_t want_len)
{
	u8 *room = malloc(SMC_TCPOPT_MAX), *old = malloc(SMC_TCPOPT_MAX);

	memset(room, 0xa5, SMC_TCPOPT_MAX);
	memcpy(room, opts, len);
	memcpy(old, room, SMC_TCPOPT_MAX);
	assert_int_equal(smc_tcpopt_add(room, len), want_len);
	if (want_len) {
		assert_memory_equal(room, want, want_len);
		assert_true(smc_tcpopt_find(room, want_len));
	}
	assert_memory_equal(room + want_len, old + want_len,
			    SMC_TCPOPT_MAX - want_len);
	free(room);
	free(old);
}

static void smc_tcpopt_add__at_the_end(void **state)
{
	add((const u8 *)"", 0, BYTES(1, 1, OFFER));
	add(BYTES(MSS), BYTES(MSS, 1, 1, OFFER));
	add(BYTES(1, 1, 4, 2), BYTES(1, 1, 4, 2, 1, 1, OFFER));
	add(BYTES(MSS, 4, 2, STAMP, 1, 3, 3, 7),
	    BYTES(MSS, 4, 2, STAMP, 1, 3, 3, 7, 1, 1, OFFER));
}

static void smc_tcpopt_add__padded_with_ends(void **state)
{
	/* one, two and three bytes behind the last option */
	add(BYTES(3, 3, 7, 0), BYTES(3, 3, 7, 1, 1, 1, OFFER));
	add(BYTES(4, 2, 0, 0), BYTES(4, 2, OFFER));
	add(BYTES(4, 2, 3, 3, 7, 0, 0, 0),
	    BYTES(4, 2, 3, 3, 7, 1, OFFER));
	/* what is behind the first end is nothing; the length stays */
	add(BYTES(MSS, 0, 9, 9, 9, 9, 9, 9, 9),
	    BYTES(MSS, 1, 1, OFFER));
	add(BYTES(MSS, 0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9),
	    BYTES(MSS, 1, 1, 1, 1, 1, 1, OFFER));
}

static void smc_tcpopt_add__room(void **state)
{
	u8 opts[SMC_TCPOPT_MAX];
	size_t len;

	memset(opts, 1, sizeof(opts));
	for (len = 0; len <= SMC_TCPOPT_MAX; len += 4) {
		u8 room[SMC_TCPOPT_MAX];
		size_t want = len <= 32 ? len + 8 : 0;

		memcpy(room, opts, sizeof(room));
		assert_int_equal(smc_tcpopt_add(room, len), want);
		if (want)
			assert_true(smc_tcpopt_find(room, want));
		else
			assert_memory_equal(room, opts, sizeof(room));
	}
	/* full, but for what is behind the end */
	opts[34] = 0;
	assert_int_equal(smc_tcpopt_add(opts, SMC_TCPOPT_MAX), SMC_TCPOPT_MAX);
	assert_true(smc_tcpopt_find(opts, SMC_TCPOPT_MAX));
	memset(opts, 1, sizeof(opts));
	opts[35] = 0;
	assert_int_equal(smc_tcpopt_add(opts, SMC_TCPOPT_MAX), 0);
}

static void smc_tcpopt_add__signed(void **state)
{
	add(BYTES(1, 1, 19, 18, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
		  14, 15), NULL, 0);
	add(BYTES(MSS, 29, 8, 1, 2, 3, 4, 5, 6), NULL, 0);
	/* such bytes inside another option sign nothing */
	add(BYTES(254, 4, 19, 29), BYTES(254, 4, 19, 29, 1, 1, OFFER));
}

static void smc_tcpopt_add__malformed(void **state)
{
	add(BYTES(2, 0, 5, 180), NULL, 0);
	add(BYTES(2, 1, 5, 180), NULL, 0);
	add(BYTES(2, 5, 5, 180), NULL, 0);
	add(BYTES(1, 1, 1, 2), NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smc_tcpopt_find__there),
		cmocka_unit_test(smc_tcpopt_find__not_there),
		cmocka_unit_test(smc_tcpopt_add__at_the_end),
		cmocka_unit_test(smc_tcpopt_add__padded_with_ends),
		cmocka_unit_test(smc_tcpopt_add__room),
		cmocka_unit_test(smc_tcpopt_add__signed),
		cmocka_unit_test(smc_tcpopt_add__malformed),
	};

	return cmocka_run_group_tests_name("tcpopt", tests, NULL, NULL);
}
