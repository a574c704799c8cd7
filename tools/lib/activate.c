// SPDX-License-Identifier: GPL-2.0
/*
 * Patterns for names of programs, in the form in which BPF can match them: no
 * stack and no loop but the one over the bytes of the name.
 *
 * State n means that the first n elements of the pattern have been met.  What
 * a single element means is asked of fnmatch(), so that it cannot mean another
 * thing to BPF than to the preloaded library.  Tests: tools/tests/activate.sh.
 */
#include <fnmatch.h>
#include <string.h>

#include "activate.h"

/* Bytes of the first element: "a", "\a", "?" or "[...]". */
static size_t element(const char *text)
{
	const char *c = text;

	if (*c == '\\' && c[1])
		return 2;
	if (*c != '[')
		return 1;
	c++;
	if (*c == '!' || *c == '^')
		c++;
	if (*c == ']')
		c++;
	while (*c && *c != ']') {
		if (*c == '[' && (c[1] == ':' || c[1] == '.' || c[1] == '=')) {
			const char end[] = { c[1], ']', 0 };
			const char *behind = strstr(c + 2, end);

			if (behind)
				c = behind + 1;
		} else if (*c == '\\' && c[1]) {
			c++;
		}
		c++;
	}
	/* without its end it stands for itself */
	return *c ? c + 1 - text : 1;
}

/**
 * activate_compile() - prepare a pattern
 * @p: filled in
 * @pattern: as fnmatch() has it without flags
 *
 * Return: 0; -1: too many elements.
 */
int activate_compile(struct activate_name *p, const char *pattern)
{
	char text[ACTIVATE_NAME_LEN], byte[2] = "";
	unsigned int state = 0;
	size_t len;
	int c;

	memset(p, 0, sizeof(*p));
	for (; *pattern; pattern += len) {
		if (*pattern == '*') {
			p->stay |= 1ULL << state;
			len = 1;
			continue;
		}
		len = element(pattern);
		if (len >= sizeof(text) || state == 63)
			return -1;
		memcpy(text, pattern, len);
		text[len] = 0;
		for (c = 1; c < 256; c++) {
			byte[0] = c;
			if (!fnmatch(text, byte, 0))
				p->next[c] |= 1ULL << state;
		}
		state++;
	}
	p->end = 1ULL << state;
	return 0;
}
