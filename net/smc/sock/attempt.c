// SPDX-License-Identifier: GPL-2.0
/*
 * The handshake of a socket: begun by connect() or for a listener's child, its
 * outcome, its end from outside, and calls that wait for it.
 *
 * A client has no handshake before the SYN-ACK shows that the server answers
 * the offer: until then, and without that answer, an attempt costs what TCP's
 * connect() costs.
 *
 * While the phase is HS the TCP connection is the handshake's and nothing of it
 * is shown: data calls wait, poll() shows no event.  Its outcome is one of
 * three: the connection becomes the socket's (SMC), the socket becomes TCP's
 * (TCP, perhaps LATE first), or connect() has failed: then TCP has the error,
 * and the socket is as new (INIT).
 *
 * Context: per function; "locked": see smc_sock_assert_locked().
 * Tests: selftests/smc.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <net/sock.h>

#include "sock.h"
#include "stats.h"
#include "trace.h"

static u32 ring_size(int buf)
{
	u32 len = clamp(buf / 2, (int)SMC_SIZE_MIN, (int)SMC_SIZE_MAX);

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

/* The handshake's connection is attached: it becomes the socket's; locked. */
static void established(struct smc_sock *smc, struct smc_conn *conn)
{
	struct sock *sk = smc->sk;

	smc_sock_assert_locked(sk);
	WRITE_ONCE(sk->sk_sndbuf, 2 * conn->snd_size);
	WRITE_ONCE(sk->sk_rcvbuf, 2 * conn->rcv_size);
	smc_sock_take_lowat(smc);
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
	/* sock_diag may be looking */
	WRITE_ONCE(smc->row.reason, reason);
	WRITE_ONCE(smc->row.peer_diagnosis, diagnosis);
	smc_stats_fallback(smc->sn, test_bit(SMC_SK_SERVER, &smc->bits),
			   reason);
	trace_smc_switch_to_fallback(smc->sk, smc->sk,
				     sock_net(smc->sk)->net_cookie, reason);
}

/**
 * smc_attempt_fallback() - a client is plain TCP without a handshake
 * @smc: context of a locked socket that has none; its reference is dropped
 * @reason: why
 *
 * Context: any; the socket is locked.
 */
void smc_attempt_fallback(struct smc_sock *smc, u32 reason)
{
	smc_stats_inc(smc->sn, SMC_STAT_HS_CLNT_TCP);
	count_fallback(smc, reason, 0);
	smc_sock_fallback(smc);
}

/* Can the program read what came before the outcome: bytes, or the end? */
static bool came_before(struct smc_sock *smc)
{
	struct smc_conn *conn = smc_sock_conn_get(smc);
	bool yes;

	smc_sock_assert_locked(smc->sk);
	if (conn) {
		yes = smc_rx_readable(conn) || smc_rx_urgent_valid(conn) ||
		      READ_ONCE(conn->shutdown) & RCV_SHUTDOWN;
		smc_conn_put(conn);
		return yes;
	}
	/* smc_attempt_reveal() tells of what is held back */
	return smc_sock_rules(smc)->data[READ] == SMC_DATA_TCP &&
	       (smc_hs_tcp_readable(smc->sk) || smc_hs_tcp_at_urgent(smc->sk) ||
		smc_hs_tcp_closed(smc->sk));
}

/*
 * SIGIO for a connection, as TCP has it: that it can be written to, then that
 * there is something to read.  What came before was the handshake's, or no call
 * could read it yet.
 */
static void signal_usable(struct smc_sock *smc)
{
	sk_wake_async(smc->sk, SOCK_WAKE_IO, POLL_OUT);
	if (came_before(smc))
		smc->data_ready(smc->sk);
}

/* Wake connect() and poll(): the handshake has an outcome. */
static void wake_outcome(struct smc_sock *smc, bool usable)
{
	smc->state_change(smc->sk);
	if (usable)
		signal_usable(smc);
	else
		sk_wake_async(smc->sk, SOCK_WAKE_IO, POLL_ERR);
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
	} else if (usable) {
		count_fallback(smc, res->reason, res->peer_diagnosis);
		if (res->holds_back)
			smc_sock_cork_tcp(smc);
		if (res->holds_back || defers)
			smc_sock_set_phase(smc, SMC_PHASE_LATE);
		else
			smc_sock_fallback(smc);
	} else {
		if (test_bit(SMC_SK_SERVER, &smc->bits) &&
		    smc_acceptq_forget(smc))
			return;
		WRITE_ONCE(smc->row.reason, res->reason);
		WRITE_ONCE(smc->row.peer_diagnosis, res->peer_diagnosis);
		/* one that stays, or is in no queue of ours, is TCP's */
		if (test_bit(SMC_SK_SERVER, &smc->bits))
			smc_sock_fallback(smc);
		else
			smc_sock_reset(smc);
	}
	if (test_bit(SMC_SK_SERVER, &smc->bits))
		smc_defer_done(smc);
	wake_outcome(smc, usable);
}

