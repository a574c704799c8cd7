// SPDX-License-Identifier: GPL-2.0
/*
 * Sending: slots, the chain of one push, completions.
 *
 * A push is one ib_post_send() of up to three RDMA WRITEs and the SEND that
 * publishes them, or of one WRITE that publishes itself (smc_push.bare).  The
 * queue pair keeps their order: when the last one completes, everything before
 * it on the link has been read from memory.  Slots are a ring in posting order.
 * Only some are signalled; a completion gives back all slots up to its own.
 *
 * No wait is endless:
 *  - the slot that takes the last room is signalled, so that for a full ring a
 *    completion follows;
 *  - a connection without a slot queues once, first come first served, and is
 *    kicked by the completion that makes room; no other overtakes it;
 *  - little data waits only while signalled slots of its connection are in
 *    flight (cork()), and the connection queues when one completes;
 *  - after each quarter of a send ring a slot is signalled; smc_push.last
 *    requests a completion of the rest (close, a full ring).
 *
 * After an error completion the link is dead: the slots are given back when it
 * has no queue pair any more (smc_rdma_tx_flush()).
 *
 * Context: post_lock as in rdma.h; up-calls with BH disabled and no lock held.
 * Tests: selftests/vm/tests (stream checker, many connections on one link).
 */
#include <linux/slab.h>

#include "wire/llc.h"
#include "rdma.h"

/* A push as the wire has it: made before post_lock is taken. */
struct wire_push {
	const struct smc_push *p;
	struct smc_cdc cdc;
	struct smc_ring_seg seg[SMC_RING_SEGS];
	int segs;
};

/* Work requests of one push */
struct push_wrs {
	struct ib_rdma_wr write[SMC_RING_SEGS];
	struct ib_sge src[SMC_RING_SEGS];
	struct ib_send_wr send;
	struct ib_sge msg;
};

static u32 in_flight(const struct smc_rdma_link *link)
{
	return link->tx_head - link->tx_tail;
}

/* Slots a connection may take now. */
static u32 conn_room(const struct smc_rdma_link *link)
{
	u32 used = in_flight(link) + SMC_RDMA_TX_LLC;

	return used < SMC_RDMA_TX_SLOTS ? SMC_RDMA_TX_SLOTS - used : 0;
}

static u32 slot_index(u64 pos)
{
	return pos % SMC_RDMA_TX_SLOTS;
}

static u8 *slot_data(struct smc_rdma_link *link, u32 i)
{
	return link->tx_data + i * SMC_RDMA_TX_STRIDE;
}

/* The SEND of slot @i, its message already in place. */
static void build_send(struct smc_rdma_link *link, u32 i, bool signal,
		       struct ib_send_wr *wr, struct ib_sge *sge)
{
	u64 dma = link->tx_dma + i * SMC_RDMA_TX_STRIDE;

	sge->length = SMC_CDC_LEN;
	sge->lkey = link->pd->local_dma_lkey;
	wr->next = NULL;
	wr->wr_cqe = &link->tx[i].cqe;
	wr->sg_list = sge;
	wr->num_sge = 1;
	wr->opcode = IB_WR_SEND;
	wr->send_flags = IB_SEND_SOLICITED;
	if (signal)
		wr->send_flags |= IB_SEND_SIGNALED;
	if (link->inline_ok) {
		sge->addr = (uintptr_t)slot_data(link, i);
		wr->send_flags |= IB_SEND_INLINE;
		return;
	}
	sge->addr = dma;
	ib_dma_sync_single_for_device(link->ibdev, dma, SMC_CDC_LEN,
				      DMA_TO_DEVICE);
}

