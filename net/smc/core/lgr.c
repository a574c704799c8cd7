// SPDX-License-Identifier: GPL-2.0
/*
 * Link groups: the table of a namespace (see also lgr_find.c and
 * lgr_walk.c), the end of a group.
 *
 *   CONNECTING --smc_lgr_changed(OK)--> ACTIVE --smc_lgr_kill()--> DEAD
 *        \__________smc_lgr_kill(), smc_lgr_give_up()____________/
 *
 * smc_lgr_kill() takes the group out of the table, marks it and queues a work
 * item, which reports the end to every connection and queues another one.  That
 * calls the transport's lgr_down, once.  The connections leave later; the last
 * reference frees it.
 *
 * Without links a group is ACTIVE from the start, and serves all peers.
 *
 * An ACTIVE group without connections stays for a while (lgr_idle.c).
 *
 * Locks: lgr->setup (mutex): see lgr_link.c.  sn->lgr_lock (spinlock, BH)
 * protects the table; inside it lgr->lock (spinlock, BH), see lgr.h.  spaces.lock
 * (mutex) protects the list of namespaces; it is outer to both.
 * Tests: selftests/vm/tests (LgrCreated, LgrDestroyed).
 */
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/rbtree.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/wait_bit.h>
#include "account.h"
#include "buf.h"
#include "conn.h"
#include "lgr.h"
#include "net.h"
#include "stats.h"

/* The server's groups end first: a client must not use one that is ending. */
#define LINGER_SERV	(600 * HZ)
#define LINGER_CLNT	(610 * HZ)

static struct {
	struct mutex lock;	/* list */
	struct list_head list;	/* smc_net.node */
} spaces = {
	.lock = __MUTEX_INITIALIZER(spaces.lock),
	.list = LIST_HEAD_INIT(spaces.list),
};

/* One group less: smc_lgr_net_exit() may return at once. */
static void uncount(struct smc_net *sn)
{
	if (atomic_dec_and_test(&sn->lgr_count))
		wake_up_var(&sn->lgr_count);
}

/*
 * The last reference frees it, after a grace period: the receive path looks
 * tokens up under RCU.
 */
static void lgr_put(struct smc_lgr *lgr)
{
	struct smc_net *sn = lgr->sn;

	if (!refcount_dec_and_test(&lgr->refs))
		return;
	smc_stats_inc(sn, SMC_STAT_LGR_DESTROYED);
	smc_account_uncharge(lgr->account, lgr->gave_way ?
			     SMC_ACCT_ENDING : SMC_ACCT_GROUPS, 1);
	smc_account_put(lgr->account);
	kfree_rcu(lgr, rcu);
	uncount(sn);
}

/* Which groups kill() ends */
enum kill_if {
	KILL_ANY,
	KILL_IDLE,		/* without connections */
	KILL_CONNECTING,
};

static bool may_kill(const struct smc_lgr *lgr, enum kill_if which)
{
	lockdep_assert_held(&lgr->lock);
	if (which == KILL_CONNECTING)
		return lgr->state == SMC_LGR_CONNECTING;
	return lgr->state != SMC_LGR_DEAD &&
	       !(which == KILL_IDLE && lgr->conns_num);
}

/*
 * Take a published group out of the table, mark it DEAD and queue the worker.
 * False: nothing was done.
 */
static bool kill(struct smc_lgr *lgr, enum smc_reason why, enum kill_if which)
{
	struct smc_net *sn = lgr->sn;
	bool ours;

	spin_lock_bh(&sn->lgr_lock);
	spin_lock(&lgr->lock);
	ours = may_kill(lgr, which);
	if (ours) {
		WRITE_ONCE(lgr->why, why);
		WRITE_ONCE(lgr->state, SMC_LGR_DEAD);
		smc_lgr_set_idle(lgr, false);
		rb_erase(&lgr->node, &sn->lgrs);
		hlist_del_init(&lgr->hash_node);
		hlist_del_init(&lgr->peer_node);
		refcount_inc(&lgr->refs);	/* the worker's */
	}
	spin_unlock(&lgr->lock);
	spin_unlock_bh(&sn->lgr_lock);
	if (!ours)
		return false;
	smc_lgr_settle(lgr, why);
	queue_work(sn->tell_wq, &lgr->tell_work);
	return true;
}

