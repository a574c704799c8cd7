/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the two tests of net/smc/wire/clc.c share: the golden vectors, and
 * decoding from memory that ends where the message ends.
 */
#ifndef UNIT_CLC_H
#define UNIT_CLC_H

#include "unit.h"
#include "oracle.h"

static struct golden *vectors;
static size_t n_vectors;

static inline int setup(void **state)
{
	n_vectors = golden_load("clc.txt", &vectors);
	return 0;
}

static inline int teardown(void **state)
{
	free(vectors);
	return 0;
}

static inline const struct golden *vector(const char *name)
{
	return golden_find(vectors, n_vectors, name);
}

static inline int decode(const u8 *p, size_t len, struct smc_clc_msg *msg)
{
	u8 *copy = exact(p, len);
	int rc;

	rc = smc_clc_decode(copy, len, msg);
	free(copy);
	return rc;
}

static inline void decode_ok(const char *name, struct smc_clc_msg *msg)
{
	const struct golden *v = vector(name);

	assert_int_equal(decode(v->bytes, v->len, msg), 0);
}

static inline bool oracle(const u8 *p, size_t len)
{
	u8 *copy = exact(p, len);
	bool ok = oracle_clc(copy, len);

	free(copy);
	return ok;
}

static inline void put_len(u8 *p, size_t len)
{
	p[5] = len >> 8;
	p[6] = len;
}

#endif /* UNIT_CLC_H */
