// SPDX-License-Identifier: GPL-2.0
/*
 * Listening: the inner socket listens, a work item takes its connections.
 *
 * Each connection becomes a child socket.  A child whose SYN had the option
 * goes through the handshake, the others are plain TCP at once; both end in
 * accept_q, where accept() finds them.  Handshakes run side by side and none
 * of them holds anything another one needs, so a silent peer costs only its
 * own place.  A finished child has a place in the inner listener's count until
 * accept() has it, so that the backlog is what TCP's is.
 *
 * With TCP_DEFER_ACCEPT a child is shown only when its first data is there, or
 * when the time is over: the first segment, for which TCP has waited, was the
 * handshake's.  No more than the backlog wait so; the next one is shown at once,
 * as TCP's is when it answers with SYN cookies.
 *
 * Who removes a child from a list of its listener owns it: hs_done() moves it
 * on, accept() hands it out, and whoever stops the listener disposes of it.
 * listen_mutex makes the end of listening final for the work item.
 *
 * Context: process, lock_sock() for listen and its end; accept() takes no
 * socket lock.  Tests: selftests/smc.
 */
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/wait_bit.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>

#include "sock.h"

/* After a shortage of memory or files: look again. */
#define RETRY_DELAY	(HZ / 10)

static bool queue_full(const struct smc_sock *smc)
{
	return READ_ONCE(smc->accept_len) > (unsigned int)READ_ONCE(smc->backlog);
}

static void queue_accept(struct smc_sock *smc, unsigned long delay)
{
	sock_hold(&smc->sk);	/* the work's */
	if (!queue_delayed_work(smc_sock_wq, &smc->accept_work, delay))
		sock_put(&smc->sk);
}

/*
 * TCP counts what is in its queue, under a lock of the queue; what is in ours
 * is added.  accept_lock held.
 */
static void hold_places(struct smc_sock *smc, unsigned int num)
{
	struct sock *tcp = smc->inner.sk;
	spinlock_t *lock = &inet_csk(tcp)->icsk_accept_queue.rskq_lock;

	lockdep_assert_held(&smc->accept_lock);
	spin_lock(lock);
	WRITE_ONCE(tcp->sk_ack_backlog, tcp->sk_ack_backlog - smc->held + num);
	spin_unlock(lock);
	smc->held = num;
}

/**
 * smc_listen_wake() - the inner listener may have a connection
 * @smc: listener
 *
 * Context: any, the caller has a reference.
 */
void smc_listen_wake(struct smc_sock *smc)
{
	queue_accept(smc, 0);
}

static void set_mode(struct smc_sock *smc, const struct smc_mode *mode)
{
	mutex_lock(&smc->listen_mutex);
	smp_store_release(&smc->mode, mode);
	mutex_unlock(&smc->listen_mutex);
}

static void set_state(struct smc_sock *smc, enum smc_state state)
{
	spin_lock_bh(&smc->state_lock);
	WRITE_ONCE(smc->sk.sk_state, state);
	WRITE_ONCE(smc->sk.sk_shutdown, 0);
	spin_unlock_bh(&smc->state_lock);
}

