// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a link, its end, and requests to its LLC actor.
 *
 * A link dies once: smc_rdma_link_lost() sets link->dead, after which nothing
 * is posted, and calls smc_lgr_lost().  The core's worker then calls lgr_down,
 * which waits for the LLC actor, then drains and destroys the queue pairs
 * (smc_rdma_link_stop()), and only then gives back what a work request uses.
 *
 * Context: per function, post_lock not held; locks: rdma.h.
 * Tests: selftests/vm/tests.
 */
#include "rdma.h"
#include "trace.h"

static const char * const state_names[] = {
	[SMC_RDMA_RESET]	= "reset",
	[SMC_RDMA_RECEIVING]	= "receiving",
	[SMC_RDMA_READY]	= "ready",
	[SMC_RDMA_ACTIVE]	= "active",
};

static void trace_state(const struct smc_rdma_link *link, const char *next,
			enum smc_reason why)
{
	const struct smc_lgr *lgr = link->lgr;

	trace_smc_link_state(lgr->sn->net->net_cookie, lgr->id,
			     READ_ONCE(link->link_id), link->lgr->dev,
			     state_names[READ_ONCE(link->state)], next, why);
}

/**
 * smc_rdma_link_raise() - set the state of a link
 * @link: link
 * @state: new state; nothing happens if it is not a later one
 *
 * Context: process.
 */
void smc_rdma_link_raise(struct smc_rdma_link *link, enum smc_rdma_state state)
{
	spin_lock_bh(&link->post_lock);
	if (link->state < state) {
		trace_state(link, state_names[state], SMC_REASON_OK);
		WRITE_ONCE(link->state, state);
	}
	spin_unlock_bh(&link->post_lock);
}

#define DOWN(sym)	{ SMC_REASON_LINK_##sym, SMC_STAT_LINK_DOWN_##sym }
static const struct {
	enum smc_reason why;
	enum smc_stat stat;
} downs[] = {
	DOWN(RETRY),
	DOWN(STUCK),
	DOWN(TEST),
	DOWN(DETACH),
	DOWN(REG),
	DOWN(KEYS),
	DOWN(SEND),
	DOWN(QUEUE),
	DOWN(POST),
	DOWN(GID),
	DOWN(FATAL),
	DOWN(PEER),
};

static void link_end(struct smc_rdma_link *link, enum smc_reason why,
		     void *from)
{
	int i;

	if (!smc_lgr_lost(link->lgr, why))
		return;
	trace_smcr_link_down(link, link->lgr, link->lgr->sn->net->net_cookie,
			     READ_ONCE(link->state), link->lgr->dev, from);
	for (i = 0; i < ARRAY_SIZE(downs); i++) {
		if (downs[i].why == why)
			smc_stats_inc(link->lgr->sn, downs[i].stat);
	}
}

/**
 * smc_rdma_link_end() - end the group because of its link
 * @link: link
 * @why: one of SMC_REASON_LIST_LINK; counted and traced (smcr_link_down), unless
 *	the group has ended already
 *
 * The link can still be used, for DELETE LINK.
 *
 * Context: any.  Idempotent.
 */
void smc_rdma_link_end(struct smc_rdma_link *link, enum smc_reason why)
{
	link_end(link, why, __builtin_return_address(0));
}

/**
 * smc_rdma_link_mark_dead() - allow no more posting
 * @link: link
 * @why: for the trace
 *
 * Context: any.
 * Return: false if the link was dead already.
 */
bool smc_rdma_link_mark_dead(struct smc_rdma_link *link, enum smc_reason why)
{
	bool first;

	spin_lock_bh(&link->post_lock);
	first = !link->dead;
	WRITE_ONCE(link->dead, true);
	spin_unlock_bh(&link->post_lock);
	if (first)
		trace_state(link, "dead", why);
	return first;
}

/**
 * smc_rdma_link_lost() - the link cannot be used any more
 * @link: link
 * @why: one of SMC_REASON_LIST_LINK
 *
 * Context: any.  Idempotent.
 */
