// SPDX-License-Identifier: GPL-2.0
/*
 * What flows on a connection: the push engine and what arrives from the peer.
 *
 * The sender's program advances prod_pos; smc_conn_push() has the transport move
 * what fits into the peer's window and publish it, under tx_lock, so that CDC
 * messages leave in the order of their sequence numbers.  The receive side turns
 * each cursor of a message into a position by smc_cursor_get(), which refuses
 * forged ones, stores it with release semantics and calls the socket.  Bytes
 * without a message (smc_conn_rx_bare()) have a length, which is checked against
 * the room.  An end on this host passes its positions as they are.
 *
 * A state flag (done, closed) is sent only with or after the last byte, so that
 * the peer reads all data before end of file.  An abort is sent at once.  What
 * is the last byte is settled when the flag is asked for: a bit of prod_pos keeps
 * a writer that still copies from adding more, and the push that sends the flag
 * has seen the bit.
 *
 * Context: per function; locks: tx_lock, rx_lock (conn.h).
 * Tests: selftests/unit/unit_ring.c for the arithmetic, the guest tests in
 * selftests/vm/tests for the rest.
 */
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <net/sock.h>

#include "conn.h"
#include "net.h"
#include "reason.h"
#include "stats.h"
#include "trace.h"

/* Room in the peer's ring by its last message */
static u32 peer_window(const struct smc_conn *conn)
{
	u64 used = READ_ONCE(conn->sent_pos) -
		   smp_load_acquire(&conn->peer_read_pos);

	/*
	 * A hostile peer can acknowledge bytes of a push that failed: the
	 * difference is negative then.
	 */
	if ((s64)used < 0)
		used = 0;
	return used < conn->peer_size ? conn->peer_size - used : 0;
}

static void count_window(const struct smc_conn *conn)
{
	smc_stats_inc(conn->sn, SMC_STAT_TX_WINDOW);
	smc_tech_inc(conn->tech, SMC_TECH_TX_FULL_PEER);
}

/* State flags of a message that ends at @end; @prod_pos as it was read. */
static u8 flags_due(const struct smc_conn *conn, u64 end, u64 prod_pos)
{
	u8 due = conn->tx_conn_flags;

	if (test_bit(SMC_CONN_WANT_ABORT, &conn->flags))
		return due | SMC_CDC_ABORT;
	/* without the bit, bytes can follow it */
	if (prod_pos != (end | SMC_POS_LAST))
		return due;
	if (test_bit(SMC_CONN_WANT_DONE, &conn->flags))
		due |= SMC_CDC_DONE;
	if (test_bit(SMC_CONN_WANT_CLOSED, &conn->flags))
		due |= SMC_CDC_CLOSED;
	return due;
}

/*
 * An urgent byte ends a push: it is the one before the producer cursor of the
 * CDC that announces it.
 */
static u32 stop_at_urgent(struct smc_conn *conn, u32 len, u8 *prod_flags)
{
	u64 ahead;

	if (conn->urg_tx_pos == SMC_NO_POS)
		return len;
	*prod_flags |= SMC_CDC_URG_PENDING;
	ahead = conn->urg_tx_pos - conn->sent_pos;
	if (ahead > len || !len)
		return len;
	*prod_flags |= SMC_CDC_URG_PRESENT;
	return ahead;
}

/**
 * smc_conn_to_cdc() - an update as the wire has it
 * @conn: its connection
 * @up: of the push that goes on
 * @cdc: filled in
 *
 * Context: tx_lock is held.
 */
void smc_conn_to_cdc(const struct smc_conn *conn, const struct smc_update *up,
		     struct smc_cdc *cdc)
{
	lockdep_assert_held(&conn->tx_lock);
	cdc->seq = conn->tx_seq + 1;
	cdc->token = conn->peer_token;
	smc_cursor_put(conn->peer_size, up->prod_pos, &cdc->prod);
	smc_cursor_put(conn->rcv_size, up->cons_pos, &cdc->cons);
	cdc->prod_flags = up->prod_flags;
	cdc->conn_flags = up->conn_flags;
}

/*
 * May this push be one WRITE WITH IMMEDIATE, without cursors?  A message costs as
 * much as the bytes of a short answer.  The cursors are needed where the peer waits
 * for room, or has less than two thirds of its view of our ring left, and where the
 * bytes wrap in a ring.
 */
