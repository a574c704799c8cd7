// SPDX-License-Identifier: GPL-2.0
/*
 * State, clock and queuing of a handshake's steps; waiting for a group.
 *
 * Locks and lifetime: see engine.c.
 *
 * Context: process, from a step, which may have locked the socket, unless a
 * function says otherwise.
 * Test: selftests/smc/fallback*.sh
 */
#include <linux/jiffies.h>
#include <linux/tcp.h>
#include <linux/workqueue.h>
#include "priv.h"

/**
 * smc_hs_kick_locked() - queue a step unless one is queued
 * @hs: handshake
 *
 * Context: any, hs->lock held.
 */
void smc_hs_kick_locked(struct smc_hs *hs)
{
	lockdep_assert_held(&hs->lock);
	if (hs->queued || hs->ended)
		return;
	hs->queued = true;
	refcount_inc(&hs->refs);
	queue_work(hs->setup.sn->hs_wq, &hs->work);
}

/**
 * smc_hs_kick() - queue a step unless one is queued
 * @hs: handshake
 *
 * Context: any.
 */
void smc_hs_kick(struct smc_hs *hs)
{
	unsigned long flags;

	spin_lock_irqsave(&hs->lock, flags);
	smc_hs_kick_locked(hs);
	spin_unlock_irqrestore(&hs->lock, flags);
}

/**
 * smc_hs_set_stopped() - the TCP connection is not the handshake's any more
 * @hs: handshake that has been started
 *
 * A step is queued that gives everything else back.
 *
 * Context: any; the socket is locked.
 */
void smc_hs_set_stopped(struct smc_hs *hs)
{
	lockdep_assert(lockdep_sock_is_held(hs->setup.sk));
	WRITE_ONCE(hs->stopped, true);
	smc_hs_kick(hs);
}

static void settled_fn(struct smc_lgr_waiter *waiter, enum smc_reason why)
{
	struct smc_hs *hs = container_of(waiter, struct smc_hs, waiter);

	hs->settled_why = why;
	/* pairs with smp_load_acquire() in smc_hs_settled() */
	smp_store_release(&hs->has_settled, true);
	smc_hs_kick(hs);
	/* smc_hs_stop_waiting() waits for this: @hs may end now. */
	complete(&hs->settled);
}

/**
 * smc_hs_watch_group() - have a step queued when a group settles
 * @hs: handshake
 * @lgr: group in state CONNECTING; stays referenced until
 *	smc_hs_stop_waiting()
 *
 * Return: false if the group has settled already; smc_hs_settled() says how.
 */
bool smc_hs_watch_group(struct smc_hs *hs, struct smc_lgr *lgr)
{
	reinit_completion(&hs->settled);
	hs->has_settled = false;
	hs->waiter.settled = settled_fn;
	hs->waiting = smc_lgr_add_waiter(lgr, &hs->waiter) ? lgr : NULL;
	if (hs->waiting)
		return true;
	hs->settled_why = smc_lgr_death(lgr);
	hs->has_settled = true;
	return false;
}

/**
 * smc_hs_settled() - has the group that is waited for settled?
 * @hs: handshake
 * @why: its outcome
 */
bool smc_hs_settled(struct smc_hs *hs, enum smc_reason *why)
{
	/* pairs with smp_store_release() in settled_fn() */
	if (!smp_load_acquire(&hs->has_settled))
		return false;
	*why = hs->settled_why;
	return true;
}

/**
 * smc_hs_stop_waiting() - the callback does not run any more after this
 * @hs: handshake
 *
 * Context: process, from a step, no lock held; waits for a callback that runs.
 */
void smc_hs_stop_waiting(struct smc_hs *hs)
{
	if (!hs->waiting)
		return;
	if (!smc_lgr_unwait(hs->waiting, &hs->waiter))
		wait_for_completion(&hs->settled);
	hs->waiting = NULL;
}

/**
 * smc_hs_need() - set for how many bytes a step is queued
 * @hs: handshake
 * @bytes: readable bytes
 */
void smc_hs_need(struct smc_hs *hs, u32 bytes)
{
	spin_lock_irq(&hs->lock);
	hs->need = bytes;
	spin_unlock_irq(&hs->lock);
}

/**
 * smc_hs_set_deadline() - the state's step is due at a time
 * @hs: handshake
 * @deadline: jiffies
 *
 * Context: the work item, or before the first step is queued.
 */
void smc_hs_set_deadline(struct smc_hs *hs, unsigned long deadline)
{
	hs->deadline = deadline;
	hs->deadline_set = true;
	mod_timer(&hs->timer, deadline);
}

static void set_state(struct smc_hs *hs, enum smc_hs_state state)
{
	spin_lock_irq(&hs->lock);
	WRITE_ONCE(hs->state, state);
	hs->need = 1;
	spin_unlock_irq(&hs->lock);
}

/**
 * smc_hs_enter_until() - change the state
 * @hs: handshake
 * @state: new state
 * @deadline: jiffies, when its step runs at the latest
 */
void smc_hs_enter_until(struct smc_hs *hs, enum smc_hs_state state,
			unsigned long deadline)
{
	set_state(hs, state);
	smc_hs_set_deadline(hs, deadline);
}

/**
 * smc_hs_enter() - change the state
 * @hs: handshake
 * @state: new state
 * @ms: its step runs after so many ms at the latest
 */
void smc_hs_enter(struct smc_hs *hs, enum smc_hs_state state,
		  unsigned int ms)
{
	smc_hs_enter_until(hs, state, jiffies + msecs_to_jiffies(ms));
}

/**
 * smc_hs_enter_idle() - change the state; its step runs only when woken
 * @hs: handshake
 * @state: new state
 */
void smc_hs_enter_idle(struct smc_hs *hs, enum smc_hs_state state)
{
	timer_delete_sync(&hs->timer);
	set_state(hs, state);
	hs->deadline_set = false;
}

/**
 * smc_hs_expired() - has the state's deadline passed?
 * @hs: handshake
 */
bool smc_hs_expired(const struct smc_hs *hs)
{
	return hs->deadline_set && time_after_eq(jiffies, hs->deadline);
}

/**
 * smc_hs_start_clock() - TCP is established: the handshake deadline runs
 * @hs: handshake
 *
 * It is longer on a slow path, within bounds: a peer that acknowledges late
 * chooses the round trip.
 *
 * Context: the work item, or before the first step is queued.
 */
void smc_hs_start_clock(struct smc_hs *hs)
{
	unsigned int floor = READ_ONCE(hs->setup.sn->handshake_timeout_ms);
	const struct tcp_sock *tp = tcp_sk(hs->setup.sk);
	u32 rtt = DIV_ROUND_UP(READ_ONCE(tp->srtt_us) >> 3, 1000);

	hs->span_ms = max3(floor, 8 * min(rtt, floor / 2), 1U);
	hs->limit = jiffies + msecs_to_jiffies(hs->span_ms);
}
