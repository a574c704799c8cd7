// SPDX-License-Identifier: GPL-2.0
/*
 * The socket operations: TCP's, but for what a connection of ours needs.
 *
 * Every operation asks first whether there is a connection (the common case),
 * then whether there is a context, and then looks up what the socket's phase
 * says (phase.c); without a context the socket has become TCP's while the call
 * was on its way, and the call is TCP's, too.
 *
 * A data call on a socket that is not connected is answered here.  If it went
 * to TCP another thread's connect() might come first, and the call would read
 * from the handshake or write into it.
 *
 * TCP's operations are called with the module pinned: a socket that becomes
 * TCP's has no context that does it.
 *
 * Context: process.  Tests: selftests/smc.
 */
#include <linux/poll.h>
#include <linux/sockios.h>
#include <linux/uaccess.h>
#include <net/inet_common.h>
#include <net/sock.h>

#include "sock.h"

#include <asm/ioctls.h>

struct proto_ops smc_sock_ops4 __ro_after_init;
struct proto_ops smc_sock_ops6 __ro_after_init;

/* -- data -- */

static int unconnected_recv(struct sock *sk, int flags)
{
	int err;

	if (sk->sk_state == TCP_LISTEN)
		return -ENOTCONN;
	if (flags & MSG_OOB)
		return -EINVAL;
	if (sock_flag(sk, SOCK_DONE))
		return 0;
	/* SO_ERROR takes no lock and may be quicker: no end of file then */
	err = sock_error(sk);
	if (err)
		return err;
	return sk->sk_shutdown & RCV_SHUTDOWN ? 0 : -ENOTCONN;
}

/*
 * What serves a read in a phase in which reads wait.  A read of the urgent byte
 * does not: TCP answers at once.  In LATE only the stream is held back.  Owned.
 */
static enum smc_data_rule waiting_recv(const struct smc_sock *smc, int flags,
				       int *rc)
{
	smc_sock_assert_locked(smc->sk);
	if (flags & MSG_OOB) {
		if (smc_sock_rules(smc)->tells)
			return SMC_DATA_TCP;
		*rc = -EINVAL;
		return SMC_DATA_REFUSE;
	}
	if (!smc_attempt_answers(smc))
		return SMC_DATA_WAIT;
	*rc = sock_error(smc->sk);
	return *rc || smc->sk->sk_shutdown & RCV_SHUTDOWN ? SMC_DATA_REFUSE :
							    SMC_DATA_WAIT;
}

/* What serves a data call; of one that is refused *@rc is the answer. */
static enum smc_data_rule data_rule(struct smc_sock *smc, int dir, int flags,
				    long *timeo, int *rc)
{
	bool oob = dir == READ && flags & MSG_OOB;
	struct sock *sk = smc->sk;
	enum smc_data_rule rule;

	do {
		*rc = oob ? 0 : smc_attempt_wait(smc, dir, timeo);
		if (*rc)
			return SMC_DATA_REFUSE;
		/* look again with the socket owned, against connect() */
		lock_sock(sk);
		rule = smc_sock_rules(smc)->data[dir];
		if (rule == SMC_DATA_REFUSE)
			*rc = dir == READ ? unconnected_recv(sk, flags) :
					    -EPIPE;
		else if (rule == SMC_DATA_WAIT && dir == READ)
			rule = waiting_recv(smc, flags, rc);
		release_sock(sk);
		smc_attempt_unlocked(smc);
	} while (rule == SMC_DATA_WAIT);
	return rule;
}

/*
 * The connection for a data call, with a reference.  Without one TCP serves the
 * call if *@as_tcp, else *@rc is its answer, 0 or -errno.  *@timeo: what is left
 * of it; TCP begins anew.
 */
static struct smc_conn *data_conn(struct sock *sk, int dir, int flags,
				  long *timeo, bool *as_tcp, int *rc)
{
	enum smc_data_rule rule;
	struct smc_conn *conn;
	struct smc_sock *smc;

	for (;;) {
		conn = smc_sock_conn(sk);
		if (likely(conn))
			return conn;
		rule = SMC_DATA_TCP;
		smc = smc_sock_get(sk);
		if (smc) {
			rule = data_rule(smc, dir, flags, timeo, rc);
			smc_sock_put(smc);
		}
		*as_tcp = rule == SMC_DATA_TCP;
		if (rule != SMC_DATA_CONN)
			return NULL;
	}
}

/* MSG_FASTOPEN: TCP's own way of a connect() with data. */
static void leave_to_tcp(struct sock *sk)
{
	struct smc_sock *smc = smc_sock_get(sk);

	if (!smc)
		return;
	smc_sock_begin(smc);
	lock_sock(sk);
	if (smc_sock_rules(smc)->idle && sk->sk_state == TCP_CLOSE)
		smc_attempt_fallback(smc, SMC_REASON_OPTUNSUPP);
	release_sock(sk);
	smc_sock_put(smc);
}

