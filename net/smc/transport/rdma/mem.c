// SPDX-License-Identifier: GPL-2.0
/*
 * Memory: rings, their memory regions, and keys that are given up.
 *
 * A ring is physically contiguous, mapped for the device once.  A receive
 * ring also has a memory region, with nothing but local and remote write
 * access, in the protection domain of its link.  The address the peer uses
 * is a random number of ours (the region's iova), so that nothing of the
 * kernel's address space is told.  The region becomes valid by a REG_MR
 * (reg.c).
 *
 * A write to a key that is no longer valid breaks the queue pair, and with it
 * every connection of the group.  So a key is given up in this order: send
 * DELETE RKEY, wait for the response (whatever the peer had posted before it
 * has arrived by then), then free region and memory.  One DELETE RKEY is on
 * its way at a time; the LLC actor sends it, and repeats it if no answer comes.
 * An answer need not say which key it is about (version 2 leaves it out): after
 * a repeated request the next key waits until each has its answer, or there has
 * been silence for so long that none will come.  A late answer taken for the
 * next key's would free a ring the peer still writes to.
 *
 * Connections that end together leave more keys than a long path takes back in
 * a moment: while more than RETIRED_MAX wait no new ring is made, so that their
 * number is bounded whatever the peer does, and the connections there are go
 * on.  The peer loses the link if it answers nothing for SMC_RDMA_STUCK_MS then.
 *
 * Only ib_dma_*() is used: soft-RoCE has no DMA device.
 *
 * Context: process; mem_mutex as in rdma.h.
 * Tests: selftests/vm/tests.
 */
#include <linux/slab.h>
#include <linux/random.h>
#include <linux/scatterlist.h>

#include "rdma.h"

/* Rings that wait for DELETE RKEY's response; with more there are no new ones */
#define RETIRED_MAX	255

static enum dma_data_direction dma_dir(const struct smc_rdma_buf *rbuf)
{
	return rbuf->buf.dir == SMC_BUF_SND ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
}

static int pages_alloc(struct ib_device *ibdev, struct smc_rdma_buf *rbuf)
{
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_COMP | __GFP_ZERO |
		    __GFP_NOWARN | __GFP_NORETRY;
	struct page *page;

	rbuf->order = get_order(rbuf->buf.size);
	if (rbuf->order > MAX_PAGE_ORDER)
		return -ENOMEM;
	page = alloc_pages(gfp, rbuf->order);
	if (!page)
		return -ENOMEM;
	rbuf->dma = ib_dma_map_page(ibdev, page, 0, rbuf->buf.size,
				    dma_dir(rbuf));
	if (ib_dma_mapping_error(ibdev, rbuf->dma)) {
		__free_pages(page, rbuf->order);
		return -ENOMEM;
	}
	rbuf->mapped = true;
	rbuf->buf.cpu = page_address(page);
	return 0;
}

/*
 * A ring is read while the device writes into another part of it, which a
 * device that needs its memory copied (bounce buffers) cannot serve.
 */
static bool coherent(struct ib_device *ibdev, const struct smc_rdma_buf *rbuf)
{
	return ib_uses_virt_dma(ibdev) ||
	       !dma_need_sync(ibdev->dma_device, rbuf->dma);
}

/* Not for the device any more: plain memory from now on. */
static void pages_unmap(struct ib_device *ibdev, struct smc_rdma_buf *rbuf)
{
	if (rbuf->mapped)
		ib_dma_unmap_page(ibdev, rbuf->dma, rbuf->buf.size,
				  dma_dir(rbuf));
	rbuf->mapped = false;
}

static void pages_free(struct smc_rdma_buf *rbuf)
{
	__free_pages(virt_to_page(rbuf->buf.cpu), rbuf->order);
}

/*
 * An address that tells nothing: page aligned, and far enough from the end
 * for the largest ring.
 */
static u64 random_iova(void)
{
	u64 iova = get_random_u64() & GENMASK_ULL(55, 0) & PAGE_MASK;

	return iova ? iova : PAGE_SIZE;
}

