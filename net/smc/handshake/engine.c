// SPDX-License-Identifier: GPL-2.0
/*
 * The handshake's engine: runs the steps and the deadline; start, wake, stop.
 *
 * A handshake has a state (what it waits for).  The table of its role has one
 * function for each state, the step (client.c, server.c).  Each event queues
 * the same work item: TCP's callbacks (smc_hs_wake), the timer, a group that
 * settled, a socket that is released.  The work runs the step of the state
 * until the state does not change.  A step does not wait for the peer.  It
 * returns SMC_REASON_OK, or the reason for which SMC is not possible; then
 * smc_hs_conclude() (outcome.c) decides what follows.
 *
 * Locks: the socket's spinlock protects the TCP connection (tcp.c).  done() is
 * called under it: after smc_hs_stop() it is not called.  hs->lock (spinlock,
 * interrupts off) is for smc_hs_wake().  Only the work item uses the rest.
 * Order: the socket's spinlock -> hs->lock.
 *
 * Lifetime: counted.  The timer and the waiter in a group's list are removed
 * synchronously before @ended is set, so they need no reference.
 *
 * Test: selftests/smc/fallback*.sh
 */
#include <linux/slab.h>
#include <linux/jiffies.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include "priv.h"
#include "trace.h"

static void timer_fn(struct timer_list *t)
{
	smc_hs_kick(container_of(t, struct smc_hs, timer));
}

/**
 * smc_hs_wake() - an event of the TCP connection
 * @hs: handshake of the socket
 *
 * A step is queued only if the state waits for the event.
 *
 * Context: any; the socket is locked, or @hs was found under RCU.
 */
void smc_hs_wake(struct smc_hs *hs)
{
	const struct sock *sk = hs->setup.sk;
	unsigned long flags;
	bool useful;

	spin_lock_irqsave(&hs->lock, flags);
	if (!hs->queued && !hs->ended) {
		useful = smc_hs_tcp_closed(sk) || smc_hs_tcp_at_urgent(sk);
		if (hs->ops->steps[hs->state].opens)
			useful |= (1 << inet_sk_state_load(sk)) &
				  (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT);
		else
			useful |= smc_hs_tcp_readable(sk) >= hs->need;
		if (useful)
			smc_hs_kick_locked(hs);
	}
	spin_unlock_irqrestore(&hs->lock, flags);
}

static void trace_step(const struct smc_hs *hs, const struct smc_hs_step *step,
		       enum smc_reason why)
{
	u32 token = hs->conn ? hs->conn->token : 0;

	trace_smc_hs_step(hs->setup.sn->net->net_cookie, token, hs,
			  hs->setup.role == SMC_SERV, step->name, why);
}

/* Does the next step charge a control group, and run_charged() did not ask? */
static bool has_to_ask(const struct smc_hs *hs, const struct smc_hs_step *step)
{
	return !step->charges && hs->ops->steps[hs->state].charges;
}

/*
 * A message of ours waits: what has come may end the handshake before that
 * leaves, and it is not sent then.
 */
static enum smc_reason look_unsent(struct smc_hs *hs)
{
	enum smc_reason why = smc_hs_look(hs);

	if (why != SMC_REASON_OK)
		hs->data->out_len = 0;
	return why;
}

/* Run steps while they change the state. */
static enum smc_hs_verdict run(struct smc_hs *hs)
{
	const struct smc_hs_step *step;
	enum smc_hs_state state;
	enum smc_reason why;
	enum smc_hs_verdict v;
	int rc;

	do {
		state = hs->state;
		step = &hs->ops->steps[state];
		/* first: it may have come with the room that the message needs */
		why = hs->data->out_len ? look_unsent(hs) : SMC_REASON_OK;
		if (why == SMC_REASON_OK) {
			rc = smc_hs_flush(hs);
			if (rc == -EAGAIN)
				return SMC_HS_V_GO_ON;
			if (rc)
				why = step->lost;
			else if (step->run)
				why = step->run(hs);
		}
		trace_step(hs, step, why);
		v = hs->ops->steps[hs->state].verdict;
		/* the Confirm may wait, and may fail to leave */
		if (v != SMC_HS_V_GO_ON && why == SMC_REASON_OK &&
		    !hs->data->out_len)
			return v;
		if (READ_ONCE(hs->stopped))
			return SMC_HS_V_GO_ON;
		if (why == SMC_REASON_OK)
			continue;
		v = smc_hs_conclude(hs, why);
		if (READ_ONCE(hs->stopped))
			return SMC_HS_V_GO_ON;
		if (v != SMC_HS_V_GO_ON)
			return v;
	} while (hs->state != state && !has_to_ask(hs, step));
	/* what the next one waits for may be there already */
	if (has_to_ask(hs, step))
		smc_hs_wake(hs);
	return SMC_HS_V_GO_ON;
}