/* lock_sock held */
static int listen_locked(struct smc_sock *smc, int backlog)
{
	bool connecting = smc_sock_connecting(smc);
	const struct smc_mode *mode = smp_load_acquire(&smc->mode);
	struct socket *tcp = smc->inner.sock;
	struct sock *sk = &smc->sk;
	unsigned int limit;
	int rc;

	if (mode->id == SMC_MODE_SMC || connecting)
		return -EINVAL;
	/* TCP would refuse, but only after our mode had changed for others */
	if (mode->id == SMC_MODE_TCP &&
	    (tcp->state != SS_UNCONNECTED ||
	     inet_sk_state_load(tcp->sk) != TCP_CLOSE))
		return -EINVAL;
	smc_sock_stop_hs(smc, true);
	/* an outcome that connect() has still to fetch */
	if (test_bit(SMC_SK_FAILED, &smc->bits))
		return -EINVAL;
	limit = READ_ONCE(sock_net(sk)->core.sysctl_somaxconn);
	/* a worker compares with it meanwhile */
	WRITE_ONCE(smc->backlog, min_t(unsigned int, backlog, limit));
	if (mode->id == SMC_MODE_LISTEN) {
		rc = tcp->ops->listen(tcp, backlog);
		smc_listen_wake(smc);
		return rc;
	}
	smc_inner_offer(&smc->inner, smc_sock_barred(smc) == SMC_REASON_OK);
	clear_bit(SMC_SK_FAILED, &smc->bits);
	/* The mode comes first: a connection may be there at once. */
	set_mode(smc, &smc_mode_listen);
	rc = tcp->ops->listen(tcp, backlog);
	if (rc) {
		set_mode(smc, mode);
		smc_inner_offer(&smc->inner, false);
		return rc;
	}
	set_state(smc, SMC_LISTEN);
	smc_listen_wake(smc);
	return 0;
}

int smc_sock_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	int rc;

	lock_sock(sk);
	if (sock->file)
		smc_inner_lend(&smc_sk(sk)->inner, sock->file);
	rc = listen_locked(smc_sk(sk), backlog);
	release_sock(sk);
	return rc;
}

/*
 * Handshakes end in any order, connections are accepted in the order in which
 * they came; but nobody waits for one that is not ready.  accept_lock held.
 */
static void queue_child(struct smc_sock *smc, struct smc_sock *child)
{
	struct smc_sock *before;

	list_for_each_entry_reverse(before, &smc->accept_q, accept_node)
		if ((s32)(child->taken - before->taken) > 0)
			break;
	list_add(&child->accept_node, &before->accept_node);
	WRITE_ONCE(smc->accept_len, smc->accept_len + 1);
	/* unless smc_listen_drop() is about to come for it */
	if (smc_sock_mode(smc) == SMC_MODE_LISTEN)
		hold_places(smc, smc->held + !child->has_place);
}

/* A child leaves @children.  accept_lock held. */
static void leave_children(struct smc_sock *smc, struct smc_sock *child)
{
	list_del_init(&child->accept_node);
	smc->hs_pending--;
	smc->deferred -= child->is_deferred;
	child->is_deferred = false;
}

/* A child has come to the end of its handshake, or needs none. */
static void child_ready(struct smc_sock *child, bool usable)
{
	struct smc_sock *smc = child->listener;
	struct sock *sk = &smc->sk;
	bool owned;

	/* The child's own reference may go with accept(). */
	sock_hold(sk);
	spin_lock_bh(&smc->accept_lock);
	owned = !list_empty(&child->accept_node);
	if (owned)
		leave_children(smc, child);
	if (owned && usable)
		queue_child(smc, child);
	spin_unlock_bh(&smc->accept_lock);

	if (owned && usable)
		sk->sk_data_ready(sk);
	else if (owned)
		smc_sock_queue_work(child, SMC_SK_WORK_FREE);
	sock_put(sk);
}

static bool has_data(struct smc_sock *child)
{
	const struct sock *sk = &child->sk;
	const struct smc_conn *conn;
	bool readable;

	if (smc_sock_mode(child) == SMC_MODE_TCP)
		return !smc_sock_hides(child) &&
		       (smc_inner_queued(&child->inner) ||
			smc_inner_closed(&child->inner) ||
			READ_ONCE(sk->sk_err));
	rcu_read_lock();
	conn = rcu_dereference(child->conn);
	readable = conn && (smc_conn_readable(conn) ||
			    READ_ONCE(conn->shutdown) & RCV_SHUTDOWN);
	rcu_read_unlock();
	return readable || READ_ONCE(sk->sk_err);
}

/**
 * smc_listen_child_ready() - a deferred child has data, or waited long enough
 * @child: child with SMC_SK_DEFERRED, which the caller has cleared
 *
 * Context: worker of the child, which is also what frees it.
 */
void smc_listen_child_ready(struct smc_sock *child)
{
	if (child->listener)
		child_ready(child, true);
}

