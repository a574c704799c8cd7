// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of net/smc/reason.c and of the list in <linux/smc_reason.h>.
 */
#include "unit.h"
#include "reason.h"

static const struct {
	u32 code;
	const char *label;
	const char *sentence;
	const char *hint;
	int err;
} list[] = {
#define ROW(_symbol, _code, _label, _sentence, _hint, _err)		\
	{ _code, _label, _sentence, _hint, _err },
	SMC_REASON_LIST(ROW)
#undef ROW
};

static void list__has_no_duplicates(void **state)
{
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(list); i++) {
		for (j = 0; j < i; j++) {
			assert_int_not_equal(list[i].code, list[j].code);
			assert_string_not_equal(list[i].label, list[j].label);
			assert_string_not_equal(list[i].sentence,
						list[j].sentence);
		}
	}
}

/* Statistics and tools print label and sentence in columns and lines. */
static void list__text_is_fit_to_print(void **state)
{
	const char *c;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(list); i++) {
		assert_in_range(strlen(list[i].label), 2, 12);
		assert_in_range(strlen(list[i].sentence), 10, 80);
		assert_in_range(strlen(list[i].hint), 0, 80);
		for (c = list[i].label; *c; c++)
			assert_true((*c >= 'A' && *c <= 'Z') || *c == '_' ||
				    (*c >= '0' && *c <= '9'));
		for (c = list[i].sentence; *c; c++)
			assert_in_range(*c, ' ', '~');
		assert_int_not_equal(c[-1], '.');
		assert_in_range(list[i].err, 0, 4095);
	}
}

static void list__codes_of_the_kernel(void **state)
{
	assert_int_equal(SMC_REASON_OK, 0);
	assert_int_equal(SMC_REASON_MEM, 0x01010000);
	assert_int_equal(SMC_REASON_TIMEOUT_CL, 0x02010000);
	assert_int_equal(SMC_REASON_PEERNOSMC, 0x03010000);
	assert_int_equal(SMC_REASON_NOSMCDEV, 0x03030000);
	assert_int_equal(SMC_REASON_NOUEID, 0x03030008);
	assert_int_equal(SMC_REASON_MAXLINKERR, 0x0303000b);
	assert_int_equal(SMC_REASON_NOINDIRECT, 0x030f0000);
	assert_int_equal(SMC_REASON_SYNCERR, 0x04000000);
	assert_int_equal(SMC_REASON_PEERDECL, 0x05000000);
	assert_int_equal(SMC_REASON_ERR_REGBUF, 0x09990003);
}

static void find__every_code(void **state)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(list); i++) {
		u32 code = list[i].code;

		assert_int_equal(smc_reason_errno(code), list[i].err);
		assert_int_equal(smc_reason_index(code), i);
		assert_int_equal(smc_reason_code(i), code);
	}
}

static void find__unknown_codes(void **state)
{
	static const u32 codes[] = { 1, 0x0303000c, 0x0a000000, 0xffffffff };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		assert_int_equal(smc_reason_errno(codes[i]), 0);
		assert_int_equal(smc_reason_index(codes[i]), SMC_REASON_NUM);
		assert_false(smc_reason_on_wire(codes[i]));
	}
	assert_int_equal(smc_reason_index(0), SMC_REASON_NUM);
	assert_false(smc_reason_on_wire(0));
}

static void wire__is_always_sendable(void **state)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(list); i++) {
		u32 wire = smc_reason_wire(list[i].code);

		assert_true(smc_reason_on_wire(wire));
		assert_in_range(wire, 1, SMC_REASON_LOCAL_MIN - 1);
		assert_int_equal(smc_reason_errno(wire), 0);
		if (smc_reason_on_wire(list[i].code))
			assert_int_equal(wire, list[i].code);
		else
			assert_int_not_equal(wire, list[i].code);
	}
	assert_int_equal(smc_reason_wire(0xffffffff), SMC_REASON_INTERR);
}

/* To a handshake it is all the same which cause it was, but for silence. */
static void wire__of_links(void **state)
{
	static const u32 links[] = {
#define ROW(_symbol, _code, _label, _sentence, _hint, _err)	_code,
		SMC_REASON_LIST_LINK(ROW)
#undef ROW
	};
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(links); i++) {
		assert_true(SMC_REASON_IS_LINK(links[i]));
		assert_int_equal(smc_reason_wire(links[i]),
				 links[i] == SMC_REASON_LINK_RETRY ||
				 links[i] == SMC_REASON_LINK_QUEUE ?
				 SMC_REASON_TIMEOUT_CL : SMC_REASON_NOACTLINK);
		assert_int_not_equal(smc_reason_errno(links[i]), 0);
	}
	for (i = 0; i < ARRAY_SIZE(list); i++)
		n += SMC_REASON_IS_LINK(list[i].code);
	assert_int_equal(n, ARRAY_SIZE(links));
}

/* What a peer is told of a reason that has no code of its own. */
static void wire__nearest(void **state)
{
	static const struct {
		u32 code;
		u32 wire;
	} t[] = {
		{ SMC_REASON_OPTUNSUPP, SMC_REASON_NOSMCDEV },
		{ SMC_REASON_REMEMBERED, SMC_REASON_NOSMCDEV },
		{ SMC_REASON_DISABLED, SMC_REASON_NOSMCDEV },
		{ SMC_REASON_APPTCP, SMC_REASON_NOSMCDEV },
		{ SMC_REASON_NOSYNOPT, SMC_REASON_NOSMCDEV },
		{ SMC_REASON_HSLIMIT, SMC_REASON_MEM },
		{ SMC_REASON_BADPORT, SMC_REASON_NOSMCRDEV },
		{ SMC_REASON_LGRLIMIT, SMC_REASON_MEM },
		{ SMC_REASON_RINGLIMIT, SMC_REASON_MEM },
		{ SMC_REASON_DEVGONE, SMC_REASON_NOACTLINK },
		{ SMC_REASON_SILENT, SMC_REASON_TIMEOUT_CL },
		{ SMC_REASON_LATECLC, SMC_REASON_TIMEOUT_CL },
		{ SMC_REASON_NOCONFIRM, SMC_REASON_TIMEOUT_CL },
		{ SMC_REASON_NOLINK, SMC_REASON_TIMEOUT_CL },
		{ SMC_REASON_MISMATCH, SMC_REASON_MODEUNSUPP },
		{ SMC_REASON_PEERDECL, SMC_REASON_INTERR },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(t); i++)
		assert_int_equal(smc_reason_wire(t[i].code), t[i].wire);
}

static void on_wire__never_local(void **state)
{
	assert_true(smc_reason_on_wire(SMC_REASON_NOSMCDEV));
	assert_false(smc_reason_on_wire(SMC_REASON_PEERDECL));
	assert_false(smc_reason_on_wire(SMC_REASON_OPTUNSUPP));
	assert_false(smc_reason_on_wire(SMC_REASON_SILENT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(list__has_no_duplicates),
		cmocka_unit_test(list__text_is_fit_to_print),
		cmocka_unit_test(list__codes_of_the_kernel),
		cmocka_unit_test(find__every_code),
		cmocka_unit_test(find__unknown_codes),
		cmocka_unit_test(wire__is_always_sendable),
		cmocka_unit_test(wire__of_links),
		cmocka_unit_test(wire__nearest),
		cmocka_unit_test(on_wire__never_local),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
