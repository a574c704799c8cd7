// SPDX-License-Identifier: GPL-2.0
/*
 * The sockets of a namespace, for sock_diag: a row for each.
 *
 * Rows are numbered and sorted by number.  A context contains the row of its
 * socket.  A socket that fell back has no context: its row is replaced by a
 * past_row with the connection's addresses and the socket's cookie.  A
 * listener's child that is TCP's from birth gets a past_row, too.  A lookup of
 * the connection, as TCP does it, tells whether such a socket still exists.
 * Each fallback looks at two old rows, so that few stale ones are left.
 *
 * Locks: smc_net.socks_lock (spinlock, BH; leaf) protects the rows.
 * Context: any, unless a function says otherwise.
 * Tests: selftests/vm/tests/diag.sh, netns.sh.
 */
#include <linux/export.h>
#include <linux/rbtree.h>
#include <linux/slab.h>
#include <linux/sock_diag.h>
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/tcp.h>

#include "sock.h"

/* Rows looked at in one hold of socks_lock; an array on the stack. */
#define BATCH		16

/* Old past_rows that each new one looks at. */
#define REAP		2

/**
 * struct past_row - a connection that fell back
 * @row: among the others
 * @node: in smc_net.past
 * @cookie: the socket's
 * @v6: not IPv4, nor IPv4 on an IPv6 socket
 * @sport: its port
 * @dport: the peer's
 * @bound_if: device it is bound to, or 0
 * @saddr: its address, IPv4 in word 0
 * @daddr: the peer's
 */
struct past_row {
	struct smc_row row;
	struct list_head node;
	u32 cookie[2];
	bool v6;
	__be16 sport;
	__be16 dport;
	int bound_if;
	struct in6_addr saddr;
	struct in6_addr daddr;
};

static struct smc_row *row_of(struct rb_node *node)
{
	return rb_entry_safe(node, struct smc_row, node);
}

/* Insert @row as the newest. */
static void insert(struct smc_net *sn, struct smc_row *row)
{
	struct rb_node **link, *parent = NULL;

	lockdep_assert_held(&sn->socks_lock);
	row->nr = ++sn->socks_nr;
	for (link = &sn->socks.rb_node; *link; link = &parent->rb_right)
		parent = *link;
	rb_link_node(&row->node, parent, link);
	rb_insert_color(&row->node, &sn->socks);
}

/**
 * smc_row_add() - a socket that can be seen from now on
 * @sn: state of its namespace
 * @row: its row, cleared
 * @sk: the socket
 */
void smc_row_add(struct smc_net *sn, struct smc_row *row, struct sock *sk)
{
	row->sk = sk;
	row->family = sk->sk_family;
	spin_lock_bh(&sn->socks_lock);
	insert(sn, row);
	spin_unlock_bh(&sn->socks_lock);
}

/**
 * smc_row_del() - undo smc_row_add()
 * @sn: state of the namespace
 * @row: row of a socket that is being destroyed
 */
void smc_row_del(struct smc_net *sn, struct smc_row *row)
{
	spin_lock_bh(&sn->socks_lock);
	rb_erase(&row->node, &sn->socks);
	spin_unlock_bh(&sn->socks_lock);
}

static void unlink_past(struct smc_net *sn, struct past_row *past)
{
	lockdep_assert_held(&sn->socks_lock);
	rb_erase(&past->row.node, &sn->socks);
	list_del(&past->node);
}

static void drop_past(struct smc_net *sn, struct past_row *past)
{
	unlink_past(sn, past);
	kfree(past);
}

/* The socket of a connection that fell back, with a reference; or NULL. */
static struct sock *row_find_sock(const struct smc_net *sn,
				  const struct past_row *past)
{
	struct inet_hashinfo *hashinfo = sn->net->ipv4.tcp_death_row.hashinfo;
	struct sock *sk;

	rcu_read_lock();
	if (!past->v6)
		sk = __inet_lookup_established(sn->net, hashinfo,
					       past->daddr.s6_addr32[0],
					       past->dport,
					       past->saddr.s6_addr32[0],
					       ntohs(past->sport),
					       past->bound_if, 0);
#if IS_ENABLED(CONFIG_IPV6)
	else
		sk = __inet6_lookup_established(sn->net, hashinfo,
						&past->daddr, past->dport,
						&past->saddr,
						ntohs(past->sport),
						past->bound_if, 0);
#else
	else
		sk = NULL;
#endif
	rcu_read_unlock();
	/* a socket that the program has closed is not shown */
	if (sk && (!sk_fullsock(sk) || sock_flag(sk, SOCK_DEAD) ||
		   sock_diag_check_cookie(sk, past->cookie))) {
		sock_gen_put(sk);
		sk = NULL;
	}
	return sk;
}

