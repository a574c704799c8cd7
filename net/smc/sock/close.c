// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a connection: the system calls and the worker that bring it about
 * step by step (event.c).
 *
 * close() does not wait (except for SO_LINGER).  The core delivers what the
 * program wrote.  Until the peer has closed, too, or the orphan time is over,
 * the socket has no file, but is not SOCK_DEAD: TCP would destroy it at the
 * peer's FIN.  "closed" is sent only after the last byte; if that cannot be
 * delivered the peer gets "abort", never a clean end of a short stream.  Unread
 * bytes at close mean abort, as with TCP, and so do bytes that come after it:
 * their writer would wait for ever, or take them for delivered.
 *
 * Context: per function.  Tests: selftests/smc.
 */
#include <linux/export.h>
#include <linux/sched/signal.h>
#include <net/inet_common.h>
#include <net/sock.h>

#include "account.h"
#include "sock.h"

/**
 * smc_sock_drop_conn() - the socket and its connection part
 * @smc: context
 * @conn: connection, the caller has a reference
 * @err: for sk_err, positive errno; 0: none
 *
 * Events of the connection no longer change the socket, and calls that use the
 * connection end.  The caller wakes them.
 *
 * Context: any; neither state_lock nor a lock of the core is held.
 */
void smc_sock_drop_conn(struct smc_sock *smc, struct smc_conn *conn, int err)
{
	bool ours;

	spin_lock_bh(&smc->state_lock);
	ours = smc_conn_is_current(conn);
	if (ours)
		RCU_INIT_POINTER(smc->conn, NULL);
	/* before a sleeping writer can see that the connection is over */
	if (ours && err)
		WRITE_ONCE(smc->sk->sk_err, err);
	spin_unlock_bh(&smc->state_lock);
	smc_conn_stop(conn);
	if (ours)
		smc_conn_put(conn);	/* the socket's */
}

/* -- worker -- */

/* The file is gone: TCP's release() gets a struct socket on the stack. */
static void close_tcp(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;
	struct socket sock = { .sk = sk, .state = SS_CONNECTED };

	lock_sock(sk);
	smc_sock_end(smc);
	/* TCP carries none of the program's data: do not linger. */
	sock_reset_flag(sk, SOCK_LINGER);
	release_sock(sk);
	smc_sock_base(sk)->release(&sock);
}

/*
 * Charge a socket that is closed to its user and to its peer.  Returns NULL, or
 * the account that has no room.
 */
static struct smc_account *charge_orphan(struct smc_sock *smc,
					 const struct smc_conn *conn)
{
	struct smc_account *full;

	if (!smc_account_try_charge(smc->user, SMC_ACCT_ORPHANS, 1, &full))
		return full;
	if (smc_account_try_charge(conn->account, SMC_ACCT_ORPHANS, 1, &full))
		smc->orphan = smc_account_get(conn->account);
	else
		smc_account_uncharge(smc->user, SMC_ACCT_ORPHANS, 1);
	return full;
}

static void uncharge_orphan(struct smc_sock *smc)
{
	if (!smc->orphan)
		return;
	smc_account_uncharge(smc->orphan, SMC_ACCT_ORPHANS, 1);
	smc_account_uncharge(smc->user, SMC_ACCT_ORPHANS, 1);
	smc_account_put(smc->orphan);
	smc->orphan = NULL;
}

/* The last step of an orphan. */
static void free_orphan(struct smc_sock *smc)
{
	struct smc_conn *conn = smc_sock_conn_get(smc);

	uncharge_orphan(smc);
	if (!conn)
		return;
	/* a worker does not wait for a lock that a program may hold for long */
	lockdep_assert(!READ_ONCE(smc->sk->sk_socket));
	smc_sock_drop_conn(smc, conn, 0);
	smc_conn_put(conn);
	close_tcp(smc);
}

