// SPDX-License-Identifier: GPL-2.0
/*
 * The socket operations: TCP's, but for what a connection of ours needs.
 *
 * Every operation asks first whether there is a connection (phase SMC, the
 * common case), then whether there is a context; without one the socket has
 * become TCP's while the call was on its way, and the call is TCP's, too.
 *
 * A data call on a socket that is not connected is answered here.  If it went to
 * TCP another thread's connect() might come first, and the call would read from
 * the handshake or write into it.
 *
 * TCP's operations are called with the module pinned: a socket that becomes TCP's
 * has no context that does it.
 *
 * connect() issues TCP's without waiting and lets the handshake have the
 * connection; a blocking caller then waits for the outcome.  What connect() says
 * about an attempt that has failed, and how the socket looks then, is TCP's.
 *
 * Context: process.  Tests: selftests/smc.
 */
#include <linux/poll.h>
#include <linux/sctp.h>
#include <linux/security.h>
#include <linux/sockios.h>
#include <linux/uaccess.h>
#include <net/inet_common.h>
#include <net/sock.h>

#include "sock.h"
#include "stats.h"

#include <asm/ioctls.h>

struct proto_ops smc_sock_ops4 __ro_after_init;
struct proto_ops smc_sock_ops6 __ro_after_init;

/* -- bind and connect -- */

/*
 * The LSM may have been asked about this call when the socket was no TCP socket
 * for it.  Of the hooks with these two questions one is for modules to call, that
 * for addresses that SCTP learns otherwise than by bind() and connect(); it asks
 * them about any socket with ports.  Addresses without ports are left to TCP to
 * refuse.
 */
static int permission(struct sock *sk, bool is_bind,
		      const struct sockaddr *addr, int len)
{
	int what = is_bind ? SCTP_SOCKOPT_BINDX_ADD : SCTP_SOCKOPT_CONNECTX;
	struct sockaddr_in6 name = {};
	size_t size;
	int rc;

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
	lock_sock(sk);
	rc = security_sctp_bind_connect(sk, what, (struct sockaddr *)&name,
					size);
	release_sock(sk);
	return rc;
}

static int op_bind(struct socket *sock, struct sockaddr_unsized *uaddr, int len)
{
	struct sockaddr *addr = (struct sockaddr *)uaddr;
	struct smc_sock *smc = smc_sock_get(sock->sk);
	int rc;

	if (smc) {
		smc_sock_begin(smc);
		smc_sock_put(smc);
	}
	rc = smc_sock_pinned(permission(sock->sk, true, addr, len));
	return rc ?: smc_sock_as_tcp(sock, bind, uaddr, len);
}

/* TCP lets it begin, or has the answer; the socket is owned. */
static int issue_connect(struct socket *sock, struct sockaddr *addr, int len,
			 int flags)
{
	return __inet_stream_connect(sock, (struct sockaddr_unsized *)addr, len,
				     flags, 0);
}

/* connect(AF_UNSPEC); owned */
static int disconnect(struct smc_sock *smc, struct socket *sock,
		      struct sockaddr *addr, int len, int flags)
{
	enum smc_phase phase = smc->phase;
	struct sock *sk = smc->sk;
	int rc, err;

	if (phase == SMC_PHASE_SMC)
		smc_close_disconnect(smc);
	err = READ_ONCE(sk->sk_err);
	smc_attempt_stop(smc);
	if (phase == SMC_PHASE_HS || phase == SMC_PHASE_SMC)
		smc_sock_unhook(smc);
	if (phase != SMC_PHASE_LATE)
		smc_sock_set_phase(smc, SMC_PHASE_INIT);
	smc_synopt_set(sk, false);
	rc = issue_connect(sock, addr, len, flags);
	/* TCP's connection may have been open for longer, or not so long */
	if (phase == SMC_PHASE_SMC)
		WRITE_ONCE(sk->sk_err, err);
	if (phase == SMC_PHASE_LATE)
		smc_sock_go_plain(smc);
	return rc;
}

