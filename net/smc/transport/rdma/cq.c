// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues: shared ones, from the RDMA core's pool, or one of a link.
 *
 * The core looks at a queue in a soft interrupt, which the driver raises.  An
 * adapter's driver does so in an interrupt, and the soft interrupt runs behind it.
 * Soft-RoCE tells of completions in a worker (since 6.5), where a soft interrupt
 * that is raised waits for ksoftirqd: two switches of tasks for each batch, at both
 * ends.  So its links have queues of their own, and what completes in a task is
 * told by an interrupt that we make.  Where soft interrupts have threads anyway
 * (PREEMPT_RT), that gains nothing.
 *
 * Context: process, unless stated otherwise; cq_mutex as in rdma.h.
 * Tests: selftests/smc/linkdown.py (armed); selftests/smc/bench.c (the rows of
 * SMC-R).
 */
#include <linux/types.h>
#include <linux/irq_poll.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <rdma/ib_verbs.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "rdma.h"

static void cq_irq(struct irq_work *work)
{
	struct smc_rdma_link *link =
		container_of(work, struct smc_rdma_link, cq_irq);

	link->cq_poll(link->cq, link);
}

/* Any context; the driver may hold locks of the queue, with interrupts off. */
static void cq_event(struct ib_cq *cq, void *context)
{
	struct smc_rdma_link *link = context;

	if (in_task())
		irq_work_queue(&link->cq_irq);
	else
		link->cq_poll(cq, link);
}

static struct ib_cq *cq_alloc(struct smc_rdma_link *link)
{
	struct ib_cq *cq;

	init_irq_work(&link->cq_irq, cq_irq);
	cq = ib_alloc_cq_any(link->ibdev, link, link->cq_num, IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return cq;
	/* nothing completes before there is a queue pair */
	link->cq_poll = cq->comp_handler;
	cq->comp_handler = cq_event;
	return cq;
}

/**
 * smc_rdma_cq_get() - a completion queue for the queue pairs of a link
 * @link: new link; its device has not been removed
 * @num: entries that they need
 *
 * Context: process, waits for the driver.
 * Return: 0 or -errno.
 */
int smc_rdma_cq_get(struct smc_rdma_link *link, unsigned int num)
{
	struct smc_rdma_dev *rdev = smc_rdma_dev(link->lgr->path.dev);

	link->cq_num = num;
	link->cq_own = SMC_RXE_HAS_WORKER && !IS_ENABLED(CONFIG_PREEMPT_RT) &&
		       link->ibdev->ops.driver_id == RDMA_DRIVER_RXE &&
		       arch_irq_work_has_interrupt();
	if (link->cq_own) {
		link->cq = cq_alloc(link);
	} else {
		mutex_lock(&rdev->cq_mutex);
		link->cq = ib_cq_pool_get(link->ibdev, num, -1,
					  IB_POLL_SOFTIRQ);
		mutex_unlock(&rdev->cq_mutex);
	}
	return PTR_ERR_OR_ZERO(link->cq);
}

/**
 * smc_rdma_cq_put() - undo smc_rdma_cq_get()
 * @link: its queue pairs have been destroyed
 *
 * Context: process.
 */
void smc_rdma_cq_put(struct smc_rdma_link *link)
{
	if (!link->cq_own) {
		ib_cq_pool_put(link->cq, link->cq_num);
		return;
	}
	irq_work_sync(&link->cq_irq);
	/*
	 * The core's handler lets go of a queue and then arms it, which
	 * ib_free_cq() does not wait for: none begins, and those that run end
	 */
	irq_poll_disable(&link->cq->iop);
	synchronize_rcu();
	irq_poll_enable(&link->cq->iop);
	ib_free_cq(link->cq);
}
