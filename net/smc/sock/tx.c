// SPDX-License-Identifier: GPL-2.0
/*
 * Sending on an SMC connection.
 *
 * Bytes are copied from the program into the send ring (with shared memory
 * that is the peer's receive ring), then prod_pos is advanced by exactly the
 * number copied, then the connection is asked to push.  A fault in the middle
 * of the program's buffer therefore neither loses nor repeats a byte: what was
 * copied is sent and counted.  What a shutdown() overtakes while it is copied is
 * neither.
 *
 * A writer without room says how much it waits for (tx_want), has a full
 * barrier, looks again and sleeps; the receive path advances done_pos, has a
 * full barrier, looks at tx_want and wakes.  poll() is a writer that does not
 * sleep.  As with TCP, a third of the ring must be free before a poller is
 * woken; a sleeping writer is content with what it still has to write.  Both
 * also wait for what TCP_NOTSENT_LOWAT says.
 *
 * MSG_MORE and TCP_CORK keep data back while poll() sees room, for 200 ms at
 * most, unless an urgent byte follows.
 *
 * Context: process, tx_mutex taken here, unless a function says otherwise.
 * Tests: selftests/smc.
 */
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/uio.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "wire/ring.h"
#include "sock.h"
#include "stats.h"
#include "trace.h"

/* TCP's ceiling for corked data. */
#define CORK_MAX	msecs_to_jiffies(200)

static u32 third(const struct smc_conn *conn)
{
	return max(conn->snd_size / 3, 1U);
}

/*
 * Ask for a wake-up at @bytes free; @flag: SMC_WANT_WRITER, or 0 for poll().
 * Full barrier: the caller looks again.
 */
static void want(struct smc_conn *conn, u32 bytes, u32 flag)
{
	u32 cur = READ_ONCE(conn->tx_want), new;

	/* keep the smaller request: its waiter must be woken, too */
	do {
		new = min_not_zero(cur & ~SMC_WANT_WRITER, bytes) |
		      (cur & SMC_WANT_WRITER) | flag;
	} while (new != cur && !try_cmpxchg(&conn->tx_want, &cur, new));
	smp_mb();
	if (unlikely(READ_ONCE(inet_csk(conn->sk)->icsk_user_timeout)))
		smc_keepalive_written(conn);
}

/*
 * Is as much unsent as TCP_NOTSENT_LOWAT allows?  As with TCP, a waiter is
 * woken (@wake) when it is less than half of that.
 */
static bool too_much_unsent(const struct smc_conn *conn, bool wake)
{
	return (u64)smc_conn_unsent(conn) << wake >=
	       tcp_notsent_lowat(tcp_sk(conn->sk));
}

/* Must a writer wait?  If so, smc_tx_writable() is called when it need not. */
static bool limited(struct smc_conn *conn, bool wake)
{
	if (likely(!too_much_unsent(conn, wake)))
		return false;
	set_bit(SMC_CONN_TELL_SENT, &conn->flags);
	smp_mb__after_atomic();
	return too_much_unsent(conn, wake);
}

/* May a writer go on that waited for @need free bytes? */
static inline bool ring_has_room(struct smc_conn *conn, u32 need, bool wake)
{
	return smc_conn_snd_free(conn) >= need && !limited(conn, wake);
}

/**
 * smc_tx_request_completion() - have done_pos catch up with what has been sent
 * @conn: attached connection
 *
 * A completion is asked for once for each position, and not if the push was
 * signalled: a program that polls a full ring in a loop must not cause a message
 * each time.
 *
 * Context: process or softirq, no spinlock of the connection held; not from
 * smc_conn_events.
 */
void smc_tx_request_completion(struct smc_conn *conn)
{
	/* read once: a push that fails takes it back */
	u64 sent = READ_ONCE(conn->sent_pos);

	if (conn->merged || READ_ONCE(conn->completion_pos) == sent ||
	    READ_ONCE(conn->done_pos) == sent)
		return;
	WRITE_ONCE(conn->completion_pos, sent);
	smc_conn_probe(conn);
}

