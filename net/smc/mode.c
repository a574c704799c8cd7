// SPDX-License-Identifier: GPL-2.0
/*
 * What the data calls do in each phase of a socket's life.
 *
 *	init	not connected, or connecting: data calls wait for the outcome
 *	listen	accepts connections
 *	smc	bytes go through the rings (tx.c, rx.c)
 *	tcp	everything is the inner socket's
 *
 * proto_ops look smc->mode up once per call.  A call that waits in mode init
 * looks again when it wakes.  poll() always registers on our wait queue and
 * never on the inner one, so it does not matter in which mode the descriptor
 * was put into an epoll set; in mode TCP what wakes the inner queue is passed
 * on (sock.c).
 *
 * In mode TCP an error that ends the inner connection is moved to ours at once,
 * because the core answers SO_ERROR from ours; the calls below put it back
 * where TCP would have reported it.  An error that does not end it (IP_RECVERR)
 * is moved by poll(): who sleeps in TCP is to find it there.  A late CLC
 * Proposal (a client whose option the network removed on the way back) must not
 * reach the program: while it may still come (smc_sock_hides()) nothing is
 * readable.
 *
 * Context: process, no lock held.  Tests: selftests/smc.
 */
#include <linux/fs.h>
#include <linux/sched/signal.h>
#include <linux/sockios.h>
#include <linux/uaccess.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "sock.h"
#include "stats.h"
#include "trace.h"

#include <asm/ioctls.h>

/**
 * smc_mode_move_error() - make an error of the inner socket ours
 * @smc: socket in mode TCP
 *
 * Context: any.
 */
void smc_mode_move_error(struct smc_sock *smc)
{
	int err = smc_inner_take_error(&smc->inner);

	if (unlikely(err))
		WRITE_ONCE(smc->sk.sk_err, err);
}

/**
 * smc_sock_fallback() - from now on this is plain TCP
 * @smc: socket
 * @reason: why
 * @peer_diagnosis: code of the Decline the peer sent, or 0
 *
 * Context: process, the inner socket's lock is held.
 */
void smc_sock_fallback(struct smc_sock *smc, u32 reason, u32 peer_diagnosis)
{
	struct sock *sk = &smc->sk;

	WRITE_ONCE(smc->reason, reason);
	WRITE_ONCE(smc->peer_diagnosis, peer_diagnosis);
	spin_lock_bh(&smc->state_lock);
	if (smc_inner_established(&smc->inner))
		WRITE_ONCE(sk->sk_state, SMC_ACTIVE);
	else
		WRITE_ONCE(sk->sk_state, SMC_INIT);
	WRITE_ONCE(sk->sk_shutdown, 0);
	spin_unlock_bh(&smc->state_lock);
	smc_stats_fallback(smc_sock_net(smc), smc->listener, reason);
	trace_smc_switch_to_fallback(sk, smc->inner.sk,
				     sock_net(sk)->net_cookie, reason);
	smc_sockopt_to_tcp(smc);
	smp_store_release(&smc->mode, &smc_mode_tcp);
	smc_mode_move_error(smc);
}

/**
 * smc_sock_fallback_now() - be plain TCP without a handshake
 * @smc: socket that has none
 * @reason: why
 *
 * Context: process.
 */
void smc_sock_fallback_now(struct smc_sock *smc, u32 reason)
{
	struct sock *tcp = smc->inner.sk;

	lock_sock(tcp);
	/* an attempt that failed may have left its offer */
	if (!smc->listener)
		smc_synopt_set(tcp, false);
	smc_sock_fallback(smc, reason, 0);
	release_sock(tcp);
}

/* -- init -- */

