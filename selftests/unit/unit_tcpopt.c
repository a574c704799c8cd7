// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of net/smc/wire/tcpopt.c.
 */
#include "unit.h"
#include "oracle.h"

/* The option as bytes of an initializer */
#define SMC_OPT	0xfe, 6, 0xe2, 0xd4, 0xc3, 0xd9

static const u8 tail[] = { 1, 2, 3, 4 };

static int find(const u8 *opts, size_t len)
{
	u8 *p = exact(opts, len);
	int at = smc_tcpopt_find(p, len);

	free(p);
	return at;
}

static bool oracle(const u8 *opts, size_t len)
{
	u8 *p = exact(opts, len);
	bool has = oracle_tcpopt(p, len);

	free(p);
	return has;
}

static void find__golden(void **state)
{
	struct golden *g;
	size_t i, n = golden_load("tcpopt.txt", &g);

	for (i = 0; i < n; i++) {
		int at = find(g[i].bytes, g[i].len);

		if (at < 0)
			fail_msg("%s: %d", g[i].name, at);
		assert_int_equal(g[i].bytes[at], SMC_TCPOPT_KIND);
		assert_true(oracle(g[i].bytes, g[i].len));
	}
	free(g);
}

static void find__rules(void **state)
{
	static const u8 plain[] = { 2, 4, 5, 0xb4 };
	static const u8 first[] = { SMC_OPT, 1, 1 };
	static const u8 last[] = { 1, 1, SMC_OPT };
	static const u8 longer[] = { 0xfe, 8, 0xe2, 0xd4, 0xc3, 0xd9, 0, 0 };
	static const u8 odd[] = { 0xfe, 7, 0xe2, 0xd4, 0xc3, 0xd9, 0, 1 };
	static const u8 other[] = { 0xfe, 6, 0xe2, 0xd4, 0xc3, 0xc4 };
	static const u8 shorter[] = { 0xfe, 4, 0xe2, 0xd4, 0xc3, 0xd9 };
	static const u8 kind[] = { 0xfd, 6, 0xe2, 0xd4, 0xc3, 0xd9 };
	static const u8 fastopen[] = { 0xfe, 4, 0xf9, 0x89, SMC_OPT };
	static const u8 after_end[] = { 0, SMC_OPT, 1 };

	assert_int_equal(find(plain, 0), -ENOENT);
	assert_int_equal(find(plain, sizeof(plain)), -ENOENT);
	assert_int_equal(find(first, sizeof(first)), 0);
	assert_int_equal(find(last, sizeof(last)), 2);
	assert_int_equal(find(longer, sizeof(longer)), 0);
	assert_int_equal(find(odd, sizeof(odd)), -ENOENT);
	assert_int_equal(find(other, sizeof(other)), -ENOENT);
	assert_int_equal(find(shorter, 4), -ENOENT);
	assert_int_equal(find(shorter, sizeof(shorter)), -EBADMSG);
	assert_int_equal(find(kind, sizeof(kind)), -ENOENT);
	assert_int_equal(find(fastopen, sizeof(fastopen)), 4);
	assert_int_equal(find(after_end, sizeof(after_end)), -ENOENT);
}

static void find__malformed(void **state)
{
	static const u8 len0[] = { 3, 0, SMC_OPT };
	static const u8 len1[] = { 3, 1, SMC_OPT };
	static const u8 beyond[] = { 1, 1, 0xfe, 6, 0xe2, 0xd4, 0xc3 };
	static const u8 no_len[] = { 1, 1, 1, 0xfe };
	static const u8 later[] = { SMC_OPT, 3, 9 };

	assert_int_equal(find(len0, sizeof(len0)), -EBADMSG);
	assert_int_equal(find(len1, sizeof(len1)), -EBADMSG);
	assert_int_equal(find(beyond, sizeof(beyond)), -EBADMSG);
	assert_int_equal(find(no_len, sizeof(no_len)), -EBADMSG);
	assert_int_equal(find(later, sizeof(later)), 0);
}

