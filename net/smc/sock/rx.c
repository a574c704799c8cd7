// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving on an SMC connection.
 *
 * The peer writes into our ring; rcvd_pos says how far (what the wire says was
 * checked against the ring before it was stored).  A reader copies to the program and then
 * advances read_pos by exactly what was copied, so a fault in the program's
 * buffer delivers no byte twice.  The peer learns of the room when that is due
 * (smc_conn_read_done()).
 *
 * Ring bytes may change under us (the peer can write any time): they are
 * copied once and never looked at.
 *
 * End of file needs no position of its own: the message that says "done" is
 * never older than the last byte, so RCV_SHUTDOWN with an empty ring is it.
 *
 * Urgent data, as TCP has it: conn->urg_rx_pos is the position of the urgent
 * byte.  In-band reads stop at it once and skip it unless SO_OOBINLINE, but a
 * signal comes first; recv(MSG_OOB) takes it, once, while it has not been
 * passed.
 *
 * splice() copies into pages that are the pipe's own from then on, so a pipe
 * needs neither the ring nor the connection, and the ring no pipe.
 *
 * Context: process, rx_mutex taken here, unless a function says otherwise.
 * Tests: selftests/smc.
 */
#include <linux/sched/signal.h>
#include <linux/splice.h>
#include <linux/tcp.h>
#include <linux/uio.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "wire/ring.h"
#include "sock.h"
#include "stats.h"
#include "trace.h"

/*
 * Position behind the last byte for the program.  Bytes that came after it had
 * shut both directions down were answered with a reset, and are not read.
 */
static u64 end_pos(const struct smc_conn *conn)
{
	u64 rcvd = smp_load_acquire(&conn->rcvd_pos);

	if (likely(!test_bit(SMC_CONN_UNWANTED, &conn->flags)))
		return rcvd;
	/* the bit before shut_pos: pairs with smc_close_unwanted() */
	smp_rmb();
	return min(rcvd, READ_ONCE(conn->shut_pos));
}

static u32 readable(const struct smc_conn *conn)
{
	s64 len = end_pos(conn) - READ_ONCE(conn->read_pos);

	/* a reader may have read further before SMC_CONN_UNWANTED was set */
	return len > 0 ? len : 0;
}

/* Bytes from @pos to the urgent byte if that lies ahead, else U32_MAX. */
static u32 urgent_ahead(const struct smc_conn *conn, u64 pos)
{
	/* urg_drop_pos is read afterwards: pairs with rx_urgent() */
	u64 urg = smp_load_acquire(&conn->urg_rx_pos);

	if (urg == SMC_NO_POS || urg < pos || urg - pos > U32_MAX - 1)
		return U32_MAX;
	return urg - pos;
}

/**
 * smc_rx_urgent_valid() - is there an urgent byte for recv(MSG_OOB)?
 * @conn: connection
 *
 * Context: any.
 */
bool smc_rx_urgent_valid(const struct smc_conn *conn)
{
	u64 urg = READ_ONCE(conn->urg_rx_pos);

	return urg != SMC_NO_POS && urg != READ_ONCE(conn->urg_read_pos) &&
	       urg >= READ_ONCE(conn->urg_past_pos);
}

/*
 * Is the byte at @pos, the next one, an old urgent one that is lost?  It stays
 * lost whatever SO_OOBINLINE is by now, see rx_urgent().
 */
static bool urgent_dropped(const struct smc_conn *conn, u64 pos)
{
	return unlikely(READ_ONCE(conn->urg_drop_pos) == pos);
}

/**
 * smc_rx_at_mark() - is the urgent byte the next to be read?
 * @conn: connection
 *
 * Context: any.
 */
bool smc_rx_at_mark(const struct smc_conn *conn)
{
	u64 pos = READ_ONCE(conn->read_pos);

	return !urgent_ahead(conn, pos + urgent_dropped(conn, pos));
}

/*
 * The most that can be readable while the peer's poll() sees no room: it has
 * not been told of free bytes below the update step, and with shared memory
 * (the same ring) it waits for a third.  A reader that waits for more would
 * wait for ever.
 */
