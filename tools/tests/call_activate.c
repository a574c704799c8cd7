// SPDX-License-Identifier: GPL-2.0
/*
 * Compares patterns as BPF matches them (lib/activate.c) with fnmatch(): those
 * of the command line, then random ones.  Prints each difference, and how many
 * pairs fitted and did not fit, so that a comparison of nothing is seen.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/activate.h"

static unsigned int fitted, others, wrong;

static void compare(const char *pattern, const char *text)
{
	static struct activate_name p;
	char name[ACTIVATE_NAME_LEN] = "";
	int want = !fnmatch(pattern, text, 0), got;

	snprintf(name, sizeof(name), "%s", text);
	got = !activate_compile(&p, pattern) && activate_fits(&p, name);
	if (got != want) {
		printf("'%s' '%s': %d, not %d\n", pattern, text, got, want);
		wrong++;
	}
	*(want ? &fitted : &others) += 1;
}

static const char *one_of(const char *const *words, unsigned int num,
			  unsigned int max, char *text)
{
	unsigned int n = random() % (max + 1);

	*text = 0;
	while (n--)
		strcat(text, words[random() % num]);
	return text;
}

int main(int argc, char **argv)
{
	static const char *const elements[] = {
		"a", "b", "-", "*", "?", "[ab]", "[!a]", "[a-c]", "[]a]",
		"[^b-]", "\\a", "\\*", "\\[", "[[:digit:]]", "[a\\]]", "[", "7",
		"]",
	};
	static const char *const letters[] = {
		"a", "b", "c", "-", "*", "[", "]", "7", "\\",
	};
	char pattern[64], text[64];
	int i;

	for (i = 1; i + 1 < argc; i += 2)
		compare(argv[i], argv[i + 1]);
	for (i = 0; i < 20000; i++)
		compare(one_of(elements, 18, 5, pattern),
			one_of(letters, 9, 5, text));
	printf("%s\n", fitted > 1000 && others > 1000 ? "many" : "few");
	return !!wrong;
}
