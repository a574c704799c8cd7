// SPDX-License-Identifier: GPL-2.0
/*
 * smctop - what SMC connections and links move, live.
 *
 * lib/top_sample.c looks, lib/top_rate.c compares two looks, and the others
 * show it: lib/top_print.c as lines, lib/top_screen.c on a terminal and
 * lib/top_json.c.  Works with the kernel's own smc module too, which lacks
 * some of the counters.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/replay.h"
#include "lib/tool.h"
#include "lib/top.h"

#define LEAST_MS	100
#define MOST_S		3600

static const char usage_text[] =
"Usage: smctop [OPTION]...\n"
"Show what the SMC connections and links of this network namespace move.\n"
"\n"
"  -g, --groups       links, not connections\n"
"  -a, --all          also connections that fell back to TCP\n"
"  -d, --delay SECONDS  between two looks (1)\n"
"  -s, --sort KEY     by rate, sent, received, unsent or address\n"
"  -r, --reverse      the least first\n"
"  -b, --batch        print lines, without a terminal\n"
"  -n, --iterations N   end after so many, with -b\n"
"  -j, --json         print JSON, an object each time; means -b\n"
"  -p, --pretty       JSON on several lines\n"
"  -c, --color[=WHEN]  colours: always, never, or auto (on a terminal)\n"
"  -v, -V, --version\n"
"  -h, --help\n"
"\n"
"Keys: q quit, space pause, g links or connections, a connections by TCP,\n"
"s next order, r reverse, + and - delay, arrows and pages.\n"
"Exit status: 0, or 1 if something went wrong.\n";

static const struct option long_options[] = {
	{ "all",	no_argument, NULL, 'a' },
	{ "batch",	no_argument, NULL, 'b' },
	{ "color",	optional_argument, NULL, 'c' },
	{ "delay",	required_argument, NULL, 'd' },
	{ "groups",	no_argument, NULL, 'g' },
	{ "help",	no_argument, NULL, 'h' },
	{ "iterations",	required_argument, NULL, 'n' },
	{ "json",	no_argument, NULL, 'j' },
	{ "pretty",	no_argument, NULL, 'p' },
	{ "reverse",	no_argument, NULL, 'r' },
	{ "sort",	required_argument, NULL, 's' },
	{ "version",	no_argument, NULL, 'v' },
	{ NULL, 0, NULL, 0 }
};

/**
 * struct how - how to show it
 * @top: what to show
 * @batch: without a terminal
 * @times: how often, 0 for ever
 */
struct how {
	struct top_options top;
	bool batch;
	unsigned long times;
};

static unsigned int take_delay(const char *text)
{
	char *end;
	double s = strtod(text, &end);

	/* so written that NaN is refused too */
	if (end == text || *end || !(s >= LEAST_MS / 1000.0 && s <= MOST_S))
		tool_usage_error("-d: seconds, from 0.1 to 3600");
	return s * 1000 + 0.5;
}

static unsigned long take_times(const char *text)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || !n)
		tool_usage_error("-n: a number, from 1");
	return n;
}

static enum top_sort take_sort(const char *text)
{
	int i;

	for (i = 0; i < TOP_SORTS; i++)
		if (tool_matches(text, top_sort_name(i)))
			return i;
	tool_usage_error("-s: rate, sent, received, unsent or address");
}

static void take_option(struct how *how, int c)
{
	switch (c) {
	case 'a':
		how->top.all = true;
		break;
	case 'b':
		how->batch = true;
		break;
	case 'c':
		if (!paint_option(optarg))
			tool_usage_error("-c: always, auto or never");
		break;
	case 'd':
		how->top.delay_ms = take_delay(optarg);
		break;
	case 'g':
		how->top.groups = true;
		break;
	case 'j':
		how->batch = true;
		tool_opt.json = true;
		break;
	case 'n':
		how->times = take_times(optarg);
		break;
	case 'p':
		tool_opt.pretty = true;
		break;
	case 'r':
		how->top.reverse = true;
		break;
	case 's':
		how->top.sort = take_sort(optarg);
		break;
	case 'v':
	case 'V':
		tool_print_and_exit("smctop " TOOLS_VERSION "\n");
	case 'h':
		tool_print_and_exit(usage_text);
	default:
		tool_usage_error(NULL);
	}
}

static void print_line(enum paint how, const char *text, void *arg)
{
	printf("%s%s%s\n", paint(how), text,
	       how == PAINT_PLAIN ? "" : paint(PAINT_NONE));
}

static void pass_time(unsigned int ms)
{
	struct timespec left = {
		.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L,
	};

	replay_step();
	if (replay_active())
		return;
	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static int print_once(const struct how *how, const struct top_sample *now,
		      const struct top_sample *before, bool first)
{
	int rc;

	if (tool_opt.json) {
		rc = top_print_json(&how->top, now, before);
	} else {
		if (!first)
			putchar('\n');
		top_print_totals(now, before, print_line, NULL);
		rc = top_print_table(&how->top, now, 0, print_line, NULL);
	}
	if (!rc)
		return tool_flush(TOOL_OK);
	tool_say("%s", strerror(-rc));
	return TOOL_FAILED;
}

/* The first look shows nothing: there is no time between it and another. */
static int run_batch(const struct how *how)
{
	struct top_sample now = { 0 }, before = { 0 }, older;
	unsigned long i;
	int rc;

	rc = top_sample(&now, how->top.delay_ms);
	for (i = 0; !rc && (!how->times || i < how->times); i++) {
		pass_time(how->top.delay_ms);
		older = before;
		before = now;
		now = older;
		rc = top_sample(&now, how->top.delay_ms);
		if (rc)
			break;
		top_rates(&now, &before);
		rc = print_once(how, &now, &before, !i);
	}
	top_free(&now);
	top_free(&before);
	return rc;
}

int main(int argc, char **argv)
{
	struct how how = { .top.delay_ms = 1000 };
	int c, rc;

	tool_name("smctop");
	while ((c = getopt_long(argc, argv, "abc::d:ghn:jprs:vV", long_options,
				NULL)) != -1)
		take_option(&how, c);
	if (optind < argc)
		tool_usage_error("there is an argument too many");
	if (how.times && !how.batch)
		tool_usage_error("-n goes with -b or -j");
	paint_start();
	rc = how.batch ? run_batch(&how) : top_screen(&how.top);
	return tool_flush(rc) ? EXIT_FAILURE : EXIT_SUCCESS;
}
