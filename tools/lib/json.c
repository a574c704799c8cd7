// SPDX-License-Identifier: GPL-2.0
/*
 * Writing of JSON; json.h says how it is used.
 *
 * Text that comes from the kernel may hold any byte: everything that is not
 * printable ASCII is escaped as if it were Latin-1, so that what is printed
 * is JSON whatever comes.
 *
 * Tests: tools/tests/tools.sh, which reads all output with another parser.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "json.h"

#define MAX_DEPTH	16

static struct {
	bool pretty;
	bool comma;		/* something stands before, at this depth */
	bool waits;		/* the bracket of a list was not written yet */
	int depth;
	char close[MAX_DEPTH];
} js;

static void newline(void)
{
	if (js.pretty)
		printf("\n%*s", js.depth * 4, "");
}

static void print_text(const char *text)
{
	const unsigned char *p;

	putchar('"');
	for (p = (const unsigned char *)text; *p; p++) {
		if (*p == '"' || *p == '\\')
			printf("\\%c", *p);
		else if (*p < 0x20 || *p > 0x7e)
			printf("\\u%04x", *p);
		else
			putchar(*p);
	}
	putchar('"');
}

/* The bracket of json_list() */
static void start_list(void)
{
	if (js.waits)
		putchar('[');
	js.waits = false;
}

/* What stands before each value. */
static void lead(const char *key)
{
	start_list();
	if (js.comma)
		putchar(',');
	if (js.depth)
		newline();
	if (key) {
		print_text(key);
		fputs(js.pretty ? ": " : ":", stdout);
	}
	js.comma = true;
}

static void open_with(const char *key, char begin, char end)
{
	if (js.depth == MAX_DEPTH)
		abort();
	lead(key);
	putchar(begin);
	js.close[js.depth++] = end;
	js.comma = false;
}

/**
 * json_begin() - start a document
 * @pretty: on several lines, indented
 */
void json_begin(bool pretty)
{
	js.pretty = pretty;
	js.comma = false;
	js.waits = false;
	js.depth = 0;
}

/**
 * json_list() - start a document that is a list
 * @pretty: on several lines, indented
 *
 * Nothing is written before the first element, or json_end(): where the list
 * cannot be had there is no document, which a reader could take for an empty
 * list.  If it breaks off, it is left open: a part is not read as the whole.
 */
void json_list(bool pretty)
{
	json_begin(pretty);
	js.close[js.depth++] = ']';
	js.waits = true;
}

/**
 * json_object() - open an object
 * @key: its name, NULL in an array or on top
 */
void json_object(const char *key)
{
	open_with(key, '{', '}');
}

/**
 * json_array() - open an array
 * @key: its name, NULL in an array or on top
 */
void json_array(const char *key)
{
	open_with(key, '[', ']');
}

/**
 * json_close() - close the innermost object or array
 */
void json_close(void)
{
	bool empty = !js.comma;

	js.depth--;
	if (!empty)
		newline();
	putchar(js.close[js.depth]);
	js.comma = true;
}

/**
 * json_end() - end the document, closing what is open
 */
void json_end(void)
{
	start_list();
	while (js.depth)
		json_close();
	putchar('\n');
}

/**
 * json_str() - text
 * @key: name or NULL
 * @text: any bytes up to a NUL
 */
void json_str(const char *key, const char *text)
{
	lead(key);
	print_text(text);
}

/**
 * json_uint() - number
 * @key: name or NULL
 * @value: number
 */
void json_uint(const char *key, uint64_t value)
{
	lead(key);
	printf("%" PRIu64, value);
}

/**
 * json_bool() - true or false
 * @key: name or NULL
 * @value: which
 */
void json_bool(const char *key, bool value)
{
	lead(key);
	fputs(value ? "true" : "false", stdout);
}

/**
 * json_fmt() - text put together as by printf(), up to 255 bytes
 * @key: name or NULL
 * @format: as for printf(), then its arguments
 */
void json_fmt(const char *key, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	json_str(key, text);
}