static bool is_bare(const struct smc_conn *conn, const struct smc_push *p)
{
	u64 read = p->up.cons_pos - conn->announced_pos;
	u64 start = p->up.prod_pos - p->len;
	u8 peer = READ_ONCE(conn->rx_prod_flags);

	if (!conn->lgr->write_imm || !p->len ||
	    p->up.prod_flags & ~SMC_CDC_WRITE_BLOCKED)
		return false;
	if (read && (read >= conn->rcv_size / 3 ||
		     peer & (SMC_CDC_WRITE_BLOCKED | SMC_CDC_CONS_REQ)))
		return false;
	return smc_ring_whole(conn->snd_size, start, p->len) &&
	       smc_ring_whole(conn->peer_size, start, p->len);
}

static void push_account(struct smc_conn *conn, const struct smc_push *p)
{
	const struct smc_update *up = &p->up;
	struct smc_net *sn = conn->sn;

	conn->tx_seq++;
	WRITE_ONCE(conn->announced_pos, up->cons_pos);
	WRITE_ONCE(conn->tx_prod_flags, up->prod_flags);
	WRITE_ONCE(conn->tx_conn_flags, up->conn_flags);
	if (up->prod_flags & SMC_CDC_URG_PRESENT)
		conn->urg_tx_pos = SMC_NO_POS;
	smc_stats_inc(sn, SMC_STAT_TX_CDC);
	if (p->bare)
		smc_stats_inc(sn, SMC_STAT_TX_IMM);
	if (p->len) {
		WRITE_ONCE(conn->tx_stamp, jiffies);
		smc_stats_inc(sn, SMC_STAT_TX_PUSHES);
		smc_stats_add(sn, SMC_STAT_TX_BYTES, p->len);
	}
	if (up->conn_flags & SMC_CDC_ABORT)
		set_bit(SMC_CONN_DEAD, &conn->flags);
}

/*
 * Take a bit of conn->flags.  It is seldom set: without the look two CPUs would
 * write the cache line with each message.  A full barrier if true.
 */
static inline bool take_bit(struct smc_conn *conn, enum smc_conn_bits bit)
{
	return test_bit(bit, &conn->flags) &&
	       test_and_clear_bit(bit, &conn->flags);
}

/*
 * One push.  1: something was pushed up to an urgent byte, and there may be
 * more; 0: all that could be was pushed; -ENODATA: nothing to do; -EAGAIN: no
 * slot, -EINPROGRESS: enough is on its way, the transport calls again; another
 * error: the link is dead.  @follow: set if pushed() has to follow.
 */
static int push_one(struct smc_conn *conn, bool *follow)
{
	bool abort = test_bit(SMC_CONN_WANT_ABORT, &conn->flags);
	u64 sent = conn->sent_pos;
	u32 window, unsent, len;
	bool state_due, news;
	struct smc_push p;
	u64 prod_pos;
	int rc;

	lockdep_assert_held(&conn->tx_lock);
	if (!test_bit_acquire(SMC_CONN_ATTACHED, &conn->flags) ||
	    test_bit(SMC_CONN_DEAD, &conn->flags))
		return -ENODATA;
	/* then read_pos: pairs with smc_conn_read_done() and rx_locked() */
	state_due = take_bit(conn, SMC_CONN_NEED_CDC);
	prod_pos = smp_load_acquire(&conn->prod_pos);
	p.up.cons_pos = smp_load_acquire(&conn->read_pos);
	unsent = (prod_pos & ~SMC_POS_LAST) - sent;
	window = peer_window(conn);
	p.up.prod_flags = 0;
	/* the peer then announces room as soon as there is some */
	if (unsent >= window)
		p.up.prod_flags |= SMC_CDC_WRITE_BLOCKED;
	len = abort ? 0 : min(unsent, window);
	p.len = stop_at_urgent(conn, len, &p.up.prod_flags);
	p.up.prod_pos = sent + p.len;
	p.up.conn_flags = flags_due(conn, p.up.prod_pos, prod_pos);
	news = p.up.conn_flags != conn->tx_conn_flags;
	if (!p.len && !state_due && !news) {
		if (unsent)
			count_window(conn);
		return -ENODATA;
	}
	p.bare = !state_due && !news && is_bare(conn, &p);
	if (p.bare)
		p.up.cons_pos = conn->announced_pos;
	p.may_wait = !state_due && !p.up.prod_flags && !news &&
		     unsent < READ_ONCE(conn->sn->autocork);
	p.last = take_bit(conn, SMC_CONN_SIGNAL) || news;

	/* before the push: the peer may acknowledge it at once */
	WRITE_ONCE(conn->sent_pos, p.up.prod_pos);
	rc = conn->xport->push(conn, &p);
	trace_smc_push(conn->sn->net->net_cookie, conn->token,
		       conn->peer_token, p.len, p.up.prod_pos, p.up.cons_pos,
		       p.up.prod_flags, p.up.conn_flags, min(rc, 0));
	if (rc >= 0) {
		*follow |= rc;
		push_account(conn, &p);
		if (len == window && len < unsent)
			count_window(conn);
		return p.len < len;
	}
	WRITE_ONCE(conn->sent_pos, sent);
	if (state_due)
		set_bit(SMC_CONN_NEED_CDC, &conn->flags);
	if (p.last)
		set_bit(SMC_CONN_SIGNAL, &conn->flags);
	if (rc == -EAGAIN) {
		smc_stats_inc(conn->sn, SMC_STAT_TX_BUSY);
	} else if (rc == -EINPROGRESS) {
		set_bit(SMC_CONN_AUTOCORKED, &conn->flags);
		smc_stats_inc(conn->sn, SMC_STAT_TX_CORKED);
	} else {
		set_bit(SMC_CONN_DEAD, &conn->flags);
	}
	return rc;
}

