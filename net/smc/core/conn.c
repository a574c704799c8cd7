// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a connection: allocation, joining a group, the peer's ring, end.
 *
 * After the last reference a work item ends the connection.  It does not wait:
 * an event or a time limit queues it again (enum smc_conn_end):
 *
 *   FLAGS   the last flags wait for a free send slot, until a push has sent
 *           them, or the connection is dead, or LAST_FLAGS_MS have passed
 *   DETACH  no longer in the group's table; until smc_conn_detached().  The
 *           transport is called every SMC_DETACH_LOOK_MS and may end the group
 *   FREE    rings, place in the group and socket are given back
 *
 * Context: per function; locks: tx_lock, rx_lock (conn.h).
 * Tests: the guest tests in selftests/vm/tests.
 */
#include <linux/slab.h>
#include <linux/errno.h>
#include <linux/rcupdate.h>

#include "conn.h"
#include "net.h"
#include "stats.h"

/*
 * How long the last flags may wait for a free send slot.  Without them a peer
 * keeps its end until its own time for orphans is over, or for ever.  A busy link
 * has none for seconds; one that has none for so long is stuck, and given up.
 */
#define LAST_FLAGS_MS		60000
/* How often they are tried: a link that ends does not tell the connection. */
#define FLAGS_LOOK_MS		1000

static void release_fn(struct work_struct *work);

/**
 * smc_conn_alloc() - make a connection; no group yet
 * @sn: the socket's namespace
 * @events: the socket's callbacks
 * @sk: the socket; its reference passes to the connection
 * @gfp: how memory may be had
 *
 * Context: any, by @gfp.
 * Return: connection with one reference, or NULL: @sk is still the caller's.
 */
struct smc_conn *smc_conn_alloc(struct smc_net *sn,
				const struct smc_conn_events *events,
				struct sock *sk, gfp_t gfp)
{
	struct smc_conn *conn = kzalloc(sizeof(*conn), gfp);

	if (!conn)
		return NULL;
	conn->sn = sn;
	conn->events = events;
	conn->sk = sk;
	refcount_set(&conn->refs, 1);
	INIT_DELAYED_WORK(&conn->release, release_fn);
	spin_lock_init(&conn->tx_lock);
	spin_lock_init(&conn->rx_lock);
	mutex_init(&conn->tx_mutex);
	mutex_init(&conn->rx_mutex);
	conn->urg_tx_pos = SMC_NO_POS;
	conn->urg_rx_pos = SMC_NO_POS;
	conn->urg_drop_pos = SMC_NO_POS;
	conn->urg_read_pos = SMC_NO_POS;
	return conn;
}

/**
 * smc_conn_last_put() - the last reference is gone: see smc_conn_put()
 * @conn: connection
 *
 * A work item takes the connection out of its group and drops its socket.
 *
 * Context: any.
 */
void smc_conn_last_put(struct smc_conn *conn)
{
	conn->flags_limit = jiffies + msecs_to_jiffies(LAST_FLAGS_MS);
	queue_delayed_work(conn->sn->end_wq, &conn->release, 0);
}

/**
 * smc_conn_push_rcu() - smc_conn_push() for a connection found under RCU
 * @conn: connection
 *
 * A connection without references is pushed by its release work instead: a push
 * calls the socket, which may be gone.
 *
 * Context: any, RCU read section, no lock of a connection held.
 */
void smc_conn_push_rcu(struct smc_conn *conn)
{
	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "a connection may be freed");
	if (!smc_conn_tryget(conn))
		return;
	smc_conn_push(conn);
	smc_conn_put(conn);
}

/**
 * smc_conn_start_timer() - start a timer that holds a reference while armed
 * @conn: connection, the caller has a reference
 * @timer: one of its timers
 * @start: mod_timer(), or timer_reduce() to keep an earlier time
 * @expires: in jiffies
 *
 * Not after smc_conn_stop(): the connection can go then.
 *
 * Context: any.
 */
void smc_conn_start_timer(struct smc_conn *conn, struct timer_list *timer,
			  int (*start)(struct timer_list *timer,
				       unsigned long expires),
			  unsigned long expires)
{
	smc_conn_get(conn);
	if (start(timer, expires))
		smc_conn_put(conn);
	/* pairs with smc_conn_stop(): STOPPED is set, then the timer stops */
	smp_mb();
	if (unlikely(test_bit(SMC_CONN_STOPPED, &conn->flags)))
		smc_conn_stop_timer(conn, timer);
}

