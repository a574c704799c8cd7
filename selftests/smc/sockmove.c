// SPDX-License-Identifier: GPL-2.0
/*
 * sockmove - the ways to move data besides send() and recv()
 *
 * splice in both directions, tee, vmsplice, sendfile, vectors, several messages
 * at once, TCP_INQ, and calls that wait for another one.  (io_uring is in
 * sockuring.c.)  Each test runs on plain TCP first (variant tcp): what it asserts
 * is what TCP does.  Bytes are those of lib/bytes.c, so one that is lost, doubled
 * or another page's is seen.
 */
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "lib/bytes.h"
#include "lib/harness.h"
#include "lib/page.h"
#include "lib/pair.h"
#include "lib/task.h"
#include "lib/wait.h"

#ifndef TCP_CM_INQ
#define TCP_INQ 36
#define TCP_CM_INQ TCP_INQ
#endif

#define MANY	(1 << 20)	/* more than any ring here */

FIXTURE(move) {
	struct pair p;
	int pipe[2];
};

FIXTURE_VARIANT(move) {
	enum kind kind;
};

FIXTURE_VARIANT_ADD(move, tcp) { KIND_TCP };
FIXTURE_VARIANT_ADD(move, ipproto) { KIND_IPPROTO };
FIXTURE_VARIANT_ADD(move, afsmc) { KIND_AFSMC };

FIXTURE_SETUP(move)
{
	ASSERT_EQ(0, pair_listen(&self->p, variant->kind));
	ASSERT_EQ(0, pair_connect(&self->p, variant->kind));
	ASSERT_EQ(0, pipe(self->pipe));
}

FIXTURE_TEARDOWN(move)
{
	pair_close(&self->p);
	close_fd(&self->pipe[0]);
	close_fd(&self->pipe[1]);
}

/* runs fn(arg) in a child and returns its pid */
#define IN_CHILD(pid, statement)			\
	do {						\
		(pid) = fork();				\
		ASSERT_LE(0, (pid));			\
		if (!(pid))				\
			_exit((statement) ? 0 : 1);	\
	} while (0)

/* a file of the stream's first len bytes */
static int make_file(size_t len)
{
	int fd = memfd_create("sockmove", 0);

	if (fd < 0 || !write_just(fd, len, 0) || lseek(fd, 0, SEEK_SET))
		die("memfd");
	return fd;
}

TEST_F(move, splice_in)
{
	size_t sum = 0;
	ssize_t n;
	pid_t a, b;

	IN_CHILD(a, write_just(self->pipe[1], MANY, 0));
	IN_CHILD(b, read_just(self->p.server, MANY, 0));
	while (sum < MANY) {
		n = splice(self->pipe[0], NULL, self->p.client, NULL,
			   MANY - sum, 0);
		ASSERT_LT(0, n);
		sum += n;
	}
	EXPECT_TRUE(child_ok(a));
	EXPECT_TRUE(child_ok(b));
}

/* through a pipe of one page, which is full most of the time */
TEST_F(move, splice_out_short_pipe)
{
	size_t sum = 0;
	ssize_t n;
	pid_t a, b;

	ASSERT_LE(4096, fcntl(self->pipe[1], F_SETPIPE_SZ, 4096));
	IN_CHILD(a, write_just(self->p.client, MANY / 4, 0));
	IN_CHILD(b, read_just(self->pipe[0], MANY / 4, 0));
	while (sum < MANY / 4) {
		n = splice(self->p.server, NULL, self->pipe[1], NULL, MANY, 0);
		ASSERT_LT(0, n);
		sum += n;
	}
	EXPECT_TRUE(child_ok(a));
	EXPECT_TRUE(child_ok(b));
}

/* what the pipe does not take stays in the socket */
TEST_F(move, splice_out_rest_stays)
{
	ssize_t n;

	ASSERT_LE(4096, fcntl(self->pipe[1], F_SETPIPE_SZ, 4096));
	ASSERT_TRUE(write_just(self->p.client, 10000, 0));
	ASSERT_TRUE(wait_queued(self->p.server, 10000));
	n = splice(self->p.server, NULL, self->pipe[1], NULL, 10000, 0);
	EXPECT_LT(0, n);
	EXPECT_GT(10000, n);
	EXPECT_EQ(10000 - n, queued(self->p.server));
	/* full: nothing moves */
	EXPECT_EQ(-1, splice(self->p.server, NULL, self->pipe[1], NULL, 10000,
			     SPLICE_F_NONBLOCK));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(10000 - n, queued(self->p.server));
	EXPECT_TRUE(read_just(self->pipe[0], n, 0));
	EXPECT_TRUE(read_just(self->p.server, 10000 - n, n));
}

