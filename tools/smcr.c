// SPDX-License-Identifier: GPL-2.0
/*
 * smcr - show and set up SMC-R: link groups, links, devices, counters, UEIDs.
 *
 * The objects are in lib/, one file each; this is the list of them.  Works
 * with the kernel's own smc module too.
 */
#include <stddef.h>

#include "lib/show.h"
#include "lib/tool.h"

static const char usage[] =
"Usage: smcr [OPTION]... OBJECT [COMMAND | help]\n"
"Show and set up SMC over RDMA (SMC-R).\n"
"\n"
"OBJECT is one of\n"
"  info          what kernel and devices can do\n"
"  linkgroup     link groups and their links\n"
"  device        RDMA devices\n"
"  stats         counters\n"
"  ueid          user-defined enterprise ids\n"
"\n"
"  -d, -details  more columns; -dd still more\n"
"  -a, -absolute counters since the module was loaded, not since \"stats reset\"\n"
"  -j, -json     print JSON\n"
"  -p, -pretty   JSON on several lines\n"
"  -c, -color[=WHEN]  colours: always, never, or auto (on a terminal)\n"
"  -v, -V, -version\n"
"  -h, -help\n"
"\n"
"Objects and commands may be abbreviated.\n"
"Exit status: 0; 1 for a wrong command line; 2 if the kernel refused.\n";

static const char usage_info[] =
"Usage: smcr info [show]\n";
static const char usage_lgr[] =
"Usage: smcr linkgroup [show | link-show] [all | LG-ID]\n"
"                      [netdev NAME | ibdev NAME]\n";
static const char usage_dev[] =
"Usage: smcr device [show] [all | netdev NAME | ibdev NAME]\n";
static const char usage_stats[] =
"Usage: smcr stats [show | reset | json]\n";
static const char usage_ueid[] =
"Usage: smcr ueid [show | add UEID | del UEID | flush]\n";

static const struct tool_command cmds_lgr[] = {
	{ "show", show_lgr_r }, { "link-show", show_link_r },
	{ "list", show_lgr_r }, { NULL, NULL }
};

static const struct tool_command cmds_dev[] = {
	{ "show", show_dev_r }, { "list", show_dev_r }, { NULL, NULL }
};

static const struct tool_command cmds_stats[] = {
	{ "show", stats_show_r }, { "reset", stats_reset_r },
	{ "json", stats_json_r }, { NULL, NULL }
};

static const struct tool_object objects[] = {
	{ "info", false, usage_info, info_commands },
	{ "linkgroup", true, usage_lgr, cmds_lgr },
	{ "device", true, usage_dev, cmds_dev },
	{ "stats", false, usage_stats, cmds_stats },
	{ "ueid", false, usage_ueid, ueid_commands },
	{ NULL, false, NULL, NULL }
};

int main(int argc, char **argv)
{
	static const struct tool tool = { "smcr", usage, objects };

	return tool_main(&tool, argc, argv);
}