/**
 * smc_attempt_reveal() - what TCP has for a socket is the program's from now on
 * @smc: context of a locked socket in phase LATE without a handshake; the
 *	socket's reference is dropped, the caller has another one
 *
 * Context: any.
 */
void smc_attempt_reveal(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	smc_sock_assert_locked(sk);
	smc_sock_fallback(smc);
	smc_defer_ready(smc);
	/*
	 * Another part of the kernel may have taken the callbacks.  data_ready()
	 * wakes no poll() that waits for EPOLLRDHUP alone: of the peer's end, or
	 * of the program's own behind bytes that were held back
	 */
	if (smc_hs_tcp_closed(sk) || READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN)
		sk->sk_state_change(sk);
	sk->sk_data_ready(sk);
}

static void hs_revealed(void *arg)
{
	drop_hs(arg);
	smc_attempt_reveal(arg);
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

/* How full is the queue that a child is in? */
static void look_at_queue(const struct smc_sock *smc,
			  struct smc_hs_setup *setup)
{
	const struct sock *listener;

	rcu_read_lock();
	listener = READ_ONCE(smc->listener);
	if (listener) {
		setup->queue_len = READ_ONCE(listener->sk_ack_backlog);
		setup->queue_max = READ_ONCE(listener->sk_max_ack_backlog);
	}
	rcu_read_unlock();
}

/* A handshake with its connection, or NULL. */
static struct smc_hs *new_hs(struct smc_sock *smc, gfp_t gfp)
{
	bool server = test_bit(SMC_SK_SERVER, &smc->bits);
	struct smc_hs_setup setup = {
		.events = &hs_events,
		.sk = smc->sk,
		.arg = smc,
		.sn = smc->sn,
		/* a client that refuses waits for a Proposal, see opened() */
		.role = server || smc->refuse ? SMC_SERV : SMC_CLNT,
		.connects = !server,
		.refuse = smc->refuse,
		.addr = smc->addr,
		.window_clamp = smc->window_clamp,
		/* charged to the program, wherever this runs */
		.memcg = smc->memcg,
	};
	struct mem_cgroup *old;
	struct smc_conn *conn;
	struct smc_hs *hs;

	gfp |= __GFP_ACCOUNT | __GFP_NOWARN;
	old = set_active_memcg(setup.memcg);
	conn = smc_sock_new_conn(smc, gfp);
	ring_sizes(smc, &setup.snd_len, &setup.rcv_len);
	look_at_queue(smc, &setup);
	smc_sock_hold(smc);
	hs = conn ? smc_hs_new(&setup, conn, gfp) : NULL;
	set_active_memcg(old);
	if (!hs) {
		smc_sock_put(smc);
		if (conn)
			smc_conn_put(conn);
	}
	return hs;
}

/* The handshake has the TCP connection from now on; locked. */
static void attempt_start(struct smc_sock *smc, struct smc_hs *hs)
{
	smc_sock_assert_locked(smc->sk);
	smc_hs_start(hs);
	rcu_assign_pointer(smc->hs, hs);
}

/*
 * Locked.  TCP may give up a child that it is still making, and destroys it
 * without its lock.
 */
static bool waits_for_hs(const struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	smc_sock_assert_locked(sk);
	return smc_sock_locked(sk) == smc && smc_sock_rules(smc)->attempt &&
	       !rcu_access_pointer(smc->hs) &&
	       !((1 << inet_sk_state_load(sk)) &
		 (TCPF_SYN_SENT | TCPF_SYN_RECV)) &&
	       !sock_flag(sk, SOCK_DEAD);
}

/*
 * No memory for a handshake: reset the peer, which waits for a message; locked.
 * A client's connect() has failed with this.
 */
static void give_up(struct smc_sock *smc)
{
	smc_sock_assert_locked(smc->sk);
	smc_hs_tcp_reset(smc->sk);
	if (!test_bit(SMC_SK_SERVER, &smc->bits)) {
		WRITE_ONCE(smc->sk->sk_err, ENOMEM);
		smc_sock_reset(smc);
		wake_outcome(smc, false);
	} else if (!smc_acceptq_forget(smc)) {
		smc_sock_fallback(smc);
		smc_defer_done(smc);
	}
}

/*
 * A client whose offer the server has not answered becomes TCP's; locked.
 * False: it is to have a handshake.
 */
static bool try_fallback(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	smc_sock_assert_locked(sk);
	if (test_bit(SMC_SK_SERVER, &smc->bits) || smc_hs_agreed(sk))
		return false;
	smc_attempt_fallback(smc, SMC_REASON_PEERNOSMC);
	sk->sk_state_change(sk);
	return true;
}

/**
 * smc_attempt_begin() - begin the handshake, for which there was no memory
 * @smc: context, referenced by the caller
 *
 * Context: process, no lock held; sleeps for memory.
 * Return: false: try again.  A system call has the socket, or it has begun
 * another attempt while the handshake was made.
 */
bool smc_attempt_begin(struct smc_sock *smc)
{
	/* pairs with smp_store_release() in begin() */
	u32 attempt = smp_load_acquire(&smc->attempts);
	/* the socket is not locked: what connect() changes now is not used */
	struct smc_hs *hs = data_race(new_hs(smc, GFP_KERNEL));
	struct sock *sk = smc->sk;
	bool again = false;

	spin_lock_bh(&sk->sk_lock.slock);
	if (waits_for_hs(smc)) {
		if (sock_owned_by_user_nocheck(sk) || attempt != smc->attempts) {
			again = true;
		} else if (try_fallback(smc)) {
			signal_usable(smc);
		} else if (hs) {
			attempt_start(smc, hs);
			hs = NULL;
		} else {
			give_up(smc);
		}
	}
	spin_unlock_bh(&sk->sk_lock.slock);
	if (hs)
		smc_hs_put(hs);
	return !again;
}

/* TCP's connection is established; locked. */
static void opened(struct smc_sock *smc)
{
	struct smc_hs *hs;

	smc_sock_assert_locked(smc->sk);
	if (try_fallback(smc))
		return;
	/* or TCP would not tell of a Proposal that is shorter */
	smc_sock_take_lowat(smc);
	/* the peer may be a client, too, and propose what has to be declined */
	if (!test_bit(SMC_SK_SERVER, &smc->bits) &&
	    smc_synopt_crossed(smc->sk))
		smc->refuse = SMC_REASON_PEERNOSMC;
	/*
	 * Where soft interrupts of a CPU overlap they share one active control
	 * group, which new_hs() sets.
	 */
	hs = IS_ENABLED(CONFIG_PREEMPT_RT) && !in_task() ?
	     NULL : new_hs(smc, GFP_ATOMIC);
	if (hs)
		attempt_start(smc, hs);
	else
		smc_sock_queue_work(smc, SMC_SK_WORK_BEGIN);
}

/**
 * smc_attempt_event() - TCP has news of an attempt without a handshake
 * @smc: context of a locked socket in phase HS; the socket's reference of it may
 *	be dropped
 *
 * A connection that was reset after it had been established is for the
 * handshake: a client connects again.
 *
 * Context: any; the socket is locked.
 */
void smc_attempt_event(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;
	int err;

	smc_sock_assert_locked(sk);
	switch (sk->sk_state) {
	case TCP_SYN_SENT:
	case TCP_SYN_RECV:
		break;
	case TCP_CLOSE:
		/* SO_ERROR takes no lock */
		err = READ_ONCE(sk->sk_err);
		if (!test_bit(SMC_SK_SERVER, &smc->bits) &&
		    err != ECONNRESET && err != EPIPE) {
			smc_stats_inc(smc->sn, SMC_STAT_HS_CLNT_ERR);
			smc_sock_reset(smc);
			sk->sk_state_change(sk);
			break;
		}
		fallthrough;
	default:
		/* without memory the first time, and queued since */
		if (!test_bit(SMC_SK_WORK_BEGIN, &smc->bits))
			opened(smc);
	}
}

/**
 * smc_attempt_stop() - take the TCP connection from the handshake
 * @smc: context of a locked socket
 *
 * Context: any; the socket is locked.
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

/**
 * smc_attempt_answers() - does a read in LATE have an answer already?
 * @smc: context, in any phase
 *
 * As with TCP: an error that does not end the connection, or the end of file
 * because the program has shut down reading.  No byte has come that a step could
 * still take away or show; a step shows the end of TCP's connection.
 *
 * Context: any; without the socket's lock the answer may be old.
 */
bool smc_attempt_answers(const struct smc_sock *smc)
{
	const struct sock *sk = smc->sk;

	return smc_sock_rules(smc)->tells &&
	       (READ_ONCE(sk->sk_err) ||
		READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN) &&
	       !smc_hs_tcp_closed(sk) && !smc_hs_tcp_readable(sk) &&
	       !smc_hs_tcp_at_urgent(sk);
}

static bool waits(const struct smc_sock *smc, int dir, int disconnects)
{
	return smc_sock_rules(smc)->data[dir] == SMC_DATA_WAIT &&
	       READ_ONCE(smc->sk->sk_disconnects) == disconnects &&
	       !(dir == READ && smc_attempt_answers(smc));
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

	while (!rc && waits(smc, dir, disconnects)) {
		if (!*timeo)
			rc = -EAGAIN;
		else if (signal_pending(current))
			rc = sock_intr_errno(*timeo);
		else
			smc_sock_sleep(sk, false,
				       !waits(smc, dir, disconnects), timeo);
	}
	return READ_ONCE(sk->sk_disconnects) == disconnects ? rc : -EPIPE;
}
