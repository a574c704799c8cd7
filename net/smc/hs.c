// SPDX-License-Identifier: GPL-2.0
/*
 * The handshake's engine: one step at a time, one deadline, and how others
 * start, wake and cancel it.
 *
 * A handshake is a state (what it waits for) and one function per state, the
 * step.  Whatever may have happened queues the same work item: the inner
 * socket's wait queue (smc_hs_wake), the timer, a group that settled.  The
 * work runs the step of the state again and again until it does not change the
 * state any more.  A step never waits for the peer; it returns SMC_REASON_OK
 * if all is well so far, or why this will not become SMC; smc_hs_conclude()
 * (hs_io.c) decides what follows from that.
 *
 * Locks: hs->lock (spinlock, interrupts off) protects hs->priv, @state, @need,
 * @queued and @cancelled; it is what smc_hs_wake() takes.  priv->step (mutex)
 * is held while a step runs, not while done() is called, so that
 * smc_hs_cancel() may be called with any lock that done() takes.
 * Order: priv->step -> the locks of core and inner socket; hs->lock is a leaf.
 *
 * Lifetime: the timer and the waiter in a group's list are removed
 * synchronously before the handshake lets go of the socket, so they need no
 * reference; a queued step has one of the owner and one of priv.
 *
 * Test: selftests/smc/fallback*.sh
 */
#include <linux/slab.h>
#include <linux/jiffies.h>
#include <linux/sched/mm.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include "hs_priv.h"
#include "reason.h"
#include "trace.h"

static void priv_put(struct smc_hs_priv *priv)
{
	if (refcount_dec_and_test(&priv->refs))
		kfree(priv);
}

static void timer_fn(struct timer_list *t)
{
	struct smc_hs_priv *priv = container_of(t, struct smc_hs_priv, timer);
	unsigned long flags;

	spin_lock_irqsave(&priv->hs->lock, flags);
	smc_hs_kick(priv);
	spin_unlock_irqrestore(&priv->hs->lock, flags);
}

/**
 * smc_hs_wake() - something happened on the inner socket
 * @hs: handshake, or none is running: then nothing happens
 * @key: poll mask, 0 for anything
 *
 * Cheap: a step is queued only if the state can make something of it.
 *
 * Context: any, interrupts off; the caller guarantees that @hs lives.
 */
void smc_hs_wake(struct smc_hs *hs, __poll_t key)
{
	const struct smc_inner *inner = hs->inner;
	struct smc_hs_priv *priv;
	unsigned long flags;
	bool useful;

	if (!READ_ONCE(hs->priv))
		return;
	spin_lock_irqsave(&hs->lock, flags);
	priv = hs->priv;
	if (priv && !priv->queued) {
		useful = READ_ONCE(inner->sk->sk_err) ||
			 smc_inner_closed(inner);
		if (priv->state == SMC_HS_OPEN || priv->state == SMC_HS_REOPEN)
			useful |= smc_inner_established(inner);
		else
			useful |= smc_inner_readable(inner) >= priv->need;
		if (useful)
			smc_hs_kick(priv);
	}
	spin_unlock_irqrestore(&hs->lock, flags);
}

static enum smc_reason step_crossing(struct smc_hs_priv *priv)
{
	enum smc_reason why = smc_hs_look(priv);

	if (why != SMC_REASON_OK)
		return why;
	return smc_hs_expired(priv) ? priv->why : SMC_REASON_OK;
}

static const char *const step_names[SMC_HS_STATES] = {
	[SMC_HS_OPEN] = "open",
	[SMC_HS_PROPOSAL] = "proposal",
	[SMC_HS_ACCEPT] = "accept",
	[SMC_HS_GROUP] = "group",
	[SMC_HS_CONFIRM] = "confirm",
	[SMC_HS_LINK] = "link",
	[SMC_HS_CROSSING] = "crossing",
	[SMC_HS_REOPEN] = "reopen",
	[SMC_HS_BOUND] = "bound",
	[SMC_HS_LATE] = "late",
};

static void trace_step(const struct smc_hs_priv *priv,
		       enum smc_hs_state state, enum smc_reason why)
{
	const struct smc_hs *hs = priv->hs;

	trace_smc_hs_step(hs->sn->net->net_cookie, hs->conn->token, hs,
			  hs->role == SMC_SERV, step_names[state], why);
}

static enum smc_reason step_group(struct smc_hs_priv *priv)
{
	return priv->hs->role == SMC_SERV ? smc_hs_server_group(priv) :
					    smc_hs_client_group(priv);
}

