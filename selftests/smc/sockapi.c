// SPDX-License-Identifier: GPL-2.0
/*
 * sockapi - a socket of ours behaves as TCP's does
 *
 * Each test runs on plain TCP first (variant tcp): what it asserts is what
 * TCP does, and a test that is wrong fails there.  The other variants are the
 * four ways to ask for SMC.  Client and server are one process on loopback;
 * no test needs a device.  Where the documentation lists a deviation, the
 * test says so.
 */
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>

#include "lib/bytes.h"
#include "lib/pairfixture.h"
#include "lib/sockcase.h"
#include "lib/task.h"
#include "lib/wait.h"

#ifndef SOL_SMC
#define SOL_SMC	286
#endif
#define SMC_PLAIN_TCP	256

FIXTURE_VARIANT_ADD(pair, tcp) { KIND_TCP, "127.0.0.1" };
FIXTURE_VARIANT_ADD(pair, tcp6) { KIND_TCP, "::1" };
FIXTURE_VARIANT_ADD(pair, ipproto) { KIND_IPPROTO, "127.0.0.1" };
FIXTURE_VARIANT_ADD(pair, ipproto6) { KIND_IPPROTO, "::1" };
FIXTURE_VARIANT_ADD(pair, afsmc) { KIND_AFSMC, "127.0.0.1" };
FIXTURE_VARIANT_ADD(pair, afsmc6) { KIND_AFSMC, "::1" };

static size_t drain(int fd, size_t want)
{
	static char block[65536];
	size_t sum = 0;
	ssize_t n;

	while (sum < want && wait_events(fd, POLLIN)) {
		n = recv(fd, block, sizeof(block), MSG_DONTWAIT);
		if (n <= 0)
			break;
		sum += n;
	}
	return sum;
}

TEST_F(pair, names)
{
	struct sockaddr_storage a, b;
	socklen_t la = sizeof(a), lb = sizeof(b);

	ASSERT_EQ(0, getpeername(self->client, (struct sockaddr *)&a, &la));
	EXPECT_EQ(self->len, la);
	EXPECT_EQ(self->addr.ss_family, a.ss_family);
	EXPECT_EQ(0, memcmp(&a, &self->addr, 8));
	la = sizeof(a);
	ASSERT_EQ(0, getsockname(self->client, (struct sockaddr *)&a, &la));
	ASSERT_EQ(0, getpeername(self->server, (struct sockaddr *)&b, &lb));
	EXPECT_EQ(la, lb);
	EXPECT_EQ(0, memcmp(&a, &b, 8));
	EXPECT_EQ(0, shutdown(self->client, SHUT_WR));
	la = sizeof(a);
	EXPECT_EQ(0, getpeername(self->client, (struct sockaddr *)&a, &la));
}

TEST_F(pair, poll_idle)
{
	EXPECT_EQ(POLLOUT, mask_now(self->client));
	EXPECT_EQ(POLLOUT, mask_now(self->server));
	EXPECT_EQ(0, mask_now(self->listener));
}

TEST_F(pair, data_and_inq)
{
	char buf[16];
	int n = -1;

	ASSERT_EQ(10, send(self->client, "0123456789", 10, 0));
	EXPECT_EQ(POLLIN, wait_events(self->server, POLLIN));
	ASSERT_EQ(0, ioctl(self->server, FIONREAD, &n));
	EXPECT_EQ(10, n);
	EXPECT_EQ(4, recv(self->server, buf, 4, MSG_PEEK));
	EXPECT_EQ(4, recv(self->server, buf, 4, 0));
	EXPECT_EQ(0, memcmp(buf, "0123", 4));
	EXPECT_EQ(2, recv(self->server, NULL, 2, MSG_TRUNC));
	EXPECT_EQ(4, recv(self->server, buf, sizeof(buf), 0));
	EXPECT_EQ(0, memcmp(buf, "6789", 4));
	EXPECT_EQ(-1, recv(self->server, buf, 1, MSG_DONTWAIT));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(POLLOUT, mask_now(self->server));
}

TEST_F(pair, zero_length)
{
	char c;

	EXPECT_EQ(0, send(self->client, "", 0, 0));
	EXPECT_EQ(-1, recv(self->server, &c, 0, MSG_DONTWAIT));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_EQ(1, send(self->client, "x", 1, 0));
	EXPECT_EQ(POLLIN, wait_events(self->server, POLLIN));
	EXPECT_EQ(0, recv(self->server, &c, 0, 0));
	EXPECT_EQ(1, recv(self->server, &c, 1, 0));
}