/**
 * smc_tx_writable() - the send ring has more room (smc_conn_events.writable)
 * @conn: the connection
 *
 * Context: any; conn->rx_lock may be held.
 */
void smc_tx_writable(struct smc_conn *conn)
{
	struct sock *sk = conn->sk;
	u32 cur;

	smp_mb();	/* pairs with want() */
	cur = READ_ONCE(conn->tx_want) & ~SMC_WANT_WRITER;
	/* limited(): the waiter may have looked at the room alone */
	if (!cur || !ring_has_room(conn, cur, true))
		return;
	WRITE_ONCE(conn->tx_want, 0);
	smc_sock_wake(sk, EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND);
	if (!(READ_ONCE(conn->shutdown) & SEND_SHUTDOWN))
		sk_wake_async(sk, SOCK_WAKE_SPACE, POLL_OUT);
}

/**
 * smc_tx_poll() - is there room enough for poll() to say so?
 * @conn: attached connection
 *
 * If not, smc_tx_writable() wakes pollers when there is.
 *
 * Context: process.
 */
bool smc_tx_poll(struct smc_conn *conn)
{
	u32 min = third(conn);

	if (ring_has_room(conn, min, true))
		return true;
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, conn->sk);
	want(conn, min, 0);
	smc_tx_request_completion(conn);
	return ring_has_room(conn, min, true);
}

/**
 * smc_tx_want_empty() - have smc_tx_writable() wake when all has arrived
 * @conn: attached connection
 *
 * Full barrier: the caller is in the wait queue and looks again after this.
 *
 * Context: process, no spinlock of the connection held.
 */
void smc_tx_want_empty(struct smc_conn *conn)
{
	want(conn, conn->snd_size, 0);
	smc_tx_request_completion(conn);
}

/* May the program send?  0 or -EPIPE: the real error is found later. */
static int check(const struct smc_conn *conn)
{
	u8 state;
	bool over;

	/* As TCP: connect(AF_UNSPEC) has ended this call's connection. */
	if (unlikely(test_bit_acquire(SMC_CONN_STOPPED, &conn->flags)))
		return -EPIPE;
	/* A peer that has closed meanwhile reads nothing any more. */
	state = READ_ONCE(conn->state);
	over = (state != SMC_ACTIVE &&
		!smc_state_may_send(state, READ_ONCE(conn->st_flags))) ||
	       READ_ONCE(conn->shutdown) & SEND_SHUTDOWN;
	/* pairs with apply(): the error was stored before state and shutdown */
	smp_rmb();
	return over || smc_conn_has_error(conn) ? -EPIPE : 0;
}

/* The peer has closed, and the program has not been told by an error yet. */
static bool no_reader(const struct smc_conn *conn)
{
	return !test_bit(SMC_CONN_STOPPED, &conn->flags) &&
	       READ_ONCE(conn->state) == SMC_APPCLOSEWAIT1 &&
	       READ_ONCE(conn->st_flags) & SMC_ST_PEER_CLOSED &&
	       !(READ_ONCE(conn->shutdown) & SEND_SHUTDOWN) &&
	       !smc_conn_has_error(conn);
}

/*
 * As with TCP, the first write after the peer has closed succeeds, and the next
 * one fails as after the peer's reset.  The bytes are dropped: the peer's ring
 * may belong to another connection by now.
 */
static int drop_write(struct smc_conn *conn, struct msghdr *msg)
{
	size_t len = msg_data_left(msg);

	lockdep_assert_held(&conn->tx_mutex);
	if (!len)
		return 0;
	len -= fault_in_iov_iter_readable(&msg->msg_iter, len);
	if (!len)
		return -EFAULT;
	iov_iter_advance(&msg->msg_iter, len);
	smc_close_no_reader(conn);
	return len;
}

/*
 * Bytes copied before they are pushed.  A reader of the same ring, on another
 * CPU, begins while the writer copies on; one on this CPU cannot.  A device has
 * more work with four messages than with one.
 */
