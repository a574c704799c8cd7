/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Words for the codes of <linux/smc_reason.h>.
 */
#ifndef TOOLS_REASON_H
#define TOOLS_REASON_H

#include <stdint.h>

/**
 * struct reason_text - what is known about a code
 * @code: the code
 * @label: short upper-case name
 * @sentence: what happened
 * @hint: what to do about it, "" if there is nothing to do
 */
struct reason_text {
	uint32_t code;
	const char *label;
	const char *sentence;
	const char *hint;
};

const struct reason_text *reason_find(uint32_t code);
void reason_json(const char *key, uint32_t code);

#endif /* TOOLS_REASON_H */
