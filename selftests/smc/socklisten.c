// SPDX-License-Identifier: GPL-2.0
/*
 * socklisten - listen and accept are TCP's, to the letter: order, backlog,
 * flags, waking, groups of listeners, TCP_DEFER_ACCEPT; and Fast Open
 *
 * As in sockconn.c each test runs on plain TCP first.
 */
#include <linux/filter.h>

#include "lib/connfixture.h"
#include "lib/task.h"

/* -- listen and accept -- */

/* TCP_INFO of a listener counts what accept() would give (tcpi_unacked) */
static bool in_queue(int fd, unsigned int want)
{
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;
	struct tcp_info info = {};
	socklen_t len;

	do {
		len = sizeof(info);
		if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
			return false;
		if (info.tcpi_unacked == want)
			return true;
		usleep(1000);
	} while (now_ns() < end);
	return false;
}

/*
 * TCP's order is that of the connections; with SMC it is that in which handshakes
 * end, each with its own worker.
 */
static bool in_order(enum kind kind, const int *fd, int num, int at, int port)
{
	if (kind == KIND_TCP)
		return port == local_port(fd[at]);
	for (int i = 0; i < num; i++)
		if (port == local_port(fd[i]))
			return true;
	return false;
}

TEST_F(conn, accept_order_and_flags)
{
	struct where w = { .len = sizeof(w.ss) };
	int fd[3], s, first;

	for (int i = 0; i < 3; i++) {
		fd[i] = NEW(0);
		ASSERT_EQ(0, CONNECT(fd[i], &self->at));
		EXPECT_TRUE(in_queue(self->listener, i + 1));
	}
	s = accept4(self->listener, sa(&w), &w.len,
		    SOCK_NONBLOCK | SOCK_CLOEXEC);
	ASSERT_LE(0, s);
	EXPECT_EQ(variant->family, w.ss.ss_family);
	EXPECT_EQ(self->at.len, w.len);
	first = port_of(&w);
	EXPECT_TRUE(in_order(variant->kind, fd, 3, 0, first));
	EXPECT_EQ(O_NONBLOCK, O_NONBLOCK & fcntl(s, F_GETFL));
	EXPECT_EQ(FD_CLOEXEC, fcntl(s, F_GETFD));
	close(s);
	w.len = 2;
	s = accept4(self->listener, sa(&w), &w.len, 0);
	ASSERT_LE(0, s);
	EXPECT_EQ(self->at.len, w.len);
	EXPECT_EQ(0, O_NONBLOCK & fcntl(s, F_GETFL));
	EXPECT_EQ(0, fcntl(s, F_GETFD));
	w.len = sizeof(w.ss);
	EXPECT_EQ(0, getpeername(s, sa(&w), &w.len));
	EXPECT_TRUE(in_order(variant->kind, fd, 3, 1, port_of(&w)));
	EXPECT_NE(first, port_of(&w));
	close(s);
	EXPECT_ERR(EINVAL, accept4(self->listener, NULL, NULL, 0x4));
	s = accept(self->listener, NULL, NULL);
	EXPECT_LE(0, s);
	close(s);
	for (int i = 0; i < 3; i++)
		close(fd[i]);
}