/**
 * smc_conn_last_sent() - true if the last flags are sent, or cannot be
 * @conn: any state
 *
 * Context: any.
 */
bool smc_conn_last_sent(const struct smc_conn *conn)
{
	u8 flags = 0;

	if (test_bit(SMC_CONN_WANT_ABORT, &conn->flags))
		flags = SMC_CDC_ABORT;
	else if (test_bit(SMC_CONN_WANT_CLOSED, &conn->flags))
		flags = SMC_CDC_CLOSED;
	return (READ_ONCE(conn->tx_conn_flags) & flags) == flags ||
	       test_bit(SMC_CONN_DEAD, &conn->flags) ||
	       !test_bit(SMC_CONN_ATTACHED, &conn->flags);
}

/**
 * smc_conn_push() - push what may be pushed: data, then state
 * @conn: any state; nothing happens unless it is attached and alive
 *
 * Sends data within the peer's window.
 *
 * Context: any, takes tx_lock; not from smc_conn_events.
 */
void smc_conn_push(struct smc_conn *conn)
{
	bool any = false, follow = false, flushed = false;
	int rc;

	spin_lock_bh(&conn->tx_lock);
	/* prod_pos before peer_read_pos: pairs with window_due() */
	smp_mb__after_spinlock();
	if (test_bit(SMC_CONN_AUTOCORKED, &conn->flags)) {
		clear_bit(SMC_CONN_AUTOCORKED, &conn->flags);
		/* the bit before prod_pos: pairs with smc_conn_push_data() */
		smp_mb__after_atomic();
	}
	do {
		rc = push_one(conn, &follow);
		any |= rc >= 0;
	} while (rc > 0);
	if (test_bit(SMC_CONN_FLUSH, &conn->flags) &&
	    READ_ONCE(conn->prod_pos) == (conn->sent_pos | SMC_POS_LAST))
		flushed = test_and_clear_bit(SMC_CONN_FLUSH, &conn->flags);
	/* the worker waits for the last flags */
	if (unlikely(conn->end == SMC_END_FLAGS) && smc_conn_last_sent(conn))
		mod_delayed_work(conn->sn->end_wq, &conn->release, 0);
	spin_unlock_bh(&conn->tx_lock);

	if (follow)
		conn->xport->pushed(conn);
	if (any) {
		/* sent_pos before the bit: pairs with limited(), sock/tx.c */
		smp_mb();
		if (test_bit(SMC_CONN_TELL_SENT, &conn->flags))
			conn->events->writable(conn);
	}
	if (flushed)
		conn->events->flushed(conn);
}

/**
 * smc_conn_push_data() - push what the program has written
 * @conn: as for smc_conn_push()
 *
 * Nothing is done where a push comes by itself: if the transport has promised
 * one (SMC_CONN_AUTOCORKED), for less than net.smc.autocorking_size bytes, or if
 * the peer's ring is full: it has been told that we wait (WRITE_BLOCKED).
 *
 * Context: process, after smc_conn_publish(); no spinlock held.
 */
