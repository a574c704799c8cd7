// SPDX-License-Identifier: GPL-2.0
/*
 * sockwait - a thread waits in a call, or is about to, when another thread
 * takes the connection away; and no call waits for what does not come
 *
 * Environment and use as sockconn.c.
 */
#include <linux/sockios.h>
#include <netinet/ip_icmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "lib/bytes.h"
#include "lib/connfixture.h"
#include "lib/task.h"

/* SOL_SMC, SMC_PLAIN_TCP */
#define PLAIN	286, 256

static const struct sockaddr none = { .sa_family = AF_UNSPEC };

static int unconnect(int fd)
{
	return connect(fd, &none, sizeof(none));
}

/* -- connect(AF_UNSPEC) beside other calls -- */

enum call {
	RECV, SPLICE, PEEK, OOB,		/* of a reader */
	POLL, OUTQ, NODELAY, INFO, PUT,		/* these wait for nothing */
	SEND, CONNECT_CALL,
};

struct caller {
	int fd, pipe[2];
	enum call call;
	const struct where *at;
	bool stop;
	int rc, err;
	long num;
};

static int one_call(struct caller *c)
{
	static const char out[60000];
	socklen_t len;
	char buf[5000];
	int val = 1;

	switch (c->call) {
	case RECV:
		return recv(c->fd, buf, sizeof(buf), 0);
	case PEEK:
		return recv(c->fd, buf, sizeof(buf), MSG_PEEK);
	case OOB:
		return recv(c->fd, buf, 1, MSG_OOB);
	case SPLICE:
		return splice(c->fd, NULL, c->pipe[1], NULL, 4096, 0);
	case POLL:
		return poll_for(c->fd, POLLIN | POLLOUT, 0);
	case OUTQ:
		return ioctl(c->fd, SIOCOUTQ, &val);
	case NODELAY:
		return setsockopt(c->fd, SOL_TCP, TCP_NODELAY, &val,
				  sizeof(val));
	case INFO:
		len = sizeof(buf);
		return getsockopt(c->fd, SOL_TCP, TCP_INFO, buf, &len);
	case PUT:
		return send(c->fd, out, 3000, MSG_NOSIGNAL | MSG_DONTWAIT);
	case SEND:
		return send(c->fd, out, sizeof(out), MSG_NOSIGNAL);
	default:
		return connect(c->fd, (struct sockaddr *)&c->at->ss,
			       c->at->len);
	}
}

static void *call_from_thread(void *arg)
{
	struct caller *c = arg;

	do {
		errno = 0;
		c->rc = one_call(c);
		c->err = errno;
	} while (c->call == SEND && c->rc > 0);
	return NULL;
}

/* Until told to stop; EFAULT is what a ring that has gone would give. */
static void *call_again(void *arg)
{
	struct caller *c = arg;
	char buf[4096];

	while (!__atomic_load_n(&c->stop, __ATOMIC_ACQUIRE)) {
		errno = 0;
		c->rc = one_call(c);
		if (c->rc < 0 && errno == EFAULT)
			c->err = EFAULT;
		if (c->call == SPLICE && c->rc > 0 &&
		    read(c->pipe[0], buf, sizeof(buf)) < 0)
			c->err = errno;
		c->num++;
	}
	return NULL;
}