/**
 * smc_conn_stop_timer() - stop a timer that may be armed
 * @conn: connection, the caller has a reference
 * @timer: one of its timers; its function may be running
 *
 * Context: any.
 */
void smc_conn_stop_timer(struct smc_conn *conn, struct timer_list *timer)
{
	if (timer_delete(timer))
		smc_conn_put(conn);
}

/**
 * smc_conn_join() - give a connection its group, its rings and its token
 * @conn: not joined
 * @lgr: group; the caller's reference and place pass to @conn on success
 * @snd_len: wanted size of the send ring in bytes; ignored if the transport
 *	merges rings
 * @rcv_len: wanted size of the receive buffer in bytes
 *
 * smc_conn_describe() publishes the token.
 *
 * Context: process.
 * Return: 0; -ENOMEM, -EDQUOT or the transport's error, then @lgr is still the
 * caller's.
 */
int smc_conn_join(struct smc_conn *conn, struct smc_lgr *lgr, u32 snd_len,
		  u32 rcv_len)
{
	const struct smc_xport *xport = lgr->xport;
	struct smc_buf *buf;
	int rc;

	conn->lgr = lgr;
	conn->xport = xport;
	conn->tech = smc_tech(conn->sn, xport->id);
	conn->xp = kzalloc(xport->conn_size, SMC_BUF_GFP);
	if (!conn->xp) {
		rc = -ENOMEM;
		goto err_xp;
	}
	if (!xport->merges) {
		buf = smc_buf_get(conn, SMC_BUF_SND, snd_len);
		if (IS_ERR(buf)) {
			rc = PTR_ERR(buf);
			goto err_xp;
		}
		conn->sndbuf = buf;
		conn->snd_base = buf->cpu;
		conn->snd_size = buf->size;
	}
	buf = smc_buf_get(conn, SMC_BUF_RCV, rcv_len);
	if (IS_ERR(buf)) {
		rc = PTR_ERR(buf);
		goto err_sndbuf;
	}
	conn->rmb = buf;
	conn->rcv_base = buf->cpu;
	conn->rcv_size = buf->size;
	/* reserves the token; smc_conn_describe() publishes it */
	rc = xa_alloc_cyclic_bh(&lgr->conns, &conn->token, NULL,
				XA_LIMIT(1, SMC_TOKEN_MAX), &lgr->next_token,
				GFP_KERNEL);
	if (rc < 0)
		goto err_rmb;
	smc_stats_inc(lgr->sn, SMC_STAT_CONN_CREATED);
	set_bit(SMC_CONN_JOINED, &conn->flags);
	return 0;

err_rmb:
	smc_buf_put(lgr, conn->rmb);
	conn->rmb = NULL;
err_sndbuf:
	if (conn->sndbuf)
		smc_buf_put(lgr, conn->sndbuf);
	conn->sndbuf = NULL;
err_xp:
	kfree(conn->xp);
	conn->xp = NULL;
	conn->lgr = NULL;
	return rc;
}

/**
 * smc_conn_describe() - fill in what the peer must know to write to us
 * @conn: joined
 * @acc: the SMC-R or SMC-D part is filled in
 *
 * Publishes the token first: the peer's first CDC message may arrive before
 * anything that follows on TCP.
 *
 * Context: process.
 * Return: 0; -EINPROGRESS: call again after the callback of smc_conn_await();
 * or the transport's error.
 */
int smc_conn_describe(struct smc_conn *conn, struct smc_clc_accept *acc)
{
	int rc;

	if (!test_and_set_bit(SMC_CONN_TOKEN, &conn->flags))
		xa_store_bh(&conn->lgr->conns, conn->token, conn, GFP_KERNEL);
	conn->rmb->peer_may_write = true;
	if (test_and_set_bit(SMC_CONN_DESCRIBING, &conn->flags))
		return -EINPROGRESS;
	smc_conn_get(conn);	/* smc_conn_described() drops it */
	rc = conn->xport->describe(conn, acc);
	if (rc == -EINPROGRESS)
		return rc;
	clear_bit(SMC_CONN_DESCRIBING, &conn->flags);
	smc_conn_put(conn);
	return rc;
}

/**
 * smc_lgr_conn_find() - find a connection by its token
 * @lgr: group the message came through
 * @token: from the message
 *
 * Context: RCU read section; the connection is valid inside it.
 * Return: the connection or NULL.
 */
struct smc_conn *smc_lgr_conn_find(struct smc_lgr *lgr, u32 token)
{
	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "a connection may be freed");
	return xa_load(&lgr->conns, token);
}