static void free_data(struct smc_hs *hs)
{
	if (!hs->data)
		return;
	smc_hs_paths_drop(hs);
	kfree(hs->data);
	hs->data = NULL;
}

/* Free what only the exchange of messages needs.  Idempotent. */
static void wind_up(struct smc_hs *hs)
{
	if (hs->data)
		smc_stats_inc(hs->setup.sn, SMC_STAT_HS_ENDED);
	smc_hs_stop_waiting(hs);
	timer_delete_sync(&hs->timer);
	free_data(hs);
	smc_hs_uncount(hs);
}

/* The handshake has ended: no step is queued after this. */
static void end(struct smc_hs *hs)
{
	wind_up(hs);
	smc_hs_drop_conn(hs);
	spin_lock_irq(&hs->lock);
	hs->ended = true;
	spin_unlock_irq(&hs->lock);
	smc_hs_put(hs);
}

/* smc_hs_stop() was called: free everything. */
static void abandon(struct smc_hs *hs)
{
	smc_hs_drop_group(hs, SMC_REASON_GOING);
	end(hs);
}

/* Report the outcome; the spinlock of the socket is held. */
static void hand_over(struct smc_hs *hs, struct smc_hs_result *res)
{
	lockdep_assert_held(&hs->setup.sk->sk_lock.slock);
	smc_hs_count_end(hs, res->outcome);
	if (res->outcome == SMC_HS_SMC)
		hs->conn = NULL;
	else if (res->outcome == SMC_HS_ERR && hs->ops->failed)
		hs->ops->failed(hs);
	if (res->holds_back) {
		/* first_at was the time of the peer's Accept or Confirm */
		if (test_bit(SMC_HS_LATE_DECLINE, &hs->bits))
			hs->first_at = 0;
		/* before done(): the program cannot read or write yet */
		hs->write_seq = tcp_sk(hs->setup.sk)->write_seq;
		smc_hs_enter_idle(hs, SMC_HS_LATE);
	}
	hs->setup.events->done(hs->setup.arg, res);
}

/* Carry out the verdict.  Called again if the socket is owned. */
static void finish(struct smc_hs *hs)
{
	struct smc_hs_result res;
	int rc = 0;

	/* the Decline goes first */
	if (hs->data)
		rc = smc_hs_flush(hs);
	if (rc == -EAGAIN)
		return;
	if (rc && rc != -ECANCELED) {
		hs->verdict = hs->ops->unsent ? hs->ops->unsent(hs) :
						SMC_HS_V_ERR;
		if (hs->verdict == SMC_HS_V_GO_ON) {
			smc_hs_kick(hs);
			return;
		}
	}
	wind_up(hs);
	rc = smc_hs_lock(hs);
	if (rc == -EAGAIN)
		return;
	if (rc) {
		abandon(hs);
		return;
	}
	smc_hs_set_result(hs, hs->verdict, &res);
	hs->verdict = SMC_HS_V_GO_ON;
	hand_over(hs, &res);
	smc_hs_unlock(hs);
	if (res.holds_back) {
		smc_hs_drop_conn(hs);
		smc_hs_kick(hs);
	} else {
		end(hs);
	}
}

static void step_late(struct smc_hs *hs)
{
	struct smc_clc_msg *msg;
	bool over = true;
	u8 *buf;
	int rc;

	buf = kmalloc(SMC_CLC_MAX_LEN, GFP_KERNEL | __GFP_NOFAIL);
	msg = kmalloc(sizeof(*msg), GFP_KERNEL | __GFP_NOFAIL);
	rc = smc_hs_lock(hs);
	if (!rc) {
		over = smc_hs_late(hs, buf, msg);
		if (over)
			hs->setup.events->revealed(hs->setup.arg);
		smc_hs_unlock(hs);
	} else if (rc == -EAGAIN) {
		over = false;
	}
	kfree(msg);
	kfree(buf);
	if (over)
		end(hs);
}

