// SPDX-License-Identifier: GPL-2.0
/*
 * The inner TCP socket: create, accept, watch, talk, close.
 *
 * Every socket of ours has one for life.  It carries the handshake and, after
 * fallback, the data.  It is an ordinary TCP socket (kern=0: with kern=1
 * tcp_close() stops the timers, and what is pending at close would be lost
 * when a packet drops); the program's LSM label, cgroup hooks and namespace
 * reference are TCP's own.
 *
 * We watch it through an entry in its wait queue, as epoll does; nothing of
 * it is replaced.  All socket wait queues share one lockdep class, and waking
 * ours from within its wake-up would look like recursion, hence the class of
 * its own.
 *
 * Context: process unless a function says otherwise; no lock of the outer
 * socket is needed.  Data calls go to the ops directly: the LSM has looked at
 * the outer socket, and a worker has no program's credentials.
 *
 * Tests: selftests/smc (every test goes through here).
 */
#include <linux/file.h>
#include <linux/lockdep.h>
#include <linux/memcontrol.h>
#include <linux/net.h>
#include <linux/sctp.h>
#include <linux/security.h>
#include <linux/sock_diag.h>
#include <linux/uio.h>
#include <net/inet_common.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>

#include "hs.h"
#include "inner.h"

static struct lock_class_key inner_wq_key;

/* Interrupts off, the queue's lock held. */
static int inner_wake_func(wait_queue_entry_t *wait, unsigned int mode,
			   int sync, void *key)
{
	struct smc_inner *inner = container_of(wait, struct smc_inner, wait);

	inner->wake(inner, key_to_poll(key));
	return 0;
}

static void attach(struct smc_inner *inner, struct socket *sock,
		   void (*wake)(struct smc_inner *inner, __poll_t key))
{
	lockdep_set_class_and_name(&sock->wq.wait.lock, &inner_wq_key,
				   "smc_inner_wq");
	inner->sock = sock;
	inner->sk = sock->sk;
	inner->wake = wake;
	sock_hold(inner->sk);		/* until smc_inner_put() */
	init_waitqueue_func_entry(&inner->wait, inner_wake_func);
	add_wait_queue(&sock->wq.wait, &inner->wait);
}

/**
 * smc_inner_create() - make a TCP socket and watch it
 * @inner: filled in
 * @net: namespace
 * @family: AF_INET or AF_INET6
 * @wake: called for everything that happens to the socket
 *
 * Context: process.
 * Return: 0, or what socket() would fail with.
 */
int smc_inner_create(struct smc_inner *inner, struct net *net, int family,
		     void (*wake)(struct smc_inner *inner, __poll_t key))
{
	struct socket *sock;
	int rc;

	rc = __sock_create(net, family, SOCK_STREAM, IPPROTO_TCP, &sock, 0);
	if (rc)
		return rc;
	attach(inner, sock, wake);
	return 0;
}

/**
 * smc_inner_permission() - may the caller bind or connect the TCP socket?
 * @inner: the socket
 * @is_bind: for bind(), otherwise for connect()
 * @addr: the program's address
 * @len: its length, as the program says
 *
 * The core has asked the LSM about the outer socket only, which for SELinux is
 * no TCP socket: it did not ask for name_connect, and for name_bind of another
 * class.  Of the hooks with these two questions one is for modules to call,
 * that for addresses that SCTP learns otherwise than by bind() and connect();
 * it asks them about any socket with ports.  Addresses without ports are left to
 * TCP to refuse.
 *
 * Context: process, in the caller's own name; takes the inner lock_sock().
 * Return: 0 or -errno, -EACCES most likely.
 */
int smc_inner_permission(struct smc_inner *inner, bool is_bind,
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
	lock_sock(inner->sk);
	rc = security_sctp_bind_connect(inner->sk, what,
					(struct sockaddr *)&name, size);
	release_sock(inner->sk);
	return rc;
}

/**
 * smc_inner_cookie() - what SO_COOKIE of the TCP socket would say
 * @inner: the socket
 *
 * Context: any.
 */
u64 smc_inner_cookie(const struct smc_inner *inner)
{
	u32 half[2];

	sock_diag_save_cookie(inner->sk, half);
	return half[0] | (u64)half[1] << 32;
}

/**
 * smc_inner_acceptable() - is there a connection to take?
 * @inner: listening socket
 *
 * Context: any, lockless.
 */
