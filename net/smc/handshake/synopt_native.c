// SPDX-License-Identifier: GPL-2.0
/*
 * The SYN option through the kernel's own TCP.
 *
 * A kernel built with CONFIG_SMC writes and reads TCP option 254 "SMCR" itself
 * as soon as the static key tcp_have_smc is on: on a SYN if tp->syn_smc is set
 * on the connecting socket, on the SYN-ACK if it is set on the listener and
 * the SYN had it.  In an established socket the flag is left only if both
 * sides had the option (RFC 7609 section 3.1; RFC 6994).
 *
 * The key is on while this module is loaded.  It is not counted, but the
 * kernel's own smc.ko, the only other user, cannot be loaded at the same time.
 *
 * Context: as struct smc_synopt_ops says; the flag shares a word with others of
 * struct tcp_sock, so it is written under the socket lock.
 * Tests: selftests/smc/fallback*.sh, selftests/vm/tests/synopt.sh
 */
#include <linux/tcp.h>
#include <linux/jump_label.h>
#include <net/tcp.h>
#include "synopt.h"

#if IS_ENABLED(CONFIG_SMC)

static void set(struct sock *sk)
{
	tcp_sk(sk)->syn_smc = true;
}

static void clear(struct sock *sk)
{
	tcp_sk(sk)->syn_smc = false;
}

static bool is_set(const struct sock *sk)
{
	return tcp_sk(sk)->syn_smc;
}

/*
 * TCP looks for the answer in a SYN-ACK only.  What crosses our SYN is the
 * peer's SYN, and may have no option.
 */
static bool peer_has(const struct sock *sk)
{
	return tcp_sk(sk)->syn_smc && tcp_sk(sk)->rx_opt.smc_ok;
}

/*
 * TCP that has answered a SYN which crossed ours has sent a SYN-ACK, too, which
 * had the option, as the flag is set.  Otherwise it has sent nothing but SYNs:
 * it tells of the connection before it acknowledges the SYN-ACK.
 */
static bool crossed(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tp->segs_out > 1 + tp->total_retrans;
}

/*
 * A child that gets data with its SYN (Fast Open) answers that with a SYN-ACK
 * that is still to be sent, and says no.
 */
static bool req_has(const struct request_sock *req, struct sock *child)
{
	struct inet_request_sock *ireq = inet_rsk((struct request_sock *)req);

	/* Fast Open: only there the request has no reference yet */
	if (!refcount_read(&req->rsk_refcnt))
		ireq->smc_ok = 0;
	return ireq->smc_ok && tcp_sk(child)->syn_smc;
}

static int switch_on(void)
{
	static_branch_enable(&tcp_have_smc);
	return 0;
}

static void switch_off(void)
{
	static_branch_disable(&tcp_have_smc);
}

const struct smc_synopt_ops smc_synopt_native = {
	.name		= "kernel",
	.init		= switch_on,
	.exit		= switch_off,
	.offer		= set,
	.answer		= set,
	.off		= clear,
	.answers	= is_set,
	.peer_has	= peer_has,
	.crossed	= crossed,
	.req_has	= req_has,
};

#endif /* CONFIG_SMC */