void smc_conn_push_data(struct smc_conn *conn)
{
	/*
	 * prod_pos before the bit and peer_read_pos: smc_conn_publish() is a
	 * full barrier, and pairs with smc_conn_push() and window_due()
	 */
	if (test_bit(SMC_CONN_AUTOCORKED, &conn->flags) &&
	    smc_conn_unsent(conn) < READ_ONCE(conn->sn->autocork))
		return;
	if (!peer_window(conn)) {
		if (smc_conn_unsent(conn))
			count_window(conn);
		return;
	}
	smc_conn_push(conn);
}

/* Has the peer to be told how far we have read? */
static bool update_due(const struct smc_conn *conn)
{
	u64 announced = READ_ONCE(conn->announced_pos);
	u64 rcvd = READ_ONCE(conn->rcvd_pos);
	u64 read = READ_ONCE(conn->read_pos);
	u32 limit = smc_conn_update_step(conn);
	u8 flags = READ_ONCE(conn->rx_prod_flags);

	/* another CPU may have announced more than is seen here */
	if ((s64)(read - announced) <= 0)
		return false;
	if (flags & SMC_CDC_CONS_REQ)
		return true;
	if (flags & SMC_CDC_WRITE_BLOCKED)
		return read - announced > limit || read == rcvd;
	return read - announced > limit &&
	       rcvd - announced >= conn->rcv_size / 2;
}

/**
 * smc_conn_read_done() - the reader advanced read_pos
 * @conn: attached
 * @force: announce it always (an urgent mark was passed)
 *
 * Context: process, no spinlock held; rx_mutex may be.
 */
void smc_conn_read_done(struct smc_conn *conn, bool force)
{
	/* read_pos before the flags: pairs with rx_locked() and push_one() */
	smp_mb();
	if (!force && !update_due(conn))
		return;
	set_bit(SMC_CONN_NEED_CDC, &conn->flags);
	smc_conn_push(conn);
}

/*
 * The next push sends these.  Bytes that are not published yet are too late.  Any
 * context, no lock.
 */
static void want_flags(struct smc_conn *conn, u8 conn_flags)
{
	u64 pos = READ_ONCE(conn->prod_pos);

	while (!try_cmpxchg(&conn->prod_pos, &pos, pos | SMC_POS_LAST))
		;
	if (conn_flags & SMC_CDC_DONE)
		set_bit(SMC_CONN_WANT_DONE, &conn->flags);
	if (conn_flags & SMC_CDC_CLOSED)
		set_bit(SMC_CONN_WANT_CLOSED, &conn->flags);
	if (conn_flags & SMC_CDC_ABORT)
		set_bit(SMC_CONN_WANT_ABORT, &conn->flags);
}

/**
 * smc_conn_mark_flags() - add sticky state flags without pushing
 * @conn: any state
 * @conn_flags: SMC_CDC_DONE, SMC_CDC_CLOSED, SMC_CDC_ABORT
 *
 * Context: any; for smc_conn_events, whose caller pushes afterwards.
 */
void smc_conn_mark_flags(struct smc_conn *conn, u8 conn_flags)
{
	want_flags(conn, conn_flags);
	set_bit(SMC_CONN_KICK, &conn->flags);
}

/**
 * smc_conn_set_flags() - add sticky state flags and push
 * @conn: any state
 * @conn_flags: as for smc_conn_mark_flags()
 *
 * Done and closed are sent after the last byte, abort at once.
 *
 * Context: any, not from smc_conn_events.
 */
void smc_conn_set_flags(struct smc_conn *conn, u8 conn_flags)
{
	want_flags(conn, conn_flags);
	smc_conn_push(conn);
}

/**
 * smc_conn_publish_urgent() - smc_conn_publish(), and the last byte is urgent
 * @conn: attached
 * @pos: prod_pos
 * @end: position behind the urgent byte
 *
 * A push, which a message of the peer can cause at any time, sees both or
 * neither.  If the stream has ended an older mark stays.
 *
 * Context: process, tx_mutex held; the caller pushes afterwards.
 * Return: false: the stream has ended meanwhile.
 */
