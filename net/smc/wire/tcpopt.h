/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The SMC option of TCP (RFC 7609 section 3.1, RFC 6994) in the option block
 * of a TCP header: bytes 20 .. doff * 4 - 1. PURE: also built in userspace.
 */
#ifndef SMC_WIRE_TCPOPT_H
#define SMC_WIRE_TCPOPT_H

#include <linux/types.h>

#define SMC_TCPOPT_KIND		254	/* RFC 6994 experimental */
#define SMC_TCPOPT_LEN		6	/* kind, length, "SMCR" */
#define SMC_TCPOPT_SPACE	8	/* with two NOPs in front */
#define SMC_TCPOPT_BLOCK_MAX	40	/* all options of one header */
#define SMC_TCPOPT_TAIL_MAX	8	/* bytes after "SMCR", even number */

int smc_tcpopt_find(const u8 *opts, size_t len);
ssize_t smc_tcpopt_append(u8 *opts, size_t len, size_t room,
			  const u8 *tail, size_t tail_len);
int smc_tcpopt_strip(u8 *opts, size_t len);
bool smc_tcpopt_echoed(const u8 *opts, size_t len,
		       const u8 *tail, size_t tail_len);

#endif /* SMC_WIRE_TCPOPT_H */
