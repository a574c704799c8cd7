// SPDX-License-Identifier: GPL-2.0
/*
 * Devices of SMC-R and SMC-D.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <inttypes.h>
#include <stdio.h>

#include "filter.h"
#include "json.h"
#include "paint.h"
#include "show.h"
#include "tool.h"

/**
 * struct listing - a list being printed
 * @filter: what to show
 * @header: the first line was printed
 */
struct listing {
	struct filter filter;
	bool header;
};

/**
 * dev_type_name() - name of a kind of device
 * @pci_device: PCI device id
 *
 * Return: constant name, or NULL if it has none.
 */
const char *dev_type_name(uint64_t pci_device)
{
	switch (pci_device) {
	case 0x1004:
		return "RoCE_Express";
	case 0x1016:
		return "RoCE_Express2";
	case 0x101e:
		return "RoCE_Express3";
	case 0x04ed:
		return "ISM";
	default:
		return NULL;
	}
}

/* The name, the number, or that it is not a piece of hardware. */
static const char *type_of(const struct genl_attrs *a)
{
	uint64_t device = genl_uint(a, SMC_NLA_DEV_PCI_DEVICE);
	const char *name = dev_type_name(device);
	static char number[8];

	if (name)
		return name;
	if (!device)
		return "virt";
	snprintf(number, sizeof(number), "0x%04x", (uint16_t)device);
	return number;
}

static const char *or_dash(const char *text)
{
	return *text ? text : "-";
}

static void json_common(const struct genl_attrs *a, const struct genl_attrs *p)
{
	json_str("type", type_of(a));
	json_bool("critical", genl_uint(a, SMC_NLA_DEV_IS_CRIT));
	json_fmt("fid", "%04x", (uint32_t)genl_uint(a, SMC_NLA_DEV_PCI_FID));
	json_str("pci_id", genl_str(a, SMC_NLA_DEV_PCI_ID));
	json_fmt("pchid", "%04x", (uint16_t)genl_uint(a, SMC_NLA_DEV_PCI_CHID));
	json_fmt("pci_vendor", "%04x",
		 (uint16_t)genl_uint(a, SMC_NLA_DEV_PCI_VENDOR));
	json_fmt("pci_device", "%04x",
		 (uint16_t)genl_uint(a, SMC_NLA_DEV_PCI_DEVICE));
	json_str("pnetid", genl_str(p, SMC_NLA_DEV_PORT_PNETID));
	json_bool("pnetid_by_user", genl_uint(p, SMC_NLA_DEV_PORT_PNET_USR));
}

static void json_port(const struct genl_attrs *a, const struct genl_attrs *p,
		      const char *netdev, int port)
{
	json_object(NULL);
	json_str("netdev", netdev);
	json_uint("ifindex", genl_uint(p, SMC_NLA_DEV_PORT_NETDEV));
	json_str("ibdev", genl_str(a, SMC_NLA_DEV_IB_NAME));
	json_uint("ibport", port);
	json_bool("active", genl_uint(p, SMC_NLA_DEV_PORT_STATE));
	json_common(a, p);
	json_uint("links", genl_uint(p, SMC_NLA_DEV_PORT_LNK_CNT));
	json_close();
}

static void print_port(struct listing *list, const struct genl_attrs *a,
		       const struct genl_attrs *p, const char *netdev, int port)
{
	bool active = genl_uint(p, SMC_NLA_DEV_PORT_STATE);

	if (!list->header)
		printf("Net-Dev         IB-Dev   IB-P  IB-State  Type          Crit  %s#Links  PNET-ID  \n",
		       tool_opt.details ? " FID   PCI-ID        PCHID  " : "");
	list->header = true;
	printf("%-15s %-8s %4d  %s%8s%s  %-13s %4s  ", or_dash(netdev),
	       genl_str(a, SMC_NLA_DEV_IB_NAME), port,
	       paint(active ? PAINT_GOOD : PAINT_BAD),
	       active ? "ACTIVE" : "INACTIVE", paint(PAINT_NONE), type_of(a),
	       genl_uint(a, SMC_NLA_DEV_IS_CRIT) ? "Yes" : "No");
	if (tool_opt.details)
		printf(" %04x  %-12s  %04x   ",
		       (uint32_t)genl_uint(a, SMC_NLA_DEV_PCI_FID),
		       or_dash(genl_str(a, SMC_NLA_DEV_PCI_ID)),
		       (uint16_t)genl_uint(a, SMC_NLA_DEV_PCI_CHID));
	printf("%6u  %s%s\n", (uint32_t)genl_uint(p, SMC_NLA_DEV_PORT_LNK_CNT),
	       genl_uint(p, SMC_NLA_DEV_PORT_PNET_USR) ? "*" : "",
	       genl_str(p, SMC_NLA_DEV_PORT_PNETID));
}