/* A backlog of n has room for n + 1, and the next one waits. */
TEST_F(conn, backlog)
{
	int l, fd[4], s;
	struct where w, from = { .len = sizeof(from.ss) };

	l = listen_any(variant->kind, variant->family, 1, &w);
	for (int i = 0; i < 4; i++)
		fd[i] = NEW(SOCK_NONBLOCK);
	for (int i = 0; i < 2; i++) {
		EXPECT_ERR(EINPROGRESS, CONNECT(fd[i], &w));
		EXPECT_EQ(POLLOUT, poll_for(fd[i], POLLOUT, WAIT_MS));
	}
	EXPECT_TRUE(in_queue(l, 2));
	EXPECT_ERR(EINPROGRESS, CONNECT(fd[2], &w));
	EXPECT_EQ(0, poll_for(fd[2], POLLOUT, IDLE_MS));
	s = accept(l, sa(&from), &from.len);
	ASSERT_LE(0, s);
	EXPECT_EQ(POLLOUT, poll_for(fd[2], POLLOUT, WAIT_MS));
	/* its ACK may come after that */
	EXPECT_TRUE(in_queue(l, 2));
	/* full again; listen() makes room */
	EXPECT_ERR(EINPROGRESS, CONNECT(fd[3], &w));
	EXPECT_EQ(0, poll_for(fd[3], POLLOUT, IDLE_MS));
	EXPECT_EQ(0, listen_on(l, variant->kind, 2));
	EXPECT_EQ(POLLOUT, poll_for(fd[3], POLLOUT, WAIT_MS));
	/* or its ACK is late, and TCP gives it a place in the next round */
	EXPECT_TRUE(in_queue(l, 3));
	/* the second handshake may have ended first */
	EXPECT_TRUE(byte_goes(fd[port_of(&from) == local_port(fd[1])], s));
	close(s);
	/* the places come back with a new round of listening */
	ASSERT_EQ(0, shutdown(l, SHUT_RD));
	ASSERT_EQ(0, listen_on(l, variant->kind, 0));
	w = local_name(l);
	close(fd[0]);
	fd[0] = NEW(SOCK_NONBLOCK);
	EXPECT_ERR(EINPROGRESS, CONNECT(fd[0], &w));
	EXPECT_EQ(POLLOUT, poll_for(fd[0], POLLOUT, WAIT_MS));
	for (int i = 0; i < 4; i++)
		close(fd[i]);
	close(l);
}

TEST_F(conn, accept_waits_and_not)
{
	struct timeval tv = { 0, 200000 };

	EXPECT_ERR(EINVAL, accept(self->fd, NULL, NULL));
	ASSERT_EQ(0, setsockopt(self->listener, SOL_SOCKET, SO_RCVTIMEO, &tv,
				sizeof(tv)));
	EXPECT_ERR(EAGAIN, accept(self->listener, NULL, NULL));
	EXPECT_EQ(0, poll_for(self->listener, POLLIN, 0));
	ASSERT_EQ(0, CONNECT(self->fd, &self->at));
	EXPECT_EQ(POLLIN, poll_for(self->listener, POLLIN, WAIT_MS));
	self->srv = accept(self->listener, NULL, NULL);
	EXPECT_LE(0, self->srv);
	EXPECT_EQ(0, poll_for(self->listener, POLLIN, 0));
}

static void *acceptor(void *arg)
{
	int fd = accept(*(int *)arg, NULL, NULL);

	return (void *)(long)(fd < 0 ? errno : 0);
}

static void *polling(void *arg)
{
	return (void *)(long)poll_for(*(int *)arg, POLLIN, WAIT_MS);
}

TEST_F(conn, shutdown_wakes_accept)
{
	struct task a, b, p;

	/* shutdown(SHUT_WR) changes nothing for a listener */
	EXPECT_EQ(0, shutdown(self->listener, SHUT_WR));
	task_start(&a, acceptor, &self->listener);
	task_start(&b, acceptor, &self->listener);
	task_start(&p, polling, &self->listener);
	ASSERT_TRUE(task_sleeps(&a) && task_sleeps(&b) && task_sleeps(&p));
	EXPECT_EQ(0, shutdown(self->listener, SHUT_RD));
	EXPECT_EQ(EINVAL, (long)task_join(&a));
	EXPECT_EQ(EINVAL, (long)task_join(&b));
	EXPECT_EQ(POLLHUP, (long)task_join(&p) & ~POLLOUT);
	EXPECT_ERR(ECONNREFUSED, CONNECT(self->fd, &self->at));
	ASSERT_EQ(0, listen_on(self->listener, variant->kind, 4));
	/* bind() had chosen the port, and listen() chooses again */
	self->at = local_name(self->listener);
	PAIR();
	EXPECT_TRUE(byte_goes(self->fd, self->srv));
}

