// SPDX-License-Identifier: GPL-2.0
/*
 * The three forms of the counters: text, JSON, and the flat JSON object of
 * "stats json".
 *
 * Tests: tools/tests/tools.sh.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "reason.h"
#include "stats.h"
#include "tool.h"

static const char * const size_names[STATS_SIZES] = {
	"8K", "16K", "32K", "64K", "128K", "256K", "512K", "1024K", "G_1024K",
};

static const char * const ring_names[STATS_RINGS] = {
	"SIZE_SM_PEER_CNT", "SIZE_SM_CNT", "FULL_PEER_CNT", "FULL_CNT",
	"REUSE_CNT", "ALLOC_CNT", "DGRADE_CNT",
};

static const char * const value_names[STATS_VALUES - STATS_CLNT_V1] = {
	"CLNT_V1_SUCC", "CLNT_V2_SUCC", "SRV_V1_SUCC", "SRV_V2_SUCC",
	"SENDPAGE_CNT", "SPLICE_CNT", "CORK_CNT", "NDLY_CNT", "URG_DATA_CNT",
	"RX_BYTES", "TX_BYTES", "RX_CNT", "TX_CNT", "RX_RMB_USAGE",
	"TX_RMB_USAGE",
};

static uint64_t sum(const uint64_t *v, int num)
{
	uint64_t total = 0;

	while (num--)
		total += *v++;
	return total;
}

static const char *reason_label(uint32_t code)
{
	const struct reason_text *why = reason_find(code);

	return why ? why->label : "[unknown]";
}

static void line(const char *name, uint64_t value)
{
	printf("  %-28s %14" PRIu64 "\n", name, value);
}

static void line_sides(const char *name, const uint64_t *sides)
{
	printf("  %-28s %14" PRIu64, name, sides[0] + sides[1]);
	if (tool_opt.details)
		printf(" (client %" PRIu64 ", server %" PRIu64 ")",
		       sides[STATS_CLIENT], sides[STATS_SERVER]);
	putchar('\n');
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0.0;
}

/* 12345678 (12.35M) */
static void line_bytes(const char *name, uint64_t bytes)
{
	static const char units[] = "KMGTPE";
	double value = bytes;
	int unit = -1;

	printf("  %-28s %14" PRIu64, name, bytes);
	while (value >= 1000 && unit < 5) {
		value /= 1000;
		unit++;
	}
	if (unit >= 0)
		printf(" (%.2f%c)", value, units[unit]);
	putchar('\n');
}

static void line_share(const char *name, uint64_t part, uint64_t whole)
{
	printf("  %-28s %14" PRIu64 " (%.2f%%)\n", name, part,
	       percent(part, whole));
}

static int by_count(const void *a, const void *b)
{
	const struct stats_reason *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->code < y->code ? -1 : x->code > y->code;
}

/* The three most frequent reasons of a side. */
static void print_reasons(const struct stats *st, unsigned int server)
{
	struct stats_reason top[STATS_REASONS];
	unsigned int i, num = 0;

	for (i = 0; i < st->num; i++)
		if (st->reasons[i].server == server && st->reasons[i].count)
			top[num++] = st->reasons[i];
	qsort(top, num, sizeof(top[0]), by_count);
	if (num)
		printf("    %s\n", server ? "Server" : "Client");
	for (i = 0; i < num && i < 3; i++)
		printf("      %-24s %14" PRIu64 "\n",
		       reason_label(top[i].code), top[i].count);
}

static void print_summary(const struct stats *st, const uint64_t *v, bool smcr)
{
	uint64_t sides[2] = {
		v[STATS_CLNT_V1] + v[STATS_CLNT_V2],
		v[STATS_SRV_V1] + v[STATS_SRV_V2],
	};
	uint64_t conns = sides[0] + sides[1];
	uint64_t reqs = v[STATS_RX_CNT] + v[STATS_TX_CNT] +
			sum(v + STATS_SENDPAGE, 5);

	printf("SMC-%c Connections Summary\n", smcr ? 'R' : 'D');
	line("Total connections handled", conns + sum(st->hs_err, 2) +
	     sum(st->fback, 2));
	line_sides("SMC connections", sides);
	if (tool_opt.details) {
		line("  v1", v[STATS_CLNT_V1] + v[STATS_SRV_V1]);
		line("  v2", v[STATS_CLNT_V2] + v[STATS_SRV_V2]);
	}
	line_sides("Handshake errors", st->hs_err);
	printf("  %-28s %14.1f\n", "Avg requests per SMC conn",
	       conns ? (double)reqs / conns : 0.0);
	line_sides("TCP fallback", st->fback);
	if (tool_opt.details) {
		print_reasons(st, STATS_CLIENT);
		print_reasons(st, STATS_SERVER);
	}
}