void smc_rdma_link_lost(struct smc_rdma_link *link, enum smc_reason why)
{
	if (!smc_rdma_link_mark_dead(link, why))
		return;
	wake_up_all(&link->wait);
	link_end(link, why, __builtin_return_address(0));
}

static void event_work(struct work_struct *work)
{
	struct smc_rdma_link *link = container_of(work, struct smc_rdma_link,
						  event_work);

	smc_rdma_link_lost(link, READ_ONCE(link->event_why));
}

/*
 * An event of one of a link's queue pairs, for which all of these are fatal.  A
 * driver may tell it in a hard interrupt
 * (Documentation/infiniband/core_locking.rst), and locks of ours are not safe
 * there.
 */
static void qp_event(struct ib_event *event, void *context)
{
	struct smc_rdma_link *link = context;
	enum smc_reason why;

	switch (event->event) {
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		why = SMC_REASON_LINK_QUEUE;
		break;
	case IB_EVENT_DEVICE_FATAL:
		why = SMC_REASON_LINK_FATAL;
		break;
	default:
		return;
	}
	WRITE_ONCE(link->event_why, why);
	queue_work(link->wq, &link->event_work);
}

/**
 * smc_rdma_events_init() - before the first queue pair of a link is made
 * @link: zeroed
 *
 * Context: process.
 */
void smc_rdma_events_init(struct smc_rdma_link *link)
{
	INIT_WORK(&link->event_work, event_work);
}

/**
 * smc_rdma_events_exit() - wait for the work of an event
 * @link: its queue pairs are destroyed: no event comes any more
 *
 * Context: process, sleeps.
 */
void smc_rdma_events_exit(struct smc_rdma_link *link)
{
	cancel_work_sync(&link->event_work);
}

/**
 * smc_rdma_qp_create() - make a queue pair of a link
 * @link: protection domain and completion queue are there
 * @cap: depth of its queues and bytes of inline data; set to what the device
 *	gives, if it makes the queue pair
 *
 * Context: process.
 * Return: queue pair in state RESET, or ERR_PTR().
 */
struct ib_qp *smc_rdma_qp_create(struct smc_rdma_link *link,
				 struct ib_qp_cap *cap)
{
	struct ib_qp_init_attr attr = {
		.event_handler = qp_event,
		.qp_context = link,
		.send_cq = link->cq,
		.recv_cq = link->cq,
		.cap = *cap,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	struct ib_qp *qp;

