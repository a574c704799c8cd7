// SPDX-License-Identifier: GPL-2.0
/*
 * Memory: rings, their memory regions, and retired keys.
 *
 * A ring is physically contiguous, mapped for the device once.  A receive
 * ring also has a memory region, with local and remote write access only, in
 * the protection domain of its link.  The address for the peer (the region's
 * iova) is random: it reveals no kernel address.  A REG_MR makes the region
 * valid (reg.c).
 *
 * A write to an invalid key breaks the queue pair, and with it every connection
 * of the group.  So a key is retired in this order: send DELETE RKEY, wait for
 * the response (everything that the peer posted before it has arrived then),
 * free region and memory.  One DELETE RKEY is in flight at a time, for as many
 * keys as it can name; the LLC actor sends it, and repeats it if there is no
 * answer.  An answer of version 2 does not name its keys: after a repeated request
 * the next keys wait until each request has its answer, or until a long silence.
 * Otherwise a late answer would count for the next keys, and free rings that the
 * peer writes to.
 *
 * Many connections that end together leave many retired keys.  While there are
 * more than RETIRED_MAX no new ring is made: their number is bounded, and the
 * existing connections go on.  If the peer answers none for SMC_RDMA_STUCK_MS
 * then, the link ends.
 *
 * A ring gets its pages without a lock: the host may have to look for memory.
 * The allocation of a region has mem_mutex and takes as long as the device likes.
 * The LLC actor and the clock of the link take only retire_lock: meanwhile they
 * answer the peer and look at the link.  The actor itself frees the region of a
 * retired key: the peer has to wait for that, but the clock does not.
 *
 * Only ib_dma_*() is used: soft-RoCE has no DMA device.
 *
 * Context: process; mem_mutex and retire_lock as in rdma.h.
 * Tests: selftests/vm/tests.
 */
#include <linux/slab.h>
#include <linux/pfn.h>
#include <linux/random.h>
#include <linux/scatterlist.h>

#include "rdma.h"

/* Retired rings; with more no receive ring is made */
#define RETIRED_MAX	255

static enum dma_data_direction dma_dir(const struct smc_rdma_buf *rbuf)
{
	return rbuf->buf.dir == SMC_BUF_SND ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
}

static int pages_alloc(struct smc_rdma_buf *rbuf)
{
	gfp_t gfp = SMC_BUF_GFP | __GFP_COMP | __GFP_ZERO;

	/* an order that is too large fails, too, without a warning */
	rbuf->buf.cpu = (u8 *)__get_free_pages(gfp, get_order(rbuf->buf.size));
	return rbuf->buf.cpu ? 0 : -ENOMEM;
}

static int pages_map(struct ib_device *ibdev, struct smc_rdma_buf *rbuf)
{
	rbuf->dma = ib_dma_map_page(ibdev, virt_to_page(rbuf->buf.cpu), 0,
				    rbuf->buf.size, dma_dir(rbuf));
	if (ib_dma_mapping_error(ibdev, rbuf->dma))
		return -ENOMEM;
	rbuf->mapped = true;
	return 0;
}

/*
 * A program reads a ring while the device writes into another part of it: this
 * does not work with bounce buffers.
 */
static bool coherent(struct ib_device *ibdev, const struct smc_rdma_buf *rbuf)
{
	return ib_uses_virt_dma(ibdev) ||
	       !dma_need_sync(ibdev->dma_device, rbuf->dma);
}

static void pages_unmap(struct ib_device *ibdev, struct smc_rdma_buf *rbuf)
{
	if (rbuf->mapped)
		ib_dma_unmap_page(ibdev, rbuf->dma, rbuf->buf.size,
				  dma_dir(rbuf));
	rbuf->mapped = false;
}

static void pages_free(struct smc_rdma_buf *rbuf)
{
	free_pages((unsigned long)rbuf->buf.cpu, get_order(rbuf->buf.size));
}

/* Page aligned; 56 bits: the end of the largest ring does not wrap. */
static u64 random_iova(void)
{
	u64 iova = get_random_u64() & GENMASK_ULL(55, 0) & PAGE_MASK;

	return iova ? iova : PAGE_SIZE;
}

/*
 * A memory region for the ring; the peer cannot use it yet.  The pages of an
 * IOMMU may be smaller than the host's: then a ring smaller than a page of the
 * host begins anywhere in one.  The device takes this offset from the iova.
 */
static int mr_alloc(struct smc_rdma_link *link, struct smc_rdma_buf *rbuf)
{
	u32 pages = PFN_UP(offset_in_page(rbuf->dma) + rbuf->buf.size);
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
	sg_init_one(&sg, rbuf->buf.cpu, rbuf->buf.size);
	sg_dma_address(&sg) = rbuf->dma;
	sg_dma_len(&sg) = rbuf->buf.size;
	n = ib_map_mr_sg(mr, &sg, 1, NULL, PAGE_SIZE);
	if (n != 1) {
		ib_dereg_mr(mr);
		return n < 0 ? n : -EINVAL;
	}
	rbuf->iova = random_iova() + offset_in_page(rbuf->dma);
	mr->iova = rbuf->iova;
	ib_update_fast_reg_key(mr, get_random_u8());
	rbuf->mr = mr;
	return 0;
}

