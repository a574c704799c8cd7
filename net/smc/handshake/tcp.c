// SPDX-License-Identifier: GPL-2.0
/*
 * What a handshake does to its TCP connection: look, read, write, connect
 * again.
 *
 * The connection is the handshake's while it holds the socket's spinlock, the
 * socket is not owned by a system call, and smc_hs_stop() has not been called.
 * A worker never waits for a system call to let go of the socket, which may
 * take for ever (a page that does not come): what finds the socket owned is put
 * off, and the operations of the socket queue the next step when they leave
 * (smc_hs_unlocked()).  A message that cannot be written is kept in
 * hs->data->out and leaves before anything else is done, unless something comes
 * that ends the handshake.  If TCP does not take it for one handshake deadline,
 * it cannot be sent.
 *
 * An un-accepted child belongs to its listener, which must not find it owned:
 * everything here but connecting again is done with the spinlock alone.  Nor
 * has it a struct socket, which tcp_sendmsg_locked() looks at when memory is
 * short: one is lent to it.
 *
 * Context: worker, from a step, no lock held, unless a function says otherwise.
 * Test: selftests/smc/fallback*.sh
 */
#include <linux/jiffies.h>
#include <linux/net.h>
#include <net/inet_common.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "priv.h"
#include "stats.h"

static struct socket *lent;

/*
 * Has a program got a child in the middle of its handshake?  Our accept()
 * returns none, unless the listener is shut down and listens again between its
 * two looks at the queue.  But another listener of the SO_REUSEPORT group does,
 * to which TCP may have moved it (net.ipv4.tcp_migrate_req).  Locked.
 */
static bool accepted_early(const struct smc_hs *hs)
{
	lockdep_assert_held(&hs->setup.sk->sk_lock.slock);
	return hs->setup.role == SMC_SERV && !hs->setup.connects &&
	       hs->state != SMC_HS_LATE && hs->setup.sk->sk_socket;
}

/* The program has read the peer's messages, or will: there is no way back. */
static void reset_accepted(struct smc_hs *hs)
{
	const struct smc_hs_result res = {
		.outcome = SMC_HS_ERR,
		.reason = SMC_REASON_LOSTPEER,
	};

	/* before done(), which drops the socket's reference */
	smc_hs_set_stopped(hs);
	smc_stats_inc(hs->setup.sn, hs->ops->stat_err);
	smc_hs_tcp_reset(hs->setup.sk);
	hs->setup.events->done(hs->setup.arg, &res);
}

/**
 * smc_hs_lock() - lock the TCP connection
 * @hs: handshake
 *
 * A child that a program has accepted too early is reset, and stopped.
 *
 * Return: 0: it is ours until smc_hs_unlock(), BH disabled; -EAGAIN: a system
 * call has it, another step will be queued; -ECANCELED: stopped.
 */
int smc_hs_lock(struct smc_hs *hs)
{
	struct sock *sk = hs->setup.sk;
	int rc = 0;

	spin_lock_bh(&sk->sk_lock.slock);
	/* a system call that owns the socket may be setting it */
	if (READ_ONCE(hs->stopped)) {
		rc = -ECANCELED;
	} else if (sock_owned_by_user_nocheck(sk)) {
		rc = -EAGAIN;
		WRITE_ONCE(hs->put_off, true);
	} else if (unlikely(sock_flag(sk, SOCK_DEAD))) {
		/* a program has closed such a child: it is TCP's to end */
		rc = -ECANCELED;
		smc_hs_set_stopped(hs);
	} else if (unlikely(accepted_early(hs))) {
		rc = -ECANCELED;
		reset_accepted(hs);
	}
	if (rc)
		spin_unlock_bh(&sk->sk_lock.slock);
	else
		__release(&sk->sk_lock.slock);	/* sparse: by the caller */
	return rc;
}

/**
 * smc_hs_unlock() - undo smc_hs_lock()
 * @hs: handshake
 *
 * Context: worker, after smc_hs_lock() has returned 0.
 */