/**
 * smc_listen_tcp_ready() - a child in mode TCP may have its first data
 * @child: socket in mode TCP
 *
 * Context: any, the caller has a reference.  Who queues data looks for sleepers
 * after it with a full barrier, which pairs with the one in defer().
 */
void smc_listen_tcp_ready(struct smc_sock *child)
{
	if (unlikely(test_bit(SMC_SK_DEFERRED, &child->bits)) &&
	    has_data(child))
		smc_listen_deferred_ready(child);
}

/**
 * smc_listen_timer() - TCP_DEFER_ACCEPT has waited long enough
 * @t: a child's timer
 *
 * Context: softirq.
 */
void smc_listen_timer(struct timer_list *t)
{
	struct smc_sock *child = from_timer(child, t, timer);

	smc_listen_deferred_ready(child);
	sock_put(&child->sk);
}

/* One of the places for children that wait for data. */
static bool may_wait(struct smc_sock *child)
{
	struct smc_sock *smc = child->listener;

	spin_lock_bh(&smc->accept_lock);
	/* unless it has been taken from us */
	if (!list_empty(&child->accept_node) &&
	    smc->deferred <= (unsigned int)READ_ONCE(smc->backlog)) {
		child->is_deferred = true;
		smc->deferred++;
	}
	spin_unlock_bh(&smc->accept_lock);
	return child->is_deferred;
}

/* TCP_DEFER_ACCEPT: true if @child waits for its first data. */
static bool defer(struct smc_sock *child)
{
	int limit_s = READ_ONCE(child->listener->defer_accept_s);

	if (!limit_s || has_data(child))
		return false;
	/* Below a low-water mark TCP would tell nobody of the first data. */
	if (smc_sock_mode(child) == SMC_MODE_TCP &&
	    READ_ONCE(child->inner.sk->sk_rcvlowat) > 1)
		return false;
	if (!may_wait(child))
		return false;
	set_bit(SMC_SK_DEFERRED, &child->bits);
	smp_mb__after_atomic();
	/* Data that came before the mark has told nobody. */
	if (has_data(child) && test_and_clear_bit(SMC_SK_DEFERRED,
						  &child->bits))
		return false;
	smc_sock_start_timer(child, &child->timer, jiffies + limit_s * HZ);
	return true;
}

/**
 * smc_listen_child_done() - a child's handshake has ended
 * @child: child, the caller has a reference
 * @usable: it can be accepted; false: it is disposed of
 *
 * Context: process, no lock held.
 */
void smc_listen_child_done(struct smc_sock *child, bool usable)
{
	if (!usable || !defer(child))
		child_ready(child, usable);
}

/*
 * Begin what a new child needs; it is in @children and belongs to it.  True: it
 * is in the accept queue and has kept its place.
 */
static bool start_child(struct smc_sock *smc, struct smc_sock *child)
{
	enum smc_reason barred = smc_sock_barred(smc);
	struct smc_hs *hs;

	if (smc_synopt_peer_has(child->inner.sk)) {
		/* An offer made before SMC was barred is declined. */
		hs = smc_sock_new_hs(child, SMC_SERV, barred, NULL, 0);
		if (hs) {
			lock_sock(child->inner.sk);
			smc_sock_start_hs(child, hs);
			release_sock(child->inner.sk);
			return false;
		}
		/* The client waits for an answer it will not get. */
		smc_inner_disconnect(&child->inner);
		child_ready(child, false);
		return false;
	}
	/* TCP itself has waited for its data, if that was asked for */
	smc_stats_inc(smc_sock_net(child), SMC_STAT_HS_SRV_TCP);
	smc_sock_fallback_now(child, barred != SMC_REASON_OK ? barred :
			      SMC_REASON_PEERNOSMC);
	child->has_place = true;
	child_ready(child, true);
	return true;
}

static void add_places(struct smc_sock *smc, int num)
{
	spin_lock_bh(&smc->accept_lock);
	hold_places(smc, smc->held + num);
	spin_unlock_bh(&smc->accept_lock);
}