/* Might the link have this ring? */
static int link_has_room(const struct smc_rdma_link *link,
			 const struct smc_rdma_buf *rbuf)
{
	if (READ_ONCE(link->dead))
		return -ENOLINK;
	return rbuf->buf.dir == SMC_BUF_RCV &&
	       READ_ONCE(link->retired_num) > RETIRED_MAX ? -ENOMEM : 0;
}

/* A ring that has its pages, for the device. */
static int buf_up(struct smc_rdma_link *link, struct smc_rdma_buf *rbuf)
{
	int rc;

	lockdep_assert_held(&link->mem_mutex);
	rc = link->pd ? link_has_room(link, rbuf) : -ENOLINK;
	if (!rc)
		rc = pages_map(link->ibdev, rbuf);
	if (!rc && rbuf->buf.dir == SMC_BUF_RCV) {
		rc = mr_alloc(link, rbuf);
		link->has_region |= !rc;
	}
	/* the device or its driver refuses, and none worked on this link */
	if (rc == -EOPNOTSUPP && !link->has_region)
		WRITE_ONCE(smc_rdma_dev(link->lgr->path.dev)->no_rings, true);
	if (!rc)
		list_add_tail(&rbuf->node, &link->bufs);
	return rc;
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
	rc = link_has_room(link, rbuf);
	if (!rc)
		rc = pages_alloc(rbuf);
	if (rc)
		return rc;
	mutex_lock(&link->mem_mutex);
	rc = buf_up(link, rbuf);
	if (rc)
		pages_unmap(link->ibdev, rbuf);
	mutex_unlock(&link->mem_mutex);
	if (rc)
		pages_free(rbuf);
	return rc;
}

/* If it fails the peer may be able to write yet. */
static int mr_free(struct smc_rdma_buf *rbuf)
{
	int rc = rbuf->mr ? ib_dereg_mr(rbuf->mr) : 0;

	if (rc)
		return rc;
	rbuf->mr = NULL;
	rbuf->reg = SMC_RDMA_REG_NONE;
	return 0;
}

/*
 * The link has no queue pair any more: nothing is written.  A region that the
 * driver still does not free is the driver's.
 */
static void mr_leave(struct smc_rdma_buf *rbuf)
{
	mr_free(rbuf);
	rbuf->mr = NULL;
}

/* The peer is to be told not to use the key, if it has it; @rbuf waits for that. */
static void retire(struct smc_rdma_link *link, struct smc_rdma_buf *rbuf)
{
	spin_lock(&link->retire_lock);
	list_add_tail(&rbuf->node, &link->retired);
	WRITE_ONCE(link->retired_num, link->retired_num + 1);
	spin_unlock(&link->retire_lock);
}

/* @rbuf has no region. */
static void ring_free(struct smc_rdma_link *link, struct smc_rdma_buf *rbuf)
{
	pages_unmap(link->ibdev, rbuf);
	pages_free(rbuf);
	smc_buf_freed(&rbuf->buf);
	kfree(rbuf);
}

/*
 * @rbuf is in no list.  If the driver does not free the region, the link ends
 * and the ring is kept until then.
 */
static void rbuf_free(struct smc_rdma_link *link, struct smc_rdma_buf *rbuf)
{
	if (!mr_free(rbuf)) {
		ring_free(link, rbuf);
		return;
	}
	retire(link, rbuf);
	smc_rdma_link_end(link, SMC_REASON_LINK_FATAL);
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
	bool known;

	mutex_lock(&link->mem_mutex);
	list_del(&rbuf->node);
	/* before the link is ready the peer has not used the key */
	known = READ_ONCE(rbuf->reg) == SMC_RDMA_REG_DONE &&
		READ_ONCE(link->state) >= SMC_RDMA_READY &&
		!READ_ONCE(link->dead);
	if (known)
		retire(link, rbuf);
	else
		rbuf_free(link, rbuf);
	mutex_unlock(&link->mem_mutex);
	if (known)
		smc_rdma_llc_do(link, SMC_RDMA_DO_RETIRE);
}

/**
 * smc_rdma_retire_next() - the keys for which DELETE RKEY has to be sent
 * @link: link
 * @rkeys: the first are set
 * @most: it has room for
 *
 * A request that is repeated names what it named before.
 *
 * Context: process (LLC actor).
 * Return: their number.
 */
u8 smc_rdma_retire_next(struct smc_rdma_link *link, u32 *rkeys, u8 most)
{
	struct smc_rdma_buf *rbuf;
	u8 n = 0;

	spin_lock(&link->retire_lock);
	if (link->retire_asked)
		most = link->retire_again ? link->retire_named : 0;
	if (link->retire_overdue)
		most = 0;
	list_for_each_entry(rbuf, &link->retired, node) {
		if (n == most)
			break;
		rkeys[n++] = rbuf->mr->rkey;
	}
	spin_unlock(&link->retire_lock);
	return n;
}