/* Is the peer still gone?  A FIN counts as a readable byte for a moment. */
static void end_gone(struct smc_sock *smc)
{
	struct smc_conn *conn = smc_sock_conn_get(smc);
	bool failed = smc_close_tcp_failed(smc);
	u8 byte;

	if (!conn)
		return;
	if (smc_close_peer_gone(conn) &&
	    (failed || smc_hs_tcp_peek(smc->sk, &byte, 1) > 0))
		smc_close_killed(conn, failed ? READ_ONCE(smc->tcp_err) :
						ECONNRESET,
				 SMC_REASON_LOSTPEER, false);
	smc_conn_put(conn);
}

/* Reset TCP, but keep the program's error, or that SO_ERROR has taken it. */
static void abort_tcp(struct smc_sock *smc)
{
	smc_sock_look_error(smc);
	smc_hs_tcp_reset(smc->sk);
	smc_close_tcp_event(smc);
}

static void shut_tcp(struct sock *sk, int how)
{
	/* poll() and sock_diag take no lock */
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | how);
	sk->sk_prot->shutdown(sk, how);
}

/* Work on the TCP connection; the socket is locked by its spinlock alone. */
static void work_locked(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	smc_sock_assert_locked(sk);
	if (test_and_clear_bit(SMC_SK_WORK_TCP_SHUT_WR, &smc->bits))
		shut_tcp(sk, SEND_SHUTDOWN);
	if (test_and_clear_bit(SMC_SK_WORK_TCP_SHUT, &smc->bits))
		shut_tcp(sk, SHUTDOWN_MASK);
	if (test_and_clear_bit(SMC_SK_WORK_TCP_ABORT, &smc->bits))
		abort_tcp(smc);
	if (test_and_clear_bit(SMC_SK_WORK_PEER_GONE, &smc->bits))
		end_gone(smc);
}

#define NEEDS_SOCKET	(BIT(SMC_SK_WORK_TCP_SHUT_WR) |			\
			 BIT(SMC_SK_WORK_TCP_SHUT) |			\
			 BIT(SMC_SK_WORK_TCP_ABORT) |			\
			 BIT(SMC_SK_WORK_PEER_GONE))

/*
 * Takes the spinlock and does not own the socket: inet_csk_listen_stop() must
 * not find a child owned.  False: a system call owns the socket.
 */
static bool work_socket(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;
	bool free;

	spin_lock_bh(&sk->sk_lock.slock);
	free = !sock_owned_by_user_nocheck(sk);
	/* TCP may have destroyed it, or it has another connection */
	if (smc_sock_locked(sk) != smc || !rcu_access_pointer(smc->conn) ||
	    sock_flag(sk, SOCK_DEAD))
		set_mask_bits(&smc->bits, NEEDS_SOCKET, 0);
	else if (free)
		work_locked(smc);
	spin_unlock_bh(&sk->sk_lock.slock);
	return free;
}

/*
 * A child that became TCP's has waited long enough for TCP_DEFER_ACCEPT.  False:
 * a system call owns the socket.
 */
static bool end_deferral(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;
	bool free;

	spin_lock_bh(&sk->sk_lock.slock);
	free = !sock_owned_by_user_nocheck(sk);
	if (free && smc_sock_locked(sk) == smc && smc_sock_rules(smc)->tells)
		smc_attempt_reveal(smc);
	spin_unlock_bh(&sk->sk_lock.slock);
	return free;
}

/* Call @fn if @bit is set.  False: @fn has to be called again later. */
static bool do_bit(struct smc_sock *smc, int bit,
		   bool (*fn)(struct smc_sock *smc))
{
	if (!test_and_clear_bit(bit, &smc->bits) || fn(smc))
		return true;
	set_bit(bit, &smc->bits);
	return false;
}

/**
 * smc_sock_work() - what events left to do
 * @work: a context's work
 *
 * A socket that a system call owns is looked at again later.
 *
 * Context: worker.
 */
