// SPDX-License-Identifier: GPL-2.0
/*
 * Link groups of SMC-D.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <inttypes.h>
#include <stdio.h>

#include "filter.h"
#include "json.h"
#include "lgr.h"
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

static void json_gid(const char *key, const struct genl_attrs *a, int type,
		     int ext)
{
	if (a->at[ext])
		json_fmt(key, "%016" PRIx64 "%016" PRIx64, genl_uint(a, type),
			 genl_uint(a, ext));
	else
		json_fmt(key, "%016" PRIx64, genl_uint(a, type));
}

static void json_group(const struct genl_attrs *a, const struct lgr_v2 *v2)
{
	json_object(NULL);
	json_fmt("lg_id", "%08x", (uint32_t)genl_uint(a, SMC_NLA_LGR_D_ID));
	json_uint("vlan", lgr_vlan(a, SMC_NLA_LGR_D_VLAN_ID));
	json_uint("conns", genl_uint(a, SMC_NLA_LGR_D_CONNS_NUM));
	json_str("pnetid", genl_str(a, SMC_NLA_LGR_D_PNETID));
	lgr_json_v2(v2);
	json_fmt("chid", "%04x", (uint32_t)genl_uint(a, SMC_NLA_LGR_D_CHID));
	json_gid("gid", a, SMC_NLA_LGR_D_GID, SMC_NLA_LGR_D_EXT_GID);
	json_gid("peer_gid", a, SMC_NLA_LGR_D_PEER_GID,
		 SMC_NLA_LGR_D_PEER_EXT_GID);
	json_uint("sndbuf_bytes", genl_uint(a, SMC_NLA_LGR_D_SNDBUF_ALLOC));
	json_uint("dmb_bytes", genl_uint(a, SMC_NLA_LGR_D_DMB_ALLOC));
	json_close();
}

static void field_gid(const char *name, const struct genl_attrs *a, int type,
		      int ext)
{
	if (a->at[ext])
		lgr_field(name, "%016" PRIx64 ":%016" PRIx64,
			  genl_uint(a, type), genl_uint(a, ext));
	else
		lgr_field(name, "%016" PRIx64, genl_uint(a, type));
}

static void print_long(const struct genl_attrs *a, const struct lgr_v2 *v2)
{
	lgr_field("LG-ID", "%08x", (uint32_t)genl_uint(a, SMC_NLA_LGR_D_ID));
	lgr_field("VLAN", "%u", lgr_vlan(a, SMC_NLA_LGR_D_VLAN_ID));
	lgr_field("PNET-ID", "%s", genl_str(a, SMC_NLA_LGR_D_PNETID));
	lgr_print_v2(v2, NULL);
	lgr_field("#Conns", "%" PRIu64,
		  genl_uint(a, SMC_NLA_LGR_D_CONNS_NUM));
	lgr_field("Sndbuf", "%" PRIu64 " B",
		  genl_uint(a, SMC_NLA_LGR_D_SNDBUF_ALLOC));
	lgr_field("DMB", "%" PRIu64 " B",
		  genl_uint(a, SMC_NLA_LGR_D_DMB_ALLOC));
	if (tool_opt.details < 2)
		return;
	lgr_field("CHID", "%04x", (uint32_t)genl_uint(a, SMC_NLA_LGR_D_CHID));
	field_gid("GID", a, SMC_NLA_LGR_D_GID, SMC_NLA_LGR_D_EXT_GID);
	field_gid("Peer-GID", a, SMC_NLA_LGR_D_PEER_GID,
		  SMC_NLA_LGR_D_PEER_EXT_GID);
}

static void print_short(const struct genl_attrs *a, bool first)
{
	if (first)
		puts("LG-ID    VLAN  #Conns  PNET-ID ");
	printf("%08x %4u  %6u  %-7s \n",
	       (uint32_t)genl_uint(a, SMC_NLA_LGR_D_ID),
	       lgr_vlan(a, SMC_NLA_LGR_D_VLAN_ID),
	       (uint32_t)genl_uint(a, SMC_NLA_LGR_D_CONNS_NUM),
	       genl_str(a, SMC_NLA_LGR_D_PNETID));
}

static int on_message(int cmd, const struct genl_attrs *top, void *arg)
{
	struct listing *list = arg;
	struct genl_attrs a;
	struct lgr_v2 v2;
	bool first;

	genl_nest(&a, top, SMC_GEN_LGR_SMCD);
	if (!top->at[SMC_GEN_LGR_SMCD])
		return 0;
	if (list->filter.have_id &&
	    list->filter.id != genl_uint(&a, SMC_NLA_LGR_D_ID))
		return 0;
	lgr_parse_v2(&v2, &a, SMC_NLA_LGR_D_V2_COMMON);
	first = !list->header;
	list->header = true;
	if (tool_opt.json) {
		json_group(&a, &v2);
	} else if (tool_opt.details) {
		if (!first)
			putchar('\n');
		print_long(&a, &v2);
	} else {
		print_short(&a, first);
	}
	return 0;
}

/**
 * show_lgr_d() - smcd linkgroup show
 * @argc: how many arguments follow
 * @argv: which
 *
 * Return: exit status.
 */
int show_lgr_d(int argc, char **argv)
{
	struct listing list = { .header = false };
	int rc;

	rc = filter_parse(&list.filter, FILTER_ID, argc, argv);
	if (rc)
		return rc;
	if (tool_opt.json)
		json_list(tool_opt.pretty);
	rc = genl_dump(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_LGR_SMCD,
		       on_message, &list);
	if (tool_opt.json && !rc)
		json_end();
	return genl_complain(rc, "list the link groups");
}
