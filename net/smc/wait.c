// SPDX-License-Identifier: GPL-2.0
/*
 * What a system call on a socket waits for: an outcome, the handshake's end.
 *
 * Context: process.  Tests: selftests/smc.
 */
#include <linux/sched/signal.h>
#include <linux/wait_bit.h>
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
 * smc_sock_drop_hs_conn() - a handshake has failed, or was stopped
 * @smc: socket; the handshake does not run any more
 *
 * Context: process.
 */
void smc_sock_drop_hs_conn(struct smc_sock *smc)
{
	struct smc_conn *conn = smc->hs.conn;

	smc->hs.conn = NULL;
	if (!conn)
		return;
	smc_conn_stop(conn);
	smc_conn_put(conn);
}

/**
 * smc_sock_stop_hs() - end whatever the handshake still does
 * @smc: socket; its handshake's done() has run, or will not
 *
 * Context: process; lock_sock() may be held.
 */
void smc_sock_stop_hs(struct smc_sock *smc)
{
	if (smc_hs_cancel(&smc->hs)) {
		smc_sock_drop_hs_conn(smc);
		clear_and_wake_up_bit(SMC_SK_HS_ACTIVE, &smc->bits);
	} else {
		wait_on_bit(&smc->bits, SMC_SK_HS_ACTIVE,
			    TASK_UNINTERRUPTIBLE);
	}
}
