// SPDX-License-Identifier: GPL-2.0
/*
 * Every step of state.c that a socket takes.
 *
 * smc_conn_event() looks a step up under state_lock, stores the next state and
 * what the step says about the socket, and then carries the rest out without
 * the lock.  Events come from system calls, from the core's up-calls (softirq;
 * they may not push, so they mark the flags to be sent) and from the timer.
 * Whatever sleeps is left to smc->work (close.c).
 *
 * FIN of the TCP connection means nothing while SMC is in use (RFC 7609
 * section 4.7): it may overtake the last RDMA write.  A reset counts in one
 * case: the peer has given up after our last handshake message, so that it
 * does not know our ring and no abort can come.  Bytes received by TCP mean the
 * same: a peer whose device lost the link in the last moment of the handshake
 * has declined, and its program writes to TCP, which nothing reads here.  With
 * SO_RCVLOWAT TCP tells of them when there are as many as that; until then the
 * end of the link does.  A host that does not answer TCP any more (ETIMEDOUT) has
 * gone, unless it was heard over SMC lately: heard_lately().
 *
 * Context: per function.  Tests: selftests/unit/unit_state.c for the table,
 * selftests/smc for the rest.
 */
#include <linux/workqueue.h>
#include <net/sock.h>

#include "sock.h"
#include "trace.h"

/**
 * smc_sock_kick_work() - have the worker look what is left to do
 * @smc: context, the caller has a reference of it and of the socket
 * @delay: in jiffies
 *
 * Context: any.
 */
void smc_sock_kick_work(struct smc_sock *smc, unsigned long delay)
{
	struct sock *sk = smc->sk;

	sock_hold(sk);		/* the work's */
	smc_sock_hold(smc);
	if (queue_delayed_work(smc->sn->end_wq, &smc->work, delay))
		return;
	smc_sock_put(smc);
	__sock_put(sk);
}

/**
 * smc_sock_queue_work() - leave something that sleeps to the worker
 * @smc: context, the caller has a reference of it and of the socket
 * @bit: SMC_SK_WORK_*
 *
 * Context: any.
 */
void smc_sock_queue_work(struct smc_sock *smc, int bit)
{
	set_bit(bit, &smc->bits);
	smc_sock_kick_work(smc, 0);
}

/*
 * Set the program's error.  SO_ERROR takes sk_err, which TCP writes, too;
 * smc->err tells whether the error in it is ours.
 */
static void put_error(struct smc_sock *smc, int err)
{
	lockdep_assert_held(&smc->state_lock);
	WRITE_ONCE(smc->sk->sk_err, err);
	WRITE_ONCE(smc->err, err);
}

/*
 * The program's error, 0 if there is none.  If sk_err is 0, SO_ERROR has taken
 * it.  If sk_err is the error that a call has taken, smc->err is the negative of
 * it, then recvmmsg() was that call: it had messages to return, and left the
 * error for the next call.
 */
static int own_error(struct smc_sock *smc)
{
	int err = READ_ONCE(smc->sk->sk_err);

	lockdep_assert_held(&smc->state_lock);
	if ((smc->err > 0 && !err) || (smc->err < 0 && smc->err == -err))
		WRITE_ONCE(smc->err, err);
	return max(smc->err, 0);
}

/**
 * smc_sock_look_error() - is there an error?  For smc_conn_has_error()
 * @smc: context of a socket in phase SMC
 *
 * TCP's errors in sk_err do not count.
 *
 * Context: any, state_lock not held.
 */
bool smc_sock_look_error(struct smc_sock *smc)
{
	bool has;

	spin_lock_bh(&smc->state_lock);
	has = own_error(smc);
	spin_unlock_bh(&smc->state_lock);
	return has;
}

/* Jiffies in which a call ends that has taken an error: one or more */
#define TOLD_DELAY	2

