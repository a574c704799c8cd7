// SPDX-License-Identifier: GPL-2.0
/*
 * smc_rnics - list the adapters SMC can use.
 *
 * Everything comes from /sys: PCI functions that have an RDMA device, ISM
 * devices, and RDMA devices without a PCI function.  There is a line for each
 * network interface of a function.  What only IBM Z has (FID, PCHID, PFT,
 * PNETIDs of the hardware) is n/a elsewhere; PNETIDs set by the user are asked
 * of the kernel and marked with an asterisk.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/genl.h"
#include "lib/json.h"
#include "lib/replay.h"
#include "lib/show.h"
#include "lib/sysfs.h"
#include "lib/tool.h"

#define PCI	"/sys/bus/pci/devices/%s"
#define PARENT	"/sys/class/infiniband/%s/device"
#define SLOTS	"/sys/bus/pci/slots"

static const char usage_text[] =
"Usage: smc_rnics [-aIr] [-j [-p]] [FID]\n"
"       smc_rnics -e FID | -d FID\n"
"List the adapters SMC can use: RDMA devices and, on IBM Z, ISM devices.\n"
"\n"
"  -a, --all          also functions that are switched off (IBM Z)\n"
"  -I, --IB-dev       show RDMA device and its port in the place of the\n"
"                     physical port\n"
"  -r, --rawids       show PCI vendor and device in the place of the type,\n"
"                     and the number of the virtual function\n"
"  -e, --enable FID   switch a function or slot on\n"
"  -d, --disable FID  switch it off\n"
"  -j, --json         print JSON\n"
"  -p, --pretty       JSON on several lines\n"
"  -v, -V, --version\n"
"  -h, --help\n"
"\n"
"n/a: this computer does not have such a thing. An asterisk before the PNETID:\n"
"set with smc_pnet.\n"
"Exit status: 0, or 1 if something went wrong.\n";

static const struct option long_options[] = {
	{ "all",	no_argument, NULL, 'a' },
	{ "IB-dev",	no_argument, NULL, 'I' },
	{ "rawids",	no_argument, NULL, 'r' },
	{ "enable",	required_argument, NULL, 'e' },
	{ "disable",	required_argument, NULL, 'd' },
	{ "json",	no_argument, NULL, 'j' },
	{ "pretty",	no_argument, NULL, 'p' },
	{ "version",	no_argument, NULL, 'v' },
	{ "help",	no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static struct {
	bool all;
	bool ibdev;
	bool raw;
	const char *enable;
	const char *disable;
	const char *fid;
	bool header;
	bool found;	/* something has @fid */
} opt;

/**
 * struct row - a line
 * @fid: number of the function, as text like all others
 * @power: "1" or "0"
 * @pci: PCI address
 * @pchid: physical channel
 * @type: kind of adapter
 * @ids: vendor and device
 * @pft: type of the function
 * @vf: virtual function?
 * @vfn: its number
 * @pport: physical port
 * @ibport: port of the RDMA device
 * @ibdev: RDMA device
 * @pnetid: PNETID of the hardware or with an asterisk
 * @netdev: network interface
 */
struct row {
	char fid[SYSFS_TEXT];
	char power[SYSFS_TEXT];
	char pci[SYSFS_TEXT];
	char pchid[SYSFS_TEXT];
	char type[SYSFS_TEXT];
	char ids[SYSFS_TEXT];
	char pft[SYSFS_TEXT];
	char vf[SYSFS_TEXT];
	char vfn[SYSFS_TEXT];
	char pport[SYSFS_TEXT];
	char ibport[SYSFS_TEXT];
	char ibdev[SYSFS_TEXT];
	char pnetid[SYSFS_TEXT];
	char netdev[SYSFS_TEXT];
};

static void set(char *text, const char *value)
{
	snprintf(text, SYSFS_TEXT, "%s", value);
}

/* A number without 0x and leading zeros, or n/a. */
static void set_hex(char *text, const char *value, int width)
{
	if (*value)
		snprintf(text, SYSFS_TEXT, "%0*lx", width,
			 strtoul(value, NULL, 16));
	else
		set(text, "n/a");
}