/* A memory region for the ring; the peer cannot use it yet. */
static int mr_alloc(struct smc_rdma_link *link, struct smc_rdma_buf *rbuf)
{
	u32 pages = PAGE_ALIGN(rbuf->buf.size) >> PAGE_SHIFT;
	struct scatterlist sg;
	struct ib_mr *mr;
	int n;

	if (!coherent(link->ibdev, rbuf))
		return -EOPNOTSUPP;
	if (pages > link->ibdev->attrs.max_fast_reg_page_list_len)
		return -ENOMEM;
	mr = ib_alloc_mr(link->pd, IB_MR_TYPE_MEM_REG, pages);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	sg_init_table(&sg, 1);
	sg_set_page(&sg, virt_to_page(rbuf->buf.cpu), rbuf->buf.size, 0);
	sg_dma_address(&sg) = rbuf->dma;
	sg_dma_len(&sg) = rbuf->buf.size;
	n = ib_map_mr_sg(mr, &sg, 1, NULL, PAGE_SIZE);
	if (n != 1) {
		ib_dereg_mr(mr);
		return n < 0 ? n : -EINVAL;
	}
	rbuf->iova = random_iova();
	mr->iova = rbuf->iova;
	ib_update_fast_reg_key(mr, get_random_u8());
	rbuf->mr = mr;
	return 0;
}

/**
 * smc_rdma_buf_alloc() - memory for a ring
 * @lgr: group, between lgr_up and lgr_down
 * @buf: size and dir are set
 *
 * Context: process.
 * Return: 0; -ENOMEM (also: too large for one memory region, too many rings
 * wait for the peer), and a smaller size may do; another -errno.
 */
int smc_rdma_buf_alloc(struct smc_lgr *lgr, struct smc_buf *buf)
{
	struct smc_rdma_link *link = smc_rdma_link(lgr);
	struct smc_rdma_buf *rbuf = smc_rdma_buf(buf);
	int rc;

	INIT_LIST_HEAD(&rbuf->node);
	INIT_LIST_HEAD(&rbuf->reg_node);
	mutex_lock(&link->mem_mutex);
	if (!link->pd || READ_ONCE(link->dead)) {
		rc = -ENOLINK;
		goto out;
	}
	if (buf->dir == SMC_BUF_RCV && link->retired_num > RETIRED_MAX) {
		rc = -ENOMEM;
		goto out;
	}
	rc = pages_alloc(link->ibdev, rbuf);
	if (rc)
		goto out;
	rc = buf->dir == SMC_BUF_RCV ? mr_alloc(link, rbuf) : 0;
	if (rc) {
		pages_unmap(link->ibdev, rbuf);
		pages_free(rbuf);
		goto out;
	}
	list_add_tail(&rbuf->node, &link->bufs);
out:
	mutex_unlock(&link->mem_mutex);
	return rc;
}

static void mr_free(struct smc_rdma_buf *rbuf)
{
	if (rbuf->mr)
		ib_dereg_mr(rbuf->mr);
	rbuf->mr = NULL;
	rbuf->reg = SMC_RDMA_REG_NONE;
}

/* mem_mutex held. */
static void rbuf_free(struct smc_rdma_link *link, struct smc_rdma_buf *rbuf)
{
	list_del(&rbuf->node);
	mr_free(rbuf);
	pages_unmap(link->ibdev, rbuf);
	pages_free(rbuf);
	kfree(rbuf);
}

/**
 * smc_rdma_buf_free() - give a ring back
 * @lgr: group, before or after lgr_down
 * @buf: not used by any work request of ours; freed, perhaps later
 *
 * Context: process.
 */
void smc_rdma_buf_free(struct smc_lgr *lgr, struct smc_buf *buf)
{
	struct smc_rdma_link *link = smc_rdma_link(lgr);
	struct smc_rdma_buf *rbuf = smc_rdma_buf(buf);
	bool retire;

	mutex_lock(&link->mem_mutex);
	/* Before the link is ready no peer can have used the key. */
	retire = READ_ONCE(rbuf->reg) == SMC_RDMA_REG_DONE &&
		 READ_ONCE(link->state) >= SMC_RDMA_READY &&
		 !READ_ONCE(link->dead);
	if (retire) {
		list_move_tail(&rbuf->node, &link->retired);
		link->retired_num++;
	} else {
		rbuf_free(link, rbuf);
	}
	mutex_unlock(&link->mem_mutex);
	if (retire)
		smc_rdma_llc_do(link, SMC_RDMA_DO_RETIRE);
}

/**
 * smc_rdma_retire_next() - is there a key to tell the peer about?
 * @link: link
 * @rkey: the key
 *
 * Context: process (LLC actor).
 */
bool smc_rdma_retire_next(struct smc_rdma_link *link, u32 *rkey)
{
	struct smc_rdma_buf *rbuf;

	mutex_lock(&link->mem_mutex);
	rbuf = list_first_entry_or_null(&link->retired, struct smc_rdma_buf,
					node);
	if (link->retire_overdue || (link->retire_asked && !link->retire_again))
		rbuf = NULL;
	if (rbuf)
		*rkey = rbuf->mr->rkey;
	mutex_unlock(&link->mem_mutex);
	return rbuf;
}