void smc_sock_work(struct work_struct *work)
{
	struct smc_sock *smc = container_of(to_delayed_work(work),
					    struct smc_sock, work);
	struct sock *sk = smc->sk;
	bool again, end;

	again = !do_bit(smc, SMC_SK_WORK_BEGIN, smc_attempt_begin);
	/* see smc_conn_error() */
	if (unlikely(READ_ONCE(smc->err)))
		smc_sock_look_error(smc);
	/* before the other bits: work queued before FREE is done first */
	end = test_bit(SMC_SK_WORK_FREE, &smc->bits);
	if (READ_ONCE(smc->bits) & NEEDS_SOCKET)
		again |= !work_socket(smc);
	again |= !do_bit(smc, SMC_SK_WORK_FALLBACK, end_deferral);
	/* release_conn() may still run: it queues this work again */
	if (end && !again && !READ_ONCE(sk->sk_socket) &&
	    test_and_clear_bit(SMC_SK_WORK_FREE, &smc->bits))
		free_orphan(smc);
	if (again && queue_delayed_work(smc->sn->end_wq, &smc->work,
					SMC_RETRY_DELAY))
		return;		/* the queued work has the references */
	smc_sock_put(smc);
	sock_put(sk);
}

/* Abort a child that accept() has not returned; its spinlock is held. */
static void abort_child(struct sock *sk)
{
	struct smc_sock *smc = smc_sock_locked(sk);

	smc_sock_assert_locked(sk);
	if (smc)
		smc_attempt_stop(smc);
	smc_hs_tcp_reset(sk);
	WRITE_ONCE(sk->sk_err, ECONNABORTED);
	if (!smc)
		return;
	if (smc_sock_rules(smc)->tells) {
		/* its handshake has been stopped: no step will do this */
		smc_sock_hold(smc);
		smc_attempt_reveal(smc);
		smc_sock_put(smc);
	} else if (smc_sock_rules(smc)->attempt && !smc_acceptq_forget(smc)) {
		smc_sock_reset(smc);
		smc_defer_done(smc);
	}
}

/**
 * smc_sock_abort() - an administrator ends the connection of a socket
 * @sk: socket, referenced
 *
 * Exported for smc_diag.ko.  Not tcp_abort(): it owns the socket, but a
 * listener that is closed meanwhile must not find its children owned.
 *
 * Context: process.
 * Return: 0: done; -ENOENT: it is TCP's to do; -EBUSY: it is just being
 * accepted.
 */
int smc_sock_abort(struct sock *sk)
{
	struct smc_conn *conn = smc_sock_conn(sk);
	int rc = -ENOENT;

	if (conn) {
		smc_close_killed(conn, ECONNABORTED, SMC_REASON_OK, false);
		smc_conn_put(conn);
		return 0;
	}
	spin_lock_bh(&sk->sk_lock.slock);
	/* not in SYN_RECV: TCP may destroy the child without its lock */
	if (!sk->sk_socket && inet_sk_state_load(sk) != TCP_SYN_RECV &&
	    !sock_flag(sk, SOCK_DEAD)) {
		rc = sock_owned_by_user_nocheck(sk) ? -EBUSY : 0;
		if (!rc)
			abort_child(sk);
	}
	spin_unlock_bh(&sk->sk_lock.slock);
	return rc;
}
EXPORT_SYMBOL_GPL(smc_sock_abort);

/* -- system calls -- */

/**
 * smc_close_disconnect() - connect(AF_UNSPEC) in phase SMC
 * @smc: context of a socket owned by the caller
 *
 * The connection is aborted, as TCP resets one.  A call that uses it holds a
 * reference and ends later.
 *
 * Context: process.
 */
void smc_close_disconnect(struct smc_sock *smc)
{
	struct smc_conn *conn = smc_sock_conn_get(smc);
	struct sock *sk = smc->sk;
	bool over;

	smc_sock_assert_locked(sk);
	if (!conn)
		return;
	over = smc_close_over(conn);
	/* also if we have finished sending: the peer has not */
	if (!over)
		smc_conn_set_flags(conn, SMC_CDC_ABORT);
	/* as TCP, which reports an error here, too */
	smc_sock_drop_conn(smc, conn, over ? 0 : ECONNRESET);
	smc_conn_put(conn);
	/* pending work would act on the next connection */
	set_mask_bits(&smc->bits, NEEDS_SOCKET, 0);
	spin_lock_bh(&smc->state_lock);
	WRITE_ONCE(smc->err, 0);
	WRITE_ONCE(smc->tcp_err, 0);
	spin_unlock_bh(&smc->state_lock);
	smc->state_change(sk);
	if (!over)
		smc->error_report(sk);
}

