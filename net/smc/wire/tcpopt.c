// SPDX-License-Identifier: GPL-2.0
/*
 * The SMC option in the option block of a TCP header. PURE.
 *
 * RFC 6994 option, kind 254, identifier "SMCR" in EBCDIC. The usual form is 6
 * bytes; longer ones with an even length are accepted, so a sender can append
 * a tail of its own to learn whether the option comes back unread. The caller
 * looks only at segments with the SYN bit and keeps the data offset and the
 * checksum of the header right.
 *
 * Context: any, no locks, no allocation. Test: selftests/unit/unit_tcpopt.c
 */
#include <linux/types.h>
#include <linux/errno.h>
#include <linux/string.h>
#include "tcpopt.h"

#define OPT_EOL		0
#define OPT_NOP		1

static const u8 magic[4] = { 0xe2, 0xd4, 0xc3, 0xd9 };

/* One step through the options. Return: bytes of the option at @at, 0 at the
 * end of the list, -EBADMSG if the option does not fit.
 */
static ssize_t opt_len(const u8 *opts, size_t len, size_t at)
{
	if (at >= len || opts[at] == OPT_EOL)
		return 0;
	if (opts[at] == OPT_NOP)
		return 1;
	if (at + 1 >= len || opts[at + 1] < 2 || opts[at + 1] > len - at)
		return -EBADMSG;
	return opts[at + 1];
}

static bool is_smc(const u8 *opt, size_t len)
{
	return opt[0] == SMC_TCPOPT_KIND && len >= SMC_TCPOPT_LEN &&
	       !(len & 1) && !memcmp(opt + 2, magic, sizeof(magic));
}

/* Where the list ends, at most @len; -EBADMSG if it is malformed. */
static ssize_t list_end(const u8 *opts, size_t len)
{
	size_t at = 0;
	ssize_t n;

	while ((n = opt_len(opts, len, at)) > 0)
		at += n;
	return n < 0 ? n : (ssize_t)at;
}

/**
 * smc_tcpopt_find() - offset of the SMC option
 * @opts: option block of a TCP header
 * @len: its length, 0..40
 *
 * As TCP itself does, options before a malformed one count.
 *
 * Context: any.
 * Return: offset of the option's first byte; its length is at offset + 1.
 * -ENOENT if there is none, -EBADMSG if the list is malformed before one.
 */
int smc_tcpopt_find(const u8 *opts, size_t len)
{
	size_t at = 0;
	ssize_t n;

	while ((n = opt_len(opts, len, at)) > 0) {
		if (is_smc(opts + at, n))
			return at;
		at += n;
	}
	return n < 0 ? n : -ENOENT;
}

/**
 * smc_tcpopt_append() - add the SMC option to an option block
 * @opts: option block of a TCP header, at least @room bytes of memory
 * @len: its length now, a multiple of 4
 * @room: how long it may become, at most SMC_TCPOPT_BLOCK_MAX
 * @tail: bytes to follow the identifier, may be NULL
 * @tail_len: their number, even, at most SMC_TCPOPT_TAIL_MAX
 *
 * NOPs before the option keep the block a multiple of 4; padding at the end
 * of the old block is used.
 *
 * Context: any.
 * Return: new length of the block; -ENOSPC if there is no room, -EEXIST if the
 * option is there, -EBADMSG if the list is malformed, -EINVAL for a bad @len,
 * @room or @tail_len. The block is unchanged after an error.
 */
ssize_t smc_tcpopt_append(u8 *opts, size_t len, size_t room,
			  const u8 *tail, size_t tail_len)
{
	size_t need = SMC_TCPOPT_LEN + tail_len;
	size_t total, pad;
	ssize_t end;

	if (len & 3 || len > room || room > SMC_TCPOPT_BLOCK_MAX ||
	    tail_len & 1 || tail_len > SMC_TCPOPT_TAIL_MAX)
		return -EINVAL;
	end = list_end(opts, len);
	if (end < 0)
		return end;
	if (smc_tcpopt_find(opts, len) >= 0)
		return -EEXIST;
	total = (end + need + 3) & ~(size_t)3;
	if (total < len)
		total = len;
	if (total > room)
		return -ENOSPC;
	pad = total - need - end;
	memset(opts + end, OPT_NOP, pad);
	opts += end + pad;
	opts[0] = SMC_TCPOPT_KIND;
	opts[1] = need;
	memcpy(opts + 2, magic, sizeof(magic));
	if (tail_len)
		memcpy(opts + SMC_TCPOPT_LEN, tail, tail_len);
	return total;
}

/**
 * smc_tcpopt_strip() - overwrite every SMC option with NOPs
 * @opts: option block of a TCP header
 * @len: its length, which stays
 *
 * Context: any.
 * Return: number of options removed; those before a malformed one count.
 */
int smc_tcpopt_strip(u8 *opts, size_t len)
{
	size_t at = 0;
	int count = 0;
	ssize_t n;

	while ((n = opt_len(opts, len, at)) > 0) {
		if (is_smc(opts + at, n)) {
			memset(opts + at, OPT_NOP, n);
			count++;
		}
		at += n;
	}
	return count;
}

/**
 * smc_tcpopt_echoed() - did our own option come back?
 * @opts: option block of the SYN-ACK
 * @len: its length
 * @tail: the tail we sent
 * @tail_len: its length, not 0
 *
 * Who understands SMC answers with an option of 6 bytes, or with a tail of
 * his own.
 *
 * Context: any.
 * Return: true if the first SMC option carries exactly our tail.
 */
bool smc_tcpopt_echoed(const u8 *opts, size_t len,
		       const u8 *tail, size_t tail_len)
{
	int at = smc_tcpopt_find(opts, len);

	return at >= 0 && tail_len &&
	       opts[at + 1] == SMC_TCPOPT_LEN + tail_len &&
	       !memcmp(opts + at + SMC_TCPOPT_LEN, tail, tail_len);
}