/* -- a burst of connections meets a short backlog and a waiter -- */

#define BURST	4	/* one more than a backlog of 2 has room for */
#define ROUNDS	3

struct burst {
	_Atomic int accepted;
	int listener;
};

static void *burst_accept(void *arg)
{
	struct burst *b = arg;
	int fd;

	while ((fd = accept(b->listener, NULL, NULL)) >= 0) {
		close(fd);
		b->accepted++;
	}
	return NULL;
}

/* No child is left in a queue when all come at once and then no more. */
TEST_F_TIMEOUT(conn, burst, 120)
{
	struct burst b = { .listener = self->listener };
	int fd[BURST], i, round;
	struct task taker;
	uint64_t end;

	ASSERT_EQ(0, listen_on(self->listener, variant->kind, BURST - 2));
	task_start(&taker, burst_accept, &b);
	for (round = 1; round <= ROUNDS; round++) {
		for (i = 0; i < BURST; i++) {
			fd[i] = NEW(SOCK_NONBLOCK);
			EXPECT_ERR(EINPROGRESS, CONNECT(fd[i], &self->at));
		}
		/* a SYN that finds the queue full comes again in a second */
		end = now_ns() + WAIT_MS * 1000000ULL;
		while (b.accepted < round * BURST && now_ns() < end)
			usleep(1000);
		EXPECT_EQ(round * BURST, b.accepted);
		for (i = 0; i < BURST; i++)
			close(fd[i]);
		if (b.accepted < round * BURST)
			break;
	}
	shutdown(self->listener, SHUT_RD);
	task_join(&taker);
}

/* -- groups of listeners -- */

static int reuse_listener(enum kind kind, struct where *w, int reuse)
{
	int fd = open_socket(kind, w->ss.ss_family, 0);

	/* on 6.1 the next may not be the first call on a socket of AF_SMC */
	must_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &reuse, sizeof(reuse)) ||
	    bind(fd, sa(w), w->len) || listen_on(fd, kind, 64)) {
		close(fd);
		return -1;
	}
	*w = local_name(fd);
	return fd;
}

TEST_F(conn, reuseport_group)
{
	/* the second of the group takes all */
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, 1) };
	struct sock_fprog prog = { 1, code };
	struct where w = where_is(variant->family);
	int l[2], got[2] = {};

	for (int i = 0; i < 2; i++) {
		l[i] = reuse_listener(variant->kind, &w, 1);
		ASSERT_LE(0, l[i]);
	}
	EXPECT_ERR(EADDRINUSE, reuse_listener(variant->kind, &w, 0));
	for (int n = 0; n < 60; n++) {
		int chosen, fd = NEW(0);

		if (n == 40)
			ASSERT_EQ(0, setsockopt(l[0], SOL_SOCKET,
						SO_ATTACH_REUSEPORT_CBPF,
						&prog, sizeof(prog)));
		if (n == 40)
			EXPECT_TRUE(got[0] && got[1]);
		ASSERT_EQ(0, CONNECT(fd, &w));
		struct pollfd p[2] = { { l[0], POLLIN, 0 },
				       { l[1], POLLIN, 0 } };
		ASSERT_EQ(1, poll(p, 2, WAIT_MS));
		chosen = !!(p[1].revents & POLLIN);
		got[chosen]++;
		if (n >= 40)
			EXPECT_EQ(1, chosen);
		close(accept(l[chosen], NULL, NULL));
		close(fd);
	}
	close(l[0]);
	close(l[1]);
}

/* -- TCP_DEFER_ACCEPT -- */

