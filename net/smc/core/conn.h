/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection: two byte rings and a token.
 *
 * References: the handshake that makes a connection has one, later its socket;
 * each call that uses it and each armed timer have one.  connect(AF_UNSPEC) and
 * close() take the connection from its socket (smc_conn_stop()).  After the
 * last reference a work item takes it out of its group (conn.c), so group and
 * rings stay valid while there is a reference.
 *
 * Sending:  prod_pos >= sent_pos >= done_pos   peer_read_pos <= sent_pos
 * Receiving: rcvd_pos >= read_pos >= announced_pos
 *
 * All positions are free-running 64-bit byte counts with a single writer each
 * (prod_pos has one until SMC_POS_LAST is set); free space, window and readable
 * bytes are derived, never stored.  The socket is reached through struct
 * smc_conn_events only, but for sk_incoming_cpu, which each message sets.
 *
 * Locks: tx_lock (spinlock, BH) protects sent_pos, announced_pos, the CDC
 * sequence and flags.  rx_lock (spinlock, BH) serialises smc_conn_rx(), _rx_cdc(),
 * _rx_bare() and smc_conn_tx_done().  When smc_conn_stop() has set @detached under
 * it, none of them calls an event.  Order: tx_lock of one connection, then rx_lock
 * of its loopback peer; never tx_lock inside rx_lock.
 * So an event must not push: it calls smc_conn_mark_flags(), and the caller of
 * smc_conn_rx() or smc_conn_rx_cdc() pushes when it holds no lock.
 * tx_mutex and rx_mutex belong to the socket: one writer of prod_pos, one of
 * read_pos.  They are outer to both spinlocks.
 */
#ifndef SMC_CONN_H
#define SMC_CONN_H

#include <linux/spinlock.h>
#include <linux/bitops.h>
#include <linux/cache.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include "wire/ring.h"
#include "xport.h"
#include "lgr.h"
#include "buf.h"

struct sock;

/**
 * struct smc_conn_events - core to socket; any context, no sleeping, rx_lock
 *	possibly held: smc_conn_push() is not allowed, smc_conn_mark_flags() is
 * @release: the connection has left its group: drop the socket.  Process
 *	context, no lock held
 * @readable: rcvd_pos moved, or a state flag arrived
 * @urgent: an urgent byte has come (SIGURG), rcvd_pos moves after this
 * @out_of_line: true without SO_OOBINLINE: urgent bytes are not in the stream
 * @writable: more room in the send ring, or fewer unsent bytes in it
 * @peer_flags: the peer's sticky flags gained @flags (SMC_CDC_DONE, ...)
 * @flushed: everything written has been pushed, and no byte can follow, after
 *	a close or shutdown asked for it
 * @aborted: the connection cannot go on: @err is for sk_err
 */
struct smc_conn_events {
	void (*release)(struct smc_conn *conn);
	void (*readable)(struct smc_conn *conn);
	void (*urgent)(struct smc_conn *conn);
	bool (*out_of_line)(struct smc_conn *conn);
	void (*writable)(struct smc_conn *conn);
	void (*peer_flags)(struct smc_conn *conn, u8 flags);
	void (*flushed)(struct smc_conn *conn);
	void (*aborted)(struct smc_conn *conn, int err, enum smc_reason why);
};

enum smc_conn_bits {
	SMC_CONN_CORKED,	/* TCP_CORK or MSG_MORE: hold small data */
	SMC_CONN_AUTOCORKED,	/* the transport pushes small data later */
	SMC_CONN_NEED_CDC,	/* publish state although there is no data */
	SMC_CONN_FLUSH,		/* events->flushed() is wanted */
	SMC_CONN_DEAD,		/* no push any more */
	SMC_CONN_TOKEN,		/* published in lgr->conns */
	SMC_CONN_ATTACHED,	/* conn_attach succeeded, data may flow */
	SMC_CONN_SIGNAL,	/* ask for a completion with the next push */
	SMC_CONN_KICK,		/* an up-call marked something to be pushed */
	SMC_CONN_WANT_DONE,	/* flags to send after the last byte */
	SMC_CONN_WANT_CLOSED,
	SMC_CONN_WANT_ABORT,	/* ... at once */
	SMC_CONN_JOINED,
	SMC_CONN_TELL_SENT,	/* events->writable() when bytes leave, too */
	SMC_CONN_DESCRIBING,	/* describe() goes on; holds a reference */
	/* the socket's */
	SMC_CONN_STOPPED,	/* taken from its socket, for good */
	SMC_CONN_PEER_DONE,	/* the peer's last byte has arrived: EOF */
	SMC_CONN_SILENT,	/* then it closed, which is no event */
	SMC_CONN_SHUT_RD,	/* the program has shut reading down */
	SMC_CONN_UNWANTED,	/* bytes came after shut_pos was set: reset */
};

