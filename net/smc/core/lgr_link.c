// SPDX-License-Identifier: GPL-2.0
/*
 * Link groups: the link of a new one is brought up by the handshake of its first
 * connection.
 *
 * Locks: lgr->setup (mutex): lgr_down does not run beside lgr_up, lgr_connect
 * and lgr_confirm.  lgr->lock (spinlock, BH) protects the state.
 * Test: selftests/smc/fallback*.sh
 */
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include "lgr.h"

/**
 * smc_lgr_up() - make what a new group needs at its device
 * @lgr: group, published
 * @path: as for smc_lgr_new(); taken over on success
 *
 * The device may fail meanwhile: kill_work_fn() waits for this.
 *
 * Context: process.
 * Return: 0, -ENOLINK if the group is dead, or the transport's error.
 */
int smc_lgr_up(struct smc_lgr *lgr, struct smc_path *path)
{
	int rc = 0;

	mutex_lock(&lgr->setup);
	if (READ_ONCE(lgr->state) == SMC_LGR_DEAD)
		rc = -ENOLINK;
	else if (smc_xport_has_links(lgr->xport))
		rc = lgr->xport->lgr_up(lgr);
	/* pairs with look_at_link() */
	smp_store_release(&lgr->up, !rc);
	mutex_unlock(&lgr->setup);
	if (!rc)
		memset(path, 0, sizeof(*path));
	return rc;
}

static bool is_up(const struct smc_lgr *lgr)
{
	lockdep_assert_held(&lgr->setup);
	return lgr->up && READ_ONCE(lgr->state) != SMC_LGR_DEAD;
}

/**
 * smc_lgr_connect() - the peer of a first contact is known: bring the link up
 * @lgr: group, referenced
 * @prop: the Proposal, server only
 * @peer: Accept (client) or Confirm (server)
 *
 * The group may be killed at any time: its worker waits for this call, or this
 * call finds the group dead.
 *
 * Context: process, sleeps.
 * Return: 0, -ENOLINK if the group is dead, or the transport's error.
 */
int smc_lgr_connect(struct smc_lgr *lgr, const struct smc_clc_proposal *prop,
		    const struct smc_clc_accept *peer)
{
	int rc = -ENOLINK;

	mutex_lock(&lgr->setup);
	if (is_up(lgr))
		rc = lgr->xport->lgr_connect(lgr, prop, peer);
	mutex_unlock(&lgr->setup);
	return rc;
}

/**
 * smc_lgr_confirm() - start the confirmation of the first link
 * @lgr: group, referenced; smc_lgr_connect() has succeeded
 *
 * Context: process, sleeps.
 * Return: 0, smc_lgr_changed() reports the outcome; -ENOLINK if the group is
 * dead, or the transport's error.
 */
int smc_lgr_confirm(struct smc_lgr *lgr)
{
	int rc = -ENOLINK;

	mutex_lock(&lgr->setup);
	if (is_up(lgr))
		rc = lgr->xport->lgr_confirm(lgr);
	mutex_unlock(&lgr->setup);
	return rc;
}

/**
 * smc_lgr_changed() - the confirmation of a new group ended
 * @lgr: group; the transport guarantees that it lives
 * @why: SMC_REASON_OK makes it ACTIVE, anything else kills it
 *
 * The handshakes that wait for it go on.
 *
 * Context: any, no lock of the core held.
 */
void smc_lgr_changed(struct smc_lgr *lgr, enum smc_reason why)
{
	if (why != SMC_REASON_OK) {
		smc_lgr_kill(lgr, why);
		return;
	}
	spin_lock_bh(&lgr->lock);
	if (lgr->state == SMC_LGR_CONNECTING)
		WRITE_ONCE(lgr->state, SMC_LGR_ACTIVE);
	else
		why = lgr->why;
	spin_unlock_bh(&lgr->lock);
	smc_lgr_settle(lgr, why);
}
