// SPDX-License-Identifier: GPL-2.0
/*
 * insmod queues.ko dev=DEV [adapter=1] - completion queues of a device
 *
 * Loaded before badverbs, and unloaded after it.  Parameters:
 *
 *   adapter	the device does not say that it is soft-RoCE, which finds it by that
 *		among the devices of a network device other than lo
 *   slow_ms	a queue is armed so much later by ksoftirqd, which looks at it once
 *		more for each time that a soft interrupt behind soft-RoCE's worker has
 *   freed	queues that were destroyed while they were being armed
 */
#define pr_fmt(fmt) "queues: " fmt

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/types.h>
#include <linux/irq_poll.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

static char *dev = "rxe0";
module_param(dev, charp, 0444);
static bool adapter;
module_param(adapter, bool, 0444);
static unsigned int slow_ms;
module_param(slow_ms, uint, 0644);
static unsigned int freed;
module_param(freed, uint, 0444);

static struct ib_device *ibdev;
static enum rdma_driver_id driver_id;
static int (*req_notify_cq)(struct ib_cq *cq, enum ib_cq_notify_flags flags);
static int (*destroy_cq)(struct ib_cq *cq, struct ib_udata *udata);

static struct ib_cq *arming, *again;
static atomic_t inside = ATOMIC_INIT(0);

/* An event without a completion, in a task. */
static void poke_fn(struct work_struct *work)
{
	struct ib_cq *cq = READ_ONCE(again);

	if (cq)
		irq_poll_sched(&cq->iop);
}

static DECLARE_WORK(poke, poke_fn);

static int slow_req_notify_cq(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	unsigned int ms = READ_ONCE(slow_ms);
	int rc;

	atomic_inc(&inside);
	if (ms && current->flags & PF_WQ_WORKER) {
		rc = req_notify_cq(cq, flags);
		WRITE_ONCE(again, cq);
		queue_work(system_unbound_wq, &poke);
	} else if (ms && !cmpxchg(&arming, NULL, cq)) {
		mdelay(ms);
		rc = req_notify_cq(cq, flags);
		WRITE_ONCE(arming, NULL);
	} else {
		rc = req_notify_cq(cq, flags);
	}
	atomic_dec(&inside);
	return rc;
}

/* What is being armed is not freed before. */
static int seen_destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	int rc;

	atomic_inc(&inside);
	cmpxchg(&again, cq, NULL);
	flush_work(&poke);
	if (READ_ONCE(arming) == cq)
		freed++;
	while (READ_ONCE(arming) == cq)
		msleep(20);
	rc = destroy_cq(cq, udata);
	atomic_dec(&inside);
	return rc;
}

static int __init queues_init(void)
{
	ibdev = ib_device_get_by_name(dev, RDMA_DRIVER_UNKNOWN);
	if (!ibdev)
		return -ENODEV;
	driver_id = ibdev->ops.driver_id;
	if (adapter)
		ibdev->ops.driver_id = RDMA_DRIVER_UNKNOWN;
	req_notify_cq = ibdev->ops.req_notify_cq;
	destroy_cq = ibdev->ops.destroy_cq;
	WRITE_ONCE(ibdev->ops.req_notify_cq, slow_req_notify_cq);
	WRITE_ONCE(ibdev->ops.destroy_cq, seen_destroy_cq);
	return 0;
}

static void __exit queues_exit(void)
{
	WRITE_ONCE(ibdev->ops.req_notify_cq, req_notify_cq);
	WRITE_ONCE(ibdev->ops.destroy_cq, destroy_cq);
	ibdev->ops.driver_id = driver_id;
	/* a call that has just come in is not yet counted */
	synchronize_rcu();
	while (atomic_read(&inside))
		msleep(20);
	synchronize_rcu();
	ib_device_put(ibdev);
}

module_init(queues_init);
module_exit(queues_exit);
MODULE_DESCRIPTION("Completion queues of an RDMA device");
MODULE_LICENSE("GPL");
