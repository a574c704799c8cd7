// SPDX-License-Identifier: GPL-2.0
/*
 * What a handshake waits for: its state, its clock, a group that settles; and
 * how the next step is queued.
 *
 * Every step uses this, and the engine (hs.c) runs every step.  Locks and
 * lifetime are described there.
 *
 * Context: process, from a step: priv->step is held, unless a function says
 * otherwise.
 * Test: selftests/smc/fallback*.sh
 */
#include <linux/jiffies.h>
#include <linux/workqueue.h>
#include "hs_priv.h"

struct workqueue_struct *smc_hs_wq;

/**
 * smc_hs_kick() - queue a step unless there is one
 * @priv: handshake
 *
 * Context: any, hs->lock held.
 */
void smc_hs_kick(struct smc_hs_priv *priv)
{
	struct smc_hs *hs = priv->hs;

	lockdep_assert_held(&hs->lock);
	if (priv->queued || priv->cancelled || !hs->owner->get(hs))
		return;
	priv->queued = true;
	refcount_inc(&priv->refs);
	queue_work(smc_hs_wq, &priv->work);
}

static void settled_fn(struct smc_lgr_waiter *waiter, enum smc_reason why)
{
	struct smc_hs_priv *priv = container_of(waiter, struct smc_hs_priv,
						waiter);
	unsigned long flags;

	priv->settled_why = why;
	/* pairs with smp_load_acquire() in smc_hs_settled() */
	smp_store_release(&priv->has_settled, true);
	spin_lock_irqsave(&priv->hs->lock, flags);
	smc_hs_kick(priv);
	spin_unlock_irqrestore(&priv->hs->lock, flags);
	/* From here on @priv may go. */
	complete(&priv->settled);
}

/**
 * smc_hs_wait_settled() - have a step queued when a group settles
 * @priv: handshake
 * @lgr: group in state CONNECTING; stays referenced until
 *	smc_hs_stop_waiting()
 *
 * Return: false if the group has settled already.
 */
bool smc_hs_wait_settled(struct smc_hs_priv *priv, struct smc_lgr *lgr)
{
	reinit_completion(&priv->settled);
	priv->has_settled = false;
	priv->waiter.settled = settled_fn;
	priv->waiting = smc_lgr_wait(lgr, &priv->waiter) ? lgr : NULL;
	return priv->waiting;
}

/**
 * smc_hs_settled() - has the group that is waited for settled?
 * @priv: handshake
 * @why: its outcome
 */
bool smc_hs_settled(struct smc_hs_priv *priv, enum smc_reason *why)
{
	/* pairs with smp_store_release() in settled_fn() */
	if (!smp_load_acquire(&priv->has_settled))
		return false;
	*why = priv->settled_why;
	return true;
}

/**
 * smc_hs_stop_waiting() - the callback does not run any more after this
 * @priv: handshake
 */
void smc_hs_stop_waiting(struct smc_hs_priv *priv)
{
	if (!priv->waiting)
		return;
	if (!smc_lgr_unwait(priv->waiting, &priv->waiter))
		wait_for_completion(&priv->settled);
	priv->waiting = NULL;
}

/**
 * smc_hs_enter_until() - change the state
 * @priv: handshake
 * @state: new state
 * @deadline: jiffies, when its step runs at the latest
 */
void smc_hs_enter_until(struct smc_hs_priv *priv, enum smc_hs_state state,
			unsigned long deadline)
{
	spin_lock_irq(&priv->hs->lock);
	priv->state = state;
	priv->need = 1;
	spin_unlock_irq(&priv->hs->lock);
	priv->deadline = deadline;
	mod_timer(&priv->timer, deadline);
}

/**
 * smc_hs_enter() - change the state
 * @priv: handshake
 * @state: new state
 * @ms: its step runs after so many ms at the latest; 0: only when woken
 */
void smc_hs_enter(struct smc_hs_priv *priv, enum smc_hs_state state,
		  unsigned int ms)
{
	if (ms) {
		smc_hs_enter_until(priv, state, jiffies + msecs_to_jiffies(ms));
		return;
	}
	timer_delete_sync(&priv->timer);
	spin_lock_irq(&priv->hs->lock);
	priv->state = state;
	priv->need = 1;
	spin_unlock_irq(&priv->hs->lock);
	priv->deadline = jiffies + MAX_JIFFY_OFFSET;
}

/**
 * smc_hs_expired() - has the state's deadline passed?
 * @priv: handshake
 */
bool smc_hs_expired(const struct smc_hs_priv *priv)
{
	return time_after_eq(jiffies, priv->deadline);
}

/**
 * smc_hs_start_clock() - TCP is established: the handshake deadline runs
 * @priv: handshake
 */
void smc_hs_start_clock(struct smc_hs_priv *priv)
{
	unsigned int floor = READ_ONCE(priv->hs->sn->handshake_timeout_ms);
	u32 rtt = min(smc_inner_rtt_ms(priv->hs->inner), 60000U);

	priv->span_ms = max3(floor, 8 * rtt, 1U);
	priv->limit = jiffies + msecs_to_jiffies(priv->span_ms);
}
