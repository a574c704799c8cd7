// SPDX-License-Identifier: GPL-2.0
/*
 * sockplain - what was a socket of ours and becomes TCP's, and the way back
 *
 * Nothing of ours may stay in a socket that is TCP's, whatever the program makes
 * of it; and a socket that has been a server's can be a client.
 */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <linux/kcm.h>
#include <linux/sockios.h>

#include "lib/cgroup.h"
#include "lib/connfixture.h"
#include "lib/task.h"
#include "lib/wait.h"

/* selftests/vm/planted/pauses.c, if it is loaded */
#define PAUSES_AT	"/sys/module/pauses/parameters/at"

#define SOL_SMC		286
#define SMC_PLAIN_TCP	256	/* include/uapi/linux/smc.h */

static int disconnect(int fd)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	return connect(fd, &none, sizeof(none));
}

/* References of the module, -1 if it is not loaded. */
static long references(void)
{
	char line[32];

	first_line("/sys/module/smc/refcnt", line, sizeof(line));
	return line[0] ? atol(line) : -1;
}

/* The same, once those of sockets that other cases have closed are gone. */
static long references_settled(void)
{
	long n, now = references();

	do {
		n = now;
		usleep(limit_ms(500) * 1000);
		now = references();
	} while (now != n);
	return n;
}

/* Children of a listener that once was ours are none of ours. */
TEST_F(conn, past_listener)
{
	struct where at = where_is(variant->family);
	struct conn p;
	int fd, i;
	long before;

	PAIR();
	close(self->srv);
	fd = NEW(0);
	if (variant->kind != KIND_TCP)
		ASSERT_EQ(0, set_int(fd, SOL_SMC, SMC_PLAIN_TCP, 1));
	ASSERT_EQ(0, CONNECT(fd, &self->at));
	close(accept(self->listener, NULL, NULL));
	ASSERT_EQ(0, disconnect(fd));
	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	ASSERT_EQ(0, bind(fd, sa(&at), at.len));
	ASSERT_EQ(0, listen(fd, 8));
	at = local_name(fd);
	before = references_settled();
	for (i = 0; i < 40; i++) {
		p.c = open_socket(KIND_TCP, variant->family, 0);
		ASSERT_EQ(0, CONNECT(p.c, &at));
		p.s = accept(fd, NULL, NULL);
		ASSERT_LE(0, p.s);
		ASSERT_TRUE(byte_goes(p.c, p.s));
		close(p.c);
		close(p.s);
	}
	/* one for each would be 40 */
	if (before >= 0)
		EXPECT_GT(20, labs(before - references()));
	close(fd);
}

static void *accept_paused(void *arg)
{
	prctl(PR_SET_NAME, "pauses");
	return (void *)(intptr_t)accept(*(int *)arg, NULL, NULL);
}

/*
 * Does the kernel read what the peer sends?  TCP's operations have read_sock()
 * for that, ours do not.  True where there is no multiplexer to tell.
 */
static bool kernel_reads(int fd, int peer)
{
	int kcm = socket(AF_KCM, SOCK_DGRAM, KCMPROTO_CONNECTED), left = 1;
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;
	struct kcm_unattach without = { .fd = fd };
	struct kcm_attach with = { .fd = fd };

	if (kcm < 0)
		return errno == EAFNOSUPPORT;
	with.bpf_fd = bpf_filter();
	if (send(peer, "k", 1, 0) == 1 && poll_for(fd, POLLIN, WAIT_MS) &&
	    !ioctl(kcm, SIOCKCMATTACH, &with)) {
		while (!ioctl(fd, SIOCINQ, &left) && left && now_ns() < end)
			usleep(1000);
		ioctl(kcm, SIOCKCMUNATTACH, &without);
	}
	close(with.bpf_fd);
	close(kcm);
	return !left;
}

/* accept() that began when the listener was ours, where that can be had */
TEST_F(conn, accept_of_what_was_ours)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	bool pauses = variant->kind != KIND_TCP &&
		      !put_text(PAUSES_AT, "accept");
	struct where at = where_is(variant->family);
	int fd = NEW(0), c, s;
	struct task t;

	if (pauses) {
		task_start(&t, accept_paused, &fd);
		EXPECT_TRUE(task_sleeps(&t));
	}
	EXPECT_ERR(EOPNOTSUPP, sendto(fd, "x", 1, MSG_FASTOPEN, &none,
				      sizeof(none)));
	EXPECT_EQ(0, bind(fd, sa(&at), at.len));
	EXPECT_EQ(0, listen(fd, 8));
	at = local_name(fd);
	if (!pauses)
		task_start(&t, accept_paused, &fd);
	c = open_socket(KIND_TCP, variant->family, 0);
	EXPECT_EQ(0, CONNECT(c, &at));
	put_text(PAUSES_AT, "go");
	s = (intptr_t)task_join(&t);
	ASSERT_LE(0, s);
	EXPECT_TRUE(byte_goes(c, s));
	EXPECT_TRUE(byte_goes(s, c));
	EXPECT_TRUE(kernel_reads(s, c));
	close(s);
	close(c);
	close(fd);
}

