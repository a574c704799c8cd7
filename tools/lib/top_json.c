// SPDX-License-Identifier: GPL-2.0
/*
 * What smctop shows, as JSON: exact numbers, everything at once.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>

#include "json.h"
#include "reason.h"
#include "tool.h"
#include "top.h"

static void json_flow(const struct top_flow *f, bool known)
{
	if (known) {
		json_uint("sent_per_s", f->tx);
		json_uint("received_per_s", f->rx);
	}
	json_uint("unsent_bytes", f->unsent);
	json_uint("unread_bytes", f->unread);
	json_bool("stalled_out", f->stall & TOP_STALL_OUT);
	json_bool("stalled_in", f->stall & TOP_STALL_IN);
}

static void json_transport(const char *name, const uint64_t *now,
			   const uint64_t *then, uint64_t ms)
{
	static const struct {
		const char *name;
		int which;
	} rows[] = {
		{ "sent_per_s", STATS_TX_BYTES },
		{ "send_calls_per_s", STATS_TX_CNT },
		{ "received_per_s", STATS_RX_BYTES },
		{ "receive_calls_per_s", STATS_RX_CNT },
		{ "full_per_s", STATS_TX_RING + RING_FULL },
		{ "peer_full_per_s", STATS_TX_RING + RING_FULL_PEER },
	};
	size_t i;

	json_object(name);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		json_uint(rows[i].name,
			  top_rate(now[rows[i].which], then[rows[i].which],
				   ms));
	json_close();
}

static void json_totals(const struct top_sample *s,
			const struct top_sample *before, uint64_t ms)
{
	static const char * const names[TOP_COUNTS] = {
		[TOP_WR_POSTED] = "work_requests_per_s",
		[TOP_WR_COMPLETED] = "completions_per_s",
		[TOP_CDC_SENT] = "cdc_sent_per_s",
		[TOP_CDC_RECEIVED] = "cdc_received_per_s",
		[TOP_WAIT_SLOT] = "slot_waits_per_s",
		[TOP_WAIT_WINDOW] = "window_waits_per_s",
		[TOP_HANDSHAKES] = "handshakes_per_s",
		[TOP_ABORTED] = "aborts_per_s",
	};
	int i;

	json_object("totals");
	json_transport("smcr", s->stats.smcr, before->stats.smcr, ms);
	json_transport("smcd", s->stats.smcd, before->stats.smcd, ms);
	json_uint("fallbacks_per_s",
		  top_rate(s->stats.fback[0] + s->stats.fback[1],
			   before->stats.fback[0] + before->stats.fback[1],
			   ms));
	if (s->have_counts && before->have_counts) {
		for (i = 0; i < TOP_COUNTS; i++)
			json_uint(names[i], top_rate(s->counts[i],
						     before->counts[i], ms));
		json_uint("work_requests_open", top_open_requests(s));
	}
	json_close();
}

static void json_end_point(const char *key, const struct diag_row *row,
			   const __be32 *addr, __be16 port)
{
	json_object(key);
	json_str("address", diag_addr(row, addr));
	json_uint("port", ntohs(port));
	json_close();
}

static void json_conn(const struct top_sample *s, const struct top_conn *c)
{
	const struct inet_diag_sockid *id = &c->row.msg.id;
	const struct top_group *g = top_group_find(s, &c->row);

	json_object(NULL);
	json_str("mode", diag_mode_name(c->row.msg.diag_mode));
	json_end_point("local", &c->row, id->idiag_src, id->idiag_sport);
	json_end_point("peer", &c->row, id->idiag_dst, id->idiag_dport);
	if (g)
		json_fmt("lg_id", "%08x", g->id);
	if (c->row.msg.diag_mode != SMC_DIAG_MODE_FALLBACK_TCP)
		json_flow(&c->flow, c->known);
	reason_json("reason", c->row.fallback.reason);
	json_close();
}

static void json_group(const struct top_group *g)
{
	json_object(NULL);
	json_fmt("lg_id", "%08x", g->id);
	json_uint("more_groups", g->same);
	json_str("mode", g->smcr ? "SMC-R" : "SMC-D");
	if (g->smcr) {
		json_str("role", g->role ? "SERV" : "CLNT");
		json_uint("link_id", g->link);
		json_str("ibdev", g->dev);
		json_uint("ibport", g->port);
		json_str("gid", g->gid);
		json_str("peer_gid", g->peer_gid);
	}
	json_str("peer_host", g->host);
	json_uint("conns", g->conns);
	json_uint("stalled", g->stalled);
	json_flow(&g->flow, true);
	json_close();
}

/**
 * top_print_json() - an object with all there is
 * @opt: which connections, and in which order
 * @s: the later look
 * @before: the earlier one
 *
 * Return: 0 or -ENOMEM.
 */
int top_print_json(const struct top_options *opt, const struct top_sample *s,
		   const struct top_sample *before)
{
	size_t most = s->num > s->num_groups ? s->num : s->num_groups;
	const void **list = calloc(most + 1, sizeof(*list));
	uint64_t ms = s->ms - before->ms;
	size_t i, num;

	if (!list)
		return -ENOMEM;
	json_begin(tool_opt.pretty);
	json_object(NULL);
	json_uint("time", s->wall);
	json_uint("interval_ms", ms);
	json_totals(s, before, ms);
	json_array("connections");
	num = top_order_conns(opt, s, (const struct top_conn **)list);
	for (i = 0; i < num; i++)
		json_conn(s, list[i]);
	json_close();
	json_array("links");
	num = top_order_groups(opt, s, (const struct top_group **)list);
	for (i = 0; i < num; i++)
		json_group(list[i]);
	json_end();
	free(list);
	return 0;
}
