// SPDX-License-Identifier: GPL-2.0
/*
 * bind() and connect().
 *
 * connect() issues TCP's without waiting and lets the handshake have the
 * connection; a blocking caller then waits for the outcome.  What connect()
 * says about an attempt that has failed, and how the socket looks then, is
 * TCP's.
 *
 * Context: process.  Tests: selftests/smc/sockconn.c.
 */
#include <linux/sctp.h>
#include <linux/security.h>
#include <net/inet_common.h>
#include <net/sock.h>

#include "sock.h"

/* What follows the first step of connect(). */
enum next {
	DONE,		/* the call returns what the step has returned */
	ASK_TCP,	/* TCP answers the call */
	WAIT_BEGUN,	/* wait for the attempt that this call has begun, */
	WAIT_OTHER,	/* for another thread's, */
	WAIT_TCP,	/* or for TCP's connect() */
};

/* A call of connect(). */
struct call {
	struct smc_sock *smc;
	struct socket *sock;
	struct sockaddr *addr;
	int len;
	int flags;
	enum next next;
};

/* The result of a step that the call does not return. */
static int then(struct call *c, enum next next)
{
	c->next = next;
	return 0;
}

/*
 * Ask the LSM again: the core may have asked it before the socket had the class
 * of a TCP socket.  Modules may call security_sctp_bind_connect() only, which
 * checks bind and connect of any socket with ports.  TCP refuses addresses
 * without ports.  The socket is owned.
 */
static int permission(struct sock *sk, bool is_bind,
		      const struct sockaddr *addr, int len)
{
	int what = is_bind ? SCTP_SOCKOPT_BINDX_ADD : SCTP_SOCKOPT_CONNECTX;
	struct sockaddr_in6 name = {};
	size_t size;

	smc_sock_assert_locked(sk);
	if (len < (int)sizeof(addr->sa_family))
		return 0;
	switch (addr->sa_family) {
	case AF_UNSPEC:
		if (!is_bind)
			return 0;
		fallthrough;
	case AF_INET:
		size = sizeof(struct sockaddr_in);
		break;
	case AF_INET6:
		size = sizeof(struct sockaddr_in6);
		break;
	default:
		return 0;
	}
	memcpy(&name, addr, min_t(size_t, len, size));
	/* all of it but the scope has to be there */
	if (len < SIN6_LEN_RFC2133)
		size = min_t(size_t, len, size);
	return security_sctp_bind_connect(sk, what, (struct sockaddr *)&name,
					  size);
}

/* The same for a socket that is not owned. */
static int permission_unlocked(struct sock *sk, bool is_bind,
			       const struct sockaddr *addr, int len)
{
	int rc;

	lock_sock(sk);
	rc = permission(sk, is_bind, addr, len);
	release_sock(sk);
	return rc;
}

/*
 * Is there a connection, and TCP's below over?  That has no port any more, and
 * bind() would change its names, which are ours.
 */
static bool outlives_tcp(struct sock *sk)
{
	struct smc_conn *conn = smc_sock_conn(sk);
	bool yes;

	if (!conn)
		return false;
	yes = !smc_close_over(conn) &&
	      inet_sk_state_load(sk) == TCP_CLOSE;
	smc_conn_put(conn);
	return yes;
}

static int may_bind(struct sock *sk, const struct sockaddr *addr, int len)
{
	int rc = permission_unlocked(sk, true, addr, len);

	return !rc && outlives_tcp(sk) ? -EINVAL : rc;
}

/**
 * smc_sock_bind() - bind() of a socket of ours
 * @sock: socket
 * @uaddr: address
 * @len: its length
 *
 * TCP's, after the LSM has been asked with the class of a TCP socket.  An SMC
 * connection is not bound.
 *
 * Context: process, no lock held.
 * Return: 0 or -errno.
 */
