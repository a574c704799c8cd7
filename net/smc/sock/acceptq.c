// SPDX-License-Identifier: GPL-2.0
/*
 * TCP's accept queue, with children in it that go through a handshake.
 *
 * A child is settled when accept() may return it.  accept() and poll() move the
 * first settled child to the front of the queue, so a silent peer occupies one
 * place and delays no other.  A child whose handshake has failed is removed:
 * its client connects again as plain TCP, and the program sees that connection.
 * Far behind in a long queue it stays, and accept() returns a connection that
 * was reset, as with TCP.
 *
 * TCP moves children here from a listener of the same SO_REUSEPORT group that
 * has ended (net.ipv4.tcp_migrate_req, or a BPF program).  TCP holds the
 * child's spinlock until it has called this listener's callback, in which
 * smc_acceptq_adopt() makes this the listener that the child wakes.
 *
 * Each new child, each that is settled, accept() and poll() walk past children
 * that are not.  These are handshakes, of which a namespace has 1024 (account.c),
 * and 1024 more at most: that wait for data (defer.c), or over the limit of
 * handshakes for a Proposal (handshake/server.c).  Such a child does not wait if
 * it comes to a queue that is long.
 *
 * The queue is TCP's: its lock (rskq_lock; spinlock, BH) is taken with a
 * child's spinlock held, never the other way round.
 *
 * Context: any; the caller does not hold the queue's lock.
 * Tests: selftests/smc/socklisten.c, migrate.py, fallback_server.sh.
 */
#include <net/inet_connection_sock.h>
#include <net/request_sock.h>
#include <net/sock.h>
#include <net/sock_reuseport.h>
#include <net/xfrm.h>

#include "sock.h"

/*
 * Where a failed child is looked for: all of the queue with the limit that TCP
 * has by default (net.core.somaxconn, and one more).  The lock is held meanwhile.
 */
#define LOOKED_MAX	(4096 + 1)

static bool settled(struct sock *child)
{
	struct smc_sock *smc;
	bool yes;

	/* TCP's from birth, or by now: it does not become ours again */
	if (!smc_sock_has_context(child))
		return true;
	smc = smc_sock_get(child);
	if (!smc)
		return true;
	yes = !smc_sock_rules(smc)->attempt &&
	      !test_bit(SMC_SK_DEFERRED, &smc->bits);
	smc_sock_put(smc);
	return yes;
}

static void unlink_req(struct request_sock_queue *queue,
		       struct request_sock *req, struct request_sock *prev)
{
	lockdep_assert_held(&queue->rskq_lock);
	if (prev)
		prev->dl_next = req->dl_next;
	else
		WRITE_ONCE(queue->rskq_accept_head, req->dl_next);
	if (queue->rskq_accept_tail == req)
		queue->rskq_accept_tail = prev;
}

/**
 * smc_acceptq_settle() - bring the first child that is settled to the front
 * @sk: listening socket
 *
 * Return: false: there is none.
 */
bool smc_acceptq_settle(struct sock *sk)
{
	struct request_sock_queue *queue = &inet_csk(sk)->icsk_accept_queue;
	struct request_sock *req, *prev = NULL;

	spin_lock_bh(&queue->rskq_lock);
	for (req = queue->rskq_accept_head; req; prev = req, req = req->dl_next)
		if (settled(req->sk))
			break;
	if (req && prev) {
		unlink_req(queue, req, prev);
		req->dl_next = queue->rskq_accept_head;
		WRITE_ONCE(queue->rskq_accept_head, req);
	}
	spin_unlock_bh(&queue->rskq_lock);
	return req;
}

/*
 * A listener that has ended stays in its SO_REUSEPORT group as long as children
 * refer to it.
 */
static bool group_has_ended_ones(const struct sock *sk)
{
	const struct sock_reuseport *group;
	bool yes;

	if (!rcu_access_pointer(sk->sk_reuseport_cb))
		return false;
	rcu_read_lock();
	group = rcu_dereference(sk->sk_reuseport_cb);
	yes = group && READ_ONCE(group->num_closed_socks);
	rcu_read_unlock();
	return yes;
}

static void adopt(struct sock *sk, struct sock *child)
{
	struct smc_sock *smc = smc_sock_get(child);
	struct sock *old;

	if (!smc)
		return;
	if (READ_ONCE(smc->listener) != sk) {
		sock_hold(sk);
		/* pairs with tell_listener(); the caller looks at the child */
		old = xchg(&smc->listener, sk);
		if (old)
			sock_put(old);
	}
	smc_sock_put(smc);
}

/**
 * smc_acceptq_adopt() - children that TCP has moved here are this listener's
 * @sk: listening socket
 *
 * A child that settles at this moment may have woken its former listener: the
 * caller calls smc_acceptq_settle() next.
 */
void smc_acceptq_adopt(struct sock *sk)
{
	struct request_sock_queue *queue = &inet_csk(sk)->icsk_accept_queue;
	struct request_sock *req;

	if (likely(!group_has_ended_ones(sk)))
		return;
	spin_lock_bh(&queue->rskq_lock);
	for (req = queue->rskq_accept_head; req; req = req->dl_next)
		adopt(sk, req->sk);
	spin_unlock_bh(&queue->rskq_lock);
}

/* The request of a child, taken out of the queue; or NULL: it is not found. */
static struct request_sock *take_request(struct sock *sk,
					 const struct sock *child)
{
	struct request_sock_queue *queue = &inet_csk(sk)->icsk_accept_queue;
	struct request_sock *req, *prev = NULL;
	int left = LOOKED_MAX;

	spin_lock_bh(&queue->rskq_lock);
	req = queue->rskq_accept_head;
	while (req && req->sk != child) {
		prev = req;
		req = --left ? req->dl_next : NULL;
	}
	if (req) {
		unlink_req(queue, req, prev);
		sk_acceptq_removed(sk);
	}
	spin_unlock_bh(&queue->rskq_lock);
	return req;
}

/*
 * As inet_csk_destroy_sock() and reqsk_put(), which modules cannot call on every
 * kernel.  The child is an orphan for no time, and not counted as one.
 */
static void destroy_child(struct sock *sk, struct request_sock *req)
{
	sock_orphan(sk);
	sk->sk_prot->destroy(sk);
	sk_stream_kill_queues(sk);
	xfrm_sk_free_policy(sk);
	sock_put(sk);
	sock_gen_put(req_to_sk(req));
}

/**
 * smc_acceptq_forget() - a child will never be accepted
 * @smc: its context, locked, which has neither handshake nor connection; TCP's
 *	connection has been reset.  The caller has references of both
 *
 * Return: true: the child is destroyed; false: it is not in its listener's
 * queue, or far behind.  Then the caller settles it, and tells the listener.
 */
bool smc_acceptq_forget(struct smc_sock *smc)
{
	struct request_sock *req = NULL;
	struct sock *sk = smc->sk;
	struct sock *listener;

	smc_sock_assert_locked(sk);
	rcu_read_lock();
	listener = READ_ONCE(smc->listener);
	if (listener)
		req = take_request(listener, sk);
	rcu_read_unlock();
	if (!req)
		return false;
	destroy_child(sk, req);
	return true;
}