static u32 chunk(const struct smc_conn *conn)
{
	return max(conn->snd_size / 4, conn->merged ? SZ_16K : SZ_64K);
}

/*
 * Has the reader of a shared ring last run on this CPU?  It cannot begin before
 * this call sleeps or ends, so a push on the way only costs switches.
 */
static bool reader_is_here(const struct smc_conn *conn)
{
	return conn->merged && READ_ONCE(conn->sk->sk_incoming_cpu) ==
			       raw_smp_processor_id();
}

/*
 * The copy has slept, and the stream has ended meanwhile: the peer may have read
 * the end of file.  If the core ended it, an error follows under rx_lock, which
 * the program is to see and not SIGPIPE.
 */
static int overtaken(struct smc_conn *conn)
{
	spin_lock_bh(&conn->rx_lock);
	spin_unlock_bh(&conn->rx_lock);
	return check(conn) ?: -EPIPE;
}

/*
 * Is the last one of the @n bytes that were copied, of @len, the urgent one?  As
 * TCP: also where the call ends short, or is to wait, as it may end then.
 */
static bool marks(const struct smc_conn *conn, struct msghdr *msg,
		  size_t n, size_t len)
{
	return unlikely(msg->msg_flags & MSG_OOB) &&
	       (n < len || !msg_data_left(msg) || n == smc_conn_snd_free(conn));
}

/*
 * Copy what fits and commit exactly that; bytes copied, -EFAULT if none, or what
 * overtaken() says.
 */
static int fill(struct smc_conn *conn, struct msghdr *msg, u32 room)
{
	struct smc_ring_span span;
	u64 pos = smc_conn_prod(conn);
	size_t len, n;
	bool ok;

	len = min_t(size_t, msg_data_left(msg), room);
	/* see marks(): the call may end after any chunk */
	if (len > chunk(conn) && !reader_is_here(conn) &&
	    !(msg->msg_flags & MSG_OOB))
		len = chunk(conn);
	smc_ring_span(conn->snd_size, pos, len, &span);
	n = copy_from_iter(conn->snd_base + span.off[0], span.len[0],
			   &msg->msg_iter);
	if (n == span.len[0] && span.len[1])
		n += copy_from_iter(conn->snd_base + span.off[1], span.len[1],
				    &msg->msg_iter);
	if (!n)
		return -EFAULT;
	if (marks(conn, msg, n, len)) {
		ok = smc_conn_publish_urgent(conn, pos, pos + n);
		smc_conn_count(conn, SMC_TECH_URGENT, ok);
	} else {
		ok = smc_conn_publish(conn, pos, pos + n);
	}
	if (unlikely(!ok))
		return overtaken(conn);
	trace_smc_tx_sendmsg(conn->sk, sock_net(conn->sk)->net_cookie, n,
			     conn->lgr->dev);
	return n;
}

/* The caller is in the wait queue: smc_tx_writable() wakes it. */
static bool room_or_news(struct smc_conn *conn, u32 need)
{
	want(conn, need, SMC_WANT_WRITER);
	smc_tx_request_completion(conn);
	return check(conn) || ring_has_room(conn, need, false);
}

/* Sleep until @need bytes are free or there is something else to look at. */
static int wait_room(struct smc_conn *conn, u32 need, long *timeo)
{
	smc_sock_sleep(conn->sk, false, room_or_news(conn, need), timeo);
	return signal_pending(current) ? sock_intr_errno(*timeo) : 0;
}

/*
 * No room: 0 to try again, or why not.  tx_mutex is dropped while waiting;
 * *@locked tells whether we have it again.
 */
