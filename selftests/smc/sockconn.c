// SPDX-License-Identifier: GPL-2.0
/*
 * sockconn - connect, bind, names and devices are TCP's, to the letter
 *
 * Each test runs on plain TCP first (variants tcp, tcp6): what it asserts is
 * what TCP does, and a test that is wrong fails there.  The other variants ask
 * for SMC.  All happens on this host; sockcase.h has the environment.
 */
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "lib/bytes.h"
#include "lib/connfixture.h"
#include "lib/task.h"

/* selftests/vm/planted/pauses.c, if it is loaded */
#define PAUSES_AT	"/sys/module/pauses/parameters/at"
#define PAUSED		"/sys/module/pauses/parameters/paused"

#ifndef IP_LOCAL_PORT_RANGE
#define IP_LOCAL_PORT_RANGE 51
#endif

/* -- connect -- */

/* Was there the SMC option in the SYN?  Its listener has TCP_SAVE_SYN. */
static bool was_offered(int fd)
{
	socklen_t len = 256;
	char syn[256];

	return !getsockopt(fd, IPPROTO_TCP, TCP_SAVED_SYN, syn, &len) &&
	       memmem(syn, len, "\xe2\xd4\xc3\xd9", 4);
}

TEST_F(conn, unspec_ends_and_reconnects)
{
	bool again = uses_smc(variant->kind);
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct where w = { .len = sizeof(w.ss) };
	struct used then;
	char c;

	ASSERT_EQ(0, set_int(self->listener, IPPROTO_TCP, TCP_SAVE_SYN, 1));
	PAIR();
	EXPECT_EQ(again || (variant->kind != KIND_TCP && getenv("SMC_DECLINE")),
		  was_offered(self->srv));
	ASSERT_TRUE(byte_goes(self->fd, self->srv));
	ASSERT_EQ(0, connect(self->fd, &none, sizeof(none)));
	EXPECT_ERR(ENOTCONN, getpeername(self->fd, sa(&w), &w.len));
	EXPECT_NE(0, poll_for(self->srv, POLLIN, WAIT_MS));
	EXPECT_ERR(ECONNRESET, recv(self->srv, &c, 1, MSG_DONTWAIT));
	close(self->srv);
	so_error(self->fd);
	then = smc_used();
	PAIR();
	/* what has become TCP remains it, and is not counted again */
	EXPECT_TRUE(becomes(variant->kind, "tcp") ||
		    became(variant->kind, then, false));
	EXPECT_EQ(again, was_offered(self->srv));
	EXPECT_TRUE(byte_goes(self->fd, self->srv));
	EXPECT_TRUE(byte_goes(self->srv, self->fd));
}

static void *poll_paused(void *arg)
{
	struct pollfd p = { .fd = *(int *)arg, .events = POLLIN };
	uint64_t end;

	prctl(PR_SET_NAME, "pauses");
	end = now_ns() + WAIT_MS * 1000000ULL;
	/* when its time is over poll() looks once more, and finds it */
	if (poll(&p, 1, WAIT_MS) < 1 || now_ns() >= end)
		return NULL;
	return (void *)(intptr_t)p.revents;
}

/* before poll() waits, where that can be had, or while it does */
TEST_F(conn, unspec_beside_poll)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	bool pauses;
	struct task t;
	char line[8];

	PAIR();
	pauses = !put_text(PAUSES_AT, "poll");
	task_start(&t, poll_paused, &self->fd);
	EXPECT_TRUE(task_sleeps(&t));
	if (pauses)
		EXPECT_EQ(1, atoi(first_line(PAUSED, line, sizeof(line))));
	EXPECT_EQ(0, connect(self->fd, &none, sizeof(none)));
	put_text(PAUSES_AT, "go");
	EXPECT_EQ(POLLHUP | POLLERR, (intptr_t)task_join(&t));
}

static void *recv_paused(void *arg)
{
	char c;

	prctl(PR_SET_NAME, "pauses");
	return (void *)(intptr_t)(recv(*(int *)arg, &c, 1, 0) < 0 ? errno : 0);
}

