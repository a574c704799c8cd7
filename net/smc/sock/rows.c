// SPDX-License-Identifier: GPL-2.0
/*
 * The sockets of a namespace, for sock_diag: a row for each.
 *
 * Rows are numbered, and in lists by number, so that adding one costs next to
 * nothing and a walk can go on where it stopped.  A context contains the row of its
 * socket.  A socket that fell back has no context: its row is replaced by a
 * past_row with the hash by which TCP's table is searched: that tells whether
 * the socket still exists.  A listener's child that is TCP's from birth gets a
 * past_row, too.  Each new past_row looks at REAP old ones, so that there are not
 * many more stale rows than others.
 *
 * Locks: smc_net.socks_lock (spinlock, BH; leaf) protects the rows.
 * Context: any, unless a function says otherwise.
 * Tests: selftests/vm/tests/diag.sh, netns.sh.
 */
#include <linux/bitops.h>
#include <linux/export.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/tcp.h>

#include "sock.h"

/* Rows looked at in one hold of socks_lock; an array on the stack. */
#define BATCH		16

/* Old past_rows that each new one looks at. */
#define REAP		2

/*
 * How long a row is left that has no connection, in jiffies: TCP puts a child into
 * its table a moment after it has told us of it.
 */
#define GRACE		(HZ / 8)

/**
 * struct past_row - a connection that fell back
 * @row: among the others; its @sk is compared only
 * @node: in smc_net.past
 * @born: when it was made, in jiffies
 */
struct past_row {
	struct smc_row row;
	struct list_head node;
	unsigned long born;
};

/* The list of smc_net.socks that has the row with number @nr. */
static unsigned int list_of(u64 nr)
{
	BUILD_BUG_ON(SMC_ROW_LISTS != 256);
	return nr >> 56;
}

/*
 * Insert @row.  Its number is the count of rows with the last byte in front: that
 * deals rows out to the lists, and each list is sorted, the greatest number first.
 */
static void row_insert(struct smc_net *sn, struct smc_row *row)
{
	lockdep_assert_held(&sn->socks_lock);
	row->nr = ror64(++sn->socks_count, 8);
	hlist_add_head(&row->node, &sn->socks[list_of(row->nr)]);
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
	row_insert(sn, row);
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
	hlist_del(&row->node);
	spin_unlock_bh(&sn->socks_lock);
}

static void unlink_past(struct smc_net *sn, struct past_row *past)
{
	lockdep_assert_held(&sn->socks_lock);
	hlist_del(&past->row.node);
	list_del(&past->node);
}

static void drop_past(struct smc_net *sn, struct past_row *past)
{
	unlink_past(sn, past);
	kfree(past);
}

static bool is_young(const struct past_row *past)
{
	return time_before(jiffies, past->born + GRACE);
}

/* Is @sk in the table of connections?  BH is disabled: RCU keeps what is in it. */
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

	lockdep_assert_held(&sn->socks_lock);
	if (!is_connection(sn, sk, past->row.hash) ||
	    !refcount_inc_not_zero(&sk->sk_refcnt))
		return NULL;
	/* a socket that the program has closed is not shown */
	if (sk_fullsock(sk) && READ_ONCE(sk->sk_hash) == past->row.hash &&
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
	int i;

	lockdep_assert_held(&sn->socks_lock);
	for (i = 0; i < REAP && !list_empty(&sn->past); i++) {
		past = list_first_entry(&sn->past, struct past_row, node);
		if (is_young(past))
			break;
		if (is_connection(sn, past->row.sk, past->row.hash)) {
			list_move_tail(&past->node, &sn->past);
			continue;
		}
		unlink_past(sn, past);
		if (!spare)
			spare = past;
		else
			kfree(past);
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
		.row.hash = hash,
		.born = jiffies,
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
		hlist_add_before(&past->row.node, &row->node);
	}
	hlist_del(&row->node);
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
		row_insert(sn, &past->row);
	}
	spin_unlock(&sn->socks_lock);
}

/* The row with a number, or NULL. */
static struct smc_row *find(const struct smc_net *sn, u64 nr)
{
	struct smc_row *row;

	lockdep_assert_held(&sn->socks_lock);
	hlist_for_each_entry(row, &sn->socks[list_of(nr)], node)
		if (row->nr == nr)
			return row;
	return NULL;
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

	spin_lock_bh(&sn->socks_lock);
	now = find(sn, row->nr);
	if (now) {
		*reason = READ_ONCE(now->reason);
		*peer_diagnosis = READ_ONCE(now->peer_diagnosis);
	}
	spin_unlock_bh(&sn->socks_lock);
	return now;
}

/* The socket of @row with a reference, or NULL: it is gone. */
static struct sock *hold_sock(struct smc_net *sn, struct smc_row *row)
{
	struct past_row *past;
	struct sock *sk;

	lockdep_assert_held(&sn->socks_lock);
	if (!row->past)
		return refcount_inc_not_zero(&row->sk->sk_refcnt) ? row->sk :
								    NULL;
	past = container_of(row, struct past_row, row);
	sk = row_find_sock(sn, past);
	if (!sk && !is_young(past))
		drop_past(sn, past);
	return sk;
}

/*
 * Up to BATCH rows with numbers below *@before, the greatest first, each with a
 * reference of its socket; *@before becomes the number of the last one looked at,
 * and 0 at the end.
 */
static int collect(struct smc_net *sn, u64 *before, struct smc_row *rows)
{
	int list, num = 0, left = BATCH;
	struct hlist_node *next;
	struct smc_row *row;
	struct sock *sk;

	spin_lock_bh(&sn->socks_lock);
	for (list = list_of(*before); list >= 0; list--) {
		hlist_for_each_entry_safe(row, next, &sn->socks[list], node) {
			if (row->nr >= *before)
				continue;
			if (!left--)
				goto out;
			*before = row->nr;
			rows[num] = (struct smc_row){
				.nr = row->nr,
				.past = row->past,
				/* written with the socket locked */
				.family = READ_ONCE(row->family),
				.reason = READ_ONCE(row->reason),
				.peer_diagnosis = READ_ONCE(row->peer_diagnosis),
			};
			sk = hold_sock(sn, row);
			if (sk)
				rows[num++].sk = sk;
		}
	}
	*before = 0;
out:
	spin_unlock_bh(&sn->socks_lock);
	return num;
}

/**
 * smc_sock_walk() - call a function for every socket of a namespace
 * @net: namespace
 * @from: 0, or only sockets with smaller numbers; a socket that lives on is met
 *	once by walks that go on where the one before stopped
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

	list_for_each_entry_safe(past, next, &sn->past, node)
		kfree(past);
}