/* no more than asked for, nor more than is there */
TEST_F(move, splice_out_counts)
{
	ASSERT_TRUE(write_just(self->p.client, 100, 0));
	ASSERT_TRUE(wait_queued(self->p.server, 100));
	EXPECT_EQ(0, splice(self->p.server, NULL, self->pipe[1], NULL, 0, 0));
	EXPECT_EQ(30, splice(self->p.server, NULL, self->pipe[1], NULL, 30, 0));
	EXPECT_EQ(70, queued(self->p.server));
	EXPECT_EQ(70, splice(self->p.server, NULL, self->pipe[1], NULL, 5000,
			     0));
	EXPECT_TRUE(read_just(self->pipe[0], 100, 0));
}

/* SO_RCVLOWAT is for recv(): splice takes what there is */
TEST_F(move, splice_out_low_water)
{
	int low = 1000;

	ASSERT_EQ(0, setsockopt(self->p.server, SOL_SOCKET, SO_RCVLOWAT, &low,
				sizeof(low)));
	ASSERT_TRUE(write_just(self->p.client, 10, 0));
	ASSERT_TRUE(wait_queued(self->p.server, 10));
	/* a call that waits for more is ended by the harness */
	EXPECT_EQ(10, splice(self->p.server, NULL, self->pipe[1], NULL, 5000,
			     0));
}

TEST_F(move, splice_out_waits)
{
	struct timeval tv = { 0, 100000 };
	char c = 'x';
	pid_t pid;

	ASSERT_EQ(0, setsockopt(self->p.server, SOL_SOCKET, SO_RCVTIMEO, &tv,
				sizeof(tv)));
	EXPECT_EQ(-1, splice(self->p.server, NULL, self->pipe[1], NULL, 10, 0));
	EXPECT_EQ(EAGAIN, errno);
	tv.tv_sec = WAIT_S;
	ASSERT_EQ(0, setsockopt(self->p.server, SOL_SOCKET, SO_RCVTIMEO, &tv,
				sizeof(tv)));
	IN_CHILD(pid, process_sleeps(getppid()) &&
		      send(self->p.client, &c, 1, 0) == 1);
	EXPECT_EQ(1, splice(self->p.server, NULL, self->pipe[1], NULL, 10, 0));
	EXPECT_TRUE(child_ok(pid));
	set_nonblock(self->p.server);
	EXPECT_EQ(-1, splice(self->p.server, NULL, self->pipe[1], NULL, 10, 0));
	EXPECT_EQ(EAGAIN, errno);
}

static void nothing(int sig)
{
}

TEST_F(move, splice_out_interrupted)
{
	struct sigaction sa = { .sa_handler = nothing };

	sigaction(SIGALRM, &sa, NULL);
	/* again, if the first one comes before the call */
	ualarm(50000, 50000);
	EXPECT_EQ(-1, splice(self->p.server, NULL, self->pipe[1], NULL, 10, 0));
	EXPECT_EQ(EINTR, errno);
	ualarm(0, 0);
}

TEST_F(move, splice_out_end)
{
	ASSERT_TRUE(write_just(self->p.client, 10, 0));
	ASSERT_EQ(0, shutdown(self->p.client, SHUT_WR));
	ASSERT_TRUE(POLLRDHUP & wait_events(self->p.server, POLLRDHUP));
	EXPECT_EQ(10, splice(self->p.server, NULL, self->pipe[1], NULL, 99, 0));
	EXPECT_EQ(0, splice(self->p.server, NULL, self->pipe[1], NULL, 99, 0));
	EXPECT_EQ(0, splice(self->p.server, NULL, self->pipe[1], NULL, 99, 0));
	EXPECT_TRUE(read_just(self->pipe[0], 10, 0));
}

TEST_F(move, splice_out_reset)
{
	struct linger l = { 1, 0 };

	ASSERT_EQ(0, setsockopt(self->p.client, SOL_SOCKET, SO_LINGER, &l,
				sizeof(l)));
	close_fd(&self->p.client);
	ASSERT_TRUE(POLLERR & wait_events(self->p.server, POLLRDHUP));
	EXPECT_EQ(-1, splice(self->p.server, NULL, self->pipe[1], NULL, 9, 0));
	EXPECT_EQ(ECONNRESET, errno);
	EXPECT_EQ(0, splice(self->p.server, NULL, self->pipe[1], NULL, 9, 0));
}