TEST_F(pair, half_close)
{
	char c;

	ASSERT_EQ(1, send(self->client, "a", 1, 0));
	ASSERT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(POLLRDHUP, POLLRDHUP & wait_events(self->server, POLLRDHUP));
	EXPECT_EQ(1, recv(self->server, &c, 1, 0));
	EXPECT_EQ(0, recv(self->server, &c, 1, 0));
	EXPECT_EQ(0, recv(self->server, &c, 1, 0));
	/* the other direction still works */
	ASSERT_EQ(1, send(self->server, "b", 1, 0));
	EXPECT_EQ(1, recv(self->client, &c, 1, 0));
	EXPECT_EQ('b', c);
	EXPECT_EQ(-1, send(self->client, "x", 1, MSG_NOSIGNAL));
	EXPECT_EQ(EPIPE, errno);
	ASSERT_EQ(0, shutdown(self->server, SHUT_WR));
	EXPECT_EQ(0, recv(self->client, &c, 1, 0));
	EXPECT_EQ(POLLHUP, POLLHUP & wait_events(self->client, 0));
}

TEST_F(pair, sigpipe)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, shutdown(self->client, SHUT_WR));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		signal(SIGPIPE, SIG_DFL);
		send(self->client, "x", 1, 0);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
}

TEST_F(pair, full_then_drained)
{
	size_t sent;

	fix_buffers(self->client, self->server);
	sent = fill_from(self->client, 0);
	EXPECT_LT(0, sent);
	EXPECT_EQ(0, POLLOUT & mask_now(self->client));
	EXPECT_EQ(sent, drain(self->server, sent));
	EXPECT_EQ(POLLOUT, wait_events(self->client, POLLOUT));
	EXPECT_EQ(1, send(self->client, "x", 1, MSG_DONTWAIT));
	EXPECT_EQ(1, drain(self->server, 1));
}

TEST_F(pair, epoll_edges)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET }, got;
	int ep = epoll_create1(0);
	char buf[8];

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->server, &ev));
	EXPECT_EQ(0, epoll_wait(ep, &got, 1, 0));
	ASSERT_EQ(2, send(self->client, "ab", 2, 0));
	EXPECT_EQ(1, epoll_wait(ep, &got, 1, WAIT_MS));
	/* no new edge although data is left */
	EXPECT_EQ(1, recv(self->server, buf, 1, 0));
	EXPECT_EQ(0, epoll_wait(ep, &got, 1, 100));
	ASSERT_EQ(1, send(self->client, "c", 1, 0));
	EXPECT_EQ(1, epoll_wait(ep, &got, 1, WAIT_MS));
	EXPECT_EQ(2, recv(self->server, buf, 8, 0));
	ASSERT_EQ(0, shutdown(self->client, SHUT_WR));
	EXPECT_EQ(1, epoll_wait(ep, &got, 1, WAIT_MS));
	EXPECT_EQ(0, recv(self->server, buf, 8, 0));
	close(ep);
}

TEST_F(pair, epoll_out_edge)
{
	struct epoll_event ev = { .events = EPOLLOUT | EPOLLET }, got;
	int ep = epoll_create1(0);
	size_t sent;

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->client, &ev));
	EXPECT_EQ(1, epoll_wait(ep, &got, 1, WAIT_MS));
	fix_buffers(self->client, self->server);
	sent = fill_from(self->client, 0);
	while (epoll_wait(ep, &got, 1, 0) > 0)
		;
	EXPECT_EQ(-1, send(self->client, "x", 1, MSG_DONTWAIT));
	EXPECT_EQ(sent, drain(self->server, sent));
	EXPECT_EQ(1, epoll_wait(ep, &got, 1, WAIT_MS));
	close(ep);
}

TEST_F(pair, unread_data_resets)
{
	char c;

	ASSERT_EQ(1, send(self->client, "x", 1, 0));
	ASSERT_EQ(POLLIN, wait_events(self->server, POLLIN));
	close(self->server);
	self->server = -1;
	EXPECT_LT(0, wait_events(self->client, POLLIN));
	EXPECT_EQ(-1, recv(self->client, &c, 1, 0));
	EXPECT_EQ(ECONNRESET, errno);
}