static u32 lowat_max(const struct smc_conn *conn)
{
	u32 max = conn->rcv_size - smc_conn_update_step(conn);

	return conn->merged ? max - conn->rcv_size / 3 : max;
}

/**
 * smc_rx_readable() - is there as much as SO_RCVLOWAT asks for?
 * @conn: connection
 *
 * Context: any.
 */
bool smc_rx_readable(const struct smc_conn *conn)
{
	const struct sock *sk = conn->sk;
	u32 target = sock_rcvlowat(sk, 0, INT_MAX);

	/* An urgent byte that is next does not count. */
	if (smc_rx_at_mark(conn) && !sock_flag(sk, SOCK_URGINLINE))
		target++;
	if (urgent_dropped(conn, READ_ONCE(conn->read_pos)))
		target++;
	target = min(target, lowat_max(conn));
	return readable(conn) >= target;
}

/**
 * smc_rx_set_lowat() - SO_RCVLOWAT (operation of the socket)
 * @sk: socket
 * @val: bytes
 *
 * Bounded as TCP's.  Waiters are woken if the bytes already there are enough.
 *
 * Context: any; the socket is locked.  A BPF program may have its spinlock alone.
 * Return: 0.
 */
int smc_rx_set_lowat(struct sock *sk, int val)
{
	int cap = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_rmem[2]) >> 1;
	struct smc_sock *smc = smc_sock_locked(sk);
	struct smc_conn *conn;

	/* smc->lowat is 0 while the callbacks are TCP's */
	if (!smc || !smc->lowat)
		return smc_sock_base(sk)->set_rcvlowat(sk, val);
	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		cap = READ_ONCE(sk->sk_rcvbuf) >> 1;
	smc->lowat = min(val, cap) ?: 1;
	conn = smc_sock_conn_get(smc);
	if (!conn)
		return 0;
	WRITE_ONCE(sk->sk_rcvlowat, smc->lowat);
	/* before rcvd_pos: pairs with conn_readable() */
	smp_mb();
	if (smc_rx_readable(conn))
		smc->data_ready(sk);
	smc_conn_put(conn);
	return 0;
}

/**
 * smc_rx_inq() - bytes a read would return now, for SIOCINQ
 * @conn: connection
 *
 * Context: any.
 */
u32 smc_rx_inq(const struct smc_conn *conn)
{
	u32 len = readable(conn);
	u64 pos = READ_ONCE(conn->read_pos);

	if (len && urgent_dropped(conn, pos)) {
		len--;
		pos++;
	}
	if (sock_flag(conn->sk, SOCK_URGINLINE))
		return len;
	return min(len, urgent_ahead(conn, pos));
}

/* Copy @len bytes at @pos to the program; bytes copied. */
static size_t copy_out(const struct smc_conn *conn, u64 pos, u32 len,
		       struct msghdr *msg)
{
	struct smc_ring_span span;
	size_t n;

	smc_ring_span(conn->rcv_size, pos, len, &span);
	n = copy_to_iter(conn->rcv_base + span.off[0], span.len[0],
			 &msg->msg_iter);
	if (n == span.len[0] && span.len[1])
		n += copy_to_iter(conn->rcv_base + span.off[1], span.len[1],
				  &msg->msg_iter);
	return n;
}

/* skip_mark() has kept an urgent byte that was passed in conn->urg_byte. */
static size_t copy_urgent(struct smc_conn *conn, u64 urg, struct msghdr *msg)
{
	lockdep_assert_held(&conn->rx_mutex);
	if (urg < READ_ONCE(conn->read_pos))
		return copy_to_iter(&conn->urg_byte, 1, &msg->msg_iter);
	return copy_out(conn, urg, 1, msg);
}

