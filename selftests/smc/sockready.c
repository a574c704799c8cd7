// SPDX-License-Identifier: GPL-2.0
/*
 * sockready - readiness, signals and urgent data as TCP has them
 *
 * What poll() says in every state, epoll in all its ways, low-water marks,
 * SIGIO, SIGURG and SIGPIPE, and the urgent byte at every place of the ring.
 * Environment: SMC_ADDR (pairfixture.h), POSITIONS (places of the urgent byte tried,
 * by default all of the smallest ring and some more).
 */
#include <linux/sockios.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/wait.h>

#include "lib/bytes.h"
#include "lib/pairfixture.h"
#include "lib/signals.h"
#include "lib/task.h"
#include "lib/wait.h"

FIXTURE_VARIANT_ADD(pair, tcp) { KIND_TCP, "127.0.0.1", RING };
FIXTURE_VARIANT_ADD(pair, ipproto) { KIND_IPPROTO, "127.0.0.1", RING };

#define GONE	(POLLIN | POLLOUT | POLLRDHUP)

static void send_num(int fd, size_t num)
{
	static const char block[65536];

	if (send(fd, block, num, MSG_NOSIGNAL) != num)
		die("send");
}

/* -- the masks -- */

TEST_F(pair, masks_of_half_closes)
{
	EXPECT_EQ(POLLOUT, wait_mask(self->client, POLLOUT));
	ASSERT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(GONE, wait_mask(self->server, GONE));
	EXPECT_EQ(POLLOUT, wait_mask(self->client, POLLOUT));
	ASSERT_EQ(0, shutdown(self->server, SHUT_WR));
	EXPECT_EQ(GONE | POLLHUP, wait_mask(self->server, GONE | POLLHUP));
	EXPECT_EQ(GONE | POLLHUP, wait_mask(self->client, GONE | POLLHUP));
}

TEST_F(pair, masks_of_shut_read)
{
	ASSERT_EQ(0, shutdown(self->client, SHUT_RD));
	EXPECT_EQ(GONE, wait_mask(self->client, GONE));
	EXPECT_EQ(POLLOUT, wait_mask(self->server, POLLOUT));
	send_num(self->client, 1);
	EXPECT_EQ(POLLIN | POLLOUT, wait_mask(self->server, POLLIN | POLLOUT));
	ASSERT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(GONE | POLLHUP, wait_mask(self->client, GONE | POLLHUP));
	EXPECT_EQ(GONE, wait_mask(self->server, GONE));
}

TEST_F(pair, masks_of_a_closed_peer)
{
	int all = GONE | POLLHUP | POLLERR;

	close(self->server);
	self->server = -1;
	EXPECT_EQ(GONE, wait_mask(self->client, GONE));
	/* bytes without a reader are answered by a reset */
	send_num(self->client, 1);
	EXPECT_EQ(all, wait_mask(self->client, all));
	EXPECT_EQ(-1, send(self->client, "x", 1, MSG_NOSIGNAL));
	EXPECT_EQ(EPIPE, errno);
	EXPECT_EQ(GONE | POLLHUP, wait_mask(self->client, GONE | POLLHUP));
}

TEST_F(pair, masks_of_a_reset)
{
	int all = GONE | POLLHUP | POLLERR, err = 0;
	socklen_t len = sizeof(err);

	send_num(self->client, 1);
	ASSERT_TRUE(wait_queued(self->server, 1));
	close(self->server);
	self->server = -1;
	EXPECT_EQ(all, wait_mask(self->client, all));
	ASSERT_EQ(0, getsockopt(self->client, SOL_SOCKET, SO_ERROR, &err,
				&len));
	EXPECT_EQ(ECONNRESET, err);
	EXPECT_EQ(GONE | POLLHUP, wait_mask(self->client, GONE | POLLHUP));
}

