// SPDX-License-Identifier: GPL-2.0
/*
 * Listening: TCP's own listener, queue and backlog; accept() passes over
 * children that are not settled.
 *
 * A child whose SYN had the option gets a context at birth (ulp.c) and goes
 * through the handshake in TCP's accept queue.  What accept() returns is
 * settled (acceptq.c) and can be used at once.
 *
 * TCP wakes the listener for each child.  What it calls for that is ours while
 * the socket listens, and passes on only what accept() can take: a waiter that
 * trusts the wake-up (io_uring) does not look again.
 *
 * Context: per function.  Tests: selftests/smc.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>

#include "sock.h"
#include "stats.h"

int smc_sock_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	const struct smc_phase_rules *rules;
	struct smc_sock *smc;
	bool busy = false;

	smc = smc_sock_get(sk);
	if (smc) {
		smc_sock_begin(smc);
		lock_sock(sk);
		rules = smc_sock_rules(smc);
		busy = rules->attempt;
		/* not on a listener: its requests have been answered */
		if (rules->idle && sk->sk_state == TCP_CLOSE) {
			smc_synopt_set(sk, smc_sock_disabled(smc) ==
				       SMC_REASON_OK);
			smc_sock_hook_listener(smc);
		}
		release_sock(sk);
		smc_attempt_unlocked(smc);
		smc_sock_put(smc);
	}
	return busy ? -EINVAL : smc_sock_as_tcp(sock, listen, backlog);
}

static bool can_accept(struct sock *sk)
{
	return inet_sk_state_load(sk) != TCP_LISTEN || smc_acceptq_settle(sk);
}

/* Wait for a settled child, one program at a time.  0 or -errno. */
static int wait_child(struct sock *sk, long *timeo)
{
	while (!can_accept(sk)) {
		if (!*timeo)
			return -EAGAIN;
		if (signal_pending(current))
			return sock_intr_errno(*timeo);
		smc_sock_sleep(sk, true, can_accept(sk), timeo);
	}
	return 0;
}

/*
 * TCP's accept() has returned a socket with a context, or a plain one.  For a
 * user in the kernel (@kern) the core sets our operations after this, so that a
 * plain one needs a context that pins the module.
 */
static int accepted(struct socket *newsock, bool kern)
{
	struct sock *sk = newsock->sk;
	struct sock *listener;
	struct smc_sock *smc;
	int rc = 0;

	lock_sock(sk);
	smc = smc_sock_locked(sk);
	if (smc) {
		set_bit(SOCK_CUSTOM_SOCKOPT, &newsock->flags);
		listener = xchg(&smc->listener, NULL);
		if (listener)
			sock_put(listener);
	} else {
		newsock->ops = smc_sock_base(sk);
		if (kern)
			rc = smc_sock_attach_plain(sk);
	}
	release_sock(sk);
	return rc;
}

/* Have TCP's accept() take the first settled child. */
static int accept_first(struct smc_sock *smc, struct socket *sock,
			struct socket *newsock, struct proto_accept_arg *arg)
{
	struct sock *sk = smc->sk;
	int flags = arg->flags;
	int rc = -EAGAIN;

	/* no other accept(); smc_acceptq_forget() takes no settled child */
	mutex_lock(&smc->accept_mutex);
	arg->flags |= O_NONBLOCK;
	if (inet_sk_state_load(sk) != TCP_LISTEN)
		rc = -EINVAL;
	else if (smc_acceptq_settle(sk))
		rc = smc_sock_as_tcp(sock, accept, newsock, arg);
	arg->flags = flags;
	mutex_unlock(&smc->accept_mutex);
	return rc;
}

int smc_sock_accept(struct socket *sock, struct socket *newsock,
		    struct proto_accept_arg *arg)
{
	struct smc_sock *smc = smc_sock_get(sock->sk);
	long timeo;
	int rc;

	if (!smc)
		return smc_sock_as_tcp(sock, accept, newsock, arg);
	timeo = sock_rcvtimeo(sock->sk, arg->flags & O_NONBLOCK);
	do {
		rc = wait_child(sock->sk, &timeo);
		if (!rc)
			rc = accept_first(smc, sock, newsock, arg);
		else
			break;
	} while (rc == -EAGAIN && timeo);
	smc_sock_put(smc);
	return rc ?: accepted(newsock, arg->kern);
}

/* -- children -- */

/**
 * smc_listen_new_child() - a child whose SYN had the option
 * @smc: its context
 * @refuse: decline for this reason; SMC_REASON_OK: do not
 *
 * Its handshake begins when TCP has established it.
 *
 * Context: softirq or process, the child's spinlock is held.
 */
void smc_listen_new_child(struct smc_sock *smc, enum smc_reason refuse)
{
	smc->refuse = refuse;
	smc_sock_set_phase(smc, SMC_PHASE_HS);
	smc_sock_hook(smc);
}