/*
 * Look at the REAP oldest rows and drop those without a connection.  One of
 * them is returned, to be used again; or NULL.
 */
static struct past_row *reap(struct smc_net *sn)
{
	struct past_row *past, *spare = NULL;
	struct sock *sk;
	int i;

	lockdep_assert_held(&sn->socks_lock);
	for (i = 0; i < REAP && !list_empty(&sn->past); i++) {
		past = list_first_entry(&sn->past, struct past_row, node);
		sk = row_find_sock(sn, past);
		if (sk) {
			list_move_tail(&past->node, &sn->past);
			sock_gen_put(sk);
			continue;
		}
		unlink_past(sn, past);
		kfree(spare);
		spare = past;
	}
	return spare;
}

static struct past_row *new_past(struct smc_net *sn, struct sock *sk)
{
	struct past_row *past = reap(sn);

	if (!past)
		past = kmalloc(sizeof(*past), GFP_ATOMIC | __GFP_NOWARN);
	if (!past)
		return NULL;
	memset(past, 0, sizeof(*past));
	past->row.past = true;
	sock_diag_save_cookie(sk, past->cookie);
	return past;
}

/* The addresses of a connection, from its socket. */
static void fill_past(struct past_row *past, const struct sock *sk)
{
	past->sport = inet_sk(sk)->inet_sport;
	past->dport = inet_sk(sk)->inet_dport;
	past->bound_if = READ_ONCE(sk->sk_bound_dev_if);
	past->saddr.s6_addr32[0] = sk->sk_rcv_saddr;
	past->daddr.s6_addr32[0] = sk->sk_daddr;
#if IS_ENABLED(CONFIG_IPV6)
	past->v6 = sk->sk_family == AF_INET6 &&
		   !ipv6_addr_v4mapped(&sk->sk_v6_daddr);
	if (past->v6) {
		past->saddr = sk->sk_v6_rcv_saddr;
		past->daddr = sk->sk_v6_daddr;
	}
#endif
}

/* The same of a child that is being made. */
static void fill_past_req(struct past_row *past,
			  const struct inet_request_sock *ireq)
{
	past->sport = htons(ireq->ir_num);
	past->dport = ireq->ir_rmt_port;
	past->bound_if = ireq->ir_iif;
	past->saddr.s6_addr32[0] = ireq->ir_loc_addr;
	past->daddr.s6_addr32[0] = ireq->ir_rmt_addr;
#if IS_ENABLED(CONFIG_IPV6)
	past->v6 = ireq->ireq_family == AF_INET6;
	if (past->v6) {
		past->saddr = ireq->ir_v6_loc_addr;
		past->daddr = ireq->ir_v6_rmt_addr;
	}
#endif
}

/**
 * smc_row_past() - a socket has fallen back
 * @sn: state of its namespace
 * @row: its row, which is replaced
 *
 * Without memory, or a connection, nothing is left of it.
 *
 * Context: any, the socket is locked.
 */
void smc_row_past(struct smc_net *sn, struct smc_row *row)
{
	struct past_row *past = NULL;

	spin_lock_bh(&sn->socks_lock);
	if (inet_sk(row->sk)->inet_dport)
		past = new_past(sn, row->sk);
	if (past) {
		fill_past(past, row->sk);
		past->row.family = row->family;
		past->row.reason = row->reason;
		past->row.peer_diagnosis = row->peer_diagnosis;
		past->row.nr = row->nr;
		rb_replace_node(&row->node, &past->row.node, &sn->socks);
		list_add_tail(&past->node, &sn->past);
	} else {
		rb_erase(&row->node, &sn->socks);
	}
	spin_unlock_bh(&sn->socks_lock);
}

