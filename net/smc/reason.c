// SPDX-License-Identifier: GPL-2.0
/*
 * Words for the reasons of <linux/smc_reason.h>. PURE.
 *
 * The one table here is the expansion of the list in that header. It is also
 * asked about codes that came from a peer, so an unknown code is no error.
 *
 * Context: any, no locks. Test: selftests/unit/unit_reason.c
 */
#include <linux/types.h>
#include <linux/errno.h>
#include "reason.h"

struct text {
	u32 code;
	int err;
	const char *label;
	const char *sentence;
	const char *hint;
};

#define TEXT(_symbol, _code, _label, _sentence, _hint, _err)		\
	{ .code = (_code), .err = (_err), .label = (_label),		\
	  .sentence = (_sentence), .hint = (_hint) },

static const struct text texts[] = {
	SMC_REASON_LIST(TEXT)
	{ .code = SMC_REASON_OK, .label = "OK", .sentence = "no failure",
	  .hint = "" }
};

static const struct text unknown = {
	.label = "[unknown]",
	.sentence = "a reason unknown to this version",
	.hint = "",
};

/* SMC_REASON_OK ends the table. */
static const struct text *find(u32 code)
{
	const struct text *text = texts;

	while (text->code && text->code != code)
		text++;
	return text->code == code ? text : &unknown;
}

/**
 * smc_reason_index() - place of a reason in the list
 * @code: enum smc_reason
 *
 * Return: 0 .. SMC_REASON_NUM - 1; SMC_REASON_NUM for a code not in the list.
 */
unsigned int smc_reason_index(u32 code)
{
	const struct text *text = find(code);

	return text == &unknown ? SMC_REASON_NUM : text - texts;
}

/**
 * smc_reason_code() - the reverse
 * @index: 0 .. SMC_REASON_NUM - 1
 *
 * Return: enum smc_reason.
 */
u32 smc_reason_code(unsigned int index)
{
	return texts[index].code;
}

/**
 * smc_reason_label() - short upper-case name of a reason
 * @code: enum smc_reason, or any value from a peer
 *
 * Return: the label, "OK" for 0, "[unknown]" for a code not in the list.
 */
const char *smc_reason_label(u32 code)
{
	return find(code)->label;
}

/**
 * smc_reason_sentence() - what happened, in words
 * @code: enum smc_reason, or any value from a peer
 *
 * Return: a sentence without a full stop.
 */
const char *smc_reason_sentence(u32 code)
{
	return find(code)->sentence;
}

/**
 * smc_reason_hint() - what an operator can do
 * @code: enum smc_reason, or any value from a peer
 *
 * Return: a hint, "" if there is none.
 */
const char *smc_reason_hint(u32 code)
{
	return find(code)->hint;
}

/**
 * smc_reason_errno() - what a program sees if TCP cannot carry on
 * @code: enum smc_reason
 *
 * Return: 0 if the connection falls back to TCP, else a positive errno.
 */
int smc_reason_errno(u32 code)
{
	return find(code)->err;
}

/**
 * smc_reason_on_wire() - may this code be sent in a Decline?
 * @code: enum smc_reason
 *
 * PEERDECL and OPTUNSUPP are codes of the wire's numbering which nobody sends:
 * a Decline is not answered, and Fast Open comes before any CLC message.
 */
bool smc_reason_on_wire(u32 code)
{
	return code && code < SMC_REASON_LOCAL_MIN &&
	       find(code) != &unknown &&
	       code != SMC_REASON_PEERDECL && code != SMC_REASON_OPTUNSUPP;
}

/**
 * smc_reason_wire() - the code to send in a Decline for a reason
 * @code: enum smc_reason
 *
 * Return: @code itself where it may be sent, else the nearest code every peer
 * knows.
 */
u32 smc_reason_wire(u32 code)
{
	if (smc_reason_on_wire(code))
		return code;
	if (SMC_REASON_IS_LINK(code))
		return SMC_REASON_NOACTLINK;
	switch (code) {
	case SMC_REASON_OPTUNSUPP:
	case SMC_REASON_REMEMBERED:
	case SMC_REASON_DISABLED:
	case SMC_REASON_APPTCP:
	case SMC_REASON_UNSUPPADDR:
		return SMC_REASON_NOSMCDEV;
	case SMC_REASON_HSLIMIT:
	case SMC_REASON_LGRLIMIT:
		return SMC_REASON_MEM;
	case SMC_REASON_DEVGONE:
		return SMC_REASON_NOACTLINK;
	case SMC_REASON_SILENT:
	case SMC_REASON_LATECLC:
	case SMC_REASON_NOCONFIRM:
		return SMC_REASON_TIMEOUT_CL;
	case SMC_REASON_MISMATCH:
		return SMC_REASON_MODEUNSUPP;
	default:
		return SMC_REASON_INTERR;
	}
}
