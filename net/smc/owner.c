// SPDX-License-Identifier: GPL-2.0
/*
 * What the core tells a socket of its connection.
 *
 * Up-calls come in softirq, or from a thread of the peer's program where the
 * transport is shared memory, with rx_lock held: nothing here pushes.  Until
 * the handshake has ended the connection is not the socket's yet.  What the
 * core says before that is looked up when it is (sock.c), or means nothing when
 * TCP takes its place.
 *
 * Context: BH disabled, rx_lock possibly held, unless a function says
 * otherwise.  Tests: selftests/smc.
 */
#include <net/sock.h>

#include "sock.h"

static bool owner_get(struct smc_conn *conn)
{
	return refcount_inc_not_zero(&smc_of_conn(conn)->sk.sk_refcnt);
}

static void owner_put(struct smc_conn *conn)
{
	sock_put(&smc_of_conn(conn)->sk);
}

static void owner_readable(struct smc_conn *conn, bool urgent)
{
	struct sock *sk = &smc_of_conn(conn)->sk;

	/* pairs with defer() in listen.c */
	smp_mb();
	smc_listen_deferred_ready(smc_of_conn(conn));

	if (unlikely(urgent)) {
		/* close() takes the file away under this lock */
		read_lock_bh(&sk->sk_callback_lock);
		sk_send_sigurg(sk);
		read_unlock_bh(&sk->sk_callback_lock);
	}
	sk->sk_data_ready(sk);
	if (unlikely(smc_close_shut_both(smc_of_conn(conn))))
		smc_close_late(smc_of_conn(conn), true);
}

static bool owner_out_of_line(struct smc_conn *conn)
{
	return !sock_flag(&smc_of_conn(conn)->sk, SOCK_URGINLINE);
}

static void peer_flags(struct smc_sock *smc, u8 flags, bool upcall)
{
	enum smc_state_event ev = SMC_EV_PEER_DONE;

	if (flags & SMC_CDC_ABORT)
		ev = SMC_EV_PEER_ABORT;
	else if (flags & SMC_CDC_CLOSED)
		ev = SMC_EV_PEER_CLOSED;
	smc_sock_event(smc, ev, 0, upcall);
}

static void owner_peer_flags(struct smc_conn *conn, u8 flags)
{
	struct smc_sock *smc = smc_of_conn(conn);

	/* This may become TCP yet; see smc_owner_early_flags(). */
	if (smc_sock_mode(smc) == SMC_MODE_SMC)
		peer_flags(smc, flags, true);
}

/**
 * smc_owner_early_flags() - what the peer said during our handshake counts now
 * @smc: socket, just now in mode SMC
 *
 * The peer may be quicker than the end of our own handshake.
 *
 * Context: process.
 */
void smc_owner_early_flags(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	u8 flags;

	/* Who took it before has seen the old mode, who does later the new. */
	spin_lock_bh(&conn->rx_lock);
	flags = conn->rx_conn_flags;
	spin_unlock_bh(&conn->rx_lock);
	if (flags)
		peer_flags(smc, flags, false);
}

static void owner_flushed(struct smc_conn *conn)
{
	smc_sock_event(smc_of_conn(conn), SMC_EV_FLUSHED, 0, true);
}

static void owner_aborted(struct smc_conn *conn, int err, enum smc_reason why)
{
	struct smc_sock *smc = smc_of_conn(conn);

	smc->abort_err = err;
	smc->abort_reason = why;
	/* Until then it is the handshake's; established() looks again. */
	if (smc_sock_mode(smc) != SMC_MODE_SMC)
		return;
	smc_sock_event(smc, SMC_EV_KILLED, 0, true);
	smc_listen_deferred_ready(smc);
}

const struct smc_conn_owner smc_sock_conn_owner = {
	.get		= owner_get,
	.put		= owner_put,
	.readable	= owner_readable,
	.out_of_line	= owner_out_of_line,
	.writable	= smc_tx_writable,
	.peer_flags	= owner_peer_flags,
	.flushed	= owner_flushed,
	.aborted	= owner_aborted,
};