static void *write_on(void *arg)
{
	static char block[30000];
	struct caller *c = arg;
	int fd;

	while (!__atomic_load_n(&c->stop, __ATOMIC_ACQUIRE)) {
		fd = __atomic_load_n(&c->fd, __ATOMIC_ACQUIRE);
		if (fd < 0 || send(fd, block, sizeof(block),
				   MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			usleep(200);
		else
			send(fd, "!", 1, MSG_OOB | MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	return NULL;
}

/* Callers of some kinds, and a ring that goes and comes back under them. */
static void disconnect_beside(struct __test_metadata *_metadata,
			      struct _test_data_conn *self, enum call first,
			      enum call last)
{
	int num = last - first + 1, i, k, count = repeats(240);
	struct caller callers[num], writer = { .fd = -1 };
	struct task t[num], tw;

	memset(callers, 0, sizeof(callers));

	PAIR();
	writer.fd = self->srv;
	task_start(&tw, write_on, &writer);
	for (i = 0; i < num; i++) {
		callers[i].fd = self->fd;
		callers[i].call = first + i;
		ASSERT_EQ(0, pipe(callers[i].pipe));
		task_start(&t[i], call_again, &callers[i]);
	}
	for (k = 0; k < count; k++) {
		usleep(1000 + k * 157 % 5000);
		EXPECT_EQ(0, unconnect(self->fd));
		__atomic_store_n(&writer.fd, -1, __ATOMIC_RELEASE);
		so_error(self->fd);
		close(self->srv);
		if (CONNECT(self->fd, &self->at))
			break;
		self->srv = accept(self->listener, NULL, NULL);
		__atomic_store_n(&writer.fd, self->srv, __ATOMIC_RELEASE);
	}
	EXPECT_EQ(count, k);
	for (i = 0; i < num; i++)
		__atomic_store_n(&callers[i].stop, true, __ATOMIC_RELEASE);
	__atomic_store_n(&writer.stop, true, __ATOMIC_RELEASE);
	task_join(&tw);
	/* end of file for callers that still wait */
	shutdown(self->srv, SHUT_RDWR);
	close(self->srv);
	self->srv = -1;
	for (i = 0; i < num; i++) {
		task_join(&t[i]);
		EXPECT_EQ(0, callers[i].err);
		EXPECT_LT(0, callers[i].num);
		close(callers[i].pipe[0]);
		close(callers[i].pipe[1]);
	}
}

TEST_F_TIMEOUT(conn, disconnect_beside_readers, 120)
{
	disconnect_beside(_metadata, self, RECV, OOB);
}

/* Each of these may push, under no lock of the socket. */
TEST_F_TIMEOUT(conn, disconnect_beside_lookers, 120)
{
	disconnect_beside(_metadata, self, POLL, PUT);
}

/* As with TCP, a sleeper is told that its connection has gone. */
TEST_F_TIMEOUT(conn, disconnect_wakes, 120)
{
	enum call calls[] = { RECV, SPLICE, PEEK, SEND };
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct caller c = { .fd = self->fd, .call = calls[i] };
		struct task t;

		ASSERT_EQ(0, pipe(c.pipe));
		PAIR();
		task_start(&t, call_from_thread, &c);
		ASSERT_TRUE(task_sleeps(&t));
		ASSERT_EQ(0, unconnect(self->fd));
		task_join(&t);
		/* splice() does not say so, and send() has the error to tell */
		if (calls[i] != SPLICE) {
			EXPECT_EQ(-1, c.rc);
			EXPECT_EQ(calls[i] == SEND ? ECONNRESET : EPIPE, c.err);
		}
		so_error(self->fd);
		close(self->srv);
		close(c.pipe[0]);
		close(c.pipe[1]);
	}
}

TEST_F_TIMEOUT(conn, disconnect_wakes_connect, 120)
{
	int fill[2];
	struct where w = nowhere(variant->family, fill);
	struct caller c = { .fd = self->fd, .call = CONNECT_CALL, .at = &w };
	struct task t;

	task_start(&t, call_from_thread, &c);
	ASSERT_TRUE(task_sleeps(&t));
	ASSERT_EQ(0, unconnect(self->fd));
	task_join(&t);
	EXPECT_EQ(-1, c.rc);
	EXPECT_EQ(EPIPE, c.err);
	close(fill[0]);
	close(fill[1]);
}

/* A call that began on one connection does not go on with the next. */
TEST_F_TIMEOUT(conn, next_connect_is_not_the_last, 120)
{
	enum call calls[] = { RECV, SEND };
	int fill[2], i;
	struct where w = nowhere(variant->family, fill);
	char buf[4];

	for (i = 0; i < 2; i++) {
		struct caller c = { .call = calls[i] };
		struct task t;

		c.fd = NEW(SOCK_NONBLOCK);
		EXPECT_ERR(EINPROGRESS, CONNECT(c.fd, &w));
		ASSERT_EQ(0, fcntl(c.fd, F_SETFL, 0));
		task_start(&t, call_from_thread, &c);
		ASSERT_TRUE(task_sleeps(&t));
		ASSERT_EQ(0, unconnect(c.fd));
		ASSERT_EQ(0, CONNECT(c.fd, &self->at));
		self->srv = accept(self->listener, NULL, NULL);
		send(self->srv, "new", 3, 0);
		shutdown(self->srv, SHUT_WR);
		task_join(&t);
		EXPECT_EQ(-1, c.rc);
		EXPECT_TRUE(c.err == EPIPE || c.err == ECONNRESET);
		EXPECT_EQ(3, recv(c.fd, buf, 4, MSG_WAITALL));
		EXPECT_ERR(EAGAIN, recv(self->srv, buf, 1, MSG_DONTWAIT));
		close(self->srv);
		close(c.fd);
	}
	self->srv = -1;
	close(fill[0]);
	close(fill[1]);
}

TEST_F_TIMEOUT(conn, shutdown_wakes_connect, 120)
{
	int fill[2];
	struct where w = nowhere(variant->family, fill);
	struct caller c = { .fd = self->fd, .call = CONNECT_CALL, .at = &w };
	struct task t;

	task_start(&t, call_from_thread, &c);
	ASSERT_TRUE(task_sleeps(&t));
	ASSERT_EQ(0, shutdown(self->fd, SHUT_RDWR));
	task_join(&t);
	EXPECT_EQ(-1, c.rc);
	EXPECT_EQ(ECONNRESET, c.err);
	EXPECT_EQ(0, so_error(self->fd));
	close(fill[0]);
	close(fill[1]);
}

TEST_F(conn, shutdown_while_connecting)
{
	int fill[2];
	struct where w = nowhere(variant->family, fill);

	for (int how = 0; how < 3; how++) {
		int fd = NEW(SOCK_NONBLOCK);

		EXPECT_ERR(EINPROGRESS, CONNECT(fd, &w));
		EXPECT_EQ(0, shutdown(fd, how));
		EXPECT_EQ(POLLOUT | POLLERR | POLLHUP,
			  poll_for(fd, POLLOUT, 0));
		EXPECT_EQ(ECONNRESET, so_error(fd));
		/* and it can be used again */
		EXPECT_ERR(EINPROGRESS, CONNECT(fd, &self->at));
		EXPECT_EQ(POLLOUT, poll_for(fd, POLLOUT, WAIT_MS));
		EXPECT_EQ(0, so_error(fd));
		close(fd);
	}
	close(fill[0]);
	close(fill[1]);
}

/* A connect() that is given up in the moment in which its outcome comes. */
TEST_F_TIMEOUT(conn, given_up_beside_its_outcome, 120)
{
	int count = repeats(600), gone, fd;
	struct where refuses;

	gone = listen_any(variant->kind, variant->family, 1, &refuses);
	close(gone);
	PAIR();
	set_nonblock(self->listener);
	for (int k = 0; k < count; k++) {
		fd = NEW(SOCK_NONBLOCK);
		CONNECT(fd, k & 1 ? &self->at : &refuses);
		usleep(k * 37 % (k & 1 ? 3000 : 150));
		if (k % 3 == 1)
			unconnect(fd);
		else if (k % 3 == 2)
			shutdown(fd, SHUT_RDWR);
		close(fd);
		while ((fd = accept(self->listener, NULL, NULL)) >= 0)
			close(fd);
	}
	EXPECT_TRUE(byte_goes(self->fd, self->srv));
	EXPECT_TRUE(byte_goes(self->srv, self->fd));
}

/* The outcome that no second connect() has fetched is not the next one's. */
TEST_F(conn, unspec_forgets_the_outcome)
{
	/* TCP of older kernels has no SO_PEEK_OFF */
	bool peeks = !set_int(self->fd, SOL_SOCKET, SO_PEEK_OFF, -1);
	int one = 1;

	set_nonblock(self->fd);
	EXPECT_ERR(EINPROGRESS, CONNECT(self->fd, &self->at));
	ASSERT_EQ(POLLOUT, poll_for(self->fd, POLLOUT, WAIT_MS));
	self->srv = accept(self->listener, NULL, NULL);
	EXPECT_EQ(peeks, !set_int(self->fd, SOL_SOCKET, SO_PEEK_OFF, 3));
	ASSERT_EQ(0, unconnect(self->fd));
	if (peeks)
		EXPECT_EQ(-1, get_int(self->fd, SOL_SOCKET, SO_PEEK_OFF));
	close(self->srv);
	if (variant->kind != KIND_TCP && !becomes(variant->kind, "tcp"))
		ASSERT_EQ(0, setsockopt(self->fd, PLAIN, &one, sizeof(one)));
	so_error(self->fd);
	EXPECT_ERR(EINPROGRESS, CONNECT(self->fd, &self->at));
	EXPECT_EQ(POLLOUT, poll_for(self->fd, POLLOUT, WAIT_MS));
	EXPECT_EQ(0, so_error(self->fd));
	EXPECT_EQ(0, CONNECT(self->fd, &self->at));
	self->srv = accept(self->listener, NULL, NULL);
	EXPECT_TRUE(byte_goes(self->fd, self->srv));
}

/* -- listen() where it has no business -- */

static void *listen_on_it(void *arg)
{
	struct caller *c = arg;

	while (!__atomic_load_n(&c->stop, __ATOMIC_ACQUIRE)) {
		if (!listen(c->fd, 1) || errno != EINVAL)
			c->err++;
		c->num++;
	}
	return NULL;
}

TEST_F_TIMEOUT(conn, listen_when_connected, 120)
{
	struct caller c = { .fd = self->fd };
	struct task t;
	int i;

	signal(SIGPIPE, SIG_IGN);
	PAIR();
	task_start(&t, listen_on_it, &c);
	for (i = 0; i < repeats(2000); i++)
		if (!byte_goes(self->fd, self->srv) ||
		    !byte_goes(self->srv, self->fd))
			break;
	__atomic_store_n(&c.stop, true, __ATOMIC_RELEASE);
	task_join(&t);
	EXPECT_EQ(repeats(2000), i);
	EXPECT_EQ(0, c.err);
	EXPECT_LT(0, c.num);
}

/* Sees the TCP listener, which is inside ours, and ends that. */
TEST_F(conn, listener_ended_by_ss)
{
	char cmd[128];
	int mask;

	snprintf(cmd, sizeof(cmd),
		 "ss -K -t state listening 'sport = :%d' >/dev/null 2>&1",
		 port_of(&self->at));
	ASSERT_EQ(0, system(cmd));
	mask = poll_for(self->listener, POLLIN, WAIT_MS);
	EXPECT_EQ(POLLERR | POLLHUP, mask & (POLLERR | POLLHUP));
	set_nonblock(self->listener);
	EXPECT_ERR(EINVAL, accept(self->listener, NULL, NULL));
	EXPECT_EQ(ECONNABORTED, so_error(self->listener));
}

/* -- TCP_DEFER_ACCEPT does not pile up connections -- */

TEST_F(conn, deferred_are_bounded)
{
	int fd[12], i, shown = 0;

	ASSERT_EQ(0, listen_on(self->listener, variant->kind, 2));
	ASSERT_EQ(0, set_int(self->listener, IPPROTO_TCP, TCP_DEFER_ACCEPT,
			     200));
	set_nonblock(self->listener);
	for (i = 0; i < 12; i++) {
		fd[i] = NEW(SOCK_NONBLOCK);
		EXPECT_ERR(EINPROGRESS, CONNECT(fd[i], &self->at));
		poll_for(fd[i], POLLOUT, IDLE_MS / 4);
	}
	/* SYN cookies remember nothing, and so do not defer */
	while (shown < 4 && poll_for(self->listener, POLLIN, WAIT_MS)) {
		close(accept(self->listener, NULL, NULL));
		shown++;
	}
	EXPECT_EQ(4, shown);
	for (i = 0; i < 12; i++)
		close(fd[i]);
}

/* A listener that goes while many of them wait takes them along. */
TEST_F(conn, deferred_and_the_end)
{
	for (int i = 0; i < 30; i++) {
		struct where w;
		int l = listen_any(variant->kind, variant->family, 8, &w);
		int fd[4], k;

		ASSERT_EQ(0, set_int(l, IPPROTO_TCP, TCP_DEFER_ACCEPT, 9));
		for (k = 0; k < 4; k++) {
			fd[k] = NEW(SOCK_NONBLOCK);
			EXPECT_ERR(EINPROGRESS, CONNECT(fd[k], &w));
		}
		for (k = 0; k < 4; k++)
			poll_for(fd[k], POLLOUT, WAIT_MS);
		/* the first data and the end come together */
		if (i % 2)
			send(fd[i % 4], "x", 1, MSG_NOSIGNAL);
		close(l);
		for (k = 0; k < 4; k++)
			close(fd[k]);
	}
}

TEST_F(conn, defer_for_very_long)
{
	ASSERT_EQ(0, set_int(self->listener, IPPROTO_TCP, TCP_DEFER_ACCEPT,
			     INT32_MAX));
	ASSERT_EQ(0, CONNECT(self->fd, &self->at));
	EXPECT_EQ(0, poll_for(self->listener, POLLIN, IDLE_MS));
	ASSERT_EQ(1, send(self->fd, "d", 1, 0));
	EXPECT_EQ(POLLIN, poll_for(self->listener, POLLIN, WAIT_MS));
}

/* -- no call waits for ever -- */

/* Either there is enough to be read, or the peer can write. */
TEST_F(conn, lowat_near_the_ring)
{
	static char block[1 << 20];
	int lowat, ring = 65536;
	size_t sent = 0, got = 0;
	ssize_t n;

	PAIR();
	set_nonblock(self->fd);
	for (lowat = ring - 8192; lowat <= ring; lowat += 512) {
		set_int(self->srv, SOL_SOCKET, SO_RCVLOWAT, lowat);
		while ((n = send(self->fd, block, sizeof(block), 0)) > 0)
			sent += n;
		for (int i = 0; i < 20; i++) {
			struct pollfd p[2] = {
				{ .fd = self->srv, .events = POLLIN },
				{ .fd = self->fd, .events = POLLOUT },
			};

			ASSERT_LT(0, poll(p, 2, WAIT_MS));
			if (p[1].revents & POLLOUT) {
				n = send(self->fd, block, 4096, 0);
				sent += n > 0 ? n : 0;
			}
			if (p[0].revents & POLLIN) {
				n = recv(self->srv, block, 4096, MSG_DONTWAIT);
				ASSERT_LT(0, n);
				got += n;
			}
		}
	}
	EXPECT_LT(0, got);
	EXPECT_LE(got, sent);
}

/* A read makes room as it goes: what it waits for may be more than the ring. */
TEST_F(conn, recv_lowat_above_the_ring)
{
	int n = uses_smc(variant->kind) ? 33000 : 13000;
	pid_t pid, me = getpid();

	PAIR();
	set_int(self->srv, SOL_SOCKET, SO_RCVLOWAT, 3 * n);
	pid = fork();
	if (!pid)
		_exit(!process_sleeps(me) || !write_just(self->fd, 2 * n, 0) ||
		      !process_sleeps(me) || !write_just(self->fd, n, 0));
	EXPECT_EQ(3 * n, recv(self->srv, NULL, 3 * n, MSG_TRUNC));
	EXPECT_TRUE(child_ok(pid));
}

/*
 * A peek makes no room for what it waits for, and the peer is not told of the
 * little that a read before it has made.
 */
static void peek_near_the_ring(struct __test_metadata *_metadata, int fd,
			       int srv, int lowat, int flags)
{
	static char block[1 << 20];
	int ring = 65536, least = ring / 2;

	set_nonblock(fd);
	do {
		while (send(fd, block, sizeof(block), 0) > 0)
			;
	} while (poll_for(fd, POLLOUT, IDLE_MS));
	ASSERT_EQ(4096, recv(srv, block, 4096, MSG_WAITALL));
	set_int(srv, SOL_SOCKET, SO_RCVLOWAT, lowat);
	EXPECT_LE(least, recv(srv, block, ring, MSG_PEEK | flags));
	/* what lies before the first byte counts, too */
	set_int(srv, SOL_SOCKET, SO_PEEK_OFF, least);
	EXPECT_LE(least - 8192, recv(srv, block, least, MSG_PEEK | flags));
	set_int(srv, SOL_SOCKET, SO_PEEK_OFF, -1);
}

TEST_F(conn, peek_lowat_near_the_ring)
{
	PAIR();
	peek_near_the_ring(_metadata, self->fd, self->srv, 64000, 0);
}

TEST_F(conn, peek_all_near_the_ring)
{
	PAIR();
	peek_near_the_ring(_metadata, self->fd, self->srv, 1, MSG_WAITALL);
}

/* Writes as much as there is room for, in few calls.  Bytes written. */
static size_t fill_at_once(int fd)
{
	static unsigned char block[1 << 20];
	size_t sum = 0;
	ssize_t n;

	fill_bytes(block, sizeof(block), 0);
	for (int dry = 0; dry < 3; dry += !(mask_now(fd) & POLLOUT)) {
		n = send(fd, block + sum, sizeof(block) - sum, MSG_DONTWAIT);
		if (n > 0)
			sum += n;
		usleep(limit_ms(20) * 1000);
	}
	return sum;
}

/*
 * poll() waits for a third of the ring.  The peer reads more than that, in
 * pieces that are less than a quarter each, and then nothing any more.  Unlike
 * poll(), epoll_wait() does not look at a socket that nothing has woken.
 */
TEST_F(conn, room_in_pieces)
{
	struct epoll_event ev = { .events = EPOLLOUT | EPOLLET }, got;
	int ring, ep = epoll_create1(0);
	size_t sent;

	/* TCP's buffers do not count bytes */
	if (!uses_smc(variant->kind))
		SKIP(return, "for SMC-R and SMC-D");
	PAIR();
	ring = get_int(self->srv, SOL_SOCKET, SO_RCVBUF) / 2;
	/* a byte of the peer: what is written next does not continue a stream */
	ASSERT_TRUE(byte_goes(self->srv, self->fd));
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->fd, &ev));
	sent = fill_at_once(self->fd);
	while (epoll_wait(ep, &got, 1, 0) > 0)
		;
	ASSERT_TRUE(wait_queued(self->srv, ring));
	for (size_t at = 0; at < 3; at++) {
		ASSERT_TRUE(read_just(self->srv, ring / 8, at * (ring / 8)));
		/* with shared memory both have one ring */
		if (sent > (size_t)ring)
			ASSERT_TRUE(wait_queued(self->srv, ring));
	}
	EXPECT_EQ(1, epoll_wait(ep, &got, 1, WAIT_MS));
	close(ep);
}

static void nothing(int sig)
{
}

/* Of @n bytes that come, the last one is the urgent one. */
static bool last_is_urgent(int fd, ssize_t n)
{
	static char block[1 << 24];
	ssize_t sum = 0, k;
	int mark = 0;

	while (sum < n && wait_events(fd, POLLIN)) {
		k = recv(fd, block, n - sum, MSG_DONTWAIT);
		if (k <= 0)
			return false;
		sum += k;
		if (sum == n - 1 && wait_queued(fd, 1))
			ioctl(fd, SIOCATMARK, &mark);
	}
	return sum == n && mark;
}

/* Of a write that a signal ends the last byte is the urgent one. */
TEST_F(conn, urgent_and_interrupted)
{
	const struct sigaction act = { .sa_handler = nothing };
	static char block[1 << 24];
	ssize_t n;

	PAIR();
	set_int(self->srv, SOL_SOCKET, SO_OOBINLINE, 1);
	sigaction(SIGALRM, &act, NULL);
	/* again, if the first one comes before the call */
	ualarm(50000, 50000);
	n = send(self->fd, block, sizeof(block), MSG_OOB);
	ualarm(0, 0);
	ASSERT_LT(0, n);
	ASSERT_GT(sizeof(block), n);
	EXPECT_TRUE(last_is_urgent(self->srv, n));
}

/* A writer that TCP_NOTSENT_LOWAT holds back is told when enough is gone. */
TEST_F_TIMEOUT(conn, notsent_and_a_full_ring, 240)
{
	static char block[1 << 18];
	size_t want = sizeof(block), got;
	ssize_t n;
	pid_t pid;

	for (int i = 0; i < 4; i++) {
		int fd = NEW(0), srv, status;

		ASSERT_EQ(0, set_int(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT,
				     2048 << i));
		ASSERT_EQ(0, CONNECT(fd, &self->at));
		srv = accept(self->listener, NULL, NULL);
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			close(srv);
			_exit(send(fd, block, want, 0) == (ssize_t)want ?
			      0 : 1);
		}
		close(fd);
		/* where there is room for all it has ended */
		process_sleeps(pid);
		for (got = 0; got < want; got += n) {
			if (!(poll_for(srv, POLLIN, WAIT_MS) & POLLIN))
				break;
			n = recv(srv, block, 50000, MSG_DONTWAIT);
			if (n <= 0)
				break;
			usleep(1000);
		}
		EXPECT_EQ(want, got);
		if (got != want)
			kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status);
		close(srv);
	}
}

