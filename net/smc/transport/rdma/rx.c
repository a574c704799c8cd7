// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving: the receive queue, and the dispatch of messages.
 *
 * Every receive has room for the longest message.  What is read of one has a
 * buffer of its own; the rest of a long one goes to memory that all receives of
 * the link share, and that nothing reads.  The completion handler decodes the
 * message, passes it on and chains the receive to those that will be posted
 * again.  A CDC, or the immediate data of a WRITE that takes its place, goes to
 * the connection of this group that its token names, every other message to the
 * LLC actor.  What has no connection, or was not agreed on, is counted and
 * dropped: it may be late or hostile.
 *
 * Context: softirq (pooled completion queue), unless a function says otherwise;
 * one handler at a time for each link, so the chain of free receives needs no
 * lock.
 * Tests: selftests/vm/tests.
 */
#include <linux/slab.h>

#include "rdma.h"

/**
 * smc_rdma_rx_post() - post the chain of free receives
 * @link: queue pair is at least INIT
 *
 * Context: process, before the first completion; or a completion handler.
 * Return: 0 or -errno.
 */
int smc_rdma_rx_post(struct smc_rdma_link *link)
{
	const struct ib_recv_wr *bad = NULL;
	int rc;

	if (!link->rx_free_num)
		return 0;
	spin_lock_bh(&link->post_lock);
	if (link->dead) {
		rc = -ENOLINK;
	} else {
		link->rx_posted += link->rx_free_num;
		rc = ib_post_recv(link->qp, link->rx_free, &bad);
		for (; rc && bad; bad = bad->next)
			link->rx_posted--;
	}
	spin_unlock_bh(&link->post_lock);
	link->rx_free = NULL;
	link->rx_free_num = 0;
	return rc;
}

static void chain_free(struct smc_rdma_link *link, struct smc_rdma_rx *rx)
{
	rx->wr.next = link->rx_free;
	link->rx_free = &rx->wr;
	link->rx_free_num++;
}

static void rx_cdc(struct smc_rdma_link *link, const u8 *data, u32 len)
{
	struct smc_lgr *lgr = link->lgr;
	struct smc_conn *conn;
	struct smc_cdc cdc;

	if (smc_cdc_decode(data, len, &cdc)) {
		smc_stats_inc(lgr->sn, SMC_STAT_CDC_MALFORMED);
		return;
	}
	rcu_read_lock();
	conn = smc_lgr_conn_find(lgr, cdc.token);
	if (!conn)
		smc_stats_inc(lgr->sn, SMC_STAT_CDC_UNKNOWN);
	else if (smc_conn_rx_cdc(conn, &cdc))
		smc_conn_push_rcu(conn);
	rcu_read_unlock();
}

/*
 * Bytes without a CDC.  The device says how many were written, and not where: the
 * peer can lie about that as in a CDC.
 */
static void rx_bare(struct smc_rdma_link *link, u32 imm, u32 len)
{
	struct smc_lgr *lgr = link->lgr;
	struct smc_conn *conn;

	rcu_read_lock();
	conn = smc_lgr_conn_find(lgr, smc_imm_token(imm));
	if (!conn)
		smc_stats_inc(lgr->sn, SMC_STAT_CDC_UNKNOWN);
	else if (smc_conn_rx_bare(conn, len, smc_imm_prod_flags(imm)))
		smc_conn_push_rcu(conn);
	rcu_read_unlock();
}

/*
 * A WRITE with immediate data consumes a receive as well, but does not fill its
 * buffer, which still has an older message.
 */
static bool is_message(const struct ib_wc *wc)
{
	return wc->opcode == IB_WC_RECV && !(wc->wc_flags & IB_WC_WITH_IMM);
}

static void rx_one(struct smc_rdma_link *link, struct smc_rdma_rx *rx,
		   const struct ib_wc *wc)
{
	u32 len = min(wc->byte_len, link->rx_size);

	/* the key of a ring is void, and its memory may not be written any more */
	if (unlikely(wc->wc_flags & IB_WC_WITH_INVALIDATE)) {
		smc_rdma_link_lost(link, SMC_REASON_LINK_PEER);
		return;
	}
	if (wc->opcode == IB_WC_RECV_RDMA_WITH_IMM && link->lgr->write_imm) {
		rx_bare(link, be32_to_cpu(wc->ex.imm_data), wc->byte_len);
		return;
	}
	if (unlikely(!is_message(wc))) {
		smc_stats_inc(link->lgr->sn, SMC_STAT_LLC_MALFORMED);
		return;
	}
	ib_dma_sync_single_for_cpu(link->ibdev, rx->sge[0].addr, len,
				   DMA_FROM_DEVICE);
	if (len && rx->data[0] == SMC_CDC_TYPE)
		rx_cdc(link, rx->data, len);
	else
		smc_rdma_llc_rx(link, rx->data, len);
	ib_dma_sync_single_for_device(link->ibdev, rx->sge[0].addr, len,
				      DMA_FROM_DEVICE);
}