static int no_room(struct smc_conn *conn, struct msghdr *msg, long *timeo,
		   bool *locked)
{
	u32 need = third(conn);
	int rc;

	lockdep_assert_held(&conn->tx_mutex);
	smc_conn_count(conn, SMC_TECH_TX_FULL, 1);
	/* Corked or not: a full ring goes out. */
	smc_conn_push(conn);
	if (ring_has_room(conn, 1, false))
		return 0;
	if (!*timeo) {
		sk_set_bit(SOCKWQ_ASYNC_NOSPACE, conn->sk);
		want(conn, need, SMC_WANT_WRITER);
		smc_tx_request_completion(conn);
		return ring_has_room(conn, need, false) ? 0 : -EAGAIN;
	}
	need = min_t(size_t, need, msg_data_left(msg));
	mutex_unlock(&conn->tx_mutex);
	rc = wait_room(conn, need, timeo);
	*locked = !mutex_lock_killable(&conn->tx_mutex);
	if (!*locked)
		rc = -EINTR;
	if (*locked && test_bit(SMC_CONN_STOPPED, &conn->flags))
		rc = -EPIPE;
	return rc;
}

/*
 * Let go of what was written, or hold it back for a while.  TCP_NOTSENT_LOWAT
 * counts what is held back: not as much as would have poll() wait.  As with TCP,
 * an urgent byte goes at once, and what was written before it.
 */
static void push_or_hold(struct smc_conn *conn, bool more, bool urgent)
{
	if ((more || test_bit(SMC_SK_CORK, &smc_of_conn(conn)->bits)) &&
	    !urgent &&
	    smc_conn_unsent(conn) < conn->snd_size / 4 &&
	    !too_much_unsent(conn, true)) {
		if (!test_and_set_bit(SMC_CONN_CORKED, &conn->flags))
			smc_conn_start_timer(conn, &conn->timer, mod_timer,
					     jiffies + CORK_MAX);
		return;
	}
	if (test_bit(SMC_CONN_CORKED, &conn->flags))
		clear_bit(SMC_CONN_CORKED, &conn->flags);
	smc_conn_push_data(conn);
}

/**
 * smc_tx_uncork() - send what MSG_MORE or TCP_CORK held back
 * @conn: attached connection
 *
 * Context: any but an up-call.
 */
void smc_tx_uncork(struct smc_conn *conn)
{
	clear_bit(SMC_CONN_CORKED, &conn->flags);
	smc_conn_push(conn);
}

/*
 * The loop of sendmsg after check().  Bytes written, or -errno if none;
 * *@locked: tx_mutex is still held.
 */
static int send_all(struct smc_conn *conn, struct msghdr *msg, long timeo,
		    bool *locked)
{
	bool urgent = msg->msg_flags & MSG_OOB;
	int copied = 0, rc = 0;
	u32 room;

	lockdep_assert_held(&conn->tx_mutex);
	while (!rc && msg_data_left(msg)) {
		room = smc_conn_snd_free(conn);
		if (!room || unlikely(too_much_unsent(conn, false))) {
			rc = no_room(conn, msg, &timeo, locked) ?: check(conn);
			continue;
		}
		rc = fill(conn, msg, room);
		if (rc < 0)
			break;
		copied += rc;
		rc = 0;
		if (!msg_data_left(msg)) {
			push_or_hold(conn, msg->msg_flags & MSG_MORE, urgent);
			break;
		}
		if (!reader_is_here(conn))
			smc_conn_push(conn);
		rc = check(conn);
	}
	if (unlikely(copied && READ_ONCE(inet_csk(conn->sk)->icsk_user_timeout)))
		smc_keepalive_written(conn);
	/* What was copied before a fault goes out like a short write. */
	if (copied && rc)
		push_or_hold(conn, false, urgent);
	return copied ?: rc;
}

/*
 * MSG_ZEROCOPY: what is sent is copied, and the program hears both that it is
 * done and that it was copied (SO_EE_CODE_ZEROCOPY_COPIED), as of TCP on one
 * host.
 */
static int completion_begin(struct sock *sk, struct msghdr *msg, size_t len,
			    struct ubuf_info **uarg)
{
	/* io_uring completes a ubuf that it has passed */
	if (likely(!(msg->msg_flags & MSG_ZEROCOPY)) || !len ||
	    msg->msg_ubuf || !sock_flag(sk, SOCK_ZEROCOPY))
		return 0;
	*uarg = msg_zerocopy_realloc(sk, len, NULL, false);
	if (!*uarg)
		return -ENOBUFS;
	uarg_to_msgzc(*uarg)->zerocopy = 0;
	return 0;
}