static void print_json(const struct row *r)
{
	json_object(NULL);
	json_str("fid", r->fid);
	json_bool("power", !strcmp(r->power, "1"));
	json_str("pci_id", r->pci);
	json_str("pchid", r->pchid);
	json_str("type", r->type);
	json_str("pci_vendor_device", r->ids);
	json_str("pft", r->pft);
	json_str("vf", r->vf);
	json_str("vfn", r->vfn);
	json_str("port", r->pport);
	json_str("ibdev", r->ibdev);
	json_str("ibport", r->ibport);
	json_str("pnetid", r->pnetid);
	json_str("netdev", r->netdev);
	json_close();
}

/* "31", "0x31", "00000031" */
static bool is_fid(const char *text)
{
	if (!strncmp(text, "0x", 2))
		text += 2;
	return *text && !text[strspn(text, "0123456789abcdefABCDEF")];
}

static void print_row(const struct row *r)
{
	if (opt.fid && (!strcmp(r->fid, "n/a") ||
			strtoul(opt.fid, NULL, 16) !=
			strtoul(r->fid, NULL, 16)))
		return;
	opt.found = true;
	if (tool_opt.json) {
		print_json(r);
		return;
	}
	if (!opt.header) {
		printf("FID   Power  PCI_ID        PCHID  %-16s PFT   %s  ",
		       opt.raw ? "Vend:Dev" : "Type",
		       opt.raw ? "VFN" : "VF ");
		if (opt.ibdev)
			printf("IPrt  IB-Dev    ");
		else
			printf("PPrt  ");
		puts("PNET_ID            Net-Dev");
	}
	opt.header = true;
	printf("%-4s  %-5s  %-12s  %-5s  %-16s %-4s  %-3s  ", r->fid, r->power,
	       r->pci, r->pchid, opt.raw ? r->ids : r->type, r->pft,
	       opt.raw ? r->vfn : r->vf);
	if (opt.ibdev)
		printf("%-4s  %-8s  ", r->ibport, r->ibdev);
	else
		printf("%-4s  ", r->pport);
	printf("%-17s  %s\n", r->pnetid, r->netdev);
}

/* The PNETID of a port is 16 EBCDIC characters of the utility string. */
static void hardware_pnetid(char *text, const char *pci, unsigned int port)
{
	char raw[SYSFS_TEXT], out[SYSFS_TEXT] = "";
	char *from = raw + 16 * port, *to = out;
	size_t in = 16, left = sizeof(out) - 1;
	char path[SYSFS_TEXT];
	iconv_t conv;
	FILE *f;

	memset(raw, 0, sizeof(raw));
	snprintf(path, sizeof(path), PCI "/util_string", pci);
	f = port < 4 ? sysfs_open(path) : NULL;
	if (!f)
		return;
	if (!fread(raw, 1, 64, f))
		in = 0;
	fclose(f);
	conv = iconv_open("ASCII", "IBM037");
	if (conv == (iconv_t)-1)
		return;
	if (in && *from)
		iconv(conv, &from, &in, &to, &left);
	iconv_close(conv);
	for (to = out; isalnum((unsigned char)*to); to++)
		;
	*to = 0;
	if (*out)
		set(text, out);
}

static int on_pnet(int cmd, const struct genl_attrs *a, void *arg)
{
	struct row *r = arg;
	const char *eth = genl_str(a, SMC_PNETID_ETHNAME);
	const char *ib = genl_str(a, SMC_PNETID_IBNAME);
	bool fits = *r->netdev && !strcmp(eth, r->netdev);

	if (!strcmp(ib, r->ibdev) || !strcmp(ib, r->pci))
		fits |= genl_uint(a, SMC_PNETID_IBPORT) ==
			strtoul(r->ibport, NULL, 10);
	if (fits)
		snprintf(r->pnetid, SYSFS_TEXT, "*%.20s",
			 genl_str(a, SMC_PNETID_NAME));
	return 0;
}

