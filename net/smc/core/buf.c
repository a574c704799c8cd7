// SPDX-License-Identifier: GPL-2.0
/*
 * Ring buffers, and the pool of idle ones that each link group keeps.
 *
 * A buffer that is given back goes into the pool of its group if the transport
 * pools buffers (registration is expensive), the peer will not write any more,
 * and the group is ACTIVE.  It then serves the next connection to the same
 * peer.  The part that was used is zeroed first.  All others are freed: the
 * transport invalidates a key that the peer may still use before it frees the
 * memory.
 *
 * Context: process; lgr->lock (spinlock, BH) protects the pool.
 * Tests: selftests/vm/tests (BufCreated, BufDestroyed, BufReused).
 */
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/memcontrol.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "buf.h"
#include "net.h"
#include "stats.h"

/* Idle buffers of a group; more are freed. */
#define POOL_MAX	64

/*
 * A buffer is charged to the control group of the handshake, and is reused for
 * that one only.
 */
static struct mem_cgroup *memcg_now(void)
{
#ifdef CONFIG_MEMCG
	return current->active_memcg;
#else
	return NULL;
#endif
}

static struct smc_buf *pool_take(struct smc_lgr *lgr, enum smc_buf_dir dir,
				 u32 size)
{
	struct smc_buf *buf;

	spin_lock_bh(&lgr->lock);
	list_for_each_entry(buf, &lgr->pool[dir], node) {
		if (buf->size != size || buf->memcg != memcg_now())
			continue;
		list_del_init(&buf->node);
		lgr->pool_num--;
		spin_unlock_bh(&lgr->lock);
		return buf;
	}
	spin_unlock_bh(&lgr->lock);
	return NULL;
}

/* Returns the buffer to destroy: NULL, @buf, or the oldest in the pool. */
static struct smc_buf *pool_give(struct smc_lgr *lgr, struct smc_buf *buf)
{
	struct list_head *pool = &lgr->pool[buf->dir];
	struct smc_buf *old = NULL;

	spin_lock_bh(&lgr->lock);
	if (lgr->state != SMC_LGR_ACTIVE ||
	    (lgr->pool_num >= POOL_MAX && list_empty(pool))) {
		spin_unlock_bh(&lgr->lock);
		return buf;
	}
	if (lgr->pool_num >= POOL_MAX) {
		old = list_last_entry(pool, struct smc_buf, node);
		list_del_init(&old->node);
		lgr->pool_num--;
	}
	list_add(&buf->node, pool);
	lgr->pool_num++;
	spin_unlock_bh(&lgr->lock);
	return old;
}

static struct smc_buf *create(struct smc_lgr *lgr, enum smc_buf_dir dir,
			      u32 size)
{
	struct smc_buf *buf;
	int rc;

	buf = kzalloc(lgr->xport->buf_size, GFP_KERNEL_ACCOUNT);
	if (!buf)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&buf->node);
	buf->dir = dir;
	buf->size = size;
	rc = lgr->xport->buf_alloc(lgr, buf);
	if (rc) {
		kfree(buf);
		return ERR_PTR(rc);
	}
	/* cannot fail: the caller has a reference */
	buf->memcg = memcg_now();
	mem_cgroup_tryget(buf->memcg);
	smc_stats_inc(lgr->sn, SMC_STAT_BUF_CREATED);
	atomic64_add(buf->size, &lgr->alloc[dir]);
	return buf;
}

static void destroy(struct smc_lgr *lgr, struct smc_buf *buf)
{
	struct mem_cgroup *memcg = buf->memcg;

	smc_stats_inc(lgr->sn, SMC_STAT_BUF_DESTROYED);
	atomic64_sub(buf->size, &lgr->alloc[buf->dir]);
	lgr->xport->buf_free(lgr, buf);
	mem_cgroup_put(memcg);
}