/* when recv() has seen the reset, where that can be had */
TEST_F(conn, unspec_beside_reset)
{
	bool pauses = uses_smc(variant->kind) && !put_text(PAUSES_AT, "error");
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct task t;

	ASSERT_EQ(0, CONNECT(self->fd, &self->at));
	close(self->listener);
	self->listener = -1;
	ASSERT_NE(0, POLLERR & poll_for(self->fd, 0, WAIT_MS));
	task_start(&t, recv_paused, &self->fd);
	EXPECT_TRUE(!pauses || (task_sleeps(&t) &&
				!connect(self->fd, &none, sizeof(none))));
	put_text(PAUSES_AT, "go");
	EXPECT_EQ(pauses ? EPIPE : ECONNRESET, (intptr_t)task_join(&t));
}

TEST_F(conn, unspec_while_connecting)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int fill[2], fd = NEW(SOCK_NONBLOCK);
	struct where w = nowhere(variant->family, fill);

	EXPECT_ERR(EINPROGRESS, CONNECT(fd, &w));
	EXPECT_ERR(EALREADY, CONNECT(fd, &w));
	EXPECT_EQ(0, poll_for(fd, POLLOUT, IDLE_MS));
	ASSERT_EQ(0, connect(fd, &none, sizeof(none)));
	so_error(fd);
	EXPECT_ERR(EINPROGRESS, CONNECT(fd, &self->at));
	EXPECT_EQ(POLLOUT, poll_for(fd, POLLOUT, WAIT_MS));
	EXPECT_EQ(0, so_error(fd));
	self->srv = accept(self->listener, NULL, NULL);
	EXPECT_TRUE(byte_goes(fd, self->srv));
	close(fd);
	close(fill[0]);
	close(fill[1]);
}

struct calls {
	int fd;
	struct where to;
};

/* connect(), errno is the result */
static void *connect_paused(void *arg)
{
	struct calls *c = arg;

	prctl(PR_SET_NAME, "pauses");
	return (void *)(intptr_t)(CONNECT(c->fd, &c->to) ? errno : 0);
}

/* before connect() waits, where that can be had, or while it does */
TEST_F(conn, shutdown_beside_connect)
{
	int fill[2];
	struct calls c = { self->fd, nowhere(variant->family, fill) };
	bool pauses = !put_text(PAUSES_AT, "unlocked");
	struct task t;
	char line[8];

	/* another attempt would end, too */
	ASSERT_EQ(0, set_int(self->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, WAIT_MS));
	task_start(&t, connect_paused, &c);
	EXPECT_TRUE(task_sleeps(&t));
	if (pauses && variant->kind != KIND_TCP)
		EXPECT_EQ(1, atoi(first_line(PAUSED, line, sizeof(line))));
	EXPECT_EQ(0, shutdown(self->fd, SHUT_RDWR));
	put_text(PAUSES_AT, "go");
	EXPECT_EQ(ECONNRESET, (intptr_t)task_join(&t));
	close(fill[0]);
	close(fill[1]);
}

TEST_F(conn, unspec_stops_listening)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	ASSERT_EQ(0, connect(self->listener, &none, sizeof(none)));
	EXPECT_ERR(EINVAL, accept(self->listener, NULL, NULL));
	EXPECT_ERR(ECONNREFUSED, CONNECT(self->fd, &self->at));
	/* the same socket becomes a client */
	close(self->fd);
	self->fd = self->listener;
	self->listener = listen_any(variant->kind, variant->family, 8,
				    &self->at);
	PAIR();
	EXPECT_TRUE(byte_goes(self->fd, self->srv));
}

TEST_F(conn, refused_then_accepted)
{
	int one = 1;

	close(self->listener);
	for (int i = 0; i < 3; i++)
		EXPECT_ERR(ECONNREFUSED, CONNECT(self->fd, &self->at));
	EXPECT_EQ(0, so_error(self->fd));
	self->listener = NEW(0);
	setsockopt(self->listener, SOL_SOCKET, SO_REUSEADDR, &one,
		   sizeof(one));
	ASSERT_EQ(0, bind(self->listener, sa(&self->at), self->at.len));
	ASSERT_EQ(0, listen_on(self->listener, variant->kind, 1));
	PAIR();
	EXPECT_TRUE(byte_goes(self->fd, self->srv));
}