TEST_F(move, splice_states)
{
	int fd = open_socket(variant->kind, self->p.addr.ss_family, 0);
	loff_t off = 0;

	EXPECT_EQ(-1, splice(fd, NULL, self->pipe[1], NULL, 9, 0));
	EXPECT_EQ(ENOTCONN, errno);
	EXPECT_EQ(-1, splice(self->p.listener, NULL, self->pipe[1], NULL, 9,
			     0));
	EXPECT_EQ(ENOTCONN, errno);
	EXPECT_EQ(-1, splice(self->p.server, &off, self->pipe[1], NULL, 9, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(1, write(self->pipe[1], "x", 1));
	EXPECT_EQ(-1, splice(self->pipe[0], NULL, self->p.client, &off, 9, 0));
	EXPECT_EQ(EINVAL, errno);
	close(fd);
}

/* what is in a pipe stays what it was, whatever becomes of the connection */
TEST_F(move, pipe_owns_pages)
{
	struct pair other;
	int n;

	ASSERT_TRUE(write_just(self->p.client, 30000, 0));
	ASSERT_TRUE(wait_queued(self->p.server, 30000));
	n = splice(self->p.server, NULL, self->pipe[1], NULL, 30000, 0);
	ASSERT_LT(0, n);
	/* the ring is written over: by its own stream, then by another one */
	ASSERT_TRUE(read_just(self->p.server, 30000 - n, n));
	for (int i = 0; i < 8; i++) {
		ASSERT_TRUE(write_just(self->p.client, 30000, 77));
		ASSERT_TRUE(read_just(self->p.server, 30000, 77));
	}
	pair_close(&self->p);
	ASSERT_EQ(0, pair_listen(&other, variant->kind));
	ASSERT_EQ(0, pair_connect(&other, variant->kind));
	ASSERT_TRUE(write_just(other.client, 30000, 99));
	ASSERT_TRUE(read_just(other.server, 30000, 99));
	pair_close(&other);
	EXPECT_TRUE(read_just(self->pipe[0], n, 0));
}

/* two pipes have the same page, which goes with the last of them */
TEST_F(move, tee)
{
	int other[2], n;

	ASSERT_EQ(0, pipe(other));
	ASSERT_TRUE(write_just(self->p.client, 9000, 0));
	ASSERT_TRUE(wait_queued(self->p.server, 9000));
	n = splice(self->p.server, NULL, self->pipe[1], NULL, 9000, 0);
	ASSERT_EQ(9000, n);
	EXPECT_EQ(n, tee(self->pipe[0], other[1], n, 0));
	EXPECT_TRUE(read_just(self->pipe[0], n, 0));
	/* and back into a connection */
	EXPECT_EQ(n, splice(other[0], NULL, self->p.server, NULL, n, 0));
	EXPECT_TRUE(read_just(self->p.client, n, 0));
	close(other[0]);
	close(other[1]);
}

/* what a proxy does */
TEST_F(move, splice_from_socket_to_socket)
{
	struct pair out;
	size_t sum = 0;
	ssize_t n, m;
	pid_t a, b;

	ASSERT_EQ(0, pair_listen(&out, variant->kind));
	ASSERT_EQ(0, pair_connect(&out, variant->kind));
	IN_CHILD(a, write_just(self->p.client, MANY, 0));
	IN_CHILD(b, read_just(out.server, MANY, 0));
	while (sum < MANY) {
		n = splice(self->p.server, NULL, self->pipe[1], NULL, MANY,
			   SPLICE_F_MOVE | SPLICE_F_MORE);
		ASSERT_LT(0, n);
		sum += n;
		while (n) {
			m = splice(self->pipe[0], NULL, out.client, NULL, n,
				   SPLICE_F_MOVE);
			ASSERT_LT(0, m);
			n -= m;
		}
	}
	EXPECT_TRUE(child_ok(a));
	EXPECT_TRUE(child_ok(b));
	pair_close(&out);
}

/* memory of the program, by way of a pipe */
TEST_F(move, vmsplice)
{
	char *mem = mmap(NULL, 40960, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec iov[2] = { { mem + 5, 10000 }, { mem + 10005, 20000 } };
	ssize_t n;

	fill_bytes(mem + 5, 30000, 0);
	n = vmsplice(self->pipe[1], iov, 2, 0);
	ASSERT_EQ(30000, n);
	EXPECT_EQ(n, splice(self->pipe[0], NULL, self->p.client, NULL, n, 0));
	EXPECT_TRUE(read_just(self->p.server, n, 0));
	munmap(mem, 40960);
}

/* a pipe of tiny buffers, each of which is a piece of a vector */
TEST_F(move, splice_in_pieces)
{
	char buf[16];

	for (int i = 0; i < 8; i++) {
		int other[2];

		/* a tee'd buffer is not merged with the next one */
		fill_bytes(buf, 3, 3 * i);
		ASSERT_EQ(0, pipe(other));
		ASSERT_EQ(3, write(other[1], buf, 3));
		ASSERT_EQ(3, tee(other[0], self->pipe[1], 3, 0));
		close(other[0]);
		close(other[1]);
	}
	EXPECT_EQ(24, splice(self->pipe[0], NULL, self->p.client, NULL, 99, 0));
	EXPECT_TRUE(read_just(self->p.server, 24, 0));
}

/* SPLICE_F_MORE holds back, the last call sends all */
TEST_F(move, splice_in_more)
{
	ASSERT_TRUE(write_just(self->pipe[1], 20, 0));
	EXPECT_EQ(10, splice(self->pipe[0], NULL, self->p.client, NULL, 10,
			     SPLICE_F_MORE));
	EXPECT_EQ(10, splice(self->pipe[0], NULL, self->p.client, NULL, 10, 0));
	EXPECT_TRUE(read_just(self->p.server, 20, 0));
}

/* splice stops before the urgent byte, and gets no further until it is read */
TEST_F(move, splice_out_urgent)
{
	char c;

	ASSERT_TRUE(write_just(self->p.client, 3, 0));
	ASSERT_EQ(1, send(self->p.client, "!", 1, MSG_OOB));
	ASSERT_EQ(2, send(self->p.client, "de", 2, 0));
	ASSERT_EQ(POLLPRI, wait_events(self->p.server, POLLPRI));
	ASSERT_EQ(3, splice(self->p.server, NULL, self->pipe[1], NULL, 9, 0));
	ASSERT_EQ('!', recv(self->p.server, &c, 1, MSG_OOB) == 1 ? c : 0);
	/* what is behind the urgent byte is there */
	ASSERT_EQ(POLLIN, wait_events(self->p.server, POLLIN));
	EXPECT_EQ(0, splice(self->p.server, NULL, self->pipe[1], NULL, 9, 0));
	set_nonblock(self->p.server);
	EXPECT_EQ(-1, splice(self->p.server, NULL, self->pipe[1], NULL, 9, 0));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_EQ(1, recv(self->p.server, &c, 1, 0));
	EXPECT_EQ('d', c);
	EXPECT_EQ(1, splice(self->p.server, NULL, self->pipe[1], NULL, 9, 0));
}

/* a full connection takes nothing out of the pipe */
TEST_F(move, splice_in_full)
{
	size_t sent;

	fix_buffers(self->p.client, self->p.server);
	sent = fill_from(self->p.client, 0);
	set_nonblock(self->p.client);
	ASSERT_TRUE(write_just(self->pipe[1], 5000, sent));
	EXPECT_EQ(-1, splice(self->pipe[0], NULL, self->p.client, NULL, 5000,
			     0));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(5000, queued(self->pipe[0]));
	EXPECT_TRUE(read_just(self->p.server, sent, 0));
	ASSERT_EQ(POLLOUT, wait_events(self->p.client, POLLOUT));
	EXPECT_EQ(5000, splice(self->pipe[0], NULL, self->p.client, NULL, 5000,
			       0));
	EXPECT_TRUE(read_just(self->p.server, 5000, sent));
}

TEST_F(move, splice_in_after_end)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, shutdown(self->p.client, SHUT_WR));
	ASSERT_EQ(1, write(self->pipe[1], "x", 1));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		signal(SIGPIPE, SIG_DFL);
		splice(self->pipe[0], NULL, self->p.client, NULL, 1, 0);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
	signal(SIGPIPE, SIG_IGN);
	EXPECT_EQ(-1, splice(self->pipe[0], NULL, self->p.client, NULL, 1, 0));
	EXPECT_EQ(EPIPE, errno);
}

TEST_F(move, sendfile_all)
{
	int fd = make_file(MANY);
	off_t off = 0;
	ssize_t n;
	pid_t pid;

	IN_CHILD(pid, read_just(self->p.server, MANY, 0));
	while (off < MANY) {
		n = sendfile(self->p.client, fd, &off, MANY - off);
		ASSERT_LT(0, n);
	}
	EXPECT_TRUE(child_ok(pid));
	/* the file's own position is another one */
	EXPECT_EQ(0, lseek(fd, 0, SEEK_CUR));
	close(fd);
}

/* the position of a file goes as far as its bytes */
TEST_F(move, sendfile_short)
{
	int fd = make_file(4 * MANY);
	off_t pos = 0, sum = 0;
	ssize_t n;

	fix_buffers(self->p.client, self->p.server);
	set_nonblock(self->p.client);
	while ((n = sendfile(self->p.client, fd, NULL, 4 * MANY)) > 0) {
		sum += n;
		pos = lseek(fd, 0, SEEK_CUR);
		ASSERT_EQ(sum, pos);
		usleep(20000);
	}
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_LT(0, sum);
	EXPECT_GT(4 * MANY, sum);
	EXPECT_EQ(sum, lseek(fd, 0, SEEK_CUR));
	EXPECT_TRUE(read_just(self->p.server, sum, 0));
	close(fd);
}

TEST_F(move, sendfile_beyond_end)
{
	int fd = make_file(1000), tmp = memfd_create("sockmove", 0);
	off_t off = 900;

	EXPECT_EQ(100, sendfile(self->p.client, fd, &off, 5000));
	EXPECT_EQ(0, sendfile(self->p.client, fd, &off, 5000));
	EXPECT_TRUE(read_just(self->p.server, 100, 900));
	/* a socket is no source */
	EXPECT_EQ(-1, sendfile(tmp, self->p.server, NULL, 10));
	EXPECT_EQ(EINVAL, errno);
	close(fd);
	close(tmp);
}

/*
 * A program that asks for more than the file has gets no more: what was held
 * back because more was to come leaves then, not 200 ms later.  Not in each of
 * 20 rounds, if the machine stands still.
 */
TEST_F(move, sendfile_beyond_end_is_sent)
{
	long best = WAIT_MS, ms;
	int i, fd = make_file(1000);
	uint64_t t;
	off_t off;

	for (i = 0; i < 20 && best > 150; i++) {
		off = 900;
		t = now_ns();
		ASSERT_EQ(100, sendfile(self->p.client, fd, &off, 5000));
		ASSERT_TRUE(read_just(self->p.server, 100, 900));
		ms = (now_ns() - t) / 1000000;
		best = ms < best ? ms : best;
	}
	EXPECT_GT(150, best);
	close(fd);
}

TEST_F(move, vectors)
{
	char in[300], out[300] = "";
	struct iovec w[5] = {
		{ in, 1 }, { in + 1, 0 }, { in + 1, 99 }, { NULL, 0 },
		{ in + 100, 200 },
	};
	struct iovec r[3] = { { out, 7 }, { out + 7, 0 }, { out + 7, 293 } };

	fill_bytes(in, sizeof(in), 0);
	ASSERT_EQ(300, writev(self->p.client, w, 5));
	ASSERT_TRUE(wait_queued(self->p.server, 300));
	EXPECT_EQ(300, readv(self->p.server, r, 3));
	EXPECT_EQ(300, first_wrong(out, 300, 0));
	EXPECT_EQ(-1, pread(self->p.server, out, 1, 0));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-1, pwrite(self->p.server, out, 1, 0));
	EXPECT_EQ(ESPIPE, errno);
}