/* The WRITEs of a push, chained in front of @wrs->send. */
static void build_writes(struct smc_rdma_link *link, struct smc_rdma_tx *tx,
			 const struct wire_push *wp, struct push_wrs *wrs)
{
	struct smc_rdma_conn *xp = tx->xp;
	struct smc_rdma_buf *snd = smc_rdma_buf(xp->conn->sndbuf);
	int i;

	for (i = 0; i < wp->segs; i++) {
		const struct smc_ring_seg *seg = &wp->seg[i];
		struct ib_rdma_wr *write = &wrs->write[i];
		struct ib_sge *src = &wrs->src[i];

		src->addr = snd->dma + seg->src_off;
		src->length = seg->len;
		src->lkey = link->pd->local_dma_lkey;
		write->wr.next = i + 1 < wp->segs ? &wrs->write[i + 1].wr :
						    &wrs->send;
		write->wr.wr_cqe = &tx->cqe;
		write->wr.sg_list = src;
		write->wr.num_sge = 1;
		write->wr.opcode = IB_WR_RDMA_WRITE;
		write->wr.send_flags = 0;
		write->remote_addr = xp->peer_addr + seg->dst_off;
		write->rkey = xp->peer_rkey;
		ib_dma_sync_single_for_device(link->ibdev, src->addr,
					      src->length, DMA_TO_DEVICE);
	}
}

/*
 * Take the next slot and post @wr.  If posting fails the slot stays taken: part
 * of a chain may have been posted.
 */
static int slot_post(struct smc_rdma_link *link, struct smc_rdma_conn *xp,
		     u64 end_pos, unsigned int n_wrs, bool signal,
		     const struct ib_send_wr *wr)
{
	struct smc_rdma_tx *tx = &link->tx[slot_index(link->tx_head)];

	lockdep_assert_held(&link->post_lock);
	tx->xp = xp;
	tx->end_pos = end_pos;
	tx->n_wrs = n_wrs;
	tx->signalled = xp && signal;
	link->tx_head++;
	link->tx_quiet = signal ? 0 : link->tx_quiet + 1;
	if (xp) {
		xp->busy++;
		xp->signalled += signal;
	}
	smc_stats_add(link->lgr->sn, SMC_STAT_WR_POSTED, n_wrs);
	return ib_post_send(link->qp, wr, NULL);
}

/*
 * After CORK_BURST pushes without data of the peer the program is streaming: each
 * further push is signalled.  While one of them is in flight, little data waits;
 * it leaves with what was written meanwhile when that has completed.
 */
#define CORK_BURST	4

static void count_burst(struct smc_rdma_conn *xp)
{
	u64 rcvd = READ_ONCE(xp->conn->rcvd_pos);

	if (rcvd != xp->burst_rcvd)
		xp->burst = 0;
	xp->burst_rcvd = rcvd;
	xp->burst++;
}

static bool streams(const struct smc_rdma_conn *xp)
{
	return xp->burst > CORK_BURST &&
	       xp->burst_rcvd == READ_ONCE(xp->conn->rcvd_pos);
}

/* A slot may be signalled for other reasons: what does not stream waits for none. */
static bool cork(struct smc_rdma_conn *xp, const struct smc_push *p)
{
	xp->corked = p->may_wait && xp->signalled && streams(xp);
	return xp->corked;
}

/*
 * Does a waiter for room need the completion of this push, with what was sent
 * before it waited?
 */
static bool wanted(const struct smc_conn *conn)
{
	/* sent_pos, then tx_want: pairs with want() in sock/tx.c */
	smp_mb();
	return READ_ONCE(conn->tx_want);
}

static bool want_signal(const struct smc_rdma_link *link,
			const struct smc_rdma_conn *xp,
			const struct smc_push *p)
{
	return p->last || conn_room(link) <= 1 || xp->burst > CORK_BURST ||
	       link->tx_quiet + 1 >= SMC_RDMA_TX_SIGNAL ||
	       xp->quiet_len + p->len >= xp->conn->snd_size / 4 ||
	       (p->len && wanted(xp->conn));
}

/* One WRITE, whose immediate data takes the place of the CDC. */
static void build_bare(struct smc_rdma_link *link, struct smc_rdma_tx *tx,
		       const struct wire_push *wp, bool signal,
		       struct push_wrs *wrs)
{
	const struct smc_conn *conn = tx->xp->conn;
	struct ib_send_wr *wr = &wrs->write[0].wr;
	u32 imm = smc_imm_encode(conn->peer_token, wp->p->up.prod_flags);

