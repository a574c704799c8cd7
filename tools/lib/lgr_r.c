// SPDX-License-Identifier: GPL-2.0
/*
 * Link groups and links of SMC-R.
 *
 * A dump of the links is a message for each group, followed by one for each
 * of its links.  It serves also to show the groups that use a device.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "filter.h"
#include "json.h"
#include "lgr.h"
#include "paint.h"
#include "show.h"
#include "tool.h"

#define LINK_ACTIVE	3	/* SMC_NLA_LINK_STATE */

/**
 * struct group - a link group
 * @id: number
 * @role: 1 for the server's side
 * @type: how many links, and where
 * @pnetid: name of the physical network, or ""
 * @vlan: VLAN, 0 for none
 * @conns: how many connections
 * @v2: version 2
 * @direct: no router between the peers (version 2)
 * @max_conns: agreed limit, 0 if not known
 * @max_links: agreed limit, 0 if not known
 * @buf_type: how buffers are allocated
 * @net_cookie: network namespace
 * @sndbuf: bytes of send buffers
 * @rmb: bytes of receive buffers
 */
struct group {
	uint32_t id;
	unsigned int role;
	unsigned int type;
	char pnetid[20];
	unsigned int vlan;
	uint32_t conns;
	struct lgr_v2 v2;
	bool direct;
	unsigned int max_conns;
	unsigned int max_links;
	unsigned int buf_type;
	uint64_t net_cookie;
	uint64_t sndbuf;
	uint64_t rmb;
};

/**
 * struct listing - a list being printed
 * @filter: what to show
 * @links: print links, not groups
 * @header: the first line was printed
 * @group: the last group
 * @pending: @group was not printed yet, it waits for a link that fits
 */
struct listing {
	struct filter filter;
	bool links;
	bool header;
	struct group group;
	bool pending;
};

static const char *role_name(unsigned int role)
{
	return role ? "SERV" : "CLNT";
}

static const char *word(const char * const *names, size_t num, unsigned int i)
{
	return i < num ? names[i] : "unknown";
}

static const char *type_name(unsigned int type)
{
	static const char * const names[] = {
		"NONE", "SINGLE", "SYM", "ASYMP", "ASYML",
	};

	return word(names, 5, type);
}

static const char *state_name(unsigned int state)
{
	static const char * const names[] = {
		"LINK_UNUSED", "LINK_INACTIVE", "LINK_ACTIVATING",
		"LINK_ACTIVE",
	};

	return word(names, 4, state);
}

static const char *buf_name(unsigned int type)
{
	static const char * const names[] = {
		"physical", "virtual", "mixed",
	};

	return word(names, 3, type);
}

static void parse_group(struct group *g, const struct genl_attrs *a)
{
	struct genl_attrs v2;

	g->id = genl_uint(a, SMC_NLA_LGR_R_ID);
	g->role = genl_uint(a, SMC_NLA_LGR_R_ROLE);
	g->type = genl_uint(a, SMC_NLA_LGR_R_TYPE);
	snprintf(g->pnetid, sizeof(g->pnetid), "%.19s",
		 genl_str(a, SMC_NLA_LGR_R_PNETID));
	g->vlan = lgr_vlan(a, SMC_NLA_LGR_R_VLAN_ID);
	g->conns = genl_uint(a, SMC_NLA_LGR_R_CONNS_NUM);
	g->net_cookie = genl_uint(a, SMC_NLA_LGR_R_NET_COOKIE);
	g->buf_type = genl_uint(a, SMC_NLA_LGR_R_BUF_TYPE);
	g->sndbuf = genl_uint(a, SMC_NLA_LGR_R_SNDBUF_ALLOC);
	g->rmb = genl_uint(a, SMC_NLA_LGR_R_RMB_ALLOC);
	lgr_parse_v2(&g->v2, a, SMC_NLA_LGR_R_V2_COMMON);
	genl_nest(&v2, a, SMC_NLA_LGR_R_V2);
	g->direct = genl_uint(&v2, SMC_NLA_LGR_R_V2_DIRECT);
	g->max_conns = genl_uint(&v2, SMC_NLA_LGR_R_V2_MAX_CONNS);
	g->max_links = genl_uint(&v2, SMC_NLA_LGR_R_V2_MAX_LINKS);
}