TEST_F(conn, in_progress_then_connected)
{
	int fd = NEW(SOCK_NONBLOCK);

	EXPECT_ERR(EINPROGRESS, CONNECT(fd, &self->at));
	EXPECT_EQ(POLLOUT, poll_for(fd, POLLOUT, WAIT_MS));
	EXPECT_EQ(0, so_error(fd));
	/* the first call fetches the outcome, the second is one too many */
	EXPECT_EQ(0, CONNECT(fd, &self->at));
	EXPECT_ERR(EISCONN, CONNECT(fd, &self->at));
	self->srv = accept(self->listener, NULL, NULL);
	EXPECT_ERR(EISCONN, CONNECT(self->srv, &self->at));
	EXPECT_ERR(EISCONN, CONNECT(self->listener, &self->at));
	EXPECT_TRUE(byte_goes(fd, self->srv));
	close(fd);
}

TEST_F(conn, in_progress_then_refused)
{
	int fd = NEW(SOCK_NONBLOCK), mask;

	close(self->listener);
	self->listener = -1;
	EXPECT_ERR(EINPROGRESS, CONNECT(fd, &self->at));
	mask = poll_for(fd, POLLOUT | POLLIN, WAIT_MS);
	EXPECT_EQ(POLLIN | POLLOUT | POLLERR | POLLHUP, mask);
	EXPECT_EQ(ECONNREFUSED, so_error(fd));
	EXPECT_EQ(0, so_error(fd));
	/* fetched by SO_ERROR: one more call learns that it failed */
	EXPECT_ERR(ECONNABORTED, CONNECT(fd, &self->at));
	EXPECT_ERR(EINPROGRESS, CONNECT(fd, &self->at));
	poll_for(fd, POLLOUT, WAIT_MS);
	EXPECT_ERR(ECONNREFUSED, CONNECT(fd, &self->at));
	close(fd);
}

TEST_F(conn, data_calls_while_connecting)
{
	int fill[2], fd = NEW(SOCK_NONBLOCK);
	struct where w = nowhere(variant->family, fill);
	struct where peer = { .len = sizeof(peer.ss) };
	char c;

	EXPECT_ERR(EINPROGRESS, CONNECT(fd, &w));
	EXPECT_ERR(EAGAIN, send(fd, "x", 1, MSG_NOSIGNAL));
	EXPECT_ERR(EAGAIN, recv(fd, &c, 1, 0));
	EXPECT_ERR(ENOTCONN, getpeername(fd, sa(&peer), &peer.len));
	EXPECT_NE(0, local_port(fd));
	EXPECT_ERR(EINVAL, listen(fd, 1));
	EXPECT_ERR(EINVAL, bind(fd, sa(&w), w.len));
	close(fd);
	close(fill[0]);
	close(fill[1]);
}

TEST_F(conn, connect_timeout)
{
	struct timeval tv = { 0, 200000 };
	int fill[2];
	struct where w = nowhere(variant->family, fill);

	ASSERT_EQ(0, setsockopt(self->fd, SOL_SOCKET, SO_SNDTIMEO, &tv,
				sizeof(tv)));
	EXPECT_ERR(EINPROGRESS, CONNECT(self->fd, &w));
	EXPECT_ERR(EALREADY, CONNECT(self->fd, &w));
	close(fill[0]);
	close(fill[1]);
}

/* The SYN is repeated: TCP_SYNCNT and TCP_USER_TIMEOUT bound that. */
TEST_F(conn, nobody_answers)
{
	int fill[2];
	struct where w = nowhere(variant->family, fill);

	ASSERT_EQ(0, set_int(self->fd, IPPROTO_TCP, TCP_SYNCNT, 1));
	ASSERT_EQ(0, set_int(self->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 1500));
	EXPECT_ERR(ETIMEDOUT, CONNECT(self->fd, &w));
	/* and the socket can be used again */
	PAIR();
	EXPECT_TRUE(byte_goes(self->fd, self->srv));
	close(fill[0]);
	close(fill[1]);
}

