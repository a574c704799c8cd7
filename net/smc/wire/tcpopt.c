// SPDX-License-Identifier: GPL-2.0
/*
 * The TCP option that offers SMC (RFC 7609 section 3.1, RFC 6994), in a block
 * of TCP options.  PURE: no kernel services.
 *
 * Context: any; no locks, no allocation.  Tests: selftests/unit/unit_tcpopt.c.
 */
#include <linux/string.h>
#include <linux/types.h>

#include "tcpopt.h"

enum {
	KIND_END = 0,
	KIND_PAD = 1,
	KIND_MD5 = 19,
	KIND_AO = 29,
	KIND_EXPERIMENT = 254,
};

/* Kind, length, and "SMCR" in EBCDIC. */
static const u8 smcr[] = { KIND_EXPERIMENT, 6, 0xe2, 0xd4, 0xc3, 0xd9 };

/* The length of the first option in @left bytes; 0: none, or malformed. */
static unsigned int size_of(const u8 *opt, unsigned int left)
{
	if (!left || opt[0] == KIND_END)
		return 0;
	if (opt[0] == KIND_PAD)
		return 1;
	if (left < 2 || opt[1] < 2 || opt[1] > left)
		return 0;
	return opt[1];
}

/* Others may put something behind the name. */
static bool is_smcr(const u8 *opt, unsigned int size)
{
	return size >= sizeof(smcr) && opt[0] == smcr[0] &&
	       !memcmp(opt + 2, smcr + 2, sizeof(smcr) - 2);
}

/**
 * smc_tcpopt_find() - does a segment offer SMC?
 * @opts: its options
 * @len: their length
 *
 * Context: any.
 */
bool smc_tcpopt_find(const u8 *opts, unsigned int len)
{
	unsigned int pos, size;

	for (pos = 0; (size = size_of(opts + pos, len - pos)); pos += size)
		if (is_smcr(opts + pos, size))
			return true;
	return false;
}

/**
 * smc_tcpopt_add() - add the offer to the options of a segment
 * @opts: options; there is room for SMC_TCPOPT_MAX bytes
 * @len: their length, a multiple of four
 *
 * The offer comes last, as in the kernel's TCP.  A segment that is signed
 * cannot be changed, because the signature covers the length of the options.
 *
 * Context: any.
 * Return: the new length, a multiple of four; 0: there is no room, the segment
 * is signed, or its options are malformed: @opts is as before.
 */
unsigned int smc_tcpopt_add(u8 opts[SMC_TCPOPT_MAX], unsigned int len)
{
	unsigned int pos, size, total;

	for (pos = 0; (size = size_of(opts + pos, len - pos)); pos += size)
		if (opts[pos] == KIND_MD5 || opts[pos] == KIND_AO)
			return 0;
	/* what follows the end has no meaning and may go */
	if (pos < len && opts[pos] != KIND_END)
		return 0;
	total = (pos + sizeof(smcr) + 3) & ~3U;
	if (total < len)
		total = len;
	if (total > SMC_TCPOPT_MAX)
		return 0;
	memset(opts + pos, KIND_PAD, total - sizeof(smcr) - pos);
	memcpy(opts + total - sizeof(smcr), smcr, sizeof(smcr));
	return total;
}
