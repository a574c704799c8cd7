// SPDX-License-Identifier: GPL-2.0
/*
 * SOCK_DESTROY of sock_diag: an administrator ends a connection.
 *
 * What a program sees is what it sees when that is done to its TCP socket: the
 * error (ECONNABORTED), after what it has not read yet; the peer is reset.  An
 * SMC connection is killed as if its group had died, and the peer gets
 * "abort".  A listener stops, and resets what was not accepted.  For plain TCP
 * it is the inner socket's own doing.
 *
 * sock_diag finds a socket without a file, so a call may meet close().  The
 * socket lock is for that: close() takes it, too, and says SMC_SK_RELEASED.
 *
 * Context: process, no lock held.  Tests: selftests/smc/destroy.py.
 */
#include <net/sock.h>

#include "sock.h"

/* -- the socket lock is held -- */

static int destroy_inner(struct smc_sock *smc, int err)
{
	struct sock *tcp = smc->inner.sk;

	if (!tcp)
		return -ENOENT;
	if (!tcp->sk_prot->diag_destroy)
		return -EOPNOTSUPP;
	return tcp->sk_prot->diag_destroy(tcp, err);
}

static int destroy_conn(struct smc_sock *smc, int err)
{
	struct smc_conn *conn = smc_sock_conn_get(smc);
	int rc = -ENOENT;

	if (!conn)
		return rc;
	if (READ_ONCE(conn->state) != SMC_CLOSED) {
		smc_close_killed(conn, err, SMC_REASON_OK);
		rc = 0;
	}
	smc_conn_put(conn);
	return rc;
}

/* Not connected yet.  -EAGAIN: it is now, look again. */
static int destroy_init(struct smc_sock *smc, int err)
{
	bool connecting = smc_sock_connecting(smc);

	/* A handshake sees that its TCP connection is gone. */
	if (READ_ONCE(smc->listener))
		return destroy_inner(smc, err);
	if (test_bit(SMC_SK_RELEASED, &smc->bits))
		return -ENOENT;
	if (connecting)
		smc_sock_stop_hs(smc, false);
	if (smc_sock_mode(smc) != SMC_MODE_INIT)
		return -EAGAIN;
	if (!connecting || test_bit(SMC_SK_FAILED, &smc->bits))
		return -ENOENT;
	smc_sock_connect_failed(smc, err);
	return 0;
}

static int destroy(struct smc_sock *smc, int err)
{
	const struct smc_mode *mode = smp_load_acquire(&smc->mode);

	if (mode->id == SMC_MODE_SMC)
		return destroy_conn(smc, err);
	if (mode->id == SMC_MODE_TCP)
		return destroy_inner(smc, err);
	if (mode->id == SMC_MODE_LISTEN) {
		smc_listen_gone(smc, err);
		return 0;
	}
	return destroy_init(smc, err);
}

/**
 * smc_sock_destroy() - end whatever a socket does (proto->diag_destroy)
 * @sk: socket, referenced by the caller
 * @err: positive errno for its program
 *
 * Context: process, no lock held.
 * Return: 0; -ENOENT if there is nothing to end.
 */
int smc_sock_destroy(struct sock *sk, int err)
{
	int rc;

	lock_sock(sk);
	do {
		rc = destroy(smc_sk(sk), err);
	} while (rc == -EAGAIN);
	release_sock(sk);
	return rc;
}