static void json_group(const struct group *g)
{
	json_object(NULL);
	json_fmt("lg_id", "%08x", g->id);
	json_str("role", role_name(g->role));
	json_str("type", type_name(g->type));
	json_uint("vlan", g->vlan);
	json_uint("conns", g->conns);
	json_str("pnetid", g->pnetid);
	lgr_json_v2(&g->v2);
	if (g->v2.have) {
		json_bool("direct", g->direct);
		json_uint("max_conns", g->max_conns);
		json_uint("max_links", g->max_links);
	}
	json_uint("net_cookie", g->net_cookie);
	json_str("buf_type", buf_name(g->buf_type));
	json_uint("sndbuf_bytes", g->sndbuf);
	json_uint("rmb_bytes", g->rmb);
	json_close();
}

static void print_group_long(const struct group *g, bool first)
{
	if (!first)
		putchar('\n');
	lgr_field("LG-ID", "%08x", g->id);
	lgr_field("LG-Role", "%s", role_name(g->role));
	lgr_field("LG-Type", "%s", type_name(g->type));
	lgr_field("VLAN", "%u", g->vlan);
	lgr_field("PNET-ID", "%s", g->pnetid);
	lgr_print_v2(&g->v2, &g->direct);
	lgr_field("#Conns", "%u", g->conns);
	lgr_field("Sndbuf", "%" PRIu64 " B", g->sndbuf);
	lgr_field("RMB", "%" PRIu64 " B", g->rmb);
	if (tool_opt.details < 2)
		return;
	if (g->v2.have) {
		lgr_field("Max-Conns", "%u", g->max_conns);
		lgr_field("Max-Links", "%u", g->max_links);
	}
	lgr_field("Buf-Type", "%s", buf_name(g->buf_type));
	lgr_field("Netns", "%" PRIu64, g->net_cookie);
}

static void print_group(struct listing *list)
{
	const struct group *g = &list->group;
	bool first = !list->header;

	list->header = true;
	if (tool_opt.json) {
		json_group(g);
		return;
	}
	if (tool_opt.details) {
		print_group_long(g, first);
		return;
	}
	if (first)
		puts("LG-ID    LG-Role  LG-Type  VLAN  #Conns  PNET-ID ");
	printf("%08x %-7s  %-7s  %4u  %6u  %-7s \n", g->id,
	       role_name(g->role), type_name(g->type), g->vlan, g->conns,
	       g->pnetid);
}

static void json_link(const struct group *g, const struct genl_attrs *a,
		      const char *netdev)
{
	json_object(NULL);
	json_fmt("lg_id", "%08x", g->id);
	json_str("role", role_name(g->role));
	json_str("type", type_name(g->type));
	json_uint("link_id", genl_uint(a, SMC_NLA_LINK_ID));
	json_str("netdev", netdev);
	json_uint("ifindex", genl_uint(a, SMC_NLA_LINK_NET_DEV));
	json_str("state", state_name(genl_uint(a, SMC_NLA_LINK_STATE)));
	json_uint("conns", genl_uint(a, SMC_NLA_LINK_CONN_CNT));
	json_fmt("link_uid", "%08x", ntohl(genl_uint(a, SMC_NLA_LINK_UID)));
	json_fmt("peer_uid", "%08x",
		 ntohl(genl_uint(a, SMC_NLA_LINK_PEER_UID)));
	json_str("ibdev", genl_str(a, SMC_NLA_LINK_IB_DEV));
	json_uint("ibport", genl_uint(a, SMC_NLA_LINK_IB_PORT));
	json_str("gid", genl_str(a, SMC_NLA_LINK_GID));
	json_str("peer_gid", genl_str(a, SMC_NLA_LINK_PEER_GID));
	json_close();
}

static void print_link_header(void)
{
	fputs("LG-ID    LG-Role  LG-Type  Net-Dev         Link-State      #Conns  ",
	      stdout);
	if (tool_opt.details)
		fputs("Link-UID  Peer-UID  IB-Dev    IB-P  ", stdout);
	if (tool_opt.details > 1)
		printf("%-39s  %-39s  ", "Local-GID", "Peer-GID");
	putchar('\n');
}