TEST_F(conn, defer_accept)
{
	char c = 0;

	ASSERT_EQ(0, set_int(self->listener, IPPROTO_TCP, TCP_DEFER_ACCEPT,
			     20));
	set_nonblock(self->listener);
	ASSERT_EQ(0, CONNECT(self->fd, &self->at));
	EXPECT_EQ(0, poll_for(self->listener, POLLIN, IDLE_MS));
	EXPECT_ERR(EAGAIN, accept(self->listener, NULL, NULL));
	ASSERT_EQ(1, send(self->fd, "d", 1, 0));
	EXPECT_EQ(POLLIN, poll_for(self->listener, POLLIN, WAIT_MS));
	self->srv = accept(self->listener, NULL, NULL);
	ASSERT_LE(0, self->srv);
	/* accepted with its first data */
	EXPECT_EQ(1, recv(self->srv, &c, 1, MSG_DONTWAIT));
	EXPECT_EQ('d', c);
}

/* Not for ever. */
TEST_F(conn, defer_accept_ends)
{
	ASSERT_EQ(0, set_int(self->listener, IPPROTO_TCP, TCP_DEFER_ACCEPT,
			     3));
	ASSERT_EQ(0, CONNECT(self->fd, &self->at));
	EXPECT_EQ(0, poll_for(self->listener, POLLIN, IDLE_MS));
	EXPECT_EQ(POLLIN, poll_for(self->listener, POLLIN, WAIT_MS));
	self->srv = accept(self->listener, NULL, NULL);
	EXPECT_TRUE(byte_goes(self->srv, self->fd));
	EXPECT_TRUE(byte_goes(self->fd, self->srv));
}

/* A listener closed over deferred connections leaves nothing behind. */
TEST_F(conn, defer_accept_closed)
{
	ASSERT_EQ(0, set_int(self->listener, IPPROTO_TCP, TCP_DEFER_ACCEPT,
			     20));
	ASSERT_EQ(0, CONNECT(self->fd, &self->at));
	EXPECT_EQ(0, poll_for(self->listener, POLLIN, IDLE_MS));
	close(self->listener);
	self->listener = -1;
	/*
	 * TCP has no connection yet and answers the first byte with a reset;
	 * ours is there and is reset at once.
	 */
	if (send(self->fd, "x", 1, MSG_NOSIGNAL) < 0) {
		EXPECT_EQ(ECONNRESET, errno);
	} else {
		EXPECT_NE(0, poll_for(self->fd, POLLIN, WAIT_MS));
		EXPECT_EQ(ECONNRESET, so_error(self->fd));
	}
}

/* -- Fast Open -- */

/* connections whose first data came in the SYN */
static long in_the_syn(void)
{
	FILE *p = popen("nstat -asz TcpExtTCPFastOpenPassive | awk '/Tcp/ { print $2 }'",
			"r");
	long n = -1;

	if (!p || fscanf(p, "%ld", &n) != 1)
		n = -1;
	if (p)
		pclose(p);
	errno = 0;
	return n;
}