/* The first connect() of an attempt; owned.  0: it has begun. */
static int begin(struct smc_sock *smc, struct socket *sock,
		 struct sockaddr *addr, int len)
{
	struct sock *sk = smc->sk;
	struct smc_hs *hs;
	int rc;

	hs = smc_attempt_new(smc, SMC_CLNT, SMC_REASON_OK, addr, len);
	if (!hs)
		return -ENOMEM;
	/* of a listener's child that connects again there is no server's side */
	clear_bit(SMC_SK_SERVER, &smc->bits);
	smc_synopt_set(sk, true);
	smc_sock_hook(smc);
	smc_sock_set_phase(smc, SMC_PHASE_HS);
	rc = issue_connect(sock, addr, len, O_NONBLOCK);
	if (!rc || rc == -EINPROGRESS) {
		smc_attempt_start(smc, hs);
		return 0;
	}
	smc_sock_set_phase(smc, SMC_PHASE_INIT);
	smc_sock_unhook(smc);
	smc_synopt_set(sk, false);
	smc_hs_put(hs);
	smc->state_change(sk);
	return rc;
}

/* Is it TCP that has to answer?  Something is wrong, or there was an attempt. */
static bool for_tcp(const struct sock *sk, const struct socket *sock,
		    const struct sockaddr *addr, int len)
{
	int min = sk->sk_family == AF_INET6 ? SIN6_LEN_RFC2133 :
					      sizeof(struct sockaddr_in);

	return len < min || addr->sa_family != sk->sk_family ||
	       sock->state != SS_UNCONNECTED || sk->sk_state != TCP_CLOSE;
}

/*
 * What a call may be told but 0 or -errno: TCP has the answer; the connection has
 * it; connect() has begun an attempt, or is to wait for that of another thread, or
 * for TCP's own.
 */
enum { ASK_TCP = 1, ASK_CONN, WAIT_BEGUN, WAIT_OTHER, WAIT_TCP };

/*
 * connect() that does not offer SMC; owned.  Fallback comes behind TCP's, so that
 * the connection can be shown.
 */
static int connect_plain(struct smc_sock *smc, struct socket *sock,
			 struct sockaddr *addr, int len, int flags,
			 enum smc_reason why)
{
	int rc;

	/* it may be left of an attempt that offered SMC */
	smc_synopt_set(smc->sk, false);
	rc = issue_connect(sock, addr, len, O_NONBLOCK);
	if (rc && rc != -EINPROGRESS)
		return rc;
	smc_stats_inc(smc->sn, SMC_STAT_HS_CLNT_TCP);
	smc_attempt_plain(smc, why);
	return rc && !(flags & O_NONBLOCK) ? WAIT_TCP : rc;
}

/*
 * The attempt has succeeded, and this call may say so; owned, phase SMC.  If the
 * connection has been reset since, connect() has failed as far as the program
 * knows.
 */
static int tell_connected(struct smc_sock *smc, struct socket *sock)
{
	struct smc_conn *conn = smc_sock_conn_get(smc);
	struct sock *sk = smc->sk;
	int rc = 0;

	if (smc_close_over(conn)) {
		rc = smc_conn_error(conn) ?: -ECONNABORTED;
		smc_close_disconnect(smc);
		smc_sock_unhook(smc);
		smc_sock_set_phase(smc, SMC_PHASE_INIT);
		sk->sk_prot->disconnect(sk, O_NONBLOCK);
		xchg(&sk->sk_err, 0);
	}
	sock->state = rc ? SS_UNCONNECTED : SS_CONNECTED;
	smc_conn_put(conn);
	return rc;
}

/* Owned. */
static int connect_owned(struct smc_sock *smc, struct socket *sock,
			 struct sockaddr *addr, int len, int flags)
{
	struct sock *sk = smc->sk;
	enum smc_reason why;

