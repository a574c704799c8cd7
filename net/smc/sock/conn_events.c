// SPDX-License-Identifier: GPL-2.0
/*
 * What the core tells a socket of its connection.
 *
 * Up-calls come in softirq, from a worker, or from a thread that pushes: one of
 * this end or, where the transport is shared memory, of the peer.  Most come
 * with rx_lock held: nothing here pushes.  Until the handshake has ended the
 * connection is not the socket's yet, and smc_conn_event() ignores up-calls.
 * established() in attempt.c then looks at what they have left; after fallback
 * to TCP it means nothing.
 *
 * Context: any, rx_lock possibly held, unless a function says otherwise.
 * Tests: selftests/smc.
 */
#include <net/sock.h>

#include "sock.h"

/* Process, no lock held. */
static void conn_release(struct smc_conn *conn)
{
	struct sock *sk = conn->sk;

	smc_sock_put(smc_of_conn(conn));
	sock_put(sk);
}

static void conn_urgent(struct smc_conn *conn)
{
	struct sock *sk = conn->sk;

	/* close() takes the file away under this lock */
	read_lock_bh(&sk->sk_callback_lock);
	sk_send_sigurg(sk);
	read_unlock_bh(&sk->sk_callback_lock);
}

/* No event: poll() and io_uring cannot ask for it, and epoll looks again. */
#define WAKES_RECV	((__force __poll_t)BIT(20))

/* There is something to read, or the end. */
static void tell_readable(struct smc_conn *conn)
{
	struct sock *sk = conn->sk;

	if (likely(READ_ONCE(sk->sk_rcvlowat) <= 1) || smc_rx_readable(conn) ||
	    smc_rx_urgent_valid(conn) || READ_ONCE(conn->rx_conn_flags))
		smc_of_conn(conn)->data_ready(sk);
	else
		/*
		 * only a recv(), which may want less, and nothing that waits for
		 * an event: io_uring tells of it without a look at the socket
		 */
		smc_sock_wake(sk, WAKES_RECV);
}

static void conn_readable(struct smc_conn *conn)
{
	/*
	 * rcvd_pos first: pairs with smc_defer_done(), smc_close_unwanted() and
	 * smc_rx_set_lowat()
	 */
	smp_mb();
	smc_defer_ready(smc_of_conn(conn));
	if (likely(!test_bit(SMC_CONN_SILENT, &conn->flags)))
		tell_readable(conn);
	if (unlikely(smc_close_shut_both(conn)) && smc_conn_is_current(conn))
		smc_close_unwanted(conn, true);
}

static bool conn_out_of_line(struct smc_conn *conn)
{
	return !sock_flag(conn->sk, SOCK_URGINLINE);
}

static void peer_flags(struct smc_conn *conn, u8 flags, bool upcall)
{
	enum smc_state_event ev = SMC_EV_PEER_DONE;

	if (flags & SMC_CDC_ABORT) {
		ev = SMC_EV_PEER_ABORT;
		/* not if this is the answer to an abort of ours */
		if (!READ_ONCE(conn->abort_reason) &&
		    !test_bit(SMC_CONN_WANT_ABORT, &conn->flags))
			WRITE_ONCE(conn->abort_reason, SMC_REASON_PEERABORT);
	} else if (flags & SMC_CDC_CLOSED) {
		ev = SMC_EV_PEER_CLOSED;
	}
	smc_conn_event(conn, ev, 0, upcall);
}

static void conn_peer_flags(struct smc_conn *conn, u8 flags)
{
	peer_flags(conn, flags, true);
}

/**
 * smc_sock_early_flags() - what the peer said during our handshake counts now
 * @conn: connection, just now the socket's
 *
 * The peer may be quicker than the end of our own handshake.
 *
 * Context: any; neither state_lock nor a lock of the core is held.
 */
void smc_sock_early_flags(struct smc_conn *conn)
{
	u8 flags;

	/* An up-call that takes rx_lock after this sees smc->conn. */
	spin_lock_bh(&conn->rx_lock);
	flags = conn->rx_conn_flags;
	spin_unlock_bh(&conn->rx_lock);
	if (flags)
		peer_flags(conn, flags, false);
}

static void conn_flushed(struct smc_conn *conn)
{
	smc_conn_event(conn, SMC_EV_FLUSHED, 0, true);
}

static void conn_aborted(struct smc_conn *conn, int err, enum smc_reason why)
{
	/* Ignored before ESTABLISHED; established() looks again. */
	smc_close_killed(conn, err, why, true);
}

static const struct smc_conn_events conn_events = {
	.release	= conn_release,
	.readable	= conn_readable,
	.urgent		= conn_urgent,
	.out_of_line	= conn_out_of_line,
	.writable	= smc_tx_writable,
	.peer_flags	= conn_peer_flags,
	.flushed	= conn_flushed,
	.aborted	= conn_aborted,
};

/**
 * smc_sock_new_conn() - make the connection of a handshake that begins
 * @smc: socket, the caller has a reference; the connection gets its own of the
 *	context and of the sock
 * @gfp: how memory may be had
 *
 * Context: any, by @gfp.
 * Return: connection with one reference, or NULL.
 */
struct smc_conn *smc_sock_new_conn(struct smc_sock *smc, gfp_t gfp)
{
	struct sock *sk = smc->sk;
	struct smc_conn *conn;

	sock_hold(sk);		/* the connection's */
	smc_sock_hold(smc);
	conn = smc_conn_alloc(smc_net(sock_net(sk)), &conn_events, sk, gfp);
	if (!conn) {
		smc_sock_put(smc);
		__sock_put(sk);
		return NULL;
	}
	conn->events_data = smc;
	conn->user = smc->user;
	conn->state = SMC_INIT;
	timer_setup(&conn->timer, smc_orphan_timer, 0);
	timer_setup(&conn->keepalive.timer, smc_keepalive_timer, 0);
	return conn;
}
