// SPDX-License-Identifier: GPL-2.0
/*
 * What smctop shows, line by line, on the screen and elsewhere.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format.h"
#include "reason.h"
#include "top.h"

#define LINE	256

/**
 * struct printer - where lines go
 * @line: called for each
 * @arg: for @line
 */
struct printer {
	top_line_fn line;
	void *arg;
};

static void __printf(3, 4) put(const struct printer *p, enum paint how,
			       const char *format, ...)
{
	char text[LINE];
	va_list args;
	size_t len;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (len = strlen(text); len && text[len - 1] == ' '; len--)
		text[len - 1] = 0;
	p->line(how, text, p->arg);
}

/* At most six characters: 9999, 9.8K, 976M; valid for 16 calls. */
static const char *human(uint64_t value)
{
	static const char units[] = "KMGTPE";
	static char ring[16][16];
	static unsigned int turn;
	char *text = ring[turn++ % 16];
	double v = value;
	int unit = -1;

	if (value < 10000) {
		snprintf(text, sizeof(ring[0]), "%" PRIu64, value);
		return text;
	}
	while (unit < 5 && (v >= 999.5 || unit < 0)) {
		v /= 1024;
		unit++;
	}
	snprintf(text, sizeof(ring[0]), v < 99.95 ? "%.1f%c" : "%.0f%c", v,
		 units[unit]);
	return text;
}

static const char *stall_name(unsigned int stall)
{
	static const char * const names[] = { "-", "out", "in", "both" };

	return names[stall & 3];
}

/**
 * top_sort_name() - name of an order
 * @sort: the order
 *
 * Return: constant text.
 */
const char *top_sort_name(enum top_sort sort)
{
	static const char * const names[TOP_SORTS] = {
		[TOP_BY_RATE] = "rate", [TOP_BY_SENT] = "sent",
		[TOP_BY_RECEIVED] = "received", [TOP_BY_UNSENT] = "unsent",
		[TOP_BY_ADDRESS] = "address",
	};

	return names[sort];
}

/* Numbers of a transport, a second. */
static void print_transport(const struct printer *p, const char *name,
			    const uint64_t *now, const uint64_t *then,
			    uint64_t ms)
{
	const char *v[6];
	static const int which[6] = {
		STATS_TX_BYTES, STATS_TX_CNT, STATS_RX_BYTES, STATS_RX_CNT,
		STATS_TX_RING + RING_FULL, STATS_TX_RING + RING_FULL_PEER,
	};
	int i;

	for (i = 0; i < 6; i++)
		v[i] = human(top_rate(now[which[i]], then[which[i]], ms));
	put(p, PAINT_PLAIN, "%-6s %8s %8s %10s %8s %9s %10s", name, v[0], v[1],
	    v[2], v[3], v[4], v[5]);
}

static void print_counts(const struct printer *p, const struct top_sample *s,
			 const struct top_sample *before, uint64_t ms)
{
	const char *v[TOP_COUNTS];
	uint64_t fell, fell_before;
	int i;

	fell = s->stats.fback[0] + s->stats.fback[1];
	fell_before = before->stats.fback[0] + before->stats.fback[1];
	if (!s->have_counts || !before->have_counts) {
		put(p, PAINT_PLAIN, "A second: %s fallbacks",
		    human(top_rate(fell, fell_before, ms)));
		return;
	}
	for (i = 0; i < TOP_COUNTS; i++)
		v[i] = human(top_rate(s->counts[i], before->counts[i], ms));
	put(p, PAINT_PLAIN,
	    "A second: %s work requests (%s open), %s CDCs out, %s in",
	    v[TOP_WR_POSTED], human(top_open_requests(s)),
	    v[TOP_CDC_SENT], v[TOP_CDC_RECEIVED]);
	put(p, PAINT_PLAIN,
	    "  %s waits for a slot, %s for the peer; %s handshakes, %s fallbacks, %s aborts",
	    v[TOP_WAIT_SLOT], v[TOP_WAIT_WINDOW], v[TOP_HANDSHAKES],
	    human(top_rate(fell, fell_before, ms)), v[TOP_ABORTED]);
}

/**
 * top_print_totals() - the lines on top
 * @s: the later look
 * @before: the earlier one; @s itself if there is none
 * @line: called for each line
 * @arg: for @line
 */
