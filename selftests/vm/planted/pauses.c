// SPDX-License-Identifier: GPL-2.0
/*
 * insmod pauses.ko - a task sleeps at a point that it otherwise passes at once
 *
 * Needs the module smc.  The name of a point, written to "at", has the next task
 * that comes there sleep until "go" is written.  "paused", read only, is 1 then,
 * and 2 when the task has passed.  One point is no pause: "dump" has all sockets
 * looked at before TCP puts the next child into its table, and "paused" is 2 then.
 * (A kernel with CONFIG_DEBUG_ATOMIC_SLEEP complains.)  The points:
 *
 *   active	the worker that has made a group ACTIVE, before it calls the first
 *		handshake that waits for that; 2: it has called all
 *   confirm	the worker that has sent the Confirm of a client, before it goes on;
 *		2: it does
 *   poll	a task named "pauses", before poll() or select() puts it in a wait
 *		queue
 *   polled	such a task, in TCP's poll(), when that has looked
 *   unlocked	such a task that has let go of a socket in a system call of ours
 *   error	such a task that has seen the error of a connection, before it takes
 *		that
 *   accept	such a task in accept(), before a function of ours looks at the socket
 *   drain	the worker that is about to wait, or to look, for more of a message of
 *		the handshake that is longer than its buffer
 *   down	not the next task but each worker that is about to end the link of
 *		a group; "down", read only, is how many there are
 */
#define pr_fmt(fmt) "pauses: " fmt

#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/wait_bit.h>
#include <net/sock.h>

#include "handshake/priv.h"
#include "instead.h"

enum point {
	ACTIVE, CONFIRM, POLL, POLLED, UNLOCKED, ERROR, ACCEPT, DUMP, DRAIN,
	DOWN, NONE
};
static const char * const names[] = {
	"active", "confirm", "poll", "polled", "unlocked", "error",
	"accept", "dump", "drain", "down", "go"
};

static int at = NONE;	/* the next task sleeps there */
static bool held;
static unsigned int paused;
module_param(paused, uint, 0400);
static atomic_t downs;
module_param_named(down, downs.counter, int, 0400);

static int at_set(const char *val, const struct kernel_param *kp)
{
	int point = sysfs_match_string(names, val);

	if (point < 0)
		return point;
	if (point != NONE)
		WRITE_ONCE(paused, 0);
	WRITE_ONCE(held, point != NONE);
	smp_store_release(&at, point);
	wake_up_var(&held);
	return 0;
}

static const struct kernel_param_ops at_ops = { .set = at_set };
module_param_cb(at, &at_ops, NULL, 0200);

static bool hits(enum point point)
{
	if (READ_ONCE(at) != point || cmpxchg(&at, point, NONE) != point)
		return false;
	WRITE_ONCE(paused, 1);
	return true;
}

static void sleep_here(void)
{
	wait_var_event(&held, !READ_ONCE(held));
}

static void passed(void)
{
	WRITE_ONCE(paused, 2);
	wake_up_var(&paused);
}

static struct kprobe active_probe, confirm_probe, poll_probe, polled_probe,
	unlocked_probe, error_probe, accept_probe, dump_probe, walk_probe,
	drain_probe, down_probe;

/* In place of smc_lgr_settle() */
static void slow_settle(void *lgr, unsigned int why)
{
	void (*settle)(void *lgr, unsigned int why) = (void *)active_probe.addr;

	sleep_here();
	settle(lgr, why);
	passed();
}

static int before_settle(struct kprobe *kp, struct pt_regs *regs)
{
	/* the reason for which the group is dead; 0: it is ACTIVE */
	if ((unsigned int)regs_get_kernel_argument(regs, 1) || !hits(ACTIVE))
		return 0;
	return call_instead(regs, slow_settle);
}