/* Take one connection.  0, -EAGAIN, or another error. */
static int accept_one(struct smc_sock *smc,
		      struct sock *(*clone)(struct sock *listener))
{
	struct smc_sock *child;
	struct sock *sk;
	int rc;

	sk = clone(&smc->sk);
	if (!sk)
		return -ENOMEM;
	child = smc_sk(sk);
	/* on the way from TCP's queue to ours its place must not look free */
	add_places(smc, 1);
	rc = smc_inner_accept(&child->inner, &smc->inner, smc->sk.sk_uid,
			      smc->inner.wake);
	if (rc) {
		add_places(smc, -1);
		sock_put(sk);
		return rc;
	}
	smc_sock_take_cookie(child);
	sock_hold(&smc->sk);	/* the child's, until it leaves our lists */
	child->listener = smc;
	child->taken = smc->taken++;
	smc_sock_list(child);
	sock_hold(sk);		/* ours, while we look at it */
	spin_lock_bh(&smc->accept_lock);
	list_add_tail(&child->accept_node, &smc->children);
	smc->hs_pending++;
	spin_unlock_bh(&smc->accept_lock);
	if (!start_child(smc, child))
		add_places(smc, -1);
	sock_put(sk);
	return 0;
}

/* Somebody may have ended the inner listener (ss -K sees it, too). */
static void look_at_inner(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;

	if (smc_sock_mode(smc) != SMC_MODE_LISTEN ||
	    inet_sk_state_load(smc->inner.sk) == TCP_LISTEN)
		return;
	/* listen() sets the mode first, under this lock */
	lock_sock(sk);
	if (smc_sock_mode(smc) == SMC_MODE_LISTEN &&
	    inet_sk_state_load(smc->inner.sk) != TCP_LISTEN)
		smc_listen_gone(smc, smc_inner_take_error(&smc->inner) ?:
				ECONNABORTED);
	release_sock(sk);
}

/**
 * smc_listen_work() - take what the inner listener has
 * @smc: listener; the reference of its accept_work is dropped
 * @clone: makes the socket for a connection, see family.c
 *
 * Context: worker.  Bounded: each round takes one established connection.
 */
void smc_listen_work(struct smc_sock *smc,
		     struct sock *(*clone)(struct sock *listener))
{
	struct mem_cgroup *old = NULL;
	int rc = 0;

#ifdef CONFIG_MEMCG
	/* What a child needs is charged to the program, not to the worker. */
	old = set_active_memcg(smc->sk.sk_memcg);
#endif
	mutex_lock(&smc->listen_mutex);
	while (smc_sock_mode(smc) == SMC_MODE_LISTEN && !queue_full(smc) &&
	       smc_inner_acceptable(&smc->inner)) {
		rc = accept_one(smc, clone);
		if (rc == -ENOMEM || rc == -ENFILE || rc == -ENOBUFS)
			break;
		if (rc == -EAGAIN)
			break;
		cond_resched();
	}
	mutex_unlock(&smc->listen_mutex);
#ifdef CONFIG_MEMCG
	set_active_memcg(old);
#endif
	look_at_inner(smc);
	if (rc && rc != -EAGAIN)
		queue_accept(smc, RETRY_DELAY);
	sock_put(&smc->sk);
}

/* The next finished child, with the list's reference. */
static struct smc_sock *dequeue(struct smc_sock *smc, int *is_empty)
{
	struct smc_sock *child;

	spin_lock_bh(&smc->accept_lock);
	child = list_first_entry_or_null(&smc->accept_q, struct smc_sock,
					 accept_node);
	if (child) {
		list_del_init(&child->accept_node);
		WRITE_ONCE(smc->accept_len, smc->accept_len - 1);
		if (smc->held)
			hold_places(smc, smc->held - 1);
	}
	*is_empty = list_empty(&smc->accept_q);
	spin_unlock_bh(&smc->accept_lock);
	return child;
}