static int shutdown_conn(struct smc_conn *conn, int how)
{
	struct smc_sock *smc = smc_of_conn(conn);
	int rc;

	smc_sock_assert_locked(conn->sk);
	rc = smc_state_shut_check(READ_ONCE(conn->state));
	if (smc_close_over(conn))
		rc = -ENOTCONN;
	/* shut_pos before bits and mask: pairs with smc_close_unwanted() */
	if (!smc_close_shut_both(conn))
		WRITE_ONCE(conn->shut_pos, READ_ONCE(conn->rcvd_pos));
	smp_wmb();
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
	/* conn_readable() saw no bits when bytes came in between */
	if (!rc && smc_close_shut_both(conn))
		smc_close_unwanted(conn, false);
	smc->state_change(conn->sk);
	return rc;
}

/* As TCP in SYN_SENT: give the attempt up.  The socket is owned. */
static void shutdown_attempt(struct smc_sock *smc, struct socket *sock)
{
	struct sock *sk = smc->sk;

	smc_sock_assert_locked(sk);
	smc_attempt_stop(smc);
	smc_sock_reset(smc);
	sk->sk_prot->disconnect(sk, O_NONBLOCK);
	sock->state = SS_UNCONNECTED;
	sk->sk_state_change(sk);
}

/**
 * smc_sock_shutdown() - shutdown() of a socket of ours
 * @sock: socket
 * @how: SHUT_RD, SHUT_WR or SHUT_RDWR
 *
 * Both directions of a connection, whether at once or one after the other, are
 * a close: bytes that come after it are answered with an abort.
 *
 * Context: process, no lock held.
 * Return: 0 or -errno; -ENOTCONN also if the connection is over.
 */
int smc_sock_shutdown(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;
	struct smc_conn *conn;
	struct smc_sock *smc;
	bool as_tcp = false;
	int rc = 0;

	/* 0, 1, 2 become RCV_SHUTDOWN, SEND_SHUTDOWN, both */
	if (how < 0 || how > 2)
		return -EINVAL;
	smc = smc_sock_get(sk);
	if (!smc)
		return smc_sock_as_tcp(sock, shutdown, how);
	lock_sock(sk);
	conn = smc_sock_conn_get(smc);
	if (conn) {
		rc = shutdown_conn(conn, how + 1);
		smc_conn_put(conn);
		/* as TCP: connect() reports no outcome after this */
		sock->state = SS_CONNECTED;
	} else if (smc_sock_rules(smc)->attempt) {
		shutdown_attempt(smc, sock);
	} else {
		as_tcp = true;
		if (how != SHUT_WR)
			smc_listen_end(sk);
	}
	release_sock(sk);
	smc_attempt_unlocked(smc);
	smc_sock_put(smc);
	return as_tcp ? smc_sock_as_tcp(sock, shutdown, how) : rc;
}

/* Has the peer's host what was written, or is it never to have it? */
static bool delivered(const struct smc_conn *conn)
{
	if (READ_ONCE(conn->state) == SMC_CLOSED)
		return true;
	return READ_ONCE(conn->st_flags) & SMC_ST_CLOSE_SENT &&
	       (!smc_conn_outq(conn) ||
		test_bit(SMC_CONN_WANT_ABORT, &conn->flags));
}

/* The caller is in the wait queue: a step, or smc_tx_writable(), wakes it. */
static bool delivered_or_wanted(struct smc_conn *conn)
{
	smc_tx_want_empty(conn);
	return delivered(conn);
}

