// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel and its devices can do.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "show.h"
#include "sysfs.h"
#include "tool.h"

/**
 * struct info - all that is shown
 * @have: the kernel told about itself
 * @ver: version of the protocol
 * @rel: its release
 * @ism_v2: SMC-D version 2 with hardware
 * @smcr_v2: SMC-R version 2
 * @host: name of this host in the protocol
 * @seid: system EID, or ""
 * @ism: an ISM device is there
 * @roce: kinds of RDMA devices, separated by blanks
 * @module: version of this module; "" if the kernel's own smc answers
 * @syn_option: what offers SMC with a SYN, or ""
 */
struct info {
	bool have;
	unsigned int ver;
	unsigned int rel;
	bool ism_v2;
	bool smcr_v2;
	char host[40];
	char seid[40];
	bool ism;
	char roce[128];
	char module[40];
	char syn_option[SYSFS_TEXT];
};

static int on_info(int cmd, const struct genl_attrs *top, void *arg)
{
	struct info *info = arg;
	struct genl_attrs a;

	genl_nest(&a, top, SMC_GEN_SYS_INFO);
	info->have = true;
	info->ver = genl_uint(&a, SMC_NLA_SYS_VER);
	info->rel = genl_uint(&a, SMC_NLA_SYS_REL);
	info->ism_v2 = genl_uint(&a, SMC_NLA_SYS_IS_ISM_V2);
	info->smcr_v2 = genl_uint(&a, SMC_NLA_SYS_IS_SMCR_V2);
	snprintf(info->host, sizeof(info->host), "%.39s",
		 genl_str(&a, SMC_NLA_SYS_LOCAL_HOST));
	snprintf(info->seid, sizeof(info->seid), "%.39s",
		 genl_str(&a, SMC_NLA_SYS_SEID));
	snprintf(info->module, sizeof(info->module), "%.39s",
		 genl_str(&a, SMC_NLA_SYS_MODULE_VERSION));
	return 0;
}

static int on_dev_d(int cmd, const struct genl_attrs *top, void *arg)
{
	struct info *info = arg;
	struct genl_attrs a;

	genl_nest(&a, top, SMC_GEN_DEV_SMCD);
	if (genl_uint(&a, SMC_NLA_DEV_PCI_DEVICE))
		info->ism = true;
	return 0;
}

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);
	const char *at = list;

	while ((at = strstr(at, word))) {
		if ((at == list || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
		at += len;
	}
	return false;
}

static int on_dev_r(int cmd, const struct genl_attrs *top, void *arg)
{
	struct info *info = arg;
	struct genl_attrs a;
	const char *name;
	char word[40];
	size_t len;

	genl_nest(&a, top, SMC_GEN_DEV_SMCR);
	name = dev_type_name(genl_uint(&a, SMC_NLA_DEV_PCI_DEVICE));
	snprintf(word, sizeof(word), "%s", name ? name :
		 genl_uint(&a, SMC_NLA_DEV_PCI_DEVICE) ? "other" : "virt");
	if (has_word(info->roce, word))
		return 0;
	len = strlen(info->roce);
	snprintf(info->roce + len, sizeof(info->roce) - len, "%s%s",
		 len ? " " : "", word);
	return 0;
}

static const char *or_none(const char *text)
{
	return *text ? text : "n/a";
}

static void print_text(const struct info *info)
{
	puts("Kernel Capabilities");
	printf("Module:           %s%s\n", *info->module ? "this one, " :
	       "the kernel's own", info->module);
	printf("SMC Version:      %u.%u\n", info->ver, info->rel);
	printf("SMC Hostname:     %s\n", or_none(info->host));
	printf("SMC-D Features:   %s\n", info->ver > 1 ? "v1 v2" : "v1");
	printf("SMC-R Features:   %s\n", info->smcr_v2 ? "v1 v2" : "v1");
	if (*info->syn_option)
		printf("SYN option:       %s%s\n", info->syn_option,
		       !strcmp(info->syn_option, "none") ? " (all is TCP)" :
		       !strcmp(info->syn_option, "own") ? " (this module)" :
		       "");
	puts("\nHardware Capabilities");
	printf("SEID:             %s\n", or_none(info->seid));
	printf("ISM:              %s\n", !info->ism ? "n/a" :
	       info->ism_v2 ? "v1 v2" : "v1");
	printf("RoCE:             %s\n", or_none(info->roce));
}

static void print_json(const struct info *info)
{
	json_begin(tool_opt.pretty);
	json_array(NULL);
	json_object(NULL);
	json_str("module_version", info->module);
	json_uint("version", info->ver);
	json_uint("release", info->rel);
	json_str("hostname", info->host);
	json_bool("smcd_v2", info->ver > 1);
	json_bool("smcr_v2", info->smcr_v2);
	if (*info->syn_option)
		json_str("syn_option", info->syn_option);
	json_str("seid", info->seid);
	json_bool("ism", info->ism);
	json_bool("ism_v2", info->ism && info->ism_v2);
	json_str("roce", info->roce);
	json_end();
}

/* smcr info, smcd info */
static int show_info(int argc, char **argv)
{
	struct info info = { .have = false };
	int rc = tool_no_args(argc, argv);

	if (rc)
		return rc;
	rc = genl_dump(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_SYS_INFO, on_info,
		       &info);
	if (!rc)
		rc = genl_dump(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_DEV_SMCD,
			       on_dev_d, &info);
	if (!rc)
		rc = genl_dump(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_DEV_SMCR,
			       on_dev_r, &info);
	sysfs_read(info.syn_option, SYSFS_SYN_OPTION);
	if (!rc && info.have && tool_opt.json)
		print_json(&info);
	else if (!rc && info.have)
		print_text(&info);
	return genl_complain(rc, "tell what the kernel can do");
}

const struct tool_command info_commands[] = {
	{ "show", show_info }, { "list", show_info }, { NULL, NULL }
};
