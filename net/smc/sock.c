// SPDX-License-Identifier: GPL-2.0
/*
 * The socket operations: bind, connect, getname, poll and the dispatch of
 * data calls to the mode of the socket (mode.c).
 *
 * connect() offers SMC with the SYN, issues the inner connect without waiting
 * in the caller's context (cgroup programs look at current) and hands the
 * inner connection to the handshake.  A blocking caller then sleeps on our own
 * wait queue until SMC_SK_CONNECTING is cleared by hs_done(), which has set
 * the mode before.  Where SMC is not to be tried, the mode becomes TCP first
 * and the inner socket's connect() does everything.
 *
 * Context: process; lock_sock() for connect, listen and shutdown.  Nothing
 * sleeps for the peer with it held.  hs_done() takes no socket lock.
 * Tests: selftests/smc.
 */
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <net/sock.h>
#include <net/ipv6.h>

#include "ring.h"
#include "sock.h"
#include "stats.h"
#include "trace.h"

/* The handshake ended with a bound connection, which becomes the socket's. */
static void established(struct smc_sock *smc, struct smc_conn *conn)
{
	struct sock *sk = &smc->sk;

	WRITE_ONCE(sk->sk_sndbuf, 2 * conn->snd_size);
	WRITE_ONCE(sk->sk_rcvbuf, 2 * conn->rcv_size);
	/* as soon as it is published connect(AF_UNSPEC) may take it away */
	smc_conn_get(conn);
	/* before the mode: a call that sees that may send */
	smc_conn_event(conn, SMC_EV_ESTABLISHED, 0, false);
	smp_store_release(&smc->mode, &smc_mode_smc);
	smc_owner_early_flags(conn);
	smc_watch_start(conn);
	/* An abort that came before has been ignored. */
	smp_mb();
	if (test_bit(SMC_CONN_DEAD, &conn->flags) ||
	    test_bit(SMC_CONN_WANT_ABORT, &conn->flags))
		smc_conn_event(conn, SMC_EV_KILLED, 0, false);
	smc_close_inner_reset(smc);
	smc_conn_put(conn);
}

/* connect() failed: as TCP, an error to be fetched and a socket to reuse. */
static void failed(struct smc_sock *smc, int err)
{
	struct sock *sk = &smc->sk;

	spin_lock_bh(&smc->state_lock);
	WRITE_ONCE(sk->sk_state, SMC_INIT);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	spin_unlock_bh(&smc->state_lock);
	set_bit(SMC_SK_FAILED, &smc->bits);
	WRITE_ONCE(sk->sk_err, err);
}

/* A connect() that was being waited for has an outcome. */
static void connect_done(struct smc_sock *smc, bool usable)
{
	struct sock *sk = &smc->sk;

	smp_mb__before_atomic();
	clear_bit(SMC_SK_CONNECTING, &smc->bits);
	sk->sk_state_change(sk);
	sk_wake_async(sk, SOCK_WAKE_IO, usable ? POLL_OUT : POLL_ERR);
	if (!usable)
		sk_error_report(sk);
}

/**
 * smc_sock_connect_failed() - end a connect() from outside
 * @smc: socket in mode init; its handshake has been stopped
 * @err: positive errno
 *
 * Context: process, lock_sock() held.
 */
void smc_sock_connect_failed(struct smc_sock *smc, int err)
{
	smc_inner_disconnect(&smc->inner);
	failed(smc, err);
	connect_done(smc, false);
}

/* The handshake does nothing more; the inner socket's lock is held. */
static void forget_hs(struct smc_sock *smc)
{
	struct sock *tcp = smc->inner.sk;
	struct smc_hs *hs;

	hs = rcu_dereference_protected(smc->hs, lockdep_sock_is_held(tcp));
	RCU_INIT_POINTER(smc->hs, NULL);
	smc_hs_put(hs);
}

static void hs_done(struct sock *sk, const struct smc_hs_result *res)
{
	bool usable = res->outcome != SMC_HS_ERR;
	struct smc_sock *smc = smc_sk(sk);

	/* before the mode, which poll() shows at once */
	if (usable && !smc->listener)
		set_bit(SMC_SK_CONNECTED, &smc->bits);
	if (res->outcome == SMC_HS_SMC) {
		established(smc, res->conn);
	} else if (usable) {
		smc->inner.sock->state = SS_CONNECTED;
		smc_sock_fallback(smc, res->reason, res->peer_diagnosis);
	} else {
		WRITE_ONCE(smc->reason, res->reason);
		WRITE_ONCE(smc->peer_diagnosis, res->peer_diagnosis);
	}
	if (!res->hides)
		forget_hs(smc);
	if (smc->listener) {
		smc_listen_child_done(smc, usable);
		return;
	}
	if (!usable) {
		smc->name = res->name;
		smc->name_len = res->name_len;
		failed(smc, res->err);
	}
	connect_done(smc, usable);
}