/* SO_LINGER: as with TCP, wait until what was written has been acknowledged. */
static void linger(struct smc_sock *smc, long timeo)
{
	struct smc_conn *conn = smc_sock_conn_get(smc);

	if (!conn)
		return;
	while (timeo && !delivered(conn) && !signal_pending(current))
		smc_sock_sleep(smc->sk, false, delivered_or_wanted(conn),
			       &timeo);
	smc_conn_put(conn);
}

/* The program closes an SMC connection; the socket is owned. */
static void close_conn(struct smc_sock *smc, bool abort)
{
	struct smc_conn *conn = smc_sock_conn_get(smc);
	struct smc_account *full;
	enum smc_state_event ev;

	smc_sock_assert_locked(smc->sk);
	WRITE_ONCE(conn->shut_pos, READ_ONCE(conn->rcvd_pos));
	abort = abort || smc_conn_readable(conn) > 0;
	ev = abort ? SMC_EV_CLOSE_ABORT : SMC_EV_CLOSE;
	/* before the event, which may queue the last step */
	full = charge_orphan(smc, conn);
	/* before the peer is told: its ring can serve the next connection then */
	smc_conn_writer_gone(conn);
	/*
	 * Before the event: work that it queues stops the timer, and
	 * smc_orphan_timer() looks at the timer when it sees the flag.
	 */
	smc_orphan_start_timer(conn);
	smc_conn_event(conn, ev, SMC_ST_RELEASED, false);
	/* conn_readable() saw no bits when bytes came in between */
	if (!abort)
		smc_close_unwanted(conn, false);
	if (unlikely(full)) {
		smc_stats_inc(smc->sn, full->stat);
		smc_orphan_end(conn);
	}
	smc_conn_put(conn);
}

/*
 * Detach struct socket.  Not sock_orphan(): TCP destroys a socket that is
 * SOCK_DEAD as soon as its connection has ended.
 */
static void lose_file(struct sock *sk, struct socket *sock)
{
	write_lock_bh(&sk->sk_callback_lock);
	sk_set_socket(sk, NULL);
	RCU_INIT_POINTER(sk->sk_wq, NULL);
	write_unlock_bh(&sk->sk_callback_lock);
	sock->sk = NULL;
}

/* Close a socket with a connection; it is owned, and released here. */
static void release_conn(struct smc_sock *smc, struct socket *sock)
{
	struct sock *sk = smc->sk;
	bool lingers = sock_flag(sk, SOCK_LINGER);
	long timeo = lingers ? sk->sk_lingertime : 0;

	sock_hold(sk);
	close_conn(smc, lingers && !timeo);
	release_sock(sk);
	if (timeo && !(current->flags & PF_EXITING))
		linger(smc, timeo);
	lock_sock(sk);
	lose_file(sk, sock);
	release_sock(sk);
	/* the worker drops the file's reference in free_orphan() */
	smc_sock_kick_work(smc, 0);
	sock_put(sk);
}

/**
 * smc_sock_release() - the last file of a socket of ours is closed
 * @sock: socket; it has no sock if socket() or accept() has failed
 *
 * A connection delivers what was written after this has returned, except that
 * SO_LINGER waits for it.
 *
 * Context: process, no lock held.
 * Return: 0, or what TCP's release() returns.
 */
int smc_sock_release(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc;
	int rc = 0;

	if (!sk)
		return 0;
	smc = smc_sock_get(sk);
	if (!smc) {
		smc_tcp_call_begin();
		rc = smc_sock_base(sk)->release(sock);
		smc_tcp_call_end();
		return rc;
	}
	lock_sock(sk);
	if (rcu_access_pointer(smc->conn)) {
		release_conn(smc, sock);
	} else {
		smc_listen_end(sk);
		if (smc_attempt_stop(smc))
			sk->sk_prot->disconnect(sk, O_NONBLOCK);
		/* a listener may be getting children, and keeps its context */
		if (smc_sock_locked(sk) == smc && sk->sk_state != TCP_LISTEN)
			smc_sock_end(smc);
		release_sock(sk);
		rc = smc_sock_base(sk)->release(sock);
	}
	smc_sock_put(smc);
	return rc;
}