static void nothing(int sig)
{
}

TEST_F(conn, connect_interrupted)
{
	struct sigaction act = { .sa_handler = nothing };
	int fill[2];
	struct where w = nowhere(variant->family, fill);

	sigaction(SIGALRM, &act, NULL);
	ualarm(50000, 50000);
	EXPECT_ERR(EINTR, CONNECT(self->fd, &w));
	ualarm(0, 0);
	set_nonblock(self->fd);
	EXPECT_ERR(EALREADY, CONNECT(self->fd, &w));
	close(fill[0]);
	close(fill[1]);
}

TEST_F(conn, to_itself)
{
	struct where w = where_is(variant->family);
	char c = 0;

	ASSERT_EQ(0, bind(self->fd, sa(&w), w.len));
	w = local_name(self->fd);
	ASSERT_EQ(0, CONNECT(self->fd, &w));
	ASSERT_EQ(1, send(self->fd, "s", 1, 0));
	EXPECT_EQ(POLLIN, poll_for(self->fd, POLLIN, WAIT_MS));
	EXPECT_EQ(1, recv(self->fd, &c, 1, MSG_DONTWAIT));
	EXPECT_EQ('s', c);
}

TEST_F(conn, bad_addresses)
{
	struct sockaddr_storage other = { .ss_family = AF_UNIX };
	struct where w = where_is(variant->family);

	EXPECT_ERR(EINVAL, connect(self->fd, sa(&self->at), 1));
	EXPECT_ERR(EINVAL, connect(self->fd, sa(&self->at), 8));
	EXPECT_ERR(EAFNOSUPPORT, connect(self->fd, (struct sockaddr *)&other,
					 sizeof(other)));
	EXPECT_ERR(EINVAL, bind(self->fd, sa(&w), 8));
	EXPECT_ERR(EAFNOSUPPORT, bind(self->fd, (struct sockaddr *)&other,
				      sizeof(other)));
	/* the length counts before the family does */
	other.ss_family = variant->family == AF_INET ? AF_INET6 : AF_INET;
	EXPECT_ERR(variant->family == AF_INET ? EAFNOSUPPORT : EINVAL,
		   connect(self->fd, (struct sockaddr *)&other, 20));
	EXPECT_ERR(EAFNOSUPPORT, connect(self->fd, (struct sockaddr *)&other,
					 sizeof(other)));
	PAIR();
	EXPECT_TRUE(byte_goes(self->fd, self->srv));
}

/* -- bind and names -- */

TEST_F(conn, bind_rules)
{
	struct where w = where_is(variant->family), far = {};
	int fd = NEW(0);

	far.len = parse_addr(variant->family == AF_INET ? "192.0.2.1" :
			     "2001:db8::1", "0", &far.ss);
	EXPECT_ERR(EADDRNOTAVAIL, bind(self->fd, sa(&far), far.len));
	EXPECT_ERR(EADDRINUSE, bind(self->fd, sa(&self->at), self->at.len));
	EXPECT_EQ(0, bind(self->fd, sa(&w), w.len));
	EXPECT_ERR(EINVAL, bind(self->fd, sa(&w), w.len));
	w = local_name(self->fd);
	EXPECT_ERR(EADDRINUSE, bind(fd, sa(&w), w.len));
	/* what was bound is what connects */
	PAIR();
	EXPECT_EQ(port_of(&w), local_port(self->fd));
	w.len = sizeof(w.ss);
	EXPECT_EQ(0, getpeername(self->srv, sa(&w), &w.len));
	EXPECT_EQ(port_of(&w), local_port(self->fd));
	close(fd);
}

/* TCP below has ended, which its own option tells: it is TCP_CLOSE then. */
static bool tcp_ends(int fd)
{
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;

	while (set_int(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 0))
		if (now_ns() > end || usleep(1000))
			return false;
	return true;
}