/* tx_mutex is held; *@locked: it still is. */
static int send_owned(struct smc_conn *conn, struct msghdr *msg, long timeo,
		      bool *locked)
{
	int rc = check(conn);

	lockdep_assert_held(&conn->tx_mutex);
	if (likely(!rc))
		return send_all(conn, msg, timeo, locked);
	return no_reader(conn) ? drop_write(conn, msg) : rc;
}

static void count_write(const struct smc_conn *conn, size_t len)
{
	smc_conn_count(conn, SMC_TECH_TX_CALLS, 1);
	if (len > conn->snd_size)
		smc_conn_count(conn, SMC_TECH_TX_SMALL, 1);
	if (len > conn->peer_size)
		smc_conn_count(conn, SMC_TECH_TX_SMALL_PEER, 1);
}

/*
 * As TCP: a control message that is wrong, or not allowed, is refused, and so is
 * data in the memory of a device that is not the socket's.  Those that are fine
 * (a mark, a priority, time stamps) have no packets to be for.
 */
static int check_control(struct sock *sk, struct msghdr *msg)
{
	struct sockcm_cookie cookie;

	if (likely(!msg->msg_controllen))
		return 0;
	sockcm_init(&cookie, sk);
	if (sock_cmsg_send(sk, msg, &cookie) || SMC_CMSG_DEVMEM(&cookie))
		return -EINVAL;
	return 0;
}

/* TCP's answer to MSG_FASTOPEN on a connection. */
static int refuse_fastopen(const struct sock *sk, const struct msghdr *msg)
{
	const struct sockaddr *name = msg->msg_name;
	bool has_family = msg->msg_namelen >= (int)sizeof(name->sa_family);

	if (!(READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_fastopen) &
	      TFO_CLIENT_ENABLE) ||
	    (name && has_family && name->sa_family == AF_UNSPEC))
		return -EOPNOTSUPP;
	return name && !has_family ? -EINVAL : -EISCONN;
}

/**
 * smc_tx_sendmsg() - sendmsg() in phase SMC
 * @conn: the socket's connection, referenced by the caller
 * @msg: message
 * @len: its length
 * @timeo: jiffies that the call may wait
 *
 * Context: process, no lock held.
 * Return: bytes written, or -errno as TCP has it; EPIPE comes with SIGPIPE
 * unless MSG_NOSIGNAL.
 */
int smc_tx_sendmsg(struct smc_conn *conn, struct msghdr *msg, size_t len,
		   long timeo)
{
	struct ubuf_info *uarg = NULL;
	struct sock *sk = conn->sk;
	bool locked = true;
	int rc;

	count_write(conn, len);
	if (msg->msg_flags & MSG_FASTOPEN)
		return refuse_fastopen(sk, msg);
	rc = check_control(sk, msg);
	if (rc)
		return rc;
	if (mutex_lock_killable(&conn->tx_mutex))
		return -EINTR;
	/* the numbers of completions are in the order of the bytes */
	rc = completion_begin(sk, msg, len, &uarg) ?:
	     send_owned(conn, msg, timeo, &locked);
	if (rc <= 0)
		net_zcopy_put_abort(uarg, true);
	if (locked)
		mutex_unlock(&conn->tx_mutex);
	if (rc > 0) {
		net_zcopy_put(uarg);
		smc_conn_count_bytes(conn, SMC_TECH_TX_BYTES, SMC_HIST_TX_CALL,
				     rc);
	}
	if (rc != -EPIPE)
		return rc;
	/* not sock_error(): sk_err may be TCP's, or the next connection's */
	rc = smc_conn_error(conn) ?: rc;
	if (rc == -EPIPE && !(msg->msg_flags & MSG_NOSIGNAL))
		send_sig(SIGPIPE, current, 0);
	return rc;
}
