// SPDX-License-Identifier: GPL-2.0
/*
 * Reading of the counters; smcr stats and smcd stats.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "show.h"
#include "stats.h"
#include "tool.h"

static void take_nest(uint64_t *values, int num, const struct genl_attrs *tech,
		      int type)
{
	struct genl_attrs nest;
	int i;

	genl_nest(&nest, tech, type);
	for (i = 0; i < num; i++)
		values[i] = genl_uint(&nest, i + 1);
}

static void take_tech(uint64_t *v, const struct genl_attrs *outer, int type)
{
	struct genl_attrs tech;
	int i;

	genl_nest(&tech, outer, type);
	take_nest(v + STATS_TX_BUF, STATS_SIZES, &tech,
		  SMC_NLA_STATS_T_TX_RMB_SIZE);
	take_nest(v + STATS_RX_BUF, STATS_SIZES, &tech,
		  SMC_NLA_STATS_T_RX_RMB_SIZE);
	take_nest(v + STATS_TX_REQ, STATS_SIZES, &tech,
		  SMC_NLA_STATS_T_TXPLOAD_SIZE);
	take_nest(v + STATS_RX_REQ, STATS_SIZES, &tech,
		  SMC_NLA_STATS_T_RXPLOAD_SIZE);
	take_nest(v + STATS_TX_RING, STATS_RINGS, &tech,
		  SMC_NLA_STATS_T_TX_RMB_STATS);
	take_nest(v + STATS_RX_RING, STATS_RINGS, &tech,
		  SMC_NLA_STATS_T_RX_RMB_STATS);
	for (i = STATS_CLNT_V1; i < STATS_VALUES; i++)
		v[i] = genl_uint(&tech, SMC_NLA_STATS_T_CLNT_V1_SUCC + i -
				 STATS_CLNT_V1);
}

static int on_stats(int cmd, const struct genl_attrs *top, void *arg)
{
	struct stats *st = arg;
	struct genl_attrs a;

	genl_nest(&a, top, SMC_GEN_STATS);
	take_tech(st->smcd, &a, SMC_NLA_STATS_SMCD_TECH);
	take_tech(st->smcr, &a, SMC_NLA_STATS_SMCR_TECH);
	st->hs_err[STATS_CLIENT] = genl_uint(&a, SMC_NLA_STATS_CLNT_HS_ERR_CNT);
	st->hs_err[STATS_SERVER] = genl_uint(&a, SMC_NLA_STATS_SRV_HS_ERR_CNT);
	return 0;
}

static int on_fback(int cmd, const struct genl_attrs *top, void *arg)
{
	struct stats *st = arg;
	struct stats_reason *r;
	struct genl_attrs a;

	genl_nest(&a, top, SMC_GEN_FBACK_STATS);
	if (a.at[SMC_NLA_FBACK_STATS_SRV_CNT])
		st->fback[STATS_SERVER] =
			genl_uint(&a, SMC_NLA_FBACK_STATS_SRV_CNT);
	if (a.at[SMC_NLA_FBACK_STATS_CLNT_CNT])
		st->fback[STATS_CLIENT] =
			genl_uint(&a, SMC_NLA_FBACK_STATS_CLNT_CNT);
	if (st->num == STATS_REASONS || !a.at[SMC_NLA_FBACK_STATS_RSN_CODE])
		return 0;
	r = &st->reasons[st->num];
	r->server = !!genl_uint(&a, SMC_NLA_FBACK_STATS_TYPE);
	r->code = genl_uint(&a, SMC_NLA_FBACK_STATS_RSN_CODE);
	r->count = genl_uint(&a, SMC_NLA_FBACK_STATS_RSN_CNT);
	r->narrow = !a.at[SMC_NLA_FBACK_STATS_FULL_CNT];
	if (!r->narrow)
		r->count = genl_uint(&a, SMC_NLA_FBACK_STATS_FULL_CNT);
	if (r->code)
		st->num++;
	return 0;
}

/**
 * stats_read() - ask the kernel for all counters
 * @st: result
 *
 * Return: 0 or a negative errno for genl_complain().
 */
int stats_read(struct stats *st)
{
	int rc;

	memset(st, 0, sizeof(*st));
	rc = genl_dump(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_STATS, on_stats,
		       st);
	if (!rc)
		rc = genl_dump(SMC_GENL_FAMILY_NAME,
			       SMC_NETLINK_GET_FBACK_STATS, on_fback, st);
	return rc;
}

enum form {
	FORM_TEXT,
	FORM_FLAT,
	FORM_RESET,
};

static int run(bool smcr, enum form form, int argc, char **argv)
{
	struct stats st, raw;
	int rc = tool_no_args(argc, argv);

	if (rc)
		return rc;
	rc = stats_read(&st);
	if (rc)
		return genl_complain(rc, "read the counters");
	raw = st;
	if (!tool_opt.absolute)
		stats_since_reset(&st);
	if (form == FORM_FLAT)
		stats_flat(&st, smcr);
	else if (tool_opt.json)
		stats_json(&st, smcr);
	else
		stats_print(&st, smcr);
	if (form != FORM_RESET)
		return TOOL_OK;
	rc = stats_save(&raw);
	if (!rc)
		return TOOL_OK;
	tool_say("cannot remember the counters: %s", strerror(-rc));
	return TOOL_FAILED;
}

/**
 * stats_show_r() - smcr stats show
 * @argc: how many arguments follow
 * @argv: which
 *
 * Return: exit status.
 */
int stats_show_r(int argc, char **argv)
{
	return run(true, FORM_TEXT, argc, argv);
}

/**
 * stats_reset_r() - smcr stats reset
 * @argc: how many arguments follow
 * @argv: which
 *
 * Return: exit status.
 */
int stats_reset_r(int argc, char **argv)
{
	return run(true, FORM_RESET, argc, argv);
}

/**
 * stats_json_r() - smcr stats json
 * @argc: how many arguments follow
 * @argv: which
 *
 * Return: exit status.
 */
int stats_json_r(int argc, char **argv)
{
	return run(true, FORM_FLAT, argc, argv);
}

/**
 * stats_show_d() - smcd stats show
 * @argc: how many arguments follow
 * @argv: which
 *
 * Return: exit status.
 */
int stats_show_d(int argc, char **argv)
{
	return run(false, FORM_TEXT, argc, argv);
}

/**
 * stats_reset_d() - smcd stats reset
 * @argc: how many arguments follow
 * @argv: which
 *
 * Return: exit status.
 */
int stats_reset_d(int argc, char **argv)
{
	return run(false, FORM_RESET, argc, argv);
}

/**
 * stats_json_d() - smcd stats json
 * @argc: how many arguments follow
 * @argv: which
 *
 * Return: exit status.
 */
int stats_json_d(int argc, char **argv)
{
	return run(false, FORM_FLAT, argc, argv);
}
