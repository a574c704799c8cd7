// SPDX-License-Identifier: GPL-2.0
/*
 * What link groups of SMC-R and SMC-D have in common.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <stdarg.h>
#include <stdio.h>

#include "json.h"
#include "lgr.h"

static const char *os_name(unsigned int os)
{
	static const char * const names[] = {
		[1] = "z/OS", [2] = "Linux", [3] = "AIX",
	};

	if (os >= sizeof(names) / sizeof(names[0]) || !names[os])
		return "unknown";
	return names[os];
}

/**
 * lgr_parse_v2() - read the nest of version 2
 * @v2: result
 * @lgr: attributes of the link group
 * @type: number of the nest
 */
void lgr_parse_v2(struct lgr_v2 *v2, const struct genl_attrs *lgr, int type)
{
	struct genl_attrs nest;

	genl_nest(&nest, lgr, type);
	v2->have = lgr->at[type];
	/* a group that does not say is one of version 1 */
	v2->ver = v2->have ? genl_uint(&nest, SMC_NLA_LGR_V2_VER) : 1;
	v2->rel = genl_uint(&nest, SMC_NLA_LGR_V2_REL);
	v2->os = genl_uint(&nest, SMC_NLA_LGR_V2_OS);
	snprintf(v2->eid, sizeof(v2->eid), "%.39s",
		 genl_str(&nest, SMC_NLA_LGR_V2_NEG_EID));
	snprintf(v2->host, sizeof(v2->host), "%.39s",
		 genl_str(&nest, SMC_NLA_LGR_V2_PEER_HOST));
}

/**
 * lgr_vlan() - VLAN of a link group
 * @lgr: its attributes
 * @type: number of the attribute all kernels send, which has 8 bits only
 *
 * Return: the VLAN, cut to 8 bits if this kernel does not tell more.
 */
unsigned int lgr_vlan(const struct genl_attrs *lgr, int type)
{
	if (lgr->at[SMC_NLA_LGR_FULL_VLAN_ID])
		type = SMC_NLA_LGR_FULL_VLAN_ID;
	return genl_uint(lgr, type);
}

/**
 * lgr_field() - a line of the long form
 * @name: what it is
 * @format: as for printf(), then its arguments
 */
void lgr_field(const char *name, const char *format, ...)
{
	va_list args;

	printf("%-9s : ", name);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/**
 * lgr_print_v2() - lines about the version
 * @v2: what is known
 * @direct: does the traffic stay in one subnet? NULL where it always does
 */
void lgr_print_v2(const struct lgr_v2 *v2, const bool *direct)
{
	lgr_field("Version", "%u", v2->ver);
	if (!v2->have)
		return;
	lgr_field("Peer-Rel", "%u", v2->rel);
	lgr_field("Peer-Host", "%s", v2->host);
	lgr_field("Peer-OS", "%s", os_name(v2->os));
	if (direct)
		lgr_field("Direct", "%s", *direct ? "Yes" : "No");
	lgr_field("EID", "%s", v2->eid);
}

/**
 * lgr_json_v2() - members about the version
 * @v2: what is known
 */
void lgr_json_v2(const struct lgr_v2 *v2)
{
	json_uint("version", v2->ver);
	if (!v2->have)
		return;
	json_uint("peer_release", v2->rel);
	json_str("peer_host", v2->host);
	json_str("peer_os", os_name(v2->os));
	json_str("eid", v2->eid);
}
