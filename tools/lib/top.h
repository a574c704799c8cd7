/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What smctop shows: connections and links, and how much they move.
 */
#ifndef TOOLS_TOP_H
#define TOOLS_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"
#include "paint.h"
#include "stats.h"

enum top_sort {			/* the first is the default */
	TOP_BY_RATE,
	TOP_BY_SENT,
	TOP_BY_RECEIVED,
	TOP_BY_UNSENT,
	TOP_BY_ADDRESS,
	TOP_SORTS
};

enum top_count {		/* of /proc/net/smc_stat */
	TOP_WR_POSTED,
	TOP_WR_COMPLETED,
	TOP_CDC_SENT,
	TOP_CDC_RECEIVED,
	TOP_WAIT_SLOT,
	TOP_WAIT_WINDOW,
	TOP_HANDSHAKES,
	TOP_ABORTED,
	TOP_COUNTS
};

enum {				/* top_flow.stall */
	TOP_STALL_OUT	= 1,	/* waits for the peer's reader */
	TOP_STALL_IN	= 2,	/* the peer waits for ours */
};

/**
 * struct top_options - what the user asked for
 * @groups: show links, not connections
 * @all: also connections by TCP
 * @reverse: the least first
 * @sort: by what
 * @delay_ms: between two looks
 */
struct top_options {
	bool groups;
	bool all;
	bool reverse;
	enum top_sort sort;
	unsigned int delay_ms;
};

/**
 * struct top_flow - what moves
 * @tx: bytes a second to the peer
 * @rx: bytes a second from the peer
 * @unsent: bytes in the send ring
 * @unread: bytes in the receive ring
 * @stall: TOP_STALL_* bits
 */
struct top_flow {
	uint64_t tx;
	uint64_t rx;
	uint64_t unsent;
	uint64_t unread;
	unsigned int stall;
};

/**
 * struct top_key - by what a connection is known again
 * @id: addresses, ports and cookie
 * @token: of its receive ring, 0 if it is not shown
 */
struct top_key {
	struct inet_diag_sockid id;
	uint32_t token;
};

/**
 * struct top_conn - a connection
 * @key: by what it is known again
 * @row: as sock_diag tells it
 * @known: @flow.tx and @flow.rx are known
 * @flow: what moves
 */
struct top_conn {
	struct top_key key;
	struct diag_row row;
	bool known;
	struct top_flow flow;
};

/**
 * struct top_group - a link with its connections
 *
 * SMC-D groups have one, of which @link to @peer_gid are not known.
 *
 * @smcr: SMC-R
 * @id: number of its group
 * @same: how many more groups cannot be told from it by their connections
 * @role: 1 for the server's side
 * @link: number of the link
 * @port: of @dev
 * @dev: RDMA device
 * @gid: local GID
 * @peer_gid: GID of the peer
 * @host: name of the peer, "" if it did not tell
 * @conns: how many connections
 * @stalled: how many of them wait
 * @flow: of all of them together
 */
struct top_group {
	bool smcr;
	uint32_t id;
	unsigned int same;
	unsigned int role;
	unsigned int link;
	unsigned int port;
	char dev[SMC_DIAG_IB_NAME_LEN];
	char gid[SMC_DIAG_GID_LEN];
	char peer_gid[SMC_DIAG_GID_LEN];
	char host[40];
	unsigned int conns;
	unsigned int stalled;
	struct top_flow flow;
};

/**
 * struct top_sample - all that was seen at one time
 * @ms: when, by a clock that is never set
 * @wall: when, in seconds of the calendar
 * @conns: connections, sorted by their key
 * @num: how many
 * @room: of @conns
 * @groups: links, sorted by what tells them apart
 * @num_groups: how many
 * @room_groups: of @groups
 * @modes: how many connections of each SMC_DIAG_MODE_*
 * @stats: counters of netlink
 * @have_counts: @counts are known
 * @counts: counters of the file
 */
struct top_sample {
	uint64_t ms;
	int64_t wall;
	struct top_conn *conns;
	size_t num;
	size_t room;
	struct top_group *groups;
	size_t num_groups;
	size_t room_groups;
	unsigned int modes[3];
	struct stats stats;
	bool have_counts;
	uint64_t counts[TOP_COUNTS];
};

typedef void (*top_line_fn)(enum paint how, const char *text, void *arg);

int top_sample(struct top_sample *s, unsigned int delay_ms);
void top_free(struct top_sample *s);
uint64_t top_open_requests(const struct top_sample *s);
struct top_group *top_group_find(const struct top_sample *s,
				 const struct diag_row *row);

void top_rates(struct top_sample *s, const struct top_sample *before);
uint64_t top_rate(uint64_t now, uint64_t before, uint64_t ms);
size_t top_num_rows(const struct top_options *opt, const struct top_sample *s);
size_t top_order_conns(const struct top_options *opt,
		       const struct top_sample *s, const struct top_conn **list);
size_t top_order_groups(const struct top_options *opt,
			const struct top_sample *s,
			const struct top_group **list);

const char *top_sort_name(enum top_sort sort);
void top_print_totals(const struct top_sample *s,
		      const struct top_sample *before, top_line_fn line,
		      void *arg);
int top_print_table(const struct top_options *opt, const struct top_sample *s,
		    size_t skip, top_line_fn line, void *arg);
int top_print_json(const struct top_options *opt, const struct top_sample *s,
		   const struct top_sample *before);

int top_screen(struct top_options *opt);

#endif /* TOOLS_TOP_H */