void top_print_totals(const struct top_sample *s,
		      const struct top_sample *before, top_line_fn line,
		      void *arg)
{
	const struct printer p = { line, arg };
	uint64_t ms = s->ms - before->ms;
	time_t wall = s->wall;
	char clock[16] = "";
	struct tm tm;

	if (localtime_r(&wall, &tm))
		strftime(clock, sizeof(clock), "%T", &tm);
	put(&p, PAINT_PLAIN,
	    "smctop %s  %u.%u s  %u SMC-R, %u SMC-D, %u TCP; %zu links",
	    clock, (unsigned int)(ms / 1000), (unsigned int)(ms % 1000 / 100),
	    s->modes[SMC_DIAG_MODE_SMCR], s->modes[SMC_DIAG_MODE_SMCD],
	    s->modes[SMC_DIAG_MODE_FALLBACK_TCP], s->num_groups);
	put(&p, PAINT_PLAIN, "%-6s %8s %8s %10s %8s %9s %10s", "", "Sent/s",
	    "Calls/s", "Received/s", "Calls/s", "Full/s", "PeerFull/s");
	print_transport(&p, "SMC-R", s->stats.smcr, before->stats.smcr, ms);
	print_transport(&p, "SMC-D", s->stats.smcd, before->stats.smcd, ms);
	print_counts(&p, s, before, ms);
}

static const char *end_text(const struct diag_row *row, const __be32 *addr,
			    __be16 port)
{
	static char ring[2][64];
	static unsigned int turn;
	char *text = ring[turn++ % 2];

	snprintf(text, sizeof(ring[0]),
		 diag_is_v4(row, addr) ? "%s:%u" : "[%s]:%u",
		 diag_addr(row, addr), ntohs(port));
	return text;
}

static void print_conn(const struct printer *p, const struct top_conn *c)
{
	const struct inet_diag_sockid *id = &c->row.msg.id;
	const struct reason_text *why = reason_find(c->row.fallback.reason);
	unsigned int mode = c->row.msg.diag_mode;
	bool tcp = mode == SMC_DIAG_MODE_FALLBACK_TCP;
	enum paint how = tcp ? PAINT_WARN : PAINT_PLAIN;
	const char *src, *dst;

	if (c->flow.stall)
		how = PAINT_BAD;
	else if (c->flow.tx || c->flow.rx)
		how = PAINT_GOOD;
	src = end_text(&c->row, id->idiag_src, id->idiag_sport);
	dst = end_text(&c->row, id->idiag_dst, id->idiag_dport);
	put(p, how, "%-5s %8s %10s %7s %7s %-5s %-21s %-21s%s%s",
	    diag_mode_name(mode), c->known ? human(c->flow.tx) : "-",
	    c->known ? human(c->flow.rx) : "-",
	    tcp ? "-" : human(c->flow.unsent),
	    tcp ? "-" : human(c->flow.unread), stall_name(c->flow.stall), src,
	    dst, tcp ? " " : "", tcp && why ? why->label : "");
}

static void print_group(const struct printer *p, const struct top_group *g)
{
	enum paint how = PAINT_PLAIN;
	char same[16] = "", dev[32];

	if (g->stalled)
		how = PAINT_BAD;
	else if (g->flow.tx || g->flow.rx)
		how = PAINT_GOOD;
	if (g->same)
		snprintf(same, sizeof(same), "+%u", g->same);
	snprintf(dev, sizeof(dev), g->smcr ? "%.20s/%u" : "-", g->dev, g->port);
	put(p, how, "%08x%-3s %-5s %-4s %8s %10s %7s %7s %7u %6u %-10s %s",
	    g->id, same, g->smcr ? "SMC-R" : "SMC-D",
	    !g->smcr ? "-" : g->role ? "SERV" : "CLNT", human(g->flow.tx),
	    human(g->flow.rx), human(g->flow.unsent), human(g->flow.unread),
	    g->stalled, g->conns, dev, *g->host ? g->host : g->peer_gid);
}

/**
 * top_print_table() - the rows below
 * @opt: which, and in which order
 * @s: the look
 * @skip: how many rows to leave out at the beginning
 * @line: called for each line
 * @arg: for @line
 *
 * Return: 0 or -ENOMEM.
 */
int top_print_table(const struct top_options *opt, const struct top_sample *s,
		    size_t skip, top_line_fn line, void *arg)
{
	const struct printer p = { line, arg };
	const void **list;
	size_t i, num;

	list = calloc((opt->groups ? s->num_groups : s->num) + 1,
		      sizeof(*list));
	if (!list)
		return -ENOMEM;
	if (opt->groups) {
		num = top_order_groups(opt, s, (const struct top_group **)list);
		put(&p, PAINT_HEAD,
		    "LG-ID       Mode  Role   Sent/s Received/s  Unsent  Unread Stalled #Conns Device     Peer");
		for (i = skip; i < num; i++)
			print_group(&p, list[i]);
	} else {
		num = top_order_conns(opt, s, (const struct top_conn **)list);
		put(&p, PAINT_HEAD,
		    "Mode    Sent/s Received/s  Unsent  Unread Stall %-21s Peer Address",
		    "Local Address");
		for (i = skip; i < num; i++)
			print_conn(&p, list[i]);
	}
	free(list);
	return 0;
}
