// SPDX-License-Identifier: GPL-2.0
/*
 * insmod slowrxe.ko - soft-RoCE pauses between two steps
 *
 * A received packet is put into the queue of a queue pair, and then the queue
 * pair's task is scheduled.  Once, after a number of milliseconds has been written
 * to "ms", this takes so long in between, without sleeping.  Parameters, read
 * only:
 *
 *   paused	pauses that have begun
 *   over	and ended
 *   early	queue pairs whose destruction began during a pause in their name
 */
#define pr_fmt(fmt) "slowrxe: " fmt

#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>

static unsigned int ms;
module_param(ms, uint, 0600);
static unsigned int paused;
module_param(paused, uint, 0400);
static unsigned int over;
module_param(over, uint, 0400);
static unsigned int early;
module_param(early, uint, 0400);

/* The receiver of the packet, and its queue pair */
static struct task_struct *receiver;
static void *receiver_qp;
static unsigned int pause_ms;

static int before_queue(struct kprobe *kp, struct pt_regs *regs)
{
	unsigned int wanted = xchg(&ms, 0);

	if (wanted) {
		receiver_qp = (void *)regs_get_kernel_argument(regs, 0);
		pause_ms = wanted;
		WRITE_ONCE(receiver, current);
	}
	return 0;
}

static int before_destroy(struct kprobe *kp, struct pt_regs *regs)
{
	if (READ_ONCE(paused) != READ_ONCE(over) &&
	    (void *)regs_get_kernel_argument(regs, 0) == receiver_qp)
		WRITE_ONCE(early, early + 1);
	return 0;
}

static struct kprobe sched_probe;

/* In place of rxe_sched_task(), preemptible if the caller is. */
static void slow_sched(void *task)
{
	void (*sched)(void *task) = (void *)sched_probe.addr;
	ktime_t end = ktime_add_ms(ktime_get(), pause_ms);

	WRITE_ONCE(paused, paused + 1);
	while (ktime_before(ktime_get(), end))
		cpu_relax();
	sched(task);
	WRITE_ONCE(over, over + 1);
}

static int before_sched(struct kprobe *kp, struct pt_regs *regs)
{
	if (READ_ONCE(receiver) != current)
		return 0;
	WRITE_ONCE(receiver, NULL);
	regs->ip = (unsigned long)slow_sched;
	return 1;
}

/* A probe with one is not optimized, and may change where the call goes. */
static void after_sched(struct kprobe *kp, struct pt_regs *regs,
			unsigned long flags)
{
}

static struct kprobe sched_probe = {
	.symbol_name	= "rxe_sched_task",
	.pre_handler	= before_sched,
	.post_handler	= after_sched,
};

static struct kprobe queue_probe = {
	.symbol_name	= "rxe_resp_queue_pkt",
	.pre_handler	= before_queue,
};

static struct kprobe destroy_probe = {
	.symbol_name	= "rxe_destroy_qp",
	.pre_handler	= before_destroy,
};

static struct kprobe *probes[] = {
	&sched_probe, &destroy_probe, &queue_probe,
};

static int __init slowrxe_init(void)
{
	return register_kprobes(probes, ARRAY_SIZE(probes));
}

static void __exit slowrxe_exit(void)
{
	unregister_kprobes(probes, ARRAY_SIZE(probes));
}

module_init(slowrxe_init);
module_exit(slowrxe_exit);

MODULE_DESCRIPTION("Pauses where soft-RoCE has received a packet");
MODULE_LICENSE("GPL");