TEST_F(move, several_messages)
{
	struct timespec ts = { .tv_sec = WAIT_S };
	struct mmsghdr out[4] = {}, in[4] = {};
	struct iovec wr[4], rd[4];
	char src[100], dst[4][40];

	fill_bytes(src, sizeof(src), 0);
	for (int i = 0; i < 4; i++) {
		wr[i] = (struct iovec){ src + 25 * i, 25 };
		out[i].msg_hdr.msg_iov = &wr[i];
		out[i].msg_hdr.msg_iovlen = 1;
		rd[i] = (struct iovec){ dst[i], 40 };
		in[i].msg_hdr.msg_iov = &rd[i];
		in[i].msg_hdr.msg_iovlen = 1;
	}
	ASSERT_EQ(4, sendmmsg(self->p.client, out, 4, 0));
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(25, out[i].msg_len);
	ASSERT_TRUE(wait_queued(self->p.server, 100));
	/* no borders in a stream; the fourth would have to wait */
	EXPECT_EQ(3, recvmmsg(self->p.server, in, 4, MSG_WAITFORONE, &ts));
	EXPECT_EQ(40, in[0].msg_len);
	EXPECT_EQ(40, in[1].msg_len);
	EXPECT_EQ(20, in[2].msg_len);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(in[i].msg_len,
			  first_wrong(dst[i], in[i].msg_len, 40 * i));
	EXPECT_EQ(-1, recvmmsg(self->p.server, in, 4, MSG_DONTWAIT, NULL));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(4, sendmmsg(self->p.client, out, 4, 0));
	EXPECT_EQ(0, shutdown(self->p.client, SHUT_WR));
	signal(SIGPIPE, SIG_IGN);
	EXPECT_EQ(-1, sendmmsg(self->p.client, out, 4, 0));
	EXPECT_EQ(EPIPE, errno);
	/* the end is a message of no length, and there is one more of it */
	ASSERT_TRUE(POLLRDHUP & wait_events(self->p.server, POLLRDHUP));
	EXPECT_EQ(4, recvmmsg(self->p.server, in, 4, 0, NULL));
	EXPECT_EQ(20, in[2].msg_len);
	EXPECT_EQ(0, in[3].msg_len);
}