void smc_hs_unlock(struct smc_hs *hs)
{
	struct sock *sk = hs->setup.sk;

	lockdep_assert_held(&sk->sk_lock.slock);
	__acquire(&sk->sk_lock.slock);	/* sparse: by smc_hs_lock() */
	spin_unlock_bh(&sk->sk_lock.slock);
}

/* -- locked -- */

/**
 * smc_hs_tcp_closed() - has the peer sent FIN or RST?
 * @sk: socket
 *
 * SOCK_DONE and not RCV_SHUTDOWN, which shutdown() before connect() sets, too.
 * And not sk_err: with IP_RECVERR an ICMP message sets it, and TCP goes on.  An
 * error that ends the connection leaves it in TCP_CLOSE.
 *
 * Context: any, lockless.
 */
bool smc_hs_tcp_closed(const struct sock *sk)
{
	return sock_flag(sk, SOCK_DONE) || inet_sk_state_load(sk) == TCP_CLOSE;
}

/**
 * smc_hs_tcp_readable() - bytes that can be read now
 * @sk: socket
 *
 * Context: any, lockless: a moment later there may be more.
 * Return: their number; an urgent byte, and for a moment a FIN, count, too.
 */
u32 smc_hs_tcp_readable(const struct sock *sk)
{
	/* TCP calls this with the lock; a segment that comes wakes us again */
	int inq = data_race(tcp_inq((struct sock *)sk));

	return inq > 0 ? inq : 0;
}

/**
 * smc_hs_tcp_at_urgent() - is the next byte an urgent one?
 * @sk: socket
 *
 * Context: any, lockless.
 */
bool smc_hs_tcp_at_urgent(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return READ_ONCE(tp->urg_data) &&
	       READ_ONCE(tp->urg_seq) == READ_ONCE(tp->copied_seq);
}

/**
 * smc_hs_tcp_peek() - copy unread bytes and leave them
 * @sk: socket, locked
 * @buf: room for @len bytes
 * @len: bytes wanted
 *
 * An urgent byte, and what comes after it, is not looked at.
 *
 * Context: any; the socket is locked.
 * Return: bytes copied, 0 if there are none now; -EFAULT for bytes that are not
 * in host memory.
 */
int smc_hs_tcp_peek(struct sock *sk, void *buf, size_t len)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 seq = tp->copied_seq, off, part;
	struct sk_buff *skb;
	size_t got = 0;

	lockdep_assert(lockdep_sock_is_held(sk));
	if (tp->urg_data)
		len = min_t(size_t, len, tp->urg_seq - seq);
	skb_queue_walk(&sk->sk_receive_queue, skb) {
		off = seq - TCP_SKB_CB(skb)->seq;
		if (off >= skb->len)
			continue;
		part = min_t(size_t, len - got, skb->len - off);
		if (skb_copy_bits(skb, off, buf + got, part))
			return -EFAULT;
		got += part;
		seq += part;
		if (got == len)
			break;
	}
	return got;
}

struct reading {
	void *buf;
	size_t room;
};

static int read_actor(read_descriptor_t *desc, struct sk_buff *skb,
		      unsigned int off, size_t len)
{
	struct reading *to = desc->arg.data;
	int rc;

	len = min(len, to->room);
	rc = skb_copy_bits(skb, off, to->buf, len);
	if (rc)
		return rc;
	to->buf += len;
	to->room -= len;
	desc->count = to->room;
	return len;
}

/**
 * smc_hs_tcp_recv() - consume bytes
 * @sk: socket, locked
 * @buf: room for @len bytes
 * @len: bytes wanted
 *
 * Context: any; the socket is locked.
 * Return: bytes read, 0 if there are none now; or -errno.
 */
int smc_hs_tcp_recv(struct sock *sk, void *buf, size_t len)
{
	struct reading to = { .buf = buf, .room = len };
	read_descriptor_t desc = { .arg.data = &to, .count = len };

	lockdep_assert(lockdep_sock_is_held(sk));
	return tcp_read_sock(sk, &desc, read_actor);
}