/* Without the module there are none, which is no error. */
static void find_pnetid(struct row *r, unsigned int port)
{
	set(r->pnetid, "n/a");
	hardware_pnetid(r->pnetid, r->pci, port);
	if (!strcmp(r->pnetid, "n/a"))
		genl_dump(SMCR_GENL_FAMILY_NAME, SMC_PNETID_GET, on_pnet, r);
}

static void first_name(const char *name, void *arg)
{
	char *text = arg;

	if (!*text)
		set(text, name);
}

static void pci_type(struct row *r, const char *pci)
{
	char vendor[SYSFS_TEXT], device[SYSFS_TEXT];
	const char *name;

	sysfs_read(vendor, PCI "/vendor", pci);
	sysfs_read(device, PCI "/device", pci);
	snprintf(r->ids, SYSFS_TEXT, "%04lx:%04lx",
		 strtoul(vendor, NULL, 16), strtoul(device, NULL, 16));
	name = dev_type_name(strtoul(device, NULL, 16));
	if (name)
		set(r->type, name);
	else if (!sysfs_link(r->type, PCI "/driver", pci))
		set(r->type, "n/a");
}

static void fill_pci(struct row *r, const char *pci)
{
	char text[SYSFS_TEXT];

	set(r->pci, pci);
	set(r->power, "1");
	sysfs_read(text, PCI "/function_id", pci);
	set_hex(r->fid, text, 1);
	sysfs_read(text, PCI "/pchid", pci);
	set_hex(r->pchid, text, 4);
	sysfs_read(text, PCI "/pft", pci);
	set_hex(r->pft, text, 1);
	set(r->vf, sysfs_link(text, PCI "/physfn", pci) ? "Yes" : "No");
	sysfs_read(text, PCI "/vfn", pci);
	set_hex(r->vfn, text, 1);
	pci_type(r, pci);
	set(r->ibdev, "");
	sysfs_each(first_name, r->ibdev, PCI "/infiniband", pci);
}

static void print_port(const char *netdev, void *arg)
{
	struct row *r = arg;
	char text[SYSFS_TEXT];
	unsigned int port;

	set(r->netdev, netdev);
	sysfs_read(text, "/sys/class/net/%s/dev_port", netdev);
	port = strtoul(text, NULL, 10);
	snprintf(r->pport, SYSFS_TEXT, "%u", port);
	snprintf(r->ibport, SYSFS_TEXT, "%u", port + 1);
	find_pnetid(r, port);
	print_row(r);
}

static void print_pci(const char *pci, void *arg)
{
	struct row r = { 0 };
	bool ism;

	fill_pci(&r, pci);
	ism = !strcmp(r.ids, "1014:04ed");
	if (!*r.ibdev && !ism)
		return;
	if (sysfs_each(print_port, &r, PCI "/net", pci))
		return;
	set(r.pport, "n/a");
	set(r.ibport, ism ? "n/a" : "1");
	if (ism)
		set(r.ibdev, "n/a");
	find_pnetid(&r, 0);
	print_row(&r);
}

/*
 * An RDMA device that is on no PCI function: one in software has no parent, and
 * that of a subfunction (mlx5) is on another bus.
 */
static void print_other(const char *ibdev, void *arg)
{
	char text[SYSFS_TEXT];
	struct row r = { 0 };

	sysfs_link(text, PARENT "/subsystem", ibdev);
	if (!strcmp(text, "pci"))
		return;
	set(r.ibdev, ibdev);
	set(r.fid, "n/a");
	set(r.power, "1");
	set(r.pci, "n/a");
	set(r.pchid, "n/a");
	if (!sysfs_link(r.type, PARENT "/driver", ibdev))
		set(r.type, "virt");
	set(r.ids, "n/a");
	set(r.pft, "n/a");
	set(r.vf, "n/a");
	set(r.vfn, "n/a");
	set(r.pport, "n/a");
	set(r.ibport, "1");
	if (!sysfs_read(r.netdev,
			"/sys/class/infiniband/%s/ports/1/gid_attrs/ndevs/0",
			ibdev))
		sysfs_read(r.netdev, "/sys/class/infiniband/%s/parent", ibdev);
	find_pnetid(&r, 0);
	print_row(&r);
}

