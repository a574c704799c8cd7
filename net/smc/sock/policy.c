// SPDX-License-Identifier: GPL-2.0
/*
 * A BPF program may want plain TCP where a socket is about to use SMC.
 *
 * smc_run(8) can have the kernel make SMC sockets of TCP sockets.  socket()
 * knows no addresses, so that rules by address and port are asked here, through
 * the trace event smc_policy.  A program that is attached to it keeps the
 * module loaded.
 *
 * Context: process, the socket is owned.  Tests: selftests/vm/tests/activate.sh.
 */
#include <linux/preempt.h>
#include <net/inet_sock.h>

#include "addr.h"
#include "sock.h"
#include "trace.h"

/* connect() has checked the length. */
static void set_peer(struct smc_policy *policy, const struct sockaddr *addr)
{
	policy->family = addr->sa_family;
	/* sin6_port is at the same place */
	policy->port = ((const struct sockaddr_in *)addr)->sin_port;
	smc_addr_get((struct in6_addr *)policy->addr, addr);
}

static void set_own(struct smc_policy *policy, const struct sock *sk)
{
	policy->family = sk->sk_family;
	policy->listens = true;
	policy->port = inet_sk(sk)->inet_sport;
	smc_addr_own((struct in6_addr *)policy->addr, sk);
}

/**
 * smc_policy_ask() - let a BPF program decide on plain TCP
 * @smc: context of a socket in an idle phase
 * @peer: address of connect(), AF_INET or AF_INET6; NULL for listen()
 *
 * Context: process, the socket is owned.
 */
void smc_policy_ask(struct smc_sock *smc, const struct sockaddr *peer)
{
	struct smc_policy policy = {};

	smc_sock_assert_locked(smc->sk);
	/* not SMC_SK_PLAIN, which the program may clear */
	clear_bit(SMC_SK_DENIED, &smc->bits);
	if (!trace_smc_policy_enabled() || smc_sock_want(smc) != SMC_REASON_OK)
		return;
	if (peer)
		set_peer(&policy, peer);
	else
		set_own(&policy, smc->sk);
	/* BPF skips a program that another task was preempted in */
	preempt_disable();
	trace_smc_policy(&policy);
	preempt_enable();
	if (policy.plain)
		set_bit(SMC_SK_DENIED, &smc->bits);
}
