// SPDX-License-Identifier: GPL-2.0
/*
 * What link groups are charged to, and which of them give way to others.
 *
 * A group is charged to its peer.  A group without links has no peer and uses
 * nothing of a device: it is not charged.  If an account has no room for a new
 * group, the oldest idle group charged to the account ends.  That takes time,
 * and the peer can delay it.  So the new group gets its room at once, and
 * groups that end in this way have a limit of their own.
 *
 * Each account has a list of the idle groups charged to it, so that a search
 * does not have to pass over those of other accounts.
 *
 * Context: per function; idle_groups_lock (spinlock, BH) protects these lists,
 * inside lgr->lock; inside it only accounts are charged.
 * Test: selftests/smc/accounts.py
 */
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/spinlock.h>
#include "account.h"
#include "lgr.h"
#include "net.h"

/* Groups looked at in one hold of idle_groups_lock. */
#define LOOK_MAX	512

/* Protects smc_account.idle, smc_account.idle_num, smc_lgr.idle, .is_idle */
static DEFINE_SPINLOCK(idle_groups_lock);

/**
 * smc_lgr_set_idle() - a group may give way to others, or not any more
 * @lgr: group
 * @on: ACTIVE, and lingers without connections
 *
 * Context: any; lgr->lock is held.
 */
void smc_lgr_set_idle(struct smc_lgr *lgr, bool on)
{
	struct smc_lgr_idle *entry = lgr->idle;
	struct smc_account *acct;

	lockdep_assert_held(&lgr->lock);
	if (lgr->is_idle == on)
		return;
	spin_lock(&idle_groups_lock);
	for (acct = lgr->account; acct; acct = acct->up, entry++) {
		entry->lgr = lgr;
		if (on)
			list_add_tail(&entry->node, &acct->idle[lgr->role]);
		else
			list_del(&entry->node);
		acct->idle_num += on ? 1 : -1;
	}
	lgr->is_idle = on;
	spin_unlock(&idle_groups_lock);
}

/*
 * Would a new group of @acct have room if idle groups ended, and may that many
 * end?  If not, they would end for nothing.  After an account's limit has been
 * lowered more groups may have to end than are idle.
 */
static bool worth_it(struct smc_account *acct)
{
	int lack;

	lockdep_assert_held(&idle_groups_lock);
	for (; acct; acct = acct->up) {
		lack = 1 - smc_account_room(acct, SMC_ACCT_GROUPS);
		if (lack > acct->idle_num ||
		    max(lack, 1) > smc_account_room(acct, SMC_ACCT_ENDING))
			return false;
	}
	return true;
}

/*
 * The first group that may end.  If as many groups of a peer are ending as may,
 * the peer is slow: its other groups go to the end of the list, and the next
 * look finds groups of other peers first.
 */
static struct smc_lgr *oldest(struct smc_account *acct, enum smc_role role)
{
	int left = min(LOOK_MAX, acct->idle_num);
	struct list_head *list = &acct->idle[role];
	struct smc_lgr_idle *entry, *next;

	lockdep_assert_held(&idle_groups_lock);
	list_for_each_entry_safe(entry, next, list, node) {
		if (smc_account_try_charge(entry->lgr->account,
					   SMC_ACCT_ENDING, 1, NULL))
			return entry->lgr;
		if (--left <= 0)
			break;
		list_move_tail(&entry->node, list);
	}
	return NULL;
}

/**
 * smc_lgr_oldest_idle() - the idle group that gives way
 * @lgr: the group that needs room, not published
 * @full: the account of @lgr that has no room
 *
 * The idle group is charged as an ending one, too, until smc_lgr_gave_way().
 * Groups of our servers go first: the peer may be naming a group of one of our
 * clients in an Accept.
 *
 * Context: any, no lock of the core held.
 * Return: the oldest one charged to @full, with a reference; or NULL.
 */
struct smc_lgr *smc_lgr_oldest_idle(struct smc_lgr *lgr,
				    struct smc_account *full)
{
	struct smc_lgr *found = NULL;

	spin_lock_bh(&idle_groups_lock);
	if (worth_it(lgr->account))
		found = oldest(full, SMC_SERV) ?: oldest(full, SMC_CLNT);
	/* the linger timer has one */
	if (found)
		refcount_inc(&found->refs);
	spin_unlock_bh(&idle_groups_lock);
	return found;
}

/**
 * smc_lgr_gave_way() - end the double charge of smc_lgr_oldest_idle()
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
