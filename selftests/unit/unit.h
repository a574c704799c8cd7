/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every unit test needs: cmocka with its prerequisites, golden vectors,
 * buffers of exact size (so that ASAN sees one byte too many), and a random
 * source that gives the same numbers on every run.
 */
#ifndef UNIT_H
#define UNIT_H

#include <linux/types.h>
#include <linux/string.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define GOLDEN_MAX	1024

/**
 * struct golden - one vector of golden/FILE
 * @name: where it comes from
 * @len: bytes
 * @bytes: the message
 */
struct golden {
	char name[64];
	size_t len;
	u8 bytes[GOLDEN_MAX];
};

size_t golden_load(const char *file, struct golden **out);
const struct golden *golden_find(const struct golden *g, size_t n,
				 const char *name);
u8 *exact(const u8 *p, size_t len);
u64 rnd(void);
void rnd_seed(u64 seed);
void rnd_fill(void *p, size_t len);

#endif /* UNIT_H */
