// SPDX-License-Identifier: GPL-2.0
/*
 * smctop looks: connections from sock_diag, links and counters from generic
 * netlink, more counters from /proc/net/smc_stat where there is that file.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "genl.h"
#include "lgr.h"
#include "procstat.h"
#include "replay.h"
#include "ss.h"
#include "tool.h"
#include "top.h"

/* One more place at the end of a growing array. */
static void *more(void **array, size_t num, size_t *room, size_t size)
{
	if (num == *room) {
		size_t bigger = *room ? 2 * *room : 64;
		void *p = reallocarray(*array, bigger, size);

		if (!p)
			return NULL;
		*array = p;
		*room = bigger;
	}
	return memset((char *)*array + num * size, 0, size);
}

static int on_sock(const struct diag_row *row, void *arg)
{
	unsigned int state = row->msg.diag_state;
	unsigned int mode = row->msg.diag_mode;
	struct top_sample *s = arg;
	struct top_conn *c;

	if (state == SS_INIT || state == SS_LISTEN || state == SS_CLOSED)
		return 0;
	c = more((void **)&s->conns, s->num, &s->room, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->row = *row;
	c->key.id = row->msg.id;
	c->key.token = row->conn.token;
	s->num++;
	if (mode < 3)
		s->modes[mode]++;
	return 0;
}

static int cmp_key(const void *a, const void *b)
{
	const struct top_conn *x = a, *y = b;

	return memcmp(&x->key, &y->key, sizeof(x->key));
}

/* What the connections of a link know about it too. */
static int cmp_group(const void *a, const void *b)
{
	const struct top_group *x = a, *y = b;
	int rc;

	if (x->smcr != y->smcr)
		return x->smcr ? -1 : 1;
	if (!x->smcr)
		return x->id < y->id ? -1 : x->id > y->id;
	rc = strcmp(x->dev, y->dev);
	if (!rc)
		rc = strcmp(x->gid, y->gid);
	if (!rc)
		rc = strcmp(x->peer_gid, y->peer_gid);
	if (!rc)
		rc = (int)x->port - (int)y->port;
	if (!rc)
		rc = (int)x->link - (int)y->link;
	if (!rc)
		rc = (int)x->role - (int)y->role;
	return rc;
}

/**
 * struct groups - links being read
 * @s: where they go
 * @lgr: the group the next links belong to
 */
struct groups {
	struct top_sample *s;
	struct top_group lgr;
};

static int add_group(struct top_sample *s, const struct top_group *g)
{
	struct top_group *place;

	place = more((void **)&s->groups, s->num_groups, &s->room_groups,
		     sizeof(*place));
	if (!place)
		return -ENOMEM;
	*place = *g;
	s->num_groups++;
	return 0;
}

static void take_host(struct top_group *g, const struct genl_attrs *a, int type)
{
	struct lgr_v2 v2;

	lgr_parse_v2(&v2, a, type);
	snprintf(g->host, sizeof(g->host), "%s", v2.host);
}

static int on_link_r(int cmd, const struct genl_attrs *top, void *arg)
{
	struct groups *list = arg;
	struct top_group g;
	struct genl_attrs a;

	if (top->at[SMC_GEN_LGR_SMCR]) {
		genl_nest(&a, top, SMC_GEN_LGR_SMCR);
		memset(&list->lgr, 0, sizeof(list->lgr));
		list->lgr.smcr = true;
		list->lgr.id = genl_uint(&a, SMC_NLA_LGR_R_ID);
		list->lgr.role = genl_uint(&a, SMC_NLA_LGR_R_ROLE);
		take_host(&list->lgr, &a, SMC_NLA_LGR_R_V2_COMMON);
	}
	if (!top->at[SMC_GEN_LINK_SMCR])
		return 0;
	genl_nest(&a, top, SMC_GEN_LINK_SMCR);
	g = list->lgr;
	g.link = genl_uint(&a, SMC_NLA_LINK_ID);
	g.port = genl_uint(&a, SMC_NLA_LINK_IB_PORT);
	snprintf(g.dev, sizeof(g.dev), "%.63s",
		 genl_str(&a, SMC_NLA_LINK_IB_DEV));
	snprintf(g.gid, sizeof(g.gid), "%.39s",
		 genl_str(&a, SMC_NLA_LINK_GID));
	snprintf(g.peer_gid, sizeof(g.peer_gid), "%.39s",
		 genl_str(&a, SMC_NLA_LINK_PEER_GID));
	return add_group(list->s, &g);
}

static int on_lgr_d(int cmd, const struct genl_attrs *top, void *arg)
{
	struct groups *list = arg;
	struct top_group g = { .smcr = false };
	struct genl_attrs a;

	if (!top->at[SMC_GEN_LGR_SMCD])
		return 0;
	genl_nest(&a, top, SMC_GEN_LGR_SMCD);
	g.id = genl_uint(&a, SMC_NLA_LGR_D_ID);
	take_host(&g, &a, SMC_NLA_LGR_D_V2_COMMON);
	return add_group(list->s, &g);
}

/* Groups whose connections look the same become one row. */
static void merge_groups(struct top_sample *s)
{
	size_t i, kept = 0;

	if (s->num_groups)
		qsort(s->groups, s->num_groups, sizeof(*s->groups), cmp_group);
	for (i = 0; i < s->num_groups; i++) {
		struct top_group *last = &s->groups[kept ? kept - 1 : 0];

		if (kept && !cmp_group(last, &s->groups[i])) {
			last->same++;
			if (s->groups[i].id < last->id)
				last->id = s->groups[i].id;
		} else {
			s->groups[kept++] = s->groups[i];
		}
	}
	s->num_groups = kept;
}

static int take_groups(struct top_sample *s)
{
	struct groups list = { .s = s };
	int rc;

	rc = genl_dump(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_LINK_SMCR,
		       on_link_r, &list);
	if (!rc)
		rc = genl_dump(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_LGR_SMCD,
			       on_lgr_d, &list);
	if (!rc)
		merge_groups(s);
	return rc;
}

/**
 * top_group_find() - link of a connection
 * @s: where to look
 * @row: the connection
 *
 * Return: the link, or NULL if it is not known.
 */
struct top_group *top_group_find(const struct top_sample *s,
				 const struct diag_row *row)
{
	const struct smc_diag_linkinfo *link = &row->lgr.lnk[0];
	struct top_group g = { .smcr = false };

	if (row->have & DIAG_EXT(SMC_DIAG_LGRINFO)) {
		g.smcr = true;
		g.role = row->lgr.role;
		g.link = link->link_id;
		g.port = link->ibport;
		memcpy(g.dev, link->ibname, sizeof(g.dev));
		memcpy(g.gid, link->gid, sizeof(g.gid));
		memcpy(g.peer_gid, link->peer_gid, sizeof(g.peer_gid));
	} else if (row->have & DIAG_EXT(SMC_DIAG_DMBINFO)) {
		g.id = row->dmb.linkid;
	} else {
		return NULL;
	}
	return s->num_groups ? bsearch(&g, s->groups, s->num_groups,
				       sizeof(g), cmp_group) : NULL;
}

static int take_counts(struct top_sample *s)
{
	static const char * const names[TOP_COUNTS] = {
		[TOP_WR_POSTED] = "WrPosted",
		[TOP_WR_COMPLETED] = "WrCompleted",
		[TOP_CDC_SENT] = "TxCdc",
		[TOP_CDC_RECEIVED] = "RxCdc",
		[TOP_WAIT_SLOT] = "TxBusy",
		[TOP_WAIT_WINDOW] = "TxWindow",
		[TOP_HANDSHAKES] = "HsStarted",
		[TOP_ABORTED] = "ConnAborted",
	};
	struct procstat *c = calloc(PROCSTAT_MAX, sizeof(*c));
	int i, j, num;

	if (!c)
		return -ENOMEM;
	num = procstat_read(c);
	s->have_counts = num >= 0;
	for (i = 0; i < num; i++)
		for (j = 0; j < TOP_COUNTS; j++)
			if (!strcmp(c[i].name, names[j]))
				s->counts[j] = c[i].value;
	free(c);
	return 0;
}

static void take_time(struct top_sample *s, unsigned int delay_ms)
{
	struct timespec now;

	if (replay_active()) {
		s->ms = (uint64_t)replay_steps() * delay_ms;
		s->wall = s->ms / 1000;
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	s->ms = (uint64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	s->wall = time(NULL);
}

/**
 * top_sample() - look once
 * @s: result; memory of an earlier look is used again
 * @delay_ms: how much time passes between two recordings, in tests
 *
 * Return: exit status, after a message if something went wrong.
 */
int top_sample(struct top_sample *s, unsigned int delay_ms)
{
	int rc;

	s->num = 0;
	s->num_groups = 0;
	memset(s->modes, 0, sizeof(s->modes));
	memset(s->counts, 0, sizeof(s->counts));
	take_time(s, delay_ms);
	rc = diag_dump(DIAG_EXT(SMC_DIAG_CONNINFO) |
		       DIAG_EXT(SMC_DIAG_LGRINFO) |
		       DIAG_EXT(SMC_DIAG_DMBINFO), on_sock, s);
	if (rc)
		return diag_complain(rc);
	if (s->num)
		qsort(s->conns, s->num, sizeof(*s->conns), cmp_key);
	rc = take_groups(s);
	if (rc)
		return genl_complain(rc, "list the link groups");
	rc = stats_read(&s->stats);
	if (!rc)
		rc = take_counts(s);
	return genl_complain(rc, "read the counters");
}

/**
 * top_open_requests() - work requests that have not completed
 * @s: the look
 *
 * The counters are read one after the other while traffic goes on, so that one
 * may have completed that was not posted yet when it was counted.
 */
uint64_t top_open_requests(const struct top_sample *s)
{
	uint64_t posted = s->counts[TOP_WR_POSTED];
	uint64_t completed = s->counts[TOP_WR_COMPLETED];

	return posted > completed ? posted - completed : 0;
}

/**
 * top_free() - free the memory of a look
 * @s: the look
 */
void top_free(struct top_sample *s)
{
	free(s->conns);
	free(s->groups);
	memset(s, 0, sizeof(*s));
}