static void *recv_two(void *arg)
{
	struct mmsghdr in[2] = {};
	struct iovec rd[2];
	char dst[2][8];

	for (int i = 0; i < 2; i++) {
		rd[i] = (struct iovec){ dst[i], sizeof(dst[i]) };
		in[i].msg_hdr.msg_iov = &rd[i];
		in[i].msg_hdr.msg_iovlen = 1;
	}
	return (void *)(long)recvmmsg(*(int *)arg, in, 2, 0, NULL);
}

/* a reset behind a message is told by the next call, once */
TEST_F(move, several_messages_and_a_reset)
{
	struct linger l = { 1, 0 };
	int s = self->p.server;
	struct task t;
	char c;

	ASSERT_EQ(1, send(self->p.client, "x", 1, 0));
	ASSERT_TRUE(wait_queued(s, 1));
	task_start(&t, recv_two, &s);
	ASSERT_TRUE(task_sleeps(&t));
	ASSERT_EQ(0, setsockopt(self->p.client, SOL_SOCKET, SO_LINGER, &l,
				sizeof(l)));
	close_fd(&self->p.client);
	ASSERT_EQ(1, (long)task_join(&t));
	EXPECT_TRUE(mask_now(s) & POLLERR);
	EXPECT_EQ(-1, recv(s, &c, 1, MSG_DONTWAIT));
	EXPECT_EQ(ECONNRESET, errno);
	EXPECT_FALSE(mask_now(s) & POLLERR);
	EXPECT_EQ(0, recv(s, &c, 1, MSG_DONTWAIT));
}