/* The first bytes of a TCP connection are the program's after all. */
static void hs_revealed(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	forget_hs(smc);
	smc_listen_tcp_ready(smc);
	sk->sk_data_ready(sk);
}

const struct smc_hs_owner smc_sock_hs_owner = {
	.done	= hs_done,
	.revealed = hs_revealed,
};

static void wake_hs(struct smc_sock *smc)
{
	struct smc_hs *hs;

	rcu_read_lock();
	hs = rcu_dereference(smc->hs);
	if (hs)
		smc_hs_wake(hs);
	rcu_read_unlock();
}

/* Who polls a socket in mode TCP waits on our queue. */
static void wake_pollers(struct sock *sk, __poll_t key)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (skwq_has_sleeper(wq)) {
		if (key)
			wake_up_interruptible_poll(&wq->wait, key);
		else
			wake_up_interruptible_all(&wq->wait);
	}
	rcu_read_unlock();
}

/* SIGIO goes to who asked for it on our descriptor. */
static void wake_async(struct sock *sk, struct sock *tcp, __poll_t key)
{
	if (!sock_flag(sk, SOCK_FASYNC))
		return;
	/* without a key the state changed: FIN of the second direction? */
	if (!key && READ_ONCE(tcp->sk_shutdown) == SHUTDOWN_MASK)
		sk_wake_async(sk, SOCK_WAKE_WAITD, POLL_HUP);
	else if (!key || key & EPOLLIN)
		sk_wake_async(sk, SOCK_WAKE_WAITD, POLL_IN);
	if (key & EPOLLPRI)
		sk_wake_async(sk, SOCK_WAKE_URG, POLL_PRI);
	if (key & EPOLLOUT)
		sk_wake_async(sk, SOCK_WAKE_SPACE, POLL_OUT);
	if (key & EPOLLERR)
		sk_wake_async(sk, SOCK_WAKE_IO, POLL_ERR);
}

/**
 * smc_sock_inner_wake() - something happened to the inner socket
 * @inner: the inner socket
 * @key: events, 0 for anything
 *
 * Context: any, interrupts possibly off, the lock of the inner wait queue
 * held.
 */
void smc_sock_inner_wake(struct smc_inner *inner, __poll_t key)
{
	struct smc_sock *smc = container_of(inner, struct smc_sock, inner);
	const struct smc_mode *mode = smp_load_acquire(&smc->mode);
	struct sock *sk = &smc->sk;

	if (mode->id == SMC_MODE_LISTEN) {
		smc_listen_wake(smc);
	} else if (mode->id == SMC_MODE_SMC) {
		smc_close_inner_reset(smc);
	} else if (mode->id == SMC_MODE_TCP) {
		wake_hs(smc);
		/* Another error (IP_RECVERR) is for who sleeps in TCP. */
		if (inet_sk_state_load(inner->sk) == TCP_CLOSE)
			smc_mode_move_error(smc);
		smc_listen_tcp_ready(smc);
		wake_pollers(sk, key);
		wake_async(sk, inner->sk, key);
	} else {
		wake_hs(smc);
	}
}

/* Who makes a system call has a file; the inner socket borrows it. */
static struct smc_sock *enter(struct socket *sock)
{
	struct smc_sock *smc = smc_sk(sock->sk);

	if (sock->file)
		smc_inner_lend(&smc->inner, sock->file);
	return smc;
}

static int sock_bind(struct socket *sock, struct sockaddr *addr, int len)
{
	struct smc_inner *inner = &enter(sock)->inner;
	int rc;

	rc = smc_inner_permission(inner, true, addr, len);
	if (rc)
		return rc;
	return inner->sock->ops->bind(inner->sock, addr, len);
}

static int sock_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	struct smc_sock *smc = enter(sock);
	struct socket *tcp = smc->inner.sock;
	struct smc_conn *conn;
	bool over;

	/* the inner socket is ready for the next attempt already */
	if (!peer && test_bit(SMC_SK_FAILED, &smc->bits) &&
	    smc->name_len > 0) {
		memcpy(addr, &smc->name, smc->name_len);
		return smc->name_len;
	}
	/*
	 * The inner connection may be closed long before ours, or after it; 2
	 * asks for the peer's name whatever its state, as accept() does.
	 */
	conn = peer == 1 ? smc_sock_conn_get(smc) : NULL;
	if (conn) {
		over = smc_close_over(conn);
		smc_conn_put(conn);
		if (over)
			return -ENOTCONN;
		peer = 2;
	}
	return tcp->ops->getname(tcp, addr, peer);
}

