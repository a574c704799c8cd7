// SPDX-License-Identifier: GPL-2.0
/*
 * The sockets of a namespace, for sock_diag: a row for each.
 *
 * Rows are numbered and sorted by number.  A context contains the row of its
 * socket.  A socket that fell back has no context: its row is replaced by a
 * past_row with the hash by which TCP's table is searched: that tells whether
 * the socket still exists.  A listener's child that is TCP's from birth gets a
 * past_row, too.  Each new past_row looks at REAP old ones, so that few stale
 * rows are left.
 *
 * Locks: smc_net.socks_lock (spinlock, BH; leaf) protects the rows.
 * Context: any, unless a function says otherwise.
 * Tests: selftests/vm/tests/diag.sh, netns.sh.
 */
#include <linux/export.h>
#include <linux/rbtree.h>
#include <linux/slab.h>
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
 * @row: among the others; its @sk is compared only
 * @node: in smc_net.past
 * @hash: of the connection, in TCP's table
 */
struct past_row {
	struct smc_row row;
	struct list_head node;
	u32 hash;
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

/* Is @sk in the table of connections?  RCU read section. */
static bool is_connection(const struct smc_net *sn, const struct sock *sk,
			  u32 hash)
{
	struct inet_hashinfo *hashinfo = sn->net->ipv4.tcp_death_row.hashinfo;
	struct inet_ehash_bucket *head = inet_ehash_bucket(hashinfo, hash);
	const struct hlist_nulls_node *node;
	const struct sock *one;

	do {
		sk_nulls_for_each_rcu(one, node, &head->chain)
			if (one == sk)
				return true;
		/* a socket was moved to another chain, whose end was reached */
	} while (get_nulls_value(node) != (hash & hashinfo->ehash_mask));
	return false;
}

/*
 * The socket of a connection that fell back, with a reference; or NULL.  After
 * the socket is gone, a new one with the same addresses and ports may have the
 * same memory.  If both are plain TCP, the new socket is shown for the old row,
 * too.  A socket cookie would prevent that, at a cost for each connection.
 */
static struct sock *row_find_sock(const struct smc_net *sn,
				  const struct past_row *past)
{
	struct sock *sk = past->row.sk;
	bool found;

	rcu_read_lock();
	found = is_connection(sn, sk, past->hash) &&
		refcount_inc_not_zero(&sk->sk_refcnt);
	rcu_read_unlock();
	if (!found)
		return NULL;
	/* a socket that the program has closed is not shown */
	if (sk_fullsock(sk) && READ_ONCE(sk->sk_hash) == past->hash &&
	    !smc_sock_has_context(sk) && !sock_flag(sk, SOCK_DEAD))
		return sk;
	sock_gen_put(sk);
	return NULL;
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

static struct past_row *new_past(struct smc_net *sn, struct sock *sk, u32 hash)
{
	struct past_row *past = reap(sn);

	if (!past)
		past = kmalloc(sizeof(*past), GFP_ATOMIC | __GFP_NOWARN);
	if (!past)
		return NULL;
	*past = (struct past_row){
		.row.sk = sk,
		.row.past = true,
		.hash = hash,
	};
	list_add_tail(&past->node, &sn->past);
	return past;
}

/**
 * smc_row_past() - a socket has fallen back
 * @sn: state of its namespace
 * @row: its row, which is replaced
 *
 * Without memory, or without a connection, the socket is not shown any more.
 *
 * Context: any, the socket is locked.
 */
void smc_row_past(struct smc_net *sn, struct smc_row *row)
{
	struct past_row *past = NULL;

	smc_sock_assert_locked(row->sk);
	spin_lock_bh(&sn->socks_lock);
	if (inet_sk(row->sk)->inet_dport)
		past = new_past(sn, row->sk, row->sk->sk_hash);
	if (past) {
		past->row.family = row->family;
		past->row.reason = row->reason;
		past->row.peer_diagnosis = row->peer_diagnosis;
		past->row.nr = row->nr;
		rb_replace_node(&row->node, &past->row.node, &sn->socks);
	} else {
		rb_erase(&row->node, &sn->socks);
	}
	spin_unlock_bh(&sn->socks_lock);
}

/* The hash of the connection that a request becomes. */
static u32 req_hash(const struct smc_net *sn, const struct request_sock *req)
{
	const struct inet_request_sock *ireq = inet_rsk(req);

	/* TCP does not store that of a SYN cookie or with Fast Open */
	if (likely(refcount_read(&req->rsk_refcnt)))
		return req_to_sk((struct request_sock *)req)->sk_hash;
#if IS_ENABLED(CONFIG_IPV6)
	if (ireq->ireq_family == AF_INET6 &&
	    !ipv6_addr_v4mapped(&ireq->ir_v6_rmt_addr))
		return inet6_ehashfn(sn->net, &ireq->ir_v6_loc_addr,
				     ireq->ir_num, &ireq->ir_v6_rmt_addr,
				     ireq->ir_rmt_port);
#endif
	return inet_ehashfn(sn->net, ireq->ir_loc_addr, ireq->ir_num,
			    ireq->ir_rmt_addr, ireq->ir_rmt_port);
}

/**
 * smc_row_plain_child() - a listener of ours has a child that is TCP's
 * @sn: state of the namespace
 * @req: the child's request
 * @sk: the child, which is being made: it can be found a moment later
 * @family: of the listener's row
 * @reason: why
 *
 * Context: BH disabled, the child's spinlock is held.
 */
void smc_row_plain_child(struct smc_net *sn, const struct request_sock *req,
			 struct sock *sk, u16 family, u32 reason)
{
	u32 hash = req_hash(sn, req);
	struct past_row *past;

	smc_sock_assert_locked(sk);
	spin_lock(&sn->socks_lock);
	past = new_past(sn, sk, hash);
	if (past) {
		past->row.family = family;
		past->row.reason = reason;
		insert(sn, &past->row);
	}
	spin_unlock(&sn->socks_lock);
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

/**
 * smc_row_reason() - why a socket is TCP's, which has fallen back meanwhile
 * @row: copy of its row
 * @reason: overwritten
 * @peer_diagnosis: overwritten
 *
 * Context: process.
 * Return: false: the row is gone.
 */
bool smc_row_reason(const struct smc_row *row, u32 *reason, u32 *peer_diagnosis)
{
	struct smc_net *sn = smc_net(sock_net(row->sk));
	const struct smc_row *now;
	bool found;

	spin_lock_bh(&sn->socks_lock);
	now = newest(sn, row->nr + 1);
	found = now && now->nr == row->nr;
	if (found) {
		*reason = READ_ONCE(now->reason);
		*peer_diagnosis = READ_ONCE(now->peer_diagnosis);
	}
	spin_unlock_bh(&sn->socks_lock);
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
		rows[num++] = (struct smc_row){
			.nr = row->nr,
			.sk = sk,
			.past = row->past,
			/* written with the socket locked */
			.family = READ_ONCE(row->family),
			.reason = READ_ONCE(row->reason),
			.peer_diagnosis = READ_ONCE(row->peer_diagnosis),
		};
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