bool smc_inner_acceptable(const struct smc_inner *inner)
{
	return !reqsk_queue_empty(&inet_csk(inner->sk)->icsk_accept_queue);
}

/*
 * TCP's accept() has a connection's buffers charged to the caller from then
 * on, but does nothing for a worker.  What has come already was charged to
 * nobody, and would be given back to somebody: then it stays as it is.
 */
static void inherit_memcg(struct sock *tcp, struct sock *listener)
{
#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg = listener->sk_memcg;

	lock_sock(tcp);
	if (memcg && !tcp->sk_memcg && !sk_rmem_alloc_get(tcp) &&
	    !READ_ONCE(tcp->sk_wmem_queued) && !tcp->sk_forward_alloc) {
		css_get(&memcg->css);
		tcp->sk_memcg = memcg;
	}
	release_sock(tcp);
#endif
}

/**
 * smc_inner_accept() - take one connection without waiting
 * @child: filled in
 * @listener: listening socket
 * @uid: owner of the child
 * @wake: as for smc_inner_create()
 *
 * Context: process, also a worker.
 * Return: 0, -EAGAIN if there is none, or another error of accept().
 */
int smc_inner_accept(struct smc_inner *child, struct smc_inner *listener,
		     kuid_t uid,
		     void (*wake)(struct smc_inner *inner, __poll_t key))
{
	struct proto_accept_arg arg = { .flags = O_NONBLOCK };
	struct socket *lsock = listener->sock;
	struct socket *sock;
	int rc;

	rc = sock_create_lite(lsock->sk->sk_family, lsock->type,
			      lsock->sk->sk_protocol, &sock);
	if (rc)
		return rc;
	/* sock_graft() makes it the uid of the TCP socket */
	SOCK_INODE(sock)->i_uid = uid;
	rc = lsock->ops->accept(lsock, sock, &arg);
	if (rc) {
		sock_release(sock);
		return rc;
	}
	sock->ops = lsock->ops;
	__module_get(sock->ops->owner);
	inherit_memcg(sock->sk, lsock->sk);
	/* A low-water mark would silence the wake-up for a CLC message. */
	WRITE_ONCE(sock->sk->sk_rcvlowat, 1);
	attach(child, sock, wake);
	return 0;
}

/**
 * smc_inner_lend() - let the inner socket use the program's file
 * @inner: the socket
 * @file: file, or NULL to take it back
 *
 * Context: process; a caller with a file is in a system call on it.
 */
void smc_inner_lend(struct smc_inner *inner, struct file *file)
{
	struct sock *tcp = inner->sk;

	if (!inner->sock || READ_ONCE(inner->sock->file) == file)
		return;
	/* TCP's SIGURG looks at it, under this lock; a file given may come late */
	if (!file)
		lock_sock(tcp);
	write_lock_bh(&tcp->sk_callback_lock);
	inner->sock->file = file;
	write_unlock_bh(&tcp->sk_callback_lock);
	if (!file)
		release_sock(tcp);
}

/**
 * smc_inner_no_linger() - smc_inner_release() is not to wait
 * @inner: the socket
 *
 * TCP changes other flags of the same word, under this lock.
 *
 * Context: process.
 */
void smc_inner_no_linger(struct smc_inner *inner)
{
	lock_sock(inner->sk);
	sock_reset_flag(inner->sk, SOCK_LINGER);
	release_sock(inner->sk);
}

/**
 * smc_inner_release() - stop watching and close
 * @inner: may have been released before
 *
 * Context: process; sleeps if SO_LINGER says so.
 */
void smc_inner_release(struct smc_inner *inner)
{
	struct socket *sock = inner->sock;

	if (!sock)
		return;
	remove_wait_queue(&sock->wq.wait, &inner->wait);
	/* With a file sock_release() would leave the inode to it. */
	smc_inner_lend(inner, NULL);
	inner->sock = NULL;
	sock_release(sock);
}

/**
 * smc_inner_put() - drop the last tie to the TCP socket
 * @inner: released
 *
 * Context: any; the destructor of the outer socket.
 */
void smc_inner_put(struct smc_inner *inner)
{
	if (inner->sk)
		sock_put(inner->sk);
	inner->sk = NULL;
}

/**
 * smc_inner_established() - can data flow on the TCP connection?
 * @inner: the socket
 *
 * Context: any, lockless.
 */