int smc_sock_bind(struct socket *sock, struct sockaddr_unsized *uaddr, int len)
{
	struct sockaddr *addr = (struct sockaddr *)uaddr;
	struct smc_sock *smc = smc_sock_get(sock->sk);
	int rc;

	if (smc) {
		smc_sock_begin(smc);
		smc_sock_put(smc);
	}
	rc = smc_sock_pinned(may_bind(sock->sk, addr, len));
	return rc ?: smc_sock_as_tcp(sock, bind, uaddr, len);
}

/* -- what connect() does in a phase; the socket is owned -- */

/* TCP's connect(): it begins the attempt, or answers the call. */
static int issue(const struct call *c, int flags)
{
	return __inet_stream_connect(c->sock,
				     (struct sockaddr_unsized *)c->addr,
				     c->len, flags, 0);
}

static int connect_as_tcp(struct call *c)
{
	return issue(c, c->flags);
}

/* The first connect() of an attempt. */
static int begin(struct call *c)
{
	struct smc_sock *smc = c->smc;
	struct sock *sk = smc->sk;
	int rc;

	/* for connecting again without the option */
	smc->window_clamp = tcp_sk(sk)->window_clamp;
	/* pairs with smp_load_acquire() in smc_attempt_begin() */
	smp_store_release(&smc->attempts, smc->attempts + 1);
	/* a listener's child that connects again is a client */
	clear_bit(SMC_SK_SERVER, &smc->bits);
	smc->refuse = SMC_REASON_OK;
	clear_bit(SMC_SK_WORK_BEGIN, &smc->bits);
	smc_synopt_offer(sk);
	smc_sock_hook(smc);
	smc_sock_set_phase(smc, SMC_PHASE_HS);
	rc = issue(c, O_NONBLOCK);
	if (!rc || rc == -EINPROGRESS)
		return then(c, WAIT_BEGUN);
	smc_sock_reset(smc);
	smc_synopt_off(sk);
	smc->state_change(sk);
	return rc;
}

/* Does TCP answer?  The address is bad, or the socket is not unconnected. */
static bool for_tcp(const struct call *c)
{
	const struct sock *sk = c->smc->sk;
	int min = sk->sk_family == AF_INET6 ? SIN6_LEN_RFC2133 :
					      sizeof(struct sockaddr_in);

	return c->len < min || c->addr->sa_family != sk->sk_family ||
	       c->sock->state != SS_UNCONNECTED || sk->sk_state != TCP_CLOSE;
}

/*
 * connect() without SMC.  Fallback comes after TCP's connect(): sock_diag shows
 * the addresses of the connection.
 */
static int fall_back(struct call *c, enum smc_reason why)
{
	struct smc_sock *smc = c->smc;
	int rc;

	/* an earlier attempt may have set it */
	smc_synopt_off(smc->sk);
	rc = issue(c, O_NONBLOCK);
	if (rc && rc != -EINPROGRESS)
		return rc;
	smc_attempt_fallback(smc, why);
	return rc && !(c->flags & O_NONBLOCK) ? then(c, WAIT_TCP) : rc;
}

/* Where connect() goes, with zeros behind it.  TCP takes no part of a scope. */
static void keep_addr(const struct call *c)
{
	struct sockaddr_in6 *addr = &c->smc->addr;

	memset(addr, 0, sizeof(*addr));
	memcpy(addr, c->addr, min_t(size_t, c->len, sizeof(*addr)));
	if (c->len < (int)sizeof(*addr))
		addr->sin6_scope_id = 0;
}

static int idle_connect(struct call *c)
{
	struct smc_sock *smc = c->smc;
	enum smc_reason why;

	if (for_tcp(c))
		return connect_as_tcp(c);
	keep_addr(c);
	smc_policy_ask(smc, c->addr);
	why = smc_sock_want(smc);
	/* after shutdown(): a handshake cannot begin shut down */
	if (why == SMC_REASON_OK && smc->sk->sk_shutdown)
		why = SMC_REASON_OPTUNSUPP;
	if (why == SMC_REASON_OK)
		why = smc_hs_want(smc->sk, &smc->addr);
	return why == SMC_REASON_OK ? begin(c) : fall_back(c, why);
}

