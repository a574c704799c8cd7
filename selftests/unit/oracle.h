/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What must hold for any bytes whatever, used by the unit tests and by the
 * fuzz targets: a message that decodes can be encoded again, and that decodes
 * to the same struct, if it is of a kind that is sent. Prints and aborts if
 * not.
 */
#ifndef UNIT_ORACLE_H
#define UNIT_ORACLE_H

#include <linux/types.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "wire/cdc.h"
#include "wire/clc.h"
#include "wire/llc.h"

#define ORACLE(cond) do {						\
	if (!(cond)) {							\
		fprintf(stderr, "%s:%d: does not hold: %s\n",		\
			__FILE__, __LINE__, #cond);			\
		abort();						\
	}								\
} while (0)

/* Return: true if the bytes are a message. */
static inline bool oracle_clc(const u8 *p, size_t len)
{
	static struct smc_clc_msg a, b;
	u8 buf[SMC_CLC_MAX_LEN];
	ssize_t n, peek;
	int rc;

	peek = smc_clc_peek(p, len);
	ORACLE(peek == -EAGAIN || peek == -ENOMSG || peek == -EPROTO ||
	       (peek >= SMC_CLC_MIN_LEN && peek <= 65535));
	rc = smc_clc_decode(p, len, &a);
	ORACLE(rc == 0 || rc == -EPROTO);
	if (rc)
		return false;
	ORACLE(peek > 0);
	n = smc_clc_encode(buf, sizeof(buf), &a);
	ORACLE(n >= SMC_CLC_MIN_LEN && (size_t)n <= sizeof(buf));
	ORACLE(smc_clc_peek(buf, n) == n);
	ORACLE(!smc_clc_decode(buf, n, &b));
	ORACLE(!memcmp(&a, &b, sizeof(a)));
	return true;
}

/* Does the struct have all that this end says in such a message? */
static inline bool oracle_llc_whole(const struct smc_llc_msg *msg)
{
	switch (msg->type) {
	case SMC_LLC_CONFIRM_LINK:
	case SMC_LLC_ADD_LINK:
	case SMC_LLC_DELETE_LINK:
	case SMC_LLC_TEST_LINK:
		return true;
	default:	/* the response to DELETE RKEY has no keys */
		return false;
	}
}

/* Return: true if the bytes are a message. */
static inline bool oracle_llc(const u8 *p, size_t len)
{
	struct smc_llc_msg a, b;
	u8 buf[SMC_LLC_LEN];
	unsigned int i;
	size_t used;
	int rc;

	/* must be safe without a decode before */
	smc_llc_deletes_rkey(p, len, 0);
	rc = smc_llc_decode(p, len, &a);
	ORACLE(rc == 0 || rc == -EBADMSG || rc == -EOPNOTSUPP);
	ORACLE(len >= SMC_LLC_LEN || rc == -EBADMSG);
	if (rc)
		return false;
	used = smc_llc_used(p, len);
	ORACLE(used >= SMC_LLC_LEN && used <= len);
	ORACLE(!smc_llc_decode(p, used, &b) && !memcmp(&a, &b, sizeof(a)));
	if (a.type == SMC_LLC_DELETE_RKEY && !a.response) {
		for (i = 0; i < a.delete_rkey.n_keys; i++)
			ORACLE(smc_llc_deletes_rkey(p, used, get_unaligned_be32(
							p + 8 + 4 * i)));
	}
	smc_llc_encode(buf, &a);
	ORACLE(!smc_llc_decode(buf, sizeof(buf), &b));
	ORACLE(a.type == b.type && a.v2 == b.v2 && a.response == b.response &&
	       a.flags == b.flags);
	ORACLE(!oracle_llc_whole(&a) || !memcmp(&a, &b, sizeof(a)));
	return true;
}

/* Return: true if the bytes are an SMC-R message. */
static inline bool oracle_cdc(const u8 *p, size_t len)
{
	struct smc_cdc a, b;
	u8 buf[SMC_CDC_LEN];
	int rc;

	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	rc = smc_cdc_decode(p, len, &a);
	ORACLE(rc == 0 || rc == -EBADMSG);
	if (rc)
		return false;
	smc_cdc_encode(buf, &a);
	ORACLE(!smc_cdc_decode(buf, SMC_CDC_LEN, &b));
	ORACLE(!memcmp(&a, &b, sizeof(a)));
	return true;
}

#endif /* UNIT_ORACLE_H */