TEST_F(pair, masks_of_full_and_unconnected)
{
	int fd = open_socket(variant->kind, self->addr.ss_family, 0);
	size_t sent = fill_from(self->client, 0);

	EXPECT_EQ(0, wait_mask(self->client, 0));
	EXPECT_EQ(POLLIN | POLLOUT, wait_mask(self->server, POLLIN | POLLOUT));
	ASSERT_TRUE(read_just(self->server, sent, 0));
	EXPECT_EQ(POLLOUT, wait_mask(self->client, POLLOUT));
	EXPECT_EQ(POLLOUT | POLLHUP, wait_mask(fd, POLLOUT | POLLHUP));
	close(fd);
}

/* -- epoll -- */

static int ep_new(int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events };
	int ep = epoll_create1(EPOLL_CLOEXEC);

	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev))
		die("epoll");
	return ep;
}

/* What the set says within a time: events of one descriptor, or 0. */
static uint32_t ep_wait(int ep, int ms)
{
	struct epoll_event got;

	return epoll_wait(ep, &got, 1, ms) == 1 ? got.events : 0;
}

TEST_F(pair, epoll_level)
{
	int ep = ep_new(self->server, EPOLLIN);
	char c;
	int i;

	EXPECT_EQ(0, ep_wait(ep, QUIET_MS));
	send_num(self->client, 2);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(EPOLLIN, ep_wait(ep, WAIT_MS));
	ASSERT_TRUE(wait_queued(self->server, 2));
	EXPECT_EQ(1, recv(self->server, &c, 1, 0));
	EXPECT_EQ(EPOLLIN, ep_wait(ep, WAIT_MS));
	EXPECT_EQ(1, recv(self->server, &c, 1, 0));
	EXPECT_EQ(0, ep_wait(ep, QUIET_MS));
	close(ep);
}

TEST_F(pair, epoll_edge)
{
	int ep = ep_new(self->server, EPOLLIN | EPOLLRDHUP | EPOLLET);
	char buf[8];

	send_num(self->client, 1);
	EXPECT_EQ(EPOLLIN, ep_wait(ep, WAIT_MS));
	EXPECT_EQ(0, ep_wait(ep, QUIET_MS));
	send_num(self->client, 1);
	EXPECT_EQ(EPOLLIN, ep_wait(ep, WAIT_MS));
	ASSERT_TRUE(wait_queued(self->server, 2));
	EXPECT_EQ(2, recv(self->server, buf, 8, 0));
	EXPECT_EQ(0, ep_wait(ep, QUIET_MS));
	ASSERT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(EPOLLIN | EPOLLRDHUP, ep_wait(ep, WAIT_MS));
	EXPECT_EQ(0, ep_wait(ep, QUIET_MS));
	ASSERT_EQ(0, shutdown(self->server, SHUT_WR));
	EXPECT_EQ(EPOLLIN | EPOLLRDHUP | EPOLLHUP, ep_wait(ep, WAIT_MS));
	close(ep);
}

/* Nothing comes of it with TCP: the peer had sent its end, and has read all. */
TEST_F(pair, epoll_edge_of_a_late_close)
{
	int ep = ep_new(self->server, EPOLLIN | EPOLLRDHUP | EPOLLET);
	int all = GONE | POLLHUP | POLLERR;
	char c;

	ASSERT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(EPOLLIN | EPOLLRDHUP, ep_wait(ep, WAIT_MS));
	EXPECT_EQ(0, recv(self->server, &c, 1, 0));
	send_num(self->server, 1);
	EXPECT_EQ(1, recv(self->client, &c, 1, 0));
	while (ep_wait(ep, QUIET_MS))
		;
	close(self->client);
	self->client = -1;
	EXPECT_EQ(0, ep_wait(ep, IDLE_MS));
	/* bytes without a reader */
	send_num(self->server, 1);
	EXPECT_EQ(all, wait_mask(self->server, all));
	close(ep);
}

