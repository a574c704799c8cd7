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
#include <linux/sched/signal.h>
#include <net/inet_common.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>
#include <net/sock_reuseport.h>

#include "sock.h"

/**
 * smc_sock_listen() - listen() of a socket of ours
 * @sock: socket
 * @backlog: length of TCP's queue
 *
 * From here on SYNs with the option are answered, unless the socket wants TCP.
 *
 * Context: process, no lock held.
 * Return: 0 or -errno; -EINVAL also while connect() is under way.
 */
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
			smc_policy_ask(smc, NULL);
			if (smc_sock_want(smc) == SMC_REASON_OK)
				smc_synopt_answer(sk);
			else
				smc_synopt_off(sk);
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

	/* accept() has given it the class that the listener was created with */
	smc_sock_set_class(sk);
	/* TCP's from birth, as a rule: nothing else knows it yet */
	if (!kern && !smc_sock_has_context(sk)) {
		/* fallback may be storing the same */
		WRITE_ONCE(newsock->ops, smc_sock_base(sk));
		return 0;
	}
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
			rc = smc_sock_attach(sk, 0);
		if (kern && !rc)
			smc_sock_set_phase(smc_sock_locked(sk), SMC_PHASE_TCP);
	}
	release_sock(sk);
	return rc;
}

/* Have TCP's accept() take the first settled child.  @smc pins the module. */
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
		rc = inet_accept(sock, newsock, arg);
	arg->flags = flags;
	mutex_unlock(&smc->accept_mutex);
	return rc;
}

/*
 * The socket has become TCP's since the core copied our operations from it to
 * @newsock: they must not stay there.
 */
static int accept_as_tcp(struct socket *sock, struct socket *newsock,
			 struct proto_accept_arg *arg)
{
	return inet_accept(sock, newsock, arg) ?: accepted(newsock, arg->kern);
}

/**
 * smc_sock_accept() - accept() of a socket of ours
 * @sock: listener
 * @newsock: gets the first settled child
 * @arg: flags, and whether the caller is the kernel
 *
 * Context: process, no lock held.
 * Return: 0 or -errno; -EINVAL if @sock does not listen.
 */
int smc_sock_accept(struct socket *sock, struct socket *newsock,
		    struct proto_accept_arg *arg)
{
	struct smc_sock *smc = smc_sock_get(sock->sk);
	long timeo;
	int rc;

	if (!smc)
		return smc_sock_pinned(accept_as_tcp(sock, newsock, arg));
	timeo = sock_rcvtimeo(sock->sk, arg->flags & O_NONBLOCK);
	for (;;) {
		rc = accept_first(smc, sock, newsock, arg);
		if (rc != -EAGAIN)
			break;
		rc = wait_child(sock->sk, &timeo);
		if (rc)
			break;
	}
	/* the context pins the module: the listener may be TCP's by now */
	rc = rc ?: accepted(newsock, arg->kern);
	smc_sock_put(smc);
	return rc;
}

/* -- the end of a listener -- */

/*
 * Does a listener go through handshakes?  One that asked for plain TCP before
 * listen() would give its program a client that was offered SMC elsewhere.
 */
static bool takes_children(struct sock *sk)
{
	struct smc_sock *smc = smc_sock_get(sk);
	bool yes;

	if (!smc)
		return false;
	yes = smc_sock_want(smc) == SMC_REASON_OK;
	smc_sock_put(smc);
	return yes;
}

/* Does TCP move children in this group?  As reuseport_migrate_sock(). */
static bool migrates(const struct sock *sk, const struct sock_reuseport *group)
{
	const struct bpf_prog *prog = rcu_dereference(group->prog);

	return READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_migrate_req) ||
	       (prog && prog->expected_attach_type ==
			BPF_SK_REUSEPORT_SELECT_OR_MIGRATE);
}

/* Might TCP move a child to a listener that does not know what it is? */
static bool may_migrate_away(const struct sock *sk)
{
	const struct sock_reuseport *group;
	struct sock *other;
	bool may = false;
	int i, num;

	rcu_read_lock();
	group = rcu_dereference(sk->sk_reuseport_cb);
	if (group && migrates(sk, group)) {
		num = READ_ONCE(group->num_socks);
		/* pairs with smp_wmb() in __reuseport_add_sock() */
		smp_rmb();
		for (i = 0; i < num && !may; i++) {
			other = READ_ONCE(group->socks[i]);
			may = other != sk && !takes_children(other);
		}
	}
	rcu_read_unlock();
	return may;
}

/**
 * smc_listen_end() - the program ends a listener
 * @sk: socket owned by the caller, listening or not
 *
 * TCP may then move its children and requests to others of its SO_REUSEPORT
 * group (net.ipv4.tcp_migrate_req, or a BPF program).  If one of these is not
 * ours, this listener leaves the group first, and its clients are reset, as
 * without migration: a handshake cannot go on there, and a client that was
 * offered SMC would send its Proposal to the program.
 *
 * The listener leaves TCP's table first: a socket that begins to listen would
 * find it there and make it a member of its group again.
 *
 * Context: process.
 */
void smc_listen_end(struct sock *sk)
{
	smc_sock_assert_locked(sk);
	/* without the option it has never had a child of ours */
	if (sk->sk_state != TCP_LISTEN || !smc_synopt_answers(sk) ||
	    !may_migrate_away(sk))
		return;
	sk->sk_prot->unhash(sk);
	reuseport_detach_sock(sk);
}