/* A connection got a buffer of @buf->size where it wanted @wanted. */
static void count_got(struct smc_lgr *lgr, const struct smc_buf *buf,
		      u32 wanted, bool reused)
{
	bool rx = buf->dir == SMC_BUF_RCV;
	enum smc_xport_id id = lgr->xport->id;

	if (reused)
		smc_tech_inc(lgr->sn, id,
			     rx ? SMC_TECH_RX_REUSED : SMC_TECH_TX_REUSED);
	else
		smc_tech_inc(lgr->sn, id,
			     rx ? SMC_TECH_RX_ALLOC : SMC_TECH_TX_ALLOC);
	if (buf->size < wanted)
		smc_tech_inc(lgr->sn, id,
			     rx ? SMC_TECH_RX_DOWN : SMC_TECH_TX_DOWN);
	smc_tech_add(lgr->sn, id, rx ? SMC_TECH_RX_USAGE : SMC_TECH_TX_USAGE,
		     buf->size);
	smc_hist_count(lgr->sn, id, rx ? SMC_HIST_RX_BUF : SMC_HIST_TX_BUF,
		       buf->size);
}

static void count_put(struct smc_lgr *lgr, const struct smc_buf *buf)
{
	smc_tech_add(lgr->sn, lgr->xport->id, buf->dir == SMC_BUF_RCV ?
		     SMC_TECH_RX_USAGE : SMC_TECH_TX_USAGE, -(u64)buf->size);
}

/**
 * smc_buf_get() - a zeroed buffer
 * @lgr: group whose transport makes it
 * @dir: send or receive
 * @size: wanted bytes, rounded up to a power of two that has a size code
 *
 * An idle buffer of the group if one has exactly that size and is charged to
 * the current control group (active_memcg), else a new one.  If memory is short
 * a smaller one, down to 16 KiB.
 *
 * Context: process.
 * Return: the buffer, or ERR_PTR(-ENOMEM) or the transport's error.
 */
struct smc_buf *smc_buf_get(struct smc_lgr *lgr, enum smc_buf_dir dir,
			    u32 size)
{
	u32 max = SMC_SIZE_MIN << lgr->xport->max_size_code;
	struct smc_buf *buf;
	u32 wanted;

	size = size < max ? roundup_pow_of_two(max(size, SMC_SIZE_MIN)) : max;
	buf = pool_take(lgr, dir, size);
	if (buf) {
		smc_stats_inc(lgr->sn, SMC_STAT_BUF_REUSED);
		count_got(lgr, buf, size, true);
		return buf;
	}
	wanted = size;
	do {
		buf = create(lgr, dir, size);
		size /= 2;
	} while (buf == ERR_PTR(-ENOMEM) && size >= SMC_SIZE_MIN);
	if (!IS_ERR(buf))
		count_got(lgr, buf, wanted, false);
	return buf;
}

/**
 * smc_buf_put() - give a buffer back
 * @lgr: its group
 * @buf: no work request refers to it; @buf->used and @buf->peer_may_write tell
 *	what was done with it
 *
 * Context: process.
 */
void smc_buf_put(struct smc_lgr *lgr, struct smc_buf *buf)
{
	count_put(lgr, buf);
	if (lgr->xport->pools && !buf->peer_may_write) {
		memset(buf->cpu, 0, buf->used);
		buf->used = 0;
		buf = pool_give(lgr, buf);
	}
	if (buf)
		destroy(lgr, buf);
}

/**
 * smc_buf_pool_drain() - free all idle buffers
 * @lgr: group, dead: nothing is put into the pool any more
 *
 * Context: process.
 */
void smc_buf_pool_drain(struct smc_lgr *lgr)
{
	struct smc_buf *buf, *next;
	enum smc_buf_dir dir;
	LIST_HEAD(idle);

	spin_lock_bh(&lgr->lock);
	for (dir = 0; dir < SMC_BUF_DIRS; dir++)
		list_splice_init(&lgr->pool[dir], &idle);
	lgr->pool_num = 0;
	spin_unlock_bh(&lgr->lock);
	list_for_each_entry_safe(buf, next, &idle, node) {
		list_del_init(&buf->node);
		destroy(lgr, buf);
	}
}