/* -- what is left -- */

/* what recvmsg() says is left, -1 if nothing, -2 if it is not @want bytes */
static int inq_after(int fd, size_t len, int flags, ssize_t want)
{
	char buf[16], ctl[64] = "";
	struct iovec iov = { buf, len };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = ctl, .msg_controllen = sizeof(ctl),
	};
	struct cmsghdr *cm;

	if (recvmsg(fd, &msg, flags) != want)
		return -2;
	cm = CMSG_FIRSTHDR(&msg);
	if (!cm || cm->cmsg_level != IPPROTO_TCP || cm->cmsg_type != TCP_CM_INQ)
		return msg.msg_controllen ? -2 : -1;
	return *(int *)CMSG_DATA(cm);
}

TEST_F(move, inq_message)
{
	int s = self->p.server;

	must_set(s, IPPROTO_TCP, TCP_INQ, 1);
	ASSERT_EQ(6, send(self->p.client, "abcdef", 6, 0));
	ASSERT_TRUE(wait_queued(s, 6));
	EXPECT_EQ(4, inq_after(s, 2, 0, 2));
	must_set(s, IPPROTO_TCP, TCP_INQ, 0);
	EXPECT_EQ(-1, inq_after(s, 2, 0, 2));
}

/* urgent bytes count, ahead or next to be read, and so does the end */
TEST_F(move, inq_message_and_marks)
{
	int c = self->p.client, s = self->p.server;

	must_set(s, IPPROTO_TCP, TCP_INQ, 1);
	/* in line all that has come counts for SIOCINQ */
	must_set(s, SOL_SOCKET, SO_OOBINLINE, 1);
	ASSERT_EQ(3, send(c, "abc", 3, 0));
	ASSERT_EQ(1, send(c, "!", 1, MSG_OOB));
	ASSERT_EQ(3, send(c, "def", 3, 0));
	ASSERT_TRUE(wait_queued(s, 7));
	must_set(s, SOL_SOCKET, SO_OOBINLINE, 0);
	EXPECT_EQ(4, inq_after(s, 8, 0, 3));
	EXPECT_EQ(4, inq_after(s, 1, MSG_OOB, 1));
	EXPECT_EQ(0, inq_after(s, 8, 0, 3));
	/* one that the next one overtakes is lost */
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(1, send(c, "!", 1, MSG_OOB));
		ASSERT_EQ(POLLPRI, poll_for(s, POLLPRI, WAIT_MS));
		EXPECT_EQ(1, inq_after(s, 1, MSG_OOB, 1));
	}
	ASSERT_EQ(2, send(c, "gh", 2, 0));
	ASSERT_EQ(POLLIN, poll_for(s, POLLIN, WAIT_MS));
	ASSERT_EQ(0, shutdown(c, SHUT_WR));
	ASSERT_EQ(POLLRDHUP, poll_for(s, POLLRDHUP, WAIT_MS));
	EXPECT_EQ(2, inq_after(s, 1, 0, 1));
	EXPECT_EQ(1, inq_after(s, 1, 0, 1));
	EXPECT_EQ(1, inq_after(s, 1, 0, 0));
}