/*
 * Not by sk_set_socket(), which on newer kernels also gives the connection the
 * user of the socket: a child keeps that of its listener.
 */
static void lend_socket(struct sock *sk, struct socket *sock)
{
	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_pointer(sk->sk_wq, sock ? &sock->wq : NULL);
	WRITE_ONCE(sk->sk_socket, sock);
	write_unlock_bh(&sk->sk_callback_lock);
}

/*
 * Take an error that does not end the connection (IP_RECVERR) out of the way:
 * TCP would return it instead of sending, and it is the program's.
 */
static int set_aside_error(struct sock *sk)
{
	return READ_ONCE(sk->sk_err) ? xchg(&sk->sk_err, 0) : 0;
}

/* A waiter of a program that has the socket already may have missed it. */
static void put_back_error(struct sock *sk, int err)
{
	if (!err)
		return;
	cmpxchg(&sk->sk_err, 0, err);
	sk_error_report(sk);
}

/**
 * smc_hs_tcp_send() - send a message without waiting
 * @sk: socket, locked with its spinlock alone
 * @buf: bytes
 * @len: their number
 *
 * Context: any; the spinlock of the socket is held.
 * Return: 0 if all of it was taken; -EAGAIN: there is no room or memory now;
 * -EPIPE and other errors: the connection is over.
 */
int smc_hs_tcp_send(struct sock *sk, const void *buf, size_t len)
{
	/* the program gets no time stamps of messages that are not its own */
	struct {
		struct cmsghdr head;
		u32 tsflags;
	} control = {
		.head.cmsg_level = SOL_SOCKET,
		.head.cmsg_type = SO_TIMESTAMPING_OLD,
		.head.cmsg_len = CMSG_LEN(sizeof(u32)),
	};
	struct kvec vec = { .iov_base = (void *)buf, .iov_len = len };
	struct msghdr msg = {
		.msg_control = &control,
		.msg_controllen = sizeof(control),
		.msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL,
	};
	gfp_t gfp = sk->sk_allocation;
	bool lone = !sk->sk_socket;
	int rc, err;

	lockdep_assert_held(&sk->sk_lock.slock);
	/* anything else would wait for the connection */
	if (!((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)))
		return -EPIPE;
	if (!sk_stream_memory_free(sk))
		return -EAGAIN;
	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, &vec, 1, len);
	if (lone)
		lend_socket(sk, lent);
	sk->sk_allocation = GFP_ATOMIC;
	err = set_aside_error(sk);
	rc = tcp_sendmsg_locked(sk, &msg, len);
	sk->sk_allocation = gfp;
	if (lone)
		lend_socket(sk, NULL);
	put_back_error(sk, err);
	if (rc < 0)
		return rc == -ENOMEM || rc == -ENOBUFS ? -EAGAIN : rc;
	return rc == len ? 0 : -EIO;
}

/**
 * smc_hs_tcp_reset() - reset the connection
 * @sk: socket, locked with its spinlock alone
 *
 * The program sees what it would see after a reset by the peer.  disconnect()
 * would clear the socket's own address, unless the program has bound it, and
 * SO_PEEK_OFF.
 *
 * Context: any; the spinlock of the socket is held.
 */
void smc_hs_tcp_reset(struct sock *sk)
{
	bool bound = sk->sk_userlocks & SOCK_BINDADDR_LOCK;
	int peek_off = READ_ONCE(sk->sk_peek_off);
	struct inet_sock *inet = inet_sk(sk);
	__be16 dport = inet->inet_dport;

	lockdep_assert_held(&sk->sk_lock.slock);
	sk->sk_userlocks |= SOCK_BINDADDR_LOCK;
	sk->sk_prot->disconnect(sk, O_NONBLOCK);
	if (!bound)
		sk->sk_userlocks &= ~SOCK_BINDADDR_LOCK;
	inet->inet_dport = dport;
	WRITE_ONCE(sk->sk_peek_off, peek_off);
	WRITE_ONCE(sk->sk_err, ECONNRESET);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
}