/* TCP_ZEROCOPY_RECEIVE: a program maps the socket, and then has to read. */
TEST_F(conn, mapped)
{
	struct tcp_zerocopy_receive zc = { .length = getpagesize() };
	socklen_t len = sizeof(zc);
	char c = 0;
	void *p;

	PAIR();
	p = mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, p);
	zc.address = (uintptr_t)p;
	ASSERT_EQ(1, send(self->srv, "z", 1, 0));
	EXPECT_EQ(POLLIN, poll_for(self->fd, POLLIN, WAIT_MS));
	/* deviation: refused with SMC */
	if (uses_smc(variant->kind)) {
		EXPECT_ERR(EINVAL, getsockopt(self->fd, IPPROTO_TCP,
					      TCP_ZEROCOPY_RECEIVE, &zc, &len));
	} else {
		EXPECT_EQ(0, getsockopt(self->fd, IPPROTO_TCP,
					TCP_ZEROCOPY_RECEIVE, &zc, &len));
		EXPECT_EQ(1, zc.recv_skip_hint);
	}
	EXPECT_EQ(1, recv(self->fd, &c, 1, MSG_DONTWAIT));
	EXPECT_EQ('z', c);
	EXPECT_EQ(0, munmap(p, getpagesize()));
}

/* A server's socket that connects: its outcome is told to connect() and poll(). */
TEST_F(conn, accepted_connects)
{
	struct where at;
	int l = listen_any(variant->kind, variant->family, 8, &at), s;

	PAIR();
	ASSERT_EQ(0, disconnect(self->srv));
	ASSERT_EQ(0, CONNECT(self->srv, &at));
	s = accept(l, NULL, NULL);
	ASSERT_LE(0, s);
	EXPECT_TRUE(byte_goes(self->srv, s));
	EXPECT_TRUE(byte_goes(s, self->srv));
	close(s);
	ASSERT_EQ(0, disconnect(self->srv));
	so_error(self->srv);
	set_nonblock(self->srv);
	EXPECT_ERR(EINPROGRESS, CONNECT(self->srv, &at));
	EXPECT_EQ(POLLOUT, poll_for(self->srv, POLLOUT, WAIT_MS));
	s = accept(l, NULL, NULL);
	ASSERT_LE(0, s);
	EXPECT_TRUE(byte_goes(s, self->srv));
	close(s);
	close(l);
}

struct asking {
	int fd;
	int stop;
};

static void *ask(void *arg)
{
	struct asking *a = arg;
	socklen_t len;
	char name[16];

	while (!__atomic_load_n(&a->stop, __ATOMIC_RELAXED)) {
		len = sizeof(name);
		getsockopt(__atomic_load_n(&a->fd, __ATOMIC_RELAXED),
			   IPPROTO_TCP, TCP_ULP, name, &len);
	}
	return NULL;
}

/* The upper layer is asked for while it goes. */
TEST_F_TIMEOUT(conn, ulp_while_connecting, 300)
{
	struct asking a = { .fd = self->fd };
	struct task asker;
	int i, fd, s;

	task_start(&asker, ask, &a);
	for (i = 0; i < repeats(200); i++) {
		fd = NEW(0);
		__atomic_store_n(&a.fd, fd, __ATOMIC_RELAXED);
		ASSERT_EQ(0, CONNECT(fd, &self->at));
		s = accept(self->listener, NULL, NULL);
		ASSERT_LE(0, s);
		close(s);
		close(fd);
	}
	a.stop = 1;
	task_join(&asker);
}

/* kTLS takes the place that ours had. */
TEST_F(conn, tls_after_fallback)
{
	int rc;

	if (uses_smc(variant->kind))
		SKIP(return, "for plain TCP");
	PAIR();
	rc = setsockopt(self->fd, IPPROTO_TCP, TCP_ULP, "tls", 3);
	EXPECT_TRUE(!rc || errno == ENOENT);	/* a kernel without it */
	EXPECT_TRUE(byte_goes(self->fd, self->srv));
}

/*
 * A kernel connection multiplexer puts back the callbacks that a socket had: it
 * gets one that is TCP's, and none that has ours.
 */
TEST_F(conn, multiplexed)
{
	int kcm = socket(AF_KCM, SOCK_DGRAM, KCMPROTO_CONNECTED);
	struct kcm_attach with = {};
	struct kcm_unattach without = {};

	if (kcm < 0 && errno == EAFNOSUPPORT)
		SKIP(return, "what is not in this kernel");
	ASSERT_LE(0, kcm);
	PAIR();
	with.fd = self->fd;
	without.fd = self->fd;
	with.bpf_fd = bpf_filter();
	ASSERT_LE(0, with.bpf_fd);
	if (uses_smc(variant->kind)) {
		EXPECT_ERR(EALREADY, ioctl(kcm, SIOCKCMATTACH, &with));
	} else {
		EXPECT_EQ(0, ioctl(kcm, SIOCKCMATTACH, &with));
		EXPECT_EQ(0, ioctl(kcm, SIOCKCMUNATTACH, &without));
	}
	EXPECT_TRUE(byte_goes(self->fd, self->srv));
	EXPECT_TRUE(byte_goes(self->srv, self->fd));
	close(with.bpf_fd);
	close(kcm);
}

TEST_HARNESS_MAIN
