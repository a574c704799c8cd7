// SPDX-License-Identifier: GPL-2.0
/*
 * From two looks to bytes a second, and which row comes first.
 *
 * How much a connection moved is the distance of its cursors.  They count 65536
 * rounds of a ring: with the smallest one, of 16 KiB, that is 1 GiB between
 * two looks, beyond which a connection seems slower than it is.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <stdlib.h>
#include <string.h>

#include "top.h"

/**
 * top_rate() - how much a second
 * @now: counter at the end
 * @before: counter at the beginning
 * @ms: time between
 *
 * Return: the rate; 0 if the counter began again.
 */
uint64_t top_rate(uint64_t now, uint64_t before, uint64_t ms)
{
	if (now < before || !ms)
		return 0;
	/* what 64 bits cannot hold times 1000 has no fractions to lose */
	if (now - before > UINT64_MAX / 1000)
		return (now - before) / ms * 1000;
	return (now - before) * 1000 / ms;
}

static int cmp_key(const void *a, const void *b)
{
	const struct top_conn *x = a, *y = b;

	return memcmp(&x->key, &y->key, sizeof(x->key));
}

/* Of the two rings that count what goes out, the larger one counts longer. */
static uint64_t moved_out(const struct smc_diag_conninfo *now,
			  const struct smc_diag_conninfo *then)
{
	if (now->peer_rmbe_size > now->sndbuf_size)
		return diag_distance(now->peer_rmbe_size, &then->tx_prod,
				     &now->tx_prod);
	return diag_distance(now->sndbuf_size, &then->tx_sent, &now->tx_sent);
}

/*
 * A sender that waits says so in its last message.  If it had nothing more to
 * send then, full rings tell that it waits now.
 */
static unsigned int stall_of(const struct smc_diag_conninfo *c,
			     const struct top_flow *f)
{
	uint64_t used = diag_distance(c->peer_rmbe_size, &c->rx_cons,
				      &c->tx_prod);
	unsigned int stall = 0;

	if (c->tx_prod_flags & SMC_DIAG_PROD_BLOCKED ||
	    (f->unsent && used >= c->peer_rmbe_size))
		stall |= TOP_STALL_OUT;
	if (c->rx_prod_flags & SMC_DIAG_PROD_BLOCKED ||
	    (c->rmbe_size && f->unread >= c->rmbe_size))
		stall |= TOP_STALL_IN;
	return stall;
}

static void conn_flow(struct top_conn *c, const struct top_conn *then,
		      uint64_t ms)
{
	const struct smc_diag_conninfo *now = &c->row.conn;
	struct top_flow *f = &c->flow;

	memset(f, 0, sizeof(*f));
	c->known = false;
	if (!(c->row.have & DIAG_EXT(SMC_DIAG_CONNINFO)))
		return;
	f->unsent = diag_distance(now->sndbuf_size, &now->tx_sent,
				  &now->tx_prep);
	f->unread = diag_distance(now->rmbe_size, &now->tx_cons,
				  &now->rx_prod);
	f->stall = stall_of(now, f);
	if (!then || !(then->row.have & DIAG_EXT(SMC_DIAG_CONNINFO)))
		return;
	c->known = true;
	f->tx = top_rate(moved_out(now, &then->row.conn), 0, ms);
	f->rx = top_rate(diag_distance(now->rmbe_size,
				       &then->row.conn.rx_prod, &now->rx_prod),
			 0, ms);
}

static void add_to_group(struct top_group *g, const struct top_conn *c)
{
	g->conns++;
	g->stalled += !!c->flow.stall;
	g->flow.tx += c->flow.tx;
	g->flow.rx += c->flow.rx;
	g->flow.unsent += c->flow.unsent;
	g->flow.unread += c->flow.unread;
	g->flow.stall |= c->flow.stall;
}

/**
 * top_rates() - fill in what moves
 * @s: the later look
 * @before: the earlier one, NULL if there is none
 */