/* In tx_want: not poll() alone, but a write that found no room. */
#define SMC_WANT_WRITER	BIT(31)

/* No urgent mark. */
#define SMC_NO_POS	(~0ULL)

/* In prod_pos: the program has written its last byte.  Never taken back. */
#define SMC_POS_LAST	BIT_ULL(63)

/**
 * struct smc_keepalive - is the peer still there? (sock/keepalive.c)
 * @timer: holds a reference while armed; its function writes the rest
 * @waiting: something was waiting at the last look
 * @probing: SO_KEEPALIVE was set at the last look
 * @stamp: jiffies when the waiting began, or the peer last took something
 * @taken: position at @stamp
 * @alive: position of the last sign of life
 * @alive_stamp: jiffies when it was seen, or the probing began
 * @probe_stamp: jiffies of the last probe
 * @probes: unanswered ones
 */
struct smc_keepalive {
	struct timer_list timer;
	bool waiting;
	bool probing;
	unsigned long stamp;
	u64 taken;
	u64 alive;
	unsigned long alive_stamp;
	unsigned long probe_stamp;
	int probes;
};

/* Steps after the last reference, in this order */
enum smc_conn_end {
	SMC_END_NOT,		/* there are references */
	SMC_END_FLAGS,		/* send the last flags */
	SMC_END_DETACH,		/* conn_detach() */
	SMC_END_FREE,
};

/**
 * struct smc_conn - a connection
 * @events: the socket's callbacks
 * @sn: namespace state; as long as @sk
 * @sk: the socket; referenced until events->release()
 * @events_data: the socket's; the same
 * @user: account of the user that the rings are charged to, or NULL; the same
 * @account: the peer's, which the rings are charged to; a reference
 * @stream: names the TCP connection at both ends
 * @release: runs enum smc_conn_end
 * @end: enum smc_conn_end, under tx_lock
 * @flags_limit: jiffies, of SMC_END_FLAGS
 * @xport: the group's transport
 * @tech: counters of @xport in @sn
 * @lgr: the group, referenced; NULL before smc_conn_join()
 * @xp: the transport's private area
 * @rcu: frees the connection
 * @sndbuf: send ring; NULL when rings are merged
 * @rmb: receive ring
 * @token: ours, which the peer sends
 * @peer_token: the peer's
 * @flags: enum smc_conn_bits
 * @merged: @snd_base is the peer's ring
 * @detached: no up-call any more; under rx_lock
 * @described: called at the end of describe(); under rx_lock
 * @described_arg: for it
 * @tx_lock: see above
 * @snd_base: first byte of the send ring
 * @snd_size: its length
 * @peer_size: length of the peer's receive ring
 * @prod_pos: written by the program, see smc_conn_prod(); writers: sendmsg, and
 *	the end of the stream, which adds SMC_POS_LAST
 * @sent_pos: pushed; writer: tx_lock
 * @done_pos: may be overwritten; writer: tx_done (merged: rx)
 * @announced_pos: @read_pos as the peer knows it; writer: tx_lock
 * @urg_tx_pos: one past our urgent byte
 * @lost_pos: end of bytes copied into the ring when none could follow any more
 * @tx_stamp: jiffies of the last data pushed
 * @tx_seq: sequence number of the last CDC message; one without is counted
 * @tx_prod_flags: its producer flags
 * @tx_conn_flags: connection flags sent so far, sticky
 * @rx_lock: see above
 * @rcv_base: first byte of the receive ring
 * @rcv_size: its length
 * @rcvd_pos: announced by the peer; writer: rx
 * @read_pos: read by the program; writer: recvmsg
 * @peer_read_pos: what the peer's program has read; writer: rx
 * @urg_rx_pos: position of the peer's urgent byte
 * @urg_drop_pos: of one that was superseded while next to be read
 * @rx_stamp: jiffies of the last data
 * @heard: jiffies of the peer's last message or its device's acknowledgment
 * @acks: pushes that the peer's device has
 * @rx_seq: as @tx_seq
 * @rx_prod_flags: its producer flags
 * @rx_conn_flags: the peer's connection flags so far, sticky
 * @tx_mutex: the socket's, one writer
 * @tx_want: free bytes waited for, 0: none; with SMC_WANT_WRITER if by a writer
 * @refs: see above; written by each call and by a message that is to be answered;
 *	what every message reads of the other end is in other cache lines
 * @completion_pos: a completion has been requested for this position, by the
 *	transport (tx_lock) or for a writer that waits
 * @rx_mutex: the socket's, one reader
 * @shut_pos: @rcvd_pos when both ways were shut
 * @urg_read_pos: taken by recv(MSG_OOB)
 * @urg_past_pos: urgent bytes before it are passed
 * @urg_byte: the one that a short read has passed
 * @state: enum smc_state
 * @shutdown: RCV_SHUTDOWN, SEND_SHUTDOWN
 * @st_flags: SMC_ST_*
 * @timer: corked data; later the orphan
 * @orphan_pos: @sent_pos when that was started
 * @abort_err: positive errno of the end
 * @abort_reason: enum smc_reason of the end, for traces
 * @keepalive: see there
 */