	if (addr->sa_family == AF_UNSPEC)
		return disconnect(smc, sock, addr, len, flags);
	if (smc->phase == SMC_PHASE_HS)
		return WAIT_OTHER;
	if (smc->phase == SMC_PHASE_SMC)
		return sock->state == SS_CONNECTING ?
		       tell_connected(smc, sock) : -EISCONN;
	if (smc->phase != SMC_PHASE_INIT || for_tcp(sk, sock, addr, len))
		return issue_connect(sock, addr, len, flags);
	why = smc_sock_barred(smc);
	/* it is to begin shut down, which a handshake cannot */
	if (why == SMC_REASON_OK && sk->sk_shutdown)
		why = SMC_REASON_OPTUNSUPP;
	if (why == SMC_REASON_OK)
		why = smc_hs_want(smc->sn, addr);
	if (why == SMC_REASON_OK)
		return begin(smc, sock, addr, len) ?: WAIT_BEGUN;
	return connect_plain(smc, sock, addr, len, flags, why);
}

/* The attempt has an outcome: what does connect() say?  Owned. */
static int outcome(struct smc_sock *smc, struct socket *sock,
		   struct sockaddr *addr, int len, int flags)
{
	struct sock *sk = smc->sk;

	if (smc->phase == SMC_PHASE_SMC)
		return sock->state == SS_CONNECTING ?
		       tell_connected(smc, sock) : 0;
	/* another thread has begun the next one */
	if (smc->phase == SMC_PHASE_HS)
		return -EPIPE;
	if (sock->state == SS_CONNECTING)
		return issue_connect(sock, addr, len, flags);
	if (smc->phase != SMC_PHASE_INIT)
		return 0;
	/* given up, or another thread has been told */
	return sock_error(sk) ?: -ECONNABORTED;
}

/* TCP's connect() has begun, and the socket is TCP's. */
static int wait_for_tcp(struct socket *sock, struct sockaddr_unsized *addr,
			int len, int flags, int disconnects)
{
	int rc;

	if (READ_ONCE(sock->sk->sk_disconnects) != disconnects)
		return -EPIPE;
	rc = smc_sock_as_tcp(sock, connect, addr, len, flags);
	return rc == -EALREADY ? -EINPROGRESS : rc;
}

static int op_connect(struct socket *sock, struct sockaddr_unsized *uaddr,
		      int len, int flags)
{
	struct sockaddr *addr = (struct sockaddr *)uaddr;
	struct sock *sk = sock->sk;
	int rc, pending, disconnects;
	struct smc_sock *smc;
	long timeo;

	smc = smc_sock_get(sk);
	if (smc)
		smc_sock_begin(smc);
	rc = smc_sock_pinned(permission(sk, false, addr, len));
	if (rc)
		goto out;
	if (!smc || len < (int)sizeof(addr->sa_family)) {
		rc = smc_sock_as_tcp(sock, connect, uaddr, len, flags);
		goto out;
	}
	lock_sock(sk);
	rc = smc_sock_locked(sk) == smc ?
	     connect_owned(smc, sock, addr, len, flags) : ASK_TCP;
	disconnects = sk->sk_disconnects;
	release_sock(sk);
	/* a step may have found it owned */
	smc_attempt_unlocked(smc);
	if (rc == ASK_TCP)
		rc = smc_sock_as_tcp(sock, connect, uaddr, len, flags);
	else if (rc == WAIT_TCP)
		rc = wait_for_tcp(sock, uaddr, len, flags, disconnects);
	if (rc <= 0)
		goto out;
	pending = rc == WAIT_BEGUN ? -EINPROGRESS : -EALREADY;
	timeo = sock_sndtimeo(sk, flags & O_NONBLOCK);
	rc = pending;
	if (!timeo)
		goto out;
	rc = smc_attempt_wait(smc, BIT(SMC_PHASE_HS), &timeo);
	if (rc) {
		rc = rc == -EAGAIN ? pending : rc;
		goto out;
	}
	lock_sock(sk);
	rc = outcome(smc, sock, addr, len, flags);
	release_sock(sk);
out:
	if (smc) {
		smc_attempt_unlocked(smc);
		smc_sock_put(smc);
	}
	return rc;
}

