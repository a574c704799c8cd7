// SPDX-License-Identifier: GPL-2.0
/*
 * The SYN option: what writes and reads it.
 *
 * A kernel that is built with CONFIG_SMC does it in its TCP (synopt_native.c).
 * On another one this module does it itself (synopt_provider.c).  If neither
 * can, nothing is offered: every connection is plain TCP, and has that as its
 * reason.  The choice is made when the module is loaded.
 *
 * Context: process, unless a function says otherwise.
 * Test: selftests/vm/tests/synopt.sh
 */
#define pr_fmt(fmt) "smc: " fmt

#include <linux/moduleparam.h>
#include <linux/sysfs.h>
#include <net/sock.h>
#include "priv.h"
#include "synopt.h"

#if IS_ENABLED(CONFIG_SMC)
#define NATIVE (&smc_synopt_native)
#else
#define NATIVE NULL
#endif
#if IS_ENABLED(CONFIG_NETFILTER)
#define PROVIDER (&smc_synopt_provider)
#else
#define PROVIDER NULL
#endif

/* NULL: nothing can write the option, or the parameter disables it. */
static const struct smc_synopt_ops *writer =
	IS_ENABLED(CONFIG_SMC) ? NATIVE : PROVIDER;

/**
 * smc_synopt_works() - can SMC be offered at all?
 *
 * Context: any.
 */
bool smc_synopt_works(void)
{
	return writer;
}

/**
 * smc_synopt_offer() - offer SMC with the next SYN
 * @sk: socket before connect(), owned
 */
void smc_synopt_offer(struct sock *sk)
{
	lockdep_assert(lockdep_sock_is_held(sk));
	if (writer)
		writer->offer(sk);
}

/**
 * smc_synopt_answer() - answer offers
 * @sk: socket before listen(), or a listener; owned
 */
void smc_synopt_answer(struct sock *sk)
{
	lockdep_assert(lockdep_sock_is_held(sk));
	if (writer)
		writer->answer(sk);
}

/**
 * smc_synopt_off() - neither offer SMC nor answer offers
 * @sk: locked socket, or one that TCP destroys
 *
 * Nothing of ours is left in the socket.
 *
 * Context: any.
 */
void smc_synopt_off(struct sock *sk)
{
	if (writer)
		writer->off(sk);
}

/**
 * smc_synopt_answers() - does this listener answer offers?
 * @sk: socket, owned
 */
bool smc_synopt_answers(const struct sock *sk)
{
	lockdep_assert(lockdep_sock_is_held(sk));
	return writer && writer->answers(sk);
}

/**
 * smc_synopt_peer_has() - have both sides offered SMC?
 * @sk: client, established, that has offered it; locked
 *
 * Context: any.
 */
bool smc_synopt_peer_has(const struct sock *sk)
{
	lockdep_assert(lockdep_sock_is_held(sk));
	return writer && writer->peer_has(sk);
}

/**
 * smc_synopt_crossed() - has the peer's SYN crossed ours, and not answered it?
 * @sk: client for which smc_synopt_peer_has(), just now established; locked
 *
 * The peer may take our SYN-ACK for that of a server, and propose SMC.
 *
 * Context: any.
 */
bool smc_synopt_crossed(const struct sock *sk)
{
	lockdep_assert(lockdep_sock_is_held(sk));
	return writer && writer->crossed && writer->crossed(sk);
}

/**
 * smc_synopt_req_has() - have both sides of a new child offered SMC?
 * @req: its request
 * @child: the child, being made; nothing of its listener's is left in it
 *
 * Context: any, the child's spinlock is held.
 */
bool smc_synopt_req_has(const struct request_sock *req, struct sock *child)
{
	lockdep_assert(lockdep_sock_is_held(child));
	return writer && writer->req_has(req, child);
}

/**
 * smc_synopt_init() - get ready what writes the option
 *
 * Return: 0 or -errno.
 */
int smc_synopt_init(void)
{
	if (!writer)
		pr_notice("nothing writes the SYN option, so SMC cannot be offered: all connections are plain TCP\n");
	else if (writer == PROVIDER)
		pr_info("TCP of this kernel does not write the SYN option: this module does\n");
	return writer ? writer->init() : 0;
}

/**
 * smc_synopt_exit() - undo smc_synopt_init()
 *
 * No socket is ours any more.
 */
void smc_synopt_exit(void)
{
	if (writer)
		writer->exit();
}

/* -- the module parameter -- */

static int writer_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%s\n", writer ? writer->name : "none");
}

/* While the module is being loaded: later the file cannot be written to. */
static int writer_set(const char *val, const struct kernel_param *param)
{
	const struct smc_synopt_ops *all[] = { NATIVE, PROVIDER };
	int i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (all[i] && sysfs_streq(val, all[i]->name)) {
			writer = all[i];
			return 0;
		}
	}
	if (!sysfs_streq(val, "none"))
		return -EINVAL;
	writer = NULL;
	return 0;
}

static const struct kernel_param_ops writer_ops = {
	.get = writer_get,
	.set = writer_set,
};

module_param_cb(syn_option, &writer_ops, NULL, 0444);
MODULE_PARM_DESC(syn_option, "What writes the SYN option: kernel, own (this module), or none (all is TCP)");