void top_rates(struct top_sample *s, const struct top_sample *before)
{
	uint64_t ms = before ? s->ms - before->ms : 0;
	struct top_group *g;
	size_t i;

	for (i = 0; i < s->num; i++) {
		struct top_conn *c = &s->conns[i], *then = NULL;

		if (before && before->num)
			then = bsearch(c, before->conns, before->num,
				       sizeof(*c), cmp_key);
		conn_flow(c, then, ms);
		g = top_group_find(s, &c->row);
		if (g)
			add_to_group(g, c);
	}
}

/* By what the rows are sorted just now: qsort() has no room for it. */
static const struct top_options *order;

static uint64_t weight(const struct top_flow *f)
{
	switch (order->sort) {
	case TOP_BY_SENT:
		return f->tx;
	case TOP_BY_RECEIVED:
		return f->rx;
	case TOP_BY_UNSENT:
		return f->unsent;
	case TOP_BY_RATE:
		return f->tx + f->rx;
	default:
		return 0;
	}
}

/* The most first; equals by what tells them apart. */
static int cmp_flow(const struct top_flow *x, const struct top_flow *y, int same)
{
	uint64_t a = weight(x), b = weight(y);
	int rc = a < b ? 1 : a > b ? -1 : same;

	return order->reverse ? -rc : rc;
}

static int cmp_id(const struct inet_diag_sockid *x,
		  const struct inet_diag_sockid *y)
{
	int rc = memcmp(x->idiag_dst, y->idiag_dst, sizeof(x->idiag_dst));

	if (!rc)
		rc = memcmp(&x->idiag_dport, &y->idiag_dport,
			    sizeof(x->idiag_dport));
	if (!rc)
		rc = memcmp(x->idiag_src, y->idiag_src, sizeof(x->idiag_src));
	if (!rc)
		rc = memcmp(&x->idiag_sport, &y->idiag_sport,
			    sizeof(x->idiag_sport));
	return rc;
}

static int cmp_conns(const void *a, const void *b)
{
	const struct top_conn *x = *(const struct top_conn * const *)a;
	const struct top_conn *y = *(const struct top_conn * const *)b;

	return cmp_flow(&x->flow, &y->flow, cmp_id(&x->key.id, &y->key.id));
}

static int cmp_groups(const void *a, const void *b)
{
	const struct top_group *x = *(const struct top_group * const *)a;
	const struct top_group *y = *(const struct top_group * const *)b;
	int same = x->id < y->id ? -1 : x->id > y->id;

	if (!same)
		same = (int)x->link - (int)y->link;
	return cmp_flow(&x->flow, &y->flow, same);
}

static bool is_shown(const struct top_options *opt, const struct top_conn *c)
{
	return opt->all || c->row.msg.diag_mode != SMC_DIAG_MODE_FALLBACK_TCP;
}

/**
 * top_num_rows() - how many rows the table has
 * @opt: which
 * @s: the look
 *
 * Return: how many.
 */
size_t top_num_rows(const struct top_options *opt, const struct top_sample *s)
{
	size_t i, num = 0;

	if (opt->groups)
		return s->num_groups;
	for (i = 0; i < s->num; i++)
		num += is_shown(opt, &s->conns[i]);
	return num;
}

/**
 * top_order_conns() - connections in the order in which they are shown
 * @opt: by what, and which
 * @s: the look
 * @list: result, room for all
 *
 * Return: how many.
 */
size_t top_order_conns(const struct top_options *opt,
		       const struct top_sample *s, const struct top_conn **list)
{
	size_t i, num = 0;

	for (i = 0; i < s->num; i++)
		if (is_shown(opt, &s->conns[i]))
			list[num++] = &s->conns[i];
	order = opt;
	if (num)
		qsort(list, num, sizeof(*list), cmp_conns);
	return num;
}

/**
 * top_order_groups() - links in the order in which they are shown
 * @opt: by what
 * @s: the look
 * @list: result, room for all
 *
 * Return: how many.
 */
size_t top_order_groups(const struct top_options *opt,
			const struct top_sample *s,
			const struct top_group **list)
{
	size_t i;

	for (i = 0; i < s->num_groups; i++)
		list[i] = &s->groups[i];
	order = opt;
	if (s->num_groups)
		qsort(list, s->num_groups, sizeof(*list), cmp_groups);
	return s->num_groups;
}
