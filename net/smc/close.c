// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a connection: the system calls and the worker that bring it about
 * step by step (event.c).
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
#include <linux/sched/signal.h>
#include <linux/wait_bit.h>
#include <net/sock.h>

#include "sock.h"

/* -- worker -- */

/*
 * The socket and its connection part: no event of the one changes the other any
 * more, and calls that use the connection end.  The caller has a reference of
 * the connection, and wakes.
 */
static void part(struct smc_sock *smc, struct smc_conn *conn)
{
	bool ours;

	spin_lock_bh(&smc->state_lock);
	ours = smc_conn_is_current(conn);
	if (ours)
		RCU_INIT_POINTER(smc->conn, NULL);
	spin_unlock_bh(&smc->state_lock);
	smc_conn_stop(conn);
	if (ours)
		smc_conn_put(conn);	/* the socket's */
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
	struct smc_conn *conn;

	if (test_and_set_bit(SMC_SK_FREED, &smc->bits))
		return;
	sk_stop_timer(sk, &smc->timer);
	if (test_bit(SMC_SK_ORPHAN, &smc->bits))
		atomic_dec(&smc_sock_net(smc)->orphan_count);
	smc_sock_stop_hs(smc, true);
	conn = smc_sock_conn_get(smc);
	if (conn) {
		part(smc, conn);
		smc_conn_put(conn);
	}
	/* Nothing of the program's is on TCP then: no reason to linger. */
	if (smc_sock_mode(smc) != SMC_MODE_TCP && smc->inner.sk)
		smc_inner_no_linger(&smc->inner);
	smc_inner_release(&smc->inner);
	WRITE_ONCE(sk->sk_state, SMC_CLOSED);
	sock_put(sk);
}

/* The peer looked gone: the end, unless a FIN looked like a byte for a moment. */
static void end_gone(struct smc_sock *smc)
{
	struct smc_conn *conn = smc_sock_conn_get(smc);
	bool gone;
	u8 byte;
	int err;

	if (!conn)
		return;
	if (smc_close_peer_gone(conn)) {
		err = smc_inner_take_error(&smc->inner);
		lock_sock(smc->inner.sk);
		gone = err || smc_inner_peek(&smc->inner, &byte, 1) > 0;
		release_sock(smc->inner.sk);
		if (gone)
			smc_close_killed(conn, err ?: ECONNRESET,
					 SMC_REASON_LOSTPEER);
	}
	smc_conn_put(conn);
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
	if (test_and_clear_bit(SMC_SK_WORK_PEER_GONE, &smc->bits))
		end_gone(smc);
	if (test_and_clear_bit(SMC_SK_WORK_READY, &smc->bits))
		smc_listen_child_ready(smc);
	if (test_and_clear_bit(SMC_SK_WORK_FREE, &smc->bits))
		smc_sock_free(smc);
	sock_put(&smc->sk);
}

/* -- system calls -- */

/**
 * smc_sock_reset_conn() - give a connect() up, or forget a failed one
 * @smc: socket in mode init
 * @err: positive errno that TCP reports then; 0: what there is, if any
 *
 * Context: process, lock_sock() held.
 */
