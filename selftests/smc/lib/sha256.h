/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SHA-256 (FIPS 180-4), small and incremental, for the stream checker.
 * sha256_selftest() compares it with the standard's own example at start.
 */
#ifndef SMC_SELFTEST_SHA256_H
#define SMC_SELFTEST_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sha256 {
	uint32_t state[8];
	uint64_t len;
	uint8_t block[64];
};

void sha256_init(struct sha256 *c);
void sha256_add(struct sha256 *c, const void *data, size_t len);
void sha256_end(struct sha256 *c, uint8_t out[32]);
bool sha256_selftest(void);

#endif /* SMC_SELFTEST_SHA256_H */