/* -- data -- */

static int unconnected_recv(struct sock *sk, int flags)
{
	if (sk->sk_state == TCP_LISTEN)
		return -ENOTCONN;
	if (flags & MSG_OOB)
		return -EINVAL;
	if (sock_flag(sk, SOCK_DONE))
		return 0;
	if (sk->sk_err)
		return sock_error(sk);
	return sk->sk_shutdown & RCV_SHUTDOWN ? 0 : -ENOTCONN;
}

/*
 * Whose is a data call?  ASK_TCP, ASK_CONN, or the answer (0 or -errno) of a
 * socket that is not connected.
 */
static int whose(struct smc_sock *smc, bool recv, int flags, long timeo)
{
	unsigned int wait = BIT(SMC_PHASE_HS) |
			    (recv ? BIT(SMC_PHASE_LATE) : 0);
	struct sock *sk = smc->sk;
	bool again;
	int rc;

	for (;;) {
		rc = smc_attempt_wait(smc, wait, &timeo);
		if (rc)
			return rc;
		/* another thread's connect() comes before this or after it */
		lock_sock(sk);
		again = BIT(smc->phase) & wait;
		if (smc->phase == SMC_PHASE_SMC)
			rc = ASK_CONN;
		else if (smc->phase != SMC_PHASE_INIT)
			rc = ASK_TCP;
		else
			rc = recv ? unconnected_recv(sk, flags) : -EPIPE;
		release_sock(sk);
		smc_attempt_unlocked(smc);
		if (!again)
			return rc;
	}
}

/* MSG_FASTOPEN: TCP's own way of a connect() with data. */
static void leave_to_tcp(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	smc_sock_begin(smc);
	lock_sock(sk);
	if (smc->phase == SMC_PHASE_INIT && sk->sk_state == TCP_CLOSE) {
		smc_stats_inc(smc->sn, SMC_STAT_HS_CLNT_TCP);
		smc_attempt_plain(smc, SMC_REASON_OPTUNSUPP);
	}
	release_sock(sk);
}

static int op_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sock *sk = sock->sk;
	struct smc_conn *conn;
	struct smc_sock *smc;
	int rc;

	for (;;) {
		conn = smc_sock_conn(sk);
		if (conn) {
			rc = smc_tx_sendmsg(conn, msg, len);
			smc_conn_put(conn);
			return rc;
		}
		smc = smc_sock_get(sk);
		if (!smc)
			return smc_sock_as_tcp(sock, sendmsg, msg, len);
		if (msg->msg_flags & MSG_FASTOPEN)
			leave_to_tcp(smc);
		rc = whose(smc, false, msg->msg_flags,
			   sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT));
		if (rc == ASK_CONN) {
			smc_sock_put(smc);
			continue;
		}
		if (rc == ASK_TCP) {
			rc = smc_sock_as_tcp(sock, sendmsg, msg, len);
			/* what is hidden could not be looked at meanwhile */
			smc_attempt_unlocked(smc);
		} else if (rc == -EPIPE) {
			rc = sk_stream_error(sk, msg->msg_flags, rc);
		}
		smc_sock_put(smc);
		return rc;
	}
}

static int op_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		      int flags)
{
	struct sock *sk = sock->sk;
	struct smc_conn *conn;
	struct smc_sock *smc;
	int rc;

	for (;;) {
		conn = smc_sock_conn(sk);
		if (conn) {
			rc = smc_rx_recvmsg(conn, msg, len, flags);
			smc_conn_put(conn);
			return rc;
		}
		smc = smc_sock_get(sk);
		if (!smc || flags & MSG_ERRQUEUE) {
			rc = ASK_TCP;
		} else {
			rc = whose(smc, true, flags,
				   sock_rcvtimeo(sk, flags & MSG_DONTWAIT));
		}
		if (smc)
			smc_sock_put(smc);
		if (rc == ASK_TCP)
			return smc_sock_as_tcp(sock, recvmsg, msg, len, flags);
		if (rc != ASK_CONN)
			return rc;
	}
}

