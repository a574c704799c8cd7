// SPDX-License-Identifier: GPL-2.0
/*
 * What link groups are charged to, and which of them give way to others.
 *
 * A group is charged to its peer if connections share it: then it has resources
 * of a device.  If an account has no room for a new one, the oldest group charged
 * to it that no connection uses ends.  That takes time, as long as the peer likes in
 * part.  So the new group gets its room at once, and groups that end in this way
 * have a limit of their own.
 *
 * Context: per function; idle.lock (spinlock, BH) protects the list of idle groups,
 * inside lgr->lock; inside it only accounts are charged.
 * Test: selftests/smc/accounts.py
 */
#include <linux/list.h>
#include <linux/spinlock.h>
#include "account.h"
#include "lgr.h"
#include "net.h"

/* Groups looked at in one hold of idle.lock. */
#define LOOK_MAX	512

/* Groups of the host without connections. */
static struct {
	spinlock_t lock;	/* list */
	struct list_head list;	/* smc_lgr.idle, oldest first */
} idle = {
	.lock = __SPIN_LOCK_UNLOCKED(idle.lock),
	.list = LIST_HEAD_INIT(idle.list),
};

/* Does it have a device's resources, which connections share? */
static bool counts(const struct smc_lgr *lgr)
{
	return lgr->xport->lgr_match;
}

/**
 * smc_lgr_set_idle() - a group may give way to others, or not any more
 * @lgr: group
 * @on: ACTIVE, and lingers without connections
 *
 * Context: any; lgr->lock is held.
 */
void smc_lgr_set_idle(struct smc_lgr *lgr, bool on)
{
	lockdep_assert_held(&lgr->lock);
	spin_lock(&idle.lock);
	list_del_init(&lgr->idle);
	if (on)
		list_add_tail(&lgr->idle, &idle.list);
	spin_unlock(&idle.lock);
}

/**
 * smc_lgr_oldest_idle() - the idle group that gives way
 * @full: account that has no room for another one
 *
 * It is charged as one that is ending, too: smc_lgr_gave_way() has to follow.
 *
 * Context: any, no lock of the core held.
 * Return: the oldest one charged to @full, with a reference; or NULL.
 */
struct smc_lgr *smc_lgr_oldest_idle(const struct smc_account *full)
{
	struct smc_lgr *lgr, *found = NULL;
	int left = LOOK_MAX;

	spin_lock_bh(&idle.lock);
	list_for_each_entry(lgr, &idle.list, idle) {
		if (!left--)
			break;
		if (!smc_account_within(lgr->account, full) ||
		    smc_account_charge(lgr->account, SMC_ACCT_ENDING, 1))
			continue;
		/* the linger timer has one */
		refcount_inc(&lgr->refs);
		found = lgr;
		break;
	}
	spin_unlock_bh(&idle.lock);
	return found;
}

/**
 * smc_lgr_gave_way() - from now on a group is charged once
 * @lgr: from smc_lgr_oldest_idle(), the caller has its reference
 * @done: it is ending
 *
 * Context: any.
 */
void smc_lgr_gave_way(struct smc_lgr *lgr, bool done)
{
	/* others may have tried the same group; its last reference comes later */
	if (done)
		lgr->gave_way = true;
	smc_account_uncharge(lgr->account, done ? SMC_ACCT_GROUPS :
			     SMC_ACCT_ENDING, 1);
}

/**
 * smc_lgr_charge() - charge a new group to its account
 * @lgr: group, about to be published
 *
 * Context: any.
 * Return: NULL, or the account that has no room.
 */
struct smc_account *smc_lgr_charge(struct smc_lgr *lgr)
{
	if (!counts(lgr))
		return NULL;
	return smc_account_charge(lgr->account, SMC_ACCT_GROUPS, 1);
}

/**
 * smc_lgr_uncharge() - undo smc_lgr_charge(): the group is gone, and its account
 * @lgr: group
 *
 * Context: any.
 */
void smc_lgr_uncharge(struct smc_lgr *lgr)
{
	if (counts(lgr))
		smc_account_uncharge(lgr->account, lgr->gave_way ?
				     SMC_ACCT_ENDING : SMC_ACCT_GROUPS, 1);
	smc_account_put(lgr->account);
}