/* Slots of IBM Z are named after the function: eight hexadecimal digits. */
static void print_slot(const char *slot, void *arg)
{
	char power[SYSFS_TEXT];
	struct row r;
	char *field;

	if (strlen(slot) != 8 ||
	    slot[strspn(slot, "0123456789abcdefABCDEF")] ||
	    !sysfs_read(power, SLOTS "/%s/power", slot) || strcmp(power, "0"))
		return;
	for (field = (char *)&r; field < (char *)(&r + 1); field += SYSFS_TEXT)
		set(field, "n/a");
	set_hex(r.fid, slot, 1);
	set(r.power, "0");
	set(r.netdev, "");
	print_row(&r);
}

static int list_all(void)
{
	if (tool_opt.json) {
		json_begin(tool_opt.pretty);
		json_array(NULL);
	}
	sysfs_each(print_pci, NULL, "/sys/bus/pci/devices");
	sysfs_each(print_other, NULL, "/sys/class/infiniband");
	if (opt.all)
		sysfs_each(print_slot, NULL, SLOTS);
	if (tool_opt.json)
		json_end();
	if (!opt.fid || opt.found)
		return EXIT_SUCCESS;
	tool_say("no adapter %shas the FID %s%s", opt.all ? "" :
		 "that is switched on ", opt.fid, opt.all ? "" : " (-a: all)");
	return EXIT_FAILURE;
}

static int switch_power(const char *fid, const char *value)
{
	const char *root = replay_pick("SMC_TOOLS_ROOT");
	char path[4096];
	FILE *f;
	int bad;

	if (strchr(fid, '/') || fid[0] == '.') {
		tool_say("'%s' is not a function", fid);
		return EXIT_FAILURE;
	}
	snprintf(path, sizeof(path), "%s" SLOTS "/%s/power", root ? root : "",
		 fid);
	/* IBM Z: any way to write the number */
	if (!fid[strspn(fid, "0123456789abcdefABCDEFx")]) {
		char text[SYSFS_TEXT];

		if (!sysfs_read(text, SLOTS "/%s/power", fid))
			snprintf(path, sizeof(path),
				 "%s" SLOTS "/%08lx/power", root ? root : "",
				 strtoul(fid, NULL, 16));
	}
	f = fopen(path, "r+e");
	bad = !f || fputs(value, f) == EOF;
	if (f && fclose(f))
		bad = 1;
	if (bad)
		tool_say("cannot switch %s: %s", fid, strerror(errno));
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void take_option(int c)
{
	switch (c) {
	case 'a':
		opt.all = true;
		break;
	case 'I':
		opt.ibdev = true;
		break;
	case 'r':
		opt.raw = true;
		break;
	case 'e':
		opt.enable = optarg;
		break;
	case 'd':
		opt.disable = optarg;
		break;
	case 'j':
		tool_opt.json = true;
		break;
	case 'p':
		tool_opt.pretty = true;
		break;
	case 'v':
	case 'V':
		tool_print_and_exit("smc_rnics " TOOLS_VERSION "\n");
	case 'h':
		tool_print_and_exit(usage_text);
	default:
		tool_usage_error(NULL);
	}
}

int main(int argc, char **argv)
{
	int c, rc;

	tool_name("smc_rnics");
	while ((c = getopt_long(argc, argv, "aIre:d:jpvVh", long_options,
				NULL)) != -1)
		take_option(c);
	if (optind < argc)
		opt.fid = argv[optind++];
	if (optind < argc)
		tool_usage_error("there is an argument too many");
	if (opt.fid && !is_fid(opt.fid))
		tool_usage_error("a FID is a hexadecimal number");
	if (opt.enable && opt.disable)
		tool_usage_error("-e and -d exclude each other");
	if (opt.enable)
		rc = switch_power(opt.enable, "1");
	else if (opt.disable)
		rc = switch_power(opt.disable, "0");
	else
		rc = list_all();
	return tool_flush(rc) ? EXIT_FAILURE : EXIT_SUCCESS;
}