static void print_sizes(const char *name, const uint64_t *v)
{
	int i;

	printf("  %-5s", name);
	for (i = 0; i < 7; i++)
		printf(" %7" PRIu64, v[i]);
	printf(" %7" PRIu64 "\n", v[7] + v[8]);
}

static void print_histogram(const uint64_t *bufs, const uint64_t *reqs)
{
	puts("            8KB    16KB    32KB    64KB   128KB   256KB   512KB  >512KB");
	print_sizes("Bufs", bufs);
	print_sizes("Reqs", reqs);
}

static void print_rx(const uint64_t *v)
{
	const uint64_t *ring = v + STATS_RX_RING;

	puts("\nRX Stats");
	line_bytes("Data transmitted (Bytes)", v[STATS_RX_BYTES]);
	line("Total requests", v[STATS_RX_CNT]);
	line_bytes("Buffer usage (Bytes)", v[STATS_RX_USAGE]);
	line_share("Buffer full", ring[RING_FULL], v[STATS_RX_CNT]);
	if (tool_opt.details) {
		line("  Buffer too small", ring[RING_SMALL]);
		line("  Buffer downgrades", ring[RING_DOWNGRADE]);
		line("  Buffer reuses", ring[RING_REUSE]);
	}
	print_histogram(v + STATS_RX_BUF, v + STATS_RX_REQ);
}

static void print_tx(const uint64_t *v)
{
	const uint64_t *ring = v + STATS_TX_RING;

	puts("\nTX Stats");
	line_bytes("Data transmitted (Bytes)", v[STATS_TX_BYTES]);
	line("Total requests", v[STATS_TX_CNT]);
	line_bytes("Buffer usage (Bytes)", v[STATS_TX_USAGE]);
	line_share("Buffer full", ring[RING_FULL], v[STATS_TX_CNT]);
	line_share("Buffer full (remote)", ring[RING_FULL_PEER],
		   v[STATS_TX_CNT]);
	line_share("Buffer too small", ring[RING_SMALL], v[STATS_TX_CNT]);
	line_share("Buffer too small (remote)", ring[RING_SMALL_PEER],
		   v[STATS_TX_CNT]);
	if (tool_opt.details) {
		line("  Buffer downgrades", ring[RING_DOWNGRADE]);
		line("  Buffer reuses", ring[RING_REUSE]);
	}
	print_histogram(v + STATS_TX_BUF, v + STATS_TX_REQ);
}

/**
 * stats_print() - as text
 * @st: counters
 * @smcr: those of SMC-R, otherwise those of SMC-D
 */
void stats_print(const struct stats *st, bool smcr)
{
	const uint64_t *v = smcr ? st->smcr : st->smcd;

	print_summary(st, v, smcr);
	print_rx(v);
	print_tx(v);
	puts("\nExtras");
	line("Special socket calls", sum(v + STATS_SENDPAGE, 5));
	if (!tool_opt.details)
		return;
	line("  cork", v[STATS_CORK]);
	line("  nodelay", v[STATS_NODELAY]);
	line("  sendpage", v[STATS_SENDPAGE]);
	line("  splice", v[STATS_SPLICE]);
	line("  urgent data", v[STATS_URGENT]);
}

static void flat_list(const char *prefix, const char * const *names, int num,
		      const uint64_t *v)
{
	char key[64];
	int i;

	for (i = 0; i < num; i++) {
		snprintf(key, sizeof(key), "%s%s", prefix, names[i]);
		json_uint(key, v[i]);
	}
}

/**
 * stats_flat() - as one flat JSON object
 * @st: counters
 * @smcr: those of SMC-R, otherwise those of SMC-D
 */