/* Both ends have finished, and what they have written has not arrived. */
TEST_F(conn, bind_before_the_end)
{
	struct where w = where_is(variant->family), peer;

	/* deviation: with shared memory it is there, and this the end */
	if (becomes(variant->kind, "smcd"))
		SKIP(return, "what is in shared memory");
	PAIR();
	fill_from(self->fd, 0);
	fill_from(self->srv, 0);
	EXPECT_EQ(0, shutdown(self->fd, SHUT_WR));
	EXPECT_EQ(0, shutdown(self->srv, SHUT_WR));
	if (uses_smc(variant->kind))
		EXPECT_TRUE(tcp_ends(self->fd) && tcp_ends(self->srv));
	EXPECT_ERR(EINVAL, bind(self->fd, sa(&w), w.len));
	EXPECT_ERR(EINVAL, bind(self->srv, sa(&w), w.len));
	peer.len = sizeof(peer.ss);
	EXPECT_EQ(0, getpeername(self->fd, sa(&peer), &peer.len));
	EXPECT_EQ(port_of(&self->at), port_of(&peer));
	EXPECT_EQ(port_of(&self->at), local_port(self->srv));
}

/* Two sockets may have one port, but only one of them may listen. */
TEST_F(conn, listen_in_use)
{
	struct where w = where_is(variant->family);
	int one = 1, fd = NEW(0);

	setsockopt(self->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	ASSERT_EQ(0, bind(self->fd, sa(&w), w.len));
	w = local_name(self->fd);
	ASSERT_EQ(0, bind(fd, sa(&w), w.len));
	ASSERT_EQ(0, listen_on(self->fd, variant->kind, 1));
	EXPECT_ERR(EADDRINUSE, listen(fd, 1));
	close(self->fd);
	EXPECT_EQ(0, listen_on(fd, variant->kind, 1));
	self->fd = NEW(0);
	ASSERT_EQ(0, CONNECT(self->fd, &w));
	self->srv = accept(fd, NULL, NULL);
	EXPECT_TRUE(byte_goes(self->fd, self->srv));
	close(fd);
}

TEST_F(conn, ephemeral_ports)
{
	unsigned int lo = 40000, hi = 40009, range = lo | hi << 16;
	struct where w = where_is(variant->family);
	int fd = NEW(0), one = 1;

	/* listen() without bind() chooses one */
	ASSERT_EQ(0, listen_on(fd, variant->kind, 1));
	EXPECT_NE(0, local_port(fd));
	close(fd);
	/* from a range of the program's own */
	fd = NEW(0);
	ASSERT_EQ(0, setsockopt(fd, IPPROTO_IP, IP_LOCAL_PORT_RANGE, &range,
				sizeof(range)));
	ASSERT_EQ(0, bind(fd, sa(&w), w.len));
	EXPECT_LE(lo, local_port(fd));
	EXPECT_GE(hi, local_port(fd));
	close(fd);
	/* an address and no port before connect() */
	ASSERT_EQ(0, setsockopt(self->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT,
				&one, sizeof(one)));
	ASSERT_EQ(0, bind(self->fd, sa(&w), w.len));
	EXPECT_EQ(0, local_port(self->fd));
	PAIR();
	EXPECT_NE(0, local_port(self->fd));
}

TEST_F(conn, names_after_shutdown)
{
	struct where w = { .len = sizeof(w.ss) };
	int port;
	char c;

	PAIR();
	port = local_port(self->fd);
	EXPECT_EQ(0, shutdown(self->fd, SHUT_WR));
	EXPECT_EQ(0, getpeername(self->fd, sa(&w), &w.len));
	EXPECT_EQ(port_of(&self->at), port_of(&w));
	EXPECT_EQ(0, recv(self->srv, &c, 1, 0));
	w.len = sizeof(w.ss);
	EXPECT_EQ(0, getpeername(self->srv, sa(&w), &w.len));
	EXPECT_EQ(port, port_of(&w));
	EXPECT_EQ(0, shutdown(self->srv, SHUT_WR));
	EXPECT_EQ(0, recv(self->fd, &c, 1, 0));
	/* over for both: the last to close is closed */
	EXPECT_EQ(POLLHUP, POLLHUP & poll_for(self->srv, 0, WAIT_MS));
	EXPECT_EQ(POLLHUP, POLLHUP & poll_for(self->fd, 0, WAIT_MS));
	w.len = sizeof(w.ss);
	EXPECT_ERR(ENOTCONN, getpeername(self->fd, sa(&w), &w.len));
	EXPECT_EQ(port, local_port(self->fd));
	EXPECT_ERR(ENOTCONN, shutdown(self->fd, SHUT_RDWR));
}

TEST_F(conn, names_after_shut_rd)
{
	struct where w = { .len = sizeof(w.ss) };

	PAIR();
	EXPECT_EQ(0, shutdown(self->fd, SHUT_RD));
	EXPECT_EQ(0, getpeername(self->fd, sa(&w), &w.len));
	EXPECT_EQ(0, shutdown(self->fd, SHUT_RDWR));
	w.len = sizeof(w.ss);
	EXPECT_EQ(0, getpeername(self->fd, sa(&w), &w.len));
	EXPECT_EQ(port_of(&self->at), port_of(&w));
}

/* -- devices -- */

static void set_port(struct where *w, int port)
{
	((struct sockaddr_in *)&w->ss)->sin_port = htons(port);
}

static bool run(const char *cmd)
{
	char line[512];

	snprintf(line, sizeof(line), "{ %s; } >/dev/null 2>&1", cmd);
	return !system(line);
}

TEST_F(conn, bind_to_device)
{
	struct where w = where_is(variant->family), any = {};
	/* for TCP that is where the address is, whatever way packets take */
	const char *dev = !becomes(variant->kind, "smcr") ? "lo" :
			  getenv("NETIF") ?: "eth0";
	socklen_t len = sizeof(char[16]);
	struct used then;
	char name[16] = "";
	int l, fd;

	/* an RDMA port is in the first namespace only */
	if (!becomes(variant->kind, "smcr")) {
		if (unshare_net() || !run("ip link set lo up"))
			SKIP(return, "no namespace");
		w.len = parse_addr(variant->family == AF_INET6 ? "::1" :
				   "127.0.0.1", "0", &w.ss);
	}
	if (!run("ip link add smcdum type dummy; ip link set smcdum up"))
		SKIP(return, "no dummy device");
	l = NEW(0);
	EXPECT_ERR(ENODEV, setsockopt(l, SOL_SOCKET, SO_BINDTODEVICE, "nodev",
				      6));
	ASSERT_EQ(0, setsockopt(l, SOL_SOCKET, SO_BINDTODEVICE, dev,
				strlen(dev) + 1));
	ASSERT_EQ(0, getsockopt(l, SOL_SOCKET, SO_BINDTODEVICE, name, &len));
	EXPECT_STREQ(dev, name);
	ASSERT_EQ(0, bind(l, sa(&w), w.len));
	ASSERT_EQ(0, listen_on(l, variant->kind, 4));
	w = local_name(l);
	/* another device, another socket for the same port */
	fd = NEW(0);
	EXPECT_EQ(0, setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "smcdum", 7));
	any.len = parse_addr(variant->family == AF_INET6 ? "::" : "0.0.0.0",
			     "0", &any.ss);
	set_port(&any, port_of(&w));
	EXPECT_EQ(0, bind(fd, sa(&any), any.len));
	close(fd);
	fd = NEW(0);
	EXPECT_ERR(EADDRINUSE, bind(fd, sa(&any), any.len));
	then = smc_used();
	ASSERT_EQ(0, CONNECT(fd, &w));
	self->srv = accept(l, NULL, NULL);
	EXPECT_TRUE(byte_goes(fd, self->srv));
	EXPECT_TRUE(became(variant->kind, then, false));
	len = sizeof(name);
	EXPECT_EQ(0, getsockopt(self->srv, SOL_SOCKET, SO_BINDTODEVICE, name,
				&len));
	EXPECT_STREQ(dev, name);
	close(fd);
	/* where the device does not lead; IPv6's loopback does not mind */
	if (variant->family == AF_INET6)
		goto out;
	fd = NEW(SOCK_NONBLOCK);
	ASSERT_EQ(0, setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "smcdum", 7));
	EXPECT_NE(0, CONNECT(fd, &w));
	EXPECT_EQ(0, POLLOUT & ~POLLERR & poll_for(fd, POLLOUT, IDLE_MS) &&
		     !so_error(fd));
	close(fd);