static void append__as_upstream(void **state)
{
	static const u8 want[] = { 2, 4, 5, 0xb4, 1, 1, SMC_OPT };
	u8 opts[SMC_TCPOPT_BLOCK_MAX] = { 2, 4, 5, 0xb4 };

	assert_int_equal(smc_tcpopt_append(opts, 4, sizeof(opts), NULL, 0),
			 sizeof(want));
	assert_memory_equal(opts, want, sizeof(want));
	assert_int_equal(smc_tcpopt_append(opts, sizeof(want), sizeof(opts),
					   NULL, 0), -EEXIST);
}

static void append__uses_padding(void **state)
{
	static const u8 want[] = { 3, 3, 7, SMC_OPT, 1 };
	u8 opts[SMC_TCPOPT_BLOCK_MAX] = { 3, 3, 7, 0, 0, 0, 0, 0 };
	int at;

	/* EOL padding at the end is where the option goes */
	assert_int_equal(smc_tcpopt_append(opts, 8, sizeof(opts), NULL, 0), 12);
	at = smc_tcpopt_find(opts, 12);
	assert_in_range(at, 3, 6);
	assert_memory_equal(opts + at, want + 3, 6);

	memset(opts, 0, sizeof(opts));
	assert_int_equal(smc_tcpopt_append(opts, 8, 8, NULL, 0), 8);
	assert_int_equal(smc_tcpopt_find(opts, 8), 2);

	/* it ends where the block does: nothing is put before it */
	memcpy(opts, (u8[]){ 1, 1, 0, 0 }, 4);
	assert_int_equal(smc_tcpopt_append(opts, 4, sizeof(opts), NULL, 0), 8);
	assert_int_equal(smc_tcpopt_find(opts, 8), 2);
}

static void append__room(void **state)
{
	size_t len, room;

	for (room = 0; room <= SMC_TCPOPT_BLOCK_MAX; room += 4) {
		for (len = 0; len <= room; len += 4) {
			u8 *p = calloc(1, room ? room : 1);
			ssize_t n;

			assert_non_null(p);
			memset(p, 1, len);
			n = smc_tcpopt_append(p, len, room, NULL, 0);
			assert_int_equal(n, len + 8 <= room ? (ssize_t)len + 8 :
					 -ENOSPC);
			free(p);
		}
	}
}

/* Options of a SYN with MD5: exactly 8 bytes are left. */
static void append__after_md5(void **state)
{
	u8 opts[SMC_TCPOPT_BLOCK_MAX] = { 1, 1, 19, 18 };

	opts[20] = 2;
	opts[21] = 4;
	opts[24] = 1;
	opts[25] = 3;
	opts[26] = 3;
	opts[28] = 1;
	opts[29] = 1;
	opts[30] = 4;
	opts[31] = 2;
	assert_int_equal(smc_tcpopt_append(opts, 32, sizeof(opts), NULL, 0),
			 40);
	assert_int_equal(smc_tcpopt_find(opts, 40), 34);
}

static void append__bad_arguments(void **state)
{
	static const u8 longer[SMC_TCPOPT_TAIL_MAX + 2];
	u8 opts[48] = { 1, 1, 1, 1 };

	assert_int_equal(smc_tcpopt_append(opts, 3, 40, NULL, 0), -EINVAL);
	assert_int_equal(smc_tcpopt_append(opts, 8, 4, NULL, 0), -EINVAL);
	assert_int_equal(smc_tcpopt_append(opts, 4, 44, NULL, 0), -EINVAL);
	assert_int_equal(smc_tcpopt_append(opts, 4, 41, NULL, 0), -EINVAL);
	assert_int_equal(smc_tcpopt_append(opts, 4, 40, tail, 1), -EINVAL);
	assert_int_equal(smc_tcpopt_append(opts, 4, 40, tail, 3), -EINVAL);
	assert_int_equal(smc_tcpopt_append(opts, 4, 40, longer,
					   sizeof(longer)), -EINVAL);
	assert_int_equal(smc_tcpopt_append(opts, 4, 40, longer,
					   SMC_TCPOPT_TAIL_MAX), 20);
	memset(opts, 1, sizeof(opts));
	opts[3] = 8;
	assert_int_equal(smc_tcpopt_append(opts, 4, 40, NULL, 0), -EBADMSG);
}

