// SPDX-License-Identifier: GPL-2.0
/*
 * sockclose - no accepted byte is lost or repeated, whatever ends the writer
 *
 * Faults in the middle of a call, at every place of the ring; half-closes,
 * SO_LINGER, resets; and close(), exit() and SIGKILL of many writers whose
 * readers sleep first.  Environment: SMC_ADDR (pairfixture.h), RUNS (connections of
 * each truncation test, repeats(200)), SOCKETS (of the process that is killed, 10000),
 * CLOSE_MS (its limit, 2000), ORPHAN_S (the value of net.smc.orphan_timeout_s),
 * NO_ORPHANS (1: net.smc.max_orphans is 0; 2: and what is written does not
 * fit into the peer's ring), SMC_WANT ("smcd": a writer writes into its peer's
 * ring); without these the tests of that are skipped.
 */
#include <linux/sockios.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "lib/bytes.h"
#include "lib/pairfixture.h"
#include "lib/sockcase.h"
#include "lib/task.h"
#include "lib/wait.h"

FIXTURE_VARIANT_ADD(pair, tcp) { KIND_TCP, "127.0.0.1", RING };
FIXTURE_VARIANT_ADD(pair, ipproto) { KIND_IPPROTO, "127.0.0.1", RING };

/* -- copy, then commit -- */

/* A page before one that faults; returns where the bad one begins. */
static unsigned char *bad_page(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned char *p;

	p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || mprotect(p + page, page, PROT_NONE))
		die("mmap");
	return p + page;
}

/*
 * Offers @good readable bytes and @bad ones behind them.  What was taken is
 * counted in *@pos, the rest is sent again as a program would.
 */
static bool send_faulty(int fd, unsigned char *edge, int good, int bad,
			uint64_t *pos)
{
	ssize_t n;

	fill_bytes(edge - good, good, *pos);
	n = send(fd, edge - good, good + bad, MSG_DONTWAIT);
	if (n < 0 && errno != EFAULT)
		return false;
	if (n > good)
		return false;
	if (n > 0)
		*pos += n;
	else
		n = 0;
	if (n < good && send(fd, edge - good + n, good - n, 0) != good - n)
		return false;
	*pos += good - n;
	return true;
}

TEST_F_TIMEOUT(pair, fault_in_send, 300)
{
	unsigned char *edge = bad_page();
	uint64_t sent = 0, start;
	int i;

	/* 7 divides no ring: the fault meets the wrap at every offset */
	for (i = 0; i < repeats(RING + RING / 4); i++) {
		start = sent;
		ASSERT_TRUE(send_faulty(self->client, edge, 7, 1 + i % 9,
					&sent));
		ASSERT_TRUE(read_just(self->server, sent - start, start)) {
			TH_LOG("after %llu bytes", (unsigned long long)start);
		}
	}
	/* larger pieces: two copies, either of which may stop */
	for (i = 0; i < repeats(300); i++) {
		start = sent;
		ASSERT_TRUE(send_faulty(self->server, edge, 1 + i * 613 % 4096,
					1 + i % 4000, &sent));
		ASSERT_TRUE(read_just(self->client, sent - start, start));
	}
}

/*
 * Reads into a buffer that ends after @good bytes; a fault that delivered
 * nothing has to leave all there.
 */
static bool recv_faulty(int fd, unsigned char *edge, int good, int bad,
			int flags, uint64_t *pos)
{
	ssize_t n;

	memset(edge - good, 0, good);
	n = recv(fd, edge - good, good + bad, MSG_DONTWAIT | flags);
	if (n < 0)
		return errno == EFAULT;
	if (n > good || first_wrong(edge - good, n, *pos) != n)
		return false;
	if (!(flags & MSG_PEEK))
		*pos += n;
	return true;
}

TEST_F_TIMEOUT(pair, fault_in_recv, 300)
{
	unsigned char *edge = bad_page(), buf[64];
	uint64_t sent = 0, got = 0;
	int i;

	for (i = 0; i < repeats(RING + RING / 4); i++) {
		fill_bytes(buf, 13, sent);
		ASSERT_EQ(13, send(self->client, buf, 13, 0));
		sent += 13;
		ASSERT_TRUE(wait_events(self->server, POLLIN));
		ASSERT_TRUE(recv_faulty(self->server, edge, 5, 8, MSG_PEEK,
					&got));
		ASSERT_TRUE(recv_faulty(self->server, edge, 1 + i % 12, 20, 0,
					&got));
		ASSERT_TRUE(read_just(self->server, sent - got, got)) {
			TH_LOG("after %llu bytes", (unsigned long long)got);
		}
		got = sent;
	}
}