/* -- steps -- */

/**
 * smc_hs_read() - read bytes of the stream
 * @hs: handshake
 * @how: smc_hs_tcp_peek() or smc_hs_tcp_recv()
 * @buf: room for @len bytes
 * @len: bytes wanted
 *
 * Return: bytes copied, 0 if there are none now; -EAGAIN, -ECANCELED.
 */
int smc_hs_read(struct smc_hs *hs,
		int (*how)(struct sock *sk, void *buf, size_t len),
		void *buf, size_t len)
{
	int rc = smc_hs_lock(hs);

	if (rc)
		return rc;
	rc = how(hs->setup.sk, buf, len);
	smc_hs_unlock(hs);
	return rc;
}

/**
 * smc_hs_flush() - send the message that is waiting in hs->data->out
 * @hs: handshake
 *
 * No step runs while a message waits, so a state's deadline does not end the
 * wait: the message has one of its own.  While a system call owns the socket
 * that is not looked at: the handshake could not be ended either.  Something
 * that comes may end it before (run()).
 *
 * Return: 0: nothing waits any more; -EAGAIN: it waits; -ECANCELED: stopped;
 * any other error: it will not leave, or not all of it.
 */
int smc_hs_flush(struct smc_hs *hs)
{
	struct smc_hs_data *data = hs->data;
	int rc;

	if (!data->out_len)
		return 0;
	rc = smc_hs_lock(hs);
	if (rc)
		return rc;
	rc = smc_hs_tcp_send(hs->setup.sk, data->out, data->out_len);
	if (!rc && data->out_mark >= 0)
		set_bit(data->out_mark, &hs->bits);
	if (rc == -EAGAIN && time_after_eq(jiffies, data->out_until))
		rc = -ETIMEDOUT;
	if (rc == -EAGAIN)
		WRITE_ONCE(hs->put_off, true);
	else
		data->out_len = 0;
	smc_hs_unlock(hs);
	return rc;
}

/**
 * smc_hs_tcp_up() - client: look how TCP's connect() goes
 * @hs: handshake
 * @err: if it has failed, the positive errno, or 0; it stays the program's
 *
 * If it is established and has lost its route, another one is looked up.
 *
 * Return: 1: established; 0: not yet; -ECONNREFUSED: it has failed; -EAGAIN,
 * -ECANCELED.
 */
int smc_hs_tcp_up(struct smc_hs *hs, int *err)
{
	struct sock *sk = hs->setup.sk;
	int rc = smc_hs_lock(hs);
	int soft;

	if (rc)
		return rc;
	if ((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)) {
		/*
		 * As TCP does before it retransmits: the program may have taken
		 * the route away (IP_TOS), or it is stale.  SO_ERROR does not
		 * tell of it: TCP has nothing to send yet.
		 */
		soft = READ_ONCE(sk->sk_err_soft);
		if (inet_csk(sk)->icsk_af_ops->rebuild_header(sk))
			WRITE_ONCE(sk->sk_err_soft, soft);
		rc = 1;
	} else if (sk->sk_state == TCP_CLOSE) {
		/* SO_ERROR takes no lock */
		*err = READ_ONCE(sk->sk_err);
		rc = -ECONNREFUSED;
	}
	smc_hs_unlock(hs);
	return rc;
}

/*
 * Own the socket as a system call does, without waiting; not for a child in the
 * accept queue.  0: owned until release_sock(); else as smc_hs_lock().
 */
static int own(struct smc_hs *hs)
{
	struct sock *sk = hs->setup.sk;
	int rc = smc_hs_lock(hs);

	if (rc)
		return rc;
	sk->sk_lock.owned = 1;
	smc_hs_unlock(hs);
	mutex_acquire(&sk->sk_lock.dep_map, 0, 1, _RET_IP_);
	return 0;
}