bool smc_inner_established(const struct smc_inner *inner)
{
	return (1 << inet_sk_state_load(inner->sk)) &
	       (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT);
}

/**
 * smc_inner_name() - the local address
 * @inner: the socket, locked
 * @name: filled in, sockaddr_in or sockaddr_in6
 *
 * Return: its length.
 */
int smc_inner_name(const struct smc_inner *inner, struct sockaddr_in6 *name)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)name;
	const struct sock *sk = inner->sk;
	const struct inet_sock *inet = inet_sk(sk);

	sock_owned_by_me(sk);
	memset(name, 0, sizeof(*name));
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		name->sin6_family = AF_INET6;
		name->sin6_port = inet->inet_sport;
		name->sin6_addr = ipv6_addr_any(&sk->sk_v6_rcv_saddr) ?
				  inet6_sk(sk)->saddr : sk->sk_v6_rcv_saddr;
		name->sin6_scope_id = ipv6_iface_scope_id(&name->sin6_addr,
							  sk->sk_bound_dev_if);
		return sizeof(*name);
	}
#endif
	v4->sin_family = AF_INET;
	v4->sin_port = inet->inet_sport;
	v4->sin_addr.s_addr = inet->inet_rcv_saddr ?: inet->inet_saddr;
	return sizeof(*v4);
}

/**
 * smc_inner_readable() - bytes that can be read now
 * @inner: the socket
 *
 * Context: any, lockless: a moment later there may be more.
 */
u32 smc_inner_readable(const struct smc_inner *inner)
{
	int inq = tcp_inq(inner->sk);

	return inq > 0 ? inq : 0;
}

/**
 * smc_inner_queued() - is there anything to read, be it an urgent byte or FIN?
 * @inner: the socket
 *
 * Context: any, lockless.
 */
bool smc_inner_queued(const struct smc_inner *inner)
{
	return !skb_queue_empty_lockless(&inner->sk->sk_receive_queue);
}

/**
 * smc_inner_at_urgent() - is the next byte an urgent one?
 * @inner: the socket
 *
 * Context: any, lockless.
 */
bool smc_inner_at_urgent(const struct smc_inner *inner)
{
	const struct tcp_sock *tp = tcp_sk(inner->sk);

	return READ_ONCE(tp->urg_data) &&
	       READ_ONCE(tp->urg_seq) == READ_ONCE(tp->copied_seq);
}

/**
 * smc_inner_closed() - has the peer sent FIN or RST?
 * @inner: the socket
 *
 * Context: any, lockless.
 */
bool smc_inner_closed(const struct smc_inner *inner)
{
	return READ_ONCE(inner->sk->sk_shutdown) & RCV_SHUTDOWN ||
	       inet_sk_state_load(inner->sk) == TCP_CLOSE;
}

/**
 * smc_inner_peek() - copy unread bytes and leave them
 * @inner: the socket, locked
 * @buf: room for @len bytes
 * @len: bytes wanted
 *
 * An urgent byte, and what comes after it, is not looked at.
 *
 * Return: bytes copied, 0 if there are none now; -EFAULT for bytes that are not
 * in host memory.
 */
int smc_inner_peek(struct smc_inner *inner, void *buf, size_t len)
{
	struct sock *sk = inner->sk;
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 seq = tp->copied_seq, off, part;
	struct sk_buff *skb;
	size_t got = 0;

	sock_owned_by_me(sk);
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
 * smc_inner_recv() - consume bytes
 * @inner: the socket, locked
 * @buf: room for @len bytes
 * @len: bytes wanted
 *
 * Return: bytes read, 0 if there are none now; or -errno.
 */
int smc_inner_recv(struct smc_inner *inner, void *buf, size_t len)
{
	struct reading to = { .buf = buf, .room = len };
	read_descriptor_t desc = { .arg.data = &to, .count = len };
	int rc;

	sock_owned_by_me(inner->sk);
	rc = tcp_read_sock(inner->sk, &desc, read_actor);
	if (rc > 0)
		inner->hs_rcvd += rc;
	return rc;
}

/**
 * smc_inner_send() - send without waiting
 * @inner: the socket, locked
 * @buf: bytes
 * @len: their number
 *
 * Return: bytes taken, or -errno.
 */
int smc_inner_send(struct smc_inner *inner, const void *buf, size_t len)
{
	struct kvec vec = { .iov_base = (void *)buf, .iov_len = len };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	int rc;

	sock_owned_by_me(inner->sk);
	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, &vec, 1, len);
	rc = tcp_sendmsg_locked(inner->sk, &msg, len);
	if (rc > 0)
		inner->hs_sent += rc;
	return rc;
}