void smc_sock_reset_conn(struct smc_sock *smc, int err)
{
	struct sock *sk = &smc->sk;

	smc_sock_stop_hs(smc, false);
	if (smc_sock_mode(smc) != SMC_MODE_INIT)
		return;
	smc_inner_disconnect(&smc->inner);
	spin_lock_bh(&smc->state_lock);
	WRITE_ONCE(sk->sk_state, SMC_INIT);
	WRITE_ONCE(sk->sk_shutdown, 0);
	spin_unlock_bh(&smc->state_lock);
	if (err)
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
 * @conn: the socket's connection, referenced by the caller; afterwards the
 *	socket is unconnected, with the same options and binding
 *
 * The connection is aborted, as TCP's is reset.  A call that is using it ends
 * in its own time.
 *
 * Context: process, lock_sock() held.
 */
void smc_close_disconnect(struct smc_conn *conn)
{
	struct smc_sock *smc = smc_of_conn(conn);
	bool over = smc_close_over(conn);
	struct sock *sk = conn->sk;

	/*
	 * The program's own doing, and still TCP reports it.  Before a sleeping
	 * writer can see that the connection is over.
	 */
	if (!over)
		WRITE_ONCE(sk->sk_err, ECONNRESET);
	smp_store_release(&smc->mode, &smc_mode_init);
	/* even if we have finished: the peer has not */
	if (!over)
		smc_conn_set_flags(conn, SMC_CDC_ABORT);
	part(smc, conn);
	/*
	 * What is left to the worker would hit the next connection, or a socket
	 * that close() frees itself now that the mode is no longer smc.
	 */
	clear_bit(SMC_SK_WORK_TCP_SHUT_WR, &smc->bits);
	clear_bit(SMC_SK_WORK_TCP_SHUT, &smc->bits);
	clear_bit(SMC_SK_WORK_TCP_ABORT, &smc->bits);
	clear_bit(SMC_SK_WORK_PEER_GONE, &smc->bits);
	flush_work(&smc->work);
	WRITE_ONCE(smc->disconnects, smc->disconnects + 1);
	smc_sock_reset_conn(smc, 0);
	if (!over)
		sk_error_report(sk);
}

/**
 * smc_close_shutdown() - shutdown() in mode SMC
 * @conn: the socket's connection
 * @how: RCV_SHUTDOWN, SEND_SHUTDOWN or both
 *
 * One direction after the other is the same as both at once.
 *
 * Context: process, lock_sock() held.
 * Return: 0 or -ENOTCONN.
 */
int smc_close_shutdown(struct smc_conn *conn, int how)
{
	struct smc_sock *smc = smc_of_conn(conn);
	struct sock *sk = conn->sk;
	int rc;

	rc = smc_state_shut_check(READ_ONCE(conn->state));
	if (smc_close_over(conn))
		rc = -ENOTCONN;
	/* before the bits that say so, see smc_close_late() */
	if (!smc_close_shut_both(conn))
		WRITE_ONCE(conn->shut_pos, READ_ONCE(conn->rcvd_pos));
	smp_mb__before_atomic();
	if (how & RCV_SHUTDOWN)
		set_bit(SMC_CONN_SHUT_RD, &conn->flags);
	if (test_bit(SMC_CONN_SHUT_RD, &conn->flags) &&
	    (how | READ_ONCE(conn->shutdown)) & SEND_SHUTDOWN)
		how = SHUTDOWN_MASK;
	spin_lock_bh(&smc->state_lock);
	WRITE_ONCE(conn->shutdown, conn->shutdown | how);
	spin_unlock_bh(&smc->state_lock);
	if (!rc && how == SHUTDOWN_MASK)
		smc_conn_event(conn, SMC_EV_CLOSE, 0, false);
	else if (!rc && how == SEND_SHUTDOWN)
		smc_conn_event(conn, SMC_EV_SHUT_WR, 0, false);
	/* what came in between nobody else has noticed */
	if (!rc && smc_close_shut_both(conn))
		smc_close_late(conn, false);
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
	if (smc_sock_mode(smc) != SMC_MODE_INIT)
		clear_bit(SMC_SK_CONNECTED, &smc->bits);
	release_sock(sk);
	return rc;
}

static bool delivered(struct sock *sk)
{
	const struct smc_conn *conn;
	bool done;

	rcu_read_lock();
	conn = rcu_dereference(smc_sk(sk)->conn);
	done = !conn || READ_ONCE(conn->st_flags) & SMC_ST_CLOSE_SENT ||
	       READ_ONCE(conn->state) == SMC_CLOSED;
	rcu_read_unlock();
	return done;
}

/*
 * The program has closed an SMC connection, or never got hold of it.  Nothing
 * parts the two before smc_sock_free(), which this sets going.
 */
static void close_smc(struct smc_sock *smc, bool abort)
{
	struct smc_conn *conn = smc_sock_conn_get(smc);
	struct smc_net *sn = smc_sock_net(smc);
	enum smc_state_event ev;
	bool many;

	WRITE_ONCE(conn->shut_pos, READ_ONCE(conn->rcvd_pos));
	abort = abort || smc_conn_readable(conn);
	ev = abort ? SMC_EV_CLOSE_ABORT : SMC_EV_CLOSE;
	set_bit(SMC_SK_ORPHAN, &smc->bits);
	many = atomic_inc_return(&sn->orphan_count) >
	       READ_ONCE(sn->max_orphans);
	/* before the event: what it sets going stops the timer */
	smc_orphan_start_timer(conn);
	smc_conn_event(conn, ev, SMC_ST_RELEASED, false);
	/* what came in between nobody else has noticed */
	if (!abort)
		smc_close_late(conn, false);
	if (unlikely(many))
		smc_orphan_end(conn);
	smc_conn_put(conn);
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
	smc_sock_stop_hs(child, true);
	if (smc_sock_mode(child) == SMC_MODE_SMC) {
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
	if (smc_sock_mode(smc) == SMC_MODE_LISTEN)
		smc_listen_drop(smc);
	smc_sock_stop_hs(smc, true);
	if (smc_sock_mode(smc) == SMC_MODE_SMC)
		close_smc(smc, linger && !timeo);
	else
		timeo = 0;
	release_sock(sk);
	if (timeo && !(current->flags & PF_EXITING))
		smc_sock_wait(sk, &timeo, delivered);
	sock_orphan(sk);
	sock->sk = NULL;
	if (smc_sock_mode(smc) != SMC_MODE_SMC)
		smc_sock_free(smc);
	sock_put(sk);
	return 0;
}