/**
 * smc_conn_error() - take the error of the connection
 * @conn: connection, the caller has a reference
 *
 * The worker looks whether recvmmsg() has left the error for the next call: when
 * TCP is reset, which sets sk_err, too, it would be too late.
 *
 * Context: any, state_lock not held.
 * Return: -errno, 0 if there is none: SO_ERROR may have been quicker; -EPIPE if
 * the socket has dropped the connection, whose error went with it.
 */
int smc_conn_error(const struct smc_conn *conn)
{
	struct smc_sock *smc = smc_of_conn(conn);
	bool taken = false;
	int err = EPIPE;

	/* smc_close_tcp_event() takes TCP's error out under this lock */
	spin_lock_bh(&smc->state_lock);
	if (smc_conn_is_current(conn)) {
		err = own_error(smc);
		taken = err && xchg(&conn->sk->sk_err, 0);
		if (!taken)
			err = 0;
		if (smc->err > 0)
			WRITE_ONCE(smc->err, -err);
	}
	spin_unlock_bh(&smc->state_lock);
	if (taken)
		smc_sock_kick_work(smc, TOLD_DELAY);
	return -err;
}

/**
 * smc_close_tcp_failed() - has an error ended the TCP connection?
 * @smc: context of a socket in phase SMC
 *
 * An error that TCP survives (IP_RECVERR) stays in tcp_err.  If a FIN has come,
 * it is not what ended the connection.
 *
 * Context: any.
 */
bool smc_close_tcp_failed(const struct smc_sock *smc)
{
	int err = READ_ONCE(smc->tcp_err);

	if (!err || inet_sk_state_load(smc->sk) != TCP_CLOSE)
		return false;
	return err == ECONNRESET || err == EPIPE || err == ETIMEDOUT ||
	       !sock_flag(smc->sk, SOCK_DONE);
}

/*
 * TCP is idle below a busy connection.  So its probes can fail where packets of a
 * TCP connection with as much data would have passed: a firewall forgets what is
 * idle.  With shared memory the peer's end is one of this kernel's, which tells
 * when it ends.
 */
static bool heard_lately(const struct smc_conn *conn)
{
	unsigned long heard = READ_ONCE(conn->heard);
	const struct tcp_sock *tp = tcp_sk(conn->sk);

	if (conn->merged)
		return true;
	/* one of our own probes, and the time for its answer (keepalive.c) */
	return heard && time_before(jiffies, heard + keepalive_time_when(tp) +
				    2 * keepalive_intvl_when(tp));
}

/**
 * smc_close_peer_gone() - has the peer given up, or its host?
 * @conn: connection of a socket in phase SMC
 *
 * Either TCP was reset or has received bytes, and nothing has ever come over
 * SMC; or the peer's host does not answer TCP any more (SO_KEEPALIVE, or our
 * FIN), and has not been heard over SMC for as long as a probe would take.
 *
 * Context: any.
 */
bool smc_close_peer_gone(const struct smc_conn *conn)
{
	bool failed = smc_close_tcp_failed(smc_of_conn(conn));

	if (failed && READ_ONCE(smc_of_conn(conn)->tcp_err) == ETIMEDOUT)
		return !heard_lately(conn);
	return (failed || smc_hs_tcp_readable(conn->sk)) &&
	       !READ_ONCE(conn->rcvd_pos) && !READ_ONCE(conn->peer_read_pos) &&
	       !READ_ONCE(conn->rx_conn_flags);
}

/*
 * Is there an error of TCP's in sk_err?  It may be recvmmsg()'s instead, which
 * own_error() finds; once TCP is closed both may have stored it, and it counts
 * as TCP's.
 */
static bool has_tcp_error(const struct smc_sock *smc)
{
	int err = READ_ONCE(smc->sk->sk_err);

	lockdep_assert_held(&smc->state_lock);
	if (!err || err == smc->err)
		return false;
	return err != -smc->err || inet_sk_state_load(smc->sk) == TCP_CLOSE;
}

