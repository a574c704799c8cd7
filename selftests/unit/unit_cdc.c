// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of net/smc/wire/cdc.c.
 */
#include "unit.h"
#include "oracle.h"

static void decode__example(void **state)
{
	struct golden *g;
	size_t n = golden_load("cdc.txt", &g);
	const struct golden *v = golden_find(g, n, "example:cdc");
	struct smc_cdc cdc;

	assert_int_equal(smc_cdc_decode(v->bytes, v->len, &cdc), 0);
	assert_int_equal(cdc.seq, 7);
	assert_int_equal(cdc.token, 42);
	assert_int_equal(cdc.prod.wrap, 1);
	assert_int_equal(cdc.prod.count, 0x200);
	assert_int_equal(cdc.cons.wrap, 0);
	assert_int_equal(cdc.cons.count, 0x4000);
	assert_int_equal(cdc.prod_flags, SMC_CDC_WRITE_BLOCKED);
	assert_int_equal(cdc.conn_flags, 0);
	free(g);
}

static void decode__golden_is_canonical(void **state)
{
	u8 buf[SMC_CDC_LEN];
	struct smc_cdc cdc;
	struct golden *g;
	size_t i, n = golden_load("cdc.txt", &g);

	for (i = 0; i < n; i++) {
		print_message("# %s\n", g[i].name);
		assert_int_equal(g[i].len, SMC_CDC_LEN);
		assert_int_equal(smc_cdc_decode(g[i].bytes, g[i].len, &cdc), 0);
		smc_cdc_encode(buf, &cdc);
		assert_memory_equal(buf, g[i].bytes, SMC_CDC_LEN);
	}
	free(g);
}

static void decode__truncated(void **state)
{
	struct smc_cdc cdc;
	struct golden *g;
	size_t len, n = golden_load("cdc.txt", &g);
	u8 *p;

	assert_true(n > 0);
	for (len = 0; len <= SMC_CDC_LEN; len++) {
		p = exact(g[0].bytes, len);
		assert_int_equal(smc_cdc_decode(p, len, &cdc),
				 len < SMC_CDC_MIN_LEN ? -EBADMSG : 0);
		oracle_cdc(p, len);
		free(p);
	}
	free(g);
}

static void decode__not_a_cdc(void **state)
{
	u8 p[SMC_CDC_LEN] = { SMC_CDC_TYPE, SMC_CDC_LEN };
	struct smc_cdc cdc;

	assert_int_equal(smc_cdc_decode(p, sizeof(p), &cdc), 0);
	p[1] = SMC_CDC_LEN - 1;
	assert_int_equal(smc_cdc_decode(p, sizeof(p), &cdc), -EBADMSG);
	p[1] = SMC_CDC_LEN;
	p[0] = 0x26;
	assert_int_equal(smc_cdc_decode(p, sizeof(p), &cdc), -EBADMSG);
}

static void decode__any_bytes(void **state)
{
	size_t i, len;
	u8 buf[64];
	u8 *p;

	rnd_seed(3);
	for (i = 0; i < 20000; i++) {
		rnd_fill(buf, sizeof(buf));
		buf[0] = SMC_CDC_TYPE;
		buf[1] = SMC_CDC_LEN;
		len = rnd() % sizeof(buf);
		p = exact(buf, len);
		assert_int_equal(oracle_cdc(p, len), len >= SMC_CDC_MIN_LEN);
		free(p);
	}
}

/* Reserved bytes carry nothing and are sent as zero. */
static void encode__reserved_bytes(void **state)
{
	u8 in[SMC_CDC_LEN], out[SMC_CDC_LEN];
	struct smc_cdc cdc;
	size_t i;

	memset(in, 0xff, sizeof(in));
	in[0] = SMC_CDC_TYPE;
	in[1] = SMC_CDC_LEN;
	assert_int_equal(smc_cdc_decode(in, sizeof(in), &cdc), 0);
	memset(out, 0xaa, sizeof(out));
	smc_cdc_encode(out, &cdc);
	for (i = 2; i < sizeof(out); i++)
		assert_int_equal(out[i], i == 8 || i == 9 || i == 16 ||
				 i == 17 || i >= 26 ? 0 : 0xff);
}

static void seq_before__wraps(void **state)
{
	assert_true(smc_cdc_seq_before(1, 2));
	assert_false(smc_cdc_seq_before(2, 2));
	assert_false(smc_cdc_seq_before(3, 2));
	assert_true(smc_cdc_seq_before(0xffff, 0));
	assert_false(smc_cdc_seq_before(0, 0xffff));
	assert_false(smc_cdc_seq_before(0x7ffe, 0xffff));
	assert_true(smc_cdc_seq_before(0x7fff, 0xffff));
}

/* What takes the place of a CDC: a token and a flag. */
static void imm__token_and_flag(void **state)
{
	static const u32 tokens[] = { 1, 0x12345678, SMC_TOKEN_MAX };
	size_t i;

	for (i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
		u32 free = smc_imm_encode(tokens[i], 0);
		u32 blocked = smc_imm_encode(tokens[i], 0xff);

		assert_int_equal(free, tokens[i]);
		assert_int_equal(blocked, tokens[i] | 0x80000000);
		assert_int_equal(smc_imm_token(free), tokens[i]);
		assert_int_equal(smc_imm_token(blocked), tokens[i]);
		assert_int_equal(smc_imm_prod_flags(free), 0);
		assert_int_equal(smc_imm_prod_flags(blocked),
				 SMC_CDC_WRITE_BLOCKED);
	}
	/* no other flag goes this way, and a reserved bit says nothing */
	assert_int_equal(smc_imm_encode(1, 0x7f), 1);
	assert_int_equal(smc_imm_token(0xffffffff), SMC_TOKEN_MAX);
	assert_int_equal(smc_imm_prod_flags(SMC_IMM_RESERVED), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decode__example),
		cmocka_unit_test(decode__golden_is_canonical),
		cmocka_unit_test(decode__truncated),
		cmocka_unit_test(decode__not_a_cdc),
		cmocka_unit_test(decode__any_bytes),
		cmocka_unit_test(encode__reserved_bytes),
		cmocka_unit_test(seq_before__wraps),
		cmocka_unit_test(imm__token_and_flag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
