// SPDX-License-Identifier: GPL-2.0
/*
 * smc_pnet - show and change the table of physical networks (PNETIDs).
 *
 * A row says which physical network a network interface or a port of an RDMA
 * device is on.  The kernel checks what it is told; this program checks only
 * that the options make sense together.  Works with the kernel's own smc
 * module too.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/genl.h"
#include "lib/json.h"
#include "lib/tool.h"

#define FAMILY	SMCR_GENL_FAMILY_NAME

static const char usage_text[] =
"Usage: smc_pnet [-s] [PNETID]            show the table, or rows of PNETID\n"
"       smc_pnet -a PNETID [-I NETDEV] [-D IBDEV [-P PORT]]   add a row\n"
"       smc_pnet -d PNETID                delete the rows of PNETID\n"
"       smc_pnet -f                       delete all rows\n"
"The table says which physical network an interface or an RDMA port is on.\n"
"\n"
"  -a, --add\n"
"  -d, --delete\n"
"  -s, --show\n"
"  -f, --flush\n"
"  -I, --interface NETDEV   network interface, which need not exist yet\n"
"  -D, --ibdevice IBDEV     RDMA or ISM device: its name or PCI id\n"
"  -P, --ibport PORT        port of the RDMA device, 1 or 2 (1)\n"
"  -j, --json               print JSON\n"
"  -p, --pretty             JSON on several lines\n"
"  -v, -V, --version\n"
"  -h, --help\n"
"\n"
"A PNETID has up to 16 letters and digits; small letters become capitals.\n"
"Columns: PNETID, network interface, device, port; n/a and 255 for none.\n"
"Exit status: 0, or 1 if something went wrong.\n";

static const struct option long_options[] = {
	{ "add",	no_argument, NULL, 'a' },
	{ "delete",	no_argument, NULL, 'd' },
	{ "show",	no_argument, NULL, 's' },
	{ "flush",	no_argument, NULL, 'f' },
	{ "interface",	required_argument, NULL, 'I' },
	{ "ibdevice",	required_argument, NULL, 'D' },
	{ "ibport",	required_argument, NULL, 'P' },
	{ "json",	no_argument, NULL, 'j' },
	{ "pretty",	no_argument, NULL, 'p' },
	{ "version",	no_argument, NULL, 'v' },
	{ "help",	no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

/**
 * struct request - what the user asked for
 * @verb: letter of the option, 0 for none
 * @pnetid: name, or NULL
 * @netdev: network interface, or NULL
 * @ibdev: device, or NULL
 * @port: its port, or NULL
 */
struct request {
	int verb;
	const char *pnetid;
	const char *netdev;
	const char *ibdev;
	const char *port;
};

static void take_option(struct request *req, int c)
{
	switch (c) {
	case 'a':
	case 'd':
	case 'f':
	case 's':
		if (req->verb && req->verb != c)
			tool_usage_error("only one of -a -d -f -s");
		req->verb = c;
		break;
	case 'I':
		req->netdev = optarg;
		break;
	case 'D':
		req->ibdev = optarg;
		break;
	case 'P':
		req->port = optarg;
		break;
	case 'j':
		tool_opt.json = true;
		break;
	case 'p':
		tool_opt.pretty = true;
		break;
	case 'v':
	case 'V':
		tool_print_and_exit("smc_pnet " TOOLS_VERSION "\n");
	case 'h':
		tool_print_and_exit(usage_text);
	default:
		tool_usage_error(NULL);
	}
}

static void check(const struct request *req)
{
	if (req->verb != 'a' && (req->netdev || req->ibdev || req->port))
		tool_usage_error("-I, -D and -P go with -a only");
	if (req->verb == 'f' && req->pnetid)
		tool_usage_error("-f deletes all rows, a PNETID has no place there");
	if ((req->verb == 'a' || req->verb == 'd') && !req->pnetid)
		tool_usage_error("a PNETID is missing");
	if (req->verb == 'a' && !req->netdev && !req->ibdev)
		tool_usage_error("-I or -D is missing");
	if (req->port && !req->ibdev)
		tool_usage_error("-P goes with -D only");
	if (req->port && strcmp(req->port, "1") && strcmp(req->port, "2"))
		tool_usage_error("a port is 1 or 2");
}