/**
 * smc_rdma_retire_sent() - DELETE RKEY for the next keys has been posted
 * @link: link
 * @named: their number
 *
 * Context: process (LLC actor).
 */
void smc_rdma_retire_sent(struct smc_rdma_link *link, u8 named)
{
	spin_lock(&link->retire_lock);
	link->retire_named = named;
	link->retire_asked++;
	link->retire_again = false;
	link->retire_looks = 0;
	spin_unlock(&link->retire_lock);
}

/**
 * smc_rdma_retire_done() - the peer has answered a DELETE RKEY
 * @link: link
 *
 * Context: process (LLC actor), which then asks smc_rdma_retire_next().
 * Return: false if the answer was late, or there was no request.
 */
bool smc_rdma_retire_done(struct smc_rdma_link *link)
{
	struct smc_rdma_buf *rbuf, *next;
	LIST_HEAD(done);
	bool useful;
	u8 n;

	spin_lock(&link->retire_lock);
	useful = link->retire_asked;
	if (useful) {
		for (n = link->retire_named; n; n--)
			list_move_tail(link->retired.next, &done);
		WRITE_ONCE(link->retired_num,
			   link->retired_num - link->retire_named);
		link->retire_overdue = link->retire_asked - 1;
		link->retire_asked = 0;
		link->retire_again = false;
	} else if (link->retire_overdue) {
		link->retire_overdue--;
	}
	link->retire_looks = 0;
	link->retire_silent = 0;
	spin_unlock(&link->retire_lock);
	/* smc_rdma_mem_down() waits for the actor */
	list_for_each_entry_safe(rbuf, next, &done, node) {
		list_del(&rbuf->node);
		rbuf_free(link, rbuf);
	}
	return useful;
}

/* Is DELETE RKEY to be sent for the next key, or once more for this one? */
static bool retire_due(struct smc_rdma_link *link)
{
	u32 ms = link->retire_overdue ? SMC_RDMA_STUCK_MS : SMC_RDMA_LLC_MS;

	lockdep_assert_held(&link->retire_lock);
	if (!link->retire_overdue && !link->retire_asked)
		return false;
	if (++link->retire_looks <= SMC_RDMA_LOOKS(ms))
		return false;
	link->retire_looks = 0;
	/* no request was sent meanwhile */
	if (link->retire_overdue)
		link->retire_silent = 0;
	link->retire_overdue = 0;
	link->retire_again = link->retire_asked;
	return true;
}

/* Has the peer answered nothing for too long, with too many keys retired? */
static bool retire_given_up(struct smc_rdma_link *link)
{
	lockdep_assert_held(&link->retire_lock);
	if (link->retired_num > RETIRED_MAX)
		link->retire_silent++;
	else
		link->retire_silent = 0;
	return link->retire_silent > SMC_RDMA_LOOKS(SMC_RDMA_STUCK_MS);
}

/**
 * smc_rdma_retire_tick() - repeat an overdue DELETE RKEY
 * @link: link; called every SMC_RDMA_LOOK_MS
 *
 * A peer may drop a request: send it again.  After a long silence the missing
 * answers are assumed lost.  If the peer answers none, and so many keys are
 * retired that no ring can be made, the link ends.
 *
 * Context: process.
 */
void smc_rdma_retire_tick(struct smc_rdma_link *link)
{
	bool due, lost;

	spin_lock(&link->retire_lock);
	due = retire_due(link);
	lost = retire_given_up(link);
	spin_unlock(&link->retire_lock);
	if (lost)
		smc_rdma_link_end(link, SMC_REASON_LINK_KEYS);
	else if (due)
		smc_rdma_llc_do(link, SMC_RDMA_DO_RETIRE);
}

/**
 * smc_rdma_mem_down() - take all memory from the device
 * @link: stopped; the LLC actor and the clock do not run any more
 *
 * Rings in use keep their memory until smc_rdma_buf_free(): a program may have
 * data to read.
 *
 * Context: process.
 */
void smc_rdma_mem_down(struct smc_rdma_link *link)
{
	struct smc_rdma_buf *rbuf, *next;
	LIST_HEAD(retired);

	mutex_lock(&link->mem_mutex);
	list_for_each_entry_safe(rbuf, next, &link->bufs, node) {
		list_del_init(&rbuf->node);
		mr_leave(rbuf);
		pages_unmap(link->ibdev, rbuf);
	}
	spin_lock(&link->retire_lock);
	list_splice_init(&link->retired, &retired);
	WRITE_ONCE(link->retired_num, 0);
	link->retire_asked = 0;
	link->retire_overdue = 0;
	link->retire_again = false;
	spin_unlock(&link->retire_lock);
	list_for_each_entry_safe(rbuf, next, &retired, node) {
		mr_leave(rbuf);
		ring_free(link, rbuf);
	}
	mutex_unlock(&link->mem_mutex);
}