bool smc_conn_publish_urgent(struct smc_conn *conn, u64 pos, u64 end)
{
	bool ok;

	spin_lock_bh(&conn->tx_lock);
	ok = smc_conn_publish(conn, pos, end);
	if (ok)
		conn->urg_tx_pos = end;
	spin_unlock_bh(&conn->tx_lock);
	return ok;
}

/**
 * smc_conn_probe() - send the state and request a completion
 * @conn: any state; conn->acks grows when the peer's device has the message
 *
 * Context: any, not from smc_conn_events.
 */
void smc_conn_probe(struct smc_conn *conn)
{
	set_bit(SMC_CONN_SIGNAL, &conn->flags);
	set_bit(SMC_CONN_NEED_CDC, &conn->flags);
	smc_conn_push(conn);
}

static void abort_locked(struct smc_conn *conn, int err, enum smc_reason why)
{
	lockdep_assert_held(&conn->rx_lock);
	smc_stats_inc(conn->sn, SMC_STAT_CONN_ABORTED);
	conn->detached = true;
	conn->events->aborted(conn, err, why);
}

/* The peer broke the protocol: end this connection, but not the group. */
static void rx_abort(struct smc_conn *conn, enum smc_reason why)
{
	smc_conn_mark_flags(conn, SMC_CDC_ABORT);
	abort_locked(conn, ECONNRESET, why);
}

/*
 * Called before rcvd_pos is set: a reader must stop at the mark, and not pass it
 * before it has the signal.  As in TCP, an urgent byte that is next to be read
 * is dropped when another one arrives; one further away becomes data.
 */
static void rx_urgent(struct smc_conn *conn, const struct smc_update *up)
{
	if (!(up->prod_flags & SMC_CDC_URG_PRESENT) ||
	    conn->rcvd_pos == up->prod_pos)
		return;
	if (conn->urg_rx_pos == READ_ONCE(conn->read_pos) &&
	    conn->events->out_of_line(conn))
		WRITE_ONCE(conn->urg_drop_pos, conn->urg_rx_pos);
	/* after the byte: pairs with recv_urgent(), sock/rx.c */
	smp_store_release(&conn->urg_rx_pos, up->prod_pos - 1);
	conn->events->urgent(conn);
}

static void rx_positions(struct smc_conn *conn, const struct smc_update *up)
{
	if (up->prod_pos != conn->rcvd_pos) {
		WRITE_ONCE(conn->rx_stamp, jiffies);
		smc_stats_add(conn->sn, SMC_STAT_RX_BYTES,
			      up->prod_pos - conn->rcvd_pos);
	}
	rx_urgent(conn, up);
	smp_store_release(&conn->rcvd_pos, up->prod_pos);
	smp_store_release(&conn->peer_read_pos, up->cons_pos);
}

/* Turn a message into an update.  False: a cursor is refused. */
static bool rx_cursors(struct smc_conn *conn, const struct smc_cdc *cdc,
		       struct smc_update *up)
{
	u64 read = smp_load_acquire(&conn->read_pos);

	up->cons_pos = conn->peer_read_pos;
	up->prod_flags = cdc->prod_flags;
	up->conn_flags = cdc->conn_flags;
	if (smc_cursor_get(conn->rcv_size, conn->rcvd_pos,
			   read + conn->rcv_size, &cdc->prod, &up->prod_pos))
		return false;
	/* nothing is sent before the peer's ring is known by its Confirm */
	if (!test_bit_acquire(SMC_CONN_ATTACHED, &conn->flags))
		return !cdc->cons.count && !cdc->cons.wrap;
	return !smc_cursor_get(conn->peer_size, conn->peer_read_pos,
			       READ_ONCE(conn->sent_pos), &cdc->cons,
			       &up->cons_pos);
}

/* Older than the last message? */
static bool rx_stale(struct smc_conn *conn, const struct smc_cdc *cdc)
{
	if (smc_cdc_seq_before(cdc->seq, conn->rx_seq)) {
		smc_stats_inc(conn->sn, SMC_STAT_CDC_OLD);
		return true;
	}
	WRITE_ONCE(conn->rx_seq, cdc->seq);
	return false;
}

/* The peer's window has opened: are there bytes that waited for it? */
static bool window_due(const struct smc_conn *conn)
{
	/* peer_read_pos before prod_pos: pairs with smc_conn_push() */
	smp_mb();
	return smc_conn_unsent(conn);
}