static int attempt_connect(struct call *c)
{
	return then(c, WAIT_OTHER);
}

/*
 * The attempt has succeeded, and this call may say so.  If the connection has
 * been reset since, connect() has failed as far as the program knows.
 */
static int tell_connected(const struct call *c)
{
	struct smc_sock *smc = c->smc;
	struct smc_conn *conn = smc_sock_conn_get(smc);
	struct sock *sk = smc->sk;
	int rc = 0;

	if (smc_close_over(conn)) {
		rc = smc_conn_error(conn) ?: -ECONNABORTED;
		smc_close_disconnect(smc);
		smc_sock_reset(smc);
		sk->sk_prot->disconnect(sk, O_NONBLOCK);
		WRITE_ONCE(sk->sk_err, 0);
	}
	c->sock->state = rc ? SS_UNCONNECTED : SS_CONNECTED;
	smc_conn_put(conn);
	return rc;
}

static int smc_connect(struct call *c)
{
	return c->sock->state == SS_CONNECTING ? tell_connected(c) : -EISCONN;
}

/* -- what it says when the attempt that it waited for has ended -- */

/*
 * TCP's answer, for its own attempt or one that was given up.  Another thread may
 * have had it, or have shut the attempt down: TCP's connect() would begin another.
 */
static int tcp_outcome(struct call *c)
{
	struct socket *sock = c->sock;

	switch (sock->state) {
	case SS_CONNECTING:
		return connect_as_tcp(c);
	case SS_CONNECTED:
		return 0;
	default:
		return sock_error(sock->sk) ?: -ECONNABORTED;
	}
}

/* Another thread has begun the next one. */
static int attempt_outcome(struct call *c)
{
	return -EPIPE;
}

static int smc_outcome(struct call *c)
{
	return c->sock->state == SS_CONNECTING ? tell_connected(c) : 0;
}

/* -- connect(AF_UNSPEC) -- */

static int idle_disconnect(struct call *c)
{
	smc_listen_end(c->smc->sk);
	smc_synopt_off(c->smc->sk);
	return connect_as_tcp(c);
}

static int attempt_disconnect(struct call *c)
{
	smc_attempt_stop(c->smc);
	smc_sock_reset(c->smc);
	return idle_disconnect(c);
}

static int smc_disconnect(struct call *c)
{
	struct sock *sk = c->smc->sk;
	int rc, err;

	smc_close_disconnect(c->smc);
	err = READ_ONCE(sk->sk_err);
	smc_sock_reset(c->smc);
	rc = idle_disconnect(c);
	/* disconnect() has set it by the state of TCP, not of SMC */
	WRITE_ONCE(sk->sk_err, err);
	return rc;
}

static int late_disconnect(struct call *c)
{
	int rc;

	smc_attempt_stop(c->smc);
	rc = idle_disconnect(c);
	smc_sock_fallback(c->smc);
	return rc;
}

static const struct {
	int (*connect)(struct call *c);
	int (*outcome)(struct call *c);
	int (*disconnect)(struct call *c);
} in_phase[SMC_PHASES] = {
	[SMC_PHASE_INIT] = {
		.connect = idle_connect,
		.outcome = tcp_outcome,
		.disconnect = idle_disconnect,
	},
	[SMC_PHASE_HS] = {
		.connect = attempt_connect,
		.outcome = attempt_outcome,
		.disconnect = attempt_disconnect,
	},
	[SMC_PHASE_SMC] = {
		.connect = smc_connect,
		.outcome = smc_outcome,
		.disconnect = smc_disconnect,
	},
	[SMC_PHASE_LATE] = {
		.connect = connect_as_tcp,
		.outcome = tcp_outcome,
		.disconnect = late_disconnect,
	},
	[SMC_PHASE_TCP] = {
		.connect = connect_as_tcp,
		.outcome = tcp_outcome,
		.disconnect = connect_as_tcp,
	},
	[SMC_PHASE_DEAD] = {
		.connect = connect_as_tcp,
		.outcome = tcp_outcome,
		.disconnect = connect_as_tcp,
	},
};