/* A full ring, read with faults in between. */
TEST_F_TIMEOUT(pair, fault_in_recv_of_much, 300)
{
	unsigned char *edge = bad_page();
	uint64_t sent = 0, got = 0;
	int i, round;

	for (round = 0; round < repeats(5); round++) {
		sent += fill_from(self->client, sent);
		for (i = 0; got < sent; i++) {
			uint64_t before = got;
			size_t n = 1 + (i * 977) % 3000;

			ASSERT_TRUE(wait_events(self->server, POLLIN));
			ASSERT_TRUE(recv_faulty(self->server, edge,
						1 + (i * 613) % 4096, 4000, 0,
						&got));
			if (got > before)
				continue;
			n = sent - got < n ? sent - got : n;
			ASSERT_TRUE(read_just(self->server, n, got));
			got += n;
		}
	}
}

/* -- half-closes and the end of file -- */

static void half_close(struct __test_metadata *_metadata, int first, int second)
{
	size_t there = fill_from(first, 0), back;
	int err;

	ASSERT_EQ(0, shutdown(first, SHUT_WR));
	EXPECT_EQ(-1, send(first, "x", 1, MSG_NOSIGNAL));
	EXPECT_EQ(EPIPE, errno);
	EXPECT_EQ(there, read_to_end(second, 0, &err));
	EXPECT_EQ(0, err);
	/* the other direction carries more than one ring */
	back = fill_from(second, 0);
	EXPECT_LT(RING / 2, back);
	ASSERT_TRUE(read_just(first, back, 0));
	there = fill_from(second, back);
	ASSERT_EQ(0, shutdown(second, SHUT_WR));
	EXPECT_EQ(there, read_to_end(first, back, &err));
	EXPECT_EQ(0, err);
}

TEST_F(pair, half_close_client)
{
	half_close(_metadata, self->client, self->server);
}

TEST_F(pair, half_close_server)
{
	half_close(_metadata, self->server, self->client);
}

TEST_F(pair, both_shut_and_full)
{
	size_t a = fill_from(self->client, 0), b = fill_from(self->server, 0);
	int err;

	ASSERT_EQ(0, shutdown(self->client, SHUT_WR));
	ASSERT_EQ(0, shutdown(self->server, SHUT_WR));
	EXPECT_EQ(a, read_to_end(self->server, 0, &err));
	EXPECT_EQ(0, err);
	EXPECT_EQ(b, read_to_end(self->client, 0, &err));
	EXPECT_EQ(0, err);
}

/* It is over when the peer has all of it: with shared memory, at once. */
TEST_F(pair, shut_again_and_full)
{
	int want = becomes(variant->kind, "smcd") ? -1 : 0;

	fill_from(self->server, 0);
	ASSERT_EQ(0, shutdown(self->client, SHUT_WR));
	ASSERT_TRUE(wait_events(self->server, POLLRDHUP) & POLLRDHUP);
	EXPECT_EQ(0, shutdown(self->server, SHUT_RDWR));
	EXPECT_EQ(want, shutdown(self->server, SHUT_WR));
	EXPECT_EQ(want, shutdown(self->server, SHUT_RDWR));
}

static int connect_to(enum kind kind, const struct sockaddr_storage *addr,
		      socklen_t len, int flags)
{
	int fd = open_socket(kind, addr->ss_family, flags | SOCK_CLOEXEC);
	int size = RING;

	/* thousands of them have to fit into a small guest */
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (connect(fd, (const struct sockaddr *)addr, len) &&
	    errno != EINPROGRESS)
		die("connect");
	return fd;
}

TEST_F(pair, closed_before_accept)
{
	ssize_t sent = 0, got = 0, n;
	int i, fd, err;

	for (i = 0; i < 20; i++) {
		fd = connect_to(variant->kind, &self->addr, self->len, 0);
		sent += i % 2 ? fill_from(fd, 0) : 0;
		close(fd);
	}
	/* in the order in which their handshakes end */
	for (i = 0; i < 20; i++) {
		fd = accept(self->listener, NULL, NULL);
		ASSERT_LE(0, fd);
		n = read_to_end(fd, 0, &err);
		EXPECT_LE(0, n);
		EXPECT_EQ(0, err);
		got += n;
		close(fd);
	}
	EXPECT_EQ(sent, got);
}