	build_writes(link, tx, wp, wrs);
	wr->next = NULL;
	wr->opcode = IB_WR_RDMA_WRITE_WITH_IMM;
	wr->ex.imm_data = cpu_to_be32(imm);
	wr->send_flags = IB_SEND_SOLICITED | (signal ? IB_SEND_SIGNALED : 0);
}

static int push_locked(struct smc_rdma_link *link, struct smc_rdma_conn *xp,
		       const struct wire_push *wp)
{
	const struct smc_push *p = wp->p;
	u32 i = slot_index(link->tx_head);
	struct push_wrs wrs;
	bool signal;

	count_burst(xp);
	signal = want_signal(link, xp, p);

	link->tx[i].xp = xp;
	if (p->bare) {
		build_bare(link, &link->tx[i], wp, signal, &wrs);
	} else {
		smc_cdc_encode(slot_data(link, i), &wp->cdc);
		build_writes(link, &link->tx[i], wp, &wrs);
		build_send(link, i, signal, &wrs.send, &wrs.msg);
	}
	xp->quiet_len = signal ? 0 : xp->quiet_len + p->len;
	if (signal)
		WRITE_ONCE(xp->conn->completion_pos, p->up.prod_pos);
	xp->turn = false;
	return slot_post(link, xp, p->up.prod_pos, wp->segs + !p->bare, signal,
			 wp->segs ? &wrs.write[0].wr : &wrs.send);
}

/*
 * May a connection post now?  kick_waiting() uses the same condition as
 * may_push(): otherwise a connection would queue and be kicked in a loop.
 */
static bool may_send(const struct smc_rdma_link *link)
{
	lockdep_assert_held(&link->post_lock);
	return link->state >= SMC_RDMA_READY && !link->dead && conn_room(link);
}

/* Kick this connection when its turn comes. */
static void queue(struct smc_rdma_link *link, struct smc_rdma_conn *xp)
{
	lockdep_assert_held(&link->post_lock);
	if (list_empty(&xp->wait_node))
		list_add_tail(&xp->wait_node, &link->waiting);
}

/* May this connection post now?  If not, queue it. */
static bool may_push(struct smc_rdma_link *link, struct smc_rdma_conn *xp)
{
	if (may_send(link) && (xp->turn || list_empty(&link->waiting)))
		return true;
	queue(link, xp);
	return false;
}

/**
 * smc_rdma_push() - write into the peer's ring and publish it
 * @conn: attached
 * @p: what to write and publish
 *
 * Context: conn->tx_lock held, BH disabled.
 * Return: 0; -EAGAIN, or -EINPROGRESS if the push waits for earlier ones: then
 * smc_conn_push() follows, unless @conn is revoked and so has ended or is being
 * aborted; another error if the link is dead.
 */
int smc_rdma_push(struct smc_conn *conn, const struct smc_push *p)
{
	struct smc_rdma_link *link = smc_rdma_link(conn->lgr);
	struct smc_rdma_conn *xp = conn->xp;
	struct wire_push wp = { .p = p };
	bool lost = false;
	int rc;

	lockdep_assert_held(&conn->tx_lock);
	if (!p->bare)
		smc_conn_to_cdc(conn, &p->up, &wp.cdc);
	wp.segs = smc_ring_plan(conn->snd_size, conn->peer_size,
				p->up.prod_pos - p->len, p->len, wp.seg);
	spin_lock(&link->post_lock);
	if (link->dead) {
		rc = -ENOLINK;
	} else if ((xp->revoked && p->len) || !may_push(link, xp)) {
		rc = -EAGAIN;
	} else if (cork(xp, p)) {
		rc = -EINPROGRESS;
	} else {
		rc = push_locked(link, xp, &wp);
		lost = rc;
	}
	spin_unlock(&link->post_lock);
	if (!lost)
		return rc;
	smc_rdma_link_lost(link, SMC_REASON_LINK_POST);
	return -ENOLINK;
}

/**
 * smc_rdma_tx_llc() - send an LLC message
 * @link: link
 * @msg: SMC_LLC_LEN bytes, copied
 * @end: NULL, or the value of tx_tail at which the message has arrived is
 *	stored here when it is posted, under post_lock
 *
 * Context: process or BH.
 * Return: 0; -EAGAIN: no slot, the actor is queued when there is one;
 * -ENOLINK: the link is dead.
 */
