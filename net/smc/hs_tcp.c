// SPDX-License-Identifier: GPL-2.0
/*
 * What a handshake does to its TCP connection: look, read, write, connect again.
 *
 * The connection is the handshake's while it holds the inner socket's lock and
 * has not been stopped: smc_hs_stop() has that lock, too, and afterwards the
 * inner socket may serve another attempt.
 *
 * Context: process, from a step; smc_hs_lock() sleeps.
 * Test: selftests/smc/fallback*.sh
 */
#include <linux/net.h>
#include <net/sock.h>
#include <net/tcp_states.h>
#include "hs_priv.h"

/**
 * smc_hs_lock() - lock the TCP connection
 * @hs: handshake
 *
 * Return: true: it is ours until smc_hs_unlock(); false: stopped, not locked.
 */
bool smc_hs_lock(struct smc_hs *hs)
{
	struct sock *tcp = hs->inner->sk;

	lock_sock(tcp);
	if (!hs->stopped)
		return true;
	release_sock(tcp);
	return false;
}

/**
 * smc_hs_unlock() - undo smc_hs_lock()
 * @hs: handshake
 */
void smc_hs_unlock(struct smc_hs *hs)
{
	release_sock(hs->inner->sk);
}

/**
 * smc_hs_peek() - copy unread bytes and leave them
 * @hs: handshake
 * @buf: room for @len bytes
 * @len: bytes wanted
 *
 * Return: bytes copied, 0 if there are none now; -ECANCELED.
 */
int smc_hs_peek(struct smc_hs *hs, void *buf, size_t len)
{
	int rc;

	if (!smc_hs_lock(hs))
		return -ECANCELED;
	rc = smc_inner_peek(hs->inner, buf, len);
	smc_hs_unlock(hs);
	return rc;
}

/**
 * smc_hs_recv() - consume bytes
 * @hs: handshake
 * @buf: room for @len bytes
 * @len: bytes wanted
 *
 * Return: bytes read, 0 if there are none now; -ECANCELED.
 */
int smc_hs_recv(struct smc_hs *hs, void *buf, size_t len)
{
	int rc;

	if (!smc_hs_lock(hs))
		return -ECANCELED;
	rc = smc_inner_recv(hs->inner, buf, len);
	smc_hs_unlock(hs);
	return rc;
}

/**
 * smc_hs_send() - send a message
 * @hs: handshake
 * @buf: the message
 * @len: its length
 * @mark: bit of hs->bits to be set if it was sent, -1: none
 *
 * Return: 0 if all of it was taken; -errno.
 */
int smc_hs_send(struct smc_hs *hs, const void *buf, size_t len, int mark)
{
	int rc;

	if (!smc_hs_lock(hs))
		return -ECANCELED;
	rc = smc_inner_send(hs->inner, buf, len);
	if (rc == len && mark >= 0)
		set_bit(mark, &hs->bits);
	smc_hs_unlock(hs);
	if (rc < 0)
		return rc;
	return rc == len ? 0 : -EPIPE;
}

/**
 * smc_hs_tcp_up() - client: look how TCP's connect() goes
 * @hs: handshake
 * @err: if it has failed, the positive errno, or 0
 *
 * Return: 1: established; 0: not yet; -ECONNREFUSED: it has failed; -ECANCELED.
 */
int smc_hs_tcp_up(struct smc_hs *hs, int *err)
{
	int rc = 0;

	if (!smc_hs_lock(hs))
		return -ECANCELED;
	if (smc_inner_established(hs->inner)) {
		rc = 1;
	} else if (hs->inner->sk->sk_state == TCP_CLOSE) {
		*err = smc_inner_take_error(hs->inner);
		rc = -ECONNREFUSED;
	}
	smc_hs_unlock(hs);
	return rc;
}

/**
 * smc_hs_connect_again() - client: reset the connection and open another one
 * @hs: handshake; the next SYN goes out without the option
 *
 * Return: 0: it is being opened; -errno.
 */
int smc_hs_connect_again(struct smc_hs *hs)
{
	struct sockaddr_storage addr;
	int rc;

	/* a program of the cgroup may write another address into it */
	memcpy(&addr, &hs->addr, sizeof(addr));
	if (!smc_hs_lock(hs))
		return -ECANCELED;
	rc = smc_inner_disconnect_locked(hs->inner);
	if (!rc) {
		smc_synopt_set(hs->inner->sk, false);
		rc = smc_inner_connect_locked(hs->inner,
					      (struct sockaddr *)&addr,
					      hs->addr_len);
	}
	smc_hs_unlock(hs);
	return rc == -EINPROGRESS ? 0 : rc;
}