static void print_link(struct listing *list, const struct genl_attrs *a,
		       const char *netdev)
{
	unsigned int state = genl_uint(a, SMC_NLA_LINK_STATE);
	const struct group *g = &list->group;

	if (tool_opt.json) {
		json_link(g, a, netdev);
		return;
	}
	if (!list->header)
		print_link_header();
	list->header = true;
	printf("%08x %-7s  %-7s  %-15s %s%-15s%s %6u  ", g->id,
	       role_name(g->role), type_name(g->type), *netdev ? netdev : "-",
	       paint(state == LINK_ACTIVE ? PAINT_GOOD : PAINT_BAD),
	       state_name(state), paint(PAINT_NONE),
	       (uint32_t)genl_uint(a, SMC_NLA_LINK_CONN_CNT));
	if (tool_opt.details)
		printf("%08x  %08x  %-8s  %4u  ",
		       ntohl(genl_uint(a, SMC_NLA_LINK_UID)),
		       ntohl(genl_uint(a, SMC_NLA_LINK_PEER_UID)),
		       genl_str(a, SMC_NLA_LINK_IB_DEV),
		       (unsigned int)genl_uint(a, SMC_NLA_LINK_IB_PORT));
	if (tool_opt.details > 1)
		printf("%-39s  %-39s  ", genl_str(a, SMC_NLA_LINK_GID),
		       genl_str(a, SMC_NLA_LINK_PEER_GID));
	putchar('\n');
}

static void take_link(struct listing *list, const struct genl_attrs *top)
{
	struct genl_attrs a;
	const char *netdev;

	genl_nest(&a, top, SMC_GEN_LINK_SMCR);
	netdev = genl_devname(genl_uint(&a, SMC_NLA_LINK_NET_DEV));
	if (!filter_dev(&list->filter, netdev,
			genl_str(&a, SMC_NLA_LINK_IB_DEV)))
		return;
	if (list->links)
		print_link(list, &a, netdev);
	else
		print_group(list);
	/* a group is shown once, however many of its links fit */
	list->pending = list->links;
}

/* The lowest byte of the number is that of the link and does not count. */
static bool wanted(const struct listing *list)
{
	return !list->filter.have_id ||
	       (list->filter.id & ~0xffU) == (list->group.id & ~0xffU);
}

static int on_message(int cmd, const struct genl_attrs *top, void *arg)
{
	struct listing *list = arg;
	struct genl_attrs a;

	if (top->at[SMC_GEN_LGR_SMCR]) {
		genl_nest(&a, top, SMC_GEN_LGR_SMCR);
		parse_group(&list->group, &a);
		list->pending = wanted(list);
		if (list->pending && !list->links && !list->filter.netdev &&
		    !list->filter.ibdev)
			print_group(list);
	}
	if (top->at[SMC_GEN_LINK_SMCR] && list->pending)
		take_link(list, top);
	return 0;
}

static int show(bool links, int argc, char **argv)
{
	struct listing list = { .links = links };
	int cmd = SMC_NETLINK_GET_LINK_SMCR;
	int rc;

	rc = filter_parse(&list.filter, FILTER_ID | FILTER_DEV, argc, argv);
	if (rc)
		return rc;
	if (!links && !list.filter.netdev && !list.filter.ibdev)
		cmd = SMC_NETLINK_GET_LGR_SMCR;
	if (tool_opt.json)
		json_list(tool_opt.pretty);
	rc = genl_dump(SMC_GENL_FAMILY_NAME, cmd, on_message, &list);
	if (tool_opt.json && !rc)
		json_end();
	return genl_complain(rc, "list the link groups");
}

/**
 * show_lgr_r() - smcr linkgroup show
 * @argc: how many arguments follow
 * @argv: which
 *
 * Return: exit status.
 */
int show_lgr_r(int argc, char **argv)
{
	return show(false, argc, argv);
}

/**
 * show_link_r() - smcr linkgroup link-show
 * @argc: how many arguments follow
 * @argv: which
 *
 * Return: exit status.
 */
int show_link_r(int argc, char **argv)
{
	return show(true, argc, argv);
}