static int connect_tcp(struct smc_sock *smc, struct sockaddr *addr, int len,
		       int flags)
{
	struct socket *tcp = smc->inner.sock;
	struct sock *sk = &smc->sk;
	int rc;

	if (addr->sa_family != AF_UNSPEC &&
	    test_and_clear_bit(SMC_SK_CONNECTED, &smc->bits)) {
		if (inet_sk_state_load(tcp->sk) != TCP_CLOSE)
			return 0;
		/* reset before the program heard of it: TCP reports that */
		tcp->state = SS_CONNECTING;
	}
	/*
	 * A new attempt forgets the error of the last one, and that it offered
	 * SMC: a server would wait for a Proposal.
	 */
	if (addr->sa_family != AF_UNSPEC && tcp->state == SS_UNCONNECTED &&
	    inet_sk_state_load(tcp->sk) == TCP_CLOSE) {
		smc_inner_offer(&smc->inner, false);
		xchg(&sk->sk_err, 0);
		smc->inner.hs_sent = 0;
		smc->inner.hs_rcvd = 0;
	}
	if (addr->sa_family == AF_UNSPEC)
		smc_sock_stop_hs(smc, true);
	rc = tcp->ops->connect(tcp, addr, len, flags);
	if (rc == -ECONNABORTED) {
		smc_mode_move_error(smc);
		rc = sock_error(sk) ?: rc;
	}
	if (!rc && addr->sa_family == AF_UNSPEC) {
		clear_bit(SMC_SK_CONNECTED, &smc->bits);
		smc_mode_move_error(smc);
	}
	if (!rc)
		WRITE_ONCE(sk->sk_state, addr->sa_family == AF_UNSPEC ?
			   SMC_INIT : SMC_ACTIVE);
	/* a connection that is over has taken it along; the core shows ours */
	if (READ_ONCE(sk->sk_peek_off) >= 0)
		WRITE_ONCE(sk->sk_peek_off, READ_ONCE(tcp->sk->sk_peek_off));
	return rc;
}

/* connect(AF_UNSPEC); 1: as plain TCP */
static int disconnect(struct smc_sock *smc)
{
	bool connecting = smc_sock_connecting(smc);
	const struct smc_mode *mode;
	struct smc_conn *conn;
	int err;

	/* Now it has ended, one way or another. */
	if (connecting)
		smc_sock_stop_hs(smc, false);
	mode = smp_load_acquire(&smc->mode);
	if (mode->id == SMC_MODE_TCP)
		return 1;
	if (mode->id == SMC_MODE_SMC) {
		conn = smc_sock_conn_get(smc);
		smc_close_disconnect(conn);
		smc_conn_put(conn);
		return 0;
	}
	if (mode->id == SMC_MODE_LISTEN) {
		smc_listen_drop(smc);
	} else {
		err = connecting ? ECONNRESET : READ_ONCE(smc->sk.sk_err);
		WRITE_ONCE(smc->disconnects, smc->disconnects + 1);
		smc_sock_reset_conn(smc, err);
	}
	return 0;
}

/* As TCP would say it, which comes later, when others have read the address. */
static int check_addr(const struct smc_sock *smc, const struct sockaddr *addr,
		      int len)
{
	const struct sock *tcp = smc->inner.sk;
	int min = tcp->sk_family == AF_INET6 ? SIN6_LEN_RFC2133 :
					       sizeof(struct sockaddr_in);

	if (len < min)
		return -EINVAL;
	return addr->sa_family == tcp->sk_family ? 0 : -EAFNOSUPPORT;
}

/*
 * The SYN leaves with the offer, and the handshake has the connection before
 * anything can come back.  The inner socket's lock is held.
 */
static int connect_inner(struct smc_sock *smc, struct smc_hs *hs,
			 struct sockaddr *addr, int len)
{
	struct sock *tcp = smc->inner.sk;
	int rc;

	smc_synopt_set(tcp, true);
	rc = smc_inner_connect_locked(&smc->inner, addr, len);
	if (rc && rc != -EINPROGRESS) {
		smc_synopt_set(tcp, false);
		return rc;
	}
	smc_sock_start_hs(smc, hs);
	return 0;
}