struct smc_conn {
	const struct smc_conn_events *events;
	struct smc_net *sn;
	struct sock *sk;
	void *events_data;
	struct smc_account *user;
	struct smc_account *account;
	u64 stream;
	struct delayed_work release;
	u8 end;
	unsigned long flags_limit;
	const struct smc_xport *xport;
	struct smc_tech_stats __percpu *tech;
	struct smc_lgr *lgr;
	void *xp;
	struct rcu_head rcu;
	struct smc_buf *sndbuf;
	struct smc_buf *rmb;
	u32 token;
	u32 peer_token;
	unsigned long flags;
	bool merged;
	bool detached;
	void (*described)(void *arg);
	void *described_arg;

	/* sending */
	spinlock_t tx_lock ____cacheline_aligned_in_smp;
	u8 *snd_base;
	u32 snd_size;
	u32 peer_size;
	u64 prod_pos;
	u64 sent_pos;
	u64 done_pos;
	u64 announced_pos;
	u64 urg_tx_pos;
	u64 lost_pos;
	unsigned long tx_stamp;
	u16 tx_seq;
	u8 tx_prod_flags;
	u8 tx_conn_flags;

	/* receiving */
	spinlock_t rx_lock ____cacheline_aligned_in_smp;
	u8 *rcv_base;
	u32 rcv_size;
	u64 rcvd_pos;
	u64 read_pos;
	u64 peer_read_pos;
	u64 urg_rx_pos;
	u64 urg_drop_pos;
	unsigned long rx_stamp;
	unsigned long heard;
	u32 acks;
	u16 rx_seq;
	u8 rx_prod_flags;
	u8 rx_conn_flags;

	/* the socket's: writing and reading */
	struct mutex tx_mutex ____cacheline_aligned_in_smp;
	u32 tx_want;
	refcount_t refs;
	u64 completion_pos;
	struct mutex rx_mutex;
	u64 shut_pos;
	u64 urg_read_pos;
	u64 urg_past_pos;
	u8 urg_byte;
	/* the socket's: the end */
	u8 state;
	u8 shutdown;
	unsigned int st_flags;
	struct timer_list timer;
	u64 orphan_pos;
	int abort_err;
	u32 abort_reason;
	struct smc_keepalive keepalive;
};

/* Position behind the last byte that the program has written. */
static inline u64 smc_conn_prod(const struct smc_conn *conn)
{
	return READ_ONCE(conn->prod_pos) & ~SMC_POS_LAST;
}

/*
 * The writer has copied bytes and advances prod_pos from @pos to @end.  False:
 * the stream has ended meanwhile, its last flag may be on its way.  A full
 * barrier if true: pairs with smc_conn_push() and window_due().
 */
static inline bool smc_conn_publish(struct smc_conn *conn, u64 pos, u64 end)
{
	lockdep_assert_held(&conn->tx_mutex);
	if (likely(try_cmpxchg(&conn->prod_pos, &pos, end)))
		return true;
	/* a second call gets here if check() does not see an abort yet */
	WRITE_ONCE(conn->lost_pos, max(conn->lost_pos, end));
	return false;
}

/* How far bytes of the program reach in the send ring, sent or not. */
static inline u64 smc_conn_dirty(const struct smc_conn *conn)
{
	return max(smc_conn_prod(conn), READ_ONCE(conn->lost_pos));
}

