// SPDX-License-Identifier: GPL-2.0
/*
 * Link groups: handshakes wait until a new one has settled.
 *
 * Locks: lgr->lock (spinlock, BH) protects the waiters.
 * Test: selftests/smc/fallback*.sh
 */
#include <linux/list.h>
#include <linux/spinlock.h>
#include "lgr.h"
#include "net.h"

/**
 * smc_lgr_settle() - CONNECTING is over: call the waiters
 * @lgr: group
 * @why: SMC_REASON_OK: it is ACTIVE; else why it is DEAD
 *
 * One at a time.  The caller of smc_lgr_lost() may hold a tx_lock, or a
 * lock of the transport.
 *
 * Context: any; no lock of a group or of the table is held.
 */
void smc_lgr_settle(struct smc_lgr *lgr, enum smc_reason why)
{
	struct smc_lgr_waiter *w;

	lockdep_assert_not_held(&lgr->sn->lgr_lock);
	lockdep_assert_not_held(&lgr->lock);
	for (;;) {
		spin_lock_bh(&lgr->lock);
		w = list_first_entry_or_null(&lgr->waiters,
					     struct smc_lgr_waiter, node);
		if (w)
			list_del_init(&w->node);
		spin_unlock_bh(&lgr->lock);
		if (!w)
			return;
		w->settled(w, why);
	}
}

/**
 * smc_lgr_add_waiter() - have a function called when a group has settled
 * @lgr: group, referenced
 * @w: waiter; its callback is set
 *
 * Context: process.
 * Return: true: @w will be called once; false: it has settled already.
 */
bool smc_lgr_add_waiter(struct smc_lgr *lgr, struct smc_lgr_waiter *w)
{
	bool queued;

	spin_lock_bh(&lgr->lock);
	queued = lgr->state == SMC_LGR_CONNECTING;
	if (queued)
		list_add_tail(&w->node, &lgr->waiters);
	else
		INIT_LIST_HEAD(&w->node);
	spin_unlock_bh(&lgr->lock);
	return queued;
}

/**
 * smc_lgr_unwait() - stop waiting
 * @lgr: group
 * @w: waiter that smc_lgr_add_waiter() queued
 *
 * Context: process.
 * Return: true: it will not be called; false: it has been, or is being called.
 */
bool smc_lgr_unwait(struct smc_lgr *lgr, struct smc_lgr_waiter *w)
{
	bool queued;

	spin_lock_bh(&lgr->lock);
	queued = !list_empty(&w->node);
	list_del_init(&w->node);
	spin_unlock_bh(&lgr->lock);
	return queued;
}

/**
 * smc_lgr_death() - is a group dead, and why?
 * @lgr: group
 *
 * Takes the lock: if the group is ACTIVE here and dies later, the worker finds
 * each connection whose token was published before this call.
 *
 * Context: any.
 * Return: why it is dead, or SMC_REASON_OK: it is ACTIVE, or still CONNECTING.
 */
enum smc_reason smc_lgr_death(struct smc_lgr *lgr)
{
	enum smc_reason why;

	spin_lock_bh(&lgr->lock);
	why = lgr->why;
	spin_unlock_bh(&lgr->lock);
	return why;
}