TEST_F(pair, linger_zero_resets)
{
	struct linger l = { 1, 0 };
	char c;

	ASSERT_EQ(0, setsockopt(self->server, SOL_SOCKET, SO_LINGER, &l,
				sizeof(l)));
	close(self->server);
	self->server = -1;
	EXPECT_LT(0, wait_events(self->client, POLLIN));
	EXPECT_EQ(-1, recv(self->client, &c, 1, 0));
	EXPECT_EQ(ECONNRESET, errno);
}

TEST_F(pair, close_delivers_everything)
{
	size_t sent = fill_from(self->client, 0);

	/* the ring of the other side is full, the rest is here */
	close(self->client);
	self->client = -1;
	EXPECT_EQ(sent, drain(self->server, sent + 1));
}

TEST_F(pair, exit_delivers_everything)
{
	int pipefd[2], status;
	size_t sent = 0;
	pid_t pid;

	ASSERT_EQ(0, pipe(pipefd));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		sent = fill_from(self->client, 0);
		if (write(pipefd[1], &sent, sizeof(sent)) < 0)
			_exit(1);
		_exit(0);
	}
	close(self->client);
	self->client = -1;
	ASSERT_EQ(sizeof(sent), read(pipefd[0], &sent, sizeof(sent)));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(sent, drain(self->server, sent + 1));
}

TEST_F(pair, waitall)
{
	char buf[8] = "";
	pid_t pid;
	int status;

	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		for (int i = 0; i < 8; i++) {
			if (send(self->client, "01234567" + i, 1, 0) != 1)
				_exit(1);
			usleep(5000);
		}
		_exit(0);
	}
	EXPECT_EQ(8, recv(self->server, buf, 8, MSG_WAITALL));
	EXPECT_EQ(0, memcmp(buf, "01234567", 8));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_F(pair, receive_timeout)
{
	struct timeval tv = { 0, 100000 };
	char c;

	ASSERT_EQ(0, setsockopt(self->server, SOL_SOCKET, SO_RCVTIMEO, &tv,
				sizeof(tv)));
	EXPECT_EQ(-1, recv(self->server, &c, 1, 0));
	EXPECT_EQ(EAGAIN, errno);
}

static void nothing(int sig)
{
}

TEST_F(pair, interrupted)
{
	struct sigaction sa = { .sa_handler = nothing };
	char c;

	sigaction(SIGALRM, &sa, NULL);
	/* again, if the first one comes before the call */
	ualarm(50000, 50000);
	EXPECT_EQ(-1, recv(self->server, &c, 1, 0));
	EXPECT_EQ(EINTR, errno);
	ualarm(0, 0);
}

TEST_F(pair, urgent)
{
	char buf[8];
	int mark = 0;

	ASSERT_EQ(3, send(self->client, "abc", 3, 0));
	ASSERT_EQ(1, send(self->client, "!", 1, MSG_OOB));
	ASSERT_EQ(2, send(self->client, "de", 2, 0));
	EXPECT_EQ(POLLPRI, wait_events(self->server, POLLPRI));
	EXPECT_EQ(1, recv(self->server, buf, 1, MSG_OOB));
	EXPECT_EQ('!', buf[0]);
	EXPECT_EQ(3, recv(self->server, buf, 8, 0));
	ASSERT_EQ(0, ioctl(self->server, SIOCATMARK, &mark));
	EXPECT_EQ(1, mark);
	wait_events(self->server, POLLIN);
	EXPECT_EQ(2, recv(self->server, buf, 8, MSG_WAITALL | MSG_DONTWAIT));
	EXPECT_EQ(0, memcmp(buf, "de", 2));
}

TEST_F(pair, splice_through)
{
	char buf[16];
	int p[2];

	ASSERT_EQ(0, pipe(p));
	ASSERT_EQ(5, write(p[1], "hello", 5));
	ASSERT_EQ(5, splice(p[0], NULL, self->client, NULL, 5, 0));
	ASSERT_EQ(POLLIN, wait_events(self->server, POLLIN));
	ASSERT_EQ(5, splice(self->server, NULL, p[1], NULL, 16, 0));
	EXPECT_EQ(5, read(p[0], buf, 16));
	EXPECT_EQ(0, memcmp(buf, "hello", 5));
}