/* Room for the writer is an edge, after a refusal as after a short write. */
TEST_F(pair, epoll_edge_of_room)
{
	int ep = ep_new(self->client, EPOLLOUT | EPOLLET), i;
	static char block[1 << 22];
	uint64_t pos = 0;
	size_t sent;

	set_nonblock(self->client);
	EXPECT_EQ(EPOLLOUT, ep_wait(ep, WAIT_MS));
	for (i = 0; i < 8; i++) {
		fill_bytes((void *)block, sizeof(block), pos);
		sent = send(self->client, block, sizeof(block), 0);
		ASSERT_GT(sizeof(block), sent);
		if (i % 2)
			sent += fill_from(self->client, pos + sent);
		/* TCP may find room by itself */
		while (ep_wait(ep, QUIET_MS))
			sent += fill_from(self->client, pos + sent);
		ASSERT_TRUE(read_just(self->server, sent, pos));
		ASSERT_EQ(EPOLLOUT, ep_wait(ep, WAIT_MS)) {
			TH_LOG("round %d", i);
		}
		pos += sent;
	}
	close(ep);
}

TEST_F(pair, epoll_oneshot)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLONESHOT };
	int ep = ep_new(self->server, EPOLLIN | EPOLLONESHOT);

	send_num(self->client, 1);
	EXPECT_EQ(EPOLLIN, ep_wait(ep, WAIT_MS));
	send_num(self->client, 1);
	EXPECT_EQ(0, ep_wait(ep, QUIET_MS));
	/* what is there when it is armed again counts */
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_MOD, self->server, &ev));
	EXPECT_EQ(EPOLLIN, ep_wait(ep, WAIT_MS));
	EXPECT_EQ(0, ep_wait(ep, QUIET_MS));
	/* so does a reset, which needs no bit in ev.events */
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_MOD, self->server, &ev));
	close(ep);
	ev.events = EPOLLONESHOT;
	ep = ep_new(self->client, EPOLLONESHOT);
	close(self->server);
	self->server = -1;
	EXPECT_EQ(EPOLLERR | EPOLLHUP, ep_wait(ep, WAIT_MS));
	EXPECT_EQ(0, ep_wait(ep, QUIET_MS));
	close(ep);
}

#define WAITERS	4

