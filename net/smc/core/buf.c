// SPDX-License-Identifier: GPL-2.0
/*
 * Ring buffers, and the pool of idle ones that each link group keeps.
 *
 * A buffer that is given back goes into the pool of its group if the peer will
 * not write any more and the group is ACTIVE.  It then serves the next
 * connection to the same peer.  The part that was used is zeroed first.  All
 * others are freed: the transport invalidates a key that the peer may still use
 * before it frees the memory.
 *
 * A ring is charged until its memory is freed: to its peer, and, unless it is
 * idle, to the user whose connection has it.  The peer may keep a ring of
 * shared memory after the connection has ended.  Idle rings are given back when
 * a connection finds no memory or an account without room, and when the host is
 * short of memory.  The transport frees with a mutex held under which it also
 * allocates, so the shrinker takes them out of the pools and leaves the rest to
 * a worker of the group.
 *
 * Context: process; ring_pool.lock (spinlock, BH) protects the pools of all
 * groups; a leaf inside lgr->lock.
 * Tests: selftests/vm/tests (BufCreated, BufDestroyed, BufReused),
 * selftests/smc/accounts.py
 */
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/memcontrol.h>
#include <linux/sched.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "account.h"
#include "buf.h"
#include "conn.h"
#include "net.h"
#include "stats.h"

/*
 * Bytes of a group's idle buffers of one direction; the oldest are freed.  Small
 * ones count as POOL_MIN: each has a key, and the peer has to confirm its end.
 */
#define POOL_MAX	SZ_2M
#define POOL_MIN	SZ_64K

/* Idle buffers looked at in one hold of ring_pool.lock. */
#define SHED_MAX	512

/* All idle buffers of the host. */
static struct {
	spinlock_t lock;	/* the rest; the pools and shed lists of groups */
	struct list_head lru;	/* smc_buf.lru, oldest first, but see take_idle() */
	unsigned long pages;
	struct shrinker *shrinker;
} ring_pool = {
	.lock = __SPIN_LOCK_UNLOCKED(ring_pool.lock),
	.lru = LIST_HEAD_INIT(ring_pool.lru),
};

static int kib(const struct smc_buf *buf)
{
	return buf->size >> 10;
}

/* The smallest ring: one for a device has whole pages, and is charged by its size. */
static u32 ring_min(const struct smc_xport *xport)
{
	return xport->merges ? SMC_SIZE_MIN :
			       max_t(u32, SMC_SIZE_MIN, PAGE_SIZE);
}

static unsigned long pages(const struct smc_buf *buf)
{
	return DIV_ROUND_UP(buf->size, PAGE_SIZE);
}

static u32 pool_share(const struct smc_buf *buf)
{
	return max_t(u32, buf->size, POOL_MIN);
}

static void pool_add(struct smc_lgr *lgr, struct smc_buf *buf)
{
	lockdep_assert_held(&ring_pool.lock);
	buf->lgr = lgr;
	list_add(&buf->node, &lgr->pool[buf->dir]);
	list_add_tail(&buf->lru, &ring_pool.lru);
	lgr->pool_size[buf->dir] += pool_share(buf);
	WRITE_ONCE(ring_pool.pages, ring_pool.pages + pages(buf));
}

static void pool_del(struct smc_buf *buf)
{
	lockdep_assert_held(&ring_pool.lock);
	list_del(&buf->node);
	list_del(&buf->lru);
	buf->lgr->pool_size[buf->dir] -= pool_share(buf);
	WRITE_ONCE(ring_pool.pages, ring_pool.pages - pages(buf));
}

/*
 * A buffer is charged to the control group of the handshake, and is reused for
 * connections of the same control group only.
 */
static struct mem_cgroup *memcg_now(void)
{
#ifdef CONFIG_MEMCG
	return current->active_memcg;
#else
	return NULL;
#endif
}

/* An idle buffer of the same peer, control group and size, or NULL. */
static struct smc_buf *pool_take(const struct smc_conn *conn,
				 enum smc_buf_dir dir, u32 size)
{
	struct smc_lgr *lgr = conn->lgr;
	struct smc_buf *buf;

	spin_lock_bh(&ring_pool.lock);
	list_for_each_entry(buf, &lgr->pool[dir], node) {
		if (buf->size != size || buf->memcg != memcg_now() ||
		    buf->account != conn->account)
			continue;
		pool_del(buf);
		spin_unlock_bh(&ring_pool.lock);
		return buf;
	}
	spin_unlock_bh(&ring_pool.lock);
	return NULL;
}