TEST_F(pair, passed_and_forked)
{
	int status;
	pid_t pid;
	char c;

	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		int fd = dup(self->client);

		close(self->client);
		_exit(send(fd, "x", 1, 0) == 1 ? 0 : 1);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(1, recv(self->server, &c, 1, 0));
	/* the child's copies went; the connection did not */
	EXPECT_EQ(1, send(self->server, "y", 1, 0));
	EXPECT_EQ(1, recv(self->client, &c, 1, 0));
}

TEST_F(pair, nonblocking_connect)
{
	struct sockaddr *sa = (struct sockaddr *)&self->addr;
	int fd, rc, err = -1, srv;
	socklen_t len = sizeof(err);

	fd = open_socket(variant->kind, self->addr.ss_family, SOCK_NONBLOCK);
	rc = connect(fd, sa, self->len);
	EXPECT_TRUE(!rc || errno == EINPROGRESS);
	EXPECT_EQ(POLLOUT, wait_events(fd, POLLOUT));
	ASSERT_EQ(0, getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len));
	EXPECT_EQ(0, err);
	rc = connect(fd, sa, self->len);
	EXPECT_TRUE(!rc || errno == EISCONN);
	srv = accept(self->listener, NULL, NULL);
	ASSERT_LE(0, srv);
	EXPECT_EQ(1, send(fd, "x", 1, 0));
	EXPECT_EQ(1, drain(srv, 1));
	close(fd);
	close(srv);
}

TEST_F(pair, refused)
{
	int fd = open_socket(variant->kind, self->addr.ss_family, 0);
	struct sockaddr *sa = (struct sockaddr *)&self->addr;

	close(self->listener);
	self->listener = -1;
	EXPECT_EQ(-1, connect(fd, sa, self->len));
	EXPECT_EQ(ECONNREFUSED, errno);
	close(fd);
}

TEST_F(pair, accept_would_block)
{
	set_nonblock(self->listener);
	EXPECT_EQ(-1, accept(self->listener, NULL, NULL));
	EXPECT_EQ(EAGAIN, errno);
}

TEST_F(pair, listener_closed_with_pending)
{
	struct sockaddr *sa = (struct sockaddr *)&self->addr;
	int fd = open_socket(variant->kind, self->addr.ss_family, 0);
	char c;

	ASSERT_EQ(0, connect(fd, sa, self->len));
	close(self->listener);
	self->listener = -1;
	EXPECT_LT(0, wait_events(fd, POLLIN));
	EXPECT_EQ(-1, recv(fd, &c, 1, 0));
	EXPECT_EQ(ECONNRESET, errno);
	close(fd);
}

TEST_F(pair, options)
{
	int v = -1;
	socklen_t len = sizeof(v);

	ASSERT_EQ(0, getsockopt(self->client, SOL_SOCKET, SO_TYPE, &v, &len));
	EXPECT_EQ(SOCK_STREAM, v);
	ASSERT_EQ(0, getsockopt(self->listener, SOL_SOCKET, SO_ACCEPTCONN, &v,
				&len));
	EXPECT_EQ(1, v);
	ASSERT_EQ(0, getsockopt(self->client, SOL_SOCKET, SO_ERROR, &v, &len));
	EXPECT_EQ(0, v);
	v = 1;
	EXPECT_EQ(0, setsockopt(self->client, IPPROTO_TCP, TCP_NODELAY, &v,
				sizeof(v)));
	v = 0;
	ASSERT_EQ(0, getsockopt(self->client, IPPROTO_TCP, TCP_NODELAY, &v,
				&len));
	EXPECT_EQ(1, v);
	v = 1;
	EXPECT_EQ(0, setsockopt(self->client, SOL_SOCKET, SO_KEEPALIVE, &v,
				sizeof(v)));
	EXPECT_EQ(-1, setsockopt(self->client, SOL_SOCKET, 9999, &v,
				 sizeof(v)));
	EXPECT_EQ(ENOPROTOOPT, errno);
}

static int get_plain(int fd)
{
	socklen_t len = sizeof(int);
	int v = -1;

	if (getsockopt(fd, SOL_SMC, SMC_PLAIN_TCP, &v, &len))
		return -errno;
	return v;
}

static int set_plain(int fd, int v)
{
	return setsockopt(fd, SOL_SMC, SMC_PLAIN_TCP, &v, sizeof(v)) ?
	       -errno : 0;
}