/* Waiters with EPOLLEXCLUSIVE: one is woken for one event. */
static int exclusive_woken(int fd, void (*act)(void *), void *arg)
{
	int i, status, woken = 0;
	pid_t pid[WAITERS];

	for (i = 0; i < WAITERS; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			die("fork");
		if (!pid[i])
			_exit(ep_wait(ep_new(fd, EPOLLIN | EPOLLEXCLUSIVE),
				      WAIT_MS) ? 1 : 0);
	}
	for (i = 0; i < WAITERS; i++)
		if (!process_sleeps(pid[i]))
			die("no waiter");
	act(arg);
	/* the first comes in time, and time for others */
	if (waitpid(-1, &status, 0) > 0)
		woken += WIFEXITED(status) && WEXITSTATUS(status);
	usleep(IDLE_MS * 1000);
	while (waitpid(-1, &status, WNOHANG) > 0)
		woken += WIFEXITED(status) && WEXITSTATUS(status);
	for (i = 0; i < WAITERS; i++)
		kill(pid[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	return woken;
}

static void act_send(void *arg)
{
	send_num(*(int *)arg, 1);
}

TEST_F(pair, epoll_exclusive)
{
	EXPECT_EQ(1, exclusive_woken(self->server, act_send, &self->client));
}

struct connect_arg {
	enum kind kind;
	struct sockaddr_storage *addr;
	socklen_t len;
};

static void act_connect(void *arg)
{
	struct connect_arg *a = arg;
	int fd = open_socket(a->kind, a->addr->ss_family, 0);

	if (connect(fd, (struct sockaddr *)a->addr, a->len))
		die("connect");
}

TEST_F(pair, epoll_exclusive_accept)
{
	struct connect_arg a = { variant->kind, &self->addr, self->len };

	EXPECT_EQ(1, exclusive_woken(self->listener, act_connect, &a));
}

TEST_F(pair, epoll_nested)
{
	int inner = ep_new(self->server, EPOLLIN);
	int middle = ep_new(inner, EPOLLIN);
	int level = ep_new(middle, EPOLLIN);
	int edge = ep_new(middle, EPOLLIN | EPOLLET);
	char c;

	EXPECT_EQ(0, ep_wait(level, QUIET_MS));
	send_num(self->client, 1);
	EXPECT_EQ(EPOLLIN, ep_wait(level, WAIT_MS));
	EXPECT_EQ(EPOLLIN, ep_wait(level, WAIT_MS));
	EXPECT_EQ(EPOLLIN, ep_wait(edge, WAIT_MS));
	EXPECT_EQ(0, ep_wait(edge, QUIET_MS));
	EXPECT_EQ(POLLIN, wait_events(inner, POLLIN));
	EXPECT_EQ(1, recv(self->server, &c, 1, 0));
	EXPECT_EQ(0, ep_wait(level, QUIET_MS));
	send_num(self->client, 1);
	EXPECT_EQ(EPOLLIN, ep_wait(edge, WAIT_MS));
	close(edge);
	close(level);
	close(middle);
	close(inner);
}

/* In the set before there is a connection, and during all that follows. */
TEST_F(pair, epoll_before_connect)
{
	int fd = open_socket(variant->kind, self->addr.ss_family,
			     SOCK_NONBLOCK), ep, srv;
	struct sockaddr *sa = (struct sockaddr *)&self->addr;

	ep = ep_new(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
	EXPECT_EQ(EPOLLOUT | EPOLLHUP, ep_wait(ep, WAIT_MS));
	ASSERT_EQ(-1, connect(fd, sa, self->len));
	EXPECT_EQ(EINPROGRESS, errno);
	EXPECT_EQ(EPOLLOUT, ep_wait(ep, WAIT_MS));
	srv = accept(self->listener, NULL, NULL);
	ASSERT_LE(0, srv);
	while (ep_wait(ep, QUIET_MS))
		;
	send_num(srv, 1);
	EXPECT_EQ(EPOLLIN | EPOLLOUT, ep_wait(ep, WAIT_MS));
	close(srv);
	EXPECT_EQ(EPOLLIN | EPOLLOUT | EPOLLRDHUP, ep_wait(ep, WAIT_MS));
	close(ep);
	close(fd);
}

/* -- low-water marks -- */

TEST_F(pair, rcvlowat_in_poll)
{
	int ep = ep_new(self->server, EPOLLIN | EPOLLET);

	must_set(self->server, SOL_SOCKET, SO_RCVLOWAT, 10);
	send_num(self->client, 9);
	EXPECT_EQ(0, ep_wait(ep, QUIET_MS));
	EXPECT_TRUE(wait_queued(self->server, 9));
	EXPECT_EQ(POLLOUT, wait_mask(self->server, POLLOUT));
	send_num(self->client, 1);
	EXPECT_EQ(EPOLLIN, ep_wait(ep, WAIT_MS));
	EXPECT_EQ(POLLIN | POLLOUT, wait_mask(self->server, POLLIN | POLLOUT));
	close(ep);
}

TEST_F(pair, rcvlowat_and_the_end)
{
	int ep = ep_new(self->server, EPOLLIN);
	char buf[16];

	must_set(self->server, SOL_SOCKET, SO_RCVLOWAT, 10);
	send_num(self->client, 5);
	EXPECT_EQ(0, ep_wait(ep, QUIET_MS));
	ASSERT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(EPOLLIN, ep_wait(ep, WAIT_MS));
	EXPECT_EQ(5, recv(self->server, buf, 16, 0));
	EXPECT_EQ(0, recv(self->server, buf, 16, 0));
	close(ep);
}

/* A lower mark is an event of its own for what is there already. */
TEST_F(pair, rcvlowat_lowered)
{
	int ep = ep_new(self->server, EPOLLIN | EPOLLET), status;
	pid_t pid;

	must_set(self->server, SOL_SOCKET, SO_RCVLOWAT, 10);
	send_num(self->client, 5);
	EXPECT_EQ(0, ep_wait(ep, QUIET_MS));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(wait_events(self->server, POLLIN) == POLLIN ? 0 : 1);
	ASSERT_TRUE(process_sleeps(pid));
	must_set(self->server, SOL_SOCKET, SO_RCVLOWAT, 5);
	EXPECT_EQ(EPOLLIN, ep_wait(ep, WAIT_MS));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	close(ep);
}

TEST_F(pair, rcvlowat_in_recv)
{
	char buf[16];
	pid_t pid;

	must_set(self->server, SOL_SOCKET, SO_RCVLOWAT, 10);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		/* TCP does not wake the reader for 4 bytes; over RDMA it may */
		if (!process_sleeps(getppid()))
			_exit(1);
		send_num(self->client, 4);
		if (!process_sleeps(getppid()))
			_exit(2);
		send_num(self->client, 6);
		_exit(0);
	}
	EXPECT_EQ(10, recv(self->server, buf, 16, 0));
	EXPECT_TRUE(child_ok(pid));
	/* a call for fewer bytes returns them */
	send_num(self->client, 4);
	EXPECT_EQ(3, recv(self->server, buf, 3, 0));
	EXPECT_EQ(1, recv(self->server, buf, 16, MSG_DONTWAIT));
}

TEST_F(pair, rcvlowat_above_the_ring)
{
	size_t sent;

	must_set(self->server, SOL_SOCKET, SO_RCVLOWAT, 1 << 30);
	sent = fill_from(self->client, 0);
	EXPECT_EQ(POLLIN, wait_events(self->server, POLLIN));
	must_set(self->server, SOL_SOCKET, SO_RCVLOWAT, 1);
	EXPECT_TRUE(read_just(self->server, sent, 0));
}

#define NOTSENT	4000
#define PIECE	500

/* Writes as long as poll() says so; returns the bytes. */
static size_t fill_by_poll(int fd, uint64_t pos)
{
	unsigned char piece[PIECE];
	size_t sum = 0;
	ssize_t n;
	int quiet;

	for (quiet = 0; quiet < 5; quiet++) {
		while (mask_now(fd) & POLLOUT) {
			fill_bytes(piece, sizeof(piece), pos + sum);
			n = send(fd, piece, sizeof(piece),
				 MSG_DONTWAIT | MSG_NOSIGNAL);
			if (n <= 0)
				break;
			sum += n;
			quiet = 0;
		}
		usleep(20000);
	}
	return sum;
}

TEST_F(pair, notsent_lowat)
{
	int ep = ep_new(self->client, EPOLLOUT | EPOLLET), unsent = -1, i;
	uint64_t pos = 0;
	size_t sent;

	must_set(self->client, IPPROTO_TCP, TCP_NOTSENT_LOWAT, NOTSENT);
	EXPECT_EQ(EPOLLOUT, ep_wait(ep, WAIT_MS));
	for (i = 0; i < 3; i++) {
		sent = fill_by_poll(self->client, pos);
		EXPECT_LT(0, sent);
		ASSERT_EQ(0, ioctl(self->client, SIOCOUTQNSD, &unsent));
		/* writable below half of the mark, as TCP has it */
		EXPECT_GT(NOTSENT / 2 + PIECE, unsent);
		while (ep_wait(ep, 0))
			;
		ASSERT_TRUE(read_just(self->server, sent, pos)) {
			TH_LOG("round %d", i);
		}
		EXPECT_EQ(EPOLLOUT, ep_wait(ep, WAIT_MS)) {
			TH_LOG("round %d", i);
		}
		pos += sent;
	}
	close(ep);
}

/* A blocked writer goes on below the mark. */
TEST_F(pair, notsent_lowat_of_a_writer)
{
	unsigned char block[1000];
	uint64_t pos = 0;
	pid_t pid;
	int i;

	must_set(self->client, IPPROTO_TCP, TCP_NOTSENT_LOWAT, NOTSENT);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		for (i = 0; i < 200; i++, pos += sizeof(block)) {
			fill_bytes(block, sizeof(block), pos);
			if (send(self->client, block, sizeof(block), 0) !=
			    sizeof(block))
				_exit(1);
		}
		_exit(0);
	}
	process_sleeps(pid);	/* unless there was room for all */
	EXPECT_TRUE(read_just(self->server, 200 * sizeof(block), 0));
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
}

/* -- signals -- */

TEST_F(pair, sigio)
{
	uint64_t sent;

	watch_signals();
	own_signals(self->client, O_ASYNC | O_NONBLOCK);
	own_signals(self->server, O_ASYNC);
	EXPECT_TRUE(no_signal());
	send_num(self->client, 1);
	EXPECT_TRUE(got_sigio(self->server, POLL_IN));
	ASSERT_TRUE(wait_queued(self->server, 1));
	ASSERT_EQ(1, recv(self->server, &sent, 1, 0));
	sent = fill_from(self->client, 0);
	ASSERT_EQ(0, POLLOUT & mask_now(self->client));
	forget_signals();
	ASSERT_TRUE(read_just(self->server, sent, 0));
	EXPECT_TRUE(got_sigio(self->client, POLL_OUT));
	forget_signals();
	ASSERT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_TRUE(got_sigio(self->server, POLL_IN));
	ASSERT_EQ(0, shutdown(self->server, SHUT_WR));
	EXPECT_TRUE(got_sigio(self->client, POLL_HUP));
}

TEST_F(pair, sigio_of_a_reset_and_a_listener)
{
	struct connect_arg a = { variant->kind, &self->addr, self->len };

	watch_signals();
	own_signals(self->client, O_ASYNC);
	own_signals(self->listener, O_ASYNC);
	act_connect(&a);
	EXPECT_TRUE(got_sigio(self->listener, POLL_IN));
	send_num(self->client, 1);
	ASSERT_TRUE(wait_queued(self->server, 1));
	forget_signals();
	close(self->server);
	self->server = -1;
	/* the end of the TCP connection below SMC is POLL_IN, at any time */
	EXPECT_TRUE(got_sigio_but(self->client, POLL_ERR, POLL_HUP));
}

TEST_F(pair, sigurg)
{
	const struct timespec limit = { WAIT_S, 0 };

	watch_signals();
	own_signals(self->server, 0);
	send_num(self->client, 1);
	EXPECT_TRUE(no_signal());
	ASSERT_EQ(1, send(self->client, "!", 1, MSG_OOB));
	EXPECT_EQ(SIGURG, sigtimedwait(&watched, NULL, &limit));
	/* one urgent byte, one signal */
	EXPECT_TRUE(no_signal());
}

TEST_F(pair, sigpipe)
{
	const struct timespec limit = { WAIT_S, 0 };

	watch_signals();
	ASSERT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(-1, write(self->client, "x", 1));
	EXPECT_EQ(EPIPE, errno);
	EXPECT_EQ(SIGPIPE, sigtimedwait(&watched, NULL, &limit));
	EXPECT_EQ(-1, send(self->client, "x", 1, MSG_NOSIGNAL));
	EXPECT_EQ(EPIPE, errno);
	EXPECT_TRUE(no_signal());
}

/* A reset is told by its error first, which is no broken pipe. */
TEST_F(pair, sigpipe_after_a_reset)
{
	const struct timespec limit = { WAIT_S, 0 };

	watch_signals();
	send_num(self->client, 1);
	ASSERT_TRUE(wait_queued(self->server, 1));
	close(self->server);
	self->server = -1;
	ASSERT_TRUE(wait_events(self->client, POLLHUP) & POLLHUP);
	EXPECT_EQ(-1, write(self->client, "x", 1));
	EXPECT_EQ(ECONNRESET, errno);
	EXPECT_TRUE(no_signal());
	EXPECT_EQ(-1, write(self->client, "x", 1));
	EXPECT_EQ(EPIPE, errno);
	EXPECT_EQ(SIGPIPE, sigtimedwait(&watched, NULL, &limit));
}

/* -- urgent data -- */

static int at_mark(int fd)
{
	int mark = -1;

	ioctl(fd, SIOCATMARK, &mark);
	return mark;
}

static void send_text(int fd, const char *text, int flags)
{
	if (send(fd, text, strlen(text), flags | MSG_NOSIGNAL) != strlen(text))
		die("send");
}

/* What one recv() of up to 8 bytes gives; "" for none, errno is set then. */
static const char *recv_text(int fd, int flags)
{
	static char buf[9];
	ssize_t n = recv(fd, buf, 8, flags | MSG_DONTWAIT);

	buf[n > 0 ? n : 0] = 0;
	return buf;
}

TEST_F(pair, urgent_out_of_band)
{
	EXPECT_STREQ("", recv_text(self->server, MSG_OOB));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, at_mark(self->server));
	send_text(self->client, "abc", 0);
	send_text(self->client, "xy!", MSG_OOB);
	send_text(self->client, "def", 0);
	EXPECT_EQ(POLLPRI, POLLPRI & wait_events(self->server, POLLPRI));
	EXPECT_STREQ("!", recv_text(self->server, MSG_OOB | MSG_PEEK));
	EXPECT_STREQ("!", recv_text(self->server, MSG_OOB));
	EXPECT_STREQ("", recv_text(self->server, MSG_OOB));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, POLLPRI & mask_now(self->server));
	EXPECT_STREQ("abcxy", recv_text(self->server, MSG_WAITALL));
	EXPECT_EQ(1, at_mark(self->server));
	ASSERT_TRUE(wait_events(self->server, POLLIN));
	EXPECT_STREQ("def", recv_text(self->server, 0));
	EXPECT_EQ(0, at_mark(self->server));
}