static ssize_t op_splice_read(struct socket *sock, loff_t *ppos,
			      struct pipe_inode_info *pipe, size_t len,
			      unsigned int flags)
{
	bool nonblock = sock->file->f_flags & O_NONBLOCK;
	struct sock *sk = sock->sk;
	struct smc_conn *conn;
	struct smc_sock *smc;
	ssize_t rc;

	if (unlikely(*ppos))
		return -ESPIPE;
	for (;;) {
		conn = smc_sock_conn(sk);
		if (conn) {
			rc = smc_rx_splice(conn, pipe, len, nonblock);
			smc_conn_put(conn);
			return rc;
		}
		smc = smc_sock_get(sk);
		if (!smc)
			break;
		rc = len ? whose(smc, true, 0, sock_rcvtimeo(sk, nonblock)) : 0;
		smc_sock_put(smc);
		if (rc == ASK_TCP)
			break;
		if (rc != ASK_CONN)
			return rc;
	}
	return smc_sock_as_tcp(sock, splice_read, ppos, pipe, len, flags);
}

/* sendfile() has come to the end before it had all: nothing more will follow */
static void op_splice_eof(struct socket *sock)
{
	struct smc_conn *conn = smc_sock_conn(sock->sk);

	if (!conn) {
		if (!try_module_get(THIS_MODULE))
			return;
		smc_sock_base(sock->sk)->splice_eof(sock);
		module_put(THIS_MODULE);
		return;
	}
	if (!test_bit(SMC_SK_CORK, &smc_of_conn(conn)->bits))
		smc_tx_uncork(conn);
	smc_conn_put(conn);
}

/* -- poll, ioctl, names -- */

static __poll_t conn_poll(struct smc_conn *conn)
{
	u8 shutdown = READ_ONCE(conn->shutdown);
	__poll_t mask = 0;

	if (shutdown == SHUTDOWN_MASK || READ_ONCE(conn->state) == SMC_CLOSED)
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (smc_rx_readable(conn))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (shutdown & SEND_SHUTDOWN || smc_tx_poll(conn))
		mask |= EPOLLOUT | EPOLLWRNORM;
	if (smc_rx_urgent_valid(conn))
		mask |= EPOLLPRI;
	/* the error is set before the shutdown bits, see event.c */
	smp_rmb();
	if (smc_conn_has_error(conn))
		mask |= EPOLLERR;
	return mask;
}

static __poll_t poll_ours(struct file *file, struct socket *sock,
			  struct smc_sock *smc)
{
	struct sock *sk = sock->sk;
	struct smc_conn *conn;
	enum smc_phase phase;
	__poll_t mask;

	conn = smc_sock_conn_get(smc);
	if (conn) {
		mask = conn_poll(conn);
		smc_conn_put(conn);
		return mask;
	}
	if (inet_sk_state_load(sk) == TCP_LISTEN)
		mask = smc_acceptq_settle(sk) ? EPOLLIN | EPOLLRDNORM : 0;
	else
		mask = smc_sock_base(sk)->poll(file, sock, NULL);
	/* what TCP has shown may have been of a connect() that came after that */
	phase = smc_sock_phase(smc);
	if (phase == SMC_PHASE_HS || phase == SMC_PHASE_SMC)
		mask = 0;
	else if (phase == SMC_PHASE_LATE)
		mask &= ~(EPOLLIN | EPOLLRDNORM | EPOLLPRI | EPOLLRDHUP);
	return mask;
}