/*
 * No connection is charged to a control group that was removed, but for those of
 * a listener that is older: as @used, which had just been in use.
 */
static bool is_useless(const struct smc_buf *buf, const struct mem_cgroup *used)
{
	return buf->memcg && buf->memcg != used &&
	       !mem_cgroup_online(buf->memcg);
}

/*
 * Buffers that no connection can use go to @old: looked for once a second, as
 * ring_pool.lock is the host's.
 */
static void take_useless(struct smc_lgr *lgr, const struct mem_cgroup *used,
			 struct list_head *old)
{
	struct smc_buf *buf, *next;
	enum smc_buf_dir dir;

	lockdep_assert_held(&ring_pool.lock);
	if (time_before(jiffies, lgr->pool_looked + HZ))
		return;
	lgr->pool_looked = jiffies;
	for (dir = 0; dir < SMC_BUF_DIRS; dir++) {
		list_for_each_entry_safe(buf, next, &lgr->pool[dir], node) {
			if (!is_useless(buf, used))
				continue;
			pool_del(buf);
			list_add(&buf->node, old);
		}
	}
}

/*
 * Put @buf into the pool; what has to be destroyed goes to @old: what no
 * connection can use, the oldest of the same direction, or @buf itself.  While
 * lgr->lock is held the group stays ACTIVE, so its pool is drained after this.
 */
static void pool_give(struct smc_lgr *lgr, struct smc_buf *buf,
		      struct list_head *old)
{
	const struct mem_cgroup *used = buf->memcg;
	enum smc_buf_dir dir = buf->dir;

	spin_lock_bh(&lgr->lock);
	spin_lock(&ring_pool.lock);
	if (lgr->state == SMC_LGR_ACTIVE)
		pool_add(lgr, buf);
	else
		list_add(&buf->node, old);
	take_useless(lgr, used, old);
	while (lgr->pool_size[dir] > POOL_MAX) {
		buf = list_last_entry(&lgr->pool[dir], struct smc_buf, node);
		pool_del(buf);
		list_add(&buf->node, old);
	}
	spin_unlock(&ring_pool.lock);
	spin_unlock_bh(&lgr->lock);
}

/* As take_or_create(). */
static struct smc_buf *create(const struct smc_conn *conn, enum smc_buf_dir dir,
			      u32 size, struct smc_account **full)
{
	struct smc_lgr *lgr = conn->lgr;
	struct smc_buf *buf;
	int rc = -EDQUOT;

	buf = kzalloc(lgr->xport->buf_size, SMC_BUF_GFP);
	if (!buf)
		return ERR_PTR(-ENOMEM);
	buf->dir = dir;
	buf->size = size;
	if (!smc_account_try_charge(conn->account, SMC_ACCT_RINGS, kib(buf),
				    full))
		goto err_free;
	rc = lgr->xport->buf_alloc(lgr, buf);
	if (rc)
		goto err_charge;
	buf->account = smc_account_get(conn->account);
	/* cannot fail: the caller has a reference */
	buf->memcg = memcg_now();
	mem_cgroup_tryget(buf->memcg);
	smc_stats_inc(lgr->sn, SMC_STAT_BUF_CREATED);
	atomic64_add(buf->size, &lgr->alloc[dir]);
	return buf;

err_charge:
	smc_account_uncharge(conn->account, SMC_ACCT_RINGS, kib(buf));
err_free:
	kfree(buf);
	return ERR_PTR(rc);
}

static void uncharge_user(struct smc_buf *buf)
{
	smc_account_uncharge(buf->user, SMC_ACCT_RINGS, kib(buf));
	smc_account_put(buf->user);
	buf->user = NULL;
}

/**
 * smc_buf_freed() - the memory of a ring is gone
 * @buf: ring; the transport frees the object next
 *
 * Context: process.
 */
void smc_buf_freed(struct smc_buf *buf)
{
	uncharge_user(buf);
	smc_account_uncharge(buf->account, SMC_ACCT_RINGS, kib(buf));
	smc_account_put(buf->account);
}