TEST_F(pair, urgent_inline)
{
	must_set(self->server, SOL_SOCKET, SO_OOBINLINE, 1);
	send_text(self->client, "abc", 0);
	send_text(self->client, "!", MSG_OOB);
	send_text(self->client, "def", 0);
	ASSERT_TRUE(wait_queued(self->server, 7));
	EXPECT_STREQ("", recv_text(self->server, MSG_OOB));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_STREQ("abc", recv_text(self->server, MSG_WAITALL));
	EXPECT_EQ(1, at_mark(self->server));
	EXPECT_STREQ("!def", recv_text(self->server, 0));
	EXPECT_EQ(0, at_mark(self->server));
}

/* A second urgent byte makes data of the first one. */
TEST_F(pair, urgent_twice)
{
	send_text(self->client, "ab", MSG_OOB);
	send_text(self->client, "cd", MSG_OOB);
	send_text(self->client, "e", 0);
	ASSERT_TRUE(wait_queued(self->server, 3));
	EXPECT_STREQ("d", recv_text(self->server, MSG_OOB));
	EXPECT_STREQ("abc", recv_text(self->server, 0));
	EXPECT_EQ(1, at_mark(self->server));
	/* TCP may hold it back until what came before is acknowledged */
	ASSERT_TRUE(wait_events(self->server, POLLIN));
	EXPECT_STREQ("e", recv_text(self->server, 0));
}