/* -- resets -- */

static void close_end(int *fd)
{
	close(*fd);
	*fd = -1;
}

/* Whatever is read before it: the end is a reset, not an end of file. */
static void expect_reset(struct __test_metadata *_metadata, int fd,
			 ssize_t most)
{
	ssize_t n;
	int err;

	EXPECT_TRUE(wait_events(fd, POLLHUP) & POLLHUP);
	n = read_to_end(fd, 0, &err);
	EXPECT_LE(0, n);
	EXPECT_GE(most, n);
	EXPECT_EQ(ECONNRESET, err);
}

TEST_F(pair, unread_bytes_reset)
{
	size_t sent = fill_from(self->server, 0);

	ASSERT_EQ(1, send(self->client, "x", 1, 0));
	ASSERT_TRUE(wait_events(self->server, POLLIN));
	close_end(&self->server);
	expect_reset(_metadata, self->client, sent);
}

TEST_F(pair, linger_zero_resets_with_bytes_unsent)
{
	struct linger l = { 1, 0 };
	size_t sent = fill_from(self->server, 0);

	ASSERT_EQ(0, setsockopt(self->server, SOL_SOCKET, SO_LINGER, &l,
				sizeof(l)));
	close_end(&self->server);
	expect_reset(_metadata, self->client, sent);
}

TEST_F(pair, linger_zero_at_exit)
{
	struct linger l = { 1, 0 };
	pid_t pid;

	ASSERT_EQ(0, setsockopt(self->server, SOL_SOCKET, SO_LINGER, &l,
				sizeof(l)));
	pid = fork();
	if (!pid) {
		close(self->client);
		pause();
	}
	close_end(&self->server);
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	expect_reset(_metadata, self->client, 0);
}

/*
 * Bytes for a socket that has been closed: their writer must not wait for a
 * reader for ever.  The end of file may have come before that.
 */
static void write_to_nobody(struct __test_metadata *_metadata, int fd,
			    size_t sent)
{
	static char block[1 << 20];
	struct timeval tv = { WAIT_S, 0 };
	uint64_t start = now_ns();
	ssize_t n;
	int err;

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	/* much may fit before the answer comes */
	do {
		n = send(fd, block, sizeof(block), MSG_NOSIGNAL);
	} while (n > 0 && seconds_since(start) < WAIT_S);
	EXPECT_EQ(-1, n);
	EXPECT_TRUE(errno == ECONNRESET || errno == EPIPE) {
		TH_LOG("%s", strerror(errno));
	}
	EXPECT_GT(WAIT_S / 2, seconds_since(start));
	EXPECT_TRUE(wait_events(fd, POLLHUP) & POLLHUP);
	n = read_to_end(fd, 0, &err);
	EXPECT_LE(0, n);
	EXPECT_GE((ssize_t)sent, n);
}

TEST_F(pair, bytes_after_close)
{
	close_end(&self->server);
	write_to_nobody(_metadata, self->client, 0);
}

TEST_F(pair, bytes_after_close_with_bytes_unsent)
{
	size_t sent = fill_from(self->server, 0);

	close_end(&self->server);
	write_to_nobody(_metadata, self->client, sent);
}

TEST_F(pair, bytes_after_shutdown_with_bytes_unsent)
{
	size_t sent = fill_from(self->server, 0);

	ASSERT_EQ(0, shutdown(self->server, SHUT_RDWR));
	write_to_nobody(_metadata, self->client, sent);
}

/* An answer that crosses the end resets, it does not end cleanly. */
TEST_F(pair, byte_after_close_with_bytes_unsent)
{
	size_t sent = fill_from(self->server, 0);
	int unsent = 0;

	ioctl(self->server, SIOCOUTQNSD, &unsent);
	close_end(&self->server);
	ASSERT_EQ(1, send(self->client, "x", 1, 0));
	EXPECT_TRUE(wait_events(self->client, POLLHUP) & POLLHUP);
	if (unsent)
		expect_reset(_metadata, self->client, sent);
}

