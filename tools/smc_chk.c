// SPDX-License-Identifier: GPL-2.0
/*
 * smc_chk - try SMC with a host and say what works.
 *
 * The real thing is tried: a connection of an SMC socket to a port where
 * something listens (smc_chk -S if nothing else does).  What became of it is
 * asked of sock_diag, by the inode of the socket.  Before that come the things
 * that can be seen on this host alone.  lib/chk.c has the steps, this file the
 * command line.
 *
 * Tests: tools/tests/tools.sh, chk.sh.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/chk.h"
#include "lib/paint.h"
#include "lib/tool.h"

static const char usage_text[] =
"Usage: smc_chk [OPTION]... HOST[:PORT]    try SMC with HOST\n"
"       smc_chk [OPTION]... -C HOST[:PORT]    the same\n"
"       smc_chk [OPTION]... -S [-p PORT]   be the host that is tried\n"
"       smc_chk -s                         look at this host only\n"
"Connect to HOST with SMC and say step by step what works, what does not, on\n"
"which side, and what to do. Without PORT, start \"smc_chk -S\" on HOST.\n"
"\n"
"  -C, --connect HOST     the host to try\n"
"  -S, --server           wait for connections and say what became of each\n"
"  -p, --port PORT        port (37373)\n"
"  -i, --interface IFACE  use this network interface\n"
"  -6, --ipv6             IPv6\n"
"  -s, --static           no connection, only look at this host\n"
"  -l, --live             only the connection\n"
"  -d, --debug            say more\n"
"  -j, --json             print JSON\n"
"  -c, --color[=WHEN]     colours: always, never, or auto (on a terminal)\n"
"  -v, -V, --version\n"
"  -h, --help\n"
"\n"
"An IPv6 address with a port stands in brackets: [fe80::1%eth0]:80.\n"
"Exit status: 0 if SMC was used (-s: if it can be), 1 if not.\n";

static const struct option long_options[] = {
	{ "connect",	required_argument, NULL, 'C' },
	{ "server",	no_argument, NULL, 'S' },
	{ "port",	required_argument, NULL, 'p' },
	{ "interface",	required_argument, NULL, 'i' },
	{ "ipv6",	no_argument, NULL, '6' },
	{ "static",	no_argument, NULL, 's' },
	{ "live",	no_argument, NULL, 'l' },
	{ "debug",	no_argument, NULL, 'd' },
	{ "json",	no_argument, NULL, 'j' },
	{ "color",	optional_argument, NULL, 'c' },
	{ "version",	no_argument, NULL, 'v' },
	{ "help",	no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

/* HOST, HOST:PORT, [HOST]:PORT or an IPv6 address, which has many colons. */
static void split_host(struct chk_options *opt, char *text)
{
	char *colon = strrchr(text, ':');
	char *end = strchr(text, ']');

	if (*text == '[' && end) {
		*end = 0;
		text++;
		colon = end[1] == ':' ? end + 1 : NULL;
	} else if (colon && colon != strchr(text, ':')) {
		colon = NULL;
	}
	if (colon) {
		*colon = 0;
		opt->port = colon + 1;
	}
	opt->host = text;
}

static void take_option(struct chk_options *opt, int c)
{
	switch (c) {
	case 'C':
		split_host(opt, optarg);
		break;
	case 'S':
		opt->server = true;
		break;
	case 'p':
		opt->port = optarg;
		break;
	case 'i':
		opt->iface = optarg;
		break;
	case '6':
		opt->ipv6 = true;
		break;
	case 's':
		opt->only_static = true;
		break;
	case 'l':
		opt->only_live = true;
		break;
	case 'd':
		opt->debug = true;
		break;
	case 'j':
		tool_opt.json = true;
		break;
	case 'c':
		if (!paint_option(optarg))
			tool_usage_error("-c: always, auto or never");
		break;
	case 'v':
	case 'V':
		tool_print_and_exit("smc_chk " TOOLS_VERSION "\n");
	case 'h':
		tool_print_and_exit(usage_text);
	default:
		tool_usage_error(NULL);
	}
}

int main(int argc, char **argv)
{
	struct chk_options opt = { .port = "37373" };
	int c;

	tool_name("smc_chk");
	while ((c = getopt_long(argc, argv, "C:Sp:i:6sldjc::vVh", long_options,
				NULL)) != -1)
		take_option(&opt, c);
	if (optind < argc && !opt.host)
		split_host(&opt, argv[optind++]);
	if (optind < argc)
		tool_usage_error("there is an argument too many");
	if (opt.server && (opt.host || opt.only_static))
		tool_usage_error("-S goes without a host and without -s");
	if (!opt.host && !opt.server && !opt.only_static)
		tool_usage_error("a host is missing");
	if (opt.only_static && tool_opt.json)
		tool_usage_error("-j is about a connection and goes without -s");
	if (opt.only_static && opt.only_live)
		tool_usage_error("-s and -l exclude each other");
	paint_start();
	return tool_flush(chk_run(&opt)) ? EXIT_FAILURE : EXIT_SUCCESS;
}