static void rx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smc_rdma_rx *rx = container_of(wc->wr_cqe, struct smc_rdma_rx,
					      cqe);
	struct smc_rdma_link *link = rx->link;

	link->rx_posted--;
	if (wc->status != IB_WC_SUCCESS) {
		smc_rdma_link_lost(link, SMC_REASON_LINK_QUEUE);
		return;
	}
	WRITE_ONCE(link->rx_count, link->rx_count + 1);
	rx_one(link, rx, wc);
	chain_free(link, rx);
	if (link->rx_free_num >= SMC_RDMA_RX_BATCH && smc_rdma_rx_post(link))
		smc_rdma_link_lost(link, SMC_REASON_LINK_POST);
}

/**
 * smc_rdma_rx_plan() - how many receives there are, and how long
 * @link: the group's version and limits are agreed; there is no queue pair yet
 *
 * Only a group that may get a second link sees messages of more than 44
 * bytes, unless the peer breaks the agreement.
 *
 * Context: process.
 */
void smc_rdma_rx_plan(struct smc_rdma_link *link)
{
	const struct ib_device_attr *attrs = &link->ibdev->attrs;
	const struct smc_lgr *lgr = link->lgr;

	link->rx_num = min(SMC_RDMA_RX_DEPTH, attrs->max_qp_wr - 1);
	if (smc_lgr_is_v1(lgr) || (lgr->release && lgr->max_links == 1)) {
		link->rx_size = SMC_RDMA_RX_SMALL;
	} else if (attrs->max_recv_sge < 2) {
		link->rx_size = SMC_RDMA_RX_LARGE;
	} else {
		link->rx_size = SMC_RDMA_RX_READ;
		link->rx_rest_sge.length = SMC_RDMA_RX_LARGE - SMC_RDMA_RX_READ;
	}
}

/* Memory that the device writes into, of @sge->length; NULL: there is none. */
static void *buffer_new(struct smc_rdma_link *link, struct ib_sge *sge)
{
	void *data = kmalloc(sge->length, SMC_BUF_GFP);

	if (!data)
		return NULL;
	sge->addr = ib_dma_map_single(link->ibdev, data, sge->length,
				      DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(link->ibdev, sge->addr)) {
		kfree(data);
		return NULL;
	}
	sge->lkey = link->pd->local_dma_lkey;
	return data;
}

static void buffer_free(struct smc_rdma_link *link, void *data,
			const struct ib_sge *sge)
{
	if (!data)
		return;
	ib_dma_unmap_single(link->ibdev, sge->addr, sge->length,
			    DMA_FROM_DEVICE);
	kfree(data);
}

static int rx_setup(struct smc_rdma_link *link, struct smc_rdma_rx *rx)
{
	rx->sge[0].length = link->rx_size;
	rx->data = buffer_new(link, &rx->sge[0]);
	if (!rx->data)
		return -ENOMEM;
	rx->sge[1] = link->rx_rest_sge;
	rx->cqe.done = rx_done;
	rx->link = link;
	rx->wr.wr_cqe = &rx->cqe;
	rx->wr.sg_list = rx->sge;
	rx->wr.num_sge = link->rx_rest ? 2 : 1;
	chain_free(link, rx);
	return 0;
}

/**
 * smc_rdma_rx_init() - allocate the receive queue's buffers
 * @link: smc_rdma_rx_plan() was called
 *
 * Context: process; charged to the control group of the first contact.
 * Return: 0 or -ENOMEM, then smc_rdma_rx_exit() still has to be called.
 */
int smc_rdma_rx_init(struct smc_rdma_link *link)
{
	u32 i;

	if (link->rx_rest_sge.length) {
		link->rx_rest = buffer_new(link, &link->rx_rest_sge);
		if (!link->rx_rest)
			return -ENOMEM;
	}
	link->rx = kvcalloc(link->rx_num, sizeof(*link->rx), SMC_BUF_GFP);
	if (!link->rx)
		return -ENOMEM;
	for (i = 0; i < link->rx_num; i++) {
		if (rx_setup(link, &link->rx[i]))
			return -ENOMEM;
	}
	return 0;
}

/**
 * smc_rdma_rx_exit() - free the buffers
 * @link: without queue pairs
 *
 * Context: process.
 */
void smc_rdma_rx_exit(struct smc_rdma_link *link)
{
	u32 i;

	for (i = 0; link->rx && i < link->rx_num; i++)
		buffer_free(link, link->rx[i].data, &link->rx[i].sge[0]);
	buffer_free(link, link->rx_rest, &link->rx_rest_sge);
	kvfree(link->rx);
	link->rx = NULL;
	link->rx_rest = NULL;
}