out:
	EXPECT_TRUE(run("ip link del smcdum"));
	close(l);
}

TEST_F(conn, vrf)
{
	const char *host = variant->family == AF_INET6 ? "fd77::1" :
							 "10.77.0.1";
	struct where w = {}, any = {};
	struct used then;
	int l, out, fd;

	if (unshare_net() ||
	    !run("ip link set lo up && "
		 "ip link add red type vrf table 77 && ip link set red up && "
		 "ip addr add 10.77.0.1/32 dev red && "
		 "ip addr add fd77::1/128 dev red nodad"))
		SKIP(return, "no VRF");
	w.len = parse_addr(host, "0", &w.ss);
	any.len = parse_addr(variant->family == AF_INET6 ? "::" : "0.0.0.0",
			     "0", &any.ss);
	l = NEW(0);
	ASSERT_EQ(0, setsockopt(l, SOL_SOCKET, SO_BINDTODEVICE, "red", 4));
	ASSERT_EQ(0, bind(l, sa(&w), w.len));
	ASSERT_EQ(0, listen_on(l, variant->kind, 4));
	w = local_name(l);
	/* the same port outside is another one's */
	set_port(&any, port_of(&w));
	out = NEW(0);
	EXPECT_EQ(0, bind(out, sa(&any), any.len));
	EXPECT_EQ(0, listen_on(out, variant->kind, 4));
	fd = NEW(0);
	ASSERT_EQ(0, setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "red", 4));
	then = smc_used();
	ASSERT_EQ(0, CONNECT(fd, &w));
	EXPECT_EQ(POLLIN, poll_for(l, POLLIN, WAIT_MS));
	EXPECT_EQ(0, poll_for(out, POLLIN, 0));
	self->srv = accept(l, NULL, NULL);
	EXPECT_TRUE(byte_goes(fd, self->srv));
	EXPECT_TRUE(byte_goes(self->srv, fd));
	EXPECT_TRUE(became(variant->kind, then,
			   becomes(variant->kind, "smcr")));
	close(fd);
	close(out);
	close(l);
}

