// SPDX-License-Identifier: GPL-2.0
/*
 * Is the peer still there?  TCP_USER_TIMEOUT and SO_KEEPALIVE for data that
 * does not go by TCP.
 *
 * TCP_USER_TIMEOUT: what the program wrote waits (not acknowledged by the
 * peer's device, or no room in the peer's ring), and nothing of it has moved
 * for that long: the connection ends with ETIMEDOUT.  With shared memory
 * nothing waits on this side but a writer without room.
 *
 * SO_KEEPALIVE: TCP's own probes go on, on the TCP connection, whose failure
 * ends ours unless the peer is heard otherwise (event.c).  They say nothing about
 * the way of the data: over RDMA an idle connection also sends a message of state
 * every TCP_KEEPINTVL after TCP_KEEPIDLE, and TCP_KEEPCNT of them without an
 * acknowledgment by the peer's device end the connection; with TCP_USER_TIMEOUT
 * that time without a sign of life, and not their number.  The peer's program has
 * no part in it.
 *
 * One timer, which runs only while one of the two needs it and holds a
 * reference of the connection then.  Its fields are its own, but for the start.
 *
 * Context: softirq, no lock, unless a function says otherwise.
 * Tests: selftests/smc/sockopts.c.
 */
#include <linux/tcp.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "sock.h"

/* Looks in a time limit, at least, while something waits. */
#define STEPS	4

/* Moves when the peer takes something of what we wrote. */
static u64 taken(const struct smc_conn *conn)
{
	return READ_ONCE(conn->done_pos) + READ_ONCE(conn->peer_read_pos);
}

/* Moves with every sign of life. */
static u64 alive(const struct smc_conn *conn)
{
	return READ_ONCE(conn->rcvd_pos) + READ_ONCE(conn->peer_read_pos) +
	       READ_ONCE(conn->acks);
}

/* Is something of the program's still waiting? */
static bool waiting(const struct smc_conn *conn)
{
	u32 want = READ_ONCE(conn->tx_want);

	/* all that was written is in the peer's ring */
	if (conn->merged)
		return want & SMC_WANT_WRITER &&
		       smc_conn_snd_free(conn) < (want & ~SMC_WANT_WRITER) &&
		       !(READ_ONCE(conn->st_flags) & SMC_ST_CLOSE_SENT);
	return smc_conn_prod(conn) != READ_ONCE(conn->done_pos);
}

static bool keepalive(const struct smc_conn *conn)
{
	return sock_flag(conn->sk, SOCK_KEEPOPEN) && !conn->merged;
}

/* Do unanswered probes end the connection?  As tcp_keepalive_timer(). */
static bool unanswered(const struct smc_conn *conn, unsigned long quiet)
{
	u32 limit_ms = READ_ONCE(inet_csk(conn->sk)->icsk_user_timeout);
	int probes = conn->keepalive.probes;

	if (limit_ms)
		return probes && quiet >= msecs_to_jiffies(limit_ms);
	return probes >= keepalive_probes(tcp_sk(conn->sk));
}

/* Jiffies until the next look at what waits; 0: never; -1: it is over. */
static long look_waiting(struct smc_conn *conn, unsigned int limit_ms)
{
	unsigned long limit = msecs_to_jiffies(limit_ms), quiet;
	struct smc_keepalive *w = &conn->keepalive;
	u64 pos = taken(conn);

	if (!limit_ms || !waiting(conn)) {
		WRITE_ONCE(w->waiting, false);
		/* pairs with smc_keepalive_written(): it may have seen true */
		smp_mb();
		if (!limit_ms || !waiting(conn))
			return 0;
	}
	if (!READ_ONCE(w->waiting) || pos != w->taken) {
		w->taken = pos;
		WRITE_ONCE(w->stamp, jiffies);
		WRITE_ONCE(w->waiting, true);
	}
	quiet = jiffies - READ_ONCE(w->stamp);
	if (quiet >= limit)
		return -1;
	/* what has arrived may not have been reported yet */
	smc_tx_request_completion(conn);
	return min(limit / STEPS + 1, limit - quiet);
}

/* The same for a connection that should be idle. */
static long look_alive(struct smc_conn *conn)
{
	const struct tcp_sock *tp = tcp_sk(conn->sk);
	unsigned long idle = keepalive_time_when(tp);
	/* read once: time passes, and the program sets options */
	unsigned long interval = keepalive_intvl_when(tp);
	struct smc_keepalive *w = &conn->keepalive;
	unsigned long now = jiffies, quiet;
	u64 pos = alive(conn);

	if (!keepalive(conn)) {
		w->probing = false;
		return 0;
	}
	if (!w->probing || pos != w->alive) {
		w->probing = true;
		w->alive = pos;
		w->alive_stamp = now;
		w->probes = 0;
	}
	quiet = now - w->alive_stamp;
	if (quiet < idle)
		return idle - quiet;
	if (w->probes && time_before(now, w->probe_stamp + interval))
		return w->probe_stamp + interval - now;
	if (unanswered(conn, quiet))
		return -1;
	w->probes++;
	w->probe_stamp = now;
	smc_conn_probe(conn);
	return max(interval, 1UL);
}

/* Look at @expires, or earlier if that was asked for meanwhile. */
static void look_later(struct smc_conn *conn, unsigned long expires)
{
	smc_conn_start_timer(conn, &conn->keepalive.timer, timer_reduce,
			     expires);
}

static bool over(const struct smc_conn *conn)
{
	return test_bit(SMC_CONN_STOPPED, &conn->flags) ||
	       test_bit(SMC_CONN_DEAD, &conn->flags) || smc_close_over(conn);
}

/**
 * smc_keepalive_timer() - look whether the peer is still there
 * @t: a connection's keepalive.timer
 *
 * Context: softirq.
 */
void smc_keepalive_timer(struct timer_list *t)
{
	struct smc_conn *conn = timer_container_of(conn, t, keepalive.timer);
	const struct inet_connection_sock *icsk = inet_csk(conn->sk);
	long data = 0, idle = 0;

	if (!over(conn)) {
		data = look_waiting(conn, READ_ONCE(icsk->icsk_user_timeout));
		idle = look_alive(conn);
	}
	if (data < 0 || idle < 0)
		smc_close_killed(conn, ETIMEDOUT, SMC_REASON_PEERSILENT, false);
	else if (data || idle)
		look_later(conn, jiffies + (data && idle ? min(data, idle) :
							   data ?: idle));
	smc_conn_put(conn);
}

/**
 * smc_keepalive_start() - an option or the connection is new: look at it
 * @conn: connection, the caller has a reference
 *
 * Context: any.
 */
void smc_keepalive_start(struct smc_conn *conn)
{
	if (READ_ONCE(inet_csk(conn->sk)->icsk_user_timeout) || keepalive(conn))
		look_later(conn, jiffies + 1);
}

/**
 * smc_keepalive_written() - the program has written, or wants to
 * @conn: connection of a socket with TCP_USER_TIMEOUT
 *
 * Cheap while something waits already.
 *
 * Context: process.
 */
void smc_keepalive_written(struct smc_conn *conn)
{
	/* prod_pos or tx_want first: pairs with look_waiting() */
	smp_mb();
	if (!READ_ONCE(conn->keepalive.waiting))
		smc_keepalive_start(conn);
}