/**
 * smc_close_tcp_event() - something happened to the TCP connection
 * @smc: context of a socket in phase SMC
 *
 * TCP's error is taken out of sk_err: it is not for the program.  ECONNABORTED
 * is: with it an administrator ends the connection (sock_diag).
 *
 * Context: any; neither state_lock nor a lock of the core is held.
 */
void smc_close_tcp_event(struct smc_sock *smc)
{
	struct smc_conn *conn;
	int err = 0;

	spin_lock_bh(&smc->state_lock);
	/* without a connection the error is the program's, or a later one's */
	if (rcu_access_pointer(smc->conn) && has_tcp_error(smc)) {
		err = xchg(&smc->sk->sk_err, max(smc->err, 0));
		WRITE_ONCE(smc->tcp_err, err);
	}
	spin_unlock_bh(&smc->state_lock);
	conn = smc_sock_conn_get(smc);
	if (!conn)
		return;
	if (unlikely(err == ECONNABORTED))
		smc_close_killed(conn, err, SMC_REASON_OK, false);
	else if (unlikely(smc_close_peer_gone(conn)))
		smc_sock_queue_work(smc, SMC_SK_WORK_PEER_GONE);
	smc_conn_put(conn);
}

/**
 * smc_close_over() - would TCP have closed this connection?
 * @conn: connection of a socket in phase SMC
 *
 * Both have finished and nothing is left to send, or it was aborted.
 *
 * Context: any, lockless.
 */
bool smc_close_over(const struct smc_conn *conn)
{
	if (unlikely(test_bit(SMC_CONN_UNWANTED, &conn->flags)))
		return true;
	switch (READ_ONCE(conn->state)) {
	case SMC_APPCLOSEWAIT2:
	case SMC_PEERCLOSEWAIT2:
	case SMC_APPFINCLOSEWAIT:
	case SMC_PEERFINCLOSEWAIT:
		return !(READ_ONCE(conn->st_flags) & (SMC_ST_DONE_QUEUED |
						     SMC_ST_CLOSE_QUEUED));
	case SMC_PROCESSABORT:
	case SMC_CLOSED:
		return true;
	default:
		return false;
	}
}

/*
 * TCP's error for a reset in the present state: EPIPE where the peer has
 * finished and we have not; none when it is over.
 */
static int reset_err(const struct smc_conn *conn)
{
	if (smc_close_over(conn))
		return 0;
	return conn->state == SMC_APPCLOSEWAIT1 ? EPIPE : ECONNRESET;
}

/**
 * smc_close_shut_both() - has the program given up reading, and writing, too?
 * @conn: connection of a socket in phase SMC
 *
 * Context: any, lockless.
 */
bool smc_close_shut_both(const struct smc_conn *conn)
{
	return READ_ONCE(conn->st_flags) & SMC_ST_RELEASED ||
	       (test_bit(SMC_CONN_SHUT_RD, &conn->flags) &&
		READ_ONCE(conn->shutdown) & SEND_SHUTDOWN);
}

/* Is an end that comes now no error: the peer has all, or had its own end? */
static bool nothing_lost(const struct smc_conn *conn)
{
	if (!smc_close_over(conn))
		return false;
	return conn->state == SMC_PROCESSABORT ||
	       test_bit(SMC_CONN_UNWANTED, &conn->flags) ||
	       !smc_conn_outq(conn);
}