/* -- IPv6 and mapped addresses -- */

FIXTURE(dual) {
	int listener, fd, srv;
	struct where w6, w4, mapped;
};

FIXTURE_VARIANT(dual) {
	enum kind kind;
};

FIXTURE_VARIANT_ADD(dual, tcp) { KIND_TCP };
FIXTURE_VARIANT_ADD(dual, ipproto) { KIND_IPPROTO };
FIXTURE_VARIANT_ADD(dual, afsmc) { KIND_AFSMC };

FIXTURE_SETUP(dual)
{
	char host[64];

	self->listener = open_socket(variant->kind, AF_INET6, 0);
	self->fd = self->srv = -1;
	self->w6.len = parse_addr("::", "0", &self->w6.ss);
	self->w4.len = parse_addr(host_of(AF_INET), "0", &self->w4.ss);
	snprintf(host, sizeof(host), "::ffff:%s", host_of(AF_INET));
	self->mapped.len = parse_addr(host, "0", &self->mapped.ss);
}

FIXTURE_TEARDOWN(dual)
{
	close(self->fd);
	close(self->srv);
	close(self->listener);
}

TEST_F(dual, both_families)
{
	struct where w = { .len = sizeof(w.ss) };
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&w.ss;
	struct used then = smc_used();

	ASSERT_EQ(0, set_int(self->listener, IPPROTO_IPV6, IPV6_V6ONLY, 0));
	ASSERT_EQ(0, bind(self->listener, sa(&self->w6), self->w6.len));
	ASSERT_EQ(0, listen_on(self->listener, variant->kind, 4));
	set_port(&self->w4, local_port(self->listener));
	self->fd = open_socket(variant->kind, AF_INET, 0);
	ASSERT_EQ(0, CONNECT(self->fd, &self->w4));
	self->srv = accept(self->listener, sa(&w), &w.len);
	ASSERT_LE(0, self->srv);
	EXPECT_TRUE(became(variant->kind, then, false));
	EXPECT_EQ(AF_INET6, w.ss.ss_family);
	EXPECT_TRUE(IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr));
	w = local_name(self->srv);
	EXPECT_TRUE(IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr));
	EXPECT_TRUE(byte_goes(self->fd, self->srv));
}

