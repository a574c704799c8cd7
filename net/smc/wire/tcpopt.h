/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The TCP option that offers SMC (RFC 7609 section 3.1, RFC 6994), in a block
 * of TCP options.  PURE: no kernel services.
 *
 * Context: any; no locks, no allocation.  Tests: selftests/unit/unit_tcpopt.c.
 */
#ifndef SMC_TCPOPT_H
#define SMC_TCPOPT_H

#include <linux/types.h>

/* The options of one TCP segment. */
#define SMC_TCPOPT_MAX	40

bool smc_tcpopt_find(const u8 *opts, unsigned int len);
unsigned int smc_tcpopt_add(u8 opts[SMC_TCPOPT_MAX], unsigned int len);

#endif /* SMC_TCPOPT_H */