/* Wait until @smc does not connect any more.  0 or -errno. */
static int await_connect(struct smc_sock *smc, long timeo)
{
	unsigned int disconnects = READ_ONCE(smc->disconnects);
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = &smc->sk;
	int rc = 0;

	add_wait_queue(sk_sleep(sk), &wait);
	/* pairs with skwq_has_sleeper() */
	smp_mb();
	while (smc_sock_connecting(smc)) {
		/* given up, and there is another one: as TCP */
		if (READ_ONCE(smc->disconnects) != disconnects)
			rc = -EPIPE;
		else if (!timeo)
			rc = -EAGAIN;
		else if (signal_pending(current))
			rc = sock_intr_errno(timeo);
		if (rc)
			break;
		timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	if (READ_ONCE(smc->disconnects) != disconnects)
		rc = -EPIPE;
	return rc;
}

/* A data call before there is a connection: 0 to look at the mode again. */
static int await_mode(struct smc_sock *smc, long timeo, int unconnected)
{
	bool connecting = smc_sock_connecting(smc);
	struct sock *sk = &smc->sk;
	int rc;

	/* It may have ended since the mode was looked up. */
	if (!connecting && smc_sock_mode(smc) != SMC_MODE_INIT)
		return 0;
	if (READ_ONCE(sk->sk_err))
		return sock_error(sk);
	if (!connecting)
		return unconnected;
	if (!timeo)
		return -EAGAIN;
	rc = await_connect(smc, timeo);
	if (rc)
		return rc;
	if (smc_sock_mode(smc) == SMC_MODE_INIT)
		return sock_error(sk) ?: unconnected;
	return 0;
}

/* TCP's own way of a connect() with data.  Unless there was one already. */
static void leave_to_tcp(struct smc_sock *smc)
{
	lock_sock(&smc->sk);
	if (!smc_sock_connecting(smc) && smc_sock_mode(smc) == SMC_MODE_INIT) {
		set_bit(SMC_SK_NOSMC, &smc->bits);
		/* a failed attempt, and the name it had, are forgotten */
		clear_bit(SMC_SK_FAILED, &smc->bits);
		smc_stats_inc(smc_sock_net(smc), SMC_STAT_HS_CLNT_TCP);
		smc_sock_fallback_now(smc, SMC_REASON_OPTUNSUPP);
	}
	release_sock(&smc->sk);
}

static int init_sendmsg(struct smc_sock *smc, struct msghdr *msg, size_t len)
{
	struct sock *sk = &smc->sk;
	long timeo;
	int rc;

	if (msg->msg_flags & MSG_FASTOPEN && !smc_sock_connecting(smc)) {
		leave_to_tcp(smc);
		return smp_load_acquire(&smc->mode)->sendmsg(smc, msg, len);
	}
	timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	rc = await_mode(smc, timeo, -EPIPE);
	if (rc == -EPIPE)
		return sk_stream_error(sk, msg->msg_flags, rc);
	return rc ?: smp_load_acquire(&smc->mode)->sendmsg(smc, msg, len);
}

static int init_recvmsg(struct smc_sock *smc, struct msghdr *msg, size_t len,
			int flags)
{
	int rc;

	if (flags & MSG_ERRQUEUE)
		return -EAGAIN;
	if (flags & MSG_OOB)
		return -EINVAL;
	rc = await_mode(smc, sock_rcvtimeo(&smc->sk, flags & MSG_DONTWAIT),
			-ENOTCONN);
	if (rc == -ENOTCONN && READ_ONCE(smc->sk.sk_shutdown) & RCV_SHUTDOWN)
		return 0;
	return rc ?: smp_load_acquire(&smc->mode)->recvmsg(smc, msg, len,
							   flags);
}

static __poll_t unconnected_poll(const struct sock *sk)
{
	__poll_t mask = EPOLLOUT | EPOLLWRNORM | EPOLLHUP;

	if (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (READ_ONCE(sk->sk_err))
		mask |= EPOLLERR;
	return mask;
}

static __poll_t init_poll(struct smc_sock *smc, struct file *file,
			  struct poll_table_struct *wait)
{
	const struct smc_mode *mode;
	struct sock *sk = &smc->sk;

	if (smc_sock_connecting(smc))
		return READ_ONCE(sk->sk_err) ? EPOLLERR : 0;
	/* It may have ended since the mode was looked up. */
	mode = smp_load_acquire(&smc->mode);
	if (mode->id != SMC_MODE_INIT)
		return mode->poll(smc, file, wait);
	return unconnected_poll(sk);
}

static int init_shutdown(struct smc_sock *smc, int how)
{
	bool connecting = smc_sock_connecting(smc);
	struct socket *tcp = smc->inner.sock;
	const struct smc_mode *mode;
	struct sock *sk = &smc->sk;

	/* Now it has ended, one way or another. */
	if (connecting)
		smc_sock_stop_hs(smc, false);
	mode = smp_load_acquire(&smc->mode);
	if (mode->id != SMC_MODE_INIT)
		return mode->shutdown(smc, how);
	if (connecting) {
		/* the program's own doing, and still TCP reports it */
		smc_sock_reset_conn(smc, ECONNRESET);
		return 0;
	}
	/*
	 * As TCP: remembered, although it is an error, and a connection made
	 * later begins shut down.  That one is left to TCP.
	 */
	if (!test_bit(SMC_SK_FAILED, &smc->bits)) {
		set_bit(SMC_SK_NOSMC, &smc->bits);
		tcp->ops->shutdown(tcp, how - 1);
	} else {
		set_bit(SMC_SK_DISCONNECTING, &smc->bits);
	}
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | how);
	sk->sk_state_change(sk);
	return -ENOTCONN;
}

static ssize_t init_splice(struct smc_sock *smc, loff_t *ppos,
			   struct pipe_inode_info *pipe, size_t len,
			   unsigned int flags)
{
	struct file *file = smc->sk.sk_socket->file;
	long timeo;
	int rc;

	if (!len)
		return 0;
	timeo = sock_rcvtimeo(&smc->sk, file->f_flags & O_NONBLOCK);
	rc = await_mode(smc, timeo, -ENOTCONN);
	if (rc == -ENOTCONN && READ_ONCE(smc->sk.sk_shutdown) & RCV_SHUTDOWN)
		return 0;
	return rc ?: smp_load_acquire(&smc->mode)->splice_read(smc, ppos, pipe,
							       len, flags);
}

static bool asks_about_data(unsigned int cmd)
{
	return cmd == SIOCINQ || cmd == SIOCATMARK || cmd == SIOCOUTQ ||
	       cmd == SIOCOUTQNSD;
}

static int data_value(struct smc_conn *conn, unsigned int cmd)
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

/**
 * smc_mode_ioctl() - the ioctls that ask about data
 * @smc: socket, not in mode TCP
 * @cmd: command
 * @arg: user address of an int
 *
 * Return: 0 or -errno; commands that are not about data go to the inner
 * socket (SIOCGIFADDR and the like).
 */
int smc_mode_ioctl(struct smc_sock *smc, unsigned int cmd, unsigned long arg)
{
	struct socket *tcp = smc->inner.sock;
	struct smc_conn *conn;
	int val = 0;

	if (!asks_about_data(cmd))
		return tcp->ops->ioctl(tcp, cmd, arg);
	conn = smc_sock_conn_get(smc);
	if (conn) {
		val = data_value(conn, cmd);
		smc_conn_put(conn);
	}
	if (smc_sock_mode(smc) == SMC_MODE_LISTEN && cmd != SIOCATMARK)
		return -EINVAL;
	return put_user(val, (int __user *)arg);
}

const struct smc_mode smc_mode_init = {
	.id		= SMC_MODE_INIT,
	.name		= "init",
	.sendmsg	= init_sendmsg,
	.recvmsg	= init_recvmsg,
	.poll		= init_poll,
	.ioctl		= smc_mode_ioctl,
	.shutdown	= init_shutdown,
	.splice_read	= init_splice,
};

/* -- listen -- */

static int listen_sendmsg(struct smc_sock *smc, struct msghdr *msg, size_t len)
{
	const struct net *net = sock_net(&smc->sk);

	/* a connect(), as TCP sees it */
	if (msg->msg_flags & MSG_FASTOPEN)
		return READ_ONCE(net->ipv4.sysctl_tcp_fastopen) &
		       TFO_CLIENT_ENABLE ? -EISCONN : -EOPNOTSUPP;
	return sk_stream_error(&smc->sk, msg->msg_flags, -EPIPE);
}

static int listen_recvmsg(struct smc_sock *smc, struct msghdr *msg,
			  size_t len, int flags)
{
	return flags & MSG_ERRQUEUE ? -EAGAIN : -ENOTCONN;
}

static __poll_t listen_poll(struct smc_sock *smc, struct file *file,
			    struct poll_table_struct *wait)
{
	return READ_ONCE(smc->accept_len) ? EPOLLIN | EPOLLRDNORM : 0;
}

static int listen_shutdown(struct smc_sock *smc, int how)
{
	if (how & RCV_SHUTDOWN)
		smc_listen_drop(smc);
	return 0;
}

static ssize_t listen_splice(struct smc_sock *smc, loff_t *ppos,
			     struct pipe_inode_info *pipe, size_t len,
			     unsigned int flags)
{
	return -ENOTCONN;
}

const struct smc_mode smc_mode_listen = {
	.id		= SMC_MODE_LISTEN,
	.name		= "listen",
	.sendmsg	= listen_sendmsg,
	.recvmsg	= listen_recvmsg,
	.poll		= listen_poll,
	.ioctl		= smc_mode_ioctl,
	.shutdown	= listen_shutdown,
	.splice_read	= listen_splice,
};

/* -- smc -- */

static __poll_t conn_poll(struct smc_conn *conn)
{
	const struct sock *sk = conn->sk;
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
	if (READ_ONCE(sk->sk_err))
		mask |= EPOLLERR;
	return mask;
}

/*
 * Each call has the connection for as long as it lasts.  If connect(AF_UNSPEC)
 * was quicker there is none any more, and the answer is TCP's.
 */
static int smc_sendmsg(struct smc_sock *smc, struct msghdr *msg, size_t len)
{
	struct smc_conn *conn = smc_sock_conn_get(smc);
	int rc;

	if (!conn)
		return sk_stream_error(&smc->sk, msg->msg_flags, -EPIPE);
	rc = smc_tx_sendmsg(conn, msg, len);
	smc_conn_put(conn);
	return rc;
}

static int smc_recvmsg(struct smc_sock *smc, struct msghdr *msg, size_t len,
		       int flags)
{
	struct smc_conn *conn = smc_sock_conn_get(smc);
	int rc;

	if (!conn)
		return sock_error(&smc->sk) ?: -ENOTCONN;
	rc = smc_rx_recvmsg(conn, msg, len, flags);
	smc_conn_put(conn);
	return rc;
}

static __poll_t smc_poll(struct smc_sock *smc, struct file *file,
			 struct poll_table_struct *wait)
{
	struct smc_conn *conn = smc_sock_conn_get(smc);
	__poll_t mask;

	if (!conn)
		return unconnected_poll(&smc->sk);
	mask = conn_poll(conn);
	smc_conn_put(conn);
	return mask;
}

static int smc_shutdown(struct smc_sock *smc, int how)
{
	struct smc_conn *conn = smc_sock_conn_get(smc);
	int rc = smc_close_shutdown(conn, how);

	smc_conn_put(conn);
	return rc;
}

static ssize_t smc_splice(struct smc_sock *smc, loff_t *ppos,
			  struct pipe_inode_info *pipe, size_t len,
			  unsigned int flags)
{
	struct smc_conn *conn = smc_sock_conn_get(smc);
	ssize_t rc;

	if (!conn)
		return sock_error(&smc->sk) ?: -ENOTCONN;
	rc = smc_rx_splice(conn, pipe, len, smc->sk.sk_socket->file->f_flags &
			   O_NONBLOCK);
	smc_conn_put(conn);
	return rc;
}

const struct smc_mode smc_mode_smc = {
	.id		= SMC_MODE_SMC,
	.name		= "smc",
	.sendmsg	= smc_sendmsg,
	.recvmsg	= smc_recvmsg,
	.poll		= smc_poll,
	.ioctl		= smc_mode_ioctl,
	.shutdown	= smc_shutdown,
	.splice_read	= smc_splice,
};

/* -- tcp -- */

static bool not_hidden(struct sock *sk)
{
	return !smc_sock_hides(smc_sk(sk));
}

/* Wait until the handshake knows whose bytes come.  0 or -errno. */
static int tcp_wait_hidden(struct smc_sock *smc, bool nonblock)
{
	struct sock *sk = &smc->sk;
	long timeo;

	if (likely(not_hidden(sk)))
		return 0;
	timeo = sock_rcvtimeo(sk, nonblock);
	if (!timeo)
		return -EAGAIN;
	return smc_sock_wait(sk, &timeo, not_hidden);
}

/* TCP would have reported this error instead of @rc, but after a FIN. */
static int tcp_error(struct smc_sock *smc, int rc)
{
	if (!rc && sock_flag(smc->inner.sk, SOCK_DONE))
		return 0;
	smc_mode_move_error(smc);
	return sock_error(&smc->sk) ?: rc;
}

static int tcp_sendmsg_mode(struct smc_sock *smc, struct msghdr *msg,
			    size_t len)
{
	struct socket *tcp = smc->inner.sock;
	struct sock *sk = &smc->sk;
	int flags = msg->msg_flags;
	int rc;

	if (READ_ONCE(sk->sk_err))
		return sk_stream_error(sk, flags, -EPIPE);
	/* Whether SIGPIPE is due depends on the error, which may be ours. */
	msg->msg_flags |= MSG_NOSIGNAL;
	rc = tcp->ops->sendmsg(tcp, msg, len);
	msg->msg_flags = flags;
	if (rc == -EPIPE) {
		smc_mode_move_error(smc);
		return sk_stream_error(sk, flags, rc);
	}
	if (rc == -EAGAIN)
		sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	return rc;
}

static int tcp_recvmsg_mode(struct smc_sock *smc, struct msghdr *msg,
			    size_t len, int flags)
{
	struct socket *tcp = smc->inner.sock;
	int rc;

	rc = tcp_wait_hidden(smc, flags & MSG_DONTWAIT);
	if (rc)
		return rc;
	rc = tcp->ops->recvmsg(tcp, msg, len, flags);
	/* the core shows ours */
	if (unlikely(READ_ONCE(smc->sk.sk_peek_off) >= 0))
		WRITE_ONCE(smc->sk.sk_peek_off, READ_ONCE(tcp->sk->sk_peek_off));
	/* neither recv() of no bytes nor these two look at the error first */
	if ((!rc && (len || !smc_inner_queued(&smc->inner))) ||
	    ((rc == -ENOTCONN || rc == -EAGAIN) &&
	     !(flags & (MSG_OOB | MSG_ERRQUEUE))))
		return tcp_error(smc, rc);
	return rc;
}

static __poll_t tcp_poll_mode(struct smc_sock *smc, struct file *file,
			      struct poll_table_struct *wait)
{
	struct socket *tcp = smc->inner.sock;
	struct sock *sk = &smc->sk;
	__poll_t mask;

	/* no second entry in a wait queue: ours is woken, see sock.c */
	mask = tcp->ops->poll(file, tcp, NULL);
	smc_mode_move_error(smc);
	if (!not_hidden(sk))
		mask &= ~(EPOLLIN | EPOLLRDNORM | EPOLLPRI | EPOLLRDHUP);
	if (READ_ONCE(sk->sk_err))
		mask |= EPOLLERR;
	if (!(mask & EPOLLOUT))
		sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	return mask;
}

static int tcp_ioctl_mode(struct smc_sock *smc, unsigned int cmd,
			  unsigned long arg)
{
	struct socket *tcp = smc->inner.sock;

	if (cmd == SIOCINQ && !not_hidden(&smc->sk))
		return put_user(0, (int __user *)arg);
	return tcp->ops->ioctl(tcp, cmd, arg);
}

static int tcp_shutdown_mode(struct smc_sock *smc, int how)
{
	struct socket *tcp = smc->inner.sock;
	int rc;

	rc = tcp->ops->shutdown(tcp, how - 1);
	WRITE_ONCE(smc->sk.sk_shutdown, READ_ONCE(tcp->sk->sk_shutdown));
	return rc;
}

static ssize_t tcp_splice_mode(struct smc_sock *smc, loff_t *ppos,
			       struct pipe_inode_info *pipe, size_t len,
			       unsigned int flags)
{
	struct socket *tcp = smc->inner.sock;
	ssize_t rc;

	rc = tcp_wait_hidden(smc, smc->sk.sk_socket->file->f_flags &
			     O_NONBLOCK);
	if (rc)
		return rc;
	rc = tcp->ops->splice_read(tcp, ppos, pipe, len, flags);
	if ((!rc && len) || rc == -ENOTCONN || rc == -EAGAIN)
		return tcp_error(smc, rc);
	return rc;
}

const struct smc_mode smc_mode_tcp = {
	.id		= SMC_MODE_TCP,
	.name		= "tcp",
	.sendmsg	= tcp_sendmsg_mode,
	.recvmsg	= tcp_recvmsg_mode,
	.poll		= tcp_poll_mode,
	.ioctl		= tcp_ioctl_mode,
	.shutdown	= tcp_shutdown_mode,
	.splice_read	= tcp_splice_mode,
};