TEST_F(pair, close_wakes_reader_and_writer)
{
	int i, status;
	pid_t pid[2];
	char c;

	for (i = 0; i < 2; i++) {
		pid[i] = fork();
		ASSERT_LE(0, pid[i]);
		if (pid[i])
			continue;
		close(self->server);
		if (!i)
			_exit(recv(self->client, &c, 1, 0) ? 1 : 0);
		while (send(self->client, "0123456789", 10, MSG_NOSIGNAL) > 0)
			;
		_exit(errno == ECONNRESET || errno == EPIPE ? 0 : 2);
	}
	ASSERT_TRUE(process_sleeps(pid[0]) && process_sleeps(pid[1]));
	ASSERT_EQ(0, shutdown(self->server, SHUT_WR));
	ASSERT_EQ(pid[0], waitpid(pid[0], &status, 0));
	EXPECT_EQ(0, status);
	close_end(&self->server);
	ASSERT_EQ(pid[1], waitpid(pid[1], &status, 0));
	EXPECT_EQ(0, status);
}

/* -- SO_LINGER with a time -- */

static double timed_close(int *fd, int linger_s)
{
	struct linger l = { 1, linger_s };
	uint64_t start;

	if (setsockopt(*fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)))
		die("SO_LINGER");
	start = now_ns();
	close_end(fd);
	return seconds_since(start);
}

TEST_F(pair, linger_waits_for_the_reader)
{
	int *closed = shared_memory(2 * sizeof(*closed)), outq = 0, err;
	int *closing = closed + 1;
	double took;
	size_t sent;
	pid_t pid;

	sent = fill_from(self->server, 0);
	ioctl(self->server, SIOCOUTQ, &outq);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		close(self->server);
		__atomic_store_n(closed, 1, __ATOMIC_RELEASE);
		if (!wait_flag(closing) || !process_sleeps(getppid()))
			_exit(2);
		usleep(300000);
		_exit(read_to_end(self->client, 0, &err) == sent && !err ?
		      0 : 1);
	}
	/* the child's copy goes first, or this is not the last one */
	ASSERT_TRUE(wait_flag(closed));
	__atomic_store_n(closing, 1, __ATOMIC_RELEASE);
	took = timed_close(&self->server, WAIT_S);
	EXPECT_GT(WAIT_S, took);
	EXPECT_TRUE(!outq || took > 0.2);
	EXPECT_TRUE(child_ok(pid));
}

TEST_F(pair, linger_gives_up_waiting)
{
	int outq = 0, err;
	double took;
	size_t sent;

	sent = fill_from(self->server, 0);
	ioctl(self->server, SIOCOUTQ, &outq);
	took = timed_close(&self->server, 1);
	EXPECT_GT(WAIT_S, took);
	EXPECT_TRUE(!outq || took > 0.9);
	/* and the kernel goes on */
	EXPECT_EQ(sent, read_to_end(self->client, 0, &err));
	EXPECT_EQ(0, err);
}

/* -- orphans -- */

TEST_F(pair, orphan_gives_up)
{
	int limit = env_int("ORPHAN_S", 0), unsent = -1, err;
	const char *want = getenv("SMC_WANT") ?: "";
	size_t sent;
	ssize_t n;

	if (!limit || variant->kind == KIND_TCP)
		SKIP(return, "ORPHAN_S is not set, or this is TCP");
	sent = fill_from(self->server, 0);
	ASSERT_EQ(0, ioctl(self->server, SIOCOUTQNSD, &unsent));
	close_end(&self->server);
	if (!strcmp(want, "smcd")) {
		/* The writer writes into the reader's ring: all of it is there. */
		EXPECT_EQ(0, unsent);
		sleep(limit + 1);
		EXPECT_EQ(sent, read_to_end(self->client, 0, &err));
		EXPECT_EQ(0, err);
		return;
	}
	EXPECT_LT(0, unsent);
	EXPECT_NE(0, wait_events(self->client, POLLERR | POLLHUP) &
		     (POLLERR | POLLHUP));
	n = read_to_end(self->client, 0, &err);
	EXPECT_LT(n, (ssize_t)sent);
	EXPECT_EQ(ECONNRESET, err);
}

TEST_F(pair, orphan_with_a_slow_reader)
{
	/* no step takes longer than the limit, all together do */
	int limit = env_int("ORPHAN_S", 0), steps = limit + 3, i, err;
	size_t sent, part;

	if (!limit || variant->kind == KIND_TCP)
		SKIP(return, "ORPHAN_S is not set, or this is TCP");
	sent = fill_from(self->server, 0);
	close_end(&self->server);
	part = sent / steps / 2;
	for (i = 0; i < steps; i++) {
		sleep(1);
		ASSERT_TRUE(read_just(self->client, part, i * part)) {
			TH_LOG("part %d", i);
		}
	}
	EXPECT_EQ(sent - steps * part,
		  read_to_end(self->client, steps * part, &err));
	EXPECT_EQ(0, err);
}