/**
 * smc_conn_await() - have a function called when describe() has ended
 * @conn: connection
 * @described: called with rx_lock held, BH disabled; NULL: none
 * @arg: for @described
 *
 * Context: process, not from @described.
 */
void smc_conn_await(struct smc_conn *conn, void (*described)(void *arg),
		    void *arg)
{
	spin_lock_bh(&conn->rx_lock);
	conn->described = described;
	conn->described_arg = arg;
	spin_unlock_bh(&conn->rx_lock);
}

/**
 * smc_conn_described() - a describe() that was in progress has ended
 * @conn: may be freed by this
 *
 * Called after success and after failure: the core calls describe() again for
 * the result.  It keeps the connection, its group and its rings until this
 * call.
 *
 * Context: any, no lock of the transport held.
 */
void smc_conn_described(struct smc_conn *conn)
{
	clear_bit(SMC_CONN_DESCRIBING, &conn->flags);
	spin_lock_bh(&conn->rx_lock);
	if (conn->described)
		conn->described(conn->described_arg);
	spin_unlock_bh(&conn->rx_lock);
	smc_conn_put(conn);
}

/**
 * smc_conn_attach() - learn the peer's ring; data may flow from now on
 * @conn: joined
 * @peer: the peer's Accept or Confirm
 *
 * Context: process.
 * Return: 0, or -EPROTO if the peer's description is refused.
 */
int smc_conn_attach(struct smc_conn *conn, const struct smc_clc_accept *peer)
{
	int rc;

	rc = conn->xport->conn_attach(conn, peer);
	if (rc)
		return rc;
	/* the peer's ring before the bit: pairs with test_bit_acquire() */
	smp_mb__before_atomic();
	set_bit(SMC_CONN_ATTACHED, &conn->flags);
	return 0;
}

/**
 * smc_conn_writer_gone() - the program will not write any more
 * @conn: connection, attached, the caller has a reference
 *
 * Context: process, no other thread sends.
 */
void smc_conn_writer_gone(struct smc_conn *conn)
{
	if (conn->xport->writer_gone)
		conn->xport->writer_gone(conn);
}

/* Note how much of a ring has to be zeroed before it is used again. */
static void mark_used(struct smc_buf *buf, u64 pos)
{
	u64 used = min_t(u64, pos, buf->size);

	buf->used = max_t(u32, used, buf->used);
}

/* The peer may use the connection, and has not been told that it ends. */
static bool left_silently(const struct smc_conn *conn)
{
	return test_bit(SMC_CONN_ATTACHED, &conn->flags) &&
	       !test_bit(SMC_CONN_DEAD, &conn->flags) &&
	       !smc_conn_done_writing(conn) &&
	       smc_lgr_death(conn->lgr) == SMC_REASON_OK;
}

/**
 * smc_conn_stop() - no message reaches the connection any more
 * @conn: any state
 *
 * An up-call under way completes first.  If the peer may use the connection and
 * does not know that it ends, an abort is sent; flags that are marked already
 * are still sent.  Idempotent.
 *
 * Context: any; no lock of the connection held.
 */
void smc_conn_stop(struct smc_conn *conn)
{
	if (test_and_set_bit(SMC_CONN_STOPPED, &conn->flags))
		return;
	/* "closed" may wait for a slot: it must not become "abort" */
	if (test_bit(SMC_CONN_JOINED, &conn->flags) && left_silently(conn) &&
	    (!test_bit(SMC_CONN_WANT_CLOSED, &conn->flags) ||
	     smc_conn_unsent(conn)))
		smc_conn_set_flags(conn, SMC_CDC_ABORT);
	spin_lock_bh(&conn->rx_lock);
	conn->detached = true;
	spin_unlock_bh(&conn->rx_lock);
	smc_conn_stop_timer(conn, &conn->timer);
	smc_conn_stop_timer(conn, &conn->keepalive.timer);
}

/**
 * smc_conn_detached() - the transport has forgotten the connection
 * @conn: connection whose conn_detach() returned false
 *
 * The last up-call for @conn: the transport must not touch it or its private
 * area afterwards.
 *
 * Context: any, no lock of the transport held.
 */
void smc_conn_detached(struct smc_conn *conn)
{
	/* the worker may kfree_rcu() it when it sees SMC_END_FREE */
	rcu_read_lock();
	spin_lock_bh(&conn->tx_lock);
	conn->end = SMC_END_FREE;
	mod_delayed_work(conn->sn->end_wq, &conn->release, 0);
	spin_unlock_bh(&conn->tx_lock);
	rcu_read_unlock();
}