static void parse(struct request *req, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "adfsI:D:P:jpvVh", long_options,
				NULL)) != -1)
		take_option(req, c);
	if (optind < argc)
		req->pnetid = argv[optind++];
	if (optind < argc)
		tool_usage_error("there is an argument too many");
	if (!req->verb)
		req->verb = 's';
	check(req);
}

/**
 * struct listing - a list being shown
 * @pnetid: only rows of this name, NULL for all
 */
struct listing {
	const char *pnetid;
};

static int on_row(int cmd, const struct genl_attrs *row, void *arg)
{
	const char *eth = genl_str(row, SMC_PNETID_ETHNAME);
	unsigned int port = genl_uint(row, SMC_PNETID_IBPORT);
	const char *name = genl_str(row, SMC_PNETID_NAME);
	const char *ib = genl_str(row, SMC_PNETID_IBNAME);
	const struct listing *list = arg;

	if (!*name || (list->pnetid && strcasecmp(name, list->pnetid)))
		return 0;
	if (!tool_opt.json) {
		printf("%s %s %s %u\n", name, eth, ib, port);
		return 0;
	}
	json_object(NULL);
	json_str("pnetid", name);
	if (strcmp(eth, "n/a"))
		json_str("netdev", eth);
	if (strcmp(ib, "n/a")) {
		json_str("ibdev", ib);
		json_uint("ibport", port);
	}
	json_close();
	return 0;
}

static int show(const struct request *req)
{
	struct listing list = { .pnetid = req->pnetid };
	int rc;

	if (tool_opt.json)
		json_list(tool_opt.pretty);
	rc = genl_dump(FAMILY, SMC_PNETID_GET, on_row, &list);
	if (tool_opt.json && !rc)
		json_end();
	return genl_complain(rc, "list the PNETIDs");
}

static void add_text(struct genl_arg *args, size_t *num, int type,
		     const char *text)
{
	if (!text)
		return;
	args[*num].type = type;
	args[*num].data = text;
	args[*num].len = strlen(text) + 1;
	++*num;
}

static int add(const struct request *req)
{
	unsigned char port = req->port ? atoi(req->port) : 1;
	struct genl_arg args[4];
	size_t num = 0;
	int rc;

	add_text(args, &num, SMC_PNETID_NAME, req->pnetid);
	add_text(args, &num, SMC_PNETID_ETHNAME, req->netdev);
	add_text(args, &num, SMC_PNETID_IBNAME, req->ibdev);
	if (req->ibdev) {
		args[num].type = SMC_PNETID_IBPORT;
		args[num].data = &port;
		args[num++].len = 1;
	}
	rc = genl_do(FAMILY, SMC_PNETID_ADD, args, num);
	return genl_explain(rc, "add the row", rc == -EEXIST ?
			    "the interface or device has a PNETID already" :
			    rc == -EINVAL ? "one of the names cannot be" :
			    NULL);
}

static int delete(const struct request *req)
{
	struct genl_arg arg[1];
	char name[64];
	size_t num = 0;
	size_t i;
	int rc;

	/* The kernel's own SMC does not do that for a name to be deleted. */
	for (i = 0; i + 1 < sizeof(name) && req->pnetid[i]; i++)
		name[i] = toupper((unsigned char)req->pnetid[i]);
	name[i] = 0;
	add_text(arg, &num, SMC_PNETID_NAME, name);
	rc = genl_do(FAMILY, SMC_PNETID_DEL, arg, num);
	return genl_explain(rc, "delete the PNETID", rc == -ENOENT ?
			    "there is no such PNETID" : NULL);
}

static int run(const struct request *req)
{
	switch (req->verb) {
	case 'a':
		return add(req);
	case 'd':
		return delete(req);
	case 'f':
		return genl_complain(genl_do(FAMILY, SMC_PNETID_FLUSH, NULL, 0),
				     "delete the PNETIDs");
	default:
		return show(req);
	}
}

int main(int argc, char **argv)
{
	struct request req = { 0 };

	tool_name("smc_pnet");
	parse(&req, argc, argv);
	return tool_flush(run(&req)) ? EXIT_FAILURE : EXIT_SUCCESS;
}