/* Less than 0: a reader that this thread does not know has read further. */
static inline s64 smc_conn_readable(const struct smc_conn *conn)
{
	u64 rcvd = smp_load_acquire(&conn->rcvd_pos);

	return rcvd - READ_ONCE(conn->read_pos);
}

static inline u32 smc_conn_snd_free(const struct smc_conn *conn)
{
	return conn->snd_size - (u32)(smc_conn_prod(conn) -
				      smp_load_acquire(&conn->done_pos));
}

/*
 * Bytes that the peer's host may not have yet (SIOCOUTQ).  Bytes in a merged
 * ring have arrived when they are announced.
 */
static inline u32 smc_conn_outq(const struct smc_conn *conn)
{
	u64 from = conn->merged ? smp_load_acquire(&conn->sent_pos) :
				  smp_load_acquire(&conn->done_pos);

	/* second: what follows it has not passed it */
	return smc_conn_prod(conn) - from;
}

/* Bytes written by the program and not yet pushed to the peer's ring. */
static inline u32 smc_conn_unsent(const struct smc_conn *conn)
{
	u64 sent = smp_load_acquire(&conn->sent_pos);

	/* second: a push that is later has not passed it */
	return smc_conn_prod(conn) - sent;
}

struct smc_conn *smc_conn_alloc(struct smc_net *sn,
				const struct smc_conn_events *events,
				struct sock *sk, gfp_t gfp);
void smc_conn_last_put(struct smc_conn *conn);

/* Take another reference; the caller has one. */
static inline void smc_conn_get(struct smc_conn *conn)
{
	refcount_inc(&conn->refs);
}

/* Take a reference in an RCU read section, unless the last one has gone. */
static inline bool smc_conn_tryget(struct smc_conn *conn)
{
	return refcount_inc_not_zero(&conn->refs);
}

/* Drop a reference; any context. */
static inline void smc_conn_put(struct smc_conn *conn)
{
	if (refcount_dec_and_test(&conn->refs))
		smc_conn_last_put(conn);
}

void smc_conn_stop(struct smc_conn *conn);
void smc_conn_start_timer(struct smc_conn *conn, struct timer_list *timer,
			  int (*start)(struct timer_list *timer,
				       unsigned long expires),
			  unsigned long expires);
void smc_conn_stop_timer(struct smc_conn *conn, struct timer_list *timer);
int smc_conn_join(struct smc_conn *conn, struct smc_lgr *lgr, u32 snd_len,
		  u32 rcv_len);
int smc_conn_describe(struct smc_conn *conn, struct smc_clc_accept *acc);
void smc_conn_await(struct smc_conn *conn, void (*described)(void *arg),
		    void *arg);
int smc_conn_attach(struct smc_conn *conn, const struct smc_clc_accept *peer);
void smc_conn_writer_gone(struct smc_conn *conn);
bool smc_conn_last_sent(const struct smc_conn *conn);
void smc_conn_push_data(struct smc_conn *conn);
void smc_conn_read_done(struct smc_conn *conn, bool force);
void smc_conn_set_flags(struct smc_conn *conn, u8 conn_flags);
void smc_conn_mark_flags(struct smc_conn *conn, u8 conn_flags);
void smc_conn_probe(struct smc_conn *conn);
bool smc_conn_publish_urgent(struct smc_conn *conn, u64 pos, u64 end);
void smc_conn_lgr_dead(struct smc_conn *conn, enum smc_reason why);

/*
 * Progress of the reader, in bytes, that is announced at once: a tenth of the
 * ring, but not less than the cost of a small packet (RFC 7609 section 4.5.1
 * leaves the choice to the receiver).  Less is announced to a peer that waits
 * for room only when the ring is empty.
 */
static inline u32 smc_conn_update_step(const struct smc_conn *conn)
{
	return max(conn->rcv_size / 10, 2304U);
}

static inline bool smc_conn_peer_done_writing(const struct smc_conn *conn)
{
	return READ_ONCE(conn->rx_conn_flags) &
	       (SMC_CDC_CLOSED | SMC_CDC_ABORT);
}

static inline bool smc_conn_done_writing(const struct smc_conn *conn)
{
	return READ_ONCE(conn->tx_conn_flags) &
	       (SMC_CDC_CLOSED | SMC_CDC_ABORT);
}

#endif /* SMC_CONN_H */