TEST_F(pair, urgent_in_select_and_epoll)
{
	int ep = ep_new(self->server, EPOLLPRI | EPOLLET);
	struct timeval tv = { WAIT_S, 0 };
	fd_set except;

	send_text(self->client, "a", 0);
	EXPECT_EQ(0, ep_wait(ep, QUIET_MS));
	send_text(self->client, "!", MSG_OOB);
	EXPECT_EQ(EPOLLPRI, ep_wait(ep, WAIT_MS));
	EXPECT_EQ(0, ep_wait(ep, QUIET_MS));
	FD_ZERO(&except);
	FD_SET(self->server, &except);
	EXPECT_EQ(1, select(self->server + 1, NULL, NULL, &except, &tv));
	EXPECT_STREQ("!", recv_text(self->server, MSG_OOB));
	EXPECT_STREQ("a", recv_text(self->server, 0));
	/* select() has left what remained of it */
	tv = (struct timeval){};
	FD_SET(self->server, &except);
	EXPECT_EQ(0, select(self->server + 1, NULL, NULL, &except, &tv));
	close(ep);
}

/* Of a short write the last byte is the urgent one, and SMC may send it alone. */
TEST_F(pair, urgent_and_short)
{
	static unsigned char block[1 << 22], got[1 << 22];
	ssize_t n, sum = 0, k;
	int marks = 0;

	fill_bytes(block, sizeof(block), 0);
	must_set(self->server, SOL_SOCKET, SO_OOBINLINE, 1);
	n = send(self->client, block, sizeof(block), MSG_OOB | MSG_DONTWAIT);
	ASSERT_LT(0, n);
	ASSERT_GT(sizeof(block), n);
	while (sum < n && wait_events(self->server, POLLIN)) {
		k = recv(self->server, got + sum, n - sum, MSG_DONTWAIT);
		ASSERT_LT(0, k);
		sum += k;
		if (sum == n - 1 && wait_queued(self->server, 1))
			marks = at_mark(self->server);
	}
	EXPECT_EQ(n, sum);
	EXPECT_EQ(0, memcmp(block, got, n));
	EXPECT_EQ(1, marks);
}

