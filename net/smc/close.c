// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a connection: system calls, the worker and the timer that bring it
 * about step by step (event.c).
 *
 * close() does not wait (except for SO_LINGER).  What the program wrote is
 * delivered by the core; the socket lives on without a file, on the reference
 * that was the file's, until the peer has closed, too, or the orphan time is
 * over.  "closed" goes out only after the last byte; if that cannot be
 * delivered the peer gets "abort", never a clean end of a short stream.
 * Unread bytes at close mean abort, as with TCP, and so do bytes that come
 * after it: their writer would wait for ever, or take them for delivered.
 *
 * Context: per function.  Tests: selftests/smc.
 */
#include <linux/delay.h>
#include <linux/sched/signal.h>
#include <linux/wait_bit.h>
#include <net/sock.h>

#include "sock.h"
#include "stats.h"

/* How long the last flags may wait for a free send slot, in steps of 20 ms. */
#define LAST_FLAGS_TRIES	50

/* -- worker and timer -- */

/* Have the last flags left?  A transport that is busy may need a moment. */
static void wait_last_flags(struct smc_conn *conn)
{
	u8 flags = 0;
	int i;

	if (test_bit(SMC_CONN_WANT_ABORT, &conn->flags))
		flags = SMC_CDC_ABORT;
	else if (test_bit(SMC_CONN_WANT_CLOSED, &conn->flags))
		flags = SMC_CDC_CLOSED;
	for (i = 0; i < LAST_FLAGS_TRIES; i++) {
		if ((READ_ONCE(conn->tx_conn_flags) & flags) == flags ||
		    test_bit(SMC_CONN_DEAD, &conn->flags) ||
		    !test_bit(SMC_CONN_BOUND, &conn->flags))
			return;
		smc_conn_push(conn);
		if ((READ_ONCE(conn->tx_conn_flags) & flags) == flags)
			return;
		msleep(20);
	}
}

/**
 * smc_sock_free() - the last step of a socket nobody has a file for
 * @smc: socket; the reference of its owner is dropped
 *
 * Idempotent.
 *
 * Context: process, no lock held.
 */
void smc_sock_free(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;

	if (test_and_set_bit(SMC_SK_FREED, &smc->bits))
		return;
	sk_stop_timer(sk, &smc->timer);
	if (test_bit(SMC_SK_ORPHAN, &smc->bits))
		atomic_dec(&smc_sock_net(smc)->orphan_count);
	sk_stop_timer(sk, &smc->watch.timer);
	smc_sock_stop_hs(smc);
	mutex_lock(&smc->conn_mutex);
	smc_conn_leave(&smc->conn);
	/* Nothing of the program's is on TCP then: no reason to linger. */
	if (smc->mode->id != SMC_MODE_TCP && smc->inner.sk)
		sock_reset_flag(smc->inner.sk, SOCK_LINGER);
	mutex_unlock(&smc->conn_mutex);
	smc_inner_release(&smc->inner);
	WRITE_ONCE(sk->sk_state, SMC_CLOSED);
	sock_put(sk);
}

/* The end of it, if it is not FIN that looked like a byte for a moment. */
static void end_gone(struct smc_sock *smc)
{
	int err = smc_inner_take_error(&smc->inner);
	u8 byte;

	if (!err && smc_inner_peek(&smc->inner, &byte, sizeof(byte)) <= 0)
		return;
	smc_close_killed(smc, err ?: ECONNRESET, SMC_REASON_LOSTPEER);
}

/**
 * smc_sock_work() - what events left to do
 * @work: a socket's work
 *
 * Context: worker.
 */