static void set_end(struct smc_conn *conn, enum smc_conn_end end)
{
	spin_lock_bh(&conn->tx_lock);
	conn->end = end;
	spin_unlock_bh(&conn->tx_lock);
}

static enum smc_conn_end get_end(struct smc_conn *conn)
{
	enum smc_conn_end end;

	spin_lock_bh(&conn->tx_lock);
	end = conn->end;
	spin_unlock_bh(&conn->tx_lock);
	return end;
}

/* Unpublish the connection: no push and no up-call runs after this. */
static void retract(struct smc_conn *conn)
{
	set_end(conn, SMC_END_DETACH);
	/* a push may have queued the work; conn_detach() counts its calls */
	cancel_delayed_work(&conn->release);
	if (left_silently(conn))
		smc_conn_set_flags(conn, SMC_CDC_ABORT);
	/* push_one() looks under this lock */
	spin_lock_bh(&conn->tx_lock);
	set_bit(SMC_CONN_DEAD, &conn->flags);
	spin_unlock_bh(&conn->tx_lock);
	xa_erase_bh(&conn->lgr->conns, conn->token);

	/* an up-call that found the connection by its token ends here */
	spin_lock_bh(&conn->rx_lock);
	conn->detached = true;
	spin_unlock_bh(&conn->rx_lock);
}

/* Give back the rings and the place in the group, after conn_detach(). */
static void leave(struct smc_conn *conn)
{
	struct smc_lgr *lgr = conn->lgr;
	void *xp;

	/* a ring of shared memory: conn_detach() has seen whether it is mapped */
	if (!conn->xport->merges && smc_conn_peer_done_writing(conn))
		conn->rmb->peer_may_write = false;
	mark_used(conn->rmb, conn->rcvd_pos);
	smc_buf_put(lgr, conn->rmb);
	conn->rmb = NULL;
	conn->rcv_base = NULL;
	if (conn->sndbuf) {
		mark_used(conn->sndbuf, smc_conn_dirty(conn));
		smc_buf_put(lgr, conn->sndbuf);
		conn->sndbuf = NULL;
	}
	conn->snd_base = NULL;
	xp = conn->xp;
	WRITE_ONCE(conn->xp, NULL);
	kvfree_rcu_mightsleep(xp);
	smc_stats_inc(lgr->sn, SMC_STAT_CONN_DESTROYED);
	clear_bit(SMC_CONN_JOINED, &conn->flags);
	conn->lgr = NULL;
	smc_lgr_leave(lgr);
}

/* True: the last flags have been sent, or their time is over. */
static bool flags_step(struct smc_conn *conn)
{
	long left = conn->flags_limit - jiffies;

	/* from now on the push that sends them queues the work */
	set_end(conn, SMC_END_FLAGS);
	smc_conn_push(conn);
	/* without room at the peer a push does not find out that the group is dead */
	if (smc_conn_last_sent(conn) || left <= 0 ||
	    smc_lgr_death(conn->lgr) != SMC_REASON_OK)
		return true;
	queue_delayed_work(conn->sn->end_wq, &conn->release,
			   min_t(unsigned long, left,
				 msecs_to_jiffies(FLAGS_LOOK_MS)));
	return false;
}

/* True: the connection has left its group. */
static bool leave_step(struct smc_conn *conn)
{
	if (!test_bit(SMC_CONN_JOINED, &conn->flags))
		return true;
	if (get_end(conn) <= SMC_END_FLAGS) {
		if (!flags_step(conn))
			return false;
		retract(conn);
	}
	/* pairs with smc_conn_detached() */
	if (get_end(conn) != SMC_END_FREE && !conn->xport->conn_detach(conn)) {
		queue_delayed_work(conn->sn->end_wq, &conn->release,
				   msecs_to_jiffies(SMC_DETACH_LOOK_MS));
		return false;
	}
	leave(conn);
	return true;
}

/* Runs after the last reference: there is no reader and no writer. */
static void release_fn(struct work_struct *work)
{
	struct smc_conn *conn = container_of(to_delayed_work(work),
					     struct smc_conn, release);

	if (!leave_step(conn))
		return;
	/* the work may have been queued again; nothing queues it after this */
	cancel_delayed_work(&conn->release);
	smc_account_put(conn->account);
	conn->events->release(conn);
	kfree_rcu(conn, rcu);
}