static void destroy_buf(struct smc_lgr *lgr, struct smc_buf *buf)
{
	struct mem_cgroup *memcg = buf->memcg;

	smc_stats_inc(lgr->sn, SMC_STAT_BUF_DESTROYED);
	atomic64_sub(buf->size, &lgr->alloc[buf->dir]);
	lgr->xport->buf_free(lgr, buf);
	mem_cgroup_put(memcg);
}

/* Free what is on a list that nothing else sees. */
static void destroy_all(struct smc_lgr *lgr, struct list_head *bufs)
{
	struct smc_buf *buf, *next;

	list_for_each_entry_safe(buf, next, bufs, node) {
		list_del(&buf->node);
		destroy_buf(lgr, buf);
	}
}

/* A connection got a buffer of @buf->size where it wanted @wanted. */
static void count_got(struct smc_lgr *lgr, const struct smc_buf *buf,
		      u32 wanted, bool reused)
{
	bool rx = buf->dir == SMC_BUF_RCV;
	struct smc_tech_stats __percpu *tech;

	tech = smc_tech(lgr->sn, lgr->xport->id);
	if (reused)
		smc_tech_inc(tech, rx ? SMC_TECH_RX_REUSED :
					SMC_TECH_TX_REUSED);
	else
		smc_tech_inc(tech, rx ? SMC_TECH_RX_ALLOC : SMC_TECH_TX_ALLOC);
	if (buf->size < wanted)
		smc_tech_inc(tech, rx ? SMC_TECH_RX_DOWN : SMC_TECH_TX_DOWN);
	smc_tech_add(tech, rx ? SMC_TECH_RX_USAGE : SMC_TECH_TX_USAGE,
		     buf->size);
	smc_hist_count(tech, rx ? SMC_HIST_RX_BUF : SMC_HIST_TX_BUF, buf->size);
}

static void count_put(struct smc_lgr *lgr, const struct smc_buf *buf)
{
	smc_tech_add(smc_tech(lgr->sn, lgr->xport->id),
		     buf->dir == SMC_BUF_RCV ? SMC_TECH_RX_USAGE :
		     SMC_TECH_TX_USAGE, -(u64)buf->size);
}

/*
 * A buffer of exactly this size, idle or new; -EDQUOT: the account @full has no
 * room for it.
 */
static struct smc_buf *take_or_create(const struct smc_conn *conn,
				      enum smc_buf_dir dir, u32 size,
				      struct smc_account *user, bool *reused,
				      struct smc_account **full)
{
	struct smc_buf *buf;

	if (!smc_account_try_charge(user, SMC_ACCT_RINGS, size >> 10, full))
		return ERR_PTR(-EDQUOT);
	buf = pool_take(conn, dir, size);
	*reused = buf;
	if (!buf)
		buf = create(conn, dir, size, full);
	if (IS_ERR(buf))
		smc_account_uncharge(user, SMC_ACCT_RINGS, size >> 10);
	else
		buf->user = smc_account_get(user);
	return buf;
}

/*
 * Would the room of an idle buffer help?  @full: the account without room, or
 * NULL if there was no memory, of which a control group may be short.
 */
static bool helps(const struct smc_buf *buf, const struct smc_account *full)
{
	return full ? smc_account_is_below(buf->account, full) :
		      buf->memcg == memcg_now();
}

/*
 * Put idle rings of a group of shared memory on @bufs, the oldest first; returns
 * bytes.  It has no send rings.
 */
static u32 take_own(struct smc_lgr *lgr, const struct smc_account *full,
		    u32 size, struct list_head *bufs)
{
	struct smc_buf *buf, *next;
	u32 done = 0;

	spin_lock_bh(&ring_pool.lock);
	list_for_each_entry_safe_reverse(buf, next, &lgr->pool[SMC_BUF_RCV],
					 node) {
		if (done >= size)
			break;
		if (!helps(buf, full))
			continue;
		done += buf->size;
		pool_del(buf);
		list_add(&buf->node, bufs);
	}
	spin_unlock_bh(&ring_pool.lock);
	return done;
}

/*
 * The work drops the reference: not here, where it could be the last one.  Work
 * that is queued already has one, and cannot drop it before it gets
 * ring_pool.lock.
 */
static void put_group(struct smc_lgr *lgr)
{
	lockdep_assert_held(&ring_pool.lock);
	if (!queue_work(lgr->sn->end_wq, &lgr->shed_work))
		refcount_dec(&lgr->refs);
}