/* -- the call -- */

static int first_step(struct call *c)
{
	struct smc_sock *smc = c->smc;
	int rc;

	smc_sock_begin_locked(smc);
	rc = permission(smc->sk, false, c->addr, c->len);
	if (rc)
		return rc;
	/* it fell back before it was locked */
	if (smc_sock_locked(smc->sk) != smc ||
	    c->len < (int)sizeof(c->addr->sa_family))
		return then(c, ASK_TCP);
	if (c->addr->sa_family == AF_UNSPEC)
		return in_phase[smc->phase].disconnect(c);
	return in_phase[smc->phase].connect(c);
}

/* TCP's connect() has begun, and the socket is TCP's. */
static int wait_for_tcp(struct call *c, int disconnects)
{
	struct sock *sk = c->sock->sk;
	int rc = -EPIPE;

	/* our reference of the context pins the module */
	lock_sock(sk);
	if (sk->sk_disconnects == disconnects)
		rc = tcp_outcome(c);
	release_sock(sk);
	return rc == -EALREADY ? -EINPROGRESS : rc;
}

/* Wait for the outcome of an attempt; @pending if the call must not wait. */
static int wait_for_outcome(struct call *c, int pending)
{
	struct sock *sk = c->smc->sk;
	long timeo = sock_sndtimeo(sk, c->flags & O_NONBLOCK);
	int rc;

	if (!timeo)
		return pending;
	rc = smc_attempt_wait(c->smc, WRITE, &timeo);
	if (rc)
		return rc == -EAGAIN ? pending : rc;
	lock_sock(sk);
	rc = in_phase[c->smc->phase].outcome(c);
	release_sock(sk);
	smc_attempt_unlocked(c->smc);
	return rc;
}

/* connect() of a socket that has a context */
static int connect_ours(struct call *c)
{
	struct sock *sk = c->smc->sk;
	int rc, disconnects;

	lock_sock(sk);
	rc = first_step(c);
	disconnects = sk->sk_disconnects;
	release_sock(sk);
	/* a handshake step may have found the socket owned */
	smc_attempt_unlocked(c->smc);
	switch (c->next) {
	case WAIT_BEGUN:
		return wait_for_outcome(c, -EINPROGRESS);
	case WAIT_OTHER:
		return wait_for_outcome(c, -EALREADY);
	case WAIT_TCP:
		return wait_for_tcp(c, disconnects);
	default:
		return rc;
	}
}

/**
 * smc_sock_connect() - connect() of a socket of ours
 * @sock: socket
 * @uaddr: address; AF_UNSPEC gives the connection or the attempt up
 * @len: its length
 * @flags: O_NONBLOCK
 *
 * Context: process, no lock held.
 * Return: 0 or -errno, as TCP has it.
 */
int smc_sock_connect(struct socket *sock, struct sockaddr_unsized *uaddr,
		     int len, int flags)
{
	struct call c = {
		.smc = smc_sock_get(sock->sk),
		.sock = sock,
		.addr = (struct sockaddr *)uaddr,
		.len = len,
		.flags = flags,
	};
	int rc;

	if (c.smc) {
		rc = connect_ours(&c);
		smc_sock_put(c.smc);
	} else {
		rc = smc_sock_pinned(permission_unlocked(sock->sk, false,
							 c.addr, len));
		if (!rc)
			c.next = ASK_TCP;
	}
	if (c.next == ASK_TCP)
		rc = smc_sock_as_tcp(sock, connect, uaddr, len, flags);
	return rc;
}