	attr.cap.max_send_sge = 1;
	attr.cap.max_recv_sge = link->rx_rest_sge.length ? 2 : 1;
	qp = ib_create_qp(link->pd, &attr);
	if (!IS_ERR(qp))
		*cap = attr.cap;
	return qp;
}

/**
 * smc_rdma_link_ready() - make the link ready to send
 * @link: RECEIVING or later
 *
 * Context: process.  Idempotent.
 * Return: 0 or -EIO.
 */
int smc_rdma_link_ready(struct smc_rdma_link *link)
{
	if (READ_ONCE(link->state) >= SMC_RDMA_READY)
		return 0;
	if (link->bringup->ready(link))
		return -EIO;
	smc_rdma_link_raise(link, SMC_RDMA_READY);
	return 0;
}

/**
 * smc_rdma_qp_stop() - stop a queue pair of a link
 * @qp: queue pair; nothing is posted any more
 *
 * ib_drain_qp(), which comes next, does the same, but does not say whether it
 * could, and warns.
 *
 * Context: process, waits for the device.
 * Return: true if every work request will complete.
 */
bool smc_rdma_qp_stop(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	return !ib_modify_qp(qp, &attr, IB_QP_STATE);
}

/* False: the device may have some of the work requests yet. */
static bool link_drain(struct smc_rdma_link *link)
{
	/*
	 * Below RTR no receive completes, so there is nothing to drain.  Do not
	 * try: when soft-RoCE finds no memory for the move to RTR, it flushes no
	 * receive until RESET, or is ready to receive all the same.
	 */
	if (READ_ONCE(link->state) < SMC_RDMA_RECEIVING) {
		link->bringup->reset(link);
		return true;
	}
	if (!smc_rdma_qp_stop(link->qp))
		return false;
	ib_drain_qp(link->qp);
	return !READ_ONCE(link->rx_posted);
}

/**
 * smc_rdma_link_stop() - stop the actor, and destroy the queue pairs
 * @link: link; lgr_connect has returned and is not called any more
 *
 * Afterwards the device does not use any memory of the link, and no completion
 * comes: a device in trouble may not stop a queue pair, but it cannot go on
 * with one that is destroyed, and drivers that refuse to stop one take its
 * completions from the queue.
 *
 * Context: process (lgr_down, no lock is held), waits for the device.
 */
void smc_rdma_link_stop(struct smc_rdma_link *link)
{
	bool drained;

	smc_rdma_link_mark_dead(link, READ_ONCE(link->lgr->why));
	/*
	 * The actor may be moving the queue pair to RTS.  If a driver does that
	 * after the move to ERR, what is posted does not complete.  The actor
	 * waits neither for a completion nor for lgr_down, and is not queued
	 * again for a dead link.
	 */
	cancel_work_sync(&link->llc_work);
	drained = link_drain(link);
	link->bringup->destroy(link);
	/* the last one to be drained: what completed before is served before */
	if (!smc_rdma_reg_stop(link))
		drained = false;
	if (!drained) {
		trace_state(link, "undrained", READ_ONCE(link->lgr->why));
		smc_stats_inc(link->lgr->sn, SMC_STAT_LINK_UNDRAINED);
		/* a softirq may be serving the last that the driver had */
		synchronize_rcu();
	}
	smc_rdma_reg_flush(link);
	smc_rdma_tx_flush(link);
}

/**
 * smc_rdma_stall_begin() - start counting looks
 * @link: link
 * @stall: set
 *
 * Context: any.
 */
void smc_rdma_stall_begin(struct smc_rdma_link *link,
			  struct smc_rdma_stall *stall)
{
	memset(stall, 0, sizeof(*stall));
	stall->rx = READ_ONCE(link->rx_count);
	spin_lock_bh(&link->post_lock);
	stall->tail = link->tx_tail;
	spin_unlock_bh(&link->post_lock);
}

/**
 * smc_rdma_stalled() - count a look, SMC_RDMA_LOOK_MS after the last one
 * @link: link with a completion to come
 * @stall: begun
 *
 * Anything sent or received is progress: a slow link is not a dead one.  A peer
 * that sends but takes nothing has a longer limit.
 *
 * Context: any.
 * Return: true if the link has made no progress for too long.
 */
bool smc_rdma_stalled(struct smc_rdma_link *link, struct smc_rdma_stall *stall)
{
	struct smc_rdma_stall now;

	smc_rdma_stall_begin(link, &now);
	if (now.tail == stall->tail) {
		now.unsent = stall->unsent + 1;
		if (now.rx == stall->rx)
			now.quiet = stall->quiet + 1;
	}
	*stall = now;
	/* the first look may have come soon after the beginning */
	return now.quiet > SMC_RDMA_LOOKS(SMC_RDMA_STUCK_MS) ||
	       now.unsent > SMC_RDMA_LOOKS(SMC_RDMA_UNSENT_MS);
}

/**
 * smc_rdma_llc_wake() - queue the actor
 * @link: link
 *
 * Context: any.
 */
void smc_rdma_llc_wake(struct smc_rdma_link *link)
{
	/* not after smc_rdma_link_stop(), which comes when the link is dead */
	spin_lock_bh(&link->post_lock);
	if (!link->dead)
		queue_work(link->wq, &link->llc_work);
	spin_unlock_bh(&link->post_lock);
}

/**
 * smc_rdma_llc_do() - request something from the actor
 * @link: link
 * @what: request
 *
 * Context: any.
 */
void smc_rdma_llc_do(struct smc_rdma_link *link, enum smc_rdma_todo what)
{
	set_bit(what, &link->llc_todo);
	smc_rdma_llc_wake(link);
}