static bool suits(const struct smc_buf *buf, const struct smc_account *full,
		  bool shared)
{
	if (shared)
		return buf->lgr->xport->merges && helps(buf, full);
	return !full || smc_account_is_below(buf->account, full);
}

/*
 * Put idle buffers on @bufs, the oldest first, with a reference to the group of
 * each, until they have @size bytes: those of shared memory that help, or those
 * that are charged to @full, or any.  Out of the first SHED_MAX, the next call
 * goes on behind these.  Buffers that do not suit stay as long as their groups.
 * Returns bytes.
 */
static unsigned long take_idle(const struct smc_account *full, bool shared,
			       unsigned long size, struct list_head *bufs)
{
	struct smc_buf *buf, *next;
	unsigned long done = 0;
	int left = SHED_MAX;

	lockdep_assert_held(&ring_pool.lock);
	list_for_each_entry_safe(buf, next, &ring_pool.lru, lru) {
		if (done >= size)
			break;
		if (!left--) {
			list_rotate_to_front(&buf->lru, &ring_pool.lru);
			break;
		}
		if (!suits(buf, full, shared))
			continue;
		done += buf->size;
		pool_del(buf);
		list_add_tail(&buf->node, bufs);
		/* a group with a pool has other references */
		refcount_inc(&buf->lgr->refs);
	}
	return done;
}

/*
 * Free rings of shared memory of other groups.  Those over RDMA are for the worker
 * of their group: this one does not wait for an adapter that its connection does
 * not use.
 */
static u32 free_shared(const struct smc_account *full, u32 size)
{
	struct smc_buf *buf, *next;
	struct smc_lgr *lgr;
	LIST_HEAD(bufs);
	u32 done;

	spin_lock_bh(&ring_pool.lock);
	done = take_idle(full, true, size, &bufs);
	spin_unlock_bh(&ring_pool.lock);
	list_for_each_entry_safe(buf, next, &bufs, node) {
		lgr = buf->lgr;
		list_del(&buf->node);
		destroy_buf(lgr, buf);
		spin_lock_bh(&ring_pool.lock);
		put_group(lgr);
		spin_unlock_bh(&ring_pool.lock);
	}
	return done;
}

/*
 * Free idle rings of shared memory, @size bytes if there are so many.  Those over
 * RDMA have no room to give before the peer has confirmed their end.  @at: the
 * user's account, which has no idle ones.  False: there is none that helps.
 */
static bool make_room(struct smc_lgr *lgr, const struct smc_account *at,
		      const struct smc_account *full, u32 size)
{
	bool is_shared = lgr->xport->merges;
	LIST_HEAD(bufs);
	u32 done = 0;

	/* -ENOMEM of an RDMA device may be about its own limits */
	if (full ? smc_account_is_below(at, full) : !is_shared)
		return false;
	if (is_shared)
		done = take_own(lgr, full, size, &bufs);
	destroy_all(lgr, &bufs);
	if (done < size)
		done += free_shared(full, size - done);
	return done;
}

/*
 * Leave idle buffers of @size bytes to the work of their groups: those that are
 * charged to @full, or any if @full is NULL.  Returns bytes.
 */
static unsigned long shed(const struct smc_account *full, unsigned long size)
{
	struct smc_buf *buf, *next;
	unsigned long done;
	LIST_HEAD(bufs);

	spin_lock_bh(&ring_pool.lock);
	done = take_idle(full, false, size, &bufs);
	list_for_each_entry_safe(buf, next, &bufs, node) {
		list_move_tail(&buf->node, &buf->lgr->shed);
		put_group(buf->lgr);
	}
	spin_unlock_bh(&ring_pool.lock);
	return done;
}

/* No memory, or no room in an account: a smaller buffer may do. */
static bool memory_is_short(const struct smc_buf *buf)
{
	return buf == ERR_PTR(-ENOMEM) || buf == ERR_PTR(-EDQUOT);
}

/**
 * smc_buf_get() - a zeroed buffer
 * @conn: connection that needs it; the transport of its group allocates
 * @dir: send or receive
 * @size: wanted bytes, rounded up to a power of two that has a size code
 *
 * An idle buffer of the group if one has exactly that size and is charged to
 * the current control group (active_memcg), else a new one.  If memory is short,
 * or an account nearly full, a smaller one, down to 16 KiB or a page.
 *
 * Context: process.
 * Return: the buffer, or ERR_PTR: -ENOMEM, -EDQUOT for an account that is full,
 * or the transport's error.
 */