/*
 * Run steps with rings and receives charged to the program's cgroup.  Nothing,
 * and put_off is set, if that is throttled and another step charges it.
 */
static enum smc_hs_verdict run_charged(struct smc_hs *hs)
{
	enum smc_hs_verdict v;
	struct mem_cgroup *old;

	if (hs->ops->steps[hs->state].charges && !smc_hs_charge_begin(hs)) {
		if (!smc_hs_expired(hs)) {
			WRITE_ONCE(hs->put_off, true);
			return SMC_HS_V_GO_ON;
		}
		hs->no_room = true;
	}
	old = set_active_memcg(hs->setup.memcg);
	v = run(hs);
	set_active_memcg(old);
	smc_hs_charge_end(hs);
	return v;
}

static void hs_step(struct smc_hs *hs)
{
	if (READ_ONCE(hs->stopped)) {
		abandon(hs);
		return;
	}
	if (hs->state == SMC_HS_LATE) {
		step_late(hs);
		return;
	}
	if (hs->verdict == SMC_HS_V_GO_ON)
		hs->verdict = run_charged(hs);
	if (hs->verdict != SMC_HS_V_GO_ON)
		finish(hs);
}

/*
 * A program may own the socket for ever.  Neither the removal of a device nor the
 * handshakes of others wait for that: one whose time is over gives its paths and
 * its place back.
 */
static void let_go_late(struct smc_hs *hs)
{
	unsigned long end = hs->limit;

	/* a later state may go on for longer */
	if (hs->deadline_set && time_after(hs->deadline, end))
		end = hs->deadline;
	if (!time_after(jiffies, end + msecs_to_jiffies(SMC_HS_CONFIRM_MS)))
		return;
	if (hs->data)
		smc_hs_paths_drop(hs);
	smc_hs_uncount(hs);
}

/*
 * Set the timer.  For a step that was put off the socket's operations call
 * smc_hs_unlocked(); the timer is for other owners of the socket.
 */
static void next(struct smc_hs *hs)
{
	if (hs->ended)
		return;
	if (READ_ONCE(hs->put_off)) {
		let_go_late(hs);
		mod_timer(&hs->timer, jiffies + SMC_RETRY_DELAY);
	} else if (hs->deadline_set) {
		mod_timer(&hs->timer, hs->deadline);
	}
}

static void work_fn(struct work_struct *work)
{
	struct smc_hs *hs = container_of(work, struct smc_hs, work);

	spin_lock_irq(&hs->lock);
	hs->queued = false;
	spin_unlock_irq(&hs->lock);
	WRITE_ONCE(hs->put_off, false);
	if (!hs->ended)
		hs_step(hs);
	next(hs);
	smc_hs_put(hs);
}

/**
 * smc_hs_new() - make a handshake
 * @setup: copied
 * @conn: the connection, not joined yet; the caller's reference passes
 * @gfp: how memory may be had
 *
 * Context: any, by @gfp.
 * Return: handshake with one reference, to be started; NULL: no memory, and
 * the connection is still the caller's.
 */
struct smc_hs *smc_hs_new(const struct smc_hs_setup *setup,
			  struct smc_conn *conn, gfp_t gfp)
{
	struct smc_hs *hs = kzalloc(sizeof(*hs), gfp);

	if (!hs)
		return NULL;
	hs->data = kzalloc(sizeof(*hs->data), gfp);
	if (!hs->data) {
		kfree(hs);
		return NULL;
	}
	refcount_set(&hs->refs, 1);
	hs->setup = *setup;
	sock_hold(setup->sk);
	/* the caller has a reference: this cannot fail */
	mem_cgroup_tryget(setup->memcg);
	hs->conn = conn;
	spin_lock_init(&hs->lock);
	INIT_WORK(&hs->work, work_fn);
	timer_setup(&hs->timer, timer_fn, 0);
	init_completion(&hs->settled);
	hs->ops = setup->role == SMC_CLNT ? &smc_hs_client : &smc_hs_server;
	hs->state = hs->ops->first;
	hs->need = 1;
	hs->version = 2;
	return hs;
}

/**
 * smc_hs_put() - drop a reference
 * @hs: handshake
 *
 * Also drops the connection of a handshake that was not started.
 *
 * Context: any.
 */
