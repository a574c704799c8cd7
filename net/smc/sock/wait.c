// SPDX-License-Identifier: GPL-2.0
/*
 * How a task that sleeps in smc_sock_sleep(), or waits for an event, is woken.
 *
 * Context: per function.  Tests: selftests/smc/wakeups.c, sockwait.c.
 */
#include <linux/list.h>
#include <linux/wait.h>
#include <net/sock.h>

#include "sock.h"

/**
 * smc_sock_wake_once() - wake function of smc_sock_sleep()
 * @wait: entry in the queue
 * @mode: task states to wake
 * @sync: of the waker
 * @key: of the waker
 *
 * A task that is woken leaves the queue, so that what follows before it runs,
 * each small write of a stream perhaps, does not wake it again.
 *
 * Context: any, the queue's lock is held.
 * Return: was the task asleep?
 */
int smc_sock_wake_once(struct wait_queue_entry *wait, unsigned int mode,
		       int sync, void *key)
{
	int woken = woken_wake_function(wait, mode, sync, key);

	/* last: the entry is on the task's stack */
	if (woken)
		list_del_init_careful(&wait->entry);
	return woken;
}

/**
 * smc_sock_wake() - wake what sleeps on a socket
 * @sk: socket
 * @key: the events that there are now, or WAKES_RECV of conn_events.c
 *
 * Context: any.
 */
void smc_sock_wake(struct sock *sk, __poll_t key)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_poll(&wq->wait, key);
	rcu_read_unlock();
}