static __poll_t op_poll(struct file *file, struct socket *sock,
			struct poll_table_struct *wait)
{
	struct smc_sock *smc = smc_sock_get(sock->sk);
	__poll_t mask;

	if (!smc)
		return smc_sock_poll_as_tcp(file, sock, wait);
	sock_poll_wait(file, sock, wait);
	mask = poll_ours(file, sock, smc);
	smc_sock_put(smc);
	return mask;
}

static int conn_value(struct smc_conn *conn, unsigned int cmd)
{
	switch (cmd) {
	case SIOCINQ:
		return smc_rx_inq(conn);
	case SIOCATMARK:
		return smc_rx_at_mark(conn);
	case SIOCOUTQ:
		smc_tx_nudge(conn);
		return smc_conn_outq(conn);
	default:
		return smc_conn_unsent(conn);
	}
}

/* Nothing of the handshake is shown, nor what is hidden after it. */
static bool hides(struct sock *sk, unsigned int cmd)
{
	struct smc_sock *smc = smc_sock_get(sk);
	bool yes;

	if (!smc)
		return false;
	yes = smc_sock_phase(smc) == SMC_PHASE_HS ||
	      (smc_sock_phase(smc) == SMC_PHASE_LATE && cmd == SIOCINQ);
	smc_sock_put(smc);
	return yes;
}

static int op_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct sock *sk = sock->sk;
	struct smc_conn *conn;
	int val = 0;

	if (cmd != SIOCINQ && cmd != SIOCATMARK && cmd != SIOCOUTQ &&
	    cmd != SIOCOUTQNSD)
		return smc_sock_as_tcp(sock, ioctl, cmd, arg);
	conn = smc_sock_conn(sk);
	if (conn) {
		val = conn_value(conn, cmd);
		smc_conn_put(conn);
	} else if (!hides(sk, cmd)) {
		return smc_sock_as_tcp(sock, ioctl, cmd, arg);
	}
	return put_user(val, (int __user *)arg);
}

static int op_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	struct smc_conn *conn = peer == 1 ? smc_sock_conn(sock->sk) : NULL;
	bool over;

	/* no name before connect() has an outcome */
	if (peer == 1 && !conn && hides(sock->sk, 0))
		return -ENOTCONN;

	/*
	 * TCP's connection may be closed long before ours, or after it; 2 asks
	 * for the peer's name whatever its state, as accept() does.
	 */
	if (conn) {
		over = smc_close_over(conn);
		smc_conn_put(conn);
		if (over)
			return -ENOTCONN;
		peer = 2;
	}
	return smc_sock_as_tcp(sock, getname, addr, peer);
}

/**
 * smc_sock_make_ops() - our operations, from TCP's
 * @ops: filled in
 * @base: TCP's
 *
 * The owner is TCP's, too: the core takes and drops its reference by what it
 * finds, and may find ours first and TCP's at last.
 *
 * Context: process, module init.
 */
void smc_sock_make_ops(struct proto_ops *ops, const struct proto_ops *base)
{
	*ops = *base;
	ops->release = smc_sock_release;
	ops->bind = op_bind;
	ops->connect = op_connect;
	ops->accept = smc_sock_accept;
	ops->getname = op_getname;
	ops->poll = op_poll;
	ops->ioctl = op_ioctl;
	ops->listen = smc_sock_listen;
	ops->shutdown = smc_sock_shutdown;
	ops->setsockopt = smc_sock_setsockopt;
	ops->getsockopt = smc_sock_getsockopt;
	ops->sendmsg = op_sendmsg;
	ops->recvmsg = op_recvmsg;
	ops->mmap = sock_no_mmap;
	ops->splice_read = op_splice_read;
	ops->splice_eof = op_splice_eof;
	ops->set_rcvlowat = smc_rx_set_lowat;
	ops->read_sock = NULL;
	ops->read_skb = NULL;
	ops->sendmsg_locked = NULL;
}