/* What a step changes in the socket itself; state_lock held. */
static u16 apply(struct smc_conn *conn, enum smc_state_event ev,
		 const struct smc_state_step *step)
{
	struct smc_sock *smc = smc_of_conn(conn);
	unsigned int facts = conn->st_flags;
	u16 todo = step->actions;
	u8 shut = conn->shutdown;
	int err = 0;

	lockdep_assert_held(&smc->state_lock);
	if (todo & SMC_DO_ERR_RESET) {
		err = reset_err(conn);
		if (!err)
			todo &= ~SMC_DO_ERR_RESET;
		shut = SHUTDOWN_MASK;
	}
	/* before st_flags changes */
	if (todo & SMC_DO_ERR_ABORTED && nothing_lost(conn))
		todo &= ~SMC_DO_ERR_ABORTED;
	if (todo & SMC_DO_RCV_EOF &&
	    (ev == SMC_EV_PEER_DONE || ev == SMC_EV_PEER_CLOSED)) {
		/* rcvd_pos before the bit: pairs with nothing() */
		smp_mb__before_atomic();
		set_bit(SMC_CONN_PEER_DONE, &conn->flags);
	}
	if (ev == SMC_EV_PEER_CLOSED)
		facts |= SMC_ST_PEER_CLOSED;
	if (todo & SMC_DO_FLUSH) {
		if (todo & SMC_DO_SEND_DONE)
			facts |= SMC_ST_DONE_QUEUED;
		if (todo & SMC_DO_SEND_CLOSED)
			facts |= SMC_ST_CLOSE_QUEUED;
	} else if (todo & SMC_DO_SENT) {
		if (facts & SMC_ST_CLOSE_QUEUED)
			facts |= SMC_ST_CLOSE_SENT;
		facts &= ~(SMC_ST_DONE_QUEUED | SMC_ST_CLOSE_QUEUED);
	} else if (todo & (SMC_DO_SEND_DONE | SMC_DO_SEND_CLOSED |
			   SMC_DO_SEND_ABORT)) {
		facts &= ~(SMC_ST_DONE_QUEUED | SMC_ST_CLOSE_QUEUED);
		if (todo & (SMC_DO_SEND_CLOSED | SMC_DO_SEND_ABORT))
			facts |= SMC_ST_CLOSE_SENT;
	}
	WRITE_ONCE(conn->st_flags, facts);
	if (ev == SMC_EV_SHUT_WR)
		shut |= SEND_SHUTDOWN;
	if (todo & SMC_DO_RCV_EOF)
		shut |= RCV_SHUTDOWN;
	if (todo & SMC_DO_ERR_ABORTED)
		err = READ_ONCE(conn->abort_err) ?: ECONNABORTED;
	if (err || ev == SMC_EV_CLOSE || ev == SMC_EV_CLOSE_ABORT ||
	    step->next == SMC_CLOSED)
		shut = SHUTDOWN_MASK;
	/* bytes up to here are not late, see smc_close_unwanted() */
	if (shut == SHUTDOWN_MASK && !smc_close_shut_both(conn))
		WRITE_ONCE(conn->shut_pos, READ_ONCE(conn->rcvd_pos));
	/*
	 * Data calls and poll() take no lock: nothing(), check() and
	 * conn_poll() read in the opposite order.
	 */
	if (err)
		put_error(smc, err);
	smp_wmb();
	WRITE_ONCE(conn->shutdown, shut);
	smp_wmb();
	WRITE_ONCE(conn->state, step->next);
	return todo;
}

static void send_flags(struct smc_conn *conn, u16 todo, bool upcall)
{
	u8 flags = 0;

	if (todo & SMC_DO_SEND_DONE)
		flags |= SMC_CDC_DONE;
	if (todo & SMC_DO_SEND_CLOSED)
		flags |= SMC_CDC_CLOSED;
	if (todo & SMC_DO_SEND_ABORT)
		flags |= SMC_CDC_ABORT;
	if (!flags)
		return;
	/* The peer reads nothing any more: do not claim a complete stream. */
	if (!(todo & SMC_DO_FLUSH) && flags & SMC_CDC_CLOSED &&
	    smc_conn_unsent(conn))
		flags |= SMC_CDC_ABORT;
	clear_bit(SMC_CONN_CORKED, &conn->flags);
	if (todo & SMC_DO_FLUSH)
		set_bit(SMC_CONN_FLUSH, &conn->flags);
	if (upcall)
		smc_conn_mark_flags(conn, flags);
	else
		smc_conn_set_flags(conn, flags);
}