TEST_F(conn, fast_open)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct used then = smc_used();
	char buf[8] = "";
	long before;
	int fd;

	/* both sides; the default is clients only */
	ASSERT_EQ(0, put_text("/proc/sys/net/ipv4/tcp_fastopen", "3"));
	ASSERT_EQ(0, set_int(self->listener, IPPROTO_TCP, TCP_FASTOPEN, 5));
	before = in_the_syn();
	ASSERT_LE(0, before);
	/* data with the call that connects; a cookie, then data in the SYN */
	for (int i = 0; i < 3; i++) {
		fd = NEW(0);
		ASSERT_EQ(4, sendto(fd, "fast", 4, MSG_FASTOPEN, sa(&self->at),
				    self->at.len));
		self->srv = accept(self->listener, NULL, NULL);
		ASSERT_EQ(4, recv(self->srv, buf, 8, 0));
		EXPECT_EQ(0, memcmp(buf, "fast", 4));
		EXPECT_TRUE(byte_goes(self->srv, fd));
		close(self->srv);
		close(fd);
	}
	/* connect() that waits for the first data */
	for (int i = 0; i < 2; i++) {
		fd = NEW(0);
		ASSERT_EQ(0, set_int(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT,
				     1));
		ASSERT_EQ(0, CONNECT(fd, &self->at));
		ASSERT_EQ(4, send(fd, "open", 4, 0));
		self->srv = accept(self->listener, NULL, NULL);
		ASSERT_EQ(4, recv(self->srv, buf, 8, 0));
		EXPECT_EQ(0, memcmp(buf, "open", 4));
		EXPECT_TRUE(byte_goes(self->srv, fd));
		close(self->srv);
		close(fd);
	}
	/* but for the first, which asked for the cookie */
	EXPECT_LE(before + 2, in_the_syn());
	if (variant->kind != KIND_TCP && getenv("SMC_WANT"))
		EXPECT_EQ(then.tcp + 5, smc_used().tcp);
	EXPECT_EQ(0, put_text("/proc/sys/net/ipv4/tcp_fastopen", "1"));
	EXPECT_EQ(0, CONNECT(self->fd, &self->at));
	EXPECT_ERR(EISCONN, sendto(self->fd, "x", 1, MSG_FASTOPEN,
				   sa(&self->at), self->at.len));
	EXPECT_ERR(EINVAL, sendto(self->fd, "x", 1, MSG_FASTOPEN,
				  sa(&self->at), 1));
	EXPECT_ERR(EOPNOTSUPP, sendto(self->fd, "x", 1, MSG_FASTOPEN, &none,
				      sizeof(none)));
	EXPECT_EQ(0, put_text("/proc/sys/net/ipv4/tcp_fastopen", "0"));
	EXPECT_ERR(EOPNOTSUPP, sendto(self->fd, "x", 1, MSG_FASTOPEN,
				      sa(&self->at), self->at.len));
	EXPECT_EQ(0, put_text("/proc/sys/net/ipv4/tcp_fastopen", "1"));
	self->srv = accept(self->listener, NULL, NULL);
	EXPECT_TRUE(byte_goes(self->fd, self->srv));
}

/* A listener without Fast Open: the data comes all the same. */
TEST_F(conn, fast_open_refused)
{
	char buf[8] = "";

	ASSERT_EQ(4, sendto(self->fd, "slow", 4, MSG_FASTOPEN, sa(&self->at),
			    self->at.len));
	self->srv = accept(self->listener, NULL, NULL);
	ASSERT_EQ(4, recv(self->srv, buf, 8, 0));
	EXPECT_EQ(0, memcmp(buf, "slow", 4));
}

/* Accepted on a connection that is over: it is for the next one. */
TEST_F(conn, fast_open_after_the_end)
{
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct used then;
	char buf[8] = "";
	int rc;

	PAIR();
	EXPECT_EQ(0, shutdown(self->fd, SHUT_WR));
	EXPECT_EQ(0, shutdown(self->srv, SHUT_WR));
	EXPECT_EQ(POLLHUP, POLLHUP & poll_for(self->fd, 0, WAIT_MS));
	/* the TCP connection below may be a moment later */
	do {
		rc = set_int(self->fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1);
	} while (rc && errno == EINVAL && now_ns() < end && !usleep(1000));
	ASSERT_EQ(0, rc);
	ASSERT_EQ(0, set_int(self->fd, IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, 1));
	close(self->srv);
	self->srv = -1;
	ASSERT_EQ(0, connect(self->fd, &none, sizeof(none)));
	then = smc_used();
	/* the SYN waits for data, and no call for the SYN */
	ASSERT_EQ(0, CONNECT(self->fd, &self->at));
	ASSERT_EQ(4, send(self->fd, "next", 4, 0));
	self->srv = accept(self->listener, NULL, NULL);
	ASSERT_EQ(4, recv(self->srv, buf, 8, 0));
	EXPECT_EQ(0, memcmp(buf, "next", 4));
	EXPECT_TRUE(byte_goes(self->srv, self->fd));
	EXPECT_EQ(then.r, smc_used().r);
	EXPECT_EQ(then.d, smc_used().d);
}

TEST_HARNESS_MAIN