/* a new connection to the listener carries bytes; the server side, or -1 */
static int try_pair(int listener, int client, struct sockaddr *sa,
		    socklen_t len)
{
	char buf[8] = "";
	int fd;

	if (connect(client, sa, len))
		return -1;
	fd = accept(listener, NULL, NULL);
	if (send(client, "there", 5, 0) == 5 && wait_events(fd, POLLIN) &&
	    recv(fd, buf, sizeof(buf), 0) == 5 && !strcmp(buf, "there") &&
	    send(fd, "back", 4, 0) == 4 && wait_events(client, POLLIN) &&
	    recv(client, buf, sizeof(buf), 0) == 4 && !strncmp(buf, "back", 4))
		return fd;
	close(fd);
	return -1;
}

TEST_F(pair, plain_tcp_client)
{
	struct sockaddr *sa = (struct sockaddr *)&self->addr;
	int client, server;

	client = open_socket(variant->kind, self->addr.ss_family, 0);
	if (variant->kind == KIND_TCP) {
		EXPECT_EQ(-ENOPROTOOPT, set_plain(client, 1));
		close(client);
		return;
	}
	EXPECT_EQ(0, get_plain(client));
	if (uses_smc(variant->kind)) {
		EXPECT_EQ(0, get_plain(self->client));
		EXPECT_EQ(-EINVAL, set_plain(self->client, 0));
	}
	EXPECT_EQ(0, set_plain(client, 7));
	EXPECT_EQ(1, get_plain(client));
	EXPECT_EQ(0, set_plain(client, 0));
	EXPECT_EQ(0, get_plain(client));
	EXPECT_EQ(0, set_plain(client, 1));
	server = try_pair(self->listener, client, sa, self->len);
	EXPECT_LE(0, server);
	/* they are TCP's from now on, which does not have the option */
	EXPECT_EQ(-EOPNOTSUPP, get_plain(client));
	EXPECT_EQ(-EOPNOTSUPP, get_plain(server));
	EXPECT_EQ(-ENOPROTOOPT, set_plain(client, 1));
	close(client);
	close(server);
}

/* After listen() clients are offered SMC already, and have to be told. */
TEST_F(pair, plain_tcp_listener)
{
	struct sockaddr *sa = (struct sockaddr *)&self->addr;
	int client, server, i, v, told;

	if (variant->kind == KIND_TCP)
		return;
	for (i = 0; i < 4; i++) {
		v = i % 2;
		told = v || !uses_smc(variant->kind) ? -EOPNOTSUPP : 0;
		EXPECT_EQ(0, set_plain(self->listener, v));
		client = open_socket(variant->kind, self->addr.ss_family, 0);
		server = try_pair(self->listener, client, sa, self->len);
		EXPECT_LE(0, server);
		EXPECT_EQ(told, get_plain(server));
		EXPECT_EQ(told, get_plain(client));
		close(client);
		close(server);
	}
}

TEST_F(pair, fast_open_after_listen)
{
	struct sockaddr *sa = (struct sockaddr *)&self->addr;
	int client, server, queue = 5;

	ASSERT_EQ(0, setsockopt(self->listener, IPPROTO_TCP, TCP_FASTOPEN,
				&queue, sizeof(queue)));
	client = open_socket(variant->kind, self->addr.ss_family, 0);
	server = try_pair(self->listener, client, sa, self->len);
	EXPECT_LE(0, server);
	close(client);
	close(server);
}

TEST_F(pair, cork)
{
	int on = 1, off = 0;
	char buf[8];

	ASSERT_EQ(0, setsockopt(self->client, IPPROTO_TCP, TCP_CORK, &on,
				sizeof(on)));
	ASSERT_EQ(1, send(self->client, "a", 1, 0));
	ASSERT_EQ(1, send(self->client, "b", 1, 0));
	ASSERT_EQ(0, setsockopt(self->client, IPPROTO_TCP, TCP_CORK, &off,
				sizeof(off)));
	EXPECT_EQ(2, recv(self->server, buf, 2, MSG_WAITALL));
	/* MSG_MORE: the last call pushes all */
	ASSERT_EQ(1, send(self->client, "c", 1, MSG_MORE));
	ASSERT_EQ(1, send(self->client, "d", 1, 0));
	EXPECT_EQ(2, recv(self->server, buf, 2, MSG_WAITALL));
	EXPECT_EQ(0, memcmp(buf, "cd", 2));
}