static void wake(const struct smc_conn *conn, u16 todo)
{
	struct sock *sk = conn->sk;

	smc_of_conn(conn)->state_change(sk);
	if (todo & (SMC_DO_ERR_RESET | SMC_DO_ERR_ABORTED))
		smc_of_conn(conn)->error_report(sk);
	else if (todo & SMC_DO_RCV_EOF)
		sk_wake_async(sk, SOCK_WAKE_WAITD,
			      READ_ONCE(conn->shutdown) == SHUTDOWN_MASK ?
			      POLL_HUP : POLL_IN);
}

/*
 * Has the peer, which had finished sending, closed?  Nothing comes of that with
 * TCP, and poll() sees no difference.  No reader sleeps behind the end of file;
 * what waits for room is told.
 */
static bool closed_silently(struct smc_conn *conn, enum smc_state_event ev,
			    u8 old, u8 next)
{
	if (ev != SMC_EV_PEER_CLOSED || old != next)
		return false;
	/* after apply(): pairs with want() */
	smp_mb();
	if (READ_ONCE(conn->tx_want))
		return false;
	set_bit(SMC_CONN_SILENT, &conn->flags);
	return true;
}

/*
 * Called after send_flags().  If the socket has dropped the connection
 * meanwhile the TCP connection may be the next one's, and is left alone.
 */
static void queue_tcp(struct smc_conn *conn, u16 todo)
{
	struct smc_sock *smc = smc_of_conn(conn);

	spin_lock_bh(&smc->state_lock);
	if (smc_conn_is_current(conn)) {
		if (todo & SMC_DO_TCP_SHUT_WR)
			smc_sock_queue_work(smc, SMC_SK_WORK_TCP_SHUT_WR);
		if (todo & SMC_DO_TCP_SHUT)
			smc_sock_queue_work(smc, SMC_SK_WORK_TCP_SHUT);
		if (todo & SMC_DO_TCP_ABORT) {
			set_bit(SMC_SK_WORK_TCP_ABORT, &smc->bits);
			/* the program takes its error first */
			smc_sock_kick_work(smc, SMC_RETRY_DELAY);
		}
	}
	spin_unlock_bh(&smc->state_lock);
}

/*
 * Set the program's error before apply() sets the state that shows it.  False:
 * the socket has dropped the connection.
 */
static bool set_error(struct smc_conn *conn, int err)
{
	struct smc_sock *smc = smc_of_conn(conn);
	bool ours;

	spin_lock_bh(&smc->state_lock);
	ours = smc_conn_is_current(conn);
	if (ours)
		put_error(smc, err);
	spin_unlock_bh(&smc->state_lock);
	return ours;
}

/**
 * smc_conn_event() - something happened to the connection
 * @conn: connection.  SMC_EV_ESTABLISHED publishes it in its socket, to which a
 *	reference passes; without that, and after smc_sock_drop_conn(), events are
 *	ignored
 * @ev: what happened
 * @set: SMC_ST_* facts that become true with it
 * @upcall: called from the core, which must not be called back
 *
 * Context: any; state_lock and no lock of the core is taken, except by
 * smc_conn_set_flags() if not @upcall.
 */