TEST_F(pair, orphan_too_many)
{
	size_t sent;
	ssize_t n;
	int err;

	if (!env_int("NO_ORPHANS", 0) || variant->kind == KIND_TCP)
		SKIP(return, "NO_ORPHANS is not set, or this is TCP");
	sent = fill_from(self->server, 0);
	close_end(&self->server);
	n = read_to_end(self->client, 0, &err);
	EXPECT_EQ(n < (ssize_t)sent ? ECONNRESET : 0, err);
	EXPECT_TRUE(env_int("NO_ORPHANS", 0) < 2 || n < (ssize_t)sent);
}

static bool conns_left(long count)
{
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;
	long left;

	do {
		left = smc_counter("ConnCreated") -
		       smc_counter("ConnDestroyed");
		usleep(20000);
	} while (left != count && now_ns() < end);
	return left == count;
}

/* The peer's program has seen the reset and does not close. */
TEST_F(pair, orphan_aborted)
{
	if (variant->kind == KIND_TCP)
		SKIP(return, "this is TCP");
	ASSERT_TRUE(conns_left(2));
	ASSERT_EQ(1, send(self->client, "x", 1, 0));
	ASSERT_TRUE(wait_events(self->server, POLLIN));
	close_end(&self->server);
	expect_reset(_metadata, self->client, 0);
	EXPECT_TRUE(conns_left(1));
}

/* -- many writers that end -- */

enum how { CLOSE, EXIT, KILL, KILL_WRITING };

#define CHUNK	3000
#define MUCH	150000

struct writer {
	pid_t pid;
	uint64_t accepted;	/* bytes, told by the writer */
	int ready;		/* the writer waits for its end */
	uint64_t got;
	uint64_t due;		/* when the reader begins */
	int fd;
	bool over;
};

/* The child: its number, then the stream until nothing more is taken. */
static void write_and_end(int fd, int nr, struct writer *w, enum how how)
{
	int flags = how == KILL_WRITING ? 0 : MSG_DONTWAIT;
	unsigned char block[CHUNK];
	unsigned int seed = nr;
	size_t len;
	ssize_t n;

	if (send(fd, &nr, sizeof(nr), 0) != sizeof(nr))
		die("send");
	w->ready = how == KILL_WRITING;
	while (how == KILL_WRITING || w->accepted < MUCH) {
		len = 1 + rand_r(&seed) % CHUNK;
		fill_bytes(block, len, w->accepted);
		n = send(fd, block, len, flags);
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			die("send");
		w->accepted += n;
	}
	if (how == CLOSE)
		close(fd);
	w->ready = 1;
	if (how == EXIT)
		exit(0);
	if (how == KILL)
		kill(getpid(), SIGKILL);
	pause();
}

static bool read_some(struct writer *w)
{
	unsigned char block[8192];
	ssize_t n = recv(w->fd, block, sizeof(block), MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return true;
	if (n < 0 || first_wrong(block, n, w->got) != n) {
		printf("# writer %d: %s after %llu bytes\n", w->pid,
		       n < 0 ? strerror(errno) : "wrong byte",
		       (unsigned long long)w->got);
		return false;
	}
	w->got += n;
	w->over = !n;
	return true;
}

/* Sleeps up to 1 s for each, then reads to the end. */
static bool read_all(struct writer *w, unsigned int num)
{
	struct pollfd p[num];
	unsigned int i, open = num;
	bool good = true;

	while (open && good) {
		for (i = 0; i < num; i++) {
			p[i].fd = w[i].over || now_ns() < w[i].due ?
				  -1 : w[i].fd;
			p[i].events = POLLIN;
		}
		if (poll(p, num, 20) <= 0)
			continue;
		for (i = 0; i < num && good; i++) {
			if (!(p[i].revents & (POLLIN | POLLHUP | POLLERR)))
				continue;
			good = read_some(&w[i]);
			open -= w[i].over;
		}
	}
	return good;
}

static void truncation(struct __test_metadata *_metadata,
		       struct _test_data_pair *self, enum kind kind,
		       enum how how)
{
	int num = env_int("RUNS", repeats(200)), i, fd, nr;
	struct writer *w, *mine;
	pid_t pid;

	w = shared_memory(num * sizeof(*w));
	for (i = 0; i < num; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			close(self->listener);
			fd = connect_to(kind, &self->addr, self->len, 0);
			write_and_end(fd, i, &w[i], how);
		}
		w[i].pid = pid;
	}
	for (i = 0; i < num; i++) {
		fd = accept(self->listener, NULL, NULL);
		ASSERT_LE(0, fd);
		ASSERT_EQ(sizeof(nr), recv(fd, &nr, sizeof(nr), MSG_WAITALL));
		mine = &w[nr];
		mine->fd = fd;
	}
	for (i = 0; i < num; i++)
		ASSERT_TRUE(wait_flag(&w[i].ready));
	for (i = 0; how == KILL_WRITING && i < num; i++) {
		ASSERT_TRUE(process_sleeps(w[i].pid));
		kill(w[i].pid, SIGKILL);
	}
	for (i = 0; i < num; i++)
		w[i].due = now_ns() + rand() % 1000 * 1000000ULL;
	EXPECT_TRUE(read_all(w, num));
	for (i = 0; i < num; i++) {
		kill(w[i].pid, SIGKILL);
		ASSERT_EQ(w[i].pid, waitpid(w[i].pid, NULL, 0));
		EXPECT_LE(w[i].accepted, w[i].got);
		/* the call that was killed may have taken something */
		EXPECT_GE(w[i].accepted + (how == KILL_WRITING ? CHUNK : 0),
			  w[i].got);
		close(w[i].fd);
	}
}