struct smc_buf *smc_buf_get(const struct smc_conn *conn, enum smc_buf_dir dir,
			    u32 size)
{
	u32 max = SMC_SIZE_MIN << conn->xport->max_size_code;
	u32 min = ring_min(conn->xport);
	struct smc_account *full = NULL, *first = NULL, *at = NULL;
	struct smc_lgr *lgr = conn->lgr;
	struct smc_buf *buf;
	bool reused;
	u32 wanted;

	if (conn->user) {
		at = smc_account_user_at(conn->user, conn->account);
		if (!at)
			return ERR_PTR(-ENOMEM);
	}
	size = size < max ? roundup_pow_of_two(max(size, min)) : max;
	wanted = size;
	do {
		buf = take_or_create(conn, dir, size, at, &reused, &full);
		if (memory_is_short(buf) && make_room(lgr, at, full, size))
			buf = take_or_create(conn, dir, size, at, &reused,
					     &full);
		first = first ?: full;
		size /= 2;
	} while (memory_is_short(buf) && size >= min);
	/* the next connections find room; idle buffers are no user's */
	if (first && !smc_account_is_below(at, first))
		shed(first, ULONG_MAX);
	if (full) {
		smc_stats_inc(lgr->sn, full->stat);
	} else if (!IS_ERR(buf)) {
		if (reused)
			smc_stats_inc(lgr->sn, SMC_STAT_BUF_REUSED);
		count_got(lgr, buf, wanted, reused);
	}
	smc_account_put(at);
	return buf;
}

/* Will the pool of the group have the buffer?  pool_give() decides. */
static bool is_reusable(const struct smc_lgr *lgr, const struct smc_buf *buf)
{
	return !buf->peer_may_write && buf->size <= POOL_MAX &&
	       READ_ONCE(lgr->state) == SMC_LGR_ACTIVE;
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
	LIST_HEAD(old);

	count_put(lgr, buf);
	if (!is_reusable(lgr, buf)) {
		destroy_buf(lgr, buf);
		return;
	}
	uncharge_user(buf);
	memset(buf->cpu, 0, buf->used);
	buf->used = 0;
	pool_give(lgr, buf, &old);
	destroy_all(lgr, &old);
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
	LIST_HEAD(bufs);

	spin_lock_bh(&ring_pool.lock);
	for (dir = 0; dir < SMC_BUF_DIRS; dir++)
		list_for_each_entry_safe(buf, next, &lgr->pool[dir], node) {
			pool_del(buf);
			list_add(&buf->node, &bufs);
		}
	spin_unlock_bh(&ring_pool.lock);
	destroy_all(lgr, &bufs);
}

/**
 * smc_buf_free_shed() - free what shed() has taken out of the pool
 * @lgr: group
 *
 * Context: process, from lgr->shed_work.
 */
void smc_buf_free_shed(struct smc_lgr *lgr)
{
	LIST_HEAD(bufs);

	spin_lock_bh(&ring_pool.lock);
	list_splice_init(&lgr->shed, &bufs);
	spin_unlock_bh(&ring_pool.lock);
	destroy_all(lgr, &bufs);
}

static unsigned long shrink_count(struct shrinker *s, struct shrink_control *sc)
{
	unsigned long num = READ_ONCE(ring_pool.pages);

	return num ? num : SHRINK_EMPTY;
}

static unsigned long shrink_scan(struct shrinker *s, struct shrink_control *sc)
{
	unsigned long max = ULONG_MAX >> PAGE_SHIFT;

	return shed(NULL, min(sc->nr_to_scan, max) << PAGE_SHIFT) >> PAGE_SHIFT;
}

/**
 * smc_buf_init() - give idle buffers back when memory is short
 *
 * Context: process, before there is a group.
 * Return: 0 or -ENOMEM.
 */
int smc_buf_init(void)
{
	struct shrinker *s = shrinker_alloc(0, "smc-rings");

	if (!s)
		return -ENOMEM;
	s->count_objects = shrink_count;
	s->scan_objects = shrink_scan;
	ring_pool.shrinker = s;
	shrinker_register(s);
	return 0;
}

/**
 * smc_buf_exit() - undo smc_buf_init()
 *
 * Context: process.
 */
void smc_buf_exit(void)
{
	shrinker_free(ring_pool.shrinker);
}