void smc_conn_event(struct smc_conn *conn, enum smc_state_event ev,
		    unsigned int set, bool upcall)
{
	struct smc_sock *smc = smc_of_conn(conn);
	const struct smc_state_step *step;
	struct sock *sk = conn->sk;
	bool released;
	u16 todo;
	u8 old;

	spin_lock_bh(&smc->state_lock);
	if (ev != SMC_EV_ESTABLISHED && !smc_conn_is_current(conn)) {
		spin_unlock_bh(&smc->state_lock);
		return;
	}
	WRITE_ONCE(conn->st_flags, conn->st_flags | set);
	old = conn->state;
	step = smc_state_next(old, ev, conn->st_flags);
	todo = apply(conn, ev, step);
	/* publish it to data calls and poll() */
	if (ev == SMC_EV_ESTABLISHED)
		rcu_assign_pointer(smc->conn, conn);
	released = conn->st_flags & SMC_ST_RELEASED;
	spin_unlock_bh(&smc->state_lock);
	trace_smc_state(sock_net(sk)->net_cookie, conn->token, old,
			smc_state_event_name(ev), step->next, todo,
			READ_ONCE(conn->abort_reason));

	send_flags(conn, todo, upcall);
	/* an orphan has nothing to deliver any more, see orphan.c */
	if (released && todo & SMC_DO_SEND_ABORT && !(todo & SMC_DO_FREE))
		smc_conn_start_timer(conn, &conn->timer, mod_timer,
				     jiffies + smc_orphan_time(conn));
	if (todo & (SMC_DO_TCP_SHUT_WR | SMC_DO_TCP_SHUT | SMC_DO_TCP_ABORT))
		queue_tcp(conn, todo);
	if (todo & SMC_DO_WAKE && !closed_silently(conn, ev, old, step->next))
		wake(conn, todo);
	if (todo & SMC_DO_FREE && released)
		smc_sock_queue_work(smc, SMC_SK_WORK_FREE);
}

/**
 * smc_close_unwanted() - bytes came for a socket that is shut both ways
 * @conn: connection that smc_close_shut_both()
 * @upcall: called from the core, which must not be called back
 *
 * They are answered with a reset, as with TCP, unless they came before shut_pos
 * was set.
 *
 * Context: any.
 */
void smc_close_unwanted(struct smc_conn *conn, bool upcall)
{
	bool gone;

	/* The peer has reset us: send no reset, and keep the error. */
	if (READ_ONCE(conn->rx_conn_flags) & SMC_CDC_ABORT)
		return;
	/*
	 * The bits, set by the caller or seen by it, before the positions: pairs
	 * with conn_readable() and with the barriers behind the stores of
	 * shut_pos.
	 */
	smp_mb();
	if (smp_load_acquire(&conn->rcvd_pos) == READ_ONCE(conn->shut_pos) ||
	    test_and_set_bit(SMC_CONN_UNWANTED, &conn->flags))
		return;
	gone = READ_ONCE(conn->st_flags) & SMC_ST_RELEASED ||
	       READ_ONCE(conn->state) == SMC_CLOSED;
	if (!gone && !set_error(conn, ECONNRESET))
		return;
	smc_conn_event(conn, SMC_EV_CLOSE_ABORT, 0, upcall);
	if (!gone)
		smc_of_conn(conn)->error_report(conn->sk);
}

/**
 * smc_close_killed() - the connection cannot go on
 * @conn: connection; before phase SMC only @err and @why are kept
 * @err: positive errno for its program
 * @why: what the tools tell of it
 * @upcall: called from the core, which must not be called back
 *
 * A child that waits for TCP_DEFER_ACCEPT waits no longer.
 *
 * Context: process or softirq; no lock of the core is held if not @upcall.
 */
void smc_close_killed(struct smc_conn *conn, int err, enum smc_reason why,
		      bool upcall)
{
	WRITE_ONCE(conn->abort_err, err);
	WRITE_ONCE(conn->abort_reason, why);
	smc_conn_event(conn, SMC_EV_KILLED, 0, upcall);
	smc_defer_ready(smc_of_conn(conn));
}

/**
 * smc_close_no_reader() - bytes were written that the peer will never read
 * @conn: connection whose peer has closed
 *
 * With TCP the peer would answer with a reset.  Here this side sets the error,
 * and sends an abort: the peer may have shut down without having closed.
 *
 * Context: process.
 */
void smc_close_no_reader(struct smc_conn *conn)
{
	if (!set_error(conn, EPIPE))
		return;
	smc_conn_event(conn, SMC_EV_CLOSE_ABORT, 0, false);
	smc_of_conn(conn)->error_report(conn->sk);
}
