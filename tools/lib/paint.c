// SPDX-License-Identifier: GPL-2.0
/*
 * Colours of what is printed: -c, --color[=always|auto|never].
 *
 * As with ip(8), the option alone means always.  Without it colours appear on
 * a terminal only, unless the user has set NO_COLOR (see no-color.org), which
 * an option on the command line overrides.
 *
 * Tests: tools/tests/tools.sh, tools/tests/screen.py.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "paint.h"

static enum {
	WHEN_AUTO,
	WHEN_ALWAYS,
	WHEN_NEVER,
} when_to;

static bool on;

/**
 * paint_option() - take what the user said
 * @when: argument of the option, also with the "=" of "-c=never"; NULL for none
 *
 * Return: is it one of the words?
 */
bool paint_option(const char *when)
{
	if (when && *when == '=')
		when++;
	if (!when || !strcmp(when, "always"))
		when_to = WHEN_ALWAYS;
	else if (!strcmp(when, "auto"))
		when_to = WHEN_AUTO;
	else if (!strcmp(when, "never"))
		when_to = WHEN_NEVER;
	else
		return false;
	return true;
}

/**
 * paint_wanted() - may there be colours, if the terminal has them?
 */
bool paint_wanted(void)
{
	const char *no_color = getenv("NO_COLOR");

	if (when_to != WHEN_AUTO)
		return when_to == WHEN_ALWAYS;
	return !no_color || !*no_color;
}

/**
 * paint_start() - decide, after the options and before anything is printed
 */
void paint_start(void)
{
	const char *term = getenv("TERM");

	on = paint_wanted();
	if (when_to == WHEN_AUTO && on)
		on = isatty(STDOUT_FILENO) && term && strcmp(term, "dumb");
}

/**
 * paint() - what to print before a text, and PAINT_NONE after it
 * @how: its meaning
 *
 * Return: constant text, "" without colours.
 */
const char *paint(enum paint how)
{
	static const char * const codes[] = {
		[PAINT_NONE] = "\033[0m", [PAINT_PLAIN] = "",
		[PAINT_GOOD] = "\033[32m",
		[PAINT_WARN] = "\033[33m", [PAINT_BAD] = "\033[31m",
		[PAINT_HEAD] = "\033[1m",
	};

	return on ? codes[how] : "";
}