static bool rx_locked(struct smc_conn *conn, const struct smc_update *up)
{
	u64 old_read = conn->peer_read_pos;
	u64 old_rcvd = conn->rcvd_pos;
	bool readable;
	u8 news;

	lockdep_assert_held(&conn->rx_lock);
	smc_stats_inc(conn->sn, SMC_STAT_RX_CDC);
	rx_positions(conn, up);
	WRITE_ONCE(conn->heard, jiffies);
	trace_smc_rx(conn->sn->net->net_cookie, conn->token, up->prod_pos,
		     up->cons_pos, up->prod_flags, up->conn_flags, 0);
	WRITE_ONCE(conn->rx_prod_flags, up->prod_flags);
	news = up->conn_flags & SMC_CDC_CONN_FLAGS & ~conn->rx_conn_flags;
	WRITE_ONCE(conn->rx_conn_flags, conn->rx_conn_flags | news);

	readable = conn->rcvd_pos != old_rcvd;
	if (news)
		conn->events->peer_flags(conn, news);
	if (readable || news)
		conn->events->readable(conn);
	if (conn->peer_read_pos != old_read && conn->merged) {
		smp_store_release(&conn->done_pos, conn->peer_read_pos);
		conn->events->writable(conn);
	}
	/* the flags before read_pos: pairs with smc_conn_read_done() */
	if (up->prod_flags & (SMC_CDC_WRITE_BLOCKED | SMC_CDC_CONS_REQ))
		smp_mb();
	if (update_due(conn)) {
		/* the read_pos seen above, then the bit: see push_one() */
		smp_mb__before_atomic();
		set_bit(SMC_CONN_NEED_CDC, &conn->flags);
	}
	return test_bit(SMC_CONN_NEED_CDC, &conn->flags) ||
	       (conn->peer_read_pos != old_read && window_due(conn));
}

/* A position that the peer cannot have reached. */
static bool rx_forged(struct smc_conn *conn, u8 prod_flags, u8 conn_flags)
{
	smc_stats_inc(conn->sn, SMC_STAT_RX_CDC);
	smc_stats_inc(conn->sn, SMC_STAT_CDC_FORGED);
	trace_smc_rx(conn->sn->net->net_cookie, conn->token,
		     conn->rcvd_pos, conn->peer_read_pos, prod_flags,
		     conn_flags, -EPROTO);
	rx_abort(conn, SMC_REASON_BADCURSOR);
	return true;
}

static bool rx_cdc_locked(struct smc_conn *conn, const struct smc_cdc *cdc)
{
	struct smc_update up;

	lockdep_assert_held(&conn->rx_lock);
	/* Failover validation: with one link nothing can be lost. */
	if (cdc->prod_flags & SMC_CDC_FAILOVER || rx_stale(conn, cdc))
		return false;
	if (rx_cursors(conn, cdc, &up))
		return rx_locked(conn, &up);
	return rx_forged(conn, cdc->prod_flags, cdc->conn_flags);
}

/**
 * smc_conn_rx() - the other end of a connection on this host has an update
 * @conn: alive for the call
 * @up: what the other end's push says; its positions are right
 *
 * Context: any, BH disabled; takes rx_lock.
 * Return: true if the caller has to call smc_conn_push() once it holds no
 * lock.
 */
bool smc_conn_rx(struct smc_conn *conn, const struct smc_update *up)
{
	bool push = false;

	lockdep_assert(up->prod_pos <=
		       READ_ONCE(conn->read_pos) + conn->rcv_size);
	lockdep_assert(up->cons_pos <= READ_ONCE(conn->sent_pos));
	spin_lock(&conn->rx_lock);
	if (!conn->detached) {
		sk_incoming_cpu_update(conn->sk);
		push = rx_locked(conn, up);
		push |= take_bit(conn, SMC_CONN_KICK);
	}
	spin_unlock(&conn->rx_lock);
	return push;
}

/**
 * smc_conn_rx_cdc() - a CDC message for a connection arrived
 * @conn: found by smc_lgr_conn_find() in an RCU read section
 * @cdc: decoded, nothing in it is trusted
 *
 * Context: any, BH disabled; takes rx_lock.
 * Return: as smc_conn_rx().
 */