/* In place of smc_hs_write() */
static int slow_write(void *hs, int mark)
{
	int (*write)(void *hs, int mark) = (void *)confirm_probe.addr;
	int rc = write(hs, mark);

	sleep_here();
	passed();
	return rc;
}

static int before_write(struct kprobe *kp, struct pt_regs *regs)
{
	/* of the client alone */
	if ((int)regs_get_kernel_argument(regs, 1) != SMC_HS_SENT_CONFIRM ||
	    !hits(CONFIRM))
		return 0;
	return call_instead(regs, slow_write);
}

/* In place of __pollwait() */
static void slow_pollwait(struct file *file, wait_queue_head_t *head,
			  poll_table *wait)
{
	poll_queue_proc pollwait = (void *)poll_probe.addr;

	sleep_here();
	pollwait(file, head, wait);
	passed();
}

static int before_pollwait(struct kprobe *kp, struct pt_regs *regs)
{
	if (strcmp(current->comm, "pauses") || !hits(POLL))
		return 0;
	return call_instead(regs, slow_pollwait);
}

/* In place of tcp_poll() */
static __poll_t slow_tcp_poll(struct file *file, struct socket *sock,
			      struct poll_table_struct *wait)
{
	__poll_t (*poll)(struct file *file, struct socket *sock,
			 struct poll_table_struct *wait) =
		(void *)polled_probe.addr;
	__poll_t mask = poll(file, sock, wait);

	sleep_here();
	passed();
	return mask;
}

static int before_tcp_poll(struct kprobe *kp, struct pt_regs *regs)
{
	if (strcmp(current->comm, "pauses") || !hits(POLLED))
		return 0;
	return call_instead(regs, slow_tcp_poll);
}

/* In place of smc_attempt_unlocked() */
static void slow_unlocked(void *smc)
{
	void (*unlocked)(void *smc) = (void *)unlocked_probe.addr;

	unlocked(smc);
	sleep_here();
	passed();
}

static int before_unlocked(struct kprobe *kp, struct pt_regs *regs)
{
	if (strcmp(current->comm, "pauses") || !hits(UNLOCKED))
		return 0;
	return call_instead(regs, slow_unlocked);
}

/* In place of smc_conn_error() */
static int slow_error(const void *conn)
{
	int (*error)(const void *conn) = (void *)error_probe.addr;
	int rc;

	sleep_here();
	rc = error(conn);
	passed();
	return rc;
}

static int before_error(struct kprobe *kp, struct pt_regs *regs)
{
	if (strcmp(current->comm, "pauses") || !hits(ERROR))
		return 0;
	return call_instead(regs, slow_error);
}

/* In place of smc_sock_accept() */
static int slow_accept(void *sock, void *newsock, void *arg)
{
	int (*accept)(void *sock, void *newsock, void *arg) =
		(void *)accept_probe.addr;
	int rc;

	sleep_here();
	rc = accept(sock, newsock, arg);
	passed();
	return rc;
}

static int before_accept(struct kprobe *kp, struct pt_regs *regs)
{
	if (strcmp(current->comm, "pauses") || !hits(ACCEPT))
		return 0;
	return call_instead(regs, slow_accept);
}

static int look_at(const void *row, void *arg)
{
	return 0;
}

/* In place of inet_ehash_nolisten() */
static bool slow_hash(struct sock *sk, struct sock *osk, bool *found)
{
	bool (*hash)(struct sock *sk, struct sock *osk, bool *found) =
		(void *)dump_probe.addr;
	int (*walk)(struct net *net, u64 from,
		    int (*fn)(const void *row, void *arg), void *arg) =
		(void *)walk_probe.addr;

	walk(sock_net(sk), 0, look_at, NULL);
	passed();
	return hash(sk, osk, found);
}

static int before_hash(struct kprobe *kp, struct pt_regs *regs)
{
	/* of a child alone */
	if (!regs_get_kernel_argument(regs, 2) || !hits(DUMP))
		return 0;
	return call_instead(regs, slow_hash);
}