int smc_rdma_tx_llc(struct smc_rdma_link *link, const u8 *msg, u64 *end)
{
	struct ib_send_wr wr = {};
	struct ib_sge sge;
	int rc;
	u32 i;

	spin_lock_bh(&link->post_lock);
	if (link->dead || link->state < SMC_RDMA_READY) {
		spin_unlock_bh(&link->post_lock);
		return -ENOLINK;
	}
	if (in_flight(link) >= SMC_RDMA_TX_SLOTS) {
		link->llc_blocked = true;
		spin_unlock_bh(&link->post_lock);
		return -EAGAIN;
	}
	i = slot_index(link->tx_head);
	memcpy(slot_data(link, i), msg, SMC_LLC_LEN);
	build_send(link, i, true, &wr, &sge);
	rc = slot_post(link, NULL, 0, 1, true, &wr);
	if (end)
		WRITE_ONCE(*end, link->tx_head);
	spin_unlock_bh(&link->post_lock);
	if (!rc)
		return 0;
	smc_rdma_link_lost(link, SMC_REASON_LINK_POST);
	return -ENOLINK;
}

/*
 * Request a completion of everything posted by an empty WRITE, which needs no
 * key and no address.
 */
static int flush_locked(struct smc_rdma_link *link)
{
	u32 i = slot_index(link->tx_head);
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = &link->tx[i].cqe,
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.send_flags = IB_SEND_SIGNALED,
	};

	lockdep_assert_held(&link->post_lock);
	/* the last slot of a full ring is signalled */
	if (!link->tx_quiet || in_flight(link) >= SMC_RDMA_TX_SLOTS)
		return 0;
	return slot_post(link, NULL, 0, 1, true, &wr.wr);
}

/* Give slots up to @end back; their connections go to @batch. */
static void retire_slots(struct smc_rdma_link *link, u64 end,
			 struct list_head *batch)
{
	u32 n_wrs = 0;

	lockdep_assert_held(&link->post_lock);
	while (link->tx_tail != end) {
		struct smc_rdma_tx *tx = &link->tx[slot_index(link->tx_tail++)];
		struct smc_rdma_conn *xp = tx->xp;

		n_wrs += tx->n_wrs;
		if (!xp)
			continue;
		xp->retired++;
		xp->signalled -= tx->signalled;
		xp->done_pos = tx->end_pos;
		if (list_empty(&xp->done_node))
			list_add_tail(&xp->done_node, batch);
	}
	smc_stats_add(link->lgr->sn, SMC_STAT_WR_COMPLETED, n_wrs);
}

/*
 * @n slots or up-calls of @xp have ended.  With the last one a detaching
 * connection may be freed.  Drops post_lock for the up-call.
 */
static void put_busy(struct smc_rdma_link *link, struct smc_rdma_conn *xp,
		     u32 n)
{
	struct smc_conn *conn = xp->conn;

	lockdep_assert_held(&link->post_lock);
	xp->busy -= n;
	if (xp->busy || !xp->detaching)
		return;
	xp->detaching = false;
	spin_unlock(&link->post_lock);
	smc_conn_detached(conn);
	spin_lock(&link->post_lock);
}

/*
 * The slots of a batch are free; if what they sent has @arrived, call
 * smc_conn_tx_done() once for each connection.  Drops post_lock.
 */
static void report_done(struct smc_rdma_link *link, struct list_head *batch,
			bool arrived)
{
	struct smc_rdma_conn *xp;
	u64 done_pos;
	u32 n;

	lockdep_assert_held(&link->post_lock);
	while (!list_empty(batch)) {
		xp = list_first_entry(batch, struct smc_rdma_conn, done_node);
		list_del_init(&xp->done_node);
		done_pos = xp->done_pos;
		n = xp->retired;
		xp->retired = 0;
		if (arrived) {
			spin_unlock(&link->post_lock);
			smc_conn_tx_done(xp->conn, done_pos);
			spin_lock(&link->post_lock);
			if (xp->corked)
				queue(link, xp);
			xp->corked = false;
		}
		put_busy(link, xp, n);
	}
}