void smc_sock_work(struct work_struct *work)
{
	struct smc_sock *smc = container_of(work, struct smc_sock, work);
	struct socket *tcp = smc->inner.sock;

	/* Only this work, or a close without events, releases the socket. */
	if (tcp) {
		if (test_and_clear_bit(SMC_SK_WORK_TCP_SHUT_WR, &smc->bits))
			tcp->ops->shutdown(tcp, SHUT_WR);
		if (test_and_clear_bit(SMC_SK_WORK_TCP_SHUT, &smc->bits))
			tcp->ops->shutdown(tcp, SHUT_RDWR);
		if (test_and_clear_bit(SMC_SK_WORK_TCP_ABORT, &smc->bits))
			smc_inner_abort(&smc->inner);
	}
	if (test_and_clear_bit(SMC_SK_WORK_PEER_GONE, &smc->bits) &&
	    smc_close_peer_gone(smc))
		end_gone(smc);
	if (test_and_clear_bit(SMC_SK_WORK_READY, &smc->bits))
		smc_listen_child_ready(smc);
	if (test_and_clear_bit(SMC_SK_WORK_FREE, &smc->bits)) {
		wait_last_flags(&smc->conn);
		smc_sock_free(smc);
	}
	sock_put(&smc->sk);
}

/* An orphan has waited long enough, or there are too many of them. */
static void orphan_ends(struct smc_sock *smc)
{
	if (!(READ_ONCE(smc->st_flags) & SMC_ST_CLOSE_SENT)) {
		smc_stats_inc(smc_sock_net(smc), SMC_STAT_ORPHAN_ABORTED);
		smc->abort_reason = SMC_REASON_ORPHANED;
	}
	smc_sock_event(smc, SMC_EV_TIMEOUT, 0, false);
}

static void start_orphan_timer(struct smc_sock *smc)
{
	unsigned int timeout_s = READ_ONCE(smc_sock_net(smc)->orphan_timeout_s);

	smc->orphan_pos = READ_ONCE(smc->conn.sent_pos);
	smc_sock_start_timer(smc, &smc->timer, jiffies + timeout_s * HZ);
}

/* Its peer reads, if slowly: another time is granted. */
static bool orphan_gets_on(struct smc_sock *smc)
{
	if (READ_ONCE(smc->st_flags) & SMC_ST_CLOSE_SENT ||
	    READ_ONCE(smc->conn.sent_pos) == smc->orphan_pos)
		return false;
	start_orphan_timer(smc);
	/* smc_sock_free() says that it has begun, and then stops the timer */
	smp_mb();
	if (test_bit(SMC_SK_FREED, &smc->bits))
		sk_stop_timer(&smc->sk, &smc->timer);
	return true;
}

/**
 * smc_sock_timer() - corked long enough; or an orphan waited long enough
 * @t: a socket's timer
 *
 * Context: softirq.
 */
void smc_sock_timer(struct timer_list *t)
{
	struct smc_sock *smc = from_timer(smc, t, timer);

	if (!(READ_ONCE(smc->st_flags) & SMC_ST_RELEASED)) {
		smc_listen_deferred_ready(smc);
		if (smc_sock_mode(smc) == SMC_MODE_SMC)
			smc_tx_uncork(smc);
	} else if (!orphan_gets_on(smc)) {
		orphan_ends(smc);
	}
	sock_put(&smc->sk);
}

/* -- system calls -- */

/**
 * smc_sock_reset_conn() - give a connect() up, or forget a failed one
 * @smc: socket in mode init
 * @err: positive errno that TCP reports then, or 0
 *
 * Context: process, lock_sock() held.
 */
void smc_sock_reset_conn(struct smc_sock *smc, int err)
{
	struct sock *sk = &smc->sk;

	smc_sock_stop_hs(smc);
	if (smc_sock_mode(smc) != SMC_MODE_INIT)
		return;
	mutex_lock(&smc->conn_mutex);
	smc_conn_leave(&smc->conn);
	mutex_unlock(&smc->conn_mutex);
	smc_inner_disconnect(&smc->inner);
	spin_lock_bh(&smc->state_lock);
	WRITE_ONCE(sk->sk_state, SMC_INIT);
	WRITE_ONCE(sk->sk_shutdown, 0);
	smc->st_flags = 0;
	spin_unlock_bh(&smc->state_lock);
	WRITE_ONCE(sk->sk_err, err);
	clear_bit(SMC_SK_FAILED, &smc->bits);
	clear_bit(SMC_SK_DISCONNECTING, &smc->bits);
	/* nor has the next attempt an outcome yet that connect() may tell */
	clear_bit(SMC_SK_CONNECTED, &smc->bits);
	WRITE_ONCE(sk->sk_peek_off, -1);
	smp_mb__before_atomic();
	clear_bit(SMC_SK_CONNECTING, &smc->bits);
	sk->sk_state_change(sk);
	if (err)
		sk_error_report(sk);
}