/* recv(MSG_OOB) */
static int recv_urgent(struct smc_conn *conn, struct msghdr *msg, size_t len,
		       int flags)
{
	u64 urg;
	int rc;

	if (sock_flag(conn->sk, SOCK_URGINLINE) || !smc_rx_urgent_valid(conn))
		return -EINVAL;
	if (mutex_lock_killable(&conn->rx_mutex))
		return -EINTR;
	rc = -EINVAL;	/* also if connect(AF_UNSPEC) came first */
	if (test_bit(SMC_CONN_STOPPED, &conn->flags) ||
	    !smc_rx_urgent_valid(conn))
		goto out;
	rc = -ENOTCONN;
	if (smc_close_over(conn) &&
	    !test_bit(SMC_CONN_PEER_DONE, &conn->flags))
		goto out;
	rc = 0;
	/*
	 * The byte that was valid, or a later one.  Pairs with rx_urgent(), as
	 * rcvd_pos may not have moved yet.
	 */
	urg = smp_load_acquire(&conn->urg_rx_pos);
	msg->msg_flags |= MSG_OOB;
	if (!len)
		msg->msg_flags |= MSG_TRUNC;
	else if (flags & MSG_TRUNC)
		rc = 1;
	else
		rc = copy_urgent(conn, urg, msg) ? 1 : -EFAULT;
	if (rc >= 0 && !(flags & MSG_PEEK))
		WRITE_ONCE(conn->urg_read_pos, urg);
out:
	mutex_unlock(&conn->rx_mutex);
	return rc;
}

/**
 * struct reader - one recvmsg() or splice_read() call
 * @msg: where bytes go
 * @pipe: splice: where they go instead, locked
 * @err: what a short copy means
 * @len: bytes still wanted
 * @flags: MSG_*
 * @copied: bytes delivered so far
 * @target: enough to return with
 * @timeo: time left to wait
 * @pos: position of the next byte (runs ahead of read_pos for MSG_PEEK)
 * @locked: rx_mutex is held
 * @marked: an urgent mark was passed, the peer is to be told
 */
struct reader {
	struct msghdr *msg;
	struct pipe_inode_info *pipe;
	int err;
	size_t len;
	int flags;
	int copied;
	int target;
	long timeo;
	u64 pos;
	bool locked;
	bool marked;
};

/* As copy_out(), into new pages of the pipe. */
static size_t copy_to_pipe(const struct smc_conn *conn, u32 len,
			   struct reader *r)
{
	struct smc_ring_span span;
	size_t done = 0;
	char *to;

	while (done < len) {
		struct pipe_buffer buf = {
			.ops = &nosteal_pipe_buf_ops,
			.len = min_t(size_t, len - done, PAGE_SIZE),
		};

		/* the pipe may have room for less than @len */
		r->err = -EAGAIN;
		if (pipe_full(r->pipe->head, r->pipe->tail,
			      r->pipe->max_usage))
			break;
		r->err = -ENOMEM;
		buf.page = alloc_page(GFP_USER);
		if (!buf.page)
			break;
		to = page_address(buf.page);
		smc_ring_span(conn->rcv_size, r->pos + done, buf.len, &span);
		memcpy(to, conn->rcv_base + span.off[0], span.len[0]);
		memcpy(to + span.len[0], conn->rcv_base + span.off[1],
		       span.len[1]);
		/* a failing add_to_pipe() frees the page and sends SIGPIPE */
		r->err = add_to_pipe(r->pipe, &buf);
		if (r->err < 0)
			break;
		done += buf.len;
	}
	return done;
}

/* The next byte is the urgent one and is not wanted in-band. */
static void skip_mark(struct smc_conn *conn, struct reader *r)
{
	u64 pos = r->pos++;

	lockdep_assert_held(&conn->rx_mutex);
	if (r->flags & MSG_PEEK)
		return;
	/* for recv(MSG_OOB): the peer may overwrite its place in the ring */
	if (pos == READ_ONCE(conn->urg_rx_pos))
		conn->urg_byte =
			conn->rcv_base[smc_ring_offset(conn->rcv_size, pos)];
	smp_store_release(&conn->read_pos, r->pos);
	r->marked = true;
}

