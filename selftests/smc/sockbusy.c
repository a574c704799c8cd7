// SPDX-License-Identifier: GPL-2.0
/*
 * sockbusy - calls at the moment when a handshake ends
 *
 * A socket that connects becomes an SMC or TCP connection beside whatever the
 * program does with it: each call sees it before or after, never in between.
 * Each test runs on plain TCP first, as in sockconn.c.
 */
#include <pthread.h>

#include "lib/connfixture.h"
#include "lib/task.h"

enum busy { BUSY_SEND, BUSY_RECV, BUSY_POLL, BUSY_CONNECT, BUSY_LISTEN };

#define BUSY_ROUNDS repeats(60)	/* the moment is short: some calls have to hit it */

/* One more call on a socket that connects.  1: connected, -1: TCP differs. */
static int busy_call(int fd, struct where *at, enum busy what)
{
	struct pollfd p = {
		.fd = fd, .events = POLLIN | POLLOUT | POLLRDHUP,
	};
	char c = 'a';
	int rc;

	switch (what) {
	case BUSY_SEND:
		rc = send(fd, &c, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		return rc == 1 ? 1 : errno == EAGAIN ? 0 : -1;
	case BUSY_CONNECT:
		rc = CONNECT(fd, at);
		return !rc ? 1 : errno == EALREADY ? 0 : -1;
	case BUSY_RECV:
		if (recv(fd, &c, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN)
			return -1;
		break;
	case BUSY_LISTEN:
		if (!listen(fd, 1) || errno != EINVAL)
			return -1;
		break;
	case BUSY_POLL:
		break;
	}
	if (poll(&p, 1, 0) < 0 || p.revents & ~POLLOUT)
		return -1;
	return p.revents ? 1 : 0;
}

/* The other end of the connection of @fd, others are closed; -1: none. */
static int accept_of(int listener, int fd)
{
	int s, port = local_port(fd);
	struct where w;

	while (poll_for(listener, POLLIN, WAIT_MS) & POLLIN) {
		w.len = sizeof(w.ss);
		s = accept(listener, sa(&w), &w.len);
		if (s < 0 || port_of(&w) == port)
			return s;
		close(s);
	}
	return -1;
}

static bool busy_round(int listener, struct where *at, enum kind how,
		       enum busy what)
{
	int fd = open_socket(how, at->ss.ss_family, SOCK_NONBLOCK), s, rc;
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;
	bool ok;
	char c;

	if (!CONNECT(fd, at) || errno != EINPROGRESS)
		return false;
	do {
		rc = busy_call(fd, at, what);
	} while (!rc && now_ns() < end);
	if (rc != 1)
		printf("# call %d: %d %s\n", what, rc, strerror(errno));
	s = accept_of(listener, fd);
	ok = rc == 1 && s >= 0;
	if (ok && what == BUSY_SEND)
		ok = recv(s, &c, 1, 0) == 1;
	ok = ok && byte_goes(fd, s) && byte_goes(s, fd);
	close(fd);
	close(s);
	return ok;
}

TEST_F_TIMEOUT(conn, busy_while_connecting, 600)
{
	struct where at;
	int i, listener = listen_any(variant->kind, variant->family, 64, &at);

	for (i = 0; i < 5 * BUSY_ROUNDS; i++) {
		ASSERT_TRUE(busy_round(listener, &at, variant->kind, i % 5)) {
			TH_LOG("call %d, round %d", i % 5, i / 5);
		}
	}
	close(listener);
}

/* Spins, up to twice what a handshake takes at least: each round elsewhere. */
static void spin(int round, uint64_t took_ns)
{
	uint64_t end = now_ns() + took_ns * (round % 23) / 11;

	while (now_ns() < end)
		;
}

/* the shortest of ten: one that was kept waiting is no measure */
static uint64_t time_of_connect(enum kind how, struct where *at)
{
	uint64_t start, took, least = UINT64_MAX;
	int i, fd;

	for (i = 0; i < 10; i++) {
		fd = open_socket(how, at->ss.ss_family, 0);
		start = now_ns();
		if (CONNECT(fd, at))
			die("connect");
		took = now_ns() - start;
		close(fd);
		least = took < least ? took : least;
	}
	return least;
}

/* It hits the handshake or what has become of it: nothing in between. */
TEST_F_TIMEOUT(conn, shutdown_while_connecting, 600)
{
	struct where at, peer;
	int i, fd, s, listener = listen_any(variant->kind, variant->family,
					    64, &at);
	uint64_t took = time_of_connect(variant->kind, &at);
	char c;

	for (i = 0; i < 3 * BUSY_ROUNDS; i++) {
		fd = NEW(SOCK_NONBLOCK);
		EXPECT_ERR(EINPROGRESS, CONNECT(fd, &at));
		spin(i, took);
		ASSERT_EQ(0, shutdown(fd, SHUT_WR));
		peer.len = sizeof(peer.ss);
		/* a connect() that it ended leaves an error, once */
		if (getpeername(fd, sa(&peer), &peer.len))
			ASSERT_ERR(ECONNRESET, send(fd, "a", 1, MSG_NOSIGNAL));
		ASSERT_ERR(EPIPE, send(fd, "a", 1, MSG_NOSIGNAL));
		if (!getpeername(fd, sa(&peer), &peer.len)) {
			s = accept_of(listener, fd);
			ASSERT_LE(0, s);
			ASSERT_EQ(0, recv(s, &c, 1, 0));
			ASSERT_TRUE(byte_goes(s, fd));
			close(s);
		}
		close(fd);
	}
	close(listener);
}

TEST_F_TIMEOUT(conn, unspec_as_it_connects, 600)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct where at;
	int i, fd, s, listener = listen_any(variant->kind, variant->family,
					    64, &at);
	uint64_t took = time_of_connect(variant->kind, &at);

	for (i = 0; i < 3 * BUSY_ROUNDS; i++) {
		fd = NEW(SOCK_NONBLOCK);
		EXPECT_ERR(EINPROGRESS, CONNECT(fd, &at));
		spin(i, took);
		ASSERT_EQ(0, connect(fd, &none, sizeof(none)));
		so_error(fd);
		EXPECT_ERR(EINPROGRESS, CONNECT(fd, &at));
		ASSERT_EQ(POLLOUT, poll_for(fd, POLLOUT, WAIT_MS));
		s = accept_of(listener, fd);
		ASSERT_LE(0, s);
		ASSERT_TRUE(byte_goes(fd, s));
		ASSERT_TRUE(byte_goes(s, fd));
		close(s);
		close(fd);
	}
	close(listener);
}

/* Calls of recv() on a socket from a second thread. */
struct receiver {
	int fd;
	bool stop;
	unsigned int calls;
	bool got_end;
};

static void *receive(void *arg)
{
	struct receiver *r = arg;
	char c;

	while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
		if (recv(r->fd, &c, 1, MSG_DONTWAIT) >= 0)
			r->got_end = true;
		__atomic_add_fetch(&r->calls, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/*
 * What a socket gives back as it becomes TCP's is the next one's at once: a call
 * on the first one must not be answered for the other, which is shut down.
 */
TEST_F_TIMEOUT(conn, another_is_made_as_it_connects, 600)
{
	struct where at;
	int i, s, other, listener = listen_any(variant->kind, variant->family,
					       64, &at);
	unsigned int calls;
	pthread_t thread;

	for (i = 0; i < BUSY_ROUNDS; i++) {
		struct receiver r = { .fd = NEW(0) };

		ASSERT_EQ(0, pthread_create(&thread, NULL, receive, &r));
		ASSERT_EQ(0, CONNECT(r.fd, &at));
		other = NEW(0);
		shutdown(other, SHUT_RDWR);
		/* the call that was under way has ended, and one more */
		calls = __atomic_load_n(&r.calls, __ATOMIC_ACQUIRE);
		while (__atomic_load_n(&r.calls, __ATOMIC_ACQUIRE) < calls + 2)
			sched_yield();
		__atomic_store_n(&r.stop, true, __ATOMIC_RELEASE);
		ASSERT_EQ(0, pthread_join(thread, NULL));
		ASSERT_FALSE(r.got_end);
		s = accept_of(listener, r.fd);
		ASSERT_LE(0, s);
		close(s);
		close(other);
		close(r.fd);
	}
	close(listener);
}

/* -- a call that waits for the handshake, and then goes on waiting -- */

#define QUEUE	9	/* connections that fill the listener's queue */
#define TIMEO_S	2	/* a SYN that is not taken comes again in a second */

struct limited {
	int fd, option;		/* SO_RCVTIMEO: it reads, else it writes */
	ssize_t num;
	double took;
};

/* Reads what never comes, or writes more than all buffers hold. */
static void *limited_call(void *arg)
{
	static char block[1 << 24], c;
	struct timeval tv = { TIMEO_S, 0 };
	struct limited *l = arg;
	uint64_t start;

	if (setsockopt(l->fd, SOL_SOCKET, l->option, &tv, sizeof(tv)))
		die("a time limit");
	start = now_ns();
	if (l->option == SO_RCVTIMEO)
		l->num = recv(l->fd, &c, 1, 0);
	else
		l->num = send(l->fd, block, sizeof(block), MSG_NOSIGNAL);
	l->took = seconds_since(start);
	return NULL;
}

/*
 * The listener's queue is full for the first SYN, so that the handshake takes
 * half of the time.  Plain TCP, connected already, has the whole of it to wait.
 */
static void limited(struct __test_metadata *_metadata,
		    struct _test_data_conn *self, int option)
{
	struct limited ours = { .fd = self->fd, .option = option };
	struct limited tcp = { .option = option };
	struct task task[2];
	struct conn p;
	int fd[QUEUE];

	ASSERT_TRUE(conn_open(&p, KIND_TCP, self->at.ss.ss_family));
	tcp.fd = p.c;
	for (int i = 0; i < QUEUE; i++) {
		fd[i] = open_socket(KIND_TCP, self->at.ss.ss_family, 0);
		ASSERT_EQ(0, CONNECT(fd[i], &self->at));
	}
	set_nonblock(self->fd);
	EXPECT_ERR(EINPROGRESS, CONNECT(self->fd, &self->at));
	fcntl(self->fd, F_SETFL, fcntl(self->fd, F_GETFL) & ~O_NONBLOCK);
	task_start(&task[0], limited_call, &ours);
	task_start(&task[1], limited_call, &tcp);
	EXPECT_TRUE(task_sleeps(&task[0]));
	for (int i = 0; i < QUEUE; i++) {
		close(accept(self->listener, NULL, NULL));
		close(fd[i]);
	}
	task_join(&task[0]);
	task_join(&task[1]);
	EXPECT_GT(5 * tcp.took, 4 * ours.took) {
		TH_LOG("%.2f s, TCP: %.2f s", ours.took, tcp.took);
	}
	EXPECT_EQ(tcp.num < 0, ours.num < 0);
	self->srv = accept(self->listener, NULL, NULL);
	EXPECT_LE(0, self->srv);
	conn_close(&p);
}

TEST_F(conn, time_limit_of_recv)
{
	/* after fallback TCP begins anew: deviations.rst */
	if (becomes(variant->kind, "tcp"))
		return;
	limited(_metadata, self, SO_RCVTIMEO);
}

TEST_F(conn, time_limit_of_send)
{
	if (becomes(variant->kind, "tcp"))
		return;
	limited(_metadata, self, SO_SNDTIMEO);
}

TEST_HARNESS_MAIN