static enum smc_reason (*const steps[SMC_HS_STATES])(struct smc_hs_priv *) = {
	[SMC_HS_OPEN] = smc_hs_step_open,
	[SMC_HS_PROPOSAL] = smc_hs_step_proposal,
	[SMC_HS_ACCEPT] = smc_hs_step_accept,
	[SMC_HS_GROUP] = step_group,
	[SMC_HS_CONFIRM] = smc_hs_step_confirm,
	[SMC_HS_LINK] = smc_hs_step_link,
	[SMC_HS_CROSSING] = step_crossing,
	[SMC_HS_REOPEN] = smc_hs_step_reopen,
};

/* Run steps while they change the state. */
static enum smc_hs_verdict run(struct smc_hs_priv *priv, bool *smc)
{
	enum smc_hs_state state;
	enum smc_reason why;
	enum smc_hs_verdict v;

	do {
		state = priv->state;
		why = steps[state](priv);
		trace_step(priv, state, why);
		*smc = priv->state == SMC_HS_BOUND;
		if (*smc)
			return SMC_HS_V_GO_ON;
		if (why == SMC_REASON_OK)
			continue;
		if (state == SMC_HS_REOPEN && !priv->err)
			return SMC_HS_V_TCP;	/* connected again */
		v = smc_hs_conclude(priv, why);
		if (v != SMC_HS_V_GO_ON)
			return v;
	} while (priv->state != state);
	return SMC_HS_V_GO_ON;
}

static void free_data(struct smc_hs_priv *priv)
{
	enum smc_xport_id id;

	if (!priv->data)
		return;
	for (id = 0; id < SMC_XPORT_NUM; id++)
		smc_hs_path_drop(priv, id);
	kfree(priv->data);
	priv->data = NULL;
}

static void count_version(struct smc_net *sn, const struct smc_conn *conn,
			  bool serv)
{
	bool v2 = conn->lgr->version > 1;

	if (serv)
		smc_tech_inc(sn, conn->xport->id,
			     v2 ? SMC_TECH_SRV_V2 : SMC_TECH_SRV_V1);
	else
		smc_tech_inc(sn, conn->xport->id,
			     v2 ? SMC_TECH_CLNT_V2 : SMC_TECH_CLNT_V1);
}

static void count_end(struct smc_hs *hs, enum smc_hs_outcome outcome)
{
	bool serv = hs->role == SMC_SERV;
	enum smc_stat stat;

	if (outcome == SMC_HS_ERR)
		stat = serv ? SMC_STAT_HS_SRV_ERR : SMC_STAT_HS_CLNT_ERR;
	else if (outcome == SMC_HS_TCP)
		stat = serv ? SMC_STAT_HS_SRV_TCP : SMC_STAT_HS_CLNT_TCP;
	else if (hs->conn->xport->id == SMC_XPORT_R)
		stat = serv ? SMC_STAT_HS_SRV_SMCR : SMC_STAT_HS_CLNT_SMCR;
	else
		stat = serv ? SMC_STAT_HS_SRV_SMCD : SMC_STAT_HS_CLNT_SMCD;
	smc_stats_inc(hs->sn, stat);
	if (outcome == SMC_HS_SMC)
		count_version(hs->sn, hs->conn, serv);
}

/*
 * Nothing of the handshake refers to the socket after this, unless it is late:
 * then the timer may.
 */
static void wind_up(struct smc_hs_priv *priv)
{
	if (priv->data)
		smc_stats_inc(priv->hs->sn, SMC_STAT_HS_ENDED);
	smc_hs_stop_waiting(priv);
	timer_delete_sync(&priv->timer);
	free_data(priv);
	smc_hs_uncount(priv);
}

/* Take @priv off the socket.  False: smc_hs_cancel() was first. */
static bool detach(struct smc_hs_priv *priv)
{
	struct smc_hs *hs = priv->hs;
	bool ours;

	spin_lock_irq(&hs->lock);
	ours = hs->priv == priv && !priv->cancelled;
	if (ours)
		WRITE_ONCE(hs->priv, NULL);
	spin_unlock_irq(&hs->lock);
	if (ours)
		priv_put(priv);
	return ours;
}

static bool finish(struct smc_hs_priv *priv, enum smc_hs_verdict v, bool smc,
		   struct smc_hs_result *res)
{
	struct smc_hs *hs = priv->hs;

