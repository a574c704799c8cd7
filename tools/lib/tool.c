// SPDX-License-Identifier: GPL-2.0
/*
 * Command lines of the form "PROGRAM [OPTION]... OBJECT [COMMAND]".
 *
 * The habits are those of ip(8): objects, commands and long options may be
 * abbreviated as far as their first letters tell, the first in the list wins;
 * long options have one or two dashes; messages go to standard error.
 * Options of one letter may be put together (-dd, -jp).
 *
 * Tests: tools/tests/tools.sh.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paint.h"
#include "tool.h"

struct tool_options tool_opt;

static const char *program = "smc";
static char *said;
static size_t said_size;

/**
 * tool_name() - set the name messages begin with
 * @name: constant text
 */
void tool_name(const char *name)
{
	program = name;
}

/**
 * tool_say_to() - keep messages from standard error
 * @buf: where the last one goes from now on; NULL for standard error
 * @size: of @buf
 */
void tool_say_to(char *buf, size_t size)
{
	said = buf;
	said_size = size;
}

/**
 * tool_say() - a message on standard error
 * @format: as for printf(), then its arguments
 */
void tool_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (said) {
		vsnprintf(said, said_size, format, args);
	} else {
		fprintf(stderr, "%s: ", program);
		vfprintf(stderr, format, args);
		fputc('\n', stderr);
	}
	va_end(args);
}

/**
 * tool_usage_error() - end a program of options alone: its command line is wrong
 * @what: why; NULL if getopt_long() has said so
 */
_Noreturn void tool_usage_error(const char *what)
{
	if (what)
		tool_say("%s", what);
	fprintf(stderr, "Try '%s --help'.\n", program);
	exit(EXIT_FAILURE);
}

/**
 * tool_matches() - is a text a word or the beginning of one?
 * @text: what the user wrote
 * @word: what it may mean
 */
bool tool_matches(const char *text, const char *word)
{
	return *text && !strncmp(text, word, strlen(text));
}

/**
 * tool_no_args() - refuse arguments
 * @argc: how many are left
 * @argv: which
 *
 * Return: TOOL_OK if there are none, otherwise TOOL_USAGE after a message.
 */
int tool_no_args(int argc, char **argv)
{
	if (!argc)
		return TOOL_OK;
	tool_say("'%s' is an argument too many", argv[0]);
	return TOOL_USAGE;
}

/**
 * tool_flush() - last thing a program does
 * @status: exit status so far
 *
 * Return: exit status; a failure if not everything could be written.
 */
int tool_flush(int status)
{
	if (fflush(stdout) != EOF && !ferror(stdout))
		return status;
	tool_say("cannot write: %s", strerror(errno));
	return TOOL_FAILED;
}

/**
 * tool_print_and_exit() - end a program of options alone: help or its version
 * @text: to print
 */
_Noreturn void tool_print_and_exit(const char *text)
{
	fputs(text, stdout);
	exit(tool_flush(TOOL_OK) ? EXIT_FAILURE : EXIT_SUCCESS);
}

/* One letter; 0, or what to exit with, plus 1. */
static int take_letter(const struct tool *tool, char letter)
{
	switch (letter) {
	case 'a':
		tool_opt.absolute = true;
		return 0;
	case 'c':
		paint_option(NULL);
		return 0;
	case 'd':
		tool_opt.details++;
		return 0;
	case 'j':
		tool_opt.json = true;
		return 0;
	case 'p':
		tool_opt.pretty = true;
		return 0;
	case 'h':
		fputs(tool->usage, stdout);
		return TOOL_OK + 1;
	case 'v':
	case 'V':
		printf("%s %s\n", tool->name, TOOLS_VERSION);
		return TOOL_OK + 1;
	default:
		return TOOL_USAGE + 1;
	}
}

/* -c, -color, --color, each also with =WHEN */
static bool take_color(const char *name)
{
	const char *when = strchr(name, '=');
	size_t len = when ? (size_t)(when - name) : strlen(name);

	return len && !strncmp(name, "color", len) && paint_option(when);
}

static int take_option(const struct tool *tool, const char *text)
{
	static const char * const names[] = {
		"absolute", "details", "help", "json", "pretty", "version",
		"Version",
	};
	const char *name = text + 1;
	size_t i;
	int end;

	if (name[strspn(name, "acdhjpvV")] == 0 && *name) {
		for (end = 0; *name && !end; name++)
			end = take_letter(tool, *name);
		return end;
	}
	if (*name == '-')
		name++;
	if (take_color(name))
		return 0;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (tool_matches(name, names[i]))
			return take_letter(tool, names[i][0]);
	tool_say("there is no option '%s', try '%s -help'", text, tool->name);
	return TOOL_USAGE + 1;
}

static int run_object(const struct tool *tool, const struct tool_object *obj,
		      int argc, char **argv)
{
	const struct tool_command *c;

	if (!argc)
		return obj->commands->run(0, argv);
	for (c = obj->commands; c->name; c++)
		if (tool_matches(argv[0], c->name))
			return c->run(argc - 1, argv + 1);
	if (tool_matches(argv[0], "help")) {
		fputs(obj->usage, stdout);
		return TOOL_OK;
	}
	if (obj->filters)
		return obj->commands->run(argc, argv);
	tool_say("%s has no command '%s', try '%s %s help'", obj->name,
		 argv[0], tool->name, obj->name);
	return TOOL_USAGE;
}

static int run_tool(const struct tool *tool, int argc, char **argv)
{
	const struct tool_object *obj;
	int end;

	while (argc && argv[0][0] == '-') {
		end = take_option(tool, argv[0]);
		if (end)
			return end - 1;
		argc--;
		argv++;
	}
	if (!argc) {
		fputs(tool->usage, stderr);
		return TOOL_USAGE;
	}
	paint_start();
	for (obj = tool->objects; obj->name; obj++)
		if (tool_matches(argv[0], obj->name))
			return run_object(tool, obj, argc - 1, argv + 1);
	if (tool_matches(argv[0], "help")) {
		fputs(tool->usage, stdout);
		return TOOL_OK;
	}
	tool_say("there is no object '%s', try '%s help'", argv[0],
		 tool->name);
	return TOOL_USAGE;
}

/**
 * tool_main() - what main() of a program does
 * @tool: the program
 * @argc: of main()
 * @argv: of main()
 *
 * Return: exit status.
 */
int tool_main(const struct tool *tool, int argc, char **argv)
{
	tool_name(tool->name);
	return tool_flush(run_tool(tool, argc - 1, argv + 1));
}
