// SPDX-License-Identifier: GPL-2.0
/*
 * insmod slowrxe.ko - soft-RoCE pauses between two steps
 *
 * A received packet is put into the queue of a queue pair, and then the queue
 * pair's task is scheduled.  Written to "pause", 1 has the next receiver pause in
 * between, without sleeping, until 0 is written, but not for longer than a
 * watchdog takes.  Parameters, read only, about the last pause:
 *
 *   paused	1: it has begun; 2: it has ended
 *   worker	the receiver is a workqueue's
 *   resets	how often its queue pair has been moved to RESET since
 *   early	the destruction of its queue pair began during the pause
 */
#define pr_fmt(fmt) "slowrxe: " fmt

#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <rdma/ib_verbs.h>

#include "instead.h"

#define PAUSE_MAX_S	15	/* a soft lockup is 20 s */

static bool pause;
static unsigned int paused;
static bool worker;
static unsigned int resets;
static bool early;
module_param(paused, uint, 0400);
module_param(worker, bool, 0400);
module_param(resets, uint, 0400);
module_param(early, bool, 0400);

/* The receiver of the packet, and its queue pair */
static bool armed;
static struct task_struct *receiver;
static void *receiver_qp;

static int pause_set(const char *val, const struct kernel_param *kp)
{
	int rc = param_set_bool(val, kp);

	if (rc || !pause)
		return rc;
	paused = 0;
	resets = 0;
	early = false;
	WRITE_ONCE(receiver_qp, NULL);
	smp_store_release(&armed, true);
	return 0;
}

static const struct kernel_param_ops pause_ops = { .set = pause_set };
module_param_cb(pause, &pause_ops, &pause, 0200);

static int before_queue(struct kprobe *kp, struct pt_regs *regs)
{
	if (!READ_ONCE(armed) || !xchg(&armed, false))
		return 0;
	worker = !in_softirq() && current->flags & PF_WQ_WORKER;
	WRITE_ONCE(receiver_qp, (void *)regs_get_kernel_argument(regs, 0));
	WRITE_ONCE(receiver, current);
	return 0;
}

static bool is_receivers(struct pt_regs *regs)
{
	void *qp = READ_ONCE(receiver_qp);

	return qp && (void *)regs_get_kernel_argument(regs, 0) == qp;
}

static int before_modify(struct kprobe *kp, struct pt_regs *regs)
{
	const struct ib_qp_attr *attr;

	attr = (void *)regs_get_kernel_argument(regs, 1);
	if (is_receivers(regs) &&
	    regs_get_kernel_argument(regs, 2) & IB_QP_STATE &&
	    attr->qp_state == IB_QPS_RESET)
		WRITE_ONCE(resets, resets + 1);
	return 0;
}

static int before_destroy(struct kprobe *kp, struct pt_regs *regs)
{
	if (!is_receivers(regs))
		return 0;
	if (READ_ONCE(paused) == 1)
		WRITE_ONCE(early, true);
	WRITE_ONCE(receiver_qp, NULL);
	return 0;
}

static struct kprobe sched_probe;

/* In place of rxe_sched_task(), preemptible if the caller is. */
static void slow_sched(void *task)
{
	void (*sched)(void *task) = (void *)sched_probe.addr;
	ktime_t end = ktime_add_ms(ktime_get(), PAUSE_MAX_S * 1000);

	WRITE_ONCE(paused, 1);
	while (READ_ONCE(pause) && ktime_before(ktime_get(), end))
		cpu_relax();
	sched(task);
	WRITE_ONCE(paused, 2);
}

static int before_sched(struct kprobe *kp, struct pt_regs *regs)
{
	if (READ_ONCE(receiver) != current)
		return 0;
	WRITE_ONCE(receiver, NULL);
	return call_instead(regs, slow_sched);
}

static struct kprobe sched_probe = {
	.symbol_name	= "rxe_sched_task",
	.pre_handler	= before_sched,
	.post_handler	= not_optimized,
};

static struct kprobe queue_probe = {
	.symbol_name	= "rxe_resp_queue_pkt",
	.pre_handler	= before_queue,
};

static struct kprobe modify_probe = {
	.symbol_name	= "rxe_modify_qp",
	.pre_handler	= before_modify,
};

static struct kprobe destroy_probe = {
	.symbol_name	= "rxe_destroy_qp",
	.pre_handler	= before_destroy,
};

static struct kprobe *probes[] = {
	&sched_probe, &modify_probe, &destroy_probe, &queue_probe,
};

static int __init slowrxe_init(void)
{
	return register_kprobes(probes, ARRAY_SIZE(probes));
}

static void __exit slowrxe_exit(void)
{
	WRITE_ONCE(pause, false);
	unregister_kprobes(probes, ARRAY_SIZE(probes));
	/* no thread is in slow_sched(): a worker there is preemptible */
	synchronize_rcu_tasks();
}

module_init(slowrxe_init);
module_exit(slowrxe_exit);

MODULE_DESCRIPTION("Pauses where soft-RoCE has received a packet");
MODULE_LICENSE("GPL");