/* The timer that a write starts may fire before it is started for the caller. */
TEST_F_TIMEOUT(pair, user_timeout_of_many_writes, 120)
{
	int i, ms = 60000;
	char c;

	ASSERT_EQ(0, setsockopt(self->client, IPPROTO_TCP, TCP_USER_TIMEOUT,
				&ms, sizeof(ms)));
	for (i = 0; i < 300; i++) {
		ASSERT_EQ(1, send(self->client, "a", 1, 0));
		ASSERT_EQ(1, recv(self->server, &c, 1, 0));
	}
}

TEST_F(pair, shutdown_wakes_reader)
{
	int status;
	pid_t pid;
	char c;

	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(recv(self->server, &c, 1, 0) ? 1 : 0);
	ASSERT_TRUE(process_sleeps(pid));
	EXPECT_EQ(0, shutdown(self->server, SHUT_RD));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_F(pair, bad_arguments)
{
	struct sockaddr *sa = (struct sockaddr *)&self->addr;
	int fd;

	EXPECT_EQ(-1, connect(self->client, sa, self->len));
	EXPECT_EQ(EISCONN, errno);
	EXPECT_EQ(-1, accept(self->client, NULL, NULL));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, listen(self->client, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, shutdown(self->client, 3));
	EXPECT_EQ(EINVAL, errno);
	fd = open_socket(variant->kind, self->addr.ss_family, 0);
	EXPECT_EQ(-1, send(fd, "x", 1, MSG_NOSIGNAL));
	EXPECT_EQ(EPIPE, errno);
	EXPECT_EQ(-1, recv(fd, &fd, 1, 0));
	EXPECT_EQ(ENOTCONN, errno);
	close(fd);
}

TEST_F(pair, sendfile_out)
{
	char name[] = "/tmp/sockapi.XXXXXX", buf[5000];
	int fd = mkstemp(name);
	off_t off = 0;

	ASSERT_LE(0, fd);
	unlink(name);
	memset(buf, 'z', sizeof(buf));
	ASSERT_EQ(sizeof(buf), write(fd, buf, sizeof(buf)));
	ASSERT_EQ(sizeof(buf), sendfile(self->client, fd, &off, sizeof(buf)));
	EXPECT_EQ(sizeof(buf), drain(self->server, sizeof(buf)));
	close(fd);
}

static bool has_notice(int fd)
{
	struct pollfd p = { .fd = fd };

	return poll(&p, 1, 0) == 1 && p.revents & POLLERR;
}

/* One message of the error queue, with its extended error; or -1. */
static int take_notice(int fd, struct sock_extended_err *err)
{
	char control[256];
	struct msghdr msg = {
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;

	if (recvmsg(fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
		return -1;
	memset(err, 0xff, sizeof(*err));
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		if ((c->cmsg_level == SOL_IP && c->cmsg_type == IP_RECVERR) ||
		    (c->cmsg_level == SOL_IPV6 &&
		     c->cmsg_type == IPV6_RECVERR))
			memcpy(err, CMSG_DATA(c), sizeof(*err));
	return 0;
}

/* The buffer of a MSG_ZEROCOPY call may be used again when this has come. */
TEST_F(pair, zerocopy_completes)
{
	static char block[5000];
	struct sock_extended_err err;
	int on = 1, i;

	EXPECT_EQ(0, setsockopt(self->client, SOL_SOCKET, SO_ZEROCOPY, &on,
				sizeof(on)));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(sizeof(block), send(self->client, block,
					      sizeof(block), MSG_ZEROCOPY));
		EXPECT_EQ(sizeof(block), drain(self->server, sizeof(block)));
		ASSERT_TRUE(wait_events(self->client, POLLERR) & POLLERR);
		ASSERT_EQ(0, take_notice(self->client, &err));
		EXPECT_EQ(SO_EE_ORIGIN_ZEROCOPY, err.ee_origin);
		EXPECT_EQ(0, err.ee_errno);
		EXPECT_EQ(SO_EE_CODE_ZEROCOPY_COPIED, err.ee_code);
		EXPECT_EQ(i, err.ee_info);
		EXPECT_EQ(i, err.ee_data);
	}
	EXPECT_FALSE(has_notice(self->client));
	/* nothing was sent: no notice, and no number of one is used up */
	EXPECT_EQ(-1, send(self->client, NULL, 1, MSG_ZEROCOPY));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, take_notice(self->client, &err));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_EQ(1, send(self->client, block, 1, MSG_ZEROCOPY));
	ASSERT_TRUE(wait_events(self->client, POLLERR) & POLLERR);
	ASSERT_EQ(0, take_notice(self->client, &err));
	EXPECT_EQ(2, err.ee_info);
}

/* What the connection needed to be set up is not the program's to be told of. */
TEST_F(pair, no_time_stamps_of_others)
{
	int on = SOF_TIMESTAMPING_TX_SCHED | SOF_TIMESTAMPING_TX_SOFTWARE |
		 SOF_TIMESTAMPING_TX_ACK | SOF_TIMESTAMPING_SOFTWARE |
		 SOF_TIMESTAMPING_OPT_TSONLY;
	struct sock_extended_err err;
	struct where at;
	int fd[3];

	fd[0] = listen_any(variant->kind, self->addr.ss_family, 1, &at);
	fd[1] = open_socket(variant->kind, self->addr.ss_family, 0);
	ASSERT_EQ(0, setsockopt(fd[0], SOL_SOCKET, SO_TIMESTAMPING, &on,
				sizeof(on)));
	ASSERT_EQ(0, setsockopt(fd[1], SOL_SOCKET, SO_TIMESTAMPING, &on,
				sizeof(on)));
	ASSERT_EQ(0, connect(fd[1], sa(&at), at.len));
	fd[2] = accept(fd[0], NULL, NULL);
	ASSERT_LE(0, fd[2]);
	EXPECT_FALSE(has_notice(fd[1]));
	EXPECT_FALSE(has_notice(fd[2]));
	EXPECT_EQ(-1, take_notice(fd[1], &err));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(-1, take_notice(fd[2], &err));
	EXPECT_EQ(EAGAIN, errno);
	close(fd[0]);
	close(fd[1]);
	close(fd[2]);
}

static int urgent_fd, urgent_rc, *urgent_taken;

static void take_urgent(int sig)
{
	char c;

	urgent_rc = recv(urgent_fd, &c, 1, MSG_OOB) == 1 ? c : -errno;
	__atomic_store_n(urgent_taken, 1, __ATOMIC_RELEASE);
}

/* A handler of SIGURG gets the byte before the reader that it interrupts. */
TEST_F(pair, sigurg_before_a_waiting_reader)
{
	const struct sigaction sa = { .sa_handler = take_urgent,
				      .sa_flags = SA_RESTART };
	pid_t parent = getpid(), pid;
	char c = 0;
	bool taken;

	urgent_taken = shared_memory(sizeof(*urgent_taken));
	urgent_fd = self->server;
	ASSERT_EQ(0, sigaction(SIGURG, &sa, NULL));
	ASSERT_EQ(0, fcntl(self->server, F_SETOWN, parent));
	pid = fork();
	if (!pid) {
		if (!process_sleeps(parent) ||
		    send(self->client, "!", 1, MSG_OOB) != 1)
			_exit(1);
		taken = wait_flag(urgent_taken);
		_exit(send(self->client, "b", 1, 0) != 1 || !taken);
	}
	EXPECT_EQ(1, recv(self->server, &c, 1, 0));
	EXPECT_EQ('b', c);
	EXPECT_EQ('!', urgent_rc);
	EXPECT_TRUE(child_ok(pid));
}

/* A control message that send() does not know is refused. */
TEST_F(pair, unknown_control_message)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} u = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, 9999 } };
	struct iovec iov = { "x", 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &u,
			      .msg_controllen = sizeof(u) };

	EXPECT_EQ(-1, sendmsg(self->client, &msg, 0));
	EXPECT_EQ(EINVAL, errno);
	u.head.cmsg_type = 79;	/* SCM_DEVMEM_DMABUF */
	*(int *)CMSG_DATA(&u.head) = 1;
	EXPECT_ERR(EINVAL, sendmsg(self->client, &msg, 0));
	u.head.cmsg_level = SOL_IP;
	EXPECT_EQ(1, sendmsg(self->client, &msg, 0));
	u.head.cmsg_len = 1;
	EXPECT_EQ(-1, sendmsg(self->client, &msg, 0));
	EXPECT_EQ(EINVAL, errno);
}

TEST(wrong_protocols)
{
	EXPECT_EQ(-1, socket(AF_SMC, SOCK_DGRAM, 0));
	EXPECT_EQ(ESOCKTNOSUPPORT, errno);
	EXPECT_EQ(-1, socket(AF_SMC, SOCK_STREAM, 2));
	EXPECT_EQ(EPROTONOSUPPORT, errno);
}

TEST_HARNESS_MAIN