static void take_port(struct listing *list, const struct genl_attrs *a,
		      int port)
{
	struct genl_attrs p;
	const char *netdev;

	genl_nest(&p, a, port == 1 ? SMC_NLA_DEV_PORT : SMC_NLA_DEV_PORT2);
	if (!genl_uint(&p, SMC_NLA_DEV_PORT_VALID))
		return;
	netdev = genl_devname(genl_uint(&p, SMC_NLA_DEV_PORT_NETDEV));
	if (!filter_dev(&list->filter, netdev,
			genl_str(a, SMC_NLA_DEV_IB_NAME)))
		return;
	if (tool_opt.json)
		json_port(a, &p, netdev, port);
	else
		print_port(list, a, &p, netdev, port);
}

static int on_dev_r(int cmd, const struct genl_attrs *top, void *arg)
{
	struct genl_attrs a;

	genl_nest(&a, top, SMC_GEN_DEV_SMCR);
	take_port(arg, &a, 1);
	take_port(arg, &a, 2);
	return 0;
}

static int on_dev_d(int cmd, const struct genl_attrs *top, void *arg)
{
	struct listing *list = arg;
	struct genl_attrs a, p;

	if (!top->at[SMC_GEN_DEV_SMCD])
		return 0;
	genl_nest(&a, top, SMC_GEN_DEV_SMCD);
	genl_nest(&p, &a, SMC_NLA_DEV_PORT);
	if (tool_opt.json) {
		json_object(NULL);
		json_common(&a, &p);
		json_uint("linkgroups", genl_uint(&a, SMC_NLA_DEV_USE_CNT));
		json_close();
		return 0;
	}
	if (!list->header)
		puts("FID  Type  PCI-ID        PCHID  InUse  #LGs  PNET-ID  ");
	list->header = true;
	printf("%04x %-4s  %-12s  %04x   %-5s  %4u  %s%s\n",
	       (uint32_t)genl_uint(&a, SMC_NLA_DEV_PCI_FID), type_of(&a),
	       or_dash(genl_str(&a, SMC_NLA_DEV_PCI_ID)),
	       (uint16_t)genl_uint(&a, SMC_NLA_DEV_PCI_CHID),
	       genl_uint(&a, SMC_NLA_DEV_IS_CRIT) ? "Yes" : "No",
	       (uint32_t)genl_uint(&a, SMC_NLA_DEV_USE_CNT),
	       genl_uint(&p, SMC_NLA_DEV_PORT_PNET_USR) ? "*" : "",
	       genl_str(&p, SMC_NLA_DEV_PORT_PNETID));
	return 0;
}

static int show(int cmd, int may, genl_fn fn, int argc, char **argv)
{
	struct listing list = { .header = false };
	int rc;

	rc = filter_parse(&list.filter, may, argc, argv);
	if (rc)
		return rc;
	if (tool_opt.json)
		json_list(tool_opt.pretty);
	rc = genl_dump(SMC_GENL_FAMILY_NAME, cmd, fn, &list);
	if (tool_opt.json && !rc)
		json_end();
	return genl_complain(rc, "list the devices");
}

/**
 * show_dev_r() - smcr device show
 * @argc: how many arguments follow
 * @argv: which
 *
 * Return: exit status.
 */
int show_dev_r(int argc, char **argv)
{
	return show(SMC_NETLINK_GET_DEV_SMCR, FILTER_DEV, on_dev_r, argc, argv);
}

/**
 * show_dev_d() - smcd device show
 * @argc: how many arguments follow
 * @argv: which
 *
 * Return: exit status.
 */
int show_dev_d(int argc, char **argv)
{
	return show(SMC_NETLINK_GET_DEV_SMCD, 0, on_dev_d, argc, argv);
}