/* In place of smc_hs_need() */
static void slow_need(void *hs, u32 bytes)
{
	void (*need)(void *hs, u32 bytes) = (void *)drain_probe.addr;

	sleep_here();
	need(hs, bytes);
	passed();
}

static int before_need(struct kprobe *kp, struct pt_regs *regs)
{
	const struct smc_hs *hs = (void *)regs_get_kernel_argument(regs, 0);

	if (!hs->drain || !hits(DRAIN))
		return 0;
	return call_instead(regs, slow_need);
}

/* In place of smc_rdma_lgr_down() */
static void slow_lgr_down(void *lgr, bool orderly)
{
	void (*lgr_down)(void *lgr, bool orderly) = (void *)down_probe.addr;

	sleep_here();
	lgr_down(lgr, orderly);
	if (atomic_dec_and_test(&downs))
		wake_up_var(&downs);
}

static int before_lgr_down(struct kprobe *kp, struct pt_regs *regs)
{
	if (READ_ONCE(at) != DOWN)
		return 0;
	atomic_inc(&downs);
	return call_instead(regs, slow_lgr_down);
}

static struct kprobe active_probe = {
	.symbol_name	= "smc_lgr_settle",
	.pre_handler	= before_settle,
	.post_handler	= not_optimized,
};

static struct kprobe confirm_probe = {
	.symbol_name	= "smc_hs_write",
	.pre_handler	= before_write,
	.post_handler	= not_optimized,
};

static struct kprobe poll_probe = {
	.symbol_name	= "__pollwait",
	.pre_handler	= before_pollwait,
	.post_handler	= not_optimized,
};

static struct kprobe polled_probe = {
	.symbol_name	= "tcp_poll",
	.pre_handler	= before_tcp_poll,
	.post_handler	= not_optimized,
};

static struct kprobe unlocked_probe = {
	.symbol_name	= "smc_attempt_unlocked",
	.pre_handler	= before_unlocked,
	.post_handler	= not_optimized,
};

static struct kprobe error_probe = {
	.symbol_name	= "smc_conn_error",
	.pre_handler	= before_error,
	.post_handler	= not_optimized,
};

static struct kprobe accept_probe = {
	.symbol_name	= "smc_sock_accept",
	.pre_handler	= before_accept,
	.post_handler	= not_optimized,
};

static struct kprobe dump_probe = {
	.symbol_name	= "inet_ehash_nolisten",
	.pre_handler	= before_hash,
	.post_handler	= not_optimized,
};

/* for its address */
static struct kprobe walk_probe = {
	.symbol_name	= "smc_sock_walk",
};

static struct kprobe drain_probe = {
	.symbol_name	= "smc_hs_need",
	.pre_handler	= before_need,
	.post_handler	= not_optimized,
};

static struct kprobe down_probe = {
	.symbol_name	= "rdma_lgr_down",
	.pre_handler	= before_lgr_down,
	.post_handler	= not_optimized,
};

static struct kprobe *probes[] = {
	&active_probe, &confirm_probe, &poll_probe, &polled_probe,
	&unlocked_probe, &error_probe, &accept_probe, &dump_probe, &walk_probe,
	&drain_probe, &down_probe
};

static int __init pauses_init(void)
{
	return register_kprobes(probes, ARRAY_SIZE(probes));
}

static void __exit pauses_exit(void)
{
	WRITE_ONCE(held, false);
	wake_up_var(&held);
	unregister_kprobes(probes, ARRAY_SIZE(probes));
	wait_var_event(&paused, READ_ONCE(paused) != 1);
	wait_var_event(&downs, !atomic_read(&downs));
	/* the task may be on its way out of a function of this module */
	synchronize_rcu_tasks();
}

module_init(pauses_init);
module_exit(pauses_exit);

MODULE_DESCRIPTION("Pauses at points of the module and of the core");
MODULE_LICENSE("GPL");