/**
 * smc_close_disconnect() - connect(AF_UNSPEC) in mode SMC
 * @smc: socket; afterwards unconnected, with the same options and binding
 *
 * The connection is aborted, as TCP's is reset.
 *
 * Context: process, lock_sock() held.
 * Return: 0, or the errno for a signal.
 */
int smc_close_disconnect(struct smc_sock *smc)
{
	bool over;
	int err;

	/* Nobody copies; who waits for either looks again, see @disconnects. */
	if (mutex_lock_interruptible(&smc->tx_mutex))
		return -ERESTARTSYS;
	if (mutex_lock_interruptible(&smc->rx_mutex)) {
		mutex_unlock(&smc->tx_mutex);
		return -ERESTARTSYS;
	}
	over = smc_close_over(smc);
	smc_sock_event(smc, SMC_EV_CLOSE_ABORT, 0, false);
	wait_last_flags(&smc->conn);
	/*
	 * What is left to the worker would hit the next connection, or a socket
	 * that close() frees itself now that the mode is no longer smc.
	 */
	clear_bit(SMC_SK_WORK_TCP_SHUT_WR, &smc->bits);
	clear_bit(SMC_SK_WORK_TCP_SHUT, &smc->bits);
	clear_bit(SMC_SK_WORK_TCP_ABORT, &smc->bits);
	clear_bit(SMC_SK_WORK_PEER_GONE, &smc->bits);
	smp_store_release(&smc->mode, &smc_mode_init);
	flush_work(&smc->work);
	smc_watch_stop(smc);
	err = xchg(&smc->sk.sk_err, 0);
	WRITE_ONCE(smc->disconnects, smc->disconnects + 1);
	/* the program's own doing, and still TCP reports it */
	smc_sock_reset_conn(smc, over ? err : ECONNRESET);
	mutex_unlock(&smc->rx_mutex);
	mutex_unlock(&smc->tx_mutex);
	return 0;
}

/**
 * smc_close_shutdown() - shutdown() in mode SMC
 * @smc: socket
 * @how: RCV_SHUTDOWN, SEND_SHUTDOWN or both
 *
 * One direction after the other is the same as both at once.
 *
 * Context: process, lock_sock() held.
 * Return: 0 or -ENOTCONN.
 */
int smc_close_shutdown(struct smc_sock *smc, int how)
{
	struct sock *sk = &smc->sk;
	int rc;

	rc = smc_state_shut_check(READ_ONCE(sk->sk_state));
	if (smc_close_over(smc))
		rc = -ENOTCONN;
	/* before the bits that say so, see smc_close_late() */
	if (!smc_close_shut_both(smc))
		WRITE_ONCE(smc->shut_pos, READ_ONCE(smc->conn.rcvd_pos));
	smp_mb__before_atomic();
	if (how & RCV_SHUTDOWN)
		set_bit(SMC_SK_SHUT_RD, &smc->bits);
	if (test_bit(SMC_SK_SHUT_RD, &smc->bits) &&
	    (how | READ_ONCE(sk->sk_shutdown)) & SEND_SHUTDOWN)
		how = SHUTDOWN_MASK;
	spin_lock_bh(&smc->state_lock);
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | how);
	spin_unlock_bh(&smc->state_lock);
	if (!rc && how == SHUTDOWN_MASK)
		smc_sock_event(smc, SMC_EV_CLOSE, 0, false);
	else if (!rc && how == SEND_SHUTDOWN)
		smc_sock_event(smc, SMC_EV_SHUT_WR, 0, false);
	/* what came in between nobody else has noticed */
	if (!rc && smc_close_shut_both(smc))
		smc_close_late(smc, false);
	sk->sk_state_change(sk);
	return rc;
}