static void strip__leaves_the_others(void **state)
{
	static const u8 want[] = { 2, 4, 5, 0xb4, 1, 1, 1, 1, 1, 1, 1, 1,
				   4, 2, 1, 1 };
	u8 opts[] = { 2, 4, 5, 0xb4, 1, 1, SMC_OPT, 4, 2, 1, 1 };
	u8 twice[] = { SMC_OPT, SMC_OPT };

	assert_int_equal(smc_tcpopt_strip(opts, sizeof(opts)), 1);
	assert_memory_equal(opts, want, sizeof(want));
	assert_int_equal(smc_tcpopt_strip(opts, sizeof(opts)), 0);
	assert_int_equal(smc_tcpopt_strip(twice, sizeof(twice)), 2);
}

static void echoed__only_our_tail(void **state)
{
	static const u8 other[] = { 1, 2, 3, 5 };
	u8 opts[SMC_TCPOPT_BLOCK_MAX] = { 0 };
	ssize_t len;

	len = smc_tcpopt_append(opts, 0, sizeof(opts), tail, sizeof(tail));
	assert_int_equal(len, 12);
	assert_true(smc_tcpopt_echoed(opts, len, tail, sizeof(tail)));
	assert_false(smc_tcpopt_echoed(opts, len, other, sizeof(other)));
	assert_false(smc_tcpopt_echoed(opts, len, tail, 2));
	assert_false(smc_tcpopt_echoed(opts, len, tail, 0));

	/* a short one, at the very beginning */
	len = smc_tcpopt_append(memset(opts, 0, sizeof(opts)), 0, sizeof(opts),
				tail, 2);
	assert_int_equal(len, 8);
	assert_true(smc_tcpopt_echoed(opts, len, tail, 2));

	/* a peer that understands answers with 6 bytes */
	len = smc_tcpopt_append(memset(opts, 0, sizeof(opts)), 0, sizeof(opts),
				NULL, 0);
	assert_false(smc_tcpopt_echoed(opts, len, tail, sizeof(tail)));
	assert_false(smc_tcpopt_echoed(opts, len, tail, 0));
	assert_false(smc_tcpopt_echoed(opts, 0, tail, sizeof(tail)));
}

static void any__bytes(void **state)
{
	static const u8 smc[] = { SMC_OPT };
	size_t i, len, has = 0;
	u8 buf[SMC_TCPOPT_BLOCK_MAX];

	rnd_seed(5);
	for (i = 0; i < 100000; i++) {
		size_t at = 0;

		/* short options, so that the walk gets somewhere */
		rnd_fill(buf, sizeof(buf));
		len = rnd() % (sizeof(buf) + 1);
		while (at + 6 < len) {
			u64 r = rnd() % 8;

			if (r == 0) {
				memcpy(buf + at, smc, sizeof(smc));
				at += 6;
			} else if (r < 6) {
				buf[at] = 1;
				at++;
			} else {
				buf[at + 1] = rnd() % 5;
				at += buf[at + 1] < 2 ? 2 : buf[at + 1];
			}
		}
		has += oracle(buf, len);
	}
	assert_in_range(has, 10000, 90000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(find__golden),
		cmocka_unit_test(find__rules),
		cmocka_unit_test(find__malformed),
		cmocka_unit_test(append__as_upstream),
		cmocka_unit_test(append__uses_padding),
		cmocka_unit_test(append__room),
		cmocka_unit_test(append__after_md5),
		cmocka_unit_test(append__bad_arguments),
		cmocka_unit_test(strip__leaves_the_others),
		cmocka_unit_test(echoed__only_our_tail),
		cmocka_unit_test(any__bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
