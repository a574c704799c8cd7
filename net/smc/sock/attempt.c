// SPDX-License-Identifier: GPL-2.0
/*
 * The handshake of a socket: begun by connect() or for a listener's child, its
 * outcome, its end from outside, and calls that wait for it.
 *
 * While the phase is HS the TCP connection is the handshake's and nothing of it
 * is shown: data calls wait, poll() shows no event.  Its outcome is one of
 * three: the connection becomes the socket's (SMC), the socket becomes TCP's
 * (TCP, perhaps LATE first), or connect() has failed: then TCP has the error,
 * and the socket is as new (INIT).
 *
 * Context: "locked" as in context.c.  Tests: selftests/smc.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <net/sock.h>

#include "sock.h"
#include "stats.h"
#include "trace.h"

/* Ring sizes: a power of two from here (size code 0). */
#define RING_MIN	16384U

static u32 ring_size(int buf)
{
	u32 len = clamp(buf / 2, (int)RING_MIN, 1 << 29);

	return roundup_pow_of_two(len);
}

/*
 * The rings by SO_SNDBUF and SO_RCVBUF, whose values count double, as usual;
 * without them the namespace decides.
 */
static void ring_sizes(const struct smc_sock *smc, u32 *snd, u32 *rcv)
{
	const struct sock *sk = smc->sk;

	*snd = ring_size(sk->sk_userlocks & SOCK_SNDBUF_LOCK ?
			 READ_ONCE(sk->sk_sndbuf) :
			 2 * READ_ONCE(smc->sn->wmem));
	*rcv = ring_size(sk->sk_userlocks & SOCK_RCVBUF_LOCK ?
			 READ_ONCE(sk->sk_rcvbuf) :
			 2 * READ_ONCE(smc->sn->rmem));
}

static struct smc_hs *locked_hs(const struct smc_sock *smc)
{
	return rcu_dereference_protected(smc->hs,
					 lockdep_sock_is_held(smc->sk));
}

/* The socket shows no handshake any more; locked. */
static void drop_hs(struct smc_sock *smc)
{
	struct smc_hs *hs = locked_hs(smc);

	RCU_INIT_POINTER(smc->hs, NULL);
	if (hs)
		smc_hs_put(hs);
}

/* The handshake ended with a bound connection, which becomes the socket's. */
static void established(struct smc_sock *smc, struct smc_conn *conn)
{
	struct sock *sk = smc->sk;

	WRITE_ONCE(sk->sk_sndbuf, 2 * conn->snd_size);
	WRITE_ONCE(sk->sk_rcvbuf, 2 * conn->rcv_size);
	WRITE_ONCE(sk->sk_rcvlowat, smc->lowat);
	/* ESTABLISHED publishes it: connect(AF_UNSPEC) may drop it at once */
	smc_conn_get(conn);
	/* before the phase: a call that sees SMC_PHASE_SMC may send */
	smc_conn_event(conn, SMC_EV_ESTABLISHED, 0, false);
	smc_sock_set_phase(smc, SMC_PHASE_SMC);
	smc_sock_early_flags(conn);
	smc_keepalive_start(conn);
	/* An abort before ESTABLISHED was ignored, but its flag is set. */
	smp_mb();
	if (test_bit(SMC_CONN_DEAD, &conn->flags) ||
	    test_bit(SMC_CONN_WANT_ABORT, &conn->flags))
		smc_conn_event(conn, SMC_EV_KILLED, 0, false);
	smc_close_tcp_event(smc);
	smc_conn_put(conn);
}

static void count_fallback(struct smc_sock *smc, u32 reason, u32 diagnosis)
{
	smc->row.reason = reason;
	smc->row.peer_diagnosis = diagnosis;
	smc_stats_fallback(smc->sn, test_bit(SMC_SK_SERVER, &smc->bits),
			   reason);
	trace_smc_switch_to_fallback(smc->sk, smc->sk,
				     sock_net(smc->sk)->net_cookie, reason);
}

/**
 * smc_attempt_plain() - be plain TCP without a handshake
 * @smc: context of a locked socket that has none; its reference is dropped
 * @reason: why
 */
void smc_attempt_plain(struct smc_sock *smc, u32 reason)
{
	count_fallback(smc, reason, 0);
	smc_sock_go_plain(smc);
}

/* Wake connect() and poll(): the handshake has an outcome. */
static void wake_outcome(struct smc_sock *smc, bool usable)
{
	struct sock *sk = smc->sk;

	smc->state_change(sk);
	sk_wake_async(sk, SOCK_WAKE_IO, usable ? POLL_OUT : POLL_ERR);
}

/* Locked; the handshake has a reference of @smc. */
static void hs_done(void *arg, const struct smc_hs_result *res)
{
	bool usable = res->outcome != SMC_HS_ERR;
	struct smc_sock *smc = arg;
	bool defers;

	defers = smc_defer_begin(smc);
	if (!res->holds_back)
		drop_hs(smc);
	if (res->outcome == SMC_HS_SMC) {
		established(smc, res->conn);
	} else if (res->holds_back) {
		count_fallback(smc, res->reason, res->peer_diagnosis);
		smc_sock_cork_tcp(smc);
		smc_sock_set_phase(smc, SMC_PHASE_LATE);
	} else if (usable) {
		count_fallback(smc, res->reason, res->peer_diagnosis);
		if (defers)
			smc_sock_set_phase(smc, SMC_PHASE_LATE);
		else
			smc_sock_go_plain(smc);
	} else {
		if (test_bit(SMC_SK_SERVER, &smc->bits) &&
		    smc_acceptq_forget(smc))
			return;
		smc->row.reason = res->reason;
		smc->row.peer_diagnosis = res->peer_diagnosis;
		smc_sock_reset(smc);
	}
	if (test_bit(SMC_SK_SERVER, &smc->bits))
		smc_defer_done(smc);
	wake_outcome(smc, usable);
}