	memset(res, 0, sizeof(*res));
	if (smc) {
		/* The group is there for others too from now on. */
		clear_bit(SMC_HS_FIRST, &priv->bits);
		res->outcome = SMC_HS_SMC;
	} else if (v == SMC_HS_V_ERR) {
		res->outcome = SMC_HS_ERR;
		res->err = priv->err ?: smc_reason_errno(priv->why) ?:
			   ECONNRESET;
		hs->name_len = smc_inner_name(hs->inner, &hs->name);
		/* A peer that still talks must not take this for an end. */
		smc_inner_disconnect(hs->inner);
	} else {
		res->outcome = SMC_HS_TCP;
	}
	if (!smc) {
		res->reason = priv->why;
		res->peer_diagnosis = priv->peer_diagnosis;
	}
	wind_up(priv);
	count_end(hs, res->outcome);
	if (v != SMC_HS_V_LATE)
		return detach(priv);
	/* What began the stream was the peer's Accept or Confirm, long ago. */
	if (test_bit(SMC_HS_LATE_DECLINE, &priv->bits))
		priv->first_at = 0;
	/* Hidden before the program can read. */
	priv->write_seq = READ_ONCE(tcp_sk(hs->inner->sk)->write_seq);
	smc_hs_enter(priv, SMC_HS_LATE, 0);
	spin_lock_irq(&hs->lock);
	smc_hs_kick(priv);
	spin_unlock_irq(&hs->lock);
	return true;
}

static void step_late(struct smc_hs_priv *priv)
{
	struct smc_hs *hs = priv->hs;

	if (!smc_hs_late(priv))
		return;
	timer_delete_sync(&priv->timer);
	if (detach(priv) && hs->owner->revealed)
		hs->owner->revealed(hs);
}

static void work_fn(struct work_struct *work)
{
	struct smc_hs_priv *priv = container_of(work, struct smc_hs_priv,
						work);
	struct smc_hs_result res;
	struct smc_hs *hs = priv->hs;
	bool smc = false, done = false, idle;
	struct mem_cgroup *old;
	enum smc_hs_verdict v;

	mutex_lock(&priv->step);
	spin_lock_irq(&hs->lock);
	priv->queued = false;
	idle = priv->cancelled || hs->priv != priv;
	spin_unlock_irq(&hs->lock);
	if (!idle && priv->state == SMC_HS_LATE) {
		step_late(priv);
	} else if (!idle) {
		/* the rings are the program's, not the worker's */
		old = set_active_memcg(hs->memcg);
		v = run(priv, &smc);
		set_active_memcg(old);
		if (smc || v != SMC_HS_V_GO_ON)
			done = finish(priv, v, smc, &res);
	}
	mutex_unlock(&priv->step);
	if (done)
		hs->owner->done(hs, &res);
	hs->owner->put(hs);
	priv_put(priv);
}

static int start(struct smc_hs *hs, enum smc_hs_state state)
{
	struct smc_hs_priv *priv;

	priv = kzalloc(sizeof(*priv), GFP_KERNEL);
	if (!priv)
		return -ENOMEM;
	priv->data = kzalloc(sizeof(*priv->data), GFP_KERNEL);
	if (!priv->data) {
		kfree(priv);
		return -ENOMEM;
	}
	priv->hs = hs;
	refcount_set(&priv->refs, 1);
	INIT_WORK(&priv->work, work_fn);
	timer_setup(&priv->timer, timer_fn, 0);
	init_completion(&priv->settled);
	mutex_init(&priv->step);
	INIT_HLIST_NODE(&priv->node);
	priv->state = state;
	priv->need = 1;
	priv->version = 2;
	priv->deadline = jiffies + MAX_JIFFY_OFFSET;
	smc_stats_inc(hs->sn, SMC_STAT_HS_STARTED);
	if (!smc_hs_count(priv)) {
		set_bit(SMC_HS_LIMITED, &priv->bits);
		smc_stats_inc(hs->sn, SMC_STAT_HS_LIMIT);
	}
	if (state == SMC_HS_PROPOSAL) {
		smc_hs_start_clock(priv);
		priv->deadline = priv->limit;
		mod_timer(&priv->timer, priv->deadline);
	}

	spin_lock_irq(&hs->lock);
	WRITE_ONCE(hs->priv, priv);
	smc_hs_kick(priv);
	spin_unlock_irq(&hs->lock);
	return 0;
}

/**
 * smc_hs_connect() - start the client side
 * @hs: filled in but for priv; the inner connect has been issued
 *
 * Context: process; may hold the outer socket lock.
 * Return: 0: done() will be called; -ENOMEM.
 */