/*
 * recv(MSG_OOB) cannot take an urgent byte that was passed, except if the copy
 * of the bytes behind it failed.
 */
static void pass_urgent(struct smc_conn *conn, const struct reader *r)
{
	lockdep_assert_held(&conn->rx_mutex);
	if (READ_ONCE(conn->urg_rx_pos) != SMC_NO_POS &&
	    !(r->flags & MSG_PEEK))
		WRITE_ONCE(conn->urg_past_pos, r->pos);
}

/*
 * Deliver the bytes that have arrived.  1: go on, or wait if there were none;
 * 0: enough; -errno.
 */
static int take_bytes(struct smc_conn *conn, struct reader *r)
{
	bool oobinline = sock_flag(conn->sk, SOCK_URGINLINE);
	u64 rcvd = end_pos(conn);
	u32 used, urg;
	size_t n;

	lockdep_assert_held(&conn->rx_mutex);
	/* Another reader was here while we waited. */
	if (r->pos < conn->read_pos)
		r->pos = conn->read_pos;
	/* SO_PEEK_OFF may point to what has not come yet */
	if (rcvd <= r->pos)
		return 1;
	/* a call for 0 bytes does not even pass an urgent mark */
	if (!r->len)
		return 0;
	/* an old mark is dropped before there is a later one */
	urg = urgent_ahead(conn, r->pos);
	if (urgent_dropped(conn, r->pos)) {
		skip_mark(conn, r);
		urg = urgent_ahead(conn, r->pos);
	}
	if (!urg && rcvd != r->pos) {
		if (r->copied)
			return 0;
		/* splice() never gets past it, as with TCP */
		if (r->pipe)
			return r->timeo || READ_ONCE(conn->shutdown) &
			       RCV_SHUTDOWN ? 0 : -EAGAIN;
		/* as TCP: the handler of SIGURG may want the byte */
		if (signal_pending(current))
			return r->timeo ? sock_intr_errno(r->timeo) : -EAGAIN;
		if (!oobinline) {
			skip_mark(conn, r);
			/* as TCP: one byte passes the mark, and no more */
			if (r->len == 1)
				pass_urgent(conn, r);
		}
		urg = U32_MAX;
	}
	used = rcvd - r->pos;
	if (!used) {
		pass_urgent(conn, r);
		return 1;
	}
	used = min3((size_t)used, r->len, (size_t)urg);
	n = used;
	if (r->pipe)
		n = copy_to_pipe(conn, used, r);
	else if (!(r->flags & MSG_TRUNC))
		n = copy_out(conn, r->pos, used, r->msg);
	if (!n && used)
		return r->err;
	r->pos += n;
	r->len -= n;
	r->copied += n;
	if (!(r->flags & MSG_PEEK))
		smp_store_release(&conn->read_pos, r->pos);
	pass_urgent(conn, r);
	if (n < used)
		return r->err;
	return r->len ? 1 : 0;
}

/* A peek makes no room: can nothing come behind what it has copied? */
static bool peeked_all(const struct smc_conn *conn, const struct reader *r)
{
	lockdep_assert_held(&conn->rx_mutex);
	return r->flags & MSG_PEEK && r->copied &&
	       r->pos - conn->read_pos >= lowat_max(conn);
}

/* SIGURG has been sent, and rcvd_pos has not moved yet: rx_urgent() */
static bool urgent_comes(const struct smc_conn *conn)
{
	u64 urg = READ_ONCE(conn->urg_rx_pos);

	return urg != SMC_NO_POS && urg >= smp_load_acquire(&conn->rcvd_pos);
}

/*
 * No byte can be read: 0 to wait or look again, 1 to return what was copied (or
 * 0: end of file), -errno.  Checks in the same order as TCP.
 */