/**
 * smc_row_plain_child() - a listener of ours has a child that is TCP's
 * @sn: state of the namespace
 * @req: the child's request
 * @sk: the child, which is being made: it can be found a moment later
 * @family: of the listener's row
 * @reason: why
 */
void smc_row_plain_child(struct smc_net *sn, const struct request_sock *req,
			 struct sock *sk, u16 family, u32 reason)
{
	struct past_row *past;

	spin_lock_bh(&sn->socks_lock);
	past = new_past(sn, sk);
	if (past) {
		fill_past_req(past, inet_rsk(req));
		past->row.family = family;
		past->row.reason = reason;
		insert(sn, &past->row);
		list_add_tail(&past->node, &sn->past);
	}
	spin_unlock_bh(&sn->socks_lock);
}

/* The newest row that is older than number @before. */
static struct smc_row *newest(const struct smc_net *sn, u64 before)
{
	struct rb_node *node = sn->socks.rb_node;
	struct smc_row *row, *found = NULL;

	while (node) {
		row = row_of(node);
		if (row->nr < before) {
			found = row;
			node = node->rb_right;
		} else {
			node = node->rb_left;
		}
	}
	return found;
}

/*
 * Up to BATCH rows older than *@before, newest first, each with a reference of
 * its socket; *@before becomes the number of the last one looked at.
 */
static int collect(struct smc_net *sn, u64 *before, struct smc_row *rows)
{
	struct smc_row *row, *next;
	struct sock *sk;
	int num = 0, i;

	spin_lock_bh(&sn->socks_lock);
	row = newest(sn, *before);
	for (i = 0; row && i < BATCH; i++, row = next) {
		next = row_of(rb_prev(&row->node));
		*before = row->nr;
		if (row->past) {
			sk = row_find_sock(sn, container_of(row, struct past_row,
							    row));
			if (!sk) {
				drop_past(sn, container_of(row, struct past_row,
							   row));
				continue;
			}
		} else {
			sk = row->sk;
			if (!refcount_inc_not_zero(&sk->sk_refcnt))
				continue;
		}
		rows[num] = *row;
		rows[num++].sk = sk;
	}
	if (!row)
		*before = 0;
	spin_unlock_bh(&sn->socks_lock);
	return num;
}

/**
 * smc_sock_walk() - call a function for every socket of a namespace
 * @net: namespace
 * @from: 0, or only sockets older than this number; a socket that lives on
 *	is met once by walks that go on where the one before stopped
 * @fn: returns != 0 to stop; gets a copy of the socket's row
 * @arg: handed to @fn
 *
 * Context: process; the socket is referenced while @fn runs, no lock is held.
 * Return: what @fn returned, or 0.
 */
int smc_sock_walk(struct net *net, u64 from,
		  int (*fn)(const struct smc_row *row, void *arg), void *arg)
{
	struct smc_net *sn = smc_net(net);
	struct smc_row rows[BATCH];
	int i, num, rc = 0;

	if (!from)
		from = U64_MAX;
	while (from && !rc) {
		num = collect(sn, &from, rows);
		for (i = 0; i < num; i++) {
			if (!rc)
				rc = fn(&rows[i], arg);
			sock_put(rows[i].sk);
		}
		cond_resched();
	}
	return rc;
}
EXPORT_SYMBOL_GPL(smc_sock_walk);

/**
 * smc_row_net_init() - no socket yet
 * @sn: state of a new namespace
 */
void smc_row_net_init(struct smc_net *sn)
{
	spin_lock_init(&sn->socks_lock);
	sn->socks = RB_ROOT;
	INIT_LIST_HEAD(&sn->past);
}

/**
 * smc_row_net_exit() - undo smc_row_net_init()
 * @sn: state of a namespace without sockets
 *
 * Context: process.
 */
void smc_row_net_exit(struct smc_net *sn)
{
	struct past_row *past, *next;

	spin_lock_bh(&sn->socks_lock);
	list_for_each_entry_safe(past, next, &sn->past, node)
		drop_past(sn, past);
	spin_unlock_bh(&sn->socks_lock);
}