/**
 * smc_rdma_retire_sent() - DELETE RKEY for that key has been posted
 * @link: link
 *
 * Context: process (LLC actor).
 */
void smc_rdma_retire_sent(struct smc_rdma_link *link)
{
	mutex_lock(&link->mem_mutex);
	link->retire_asked++;
	link->retire_again = false;
	link->retire_looks = 0;
	mutex_unlock(&link->mem_mutex);
}

/**
 * smc_rdma_retire_done() - the peer has answered a DELETE RKEY
 * @link: link
 *
 * Context: process (LLC actor), which then asks smc_rdma_retire_next().
 * Return: false if the answer was of no use: late, or to no question.
 */
bool smc_rdma_retire_done(struct smc_rdma_link *link)
{
	struct smc_rdma_buf *rbuf;
	bool useful;

	mutex_lock(&link->mem_mutex);
	rbuf = list_first_entry_or_null(&link->retired, struct smc_rdma_buf,
					node);
	useful = link->retire_asked && rbuf;
	if (useful) {
		rbuf_free(link, rbuf);
		link->retired_num--;
		link->retire_overdue = link->retire_asked - 1;
		link->retire_asked = 0;
		link->retire_again = false;
	} else if (link->retire_overdue) {
		link->retire_overdue--;
	}
	link->retire_looks = 0;
	link->retire_silent = 0;
	mutex_unlock(&link->mem_mutex);
	return useful;
}

/* Is the next key to be told about, or the last one again?  mem_mutex held. */
static bool retire_due(struct smc_rdma_link *link)
{
	u32 ms = link->retire_overdue ? SMC_RDMA_STUCK_MS : SMC_RDMA_LLC_MS;

	if (!link->retire_overdue && !link->retire_asked)
		return false;
	if (++link->retire_looks <= SMC_RDMA_LOOKS(ms))
		return false;
	link->retire_looks = 0;
	/* The peer was not asked meanwhile. */
	if (link->retire_overdue)
		link->retire_silent = 0;
	link->retire_overdue = 0;
	link->retire_again = link->retire_asked;
	return true;
}

/* For how long has the peer left too many keys unanswered?  mem_mutex held. */
static bool retire_given_up(struct smc_rdma_link *link)
{
	if (link->retired_num > RETIRED_MAX)
		link->retire_silent++;
	else
		link->retire_silent = 0;
	return link->retire_silent > SMC_RDMA_LOOKS(SMC_RDMA_STUCK_MS);
}

/**
 * smc_rdma_retire_tick() - is the response to a DELETE RKEY overdue?
 * @link: link; called every SMC_RDMA_LOOK_MS
 *
 * A peer may drop a request that comes at a bad moment: ask again.  Answers
 * that are still missing after a long silence were dropped, too.  A peer that
 * answers none, and has so many to answer that no ring can be made any more, is
 * given up.
 *
 * Context: process.
 */
void smc_rdma_retire_tick(struct smc_rdma_link *link)
{
	bool due, lost;

	mutex_lock(&link->mem_mutex);
	due = retire_due(link);
	lost = retire_given_up(link);
	mutex_unlock(&link->mem_mutex);
	if (lost)
		smc_rdma_link_lost(link, SMC_REASON_LINK_KEYS);
	else if (due)
		smc_rdma_llc_do(link, SMC_RDMA_DO_RETIRE);
}

/**
 * smc_rdma_mem_down() - nothing of ours is known to the device any more
 * @link: drained
 *
 * Rings still in use keep their memory until smc_rdma_buf_free(): a program
 * may have data to read.
 *
 * Context: process.
 */
void smc_rdma_mem_down(struct smc_rdma_link *link)
{
	struct smc_rdma_buf *rbuf, *next;

	mutex_lock(&link->mem_mutex);
	list_for_each_entry_safe(rbuf, next, &link->bufs, node) {
		list_del_init(&rbuf->node);
		mr_free(rbuf);
		pages_unmap(link->ibdev, rbuf);
	}
	list_for_each_entry_safe(rbuf, next, &link->retired, node)
		rbuf_free(link, rbuf);
	link->retired_num = 0;
	link->retire_asked = 0;
	link->retire_overdue = 0;
	link->retire_again = false;
	mutex_unlock(&link->mem_mutex);
}
