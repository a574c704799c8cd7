// SPDX-License-Identifier: GPL-2.0
/*
 * Words for the codes of <linux/smc_reason.h>.
 *
 * Tests: selftests/unit/unit_smcss.c.
 */
#include <stddef.h>

#include <linux/smc_reason.h>

#include "reason.h"

#define TEXT(symbol, code, label, sentence, hint, err)	\
	{ code, label, sentence, hint },

static const struct reason_text texts[] = {
	SMC_REASON_LIST(TEXT)
};

/**
 * reason_find() - look a code up
 * @code: code as sock_diag or a Decline message shows it
 *
 * Return: constant text, or NULL for a code this tool is too old for.
 */
const struct reason_text *reason_find(uint32_t code)
{
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].code == code)
			return &texts[i];
	return NULL;
}
