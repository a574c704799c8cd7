// SPDX-License-Identifier: GPL-2.0
/*
 * smcss - list the SMC sockets of this network namespace.
 *
 * lib/nl.c fetches them, lib/diag.c reads the messages, lib/ss_filter.c
 * chooses, lib/ss.c and lib/ss_info.c print.  Works with the kernel's own
 * smc_diag module too.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/json.h"
#include "lib/module.h"
#include "lib/paint.h"
#include "lib/ss.h"
#include "lib/tool.h"

static const char usage_text[] =
"Usage: smcss [OPTION]...\n"
"List the SMC sockets of this network namespace.\n"
"\n"
"Without options: sockets that are or were connected.\n"
"  -a, --all        also sockets that listen or are not connected\n"
"  -l, --listening  only sockets that listen\n"
"  -d, --debug      more columns: buffers, cursors and flags of the connection\n"
"  -R, --smcr       only SMC-R, with the RDMA link of each connection\n"
"  -D, --smcd       only SMC-D, with the shared memory of each connection\n"
"  -i, --info       all that is known, in lines below each socket\n"
"  -j, --json       print JSON: all that is known\n"
"  -p, --pretty     JSON on several lines\n"
"  -W, --wide       do not cut long addresses\n"
"  -c, --color[=WHEN]  colours: always, never, or auto (on a terminal)\n"
"  -v, --version    print the version\n"
"  -h, --help       print this text\n"
"\n"
"Only sockets\n"
"  -L, --local ADDRESS[/BITS][:PORT]  with such a local address, or :PORT\n"
"  -P, --peer ADDRESS[/BITS][:PORT]   with such a peer, or :PORT\n"
"  -t, --port PORT    with this port at either end\n"
"  -s, --state LIST   in these states, with commas between\n"
"  -m, --mode LIST    connected by smcr, smcd or tcp, with commas between\n"
"An IPv6 address with a port stands in brackets: [fd00::/8]:80.\n"
"-l goes with none of -a -d -R -D -s -m, -R not with -D, -m with neither.\n"
"\n"
"Columns: state, user id, inode (the same as in ls -l /proc/PID/fd), local and\n"
"peer address, interface the socket is bound to (hexadecimal, 0000 for none),\n"
"mode. The mode is\n"
"  SMCR  the data goes by RDMA\n"
"  SMCD  the data goes through memory that both programs share\n"
"  TCP   the connection fell back to TCP; then follow the reason as a code,\n"
"        after a slash the peer's reason if it sent one, and both in words\n"
"\n"
"Exit status: 0, or 1 if something went wrong.\n";

static const struct option long_options[] = {
	{ "all",	no_argument, NULL, 'a' },
	{ "color",	optional_argument, NULL, 'c' },
	{ "debug",	no_argument, NULL, 'd' },
	{ "smcd",	no_argument, NULL, 'D' },
	{ "help",	no_argument, NULL, 'h' },
	{ "info",	no_argument, NULL, 'i' },
	{ "json",	no_argument, NULL, 'j' },
	{ "listening",	no_argument, NULL, 'l' },
	{ "local",	required_argument, NULL, 'L' },
	{ "mode",	required_argument, NULL, 'm' },
	{ "pretty",	no_argument, NULL, 'p' },
	{ "peer",	required_argument, NULL, 'P' },
	{ "smcr",	no_argument, NULL, 'R' },
	{ "state",	required_argument, NULL, 's' },
	{ "port",	required_argument, NULL, 't' },
	{ "version",	no_argument, NULL, 'v' },
	{ "wide",	no_argument, NULL, 'W' },
	{ NULL, 0, NULL, 0 }
};

/* What the argument of an option should have been. */
static void must(bool good, const char *what)
{
	if (good)
		return;
	tool_say("'%s' is no %s", optarg, what);
	tool_usage_error(NULL);
}

static void take_filter(struct ss_filter *f, int c)
{
	switch (c) {
	case 'L':
		must(ss_filter_end(&f->local, optarg), "address");
		break;
	case 'P':
		must(ss_filter_end(&f->peer, optarg), "address");
		break;
	case 't':
		must(ss_filter_port(f, optarg), "port");
		break;
	case 's':
		must(ss_filter_states(f, optarg), "state (as in column 1)");
		break;
	case 'm':
		must(ss_filter_modes(f, optarg), "mode (smcr, smcd, tcp)");
		break;
	default:
		tool_usage_error(NULL);
	}
}

static void take_option(struct ss_options *opt, int c)
{
	switch (c) {
	case 'a':
		opt->all = true;
		break;
	case 'c':
		if (!paint_option(optarg))
			tool_usage_error("-c: always, auto or never");
		break;
	case 'd':
		opt->details = true;
		break;
	case 'D':
		opt->smcd = true;
		break;
	case 'h':
		tool_print_and_exit(usage_text);
	case 'i':
		opt->info = true;
		break;
	case 'j':
		opt->json = true;
		break;
	case 'l':
		opt->listening = true;
		break;
	case 'p':
		tool_opt.pretty = true;
		break;
	case 'R':
		opt->smcr = true;
		break;
	case 'v':
		tool_print_and_exit("smcss " TOOLS_VERSION "\n");
	case 'W':
		opt->wide = true;
		break;
	default:
		take_filter(&opt->filter, c);
	}
}

static void parse_options(int argc, char **argv, struct ss_options *opt)
{
	int c;

	while ((c = getopt_long(argc, argv, "ac::dDhijlL:m:pP:Rs:t:vW",
				long_options, NULL)) != -1)
		take_option(opt, c);
	if (optind < argc)
		tool_usage_error("there is an argument too many");
	if (opt->smcr && opt->smcd)
		tool_usage_error("-R and -D exclude each other");
	if (opt->filter.modes && (opt->smcr || opt->smcd))
		tool_usage_error("-m goes with neither -R nor -D");
	if (opt->listening &&
	    (opt->all || opt->details || opt->smcr || opt->smcd ||
	     opt->filter.states || opt->filter.modes))
		tool_usage_error("-l goes with none of -a -d -R -D -s -m");
}

/* The beginning waits for the first socket: an error stands alone. */
static void begin(struct ss_options *opt)
{
	static bool done;

	if (done)
		return;
	done = true;
	if (opt->json) {
		json_begin(tool_opt.pretty);
		json_array(NULL);
	} else {
		ss_print_header(stdout, opt);
	}
}

static int print_one(const struct diag_row *row, void *arg)
{
	struct ss_options *opt = arg;

	begin(opt);
	if (!ss_wanted(opt, row))
		return 0;
	if (opt->json)
		ss_print_json(row);
	else
		ss_print_row(stdout, opt, row);
	return 0;
}

int main(int argc, char **argv)
{
	struct ss_options opt = { 0 };
	static char buf[1 << 16];
	int rc;

	tool_name("smcss");
	parse_options(argc, argv, &opt);
	paint_start();
	setvbuf(stdout, buf, _IOFBF, sizeof(buf));
	rc = diag_dump(ss_ext(&opt), print_one, &opt);
	if (!rc) {
		begin(&opt);
		if (opt.json)
			json_end();
		/* where a person looks, or wants to know all */
		if (opt.details || opt.info || isatty(STDERR_FILENO))
			module_note();
	}
	return tool_flush(diag_complain(rc)) ? EXIT_FAILURE : EXIT_SUCCESS;
}