/* The held back bytes belong to the program: the socket is plain TCP now. */
static void hs_revealed(void *arg)
{
	struct smc_sock *smc = arg;

	drop_hs(smc);
	smc_sock_go_plain(smc);
	if (test_bit(SMC_SK_SERVER, &smc->bits))
		smc_defer_ready(smc);
	smc->data_ready(smc->sk);
}

static void hs_release(void *arg)
{
	smc_sock_put(arg);
}

static const struct smc_hs_events hs_events = {
	.done		= hs_done,
	.revealed	= hs_revealed,
	.release	= hs_release,
};

/**
 * smc_attempt_new() - make a handshake, with its connection
 * @smc: context
 * @role: client or server
 * @refuse: server: decline for this reason, whatever the client proposes
 * @addr: client: where connect() goes
 * @addr_len: its length
 *
 * Context: process.
 * Return: handshake with one reference, or NULL.
 */
struct smc_hs *smc_attempt_new(struct smc_sock *smc, enum smc_role role,
			       enum smc_reason refuse,
			       const struct sockaddr *addr, int addr_len)
{
	struct smc_hs_setup setup = {
		.events = &hs_events,
		.sk = smc->sk,
		.arg = smc,
		.sn = smc->sn,
		.role = role,
		.refuse = refuse,
	};
	struct smc_conn *conn;
	struct smc_hs *hs;

#ifdef CONFIG_MEMCG
	setup.memcg = smc->listener ? smc->listener->sk_memcg :
				      smc->sk->sk_memcg;
#endif
	conn = smc_sock_new_conn(smc);
	if (!conn)
		return NULL;
	ring_sizes(smc, &setup.snd_len, &setup.rcv_len);
	smc_sock_hold(smc);
	hs = smc_hs_new(&setup, conn, addr, addr_len);
	if (!hs) {
		smc_sock_put(smc);
		smc_conn_put(conn);
	}
	return hs;
}

/**
 * smc_attempt_start() - the handshake has the TCP connection from now on
 * @smc: context of a locked socket in phase HS
 * @hs: new handshake; the caller's reference becomes the socket's
 */
void smc_attempt_start(struct smc_sock *smc, struct smc_hs *hs)
{
	smc_hs_start(hs);
	rcu_assign_pointer(smc->hs, hs);
}

/**
 * smc_attempt_stop() - take the TCP connection from the handshake
 * @smc: context of a locked socket
 *
 * Return: true if the peer has to be reset.
 */
bool smc_attempt_stop(struct smc_sock *smc)
{
	struct smc_hs *hs = locked_hs(smc);
	bool reset;

	if (!hs)
		return false;
	RCU_INIT_POINTER(smc->hs, NULL);
	reset = smc_hs_stop(hs);
	smc_hs_put(hs);
	return reset;
}

/**
 * smc_attempt_wake() - TCP has news for the handshake
 * @smc: context
 *
 * Context: any.
 */
void smc_attempt_wake(struct smc_sock *smc)
{
	struct smc_hs *hs;

	rcu_read_lock();
	hs = rcu_dereference(smc->hs);
	if (hs)
		smc_hs_wake(hs);
	rcu_read_unlock();
}

/**
 * smc_attempt_unlocked() - a system call has let go of the socket
 * @smc: context
 *
 * Context: any.
 */
void smc_attempt_unlocked(struct smc_sock *smc)
{
	struct smc_hs *hs;

	if (likely(!rcu_access_pointer(smc->hs)))
		return;
	rcu_read_lock();
	hs = rcu_dereference(smc->hs);
	if (hs)
		smc_hs_unlocked(hs);
	rcu_read_unlock();
}

static bool waits(const struct smc_sock *smc, int dir)
{
	return smc_sock_rules(smc)->data[dir] == SMC_DATA_WAIT;
}

/**
 * smc_attempt_wait() - wait until the phase lets a data call go on
 * @smc: context, referenced by the caller
 * @dir: READ or WRITE
 * @timeo: jiffies left, updated
 *
 * Context: process, no lock held.
 * Return: 0; -EAGAIN when the time is over; the errno for a signal; -EPIPE if
 * connect(AF_UNSPEC) came meanwhile, as TCP has it.
 */
int smc_attempt_wait(struct smc_sock *smc, int dir, long *timeo)
{
	int disconnects = READ_ONCE(smc->sk->sk_disconnects);
	struct sock *sk = smc->sk;
	int rc = 0;

	while (waits(smc, dir) &&
	       READ_ONCE(sk->sk_disconnects) == disconnects) {
		if (!*timeo)
			rc = -EAGAIN;
		else if (signal_pending(current))
			rc = sock_intr_errno(*timeo);
		if (rc)
			break;
		smc_sock_sleep(sk, false, !waits(smc, dir) ||
			       READ_ONCE(sk->sk_disconnects) != disconnects,
			       timeo);
	}
	if (READ_ONCE(sk->sk_disconnects) != disconnects)
		rc = -EPIPE;
	return rc;
}
