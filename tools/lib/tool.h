/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Command lines of the form "PROGRAM [OPTION]... OBJECT [COMMAND]".
 */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "format.h"

#ifndef TOOLS_VERSION
#define TOOLS_VERSION	"unversioned"
#endif

/* Exit status, the same as those of ip(8). */
enum {
	TOOL_OK		= 0,
	TOOL_USAGE	= 1,	/* the command line makes no sense */
	TOOL_FAILED	= 2,	/* the kernel refused */
};

/**
 * struct tool_options - what stands before the object
 * @json: print JSON
 * @pretty: on several lines
 * @absolute: counters since the module was loaded
 * @details: how often details were asked for
 */
struct tool_options {
	bool json;
	bool pretty;
	bool absolute;
	int details;
};

extern struct tool_options tool_opt;

/**
 * struct tool_command - a command of an object
 * @name: name; the first one of an object is the default
 * @run: arguments after the command, returns the exit status
 */
struct tool_command {
	const char *name;
	int (*run)(int argc, char **argv);
};

/**
 * struct tool_object - an object
 * @name: name
 * @filters: arguments may follow without a command; the default takes them
 * @usage: help text
 * @commands: ended by one without name
 */
struct tool_object {
	const char *name;
	bool filters;
	const char *usage;
	const struct tool_command *commands;
};

/**
 * struct tool - a program
 * @name: name
 * @usage: help text
 * @objects: ended by one without name
 */
struct tool {
	const char *name;
	const char *usage;
	const struct tool_object *objects;
};

int tool_main(const struct tool *tool, int argc, char **argv);
int tool_flush(int status);
_Noreturn void tool_print_and_exit(const char *text);
void tool_name(const char *name);
void tool_say_to(char *buf, size_t size);
void tool_say(const char *format, ...) __printf(1, 2);
_Noreturn void tool_usage_error(const char *what);
int tool_no_args(int argc, char **argv);
bool tool_matches(const char *text, const char *word);

#endif /* TOOLS_TOOL_H */