static int nothing(struct smc_conn *conn, const struct reader *r)
{
	bool over, failed, closed, done;

	if (r->copied >= r->target || peeked_all(conn, r))
		return 1;
	/* pairs with apply(), which stores in the opposite order */
	closed = READ_ONCE(conn->state) == SMC_CLOSED;
	smp_rmb();
	over = READ_ONCE(conn->shutdown) & RCV_SHUTDOWN;
	smp_rmb();
	failed = smc_conn_has_error(conn);
	done = test_bit(SMC_CONN_PEER_DONE, &conn->flags);
	if (unlikely(urgent_comes(conn))) {
		spin_lock_bh(&conn->rx_lock);
		spin_unlock_bh(&conn->rx_lock);
	}
	/* The last bytes may have come just before their end did. */
	smp_rmb();
	if (end_pos(conn) > r->pos)
		return 0;
	/* the values above may be those of the next connection */
	if (unlikely(test_bit_acquire(SMC_CONN_STOPPED, &conn->flags)))
		return -EPIPE;
	if (r->copied)
		return failed || over || closed || !r->timeo ||
		       signal_pending(current);
	if (done)
		return 1;
	if (failed)
		return smc_conn_error(conn) ?: 1;
	if (over)
		return 1;
	if (closed)
		return -ENOTCONN;
	if (!r->timeo)
		return -EAGAIN;
	if (signal_pending(current))
		return sock_intr_errno(r->timeo);
	return 0;
}

/* Something to look at: more bytes, an error, the end? */
static bool ready(const struct smc_conn *conn, const struct reader *r)
{
	return end_pos(conn) > r->pos ||
	       test_bit(SMC_CONN_STOPPED, &conn->flags) ||
	       smc_conn_has_error(conn) ||
	       READ_ONCE(conn->shutdown) & RCV_SHUTDOWN ||
	       READ_ONCE(conn->state) == SMC_CLOSED;
}

static void wait_data(struct smc_conn *conn, struct reader *r)
{
	struct sock *sk = conn->sk;

	mutex_unlock(&conn->rx_mutex);
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	smc_sock_sleep(sk, false, ready(conn, r), &r->timeo);
	sk_clear_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	r->locked = !mutex_lock_killable(&conn->rx_mutex);
}

/* The loop of recvmsg.  0 or -errno; r->copied counts first. */
static int recv_all(struct smc_conn *conn, struct reader *r)
{
	int rc;

	do {
		u64 before = r->pos;

		/* As TCP: connect(AF_UNSPEC) has ended this connection. */
		if (unlikely(test_bit(SMC_CONN_STOPPED, &conn->flags)))
			return -EPIPE;
		rc = take_bytes(conn, r);
		if (r->pos != before && !(r->flags & MSG_PEEK)) {
			trace_smc_rx_recvmsg(conn->sk,
					     sock_net(conn->sk)->net_cookie,
					     r->pos - before, conn->lgr->dev);
			smc_conn_read_done(conn, r->marked);
			r->marked = false;
		}
		if (rc <= 0)
			break;
		if (r->pos != before && r->copied)
			continue;
		rc = nothing(conn, r);
		if (rc)
			break;
		if (end_pos(conn) <= r->pos)
			wait_data(conn, r);
		if (!r->locked)
			return -EINTR;
		/* as TCP: a call for 0 bytes ends with the first wake-up */
		if (!r->len)
			break;
	} while (1);
	return rc < 0 ? rc : 0;
}

static void count_read(const struct smc_conn *conn, size_t len)
{
	u32 size = conn->rcv_size;

	smc_conn_count(conn, SMC_TECH_RX_CALLS, 1);
	if (len > size)
		smc_conn_count(conn, SMC_TECH_RX_SMALL, 1);
	/* the peer learns of room in steps: it may see a full ring here */
	if (smc_conn_readable(conn) >= size - size / 8)
		smc_conn_count(conn, SMC_TECH_RX_FULL, 1);
}

/* Move SO_PEEK_OFF, unless it may be the next connection's. */
static void move_peek_off(const struct smc_conn *conn, const struct reader *r)
{
	if (unlikely(test_bit(SMC_CONN_STOPPED, &conn->flags)))
		return;
	if (r->flags & MSG_PEEK)
		sk_peek_offset_fwd(conn->sk, r->copied);
	else if (!r->pipe)
		sk_peek_offset_bwd(conn->sk, r->copied);
}

