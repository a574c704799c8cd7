// SPDX-License-Identifier: GPL-2.0
/*
 * Enterprise ids: those of the user (UEID) and that of the system (SEID).
 *
 * In messages a UEID is padded with blanks to 32 characters.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "show.h"
#include "tool.h"

static int on_ueid(int cmd, const struct genl_attrs *top, void *arg)
{
	const char *eid = genl_str(top, SMC_NLA_EID_TABLE_ENTRY);

	if (!top->at[SMC_NLA_EID_TABLE_ENTRY])
		return 0;
	if (tool_opt.json) {
		json_object(NULL);
		json_str("ueid", eid);
		json_close();
	} else {
		printf("%-32s\n", eid);
	}
	return 0;
}

/* smcr ueid show, smcd ueid show */
static int ueid_show(int argc, char **argv)
{
	int rc = tool_no_args(argc, argv);

	if (rc)
		return rc;
	if (tool_opt.json)
		json_list(tool_opt.pretty);
	rc = genl_dump(SMC_GENL_FAMILY_NAME, SMC_NETLINK_DUMP_UEID, on_ueid,
		       NULL);
	if (tool_opt.json && !rc)
		json_end();
	return genl_complain(rc, "list the UEIDs");
}

static int change_ueid(int cmd, int argc, char **argv)
{
	char text[SMC_MAX_EID_LEN + 1];
	struct genl_arg arg = {
		.type = SMC_NLA_EID_TABLE_ENTRY,
		.data = text,
		.len = sizeof(text),
	};

	if (!argc) {
		tool_say("a UEID must follow");
		return -EDESTADDRREQ;
	}
	if (tool_no_args(argc - 1, argv + 1))
		return -EDESTADDRREQ;
	if (!*argv[0] || strlen(argv[0]) > SMC_MAX_EID_LEN) {
		tool_say("a UEID has 1 to %d characters", SMC_MAX_EID_LEN);
		return -EDESTADDRREQ;
	}
	snprintf(text, sizeof(text), "%-*s", SMC_MAX_EID_LEN, argv[0]);
	return genl_do(SMC_GENL_FAMILY_NAME, cmd, &arg, 1);
}

/* smcr ueid add UEID */
static int ueid_add(int argc, char **argv)
{
	int rc = change_ueid(SMC_NETLINK_ADD_UEID, argc, argv);

	switch (rc) {
	case -EDESTADDRREQ:
		return TOOL_USAGE;
	case -EINVAL:
		return genl_explain(rc, "add the UEID", "it has A-Z, 0-9 and, not in front, . and -");
	case -ERANGE:
		return genl_explain(rc, "add the UEID", "the table is full");
	case -EEXIST:
		return genl_explain(rc, "add the UEID", "it is there already");
	default:
		return genl_complain(rc, "add the UEID");
	}
}

/* smcr ueid del UEID */
static int ueid_del(int argc, char **argv)
{
	int rc = change_ueid(SMC_NETLINK_REMOVE_UEID, argc, argv);

	switch (rc) {
	case -EDESTADDRREQ:
		return TOOL_USAGE;
	case -EAGAIN:
		/* it is gone, and the kernel tells of a consequence */
		tool_say("this was the last UEID, the SEID is enabled again");
		return TOOL_OK;
	case -ENOENT:
		return genl_explain(rc, "delete the UEID", "it is not there");
	default:
		return genl_complain(rc, "delete the UEID");
	}
}

/* smcr ueid flush */
static int ueid_flush(int argc, char **argv)
{
	int rc = tool_no_args(argc, argv);

	if (rc)
		return rc;
	rc = genl_do(SMC_GENL_FAMILY_NAME, SMC_NETLINK_FLUSH_UEID, NULL, 0);
	return genl_complain(rc, "delete the UEIDs");
}

const struct tool_command ueid_commands[] = {
	{ "show", ueid_show }, { "list", ueid_show }, { "add", ueid_add },
	{ "del", ueid_del }, { "delete", ueid_del }, { "flush", ueid_flush },
	{ NULL, NULL }
};

/**
 * struct seid - the system EID
 * @have: there is one
 * @enabled: it is used
 * @text: it
 */
struct seid {
	bool have;
	bool enabled;
	char text[40];
};

static int on_seid(int cmd, const struct genl_attrs *top, void *arg)
{
	struct seid *seid = arg;

	seid->have = top->at[SMC_NLA_SEID_ENTRY];
	seid->enabled = genl_uint(top, SMC_NLA_SEID_ENABLED);
	snprintf(seid->text, sizeof(seid->text), "%.39s",
		 genl_str(top, SMC_NLA_SEID_ENTRY));
	return 0;
}

/**
 * seid_show() - smcd seid show
 * @argc: how many arguments follow
 * @argv: which
 *
 * Return: exit status.
 */
int seid_show(int argc, char **argv)
{
	struct seid seid = { .have = false };
	int rc = tool_no_args(argc, argv);

	if (rc)
		return rc;
	rc = genl_dump(SMC_GENL_FAMILY_NAME, SMC_NETLINK_DUMP_SEID, on_seid,
		       &seid);
	if (rc)
		return genl_complain(rc, "show the SEID");
	if (tool_opt.json) {
		json_begin(tool_opt.pretty);
		json_array(NULL);
		if (seid.have) {
			json_object(NULL);
			json_str("seid", seid.text);
			json_bool("enabled", seid.enabled);
		}
		json_end();
	} else if (seid.have && *seid.text) {
		printf("%s [%s]\n", seid.text,
		       seid.enabled ? "enabled" : "disabled");
	} else {
		puts("n/a");
	}
	return TOOL_OK;
}

static int switch_seid(int cmd, const char *what, int argc, char **argv)
{
	int rc = tool_no_args(argc, argv);

	if (rc)
		return rc;
	return genl_complain(genl_do(SMC_GENL_FAMILY_NAME, cmd, NULL, 0), what);
}

/**
 * seid_enable() - smcd seid enable
 * @argc: how many arguments follow
 * @argv: which
 *
 * Return: exit status.
 */
int seid_enable(int argc, char **argv)
{
	return switch_seid(SMC_NETLINK_ENABLE_SEID, "enable the SEID", argc,
			   argv);
}

/**
 * seid_disable() - smcd seid disable
 * @argc: how many arguments follow
 * @argv: which
 *
 * Return: exit status.
 */
int seid_disable(int argc, char **argv)
{
	return switch_seid(SMC_NETLINK_DISABLE_SEID, "disable the SEID", argc,
			   argv);
}