int smc_sock_shutdown(struct socket *sock, int how)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	struct sock *sk = sock->sk;
	int rc;

	/* 0, 1, 2 become RCV_SHUTDOWN, SEND_SHUTDOWN, both */
	how++;
	if (how & ~SHUTDOWN_MASK || !how)
		return -EINVAL;
	lock_sock(sk);
	rc = smp_load_acquire(&smc->mode)->shutdown(smc, how);
	/* as TCP: connect() has nothing to tell any more */
	if (smc->mode->id != SMC_MODE_INIT)
		clear_bit(SMC_SK_CONNECTED, &smc->bits);
	release_sock(sk);
	return rc;
}

static bool delivered(struct sock *sk)
{
	return READ_ONCE(smc_sk(sk)->st_flags) & SMC_ST_CLOSE_SENT ||
	       READ_ONCE(sk->sk_state) == SMC_CLOSED;
}

/* The program has closed an SMC connection, or never got hold of it. */
static void close_smc(struct smc_sock *smc, bool abort)
{
	struct smc_net *sn = smc_sock_net(smc);
	enum smc_state_event ev;
	bool many;

	WRITE_ONCE(smc->shut_pos, READ_ONCE(smc->conn.rcvd_pos));
	abort = abort || smc_conn_readable(&smc->conn);
	ev = abort ? SMC_EV_CLOSE_ABORT : SMC_EV_CLOSE;
	set_bit(SMC_SK_ORPHAN, &smc->bits);
	many = atomic_inc_return(&sn->orphan_count) >
	       READ_ONCE(sn->max_orphans);
	/* before the event: what it sets going stops the timer */
	start_orphan_timer(smc);
	smc_sock_event(smc, ev, SMC_ST_RELEASED, false);
	/* what came in between nobody else has noticed */
	if (!abort)
		smc_close_late(smc, false);
	if (unlikely(many))
		orphan_ends(smc);
}

/**
 * smc_sock_dispose() - end a child that was never accepted
 * @child: child, removed from its listener's lists; the list's reference is
 *	consumed
 *
 * Context: process, not from a step of the child's handshake.
 */
void smc_sock_dispose(struct smc_sock *child)
{
	smc_sock_stop_hs(child);
	if (child->mode->id == SMC_MODE_SMC) {
		close_smc(child, true);
		return;
	}
	smc_inner_disconnect(&child->inner);
	smc_sock_free(child);
}

int smc_sock_release(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc;
	bool linger;
	long timeo;

	if (!sk)
		return 0;
	smc = smc_sk(sk);
	sock_hold(sk);
	/* The last call on the file; sock_diag needs none, see destroy.c. */
	lock_sock(sk);
	set_bit(SMC_SK_RELEASED, &smc->bits);
	linger = sock_flag(sk, SOCK_LINGER);
	timeo = linger ? sk->sk_lingertime : 0;
	/* The file that the inner socket borrows goes away. */
	smc_inner_lend(&smc->inner, NULL);
	if (smc->mode->id == SMC_MODE_LISTEN)
		smc_listen_drop(smc);
	smc_sock_stop_hs(smc);
	if (smc->mode->id == SMC_MODE_SMC)
		close_smc(smc, linger && !timeo);
	else
		timeo = 0;
	release_sock(sk);
	if (timeo && !(current->flags & PF_EXITING))
		smc_sock_wait(sk, &timeo, delivered);
	sock_orphan(sk);
	sock->sk = NULL;
	if (smc->mode->id != SMC_MODE_SMC)
		smc_sock_free(smc);
	sock_put(sk);
	return 0;
}