/* Kick the step that found the socket owned by TCP's operation. */
static void after_tcp(struct sock *sk)
{
	struct smc_sock *smc = smc_sock_get(sk);

	if (!smc)
		return;
	smc_attempt_unlocked(smc);
	smc_sock_put(smc);
}

/* sendmsg() where there is no connection yet, or none any more */
static noinline int send_waiting(struct socket *sock, struct msghdr *msg,
				 size_t len)
{
	int flags = msg->msg_flags;
	struct sock *sk = sock->sk;
	struct smc_conn *conn;
	bool as_tcp;
	long timeo;
	int rc;

	if (unlikely(flags & MSG_FASTOPEN))
		leave_to_tcp(sk);
	timeo = sock_sndtimeo(sk, flags & MSG_DONTWAIT);
	conn = data_conn(sk, WRITE, flags, &timeo, &as_tcp, &rc);
	if (conn) {
		rc = smc_tx_sendmsg(conn, msg, len, timeo);
		smc_conn_put(conn);
	} else if (as_tcp) {
		rc = smc_sock_as_tcp(sock, sendmsg, msg, len);
		after_tcp(sk);
	} else if (rc == -EPIPE) {
		rc = sk_stream_error(sk, flags, rc);
	}
	return rc;
}

static int op_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct smc_conn *conn = smc_sock_conn(sock->sk);
	int rc;

	if (unlikely(!conn))
		return send_waiting(sock, msg, len);
	rc = smc_tx_sendmsg(conn, msg, len,
			    sock_sndtimeo(sock->sk,
					  msg->msg_flags & MSG_DONTWAIT));
	smc_conn_put(conn);
	return rc;
}

/* recvmsg() where there is no connection yet, or none any more */
static noinline int recv_waiting(struct socket *sock, struct msghdr *msg,
				 size_t len, int flags)
{
	struct sock *sk = sock->sk;
	struct smc_conn *conn;
	bool as_tcp;
	long timeo;
	int rc;

	timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	conn = data_conn(sk, READ, flags, &timeo, &as_tcp, &rc);
	if (conn) {
		rc = smc_rx_recvmsg(conn, msg, len, flags, timeo);
		smc_conn_put(conn);
	} else if (as_tcp) {
		rc = smc_sock_as_tcp(sock, recvmsg, msg, len, flags);
		after_tcp(sk);
	}
	return rc;
}

static int op_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		      int flags)
{
	struct smc_conn *conn;
	int rc;

	/* that queue is the socket's, whatever carries its data */
	if (unlikely(flags & MSG_ERRQUEUE))
		return smc_sock_as_tcp(sock, recvmsg, msg, len, flags);
	conn = smc_sock_conn(sock->sk);
	if (unlikely(!conn))
		return recv_waiting(sock, msg, len, flags);
	rc = smc_rx_recvmsg(conn, msg, len, flags,
			    sock_rcvtimeo(sock->sk, flags & MSG_DONTWAIT));
	smc_conn_put(conn);
	return rc;
}

static ssize_t op_splice_read(struct socket *sock, loff_t *ppos,
			      struct pipe_inode_info *pipe, size_t len,
			      unsigned int flags)
{
	struct sock *sk = sock->sk;
	struct smc_conn *conn;
	ssize_t copied;
	bool as_tcp;
	long timeo;
	int rc;

	if (unlikely(*ppos))
		return -ESPIPE;
	/* SPLICE_F_NONBLOCK is about the pipe */
	timeo = sock_rcvtimeo(sk, sock->file->f_flags & O_NONBLOCK);
	conn = data_conn(sk, READ, 0, &timeo, &as_tcp, &rc);
	if (conn) {
		copied = smc_rx_splice(conn, pipe, len, timeo);
		smc_conn_put(conn);
		return copied;
	}
	if (!as_tcp)
		return rc;
	return smc_sock_as_tcp(sock, splice_read, ppos, pipe, len, flags);
}

/* sendfile() met an early end of file: no more data follows */
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
	/* pairs with apply(): the error was stored before shutdown */
	smp_rmb();
	if (smc_conn_has_error(conn) ||
	    !skb_queue_empty_lockless(&conn->sk->sk_error_queue))
		mask |= EPOLLERR;
	return mask;
}

/* Of TCP's events, those that are not shown now. */
static __poll_t hidden(const struct smc_sock *smc)
{
	return smc_attempt_answers(smc) ? 0 : smc_sock_rules(smc)->poll_hides;
}

/* poll() where there is no connection yet, or none any more */
static noinline __poll_t poll_waiting(struct file *file, struct socket *sock,
				      struct poll_table_struct *wait)
{
	struct smc_sock *smc = smc_sock_get(sock->sk);
	struct sock *sk = sock->sk;
	struct smc_conn *conn;
	__poll_t mask, hides;

