// SPDX-License-Identifier: GPL-2.0
/*
 * smcss - list the SMC sockets of this network namespace.
 *
 * lib/nl.c fetches them, lib/diag.c reads the messages, lib/ss.c prints.
 * Works with the kernel's own smc_diag module too.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ss.h"

#ifndef TOOLS_VERSION
#define TOOLS_VERSION	"unversioned"
#endif

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
"  -W, --wide       do not cut long addresses\n"
"  -v, --version    print the version\n"
"  -h, --help       print this text\n"
"-l goes with none of -a -d -R -D, and -R does not go with -D.\n"
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
	{ "debug",	no_argument, NULL, 'd' },
	{ "smcd",	no_argument, NULL, 'D' },
	{ "help",	no_argument, NULL, 'h' },
	{ "listening",	no_argument, NULL, 'l' },
	{ "smcr",	no_argument, NULL, 'R' },
	{ "version",	no_argument, NULL, 'v' },
	{ "wide",	no_argument, NULL, 'W' },
	{ NULL, 0, NULL, 0 }
};

static void usage_error(const char *what)
{
	if (what)
		fprintf(stderr, "smcss: %s\n", what);
	fputs("Try 'smcss --help'.\n", stderr);
	exit(EXIT_FAILURE);
}

static void parse_options(int argc, char **argv, struct ss_options *opt)
{
	int c;

	while ((c = getopt_long(argc, argv, "adDhlRvW", long_options,
				NULL)) != -1) {
		switch (c) {
		case 'a':
			opt->all = true;
			break;
		case 'd':
			opt->details = true;
			break;
		case 'D':
			opt->smcd = true;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(EXIT_SUCCESS);
		case 'l':
			opt->listening = true;
			break;
		case 'R':
			opt->smcr = true;
			break;
		case 'v':
			puts("smcss " TOOLS_VERSION);
			exit(EXIT_SUCCESS);
		case 'W':
			opt->wide = true;
			break;
		default:
			usage_error(NULL);
		}
	}
	if (optind < argc)
		usage_error("there is an argument too many");
	if (opt->smcr && opt->smcd)
		usage_error("-R and -D exclude each other");
	if (opt->listening &&
	    (opt->all || opt->details || opt->smcr || opt->smcd))
		usage_error("-l goes with none of -a -d -R -D");
}

/* The header waits for the first socket: an error stands alone. */
static void print_header(struct ss_options *opt)
{
	static bool done;

	if (!done)
		ss_print_header(stdout, opt);
	done = true;
}

static int print_one(const struct diag_row *row, void *arg)
{
	struct ss_options *opt = arg;

	print_header(opt);
	if (ss_wanted(opt, row))
		ss_print_row(stdout, opt, row);
	return 0;
}

int main(int argc, char **argv)
{
	struct ss_options opt = { 0 };
	static char buf[1 << 16];
	int rc;

	parse_options(argc, argv, &opt);
	setvbuf(stdout, buf, _IOFBF, sizeof(buf));
	rc = diag_dump(ss_ext(&opt), print_one, &opt);
	if (!rc)
		print_header(&opt);
	if (fflush(stdout) == EOF || ferror(stdout)) {
		perror("smcss: cannot write");
		return EXIT_FAILURE;
	}
	if (rc == -ENOENT)
		fputs("smcss: the kernel module smc_diag is not loaded and could not be loaded (modprobe smc_diag)\n",
		      stderr);
	else if (rc)
		fprintf(stderr, "smcss: cannot list the sockets: %s\n",
			strerror(-rc));
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