/* Options set before connect() that disconnect() clears. */
struct options {
	int peek_off;
	u16 mss;
	u32 rto_min;
	u32 delack_max;
};

static void keep(struct sock *sk, struct options *kept)
{
	/* for some of them newer kernels take no lock */
	kept->peek_off = READ_ONCE(sk->sk_peek_off);
	kept->mss = READ_ONCE(tcp_sk(sk)->rx_opt.user_mss);
	kept->rto_min = READ_ONCE(inet_csk(sk)->icsk_rto_min);
	kept->delack_max = READ_ONCE(inet_csk(sk)->icsk_delack_max);
}

static void put_back(struct smc_hs *hs, const struct options *kept)
{
	struct sock *sk = hs->setup.sk;

	WRITE_ONCE(sk->sk_peek_off, kept->peek_off);
	WRITE_ONCE(tcp_sk(sk)->rx_opt.user_mss, kept->mss);
	/* the present value is TCP's for the old connection */
	WRITE_ONCE(tcp_sk(sk)->window_clamp, hs->setup.window_clamp);
	WRITE_ONCE(inet_csk(sk)->icsk_rto_min, kept->rto_min);
	WRITE_ONCE(inet_csk(sk)->icsk_delack_max, kept->delack_max);
}

/*
 * Where the connection goes to.  A BPF program of the caller's control group may
 * have changed the address that the program gave.
 */
static void get_peer(const struct smc_hs *hs, struct sockaddr_in6 *addr)
{
	struct sockaddr_in *in = (struct sockaddr_in *)addr;
	const struct sock *sk = hs->setup.sk;

	/* the scope of an IPv6 address, too */
	*addr = hs->setup.addr;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		addr->sin6_addr = sk->sk_v6_daddr;
		addr->sin6_port = inet_sk(sk)->inet_dport;
		return;
	}
#endif
	in->sin_addr.s_addr = inet_sk(sk)->inet_daddr;
	in->sin_port = inet_sk(sk)->inet_dport;
}

/**
 * smc_hs_connect_again() - client: reset the connection and open another one
 * @hs: handshake; the next SYN goes out without the option
 *
 * No BPF program is asked for the address: it would take this worker for the
 * caller.
 *
 * Return: 0: it is being opened; -EAGAIN, -ECANCELED; other errors of
 * connect().
 */
int smc_hs_connect_again(struct smc_hs *hs)
{
	struct sock *sk = hs->setup.sk;
	struct sockaddr_in6 addr;
	struct options kept;
	int rc;

	rc = own(hs);
	if (rc)
		return rc;
	/* an administrator has ended it (sock_diag) */
	if (READ_ONCE(sk->sk_err) == ECONNABORTED) {
		release_sock(sk);
		return -ECONNABORTED;
	}
	keep(sk, &kept);
	get_peer(hs, &addr);
	rc = sk->sk_prot->disconnect(sk, O_NONBLOCK);
	if (!rc) {
		put_back(hs, &kept);
		xchg(&sk->sk_err, 0);
		smc_synopt_off(sk);
		rc = sk->sk_prot->connect(sk, (struct sockaddr_unsized *)&addr,
					  sizeof(addr));
	}
	sk->sk_socket->state = SS_CONNECTING;
	if (rc == -EAGAIN)
		rc = -EADDRNOTAVAIL;	/* -EAGAIN would mean "put off" */
	/* connect() and SO_ERROR report the error from here */
	if (rc)
		WRITE_ONCE(sk->sk_err, -rc);
	release_sock(sk);
	return rc;
}

/**
 * smc_hs_tcp_init() - make the struct socket that is lent to children
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int smc_hs_tcp_init(void)
{
	return sock_create_lite(PF_INET, SOCK_STREAM, IPPROTO_TCP, &lent);
}

/**
 * smc_hs_tcp_exit() - undo smc_hs_tcp_init()
 *
 * Context: process.
 */
void smc_hs_tcp_exit(void)
{
	sock_release(lent);
}