/**
 * smc_lgr_kill() - the group ends
 * @lgr: referenced by the caller
 * @why: reason, reported to its connections and waiters
 *
 * Takes it out of the table and marks it dead; a worker does the rest.
 *
 * Context: any; no lock of a group or of the table is held.  Idempotent.
 */
void smc_lgr_kill(struct smc_lgr *lgr, enum smc_reason why)
{
	kill(lgr, why, KILL_ANY);
}

/**
 * smc_lgr_give_up() - the handshake that made a group does not go on
 * @lgr: referenced by the caller
 * @why: as for smc_lgr_kill()
 *
 * Ends a CONNECTING group only: one that is ACTIVE by now may have connections
 * of others, although its maker has not been told yet.
 *
 * Context: any, no lock of the core held.
 */
void smc_lgr_give_up(struct smc_lgr *lgr, enum smc_reason why)
{
	kill(lgr, why, KILL_CONNECTING);
}

/**
 * smc_lgr_lost() - the link died
 * @lgr: group; the transport guarantees that it lives
 * @why: reason
 *
 * A worker calls lgr_down.
 *
 * Context: any; a tx_lock or a lock of the transport may be held, but no lock
 * of a group or of the table.
 * Return: true if this ended the group, false if it had ended already.
 */
bool smc_lgr_lost(struct smc_lgr *lgr, enum smc_reason why)
{
	if (!kill(lgr, why, KILL_ANY))
		return false;
	smc_stats_inc(lgr->sn, SMC_STAT_LGR_LOST);
	return true;
}

/* Report the end to every published connection. */
static void tell_conns(struct smc_lgr *lgr)
{
	struct smc_conn *conn;
	unsigned long token;

	rcu_read_lock();
	xa_for_each(&lgr->conns, token, conn) {
		if (!smc_conn_tryget(conn))
			continue;
		rcu_read_unlock();
		smc_conn_lgr_dead(conn, lgr->why);
		smc_conn_put(conn);
		/* a group of shared memory may have very many */
		cond_resched();
		rcu_read_lock();
	}
	rcu_read_unlock();
}

/*
 * Not in kill_wq or end_wq: all their workers may be waiting for the devices of
 * other groups (lgr_down, buf_free).
 */
static void tell_work_fn(struct work_struct *work)
{
	struct smc_lgr *lgr = container_of(work, struct smc_lgr, tell_work);

	tell_conns(lgr);
	/* the worker's reference passes to it */
	queue_work(lgr->sn->kill_wq, &lgr->kill_work);
}

static void kill_work_fn(struct work_struct *work)
{
	struct smc_lgr *lgr = container_of(work, struct smc_lgr, kill_work);
	bool up;

	if (cancel_delayed_work_sync(&lgr->linger))
		lgr_put(lgr);
	smc_buf_pool_drain(lgr);
	/* wait for lgr_up, lgr_connect and lgr_confirm */
	mutex_lock(&lgr->setup);
	up = lgr->up;
	WRITE_ONCE(lgr->up, false);
	mutex_unlock(&lgr->setup);
	if (up && smc_xport_has_links(lgr->xport))
		lgr->xport->lgr_down(lgr);
	if (up)
		smc_path_put(&lgr->path);
	lgr_put(lgr);
}

static void shed_work_fn(struct work_struct *work)
{
	struct smc_lgr *lgr = container_of(work, struct smc_lgr, shed_work);

	smc_buf_free_shed(lgr);
	lgr_put(lgr);
}

static void linger_fn(struct work_struct *work)
{
	struct smc_lgr *lgr = container_of(to_delayed_work(work),
					   struct smc_lgr, linger);

	kill(lgr, SMC_REASON_GOING, KILL_IDLE);
	lgr_put(lgr);
}

/**
 * smc_lgr_close() - no connection joins the group any more
 * @lgr: group, referenced
 *
 * Called when the peer says that the two ends disagree about the group.  Its
 * connections stay; lgr_test finds out whether the peer's device still has the
 * link.  A group without links has no peer and stays open.
 *
 * Look-ups do not find it any more: otherwise the closed groups of a peer would
 * make them slow.
 *
 * Context: process.
 */