TEST_F(dual, six_only)
{
	ASSERT_EQ(0, set_int(self->listener, IPPROTO_IPV6, IPV6_V6ONLY, 1));
	ASSERT_EQ(0, bind(self->listener, sa(&self->w6), self->w6.len));
	ASSERT_EQ(0, listen_on(self->listener, variant->kind, 4));
	EXPECT_ERR(EINVAL, set_int(self->listener, IPPROTO_IPV6, IPV6_V6ONLY,
				   0));
	set_port(&self->w4, local_port(self->listener));
	self->fd = open_socket(variant->kind, AF_INET, 0);
	EXPECT_ERR(ECONNREFUSED, CONNECT(self->fd, &self->w4));
	close(self->fd);
	/* a client that does not want IPv4 */
	set_port(&self->mapped, local_port(self->listener));
	self->fd = open_socket(variant->kind, AF_INET6, 0);
	ASSERT_EQ(0, set_int(self->fd, IPPROTO_IPV6, IPV6_V6ONLY, 1));
	EXPECT_ERR(ENETUNREACH, CONNECT(self->fd, &self->mapped));
}

TEST_F(dual, mapped_client)
{
	struct where w = { .len = sizeof(w.ss) };
	struct used then = smc_used();
	int family = -1;
	socklen_t len = sizeof(family);

	close(self->listener);
	self->listener = listen_any(variant->kind, AF_INET, 4, &self->w4);
	set_port(&self->mapped, port_of(&self->w4));
	self->fd = open_socket(variant->kind, AF_INET6, 0);
	ASSERT_EQ(0, CONNECT(self->fd, &self->mapped));
	EXPECT_TRUE(became(variant->kind, then, false));
	self->srv = accept(self->listener, sa(&w), &w.len);
	ASSERT_LE(0, self->srv);
	EXPECT_EQ(AF_INET, w.ss.ss_family);
	w.len = sizeof(w.ss);
	ASSERT_EQ(0, getpeername(self->fd, sa(&w), &w.len));
	EXPECT_EQ(0, memcmp(&w.ss, &self->mapped.ss, self->mapped.len));
	EXPECT_TRUE(byte_goes(self->fd, self->srv));
	/* and turned into an IPv4 socket for good; deviation: not with SMC */
	family = AF_INET;
	if (uses_smc(variant->kind)) {
		EXPECT_ERR(EBUSY, setsockopt(self->fd, IPPROTO_IPV6,
					     IPV6_ADDRFORM, &family, len));
	} else {
		EXPECT_EQ(0, setsockopt(self->fd, IPPROTO_IPV6, IPV6_ADDRFORM,
					&family, len));
		w = local_name(self->fd);
		EXPECT_EQ(AF_INET, w.ss.ss_family);
	}
	EXPECT_TRUE(byte_goes(self->fd, self->srv));
	EXPECT_TRUE(byte_goes(self->srv, self->fd));
}

/* One socket for both; not back again, which TCP does not do either. */
TEST_F(dual, one_after_the_other)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct where w6 = where_is(AF_INET6);

	ASSERT_EQ(0, bind(self->listener, sa(&self->w6), self->w6.len));
	ASSERT_EQ(0, listen_on(self->listener, variant->kind, 4));
	set_port(&w6, local_port(self->listener));
	set_port(&self->mapped, local_port(self->listener));
	self->fd = open_socket(variant->kind, AF_INET6, 0);
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, CONNECT(self->fd, i ? &self->mapped : &w6));
		self->srv = accept(self->listener, NULL, NULL);
		ASSERT_LE(0, self->srv);
		EXPECT_TRUE(byte_goes(self->fd, self->srv));
		ASSERT_EQ(0, connect(self->fd, &none, sizeof(none)));
		so_error(self->fd);
		close(self->srv);
	}
	self->srv = -1;
}

TEST_HARNESS_MAIN
