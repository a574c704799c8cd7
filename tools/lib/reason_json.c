// SPDX-License-Identifier: GPL-2.0
/*
 * A reason in JSON.
 *
 * Tests: tools/tests/tools.sh.
 */
#include "json.h"
#include "reason.h"

/**
 * reason_json() - a member about a reason, none for success
 * @key: its name
 * @code: of smc_reason.h
 */
void reason_json(const char *key, uint32_t code)
{
	const struct reason_text *why = reason_find(code);

	if (!code)
		return;
	json_object(key);
	json_fmt("code", "0x%08x", code);
	if (why) {
		json_str("label", why->label);
		json_str("text", why->sentence);
		json_str("hint", why->hint);
	}
	json_close();
}
