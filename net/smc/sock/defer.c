// SPDX-License-Identifier: GPL-2.0
/*
 * TCP_DEFER_ACCEPT: when a listener's child can be accepted.
 *
 * A child is settled only when its first data has arrived, or when the time is
 * over: the first segment, for which TCP has waited, was the handshake's.  A
 * child that falls back keeps its context that long (phase LATE, no handshake).
 * TCP keeps such connections out of its queue; here they are in it, but a child
 * does not wait if the queue is full or long.
 *
 * Context: per function.  Tests: selftests/smc/socklisten.c, sockwait.c.
 */
#include <net/inet_connection_sock.h>
#include <net/sock.h>

#include "sock.h"

#define DEFERRED_MAX	1024	/* children in a listener's queue */

/*
 * Tell the listener that a child can be accepted.  A socket that has stopped
 * listening may have callbacks of a connection, which need its lock, and may
 * get them at this moment.
 */
static void tell_listener(struct smc_sock *smc)
{
	void (*ready)(struct sock *sk);
	struct sock *listener;

	/* accept() may return the child now, and the listener may go */
	rcu_read_lock();
	/* The child is settled before this; pairs with smc_acceptq_adopt(). */
	smp_mb();
	listener = READ_ONCE(smc->listener);
	if (listener && inet_sk_state_load(listener) == TCP_LISTEN) {
		ready = READ_ONCE(listener->sk_data_ready);
		if (ready != smc_callbacks.data_ready)
			ready(listener);
	}
	rcu_read_unlock();
}

/* Has its first data come, or will none? */
static bool has_data(struct smc_sock *smc)
{
	const struct smc_conn *conn;
	struct sock *sk = smc->sk;
	bool yes;

	rcu_read_lock();
	conn = rcu_dereference(smc->conn);
	if (conn)
		yes = smc_conn_readable(conn) > 0 || smc_conn_has_error(conn) ||
		      READ_ONCE(conn->shutdown) & RCV_SHUTDOWN;
	else
		yes = !rcu_access_pointer(smc->hs) &&
		      (!skb_queue_empty_lockless(&sk->sk_receive_queue) ||
		       sock_flag(sk, SOCK_DONE) || READ_ONCE(sk->sk_err));
	rcu_read_unlock();
	return yes;
}

/* TCP_DEFER_ACCEPT: seconds that the child waits for its first data. */
static int defer_s(const struct smc_sock *smc)
{
	struct smc_sock *from = NULL;
	struct sock *listener;
	int limit_s = 0;

	rcu_read_lock();
	listener = READ_ONCE(smc->listener);
	/* what waits is passed over by each accept() and each new child */
	if (listener && !sk_acceptq_is_full(listener) &&
	    READ_ONCE(listener->sk_ack_backlog) < DEFERRED_MAX)
		from = smc_sock_get(listener);
	rcu_read_unlock();
	if (from) {
		limit_s = READ_ONCE(from->defer_accept_s);
		smc_sock_put(from);
	}
	return limit_s;
}

/**
 * smc_defer_begin() - will a child whose handshake ends have to wait?
 * @smc: its context, locked.  The caller changes the phase after this, or
 *	accept() would find the child settled
 *
 * Context: any.
 */
bool smc_defer_begin(struct smc_sock *smc)
{
	smc_sock_assert_locked(smc->sk);
	if (!test_bit(SMC_SK_SERVER, &smc->bits) || !defer_s(smc))
		return false;
	set_bit(SMC_SK_DEFERRED, &smc->bits);
	return true;
}

/**
 * smc_defer_done() - a child's handshake has ended
 * @smc: its context, or what was its context: it may be TCP's by now; locked
 *
 * Context: any.
 */
void smc_defer_done(struct smc_sock *smc)
{
	smc_sock_assert_locked(smc->sk);
	if (!test_bit(SMC_SK_DEFERRED, &smc->bits)) {
		tell_listener(smc);
		return;
	}
	/* pairs with conn_readable(), which may have missed the mark */
	smp_mb();
	if (has_data(smc)) {
		smc_defer_ready(smc);
		return;
	}
	smc_sock_start_timer(smc, jiffies + defer_s(smc) * HZ);
	if (!test_bit(SMC_SK_DEFERRED, &smc->bits))
		smc_sock_stop_timer(smc);
}

/**
 * smc_defer_ready() - TCP_DEFER_ACCEPT may have waited for this
 * @smc: context of a child that has data now, or will have none
 *
 * Context: any, the caller has a reference.
 */
void smc_defer_ready(struct smc_sock *smc)
{
	if (likely(!test_bit(SMC_SK_DEFERRED, &smc->bits)))
		return;
	smc_sock_stop_timer(smc);
	if (smc_sock_rules(smc)->tells && !rcu_access_pointer(smc->hs))
		smc_sock_queue_work(smc, SMC_SK_WORK_FALLBACK);
	else if (test_and_clear_bit(SMC_SK_DEFERRED, &smc->bits))
		tell_listener(smc);
}

/**
 * smc_defer_event() - TCP has news of a child that has no handshake
 * @smc: its context, in phase LATE
 *
 * Context: any.
 */
void smc_defer_event(struct smc_sock *smc)
{
	if (test_bit(SMC_SK_DEFERRED, &smc->bits) && has_data(smc))
		smc_defer_ready(smc);
}

/**
 * smc_defer_timer() - TCP_DEFER_ACCEPT has waited long enough
 * @t: a child's timer
 *
 * Context: softirq.
 */
void smc_defer_timer(struct timer_list *t)
{
	struct smc_sock *smc = timer_container_of(smc, t, timer);
	struct sock *sk = smc->sk;

	smc_defer_ready(smc);
	smc_sock_put(smc);
	sock_put(sk);
}