/* Before the mark, at it and behind it, wherever in the ring that is. */
static void positions(struct __test_metadata *_metadata,
		      struct _test_data_pair *self, bool in_line)
{
	const char *num = getenv("POSITIONS");
	int i, rounds = num ? atoi(num) : RING + RING / 4;

	must_set(self->server, SOL_SOCKET, SO_OOBINLINE, in_line);
	must_set(self->client, IPPROTO_TCP, TCP_NODELAY, 1);
	for (i = 0; i < rounds; i++) {
		/* 5 bytes: no ring is a multiple of that */
		send_text(self->client, "ab!", MSG_OOB);
		send_text(self->client, "cd", 0);
		ASSERT_TRUE(wait_events(self->server, POLLPRI) & POLLPRI);
		ASSERT_STREQ(in_line ? "" : "!",
			     recv_text(self->server, MSG_OOB));
		ASSERT_EQ(0, at_mark(self->server));
		ASSERT_STREQ("ab", recv_text(self->server, MSG_WAITALL));
		ASSERT_EQ(1, at_mark(self->server));
		/* the byte that is next does not count out of band */
		ASSERT_TRUE(in_line ? wait_queued(self->server, 3) :
				      wait_events(self->server, POLLIN));
		ASSERT_STREQ(in_line ? "!cd" : "cd",
			     recv_text(self->server, 0));
		ASSERT_EQ(0, at_mark(self->server));
	}
}

TEST_F_TIMEOUT(pair, urgent_at_every_position, 300)
{
	positions(_metadata, self, false);
}

TEST_F_TIMEOUT(pair, urgent_inline_at_every_position, 300)
{
	positions(_metadata, self, true);
}

TEST_HARNESS_MAIN
