// SPDX-License-Identifier: GPL-2.0
/*
 * smcd - show and set up SMC-D: link groups, devices, counters, EIDs.
 *
 * The objects are in lib/, one file each; this is the list of them.  Works
 * with the kernel's own smc module too.
 */
#include <stddef.h>

#include "lib/show.h"
#include "lib/tool.h"

static const char usage[] =
"Usage: smcd [OPTION]... OBJECT [COMMAND | help]\n"
"Show and set up SMC over shared memory (SMC-D).\n"
"\n"
"OBJECT is one of\n"
"  info          what kernel and devices can do\n"
"  linkgroup     link groups\n"
"  device        devices for shared memory, the loopback device included\n"
"  stats         counters\n"
"  ueid          user-defined enterprise ids\n"
"  seid          enterprise id of the system\n"
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
"Usage: smcd info [show]\n";
static const char usage_lgr[] =
"Usage: smcd linkgroup [show] [all | LG-ID]\n";
static const char usage_dev[] =
"Usage: smcd device [show] [all]\n";
static const char usage_stats[] =
"Usage: smcd stats [show | reset | json]\n";
static const char usage_ueid[] =
"Usage: smcd ueid [show | add UEID | del UEID | flush]\n";
static const char usage_seid[] =
"Usage: smcd seid [show | enable | disable]\n";

static const struct tool_command cmds_lgr[] = {
	{ "show", show_lgr_d }, { "list", show_lgr_d }, { NULL, NULL }
};

static const struct tool_command cmds_dev[] = {
	{ "show", show_dev_d }, { "list", show_dev_d }, { NULL, NULL }
};

static const struct tool_command cmds_stats[] = {
	{ "show", stats_show_d }, { "reset", stats_reset_d },
	{ "json", stats_json_d }, { NULL, NULL }
};

static const struct tool_command cmds_seid[] = {
	{ "show", seid_show }, { "list", seid_show },
	{ "enable", seid_enable }, { "disable", seid_disable },
	{ NULL, NULL }
};

static const struct tool_object objects[] = {
	{ "info", false, usage_info, info_commands },
	{ "linkgroup", true, usage_lgr, cmds_lgr },
	{ "device", true, usage_dev, cmds_dev },
	{ "stats", false, usage_stats, cmds_stats },
	{ "ueid", false, usage_ueid, ueid_commands },
	{ "seid", false, usage_seid, cmds_seid },
	{ NULL, false, NULL, NULL }
};

int main(int argc, char **argv)
{
	static const struct tool tool = { "smcd", usage, objects };

	return tool_main(&tool, argc, argv);
}