/* -- while another call has the direction, for a page that does not come -- */

struct call {
	ssize_t (*fn)(int fd, void *buf, size_t len, int flags);
	int fd, flags, err;
	void *buf;
	size_t len;
	struct task task;
};

static void on_signal(int sig)
{
}

static void *call_main(void *arg)
{
	struct call *c = arg;
	long rc = c->fn(c->fd, c->buf, c->len, c->flags);

	c->err = rc < 0 ? errno : 0;
	return (void *)rc;
}

/* The second one waits for the first, as TCP's does; a signal changes nothing. */
static void beside_a_page(struct __test_metadata *_metadata, struct call *own,
			  struct call *next, long want)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct page page;

	page_make(&page);
	own->buf = page.at;
	ASSERT_EQ(0, sigaction(SIGUSR1, &sa, NULL));
	task_start(&own->task, call_main, own);
	ASSERT_TRUE(task_sleeps(&own->task));
	task_start(&next->task, call_main, next);
	ASSERT_TRUE(task_sleeps(&next->task));
	ASSERT_EQ(0, pthread_kill(next->task.thread, SIGUSR1));
	usleep(IDLE_MS * 1000);
	page_serve(&page);
	EXPECT_EQ(1, (long)task_join(&own->task));
	EXPECT_EQ(want, (long)task_join(&next->task)) {
		TH_LOG("%s", strerror(next->err));
	}
}

TEST_F(move, beside_a_page)
{
	static const int flags[] = { 0, MSG_DONTWAIT, MSG_OOB };
	int c = self->p.client, s = self->p.server;
	char buf[8] = "b";

	for (int i = 0; i < 3; i++) {
		struct call own = { recv, s, 0, .len = 1 };
		struct call next = { recv, s, flags[i], .buf = buf, .len = 8 };

		ASSERT_EQ(3, send(c, "abc", 3, 0));
		ASSERT_EQ(1, send(c, "!", 1, MSG_OOB));
		ASSERT_TRUE(wait_events(s, POLLPRI) & POLLPRI);
		beside_a_page(_metadata, &own, &next,
			      flags[i] == MSG_OOB ? 1 : 2);
		while (recv(s, buf, 8, MSG_DONTWAIT) > 0)
			;
	}
	for (int i = 0; i < 2; i++) {
		struct call own = { (void *)send, c, 0, .len = 1 };
		struct call next = { (void *)send, c, flags[i], .buf = buf,
				     .len = 1 };

		beside_a_page(_metadata, &own, &next, 1);
	}
}

TEST_HARNESS_MAIN