/* Kick the first waiting connection; drops post_lock. */
static void kick_first(struct smc_rdma_link *link)
{
	struct smc_rdma_conn *xp;

	lockdep_assert_held(&link->post_lock);
	xp = list_first_entry(&link->waiting, struct smc_rdma_conn, wait_node);
	list_del_init(&xp->wait_node);
	xp->busy++;
	xp->turn = true;
	spin_unlock(&link->post_lock);
	smc_conn_push(xp->conn);
	spin_lock(&link->post_lock);
	xp->turn = false;
	put_busy(link, xp, 1);
}

/* Kick waiting connections while there is room; drops post_lock. */
static void kick_waiting(struct smc_rdma_link *link)
{
	while (!list_empty(&link->waiting) && may_send(link))
		kick_first(link);
}

/**
 * smc_rdma_tx_kick() - the link has become active
 * @link: link
 *
 * Kicks the connections that have waited since before the link was ready, which
 * a message of the peer can cause.  Nothing need be sent before the link is
 * confirmed.
 *
 * Context: process.
 */
void smc_rdma_tx_kick(struct smc_rdma_link *link)
{
	spin_lock_bh(&link->post_lock);
	kick_waiting(link);
	spin_unlock_bh(&link->post_lock);
}

/* Reason for a failed slot.  "Flushed" means an earlier error. */
static enum smc_reason send_error(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_RETRY_EXC_ERR:
		return SMC_REASON_LINK_RETRY;
	case IB_WC_WR_FLUSH_ERR:
		return SMC_REASON_LINK_QUEUE;
	default:
		return SMC_REASON_LINK_SEND;
	}
}

/* Completion of a slot.  Softirq; one at a time for each queue. */
static void tx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smc_rdma_tx *tx = container_of(wc->wr_cqe, struct smc_rdma_tx,
					      cqe);
	struct smc_rdma_link *link = tx->link;
	bool llc_blocked, confirm;
	LIST_HEAD(batch);
	u32 ahead;

	if (wc->status != IB_WC_SUCCESS) {
		smc_rdma_link_lost(link, send_error(wc->status));
		return;
	}
	spin_lock(&link->post_lock);
	ahead = (tx - link->tx) + SMC_RDMA_TX_SLOTS - slot_index(link->tx_tail);
	ahead %= SMC_RDMA_TX_SLOTS;
	if (WARN_ON_ONCE(ahead >= in_flight(link))) {
		spin_unlock(&link->post_lock);
		return;
	}
	retire_slots(link, link->tx_tail + ahead + 1, &batch);
	llc_blocked = link->llc_blocked;
	link->llc_blocked = false;
	confirm = link->confirm_end && link->tx_tail >= link->confirm_end;
	if (confirm)
		WRITE_ONCE(link->confirm_end, 0);
	report_done(link, &batch, true);
	kick_waiting(link);
	spin_unlock(&link->post_lock);
	if (confirm)
		smc_rdma_llc_do(link, SMC_RDMA_DO_ACTIVE);
	if (llc_blocked)
		smc_rdma_llc_wake(link);
	/* no barrier: before it sleeps lgr_down() looks under post_lock */
	if (waitqueue_active(&link->wait))
		wake_up_all(&link->wait);
}

/**
 * smc_rdma_tx_flush() - give all slots back
 * @link: dead, without queue pairs; no completion is being served
 *
 * Their messages may not have been sent, so smc_conn_tx_done() is not called;
 * detaching connections end.  Waiting connections are kicked to find the link
 * dead.
 *
 * Context: process.
 */
void smc_rdma_tx_flush(struct smc_rdma_link *link)
{
	LIST_HEAD(batch);

	spin_lock_bh(&link->post_lock);
	retire_slots(link, link->tx_head, &batch);
	link->tx_quiet = 0;
	report_done(link, &batch, false);
	/* on a dead link none queues again */
	while (!list_empty(&link->waiting))
		kick_first(link);
	spin_unlock_bh(&link->post_lock);
}