/* Wait for a child, one program at a time.  ERR_PTR as TCP has it. */
static struct smc_sock *wait_child(struct smc_sock *smc,
				   struct proto_accept_arg *arg)
{
	struct sock *sk = &smc->sk;
	struct smc_sock *child;
	DEFINE_WAIT(wait);
	long timeo;

	timeo = sock_rcvtimeo(sk, arg->flags & O_NONBLOCK);
	for (;;) {
		prepare_to_wait_exclusive(sk_sleep(sk), &wait,
					  TASK_INTERRUPTIBLE);
		child = ERR_PTR(-EINVAL);
		if (smc_sock_mode(smc) != SMC_MODE_LISTEN)
			break;
		child = dequeue(smc, &arg->is_empty);
		if (child)
			break;
		child = ERR_PTR(-EAGAIN);
		if (!timeo)
			break;
		child = ERR_PTR(sock_intr_errno(timeo));
		if (signal_pending(current))
			break;
		timeo = schedule_timeout(timeo);
	}
	finish_wait(sk_sleep(sk), &wait);
	return child;
}

int smc_sock_accept(struct socket *sock, struct socket *newsock,
		    struct proto_accept_arg *arg)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	struct smc_sock *child, *listener;

	child = wait_child(smc, arg);
	if (IS_ERR(child))
		return PTR_ERR(child);
	/* There is room now: what came while there was none has told nobody. */
	smp_mb();
	if (smc_inner_acceptable(&smc->inner))
		smc_listen_wake(smc);

	listener = child->listener;
	child->listener = NULL;
	sock_put(&listener->sk);

	set_bit(SOCK_CUSTOM_SOCKOPT, &newsock->flags);
	set_bit(SOCK_SUPPORT_ZC, &newsock->flags);
	newsock->state = SS_CONNECTED;
	sock_reset_flag(&child->sk, SOCK_DEAD);
	/* The reference of the list is the file's now. */
	sock_graft(&child->sk, newsock);
	/* SIGURG may be due before the program's first call */
	if (newsock->file)
		smc_inner_lend(&child->inner, newsock->file);
	return 0;
}

/* The next child of either list. */
static struct smc_sock *pop_child(struct smc_sock *smc)
{
	struct smc_sock *child;

	spin_lock_bh(&smc->accept_lock);
	child = list_first_entry_or_null(&smc->children, struct smc_sock,
					 accept_node);
	if (child) {
		leave_children(smc, child);
	} else {
		child = list_first_entry_or_null(&smc->accept_q,
						 struct smc_sock, accept_node);
		if (child) {
			WRITE_ONCE(smc->accept_len, smc->accept_len - 1);
			list_del_init(&child->accept_node);
		}
	}
	spin_unlock_bh(&smc->accept_lock);
	return child;
}

/**
 * smc_listen_drop() - stop listening
 * @smc: listener; afterwards an unconnected socket
 *
 * Children nobody has accepted are reset, as TCP does.
 *
 * Context: process; lock_sock() held, or the last call on the socket.
 */
void smc_listen_drop(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;
	struct smc_sock *child;

	set_mode(smc, &smc_mode_init);
	/* TCP wants to find its own only */
	spin_lock_bh(&smc->accept_lock);
	hold_places(smc, 0);
	spin_unlock_bh(&smc->accept_lock);
	smc_inner_disconnect(&smc->inner);
	smc_inner_offer(&smc->inner, false);
	set_state(smc, SMC_INIT);
	while ((child = pop_child(smc)))
		smc_sock_dispose(child);
	sk->sk_state_change(sk);
}

/**
 * smc_listen_gone() - the listener has been ended from outside
 * @smc: listener; afterwards as TCP's is
 * @err: positive errno for the program
 *
 * Context: process, lock_sock() held.
 */
void smc_listen_gone(struct smc_sock *smc, int err)
{
	struct sock *sk = &smc->sk;

	smc_listen_drop(smc);
	WRITE_ONCE(sk->sk_err, err);
	smp_wmb();	/* who sees the bits sees the error */
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	sk->sk_state_change(sk);
	sk_error_report(sk);
}
