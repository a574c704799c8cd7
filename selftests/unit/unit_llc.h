/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the two tests of net/smc/wire/llc.c share: the golden vectors, and
 * decoding from memory that ends where the message ends.
 */
#ifndef UNIT_LLC_H
#define UNIT_LLC_H

#include "unit.h"
#include "oracle.h"

static struct golden *vectors;
static size_t n_vectors;

static inline int setup(void **state)
{
	n_vectors = golden_load("llc.txt", &vectors);
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

/* 16 bits in the byte order of this host */
static inline void put_he16(u16 val, u8 *p)
{
	memcpy(p, &val, sizeof(val));
}

static inline u16 get_he16(const u8 *p)
{
	u16 val;

	memcpy(&val, p, sizeof(val));
	return val;
}

static inline int decode(const u8 *p, size_t len, struct smc_llc_msg *msg)
{
	u8 *copy = exact(p, len);
	int rc;

	rc = smc_llc_decode(copy, len, msg);
	free(copy);
	return rc;
}

static inline const struct golden *decode_ok(const char *name,
					     struct smc_llc_msg *msg)
{
	const struct golden *v = vector(name);

	assert_int_equal(decode(v->bytes, v->len, msg), 0);
	return v;
}

static inline bool oracle(const u8 *p, size_t len)
{
	u8 *copy = exact(p, len);
	bool ok = oracle_llc(copy, len);

	free(copy);
	return ok;
}

#endif /* UNIT_LLC_H */