/* -- an error that does not end the connection -- */

/* From now on an ICMP message sets an error of the socket. */
static int set_recverr(int fd, int family)
{
	bool v6 = family == AF_INET6;

	return set_int(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP,
		       v6 ? IPV6_RECVERR : IP_RECVERR, 1);
}

/* From now on segments with @flag for this port are answered with ICMP. */
static int reject(const struct where *at, const char *flag)
{
	char cmd[512];

	snprintf(cmd, sizeof(cmd),
		 "exec 2>/dev/null; nft add table inet smcwait && "
		 "nft add chain inet smcwait in "
		 "'{ type filter hook input priority 0; }' && "
		 "nft add rule inet smcwait in tcp dport %d tcp flags "
		 "'& %s == %s' reject with icmpx host-unreachable",
		 port_of(at), flag, flag);
	return system(cmd);
}

static int reject_nothing(void)
{
	return system("nft delete table inet smcwait");
}

/* It is returned by one call. */
TEST_F(conn, soft_error)
{
	int mask;
	char c;

	/* data of an SMC connection meets no router */
	if (variant->kind != KIND_TCP && !becomes(variant->kind, "tcp"))
		SKIP(return, "for plain TCP");
	ASSERT_EQ(0, set_recverr(self->fd, variant->family));
	PAIR();
	ASSERT_EQ(0, reject(&self->at, "psh"));
	EXPECT_EQ(1, send(self->fd, "x", 1, 0));
	mask = poll_for(self->fd, 0, WAIT_MS);
	EXPECT_EQ(0, reject_nothing());
	EXPECT_EQ(POLLERR, mask & POLLERR);
	EXPECT_ERR(EHOSTUNREACH, recv(self->fd, &c, 1, MSG_DONTWAIT));
	/* sent again, it arrives */
	EXPECT_EQ(POLLIN, poll_for(self->srv, POLLIN, WAIT_MS));
	EXPECT_EQ(1, recv(self->srv, &c, 1, 0));
	EXPECT_TRUE(byte_goes(self->srv, self->fd));
}

