/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The SMC sockets of this network namespace, over sock_diag.
 */
#ifndef TOOLS_DIAG_H
#define TOOLS_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/smc_diag.h>

/* Attributes to ask for; DIAG_EXT of several may be or-ed together. */
#define DIAG_EXT(attr)		(1U << ((attr) - 1))

/**
 * struct diag_row - one socket
 * @msg: the fixed part; @msg.id is as the kernel sent it
 * @have: DIAG_EXT() bits of the attributes that came; the others are zero
 * @shutdown: SMC_DIAG_SHUTDOWN
 * @fallback: SMC_DIAG_FALLBACK
 * @conn: SMC_DIAG_CONNINFO
 * @lgr: SMC_DIAG_LGRINFO, its strings are terminated
 * @dmb: SMC_DIAG_DMBINFO; members an older kernel does not send are zero
 */
struct diag_row {
	struct smc_diag_msg msg;
	unsigned int have;
	uint8_t shutdown;
	struct smc_diag_fallback fallback;
	struct smc_diag_conninfo conn;
	struct smc_diag_lgrinfo lgr;
	struct smcd_diag_dmbinfo dmb;
};

typedef int (*diag_fn)(const struct diag_row *row, void *arg);

int diag_parse(const void *payload, size_t len, struct diag_row *row);
int diag_dump(unsigned int ext, diag_fn fn, void *arg);
int diag_complain(int rc);
const char *diag_mode_name(unsigned int mode);
bool diag_is_v4(const struct diag_row *row, const __be32 *addr);
const char *diag_addr(const struct diag_row *row, const __be32 *addr);
uint64_t diag_distance(uint32_t size, const struct smc_diag_cursor *from,
		       const struct smc_diag_cursor *to);

#endif /* TOOLS_DIAG_H */
