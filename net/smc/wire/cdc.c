// SPDX-License-Identifier: GPL-2.0
/*
 * CDC messages: bytes to host struct and back. PURE.
 *
 * A message of 44 bytes, big-endian. Cursors are not judged here: only the ring
 * knows where they may be.
 *
 * Context: any, no locks, no allocation. Test: selftests/unit/unit_cdc.c
 */
#include <linux/types.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include "cdc.h"

/**
 * smc_cdc_decode() - bytes of a CDC message to a host struct
 * @p: first byte received
 * @len: bytes received
 * @cdc: the message; valid only if 0 is returned
 *
 * RFC 7609 appendix A.4. 26 bytes suffice, the rest is reserved.
 *
 * Context: any.
 * Return: 0, or -EBADMSG if this is no CDC message: drop it.
 */
int smc_cdc_decode(const u8 *p, size_t len, struct smc_cdc *cdc)
{
	if (len < SMC_CDC_MIN_LEN || p[0] != SMC_CDC_TYPE ||
	    p[1] != SMC_CDC_LEN)
		return -EBADMSG;
	cdc->seq = get_unaligned_be16(p + 2);
	cdc->token = get_unaligned_be32(p + 4);
	cdc->prod.wrap = get_unaligned_be16(p + 10);
	cdc->prod.count = get_unaligned_be32(p + 12);
	cdc->cons.wrap = get_unaligned_be16(p + 18);
	cdc->cons.count = get_unaligned_be32(p + 20);
	cdc->prod_flags = p[24];
	cdc->conn_flags = p[25];
	return 0;
}

/**
 * smc_cdc_encode() - bytes of a CDC message
 * @p: SMC_CDC_LEN bytes to fill
 * @cdc: the message
 *
 * Context: any.
 */
void smc_cdc_encode(u8 p[SMC_CDC_LEN], const struct smc_cdc *cdc)
{
	memset(p, 0, SMC_CDC_LEN);
	p[0] = SMC_CDC_TYPE;
	p[1] = SMC_CDC_LEN;
	put_unaligned_be16(cdc->seq, p + 2);
	put_unaligned_be32(cdc->token, p + 4);
	put_unaligned_be16(cdc->prod.wrap, p + 10);
	put_unaligned_be32(cdc->prod.count, p + 12);
	put_unaligned_be16(cdc->cons.wrap, p + 18);
	put_unaligned_be32(cdc->cons.count, p + 20);
	p[24] = cdc->prod_flags;
	p[25] = cdc->conn_flags;
}