/**
 * smc_rdma_tx_awaited() - true if a completion is on its way
 * @link: link; a dead link awaits none
 *
 * Context: any.
 */
bool smc_rdma_tx_awaited(struct smc_rdma_link *link)
{
	bool awaited;

	spin_lock_bh(&link->post_lock);
	awaited = !link->dead && in_flight(link) != link->tx_quiet;
	spin_unlock_bh(&link->post_lock);
	return awaited;
}

/**
 * smc_rdma_conn_init() - prepare the private area
 * @conn: joined; may be prepared already
 *
 * Context: process.
 */
void smc_rdma_conn_init(struct smc_conn *conn)
{
	struct smc_rdma_conn *xp = conn->xp;

	if (xp->conn)
		return;
	INIT_LIST_HEAD(&xp->wait_node);
	INIT_LIST_HEAD(&xp->done_node);
	xp->conn = conn;
}

/* Leave the queue; request a completion of everything posted. */
static bool detach_begin(struct smc_rdma_link *link, struct smc_rdma_conn *xp)
{
	bool over;
	int rc = 0;

	smc_rdma_stall_begin(link, &xp->stall);
	spin_lock_bh(&link->post_lock);
	list_del_init(&xp->wait_node);
	xp->corked = false;
	over = !xp->busy;
	xp->detaching = !over;
	/* if the link is dead lgr_down gives the slots back */
	if (!over && !link->dead)
		rc = flush_locked(link);
	spin_unlock_bh(&link->post_lock);
	if (rc)
		smc_rdma_link_lost(link, SMC_REASON_LINK_POST);
	return over;
}

/**
 * smc_rdma_conn_detach() - begin to detach a connection, or look once more
 * @conn: not found by its token any more, and not pushed
 *
 * It ends when the device has read everything from the send ring and no up-call
 * runs.  If the link makes no or too little progress (smc_rdma_stalled()), end
 * it: the device does not give the memory back otherwise.
 *
 * Context: process.
 * Return: see struct smc_xport.
 */
bool smc_rdma_conn_detach(struct smc_conn *conn)
{
	struct smc_rdma_link *link = smc_rdma_link(conn->lgr);
	struct smc_rdma_conn *xp = conn->xp;

	if (!xp->conn)
		return true;
	if (!xp->looks++)
		return detach_begin(link, xp);
	if (smc_rdma_stalled(link, &xp->stall) ||
	    xp->looks > SMC_RDMA_LOOKS(SMC_RDMA_DETACH_MS))
		smc_rdma_link_lost(link, SMC_REASON_LINK_DETACH);
	return false;
}

/**
 * smc_rdma_tx_init() - slots and the memory of their messages
 * @link: zeroed; ibdev is set
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int smc_rdma_tx_init(struct smc_rdma_link *link)
{
	size_t size = SMC_RDMA_TX_SLOTS * SMC_RDMA_TX_STRIDE;
	u32 i;

	spin_lock_init(&link->post_lock);
	INIT_LIST_HEAD(&link->waiting);
	init_waitqueue_head(&link->wait);
	for (i = 0; i < SMC_RDMA_TX_SLOTS; i++) {
		link->tx[i].cqe.done = tx_done;
		link->tx[i].link = link;
	}
	link->tx_data = kzalloc(size, GFP_KERNEL);
	if (!link->tx_data)
		return -ENOMEM;
	link->tx_dma = ib_dma_map_single(link->ibdev, link->tx_data, size,
					 DMA_TO_DEVICE);
	if (ib_dma_mapping_error(link->ibdev, link->tx_dma)) {
		kfree(link->tx_data);
		link->tx_data = NULL;
		return -ENOMEM;
	}
	return 0;
}

/**
 * smc_rdma_tx_exit() - undo smc_rdma_tx_init()
 * @link: without queue pairs
 *
 * Context: process.
 */
void smc_rdma_tx_exit(struct smc_rdma_link *link)
{
	ib_dma_unmap_single(link->ibdev, link->tx_dma,
			    SMC_RDMA_TX_SLOTS * SMC_RDMA_TX_STRIDE,
			    DMA_TO_DEVICE);
	kfree(link->tx_data);
	link->tx_data = NULL;
}