/* Bytes, 0 at end of file, or -errno. */
static int receive(struct smc_conn *conn, struct reader *r)
{
	struct sock *sk = conn->sk;
	int rc;

	if (mutex_lock_killable(&conn->rx_mutex))
		return -EINTR;
	r->locked = true;
	/* connect(AF_UNSPEC) came first */
	if (unlikely(test_bit_acquire(SMC_CONN_STOPPED, &conn->flags))) {
		mutex_unlock(&conn->rx_mutex);
		return -ENOTCONN;
	}
	r->pos = conn->read_pos + max(sk_peek_offset(sk, r->flags), 0);
	rc = recv_all(conn, r);
	move_peek_off(conn, r);
	if (r->locked)
		mutex_unlock(&conn->rx_mutex);
	if (r->copied && !(r->flags & MSG_PEEK))
		smc_conn_count_bytes(conn, SMC_TECH_RX_BYTES, SMC_HIST_RX_CALL,
				     r->copied);
	return r->copied ?: rc;
}

/*
 * What TCP_INQ and io_uring ask for: is there a reason to read on?  As with TCP,
 * an urgent byte is one, wherever it is, and the end counts as a byte.  A reader
 * that is told of nothing waits for the next wake-up.
 */
static int inq_hint(const struct smc_conn *conn)
{
	u32 len = readable(conn);

	if (len && urgent_dropped(conn, READ_ONCE(conn->read_pos)))
		len--;
	return len + test_bit(SMC_CONN_PEER_DONE, &conn->flags);
}

static void tell_inq(const struct smc_conn *conn, struct msghdr *msg)
{
	int inq;

	/* a bit of a word that TCP writes under the socket's lock */
	if (data_race(tcp_sk(conn->sk)->recvmsg_inq != 0)) {
		inq = inq_hint(conn);
		put_cmsg(msg, SOL_TCP, TCP_CM_INQ, sizeof(inq), &inq);
	}
	if (msg->msg_get_inq)
		msg->msg_inq = inq_hint(conn);
}

/**
 * smc_rx_recvmsg() - recvmsg() in phase SMC
 * @conn: connection
 * @msg: where to
 * @len: bytes wanted
 * @flags: MSG_*
 * @timeo: jiffies that the call may wait
 *
 * Context: process, no lock held.
 * Return: bytes, 0 at end of file, or -errno as TCP has it.
 */
int smc_rx_recvmsg(struct smc_conn *conn, struct msghdr *msg, size_t len,
		   int flags, long timeo)
{
	struct sock *sk = conn->sk;
	struct reader r = {
		.msg = msg,
		.err = -EFAULT,
		.len = len,
		.flags = flags,
		.target = sock_rcvlowat(sk, flags & MSG_WAITALL, len),
		.timeo = timeo,
	};
	int rc;

	count_read(conn, len);
	if (flags & MSG_OOB)
		rc = recv_urgent(conn, msg, len, flags);
	else
		rc = receive(conn, &r);
	if (rc >= 0)
		tell_inq(conn, msg);
	return rc;
}

/**
 * smc_rx_splice() - splice_read() in phase SMC
 * @conn: connection
 * @pipe: where to, locked by the core and with room
 * @len: bytes wanted
 * @timeo: jiffies that the call may wait
 *
 * A low-water mark applies to recv() only, as with TCP: any byte is enough.
 *
 * Context: process, no lock of the socket held.
 * Return: bytes, 0 at end of file or before an urgent byte, or -errno.
 */
ssize_t smc_rx_splice(struct smc_conn *conn, struct pipe_inode_info *pipe,
		      size_t len, long timeo)
{
	struct reader r = {
		.pipe = pipe,
		.len = len,
		.target = 1,
		.timeo = timeo,
	};

	if (!len)
		return 0;
	count_read(conn, len);
	smc_conn_count(conn, SMC_TECH_SPLICE, 1);
	return receive(conn, &r);
}