void smc_lgr_close(struct smc_lgr *lgr)
{
	if (!smc_xport_has_links(lgr->xport))
		return;
	spin_lock_bh(&lgr->sn->lgr_lock);
	spin_lock(&lgr->lock);
	lgr->closed = true;
	hlist_del_init(&lgr->hash_node);
	hlist_del_init(&lgr->peer_node);
	spin_unlock(&lgr->lock);
	spin_unlock_bh(&lgr->sn->lgr_lock);
	if (lgr->xport->lgr_test)
		lgr->xport->lgr_test(lgr);
}

static struct smc_lgr *lgr_alloc(struct smc_net *sn,
				 const struct smc_xport *xport)
{
	enum smc_buf_dir dir;
	struct smc_lgr *lgr;

	lgr = kzalloc(xport->lgr_size, GFP_KERNEL);
	if (!lgr)
		return NULL;
	lgr->xport = xport;
	lgr->sn = sn;
	lgr->state = smc_xport_has_links(xport) ? SMC_LGR_CONNECTING :
						  SMC_LGR_ACTIVE;
	lgr->conns_num = 1;
	refcount_set(&lgr->refs, 1);
	mutex_init(&lgr->setup);
	spin_lock_init(&lgr->lock);
	INIT_LIST_HEAD(&lgr->waiters);
	xa_init_flags(&lgr->conns, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	INIT_DELAYED_WORK(&lgr->linger, linger_fn);
	INIT_WORK(&lgr->tell_work, tell_work_fn);
	INIT_WORK(&lgr->kill_work, kill_work_fn);
	INIT_WORK(&lgr->shed_work, shed_work_fn);
	INIT_LIST_HEAD(&lgr->shed);
	lgr->pool_looked = jiffies;
	lgr->spread_at = jiffies;
	for (dir = 0; dir < SMC_BUF_DIRS; dir++)
		INIT_LIST_HEAD(&lgr->pool[dir]);
	return lgr;
}

/* A group that was not published. */
static void discard(struct smc_lgr *lgr)
{
	struct smc_net *sn = lgr->sn;

	smc_account_put(lgr->account);
	kfree(lgr);
	uncount(sn);
}

/* @lgr is the newest. */
static void lgr_insert(struct smc_net *sn, struct smc_lgr *lgr)
{
	struct rb_node **link, *parent = NULL;

	lockdep_assert_held(&sn->lgr_lock);
	lgr->seq = ++sn->lgr_seq;
	for (link = &sn->lgrs.rb_node; *link; link = &parent->rb_right)
		parent = *link;
	rb_link_node(&lgr->node, parent, link);
	rb_insert_color(&lgr->node, &sn->lgrs);
	smc_lgr_head_add(lgr);
	if (lgr->role == SMC_SERV)
		hlist_add_head(&lgr->peer_node,
			       smc_lgr_peer_head(sn, &lgr->peer_addr));
	smc_stats_inc(sn, SMC_STAT_LGR_CREATED);
}

/*
 * As smc_lgr_publish(); with -EUSERS the account *@full has no room.  A group
 * that is not needed is not charged, so that no other group gives way to it.
 */
static int try_publish(struct smc_lgr *lgr, const struct smc_lgr_key *key,
		       struct smc_lgr **found, struct smc_account **full)
{
	struct smc_net *sn = lgr->sn;
	struct smc_lgr_seen seen;
	bool gone;

	spin_lock_bh(&sn->lgr_lock);
	/* smc_dev_del() sets "removing" before it looks into the table */
	gone = READ_ONCE(lgr->path.dev->removing);
	*found = key && !gone ? smc_lgr_find_locked(sn, key, &seen) : NULL;
	*full = NULL;
	if (!gone && !*found &&
	    smc_account_try_charge(lgr->account, SMC_ACCT_GROUPS, 1, full)) {
		/* here, or smc_lgr_each_user() finds the group for a new name */
		smc_dev_name(lgr->path.dev, lgr->dev);
		lgr_insert(sn, lgr);
	}
	spin_unlock_bh(&sn->lgr_lock);
	if (gone)
		return -ENODEV;
	return *full ? -EUSERS : 0;
}

/* End an idle group charged to @full, to make room for @lgr.  False: none. */
static bool give_way(struct smc_lgr *lgr, struct smc_account *full)
{
	struct smc_lgr *old = smc_lgr_oldest_idle(lgr, full);

	if (!old)
		return false;
	/* a connection may have joined it, or others have ended it */
	smc_lgr_gave_way(old, kill(old, SMC_REASON_GOING, KILL_IDLE));
	lgr_put(old);
	return true;
}

/**
 * smc_lgr_publish() - let smc_lgr_find() find a new group
 * @lgr: from smc_lgr_new(), with all members set that a look-up compares
 * @key: NULL, or look for another one first
 * @needed: an idle group may end to make room for it
 * @found: the other one, as smc_lgr_find() returns it, or NULL
 *
 * Connections that arrive together share the group of the first, which brings
 * it up by smc_lgr_up(); the others wait until it has settled.
 *
 * Context: process.
 * Return: 0; -ENODEV if the device is being removed; -EUSERS if an account has
 * no room.  With an error, or if @found is set, @lgr has been freed.
 */
int smc_lgr_publish(struct smc_lgr *lgr, const struct smc_lgr_key *key,
		    bool needed, struct smc_lgr **found)
{
	struct smc_account *full;
	int rc;

	do {
		rc = try_publish(lgr, key, found, &full);
	} while (rc == -EUSERS && needed && give_way(lgr, full));
	if (rc == -EUSERS)
		smc_stats_inc(lgr->sn, full->stat);
	if (rc || *found)
		discard(lgr);
	return rc;
}

/**
 * smc_lgr_new() - first contact: a new group
 * @sn: namespace
 * @xport: transport
 * @role: ours
 * @path: device and port; its device reference stays with the caller
 * @route: of the TCP connection
 * @version: SMC version of the group
 *
 * Context: process.
 * Return: the group, CONNECTING (without links: ACTIVE), with a reference and a
 * place for the caller (smc_lgr_leave()), to be published; or ERR_PTR(-ENOMEM).
 */
struct smc_lgr *smc_lgr_new(struct smc_net *sn, const struct smc_xport *xport,
			    enum smc_role role, const struct smc_path *path,
			    const struct smc_route *route, u8 version)
{
	struct smc_lgr *lgr;

	lgr = lgr_alloc(sn, xport);
	if (!lgr)
		return ERR_PTR(-ENOMEM);
	if (smc_xport_has_links(xport)) {
		lgr->account = smc_account_peer(sn, &route->daddr, GFP_KERNEL);
		if (!lgr->account) {
			kfree(lgr);
			return ERR_PTR(-ENOMEM);
		}
		lgr->own_addr = route->own.addr;
		lgr->peer_addr = route->daddr;
	}
	atomic_inc(&sn->lgr_count);
	do {
		lgr->id = atomic_add_return(0x100, &sn->lgr_last_id);
	} while (!lgr->id);
	lgr->role = role;
	lgr->path = *path;
	lgr->version = version;
	return lgr;
}

/**
 * smc_lgr_leave() - give back a place and a reference
 * @lgr: group
 *
 * The last place starts the linger timer, or ends the group.
 *
 * Context: process.
 */
void smc_lgr_leave(struct smc_lgr *lgr)
{
	unsigned long delay = lgr->role == SMC_SERV ? LINGER_SERV : LINGER_CLNT;
	bool idle, keep, unlisted;

	spin_lock_bh(&lgr->lock);
	WRITE_ONCE(lgr->conns_num, lgr->conns_num - 1);
	unlisted = smc_lgr_is_unlisted(lgr);
	idle = !lgr->conns_num && lgr->state != SMC_LGR_DEAD;
	keep = idle && lgr->state == SMC_LGR_ACTIVE && !lgr->closed;
	if (keep) {
		smc_lgr_set_idle(lgr, true);
		refcount_inc(&lgr->refs);	/* the timer's */
		if (mod_delayed_work(lgr->sn->end_wq, &lgr->linger, delay))
			refcount_dec(&lgr->refs);	/* it has one */
	}
	spin_unlock_bh(&lgr->lock);
	if (idle && !keep)
		kill(lgr, SMC_REASON_GOING, KILL_IDLE);
	else if (unlisted)
		smc_lgr_list(lgr);
	lgr_put(lgr);
}

/* A group that smc_lgr_walk() has found */
struct found {
	const struct smc_dev *dev;	/* it uses this; NULL: any */
	struct smc_lgr *lgr;		/* referenced */
};

/* smc_lgr_walk() calls this: take one that uses the device, and stop. */
static int take_user(struct smc_lgr *lgr, void *arg)
{
	struct found *f = arg;

	if (f->dev && lgr->path.dev != f->dev)
		return 0;
	refcount_inc(&lgr->refs);
	f->lgr = lgr;
	return 1;
}

/* Call @fn for the groups of @sn that use @dev (NULL: all). */
static void each_user(struct smc_net *sn, const struct smc_dev *dev,
		      void (*fn)(struct smc_lgr *lgr, void *arg), void *arg)
{
	struct found f = { .dev = dev };
	u64 seq = 0;

	while (smc_lgr_walk(sn, seq, take_user, &f)) {
		seq = f.lgr->seq;
		fn(f.lgr, arg);
		lgr_put(f.lgr);
	}
}

/**
 * smc_lgr_each_user() - call a function for every group that uses a device
 * @dev: device
 * @fn: called with a reference of the group, which may end meanwhile; one call at
 *	a time
 * @arg: for @fn
 *
 * A group that is published meanwhile is found, too.
 *
 * Walks a list of its own: a namespace that is being destroyed, and its devices
 * with it, is not on the kernel's list any more.
 *
 * Context: process.
 */
void smc_lgr_each_user(const struct smc_dev *dev,
		       void (*fn)(struct smc_lgr *lgr, void *arg), void *arg)
{
	struct smc_net *sn;

	mutex_lock(&spaces.lock);
	list_for_each_entry(sn, &spaces.list, node)
		each_user(sn, dev, fn, arg);
	mutex_unlock(&spaces.lock);
}

static void kill_one(struct smc_lgr *lgr, void *arg)
{
	smc_lgr_kill(lgr, *(enum smc_reason *)arg);
}

/**
 * smc_lgr_kill_dev() - terminate every group that uses a device
 * @dev: device whose removing mark is set
 *
 * Context: process.
 */
void smc_lgr_kill_dev(struct smc_dev *dev)
{
	enum smc_reason why = SMC_REASON_DEVGONE;

	smc_lgr_each_user(dev, kill_one, &why);
}

/*
 * There are none if the namespace never had a socket (smc_net_begin()).  tell_wq
 * first: tell_work_fn() queues on kill_wq, and may still be in
 * queue_work() when the last group has gone.
 */
static void destroy_queues(struct smc_net *sn)
{
	if (sn->tell_wq)
		destroy_workqueue(sn->tell_wq);
	if (sn->end_wq)
		destroy_workqueue(sn->end_wq);
	if (sn->kill_wq)
		destroy_workqueue(sn->kill_wq);
}

/**
 * smc_lgr_net_init() - a new namespace
 * @sn: its state
 *
 * Context: process.
 * Return: 0.
 */
int smc_lgr_net_init(struct smc_net *sn)
{
	spin_lock_init(&sn->lgr_lock);
	sn->lgrs = RB_ROOT;
	sn->lgr_seed = get_random_u32();
	atomic_set(&sn->lgr_count, 0);
	mutex_lock(&spaces.lock);
	list_add_tail(&sn->node, &spaces.list);
	mutex_unlock(&spaces.lock);
	return 0;
}

/**
 * smc_lgr_net_kill() - all groups of a namespace end
 * @sn: its state; no socket is left in it
 *
 * Does not wait for them.
 *
 * Context: process.
 */
void smc_lgr_net_kill(struct smc_net *sn)
{
	enum smc_reason why = SMC_REASON_GOING;

	each_user(sn, NULL, kill_one, &why);
}

/**
 * smc_lgr_net_exit() - wait for the end of all groups of a namespace
 * @sn: its state, after smc_lgr_net_kill(), or without groups
 *
 * Context: process, waits for the last group.
 */
void smc_lgr_net_exit(struct smc_net *sn)
{
	/* sockets of other modules, which hold no namespace, may have left some */
	smc_lgr_net_kill(sn);
	wait_var_event(&sn->lgr_count, !atomic_read(&sn->lgr_count));
	mutex_lock(&spaces.lock);
	list_del(&sn->node);
	mutex_unlock(&spaces.lock);
	/* the last works may not have returned yet */
	destroy_queues(sn);
}