void smc_hs_put(struct smc_hs *hs)
{
	if (!refcount_dec_and_test(&hs->refs))
		return;
	if (hs->conn)
		smc_conn_put(hs->conn);
	kfree(hs->data);
	hs->setup.events->release(hs->setup.arg);
	sock_put(hs->setup.sk);
	mem_cgroup_put(hs->setup.memcg);
	kfree_rcu(hs, rcu);
}

/*
 * A number that names the TCP connection: the first sequence numbers of the
 * client's and of the server's stream.  Only the two ends know both, and the
 * translation of addresses does not change them.  Nothing has been read or
 * written yet; the socket is locked.
 */
static u64 stream_of(const struct smc_hs *hs)
{
	const struct tcp_sock *tp = tcp_sk(hs->setup.sk);
	u32 own = tp->write_seq, peer = tp->copied_seq;

	lockdep_assert(lockdep_sock_is_held(hs->setup.sk));
	return hs->setup.role == SMC_CLNT ? (u64)own << 32 | peer :
					    (u64)peer << 32 | own;
}

/**
 * smc_hs_start() - start a handshake
 * @hs: new; TCP's connection is established, and both ends have offered SMC
 *
 * Context: any; the socket is locked.
 */
void smc_hs_start(struct smc_hs *hs)
{
	lockdep_assert(lockdep_sock_is_held(hs->setup.sk));
	smc_stats_inc(hs->setup.sn, SMC_STAT_HS_STARTED);
	/* a client's again when its first step runs */
	smc_hs_start_clock(hs);
	smc_hs_count(hs);
	refcount_inc(&hs->refs);	/* until it has ended */
	hs->conn->account = smc_account_get(hs->account);
	hs->conn->stream = stream_of(hs);
	if (hs->ops->start)
		hs->ops->start(hs);
	smc_hs_wake(hs);
}

/**
 * smc_hs_stop() - take the TCP connection from a handshake
 * @hs: handshake that has been started
 *
 * Neither done() nor revealed() is called after this.  A worker frees the rest.
 *
 * Context: any; the socket is locked.
 * Return: true if the peer may wait for a message, or may have begun to use
 * SMC: it has to be reset.
 */
bool smc_hs_stop(struct smc_hs *hs)
{
	smc_hs_set_stopped(hs);
	return READ_ONCE(hs->state) != SMC_HS_LATE &&
	       (test_bit(SMC_HS_SENT_ACCEPT, &hs->bits) ||
		test_bit(SMC_HS_SENT_CONFIRM, &hs->bits));
}

/**
 * smc_hs_unlocked() - a system call has released the socket
 * @hs: handshake of the socket, found under RCU
 *
 * Context: any.
 */
void smc_hs_unlocked(struct smc_hs *hs)
{
	if (unlikely(READ_ONCE(hs->put_off)))
		smc_hs_kick(hs);
}

/**
 * smc_hs_want() - should connect() to this address offer SMC?
 * @sk: socket
 * @addr: where connect() goes, of the socket's family; for AF_INET it is a
 *	sockaddr_in, and what is behind that does not matter
 *
 * Context: process.
 * Return: SMC_REASON_OK: offer; otherwise why not: use plain TCP.
 */
enum smc_reason smc_hs_want(const struct sock *sk,
			    const struct sockaddr_in6 *addr)
{
	struct smc_net *sn = smc_net(sock_net(sk));

	if (!READ_ONCE(sn->transports))
		return SMC_REASON_DISABLED;
	if (smc_hs_remembered(sn, sk, addr)) {
		smc_stats_inc(sn, SMC_STAT_HS_REMEMBERED);
		return SMC_REASON_REMEMBERED;
	}
	if (!smc_hs_room(sn, (const struct sockaddr *)addr)) {
		smc_stats_inc(sn, SMC_STAT_HS_LIMIT);
		return SMC_REASON_HSLIMIT;
	}
	return SMC_REASON_OK;
}

/**
 * smc_hs_net_init() - handshakes of a new namespace
 * @sn: namespace state
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int smc_hs_net_init(struct smc_net *sn)
{
	return smc_hs_cache_net_init(sn);
}

/**
 * smc_hs_net_exit() - undo smc_hs_net_init()
 * @sn: namespace state; all its handshakes have ended, as its sockets hold it
 *
 * Context: process, sleeps.
 */
void smc_hs_net_exit(struct smc_net *sn)
{
	/* the last step may not have returned yet */
	if (sn->hs_wq)
		destroy_workqueue(sn->hs_wq);
	smc_hs_cache_net_exit(sn);
}