TEST_F_TIMEOUT(pair, truncation_by_close, 120)
{
	truncation(_metadata, self, variant->kind, CLOSE);
}

TEST_F_TIMEOUT(pair, truncation_by_exit, 120)
{
	truncation(_metadata, self, variant->kind, EXIT);
}

TEST_F_TIMEOUT(pair, truncation_by_kill, 120)
{
	truncation(_metadata, self, variant->kind, KILL);
}

TEST_F_TIMEOUT(pair, truncation_by_kill_of_a_blocked_write, 120)
{
	truncation(_metadata, self, variant->kind, KILL_WRITING);
}

/* -- a process with many sockets -- */

#define AT_ONCE	64

/* The child: connects @num sockets, writes on each, tells and waits. */
static void hold_many(int num, enum kind kind,
		      const struct sockaddr_storage *addr, socklen_t len,
		      int tell)
{
	int *fd = calloc(num, sizeof(*fd)), i, k;
	unsigned char block[100];

	/* not silently */
	signal(SIGPIPE, SIG_IGN);
	fill_bytes(block, sizeof(block), 0);
	for (i = 0; i < num; i += AT_ONCE) {
		for (k = i; k < num && k < i + AT_ONCE; k++)
			fd[k] = connect_to(kind, addr, len, SOCK_NONBLOCK);
		for (k = i; k < num && k < i + AT_ONCE; k++)
			if (!(wait_events(fd[k], POLLOUT) & POLLOUT) ||
			    send(fd[k], block, sizeof(block), 0) != 100)
				die("connection %d, events %#x", k,
				    mask_now(fd[k]));
	}
	if (write(tell, "", 1) != 1)
		die("write");
	pause();
}

TEST_F_TIMEOUT(pair, many_sockets_of_a_killed_process, 600)
{
	int num = env_int("SOCKETS", 10000), limit;
	struct rlimit rl = { num + 100, num + 100 };
	int i, err, tell[2], *fd = calloc(num, sizeof(*fd));
	uint64_t start;
	double took;
	pid_t pid;
	char c;

	limit = limit_ms(env_int("CLOSE_MS", 2000));
	if (setrlimit(RLIMIT_NOFILE, &rl))
		SKIP(return, "RLIMIT_NOFILE");
	ASSERT_EQ(0, pipe(tell));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		hold_many(num, variant->kind, &self->addr, self->len, tell[1]);
	for (i = 0; i < num; i++) {
		ASSERT_TRUE(wait_events(self->listener, POLLIN)) {
			TH_LOG("%d of %d", i, num);
		}
		fd[i] = accept(self->listener, NULL, NULL);
		ASSERT_LE(0, fd[i]);
	}
	close(tell[1]);
	ASSERT_EQ(1, read(tell[0], &c, 1));
	start = now_ns();
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	took = seconds_since(start);
	TH_LOG("%d sockets: %.3f s", num, took);
	EXPECT_GT(limit, took * 1000);
	for (i = 0; i < num; i++) {
		ASSERT_EQ(100, read_to_end(fd[i], 0, &err)) {
			TH_LOG("socket %d: %s", i, strerror(err));
		}
		ASSERT_EQ(0, err);
		close(fd[i]);
	}
}

TEST_HARNESS_MAIN
