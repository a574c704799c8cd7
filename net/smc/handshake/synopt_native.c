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
 * On a kernel without CONFIG_SMC there is no provider yet: nothing is offered,
 * every connection is plain TCP, and has that as its reason.
 *
 * Context: process; the flag shares a word with others of struct tcp_sock, so
 * it is written under the socket lock.
 */
#define pr_fmt(fmt) "smc: " fmt

#include <linux/tcp.h>
#include <linux/jump_label.h>
#include <linux/moduleparam.h>
#include <linux/sysfs.h>
#include <net/tcp.h>
#include "priv.h"

#if IS_ENABLED(CONFIG_SMC)

/**
 * smc_synopt_set() - offer SMC with the SYN, or answer the offer
 * @tcp: socket, before connect or listen, locked
 * @on: false: the next SYN or SYN-ACK goes out without the option
 */
void smc_synopt_set(struct sock *tcp, bool on)
{
	lockdep_assert(lockdep_sock_is_held(tcp));
	tcp_sk(tcp)->syn_smc = on;
}

/**
 * smc_synopt_is_set() - does this socket offer SMC, or answer offers?
 * @tcp: socket, locked
 */
bool smc_synopt_is_set(const struct sock *tcp)
{
	return tcp_sk(tcp)->syn_smc;
}

/**
 * smc_synopt_peer_has() - have both sides offered SMC?
 * @tcp: client, established
 *
 * TCP looks for the answer in a SYN-ACK only.  What crosses our SYN is the
 * peer's SYN, and may have no option.
 */
bool smc_synopt_peer_has(const struct sock *tcp)
{
	return tcp_sk(tcp)->syn_smc && tcp_sk(tcp)->rx_opt.smc_ok;
}

/**
 * smc_synopt_req_has() - have both sides of a new child offered SMC?
 * @req: its request
 * @child: the child, being made
 *
 * A child that gets data with its SYN (Fast Open) answers that with a SYN-ACK
 * that is still to be sent, and says no.
 *
 * Context: any, the child's spinlock is held.
 */
bool smc_synopt_req_has(const struct request_sock *req, struct sock *child)
{
	struct inet_request_sock *ireq = inet_rsk((struct request_sock *)req);

	/* only then nothing has a reference of the request yet */
	if (!refcount_read(&req->rsk_refcnt))
		ireq->smc_ok = 0;
	return ireq->smc_ok && tcp_sk(child)->syn_smc;
}

void smc_synopt_init(void)
{
	static_branch_enable(&tcp_have_smc);
}

void smc_synopt_exit(void)
{
	static_branch_disable(&tcp_have_smc);
}

#else /* CONFIG_SMC */

void smc_synopt_set(struct sock *tcp, bool on)
{
}

bool smc_synopt_is_set(const struct sock *tcp)
{
	return false;
}

bool smc_synopt_peer_has(const struct sock *tcp)
{
	return false;
}

bool smc_synopt_req_has(const struct request_sock *req, struct sock *child)
{
	return false;
}

void smc_synopt_init(void)
{
	pr_notice("this kernel is built without CONFIG_SMC, so its TCP cannot offer SMC: all connections are plain TCP\n");
}

void smc_synopt_exit(void)
{
}

#endif /* CONFIG_SMC */

/**
 * smc_synopt_works() - can SMC be offered at all?
 *
 * Context: any.
 */
bool smc_synopt_works(void)
{
	return IS_ENABLED(CONFIG_SMC);
}

static int writer_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%s\n", smc_synopt_works() ? "kernel" : "none");
}

static int writer_set(const char *val, const struct kernel_param *param)
{
	return -EPERM;
}

static const struct kernel_param_ops writer_ops = {
	.get = writer_get,
	.set = writer_set,
};

module_param_cb(syn_option, &writer_ops, NULL, 0444);
MODULE_PARM_DESC(syn_option, "What writes the SYN option: kernel or none (read only)");
