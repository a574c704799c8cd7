// SPDX-License-Identifier: GPL-2.0
/*
 * What a system call on a socket waits for: an outcome, the handshake's end.
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
	/* who changes what done() looks at looks for sleepers after it */
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