bool smc_conn_rx_cdc(struct smc_conn *conn, const struct smc_cdc *cdc)
{
	bool push = false;

	spin_lock(&conn->rx_lock);
	if (!conn->detached) {
		sk_incoming_cpu_update(conn->sk);
		push = rx_cdc_locked(conn, cdc);
		push |= take_bit(conn, SMC_CONN_KICK);
	}
	spin_unlock(&conn->rx_lock);
	return push;
}

static bool rx_bare_locked(struct smc_conn *conn, u32 len, u8 prod_flags)
{
	const struct smc_update up = {
		.prod_pos = conn->rcvd_pos + len,
		.cons_pos = conn->peer_read_pos,
		.prod_flags = prod_flags,
	};
	u64 read = smp_load_acquire(&conn->read_pos);

	lockdep_assert_held(&conn->rx_lock);
	/* the peer counts it, too; its next CDC would look old one day otherwise */
	WRITE_ONCE(conn->rx_seq, conn->rx_seq + 1);
	smc_stats_inc(conn->sn, SMC_STAT_RX_IMM);
	if (!len || up.prod_pos > read + conn->rcv_size)
		return rx_forged(conn, prod_flags, 0);
	return rx_locked(conn, &up);
}

/**
 * smc_conn_rx_bare() - the peer has written bytes, and says nothing else
 * @conn: as for smc_conn_rx_cdc(); its group has smc_lgr.write_imm
 * @len: how many; not trusted
 * @prod_flags: SMC_CDC_WRITE_BLOCKED or 0
 *
 * Context: any, BH disabled; takes rx_lock.
 * Return: as smc_conn_rx().
 */
bool smc_conn_rx_bare(struct smc_conn *conn, u32 len, u8 prod_flags)
{
	bool push = false;

	spin_lock(&conn->rx_lock);
	if (!conn->detached) {
		sk_incoming_cpu_update(conn->sk);
		push = rx_bare_locked(conn, len, prod_flags);
		push |= take_bit(conn, SMC_CONN_KICK);
	}
	spin_unlock(&conn->rx_lock);
	return push;
}

/**
 * smc_conn_tx_done() - source bytes up to @end_pos may be overwritten
 * @conn: alive for the call
 * @end_pos: position from the push that completed
 *
 * Wakes writers.
 *
 * Context: BH disabled, no lock of the transport held.
 */
void smc_conn_tx_done(struct smc_conn *conn, u64 end_pos)
{
	spin_lock(&conn->rx_lock);
	WRITE_ONCE(conn->acks, conn->acks + 1);
	WRITE_ONCE(conn->heard, jiffies);
	if (!conn->detached && (s64)(end_pos - conn->done_pos) > 0) {
		smp_store_release(&conn->done_pos, end_pos);
		conn->events->writable(conn);
	}
	spin_unlock(&conn->rx_lock);
}

/**
 * smc_conn_peer_error() - the peer did something that ends this connection
 * @conn: referenced, or found under RCU
 * @why: reason
 *
 * For example, it deleted an rkey that is in use.  The caller calls
 * smc_conn_push_rcu() afterwards.
 *
 * Context: any, no lock of the connection held.
 */
void smc_conn_peer_error(struct smc_conn *conn, enum smc_reason why)
{
	spin_lock_bh(&conn->rx_lock);
	if (!conn->detached)
		rx_abort(conn, why);
	spin_unlock_bh(&conn->rx_lock);
}

/**
 * smc_conn_lgr_dead() - the group of this connection died
 * @conn: referenced by the caller
 * @why: reason of the group's death
 *
 * The connection leaves the group later, when its socket drops it.
 *
 * Context: process.
 */
void smc_conn_lgr_dead(struct smc_conn *conn, enum smc_reason why)
{
	/* TCP returns ETIMEDOUT if the peer does not answer */
	int err = smc_reason_errno(why) == ETIMEDOUT ? ETIMEDOUT :
						       ECONNABORTED;

	/* one step for a writer that the end of the stream overtakes: fill() */
	spin_lock_bh(&conn->rx_lock);
	smc_conn_mark_flags(conn, SMC_CDC_ABORT);
	if (!conn->detached)
		abort_locked(conn, err, why);
	spin_unlock_bh(&conn->rx_lock);
	smc_conn_push(conn);
	set_bit(SMC_CONN_DEAD, &conn->flags);
}