/**
 * smc_inner_connect_locked() - begin to connect
 * @inner: the socket, locked, not connected
 * @addr: to whom
 * @len: length of @addr
 *
 * Context: process.
 * Return: 0; -EINPROGRESS as a rule; or -errno.
 */
int smc_inner_connect_locked(struct smc_inner *inner, struct sockaddr *addr,
			     int len)
{
	sock_owned_by_me(inner->sk);
	return __inet_stream_connect(inner->sock,
				     (struct sockaddr_unsized *)addr, len,
				     O_NONBLOCK, 0);
}

/**
 * smc_inner_disconnect_locked() - back to a fresh socket with the same settings
 * @inner: the socket, locked, in any state; a connection is reset
 *
 * tcp_disconnect() leaves an error and wakes everybody with EPOLLERR; the
 * error is cleared here, the wake-up is the caller's to ignore.
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int smc_inner_disconnect_locked(struct smc_inner *inner)
{
	struct sockaddr addr = { .sa_family = AF_UNSPEC };
	int rc;

	rc = smc_inner_connect_locked(inner, &addr, sizeof(addr));
	inner->hs_sent = 0;
	inner->hs_rcvd = 0;
	xchg(&inner->sk->sk_err, 0);
	xchg(&inner->sk->sk_err_soft, 0);
	return rc;
}

/**
 * smc_inner_disconnect() - smc_inner_disconnect_locked(), with the lock
 * @inner: the socket
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int smc_inner_disconnect(struct smc_inner *inner)
{
	int rc;

	lock_sock(inner->sk);
	rc = smc_inner_disconnect_locked(inner);
	release_sock(inner->sk);
	return rc;
}

/**
 * smc_inner_offer() - offer SMC with the SYN, or answer the offer
 * @inner: the socket, before connect or listen
 * @on: false: the next SYN or SYN-ACK goes out without the option
 *
 * Context: process.
 */
void smc_inner_offer(struct smc_inner *inner, bool on)
{
	lock_sock(inner->sk);
	smc_synopt_set(inner->sk, on);
	release_sock(inner->sk);
}

/**
 * smc_inner_abort() - reset the connection
 * @inner: the socket, in any state; its names stay, for getsockname() and for
 *	accept(), which may hand it out later
 *
 * As smc_inner_disconnect() it leaves no error.
 *
 * Context: process.
 */
void smc_inner_abort(struct smc_inner *inner)
{
	struct sock *sk = inner->sk;

	if (!sk->sk_prot->diag_destroy) {
		smc_inner_disconnect(inner);
		return;
	}
	sk->sk_prot->diag_destroy(sk, ECONNABORTED);
	xchg(&sk->sk_err, 0);
	xchg(&sk->sk_err_soft, 0);
}

/**
 * smc_inner_take_error() - move the pending error out
 * @inner: the socket
 *
 * Context: any.
 * Return: positive errno, 0 if there is none.
 */
int smc_inner_take_error(struct smc_inner *inner)
{
	if (likely(!READ_ONCE(inner->sk->sk_err)))
		return 0;
	return xchg(&inner->sk->sk_err, 0);
}

/**
 * smc_inner_notsent_lowat() - TCP_NOTSENT_LOWAT, or the namespace's value
 * @inner: the socket
 *
 * Context: any, lockless.
 * Return: bytes; U32_MAX if there is no limit.
 */
u32 smc_inner_notsent_lowat(const struct smc_inner *inner)
{
	return tcp_notsent_lowat(tcp_sk(inner->sk));
}

/**
 * smc_inner_rtt_ms() - smoothed round-trip time
 * @inner: the socket
 *
 * Context: any, lockless.
 * Return: milliseconds, rounded up; 0 if nothing has been measured.
 */
u32 smc_inner_rtt_ms(const struct smc_inner *inner)
{
	return DIV_ROUND_UP(READ_ONCE(tcp_sk(inner->sk)->srtt_us) >> 3, 1000);
}
