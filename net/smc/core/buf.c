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
 * A ring is charged to its peer until its memory is freed, and to the user for
 * whose connection it is as long as that has it.
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
#include "account.h"
#include "buf.h"
#include "net.h"
#include "stats.h"

/* Idle buffers of a group; more are freed. */
#define POOL_MAX	64

static int kib(const struct smc_buf *buf)
{
	return buf->size >> 10;
}

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

/* As take_or_create(). */
static struct smc_buf *create(struct smc_lgr *lgr, enum smc_buf_dir dir,
			      u32 size, struct smc_account **full)
{
	struct smc_buf *buf;
	int rc = -EDQUOT;

	buf = kzalloc(lgr->xport->buf_size, GFP_KERNEL_ACCOUNT);
	if (!buf)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&buf->node);
	buf->dir = dir;
	buf->size = size;
	*full = smc_account_charge(lgr->account, SMC_ACCT_RINGS, kib(buf));
	if (*full)
		goto err_free;
	rc = lgr->xport->buf_alloc(lgr, buf);
	if (rc)
		goto err_charge;
	buf->account = smc_account_get(lgr->account);
	/* cannot fail: the caller has a reference */
	buf->memcg = memcg_now();
	mem_cgroup_tryget(buf->memcg);
	smc_stats_inc(lgr->sn, SMC_STAT_BUF_CREATED);
	atomic64_add(buf->size, &lgr->alloc[dir]);
	return buf;

err_charge:
	smc_account_uncharge(lgr->account, SMC_ACCT_RINGS, kib(buf));
err_free:
	kfree(buf);
	return ERR_PTR(rc);
}

/**
 * smc_buf_freed() - the memory of a ring is gone
 * @buf: ring; the transport frees the object next
 *
 * Context: process.
 */
void smc_buf_freed(struct smc_buf *buf)
{
	smc_account_uncharge(buf->account, SMC_ACCT_RINGS, kib(buf));
	smc_account_put(buf->account);
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

/*
 * A buffer of exactly this size, idle or new; -EDQUOT: there is no room for it in
 * the account @full.
 */
static struct smc_buf *take_or_create(struct smc_lgr *lgr,
				      enum smc_buf_dir dir, u32 size,
				      struct smc_account *user, bool *reused,
				      struct smc_account **full)
{
	struct smc_buf *buf;

	*full = smc_account_charge(user, SMC_ACCT_RINGS, size >> 10);
	if (*full)
		return ERR_PTR(-EDQUOT);
	buf = pool_take(lgr, dir, size);
	*reused = buf;
	if (!buf)
		buf = create(lgr, dir, size, full);
	if (IS_ERR(buf))
		smc_account_uncharge(user, SMC_ACCT_RINGS, size >> 10);
	else
		buf->user = user;
	return buf;
}

/**
 * smc_buf_get() - a zeroed buffer
 * @lgr: group whose transport makes it
 * @dir: send or receive
 * @size: wanted bytes, rounded up to a power of two that has a size code
 * @user: whose connection it is for, or NULL; the account stays valid until
 *	smc_buf_put()
 *
 * An idle buffer of the group if one has exactly that size and is charged to
 * the current control group (active_memcg), else a new one.  If memory is short,
 * or an account nearly full, a smaller one, down to 16 KiB.
 *
 * Context: process.
 * Return: the buffer, or ERR_PTR: -ENOMEM, -EDQUOT for an account that is full,
 * or the transport's error.
 */
struct smc_buf *smc_buf_get(struct smc_lgr *lgr, enum smc_buf_dir dir,
			    u32 size, struct smc_account *user)
{
	u32 max = SMC_SIZE_MIN << lgr->xport->max_size_code;
	struct smc_account *full = NULL;
	struct smc_buf *buf;
	bool reused, less;
	u32 wanted;

	size = size < max ? roundup_pow_of_two(max(size, SMC_SIZE_MIN)) : max;
	wanted = size;
	do {
		buf = take_or_create(lgr, dir, size, user, &reused, &full);
		size /= 2;
		less = buf == ERR_PTR(-ENOMEM) || buf == ERR_PTR(-EDQUOT);
	} while (less && size >= SMC_SIZE_MIN);
	if (full) {
		smc_stats_inc(lgr->sn, full->stat);
	} else if (!IS_ERR(buf)) {
		if (reused)
			smc_stats_inc(lgr->sn, SMC_STAT_BUF_REUSED);
		count_got(lgr, buf, wanted, reused);
	}
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
	smc_account_uncharge(buf->user, SMC_ACCT_RINGS, kib(buf));
	buf->user = NULL;
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