void stats_flat(const struct stats *st, bool smcr)
{
	const uint64_t *v = smcr ? st->smcr : st->smcd;

	json_begin(tool_opt.pretty);
	json_object(NULL);
	json_object(smcr ? "SMCR" : "SMCD");
	flat_list("SMC_INT_TX_BUF_", size_names, STATS_SIZES, v + STATS_TX_BUF);
	flat_list("SMC_INT_RX_BUF_", size_names, STATS_SIZES, v + STATS_RX_BUF);
	flat_list("SMC_INT_TX_REQ_", size_names, STATS_SIZES, v + STATS_TX_REQ);
	flat_list("SMC_INT_RX_REQ_", size_names, STATS_SIZES, v + STATS_RX_REQ);
	flat_list("SMC_TX_RMB_", ring_names, STATS_RINGS, v + STATS_TX_RING);
	flat_list("SMC_RX_RMB_", ring_names, STATS_RINGS, v + STATS_RX_RING);
	flat_list("SMC_", value_names, STATS_VALUES - STATS_CLNT_V1,
		  v + STATS_CLNT_V1);
	json_end();
}

static void json_sides(const char *key, const uint64_t *sides)
{
	json_object(key);
	json_uint("client", sides[STATS_CLIENT]);
	json_uint("server", sides[STATS_SERVER]);
	json_close();
}

static void json_sizes(const char *key, const uint64_t *v)
{
	int i;

	json_object(key);
	for (i = 0; i < STATS_SIZES; i++)
		json_uint(i < 8 ? size_names[i] : "larger", v[i]);
	json_close();
}

static void json_side(const char *key, const uint64_t *v, bool tx)
{
	const uint64_t *ring = v + (tx ? STATS_TX_RING : STATS_RX_RING);

	json_object(key);
	json_uint("bytes", v[tx ? STATS_TX_BYTES : STATS_RX_BYTES]);
	json_uint("requests", v[tx ? STATS_TX_CNT : STATS_RX_CNT]);
	json_uint("buffer_usage", v[tx ? STATS_TX_USAGE : STATS_RX_USAGE]);
	json_uint("buffer_full", ring[RING_FULL]);
	json_uint("buffer_full_remote", ring[RING_FULL_PEER]);
	json_uint("buffer_too_small", ring[RING_SMALL]);
	json_uint("buffer_too_small_remote", ring[RING_SMALL_PEER]);
	json_uint("buffer_downgrades", ring[RING_DOWNGRADE]);
	json_uint("buffer_reuses", ring[RING_REUSE]);
	json_uint("buffer_allocs", ring[RING_ALLOC]);
	json_sizes("buffers_by_size", v + (tx ? STATS_TX_BUF : STATS_RX_BUF));
	json_sizes("requests_by_size", v + (tx ? STATS_TX_REQ : STATS_RX_REQ));
	json_close();
}

static void json_reasons(const struct stats *st)
{
	unsigned int i;

	json_array("fallback_reasons");
	for (i = 0; i < st->num; i++) {
		const struct stats_reason *r = &st->reasons[i];
		const struct reason_text *why = reason_find(r->code);

		json_object(NULL);
		json_str("side", r->server ? "server" : "client");
		json_fmt("code", "0x%08x", r->code);
		json_str("label", reason_label(r->code));
		json_str("text", why ? why->sentence : "");
		json_uint("count", r->count);
		json_close();
	}
	json_close();
}

/**
 * stats_json() - as JSON
 * @st: counters
 * @smcr: those of SMC-R, otherwise those of SMC-D
 */
void stats_json(const struct stats *st, bool smcr)
{
	const uint64_t *v = smcr ? st->smcr : st->smcd;

	json_begin(tool_opt.pretty);
	json_array(NULL);
	json_object(NULL);
	json_str("transport", smcr ? "SMCR" : "SMCD");
	json_object("connections");
	json_uint("client_v1", v[STATS_CLNT_V1]);
	json_uint("client_v2", v[STATS_CLNT_V2]);
	json_uint("server_v1", v[STATS_SRV_V1]);
	json_uint("server_v2", v[STATS_SRV_V2]);
	json_close();
	json_sides("handshake_errors", st->hs_err);
	json_sides("fallbacks", st->fback);
	json_reasons(st);
	json_side("rx", v, false);
	json_side("tx", v, true);
	json_object("calls");
	json_uint("cork", v[STATS_CORK]);
	json_uint("nodelay", v[STATS_NODELAY]);
	json_uint("sendpage", v[STATS_SENDPAGE]);
	json_uint("splice", v[STATS_SPLICE]);
	json_uint("urgent", v[STATS_URGENT]);
	json_end();
}