int smc_hs_connect(struct smc_hs *hs)
{
	hs->role = SMC_CLNT;
	return start(hs, SMC_HS_OPEN);
}

/**
 * smc_hs_accept() - start the server side
 * @hs: filled in but for priv, of an accepted child whose SYN had the option
 *
 * Context: process; may hold the outer socket lock.
 * Return: 0: done() will be called; -ENOMEM.
 */
int smc_hs_accept(struct smc_hs *hs)
{
	hs->role = SMC_SERV;
	return start(hs, SMC_HS_PROPOSAL);
}

/*
 * The peer may be waiting for a message, or may have begun to use SMC: a reset
 * tells it that nothing comes.
 */
static void abandon(struct smc_hs_priv *priv)
{
	smc_hs_drop_group(priv, SMC_REASON_GOING);
	if (test_bit(SMC_HS_SENT_ACCEPT, &priv->bits) ||
	    test_bit(SMC_HS_SENT_CONFIRM, &priv->bits))
		smc_inner_disconnect(priv->hs->inner);
}

/**
 * smc_hs_cancel() - the program closed the socket
 * @hs: handshake, running or not
 *
 * Waits for a step that is running, but not for done(): that may be waiting
 * for a lock of the caller.  Everything the handshake has taken is given back
 * before this returns.
 *
 * Context: process, sleeps.
 * Return: true if the handshake was running: done() will never be called.
 * False: done() has been called, or is being called by another thread.
 */
bool smc_hs_cancel(struct smc_hs *hs)
{
	struct smc_hs_priv *priv;
	bool running;

	spin_lock_irq(&hs->lock);
	priv = hs->priv;
	if (priv) {
		refcount_inc(&priv->refs);
		priv->cancelled = true;
	}
	spin_unlock_irq(&hs->lock);
	if (!priv)
		return false;

	mutex_lock(&priv->step);
	spin_lock_irq(&hs->lock);
	running = hs->priv == priv;
	WRITE_ONCE(hs->priv, NULL);
	spin_unlock_irq(&hs->lock);
	if (running) {
		priv_put(priv);
		running = priv->state != SMC_HS_LATE;
		if (running)
			abandon(priv);
		wind_up(priv);
	}
	mutex_unlock(&priv->step);
	priv_put(priv);
	return running;
}

/**
 * smc_hs_hidden() - bytes the program must not see yet
 * @hs: handshake of a connection in TCP mode
 *
 * Return: 0 if nothing is hidden, now and for ever; else the number of bytes
 * at the head of the stream (U32_MAX: all, whatever comes), until
 * owner->revealed() is called.
 */
u32 smc_hs_hidden(struct smc_hs *hs)
{
	return READ_ONCE(hs->priv) ? U32_MAX : 0;
}

/**
 * smc_hs_want() - should connect() to this address offer SMC?
 * @sn: namespace state
 * @addr: where connect() goes
 *
 * Context: process.
 * Return: SMC_REASON_OK: offer; otherwise why not: use plain TCP.
 */
enum smc_reason smc_hs_want(struct smc_net *sn, const struct sockaddr *addr)
{
	if (addr->sa_family != AF_INET && addr->sa_family != AF_INET6)
		return SMC_REASON_UNSUPPADDR;
	if (!READ_ONCE(sn->transports))
		return SMC_REASON_DISABLED;
	if (smc_hs_remembered(sn, addr)) {
		smc_stats_inc(sn, SMC_STAT_HS_REMEMBERED);
		return SMC_REASON_REMEMBERED;
	}
	if (atomic_read(&sn->hs_count) >= SMC_HS_MAX_NET) {
		smc_stats_inc(sn, SMC_STAT_HS_LIMIT);
		return SMC_REASON_HSLIMIT;
	}
	return SMC_REASON_OK;
}

int smc_hs_net_init(struct smc_net *sn)
{
	atomic_set(&sn->hs_count, 0);
	return smc_hs_memory_net_init(sn);
}

void smc_hs_net_exit(struct smc_net *sn)
{
	smc_hs_memory_net_exit(sn);
}

int smc_hs_init(void)
{
	int rc;

	smc_hs_wq = alloc_workqueue("smc_hs", WQ_UNBOUND, 0);
	if (!smc_hs_wq)
		return -ENOMEM;
	rc = smc_synopt_init();
	if (rc)
		destroy_workqueue(smc_hs_wq);
	return rc;
}

void smc_hs_exit(void)
{
	smc_synopt_exit();
	destroy_workqueue(smc_hs_wq);
}