/* First connect() of an attempt with SMC, lock_sock held. */
static int connect_start(struct smc_sock *smc, struct sockaddr *addr, int len)
{
	struct sock *tcp = smc->inner.sk;
	struct sock *sk = &smc->sk;
	struct smc_hs *hs;
	int rc;

	hs = smc_sock_new_hs(smc, SMC_CLNT, SMC_REASON_OK, addr, len);
	if (!hs)
		return -ENOMEM;
	xchg(&sk->sk_err, 0);
	WRITE_ONCE(sk->sk_shutdown, 0);
	clear_bit(SMC_SK_FAILED, &smc->bits);
	clear_bit(SMC_SK_CONNECTED, &smc->bits);
	smc->name_len = 0;

	set_bit(SMC_SK_CONNECTING, &smc->bits);
	lock_sock(tcp);
	rc = connect_inner(smc, hs, addr, len);
	release_sock(tcp);
	if (!rc)
		return 0;
	smc_hs_put(hs);
	smp_mb__before_atomic();
	clear_bit(SMC_SK_CONNECTING, &smc->bits);
	/* somebody may have seen the mark, and sleep until it goes */
	sk->sk_state_change(sk);
	return rc;
}

static bool not_connecting(struct sock *sk)
{
	return !smc_sock_connecting(smc_sk(sk));
}

/* The outcome of a failed attempt, once; then the socket is as new. */
static int fetch_failure(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;

	clear_bit(SMC_SK_FAILED, &smc->bits);
	spin_lock_bh(&smc->state_lock);
	WRITE_ONCE(sk->sk_shutdown, 0);
	spin_unlock_bh(&smc->state_lock);
	/* what TCP's disconnect() forgets, too */
	WRITE_ONCE(sk->sk_peek_off, -1);
	return sock_error(sk) ?: -ECONNABORTED;
}

/* Wait for the outcome, lock_sock held on entry and exit. */
static int connect_wait(struct smc_sock *smc, int flags, int pending)
{
	unsigned int disconnects = smc->disconnects;
	struct sock *sk = &smc->sk;
	int rc = 0;
	long timeo;

	timeo = sock_sndtimeo(sk, flags & O_NONBLOCK);
	/* As with TCP, not even a quick outcome is known to the first call. */
	if (!timeo && pending == -EINPROGRESS)
		return pending;
	if (smc_sock_connecting(smc)) {
		if (!timeo)
			return pending;
		release_sock(sk);
		rc = smc_sock_wait(sk, &timeo, not_connecting);
		lock_sock(sk);
	}
	/* given up by somebody else, who may have begun another one */
	if (smc->disconnects != disconnects)
		return -EPIPE;
	if (rc)
		return rc == -EAGAIN ? pending : rc;
	if (smc_sock_mode(smc) == SMC_MODE_INIT)
		return fetch_failure(smc);
	clear_bit(SMC_SK_CONNECTED, &smc->bits);
	return 0;
}

/*
 * The attempt has succeeded and this call may say so.  If the connection has
 * been reset since, it has failed as far as the program knows.
 */
static int tell_connected(struct smc_sock *smc)
{
	struct smc_conn *conn = smc_sock_conn_get(smc);
	int err = 0;

	if (smc_close_over(conn)) {
		err = sock_error(&smc->sk) ?: -ECONNABORTED;
		smc_close_disconnect(conn);
		xchg(&smc->sk.sk_err, 0);
	}
	smc_conn_put(conn);
	return err;
}

/* lock_sock held.  1: connect as plain TCP, without the lock. */
static int connect_locked(struct smc_sock *smc, struct sockaddr *addr, int len,
			  int flags)
{
	bool connecting = smc_sock_connecting(smc);
	const struct smc_mode *mode = smp_load_acquire(&smc->mode);
	int pending = -EALREADY;
	enum smc_reason why;
	int rc;

	if (mode->id == SMC_MODE_TCP)
		return 1;
	if (addr->sa_family == AF_UNSPEC)
		return disconnect(smc);
	if (mode->id == SMC_MODE_SMC &&
	    test_and_clear_bit(SMC_SK_CONNECTED, &smc->bits))
		return tell_connected(smc);
	if (mode->id != SMC_MODE_INIT)
		return -EISCONN;
	if (test_bit(SMC_SK_DISCONNECTING, &smc->bits))
		return -EINVAL;
	if (!connecting) {
		if (test_bit(SMC_SK_FAILED, &smc->bits))
			return fetch_failure(smc);
		rc = check_addr(smc, addr, len);
		if (rc)
			return rc;
		why = smc_sock_barred(smc);
		if (why == SMC_REASON_OK)
			why = smc_hs_want(smc_sock_net(smc), addr);
		if (why != SMC_REASON_OK) {
			smc_stats_inc(smc_sock_net(smc),
				      SMC_STAT_HS_CLNT_TCP);
			smc_sock_fallback_now(smc, why);
			return 1;
		}
		rc = connect_start(smc, addr, len);
		if (rc)
			return rc;
		pending = -EINPROGRESS;
	}
	return connect_wait(smc, flags, pending);
}