/* SO_ERROR tells of it, and nothing else does: TCP's FIN meets a router. */
TEST_F(conn, soft_error_of_fin)
{
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;
	int err;
	char c;

	PAIR();
	ASSERT_TRUE(byte_goes(self->fd, self->srv));
	ASSERT_EQ(0, reject(&self->at, "fin"));
	EXPECT_EQ(0, shutdown(self->fd, SHUT_WR));
	do {
		EXPECT_EQ(0, POLLERR & poll_for(self->fd, 0, 0));
		EXPECT_ERR(EAGAIN, recv(self->fd, &c, 1, MSG_DONTWAIT));
		err = so_error(self->fd);
	} while (!err && now_ns() < end);
	EXPECT_EQ(0, reject_nothing());
	EXPECT_EQ(EHOSTUNREACH, err);
	/* the FIN may have been sent again before that */
	so_error(self->fd);
	EXPECT_EQ(0, so_error(self->fd));
	EXPECT_EQ(0, recv(self->srv, &c, 1, 0));
	EXPECT_TRUE(byte_goes(self->srv, self->fd));
}

/* The Proposal is rejected, sent again, and answered. */
TEST_F(conn, soft_error_in_handshake)
{
	long again = smc_counter("HsReconnect");
	struct used then = smc_used();

	if (!uses_smc(variant->kind))
		SKIP(return, "for SMC-R and SMC-D");
	ASSERT_EQ(0, set_recverr(self->fd, variant->family));
	set_nonblock(self->fd);
	ASSERT_EQ(0, reject(&self->at, "psh"));
	EXPECT_ERR(EINPROGRESS, CONNECT(self->fd, &self->at));
	EXPECT_EQ(0, poll_for(self->fd, POLLOUT, IDLE_MS));
	EXPECT_EQ(0, reject_nothing());
	EXPECT_EQ(POLLOUT, poll_for(self->fd, POLLOUT, WAIT_MS));
	EXPECT_EQ(0, so_error(self->fd));
	EXPECT_EQ(0, CONNECT(self->fd, &self->at));
	self->srv = accept(self->listener, NULL, NULL);
	EXPECT_TRUE(became(variant->kind, then, false));
	EXPECT_EQ(again, smc_counter("HsReconnect"));
	EXPECT_TRUE(byte_goes(self->fd, self->srv));
	EXPECT_TRUE(byte_goes(self->srv, self->fd));
}

TEST_HARNESS_MAIN
