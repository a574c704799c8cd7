// SPDX-License-Identifier: GPL-2.0
/*
 * Helpers of the unit tests, see unit.h.
 */
#include "unit.h"

static u64 rnd_state = 1;

static size_t hex(const char *text, u8 *out)
{
	size_t n = 0;
	unsigned int byte;

	while (sscanf(text + 2 * n, "%2x", &byte) == 1) {
		if (n == GOLDEN_MAX)
			fail_msg("golden vector too long: %.32s", text);
		out[n++] = byte;
		if (!text[2 * n - 1])
			fail_msg("odd number of digits");
		if (!text[2 * n])
			break;
	}
	return n;
}

/* All vectors of golden/@file in *@out, to be freed by the caller. */
size_t golden_load(const char *file, struct golden **out)
{
	char path[512], line[4 * GOLDEN_MAX], text[2 * GOLDEN_MAX + 64];
	struct golden *g = NULL;
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", GOLDEN_DIR, file);
	f = fopen(path, "r");
	if (!f)
		fail_msg("cannot open %s", path);
	while (fgets(line, sizeof(line), f)) {
		if (line[0] == '#' || line[0] == '\n')
			continue;
		g = realloc(g, (n + 1) * sizeof(*g));
		assert_non_null(g);
		if (sscanf(line, "%63s %2111s", g[n].name, text) != 2)
			fail_msg("%s: bad line: %s", path, line);
		g[n].len = hex(text, g[n].bytes);
		assert_int_equal(g[n].len * 2, strlen(text));
		n++;
	}
	fclose(f);
	assert_true(n > 0);
	*out = g;
	return n;
}

/* The vector of that name; the test fails if there is none. */
const struct golden *golden_find(const struct golden *g, size_t n,
				 const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(g[i].name, name))
			return &g[i];
	fail_msg("no golden vector %s", name);
	return NULL;
}

/* A copy in memory of its own, not one byte longer. Free it. */
u8 *exact(const u8 *p, size_t len)
{
	u8 *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	if (len)
		memcpy(copy, p, len);
	return copy;
}

/* xorshift64* */
u64 rnd(void)
{
	rnd_state ^= rnd_state >> 12;
	rnd_state ^= rnd_state << 25;
	rnd_state ^= rnd_state >> 27;
	return rnd_state * 0x2545f4914f6cdd1dULL;
}

void rnd_seed(u64 seed)
{
	rnd_state = seed ? seed : 1;
}

void rnd_fill(void *p, size_t len)
{
	u8 *q = p;

	while (len--)
		*q++ = rnd() >> 32;
}