	if (!smc) {
		smc_tcp_call_begin();
		mask = smc_sock_base(sk)->poll(file, sock, wait);
		smc_tcp_call_end();
		return mask;
	}
	sock_poll_wait(file, sock, wait);
	conn = smc_sock_conn_get(smc);
	if (conn) {
		mask = conn_poll(conn);
		smc_conn_put(conn);
		goto out;
	}
	/*
	 * What TCP's poll() sees may be the handshake's, which takes it away
	 * and then falls back: hide what the phase before it hides, too.  A
	 * wake-up follows each change of the phase that ends the hiding, and
	 * the caller is in the queue.
	 */
	hides = hidden(smc);
	if (inet_sk_state_load(sk) == TCP_LISTEN)
		mask = smc_acceptq_settle(sk) ? EPOLLIN | EPOLLRDNORM : 0;
	else
		mask = smc_sock_base(sk)->poll(file, sock, NULL);
	/*
	 * The phase after TCP's poll(), and not an older one: connect() may
	 * have come before it.  Pairs with TCP's release of sk_state, which
	 * follows the change of the phase.
	 */
	smp_rmb();
	mask &= ~(hides | hidden(smc));
out:
	smc_sock_put(smc);
	return mask;
}

/* Queuing the caller may sleep: the connection keeps the module meanwhile. */
static __poll_t op_poll(struct file *file, struct socket *sock,
			struct poll_table_struct *wait)
{
	struct smc_conn *conn = smc_sock_conn(sock->sk);
	__poll_t mask;

	if (unlikely(!conn))
		return poll_waiting(file, sock, wait);
	sock_poll_wait(file, sock, wait);
	/* connect(AF_UNSPEC) takes it from the socket, then wakes its queue */
	if (likely(smc_conn_is_current(conn)))
		mask = conn_poll(conn);
	else
		mask = poll_waiting(file, sock, NULL);
	smc_conn_put(conn);
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
		smc_tx_request_completion(conn);
		return smc_conn_outq(conn);
	default:
		return smc_conn_unsent(conn);
	}
}

/* Does the phase hide this?  In LATE only what has been received. */
static bool hides(struct sock *sk, unsigned int cmd)
{
	struct smc_sock *smc = smc_sock_get(sk);
	const struct smc_phase_rules *rules;
	bool yes;

	if (!smc)
		return false;
	rules = smc_sock_rules(smc);
	yes = rules->attempt ||
	      (cmd == SIOCINQ && rules->data[READ] == SMC_DATA_WAIT);
	smc_sock_put(smc);
	return yes;
}

static int put_int(int val, unsigned long arg)
{
	return put_user(val, (int __user *)arg);
}

/* User memory may come late: the connection keeps the module meanwhile. */
static int op_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct sock *sk = sock->sk;
	struct smc_conn *conn;
	int rc;

	if (cmd != SIOCINQ && cmd != SIOCATMARK && cmd != SIOCOUTQ &&
	    cmd != SIOCOUTQNSD)
		return smc_sock_as_tcp(sock, ioctl, cmd, arg);
	conn = smc_sock_conn(sk);
	if (conn) {
		rc = put_int(conn_value(conn, cmd), arg);
		smc_conn_put(conn);
		return rc;
	}
	if (!hides(sk, cmd))
		return smc_sock_as_tcp(sock, ioctl, cmd, arg);
	return smc_sock_pinned(put_int(0, arg));
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
 * The module owner stays TCP's: the core may take its reference when sock->ops
 * are ours, and drop it when they are TCP's.
 *
 * Context: process, module init.
 */
void smc_sock_make_ops(struct proto_ops *ops, const struct proto_ops *base)
{
	*ops = *base;
	ops->release = smc_sock_release;
	ops->bind = smc_sock_bind;
	ops->connect = smc_sock_connect;
	ops->accept = SMC_ACCEPT_OP(smc_sock_accept);
	ops->getname = op_getname;
	ops->poll = op_poll;
	ops->ioctl = op_ioctl;
	ops->listen = smc_sock_listen;
	ops->shutdown = smc_sock_shutdown;
	ops->setsockopt = smc_sock_setsockopt;
	ops->getsockopt = smc_sock_getsockopt;
	ops->sendmsg = op_sendmsg;
	ops->recvmsg = op_recvmsg;
	ops->splice_read = op_splice_read;
	ops->splice_eof = op_splice_eof;
	SMC_NO_SENDPAGE(ops);
	ops->set_rcvlowat = smc_rx_set_lowat;
	ops->read_sock = NULL;
	ops->read_skb = NULL;
	ops->sendmsg_locked = NULL;
}