static int sock_connect(struct socket *sock, struct sockaddr *addr, int len,
			int flags)
{
	struct smc_sock *smc = enter(sock);
	struct sock *sk = sock->sk;
	int rc;

	if (len < (int)sizeof(addr->sa_family))
		return -EINVAL;
	rc = smc_inner_permission(&smc->inner, false, addr, len);
	if (rc)
		return rc;
	lock_sock(sk);
	rc = connect_locked(smc, addr, len, flags);
	release_sock(sk);
	if (rc == 1)
		rc = connect_tcp(smc, addr, len, flags);
	if (!rc)
		sock->state = addr->sa_family == AF_UNSPEC ? SS_UNCONNECTED :
							     SS_CONNECTED;
	return rc;
}

static __poll_t sock_poll(struct file *file, struct socket *sock,
			  struct poll_table_struct *wait)
{
	struct smc_sock *smc = enter(sock);

	/*
	 * On our queue only: FIN of the inner socket, which comes when it will,
	 * would be an edge of its own for epoll.
	 */
	sock_poll_wait(file, sock, wait);
	return smp_load_acquire(&smc->mode)->poll(smc, file, wait);
}

static int sock_ioctl_op(struct socket *sock, unsigned int cmd,
			 unsigned long arg)
{
	struct smc_sock *smc = enter(sock);

	return smp_load_acquire(&smc->mode)->ioctl(smc, cmd, arg);
}

static int sock_sendmsg_op(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct smc_sock *smc = enter(sock);

	return smp_load_acquire(&smc->mode)->sendmsg(smc, msg, len);
}

static int sock_recvmsg_op(struct socket *sock, struct msghdr *msg, size_t len,
			   int flags)
{
	struct smc_sock *smc = enter(sock);

	return smp_load_acquire(&smc->mode)->recvmsg(smc, msg, len, flags);
}

/* sendfile() has come to the end before it had all: nothing more will follow */
static void sock_splice_eof_op(struct socket *sock)
{
	struct smc_sock *smc = enter(sock);
	const struct smc_mode *mode = smp_load_acquire(&smc->mode);
	struct socket *tcp = smc->inner.sock;
	struct smc_conn *conn;

	if (mode->id == SMC_MODE_TCP) {
		tcp->ops->splice_eof(tcp);
		return;
	}
	conn = smc_sock_conn_get(smc);
	if (!conn)
		return;
	if (!test_bit(SMC_SK_CORK, &smc->bits))
		smc_tx_uncork(conn);
	smc_conn_put(conn);
}

static ssize_t sock_splice_op(struct socket *sock, loff_t *ppos,
			      struct pipe_inode_info *pipe, size_t len,
			      unsigned int flags)
{
	struct smc_sock *smc = enter(sock);

	if (unlikely(*ppos))
		return -ESPIPE;
	return smp_load_acquire(&smc->mode)->splice_read(smc, ppos, pipe, len,
							 flags);
}

const struct proto_ops smc_sock_ops = {
	.family		= PF_SMC,
	.owner		= THIS_MODULE,
	.release	= smc_sock_release,
	.bind		= sock_bind,
	.connect	= sock_connect,
	.socketpair	= sock_no_socketpair,
	.accept		= smc_sock_accept,
	.getname	= sock_getname,
	.poll		= sock_poll,
	.ioctl		= sock_ioctl_op,
	.gettstamp	= sock_gettstamp,
	.listen		= smc_sock_listen,
	.shutdown	= smc_sock_shutdown,
	.set_rcvlowat	= smc_rx_set_lowat,
	.setsockopt	= smc_sock_setsockopt,
	.getsockopt	= smc_sock_getsockopt,
	.sendmsg	= sock_sendmsg_op,
	.recvmsg	= sock_recvmsg_op,
	.mmap		= sock_no_mmap,
	.splice_read	= sock_splice_op,
	.splice_eof	= sock_splice_eof_op,
	.set_peek_off	= sk_set_peek_off,
};
