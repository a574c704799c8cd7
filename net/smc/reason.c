// SPDX-License-Identifier: GPL-2.0
/*
 * What a reason of <linux/smc_reason.h> means to the program and to the peer.
 * PURE.
 *
 * The one table here is the expansion of the list in that header. It is also
 * asked about codes that came from a peer, so an unknown code is no error.  The
 * words of the list are for tools and for the trace.
 *
 * Context: any, no locks. Test: selftests/unit/unit_reason.c
 */
#include <linux/types.h>
#include <linux/errno.h>
#include "reason.h"

struct entry {
	u32 code;
	int err;
};

#define ENTRY(_symbol, _code, _label, _sentence, _hint, _err)		\
	{ .code = (_code), .err = (_err) },

/* sorted by code, as the list is */
static const struct entry entries[] = {
	SMC_REASON_LIST(ENTRY)
};

/**
 * smc_reason_index() - place of a reason in the list
 * @code: enum smc_reason
 *
 * Return: 0 .. SMC_REASON_NUM - 1; SMC_REASON_NUM for a code not in the list.
 */
unsigned int smc_reason_index(u32 code)
{
	unsigned int low = 0, high = SMC_REASON_NUM, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (entries[mid].code < code)
			low = mid + 1;
		else
			high = mid;
	}
	return low < SMC_REASON_NUM && entries[low].code == code ?
	       low : SMC_REASON_NUM;
}

/**
 * smc_reason_code() - the reverse
 * @index: 0 .. SMC_REASON_NUM - 1
 *
 * Return: enum smc_reason.
 */
u32 smc_reason_code(unsigned int index)
{
	return entries[index].code;
}

/**
 * smc_reason_errno() - the errno of a reason by the list
 * @code: enum smc_reason
 *
 * A program sees ETIMEDOUT of these, if the group of its connection ended for
 * such a reason; other errors are chosen where they occur.
 *
 * Return: 0 if the connection falls back to TCP, else a positive errno.
 */
int smc_reason_errno(u32 code)
{
	unsigned int i = smc_reason_index(code);

	return i < SMC_REASON_NUM ? entries[i].err : 0;
}

/**
 * smc_reason_on_wire() - may this code be sent in a Decline?
 * @code: enum smc_reason
 *
 * PEERDECL and OPTUNSUPP are codes of the wire's numbering that are never sent:
 * a Decline is not answered, and Fast Open comes before any CLC message.
 */
bool smc_reason_on_wire(u32 code)
{
	return code && code < SMC_REASON_LOCAL_MIN &&
	       smc_reason_index(code) < SMC_REASON_NUM &&
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
	/* the peer remembers that RDMA does not pass */
	if (code == SMC_REASON_LINK_RETRY || code == SMC_REASON_LINK_QUEUE)
		return SMC_REASON_TIMEOUT_CL;
	if (SMC_REASON_IS_LINK(code))
		return SMC_REASON_NOACTLINK;
	switch (code) {
	case SMC_REASON_OPTUNSUPP:
	case SMC_REASON_REMEMBERED:
	case SMC_REASON_DISABLED:
	case SMC_REASON_APPTCP:
	case SMC_REASON_NOSYNOPT:
		return SMC_REASON_NOSMCDEV;
	case SMC_REASON_HSLIMIT:
	case SMC_REASON_LGRLIMIT:
	case SMC_REASON_RINGLIMIT:
		return SMC_REASON_MEM;
	case SMC_REASON_BADPORT:
		return SMC_REASON_NOSMCRDEV;
	case SMC_REASON_DEVGONE:
		return SMC_REASON_NOACTLINK;
	case SMC_REASON_SILENT:
	case SMC_REASON_LATECLC:
	case SMC_REASON_NOCONFIRM:
	case SMC_REASON_NOLINK:
		return SMC_REASON_TIMEOUT_CL;
	case SMC_REASON_MISMATCH:
		return SMC_REASON_MODEUNSUPP;
	default:
		return SMC_REASON_INTERR;
	}
}
