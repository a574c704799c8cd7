// SPDX-License-Identifier: GPL-2.0
/*
 * The handshake of a socket, from its begin to its end, and how a system call
 * waits.
 *
 * Context: process.  Tests: selftests/smc.
 */
#include <linux/sched/signal.h>
#include <net/sock.h>

#include "sock.h"

/**
 * smc_sock_wait() - sleep on our wait queue
 * @sk: socket
 * @timeo: jiffies left, updated
 * @done: true ends the wait
 *
 * Context: process, no lock held.
 * Return: 0; -EAGAIN when the time is over; the errno for a signal.
 */
int smc_sock_wait(struct sock *sk, long *timeo, bool (*done)(struct sock *sk))
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int rc = 0;

	add_wait_queue(sk_sleep(sk), &wait);
	/* pairs with skwq_has_sleeper(), after a change of what done() reads */
	smp_mb();
	while (!done(sk)) {
		if (!*timeo)
			rc = -EAGAIN;
		else if (signal_pending(current))
			rc = sock_intr_errno(*timeo);
		if (rc)
			break;
		*timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, *timeo);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return rc;
}

/**
 * smc_sock_new_hs() - make the handshake of an attempt
 * @smc: socket
 * @role: client or server
 * @refuse: server: decline for this reason, whatever the client proposes
 * @addr: client: where connect() goes
 * @addr_len: its length
 *
 * Context: process.
 * Return: handshake with one reference, or NULL.
 */
struct smc_hs *smc_sock_new_hs(struct smc_sock *smc, enum smc_role role,
			       enum smc_reason refuse,
			       const struct sockaddr *addr, int addr_len)
{
	struct smc_hs_setup setup = {
		.owner = smc->hs_owner,
		.sk = &smc->sk,
		.sn = smc_sock_net(smc),
		.inner = &smc->inner,
		.memcg = smc->memcg,
		.role = role,
		.refuse = refuse,
		.addr = addr,
		.addr_len = addr_len,
	};
	struct smc_hs *hs;

	setup.conn = smc_owner_new_conn(smc);
	if (!setup.conn)
		return NULL;
	smc_sock_ring_sizes(smc, &setup.snd_len, &setup.rcv_len);
	hs = smc_hs_new(&setup);
	if (!hs)
		smc_conn_put(setup.conn);
	return hs;
}

/**
 * smc_sock_start_hs() - the handshake has the inner connection from now on
 * @smc: socket
 * @hs: new handshake; the caller's reference becomes the socket's
 *
 * Context: process, the inner socket's lock is held: what the handshake hands
 * over comes after this.
 */
void smc_sock_start_hs(struct smc_sock *smc, struct smc_hs *hs)
{
	sock_owned_by_me(smc->inner.sk);
	smc_hs_start(hs);
	rcu_assign_pointer(smc->hs, hs);
}

/**
 * smc_sock_stop_hs() - take the inner connection from the handshake
 * @smc: socket; its handshake's outcome has been applied, or will not be
 * @late: the connection goes: one that still hides bytes of it goes, too
 *
 * Context: process; lock_sock() may be held.
 */
void smc_sock_stop_hs(struct smc_sock *smc, bool late)
{
	struct sock *tcp = smc->inner.sk;
	struct smc_hs *hs;

	lock_sock(tcp);
	hs = rcu_dereference_protected(smc->hs, lockdep_sock_is_held(tcp));
	if (hs && !late && smc_hs_hides(hs))
		hs = NULL;
	if (hs) {
		RCU_INIT_POINTER(smc->hs, NULL);
		smc_hs_stop(hs);
	}
	release_sock(tcp);
	if (hs)
		smc_hs_put(hs);
}

/**
 * smc_sock_hides() - must the program not see yet what has come?
 * @smc: socket in mode TCP
 *
 * Context: any.
 */
bool smc_sock_hides(const struct smc_sock *smc)
{
	const struct smc_hs *hs;
	bool hides;

	if (likely(!rcu_access_pointer(smc->hs)))
		return false;
	rcu_read_lock();
	hs = rcu_dereference(smc->hs);
	hides = hs && smc_hs_hides(hs);
	rcu_read_unlock();
	return hides;
}
