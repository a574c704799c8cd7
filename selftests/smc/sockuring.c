// SPDX-License-Identifier: GPL-2.0
/*
 * sockuring - sockets of ours under io_uring
 *
 * io_uring issues a call without waiting, and waits for an event by an entry
 * in the socket's wait queues where that would block.  Each test runs on plain
 * TCP first (variant tcp): what it asserts is what TCP does.
 */
#include <sys/socket.h>
#include <sys/wait.h>

#include "lib/bytes.h"
#include "lib/harness.h"
#include "lib/pair.h"
#include "lib/uring.h"
#include "lib/wait.h"

#define MANY	(1 << 20)	/* more than any ring here */

FIXTURE(uring) {
	struct pair p;
	struct uring u;
};

FIXTURE_VARIANT(uring) {
	enum kind kind;
};

FIXTURE_VARIANT_ADD(uring, tcp) { KIND_TCP };
FIXTURE_VARIANT_ADD(uring, ipproto) { KIND_IPPROTO };
FIXTURE_VARIANT_ADD(uring, afsmc) { KIND_AFSMC };

FIXTURE_SETUP(uring)
{
	if (uring_open(&self->u, 0))
		SKIP(return, "no io_uring: %s", strerror(errno));
	ASSERT_EQ(0, pair_listen(&self->p, variant->kind));
	ASSERT_EQ(0, pair_connect(&self->p, variant->kind));
}

FIXTURE_TEARDOWN(uring)
{
	pair_close(&self->p);
	close(self->u.fd);
}

static bool none_yet(struct uring *u)
{
	struct io_uring_cqe cqe;

	return !uring_reap(u, &cqe, 100);
}

TEST_F(uring, send_and_recv)
{
	char in[100], out[100];

	fill_bytes(in, sizeof(in), 0);
	EXPECT_EQ(100, uring_do(&self->u, uring_sqe(IORING_OP_SEND,
						    self->p.client, in, 100),
				WAIT_MS));
	EXPECT_EQ(100, uring_do(&self->u, uring_sqe(IORING_OP_RECV,
						    self->p.server, out, 100),
				WAIT_MS));
	EXPECT_EQ(100, first_wrong(out, 100, 0));
	EXPECT_EQ(100, uring_do(&self->u, uring_sqe(IORING_OP_WRITE,
						    self->p.server, in, 100),
				WAIT_MS));
	EXPECT_EQ(100, uring_do(&self->u, uring_sqe(IORING_OP_READ,
						    self->p.client, out, 100),
				WAIT_MS));
	EXPECT_EQ(100, first_wrong(out, 100, 0));
}

/* a request that waits is completed by what comes later */
TEST_F(uring, recv_waits)
{
	struct io_uring_sqe sqe;
	struct io_uring_cqe cqe;
	char buf[16];

	sqe = uring_sqe(IORING_OP_RECV, self->p.server, buf, sizeof(buf));
	ASSERT_EQ(1, uring_submit(&self->u, &sqe));
	EXPECT_TRUE(none_yet(&self->u));
	ASSERT_TRUE(write_just(self->p.client, 9, 0));
	ASSERT_TRUE(uring_reap(&self->u, &cqe, WAIT_MS));
	EXPECT_EQ(9, cqe.res);
	EXPECT_EQ(9, first_wrong(buf, 9, 0));
	ASSERT_EQ(1, uring_submit(&self->u, &sqe));
	EXPECT_TRUE(none_yet(&self->u));
	ASSERT_EQ(0, shutdown(self->p.client, SHUT_WR));
	ASSERT_TRUE(uring_reap(&self->u, &cqe, WAIT_MS));
	EXPECT_EQ(0, cqe.res);
}

/* all or nothing in one completion, although the ring is smaller */
TEST_F(uring, much)
{
	static char in[MANY], out[MANY];
	struct io_uring_sqe send, recv;
	struct io_uring_cqe cqe;

	fill_bytes(in, MANY, 0);
	send = uring_sqe(IORING_OP_SEND, self->p.client, in, MANY);
	send.msg_flags = MSG_WAITALL;
	recv = uring_sqe(IORING_OP_RECV, self->p.server, out, MANY);
	recv.msg_flags = MSG_WAITALL;
	ASSERT_EQ(1, uring_submit(&self->u, &send));
	ASSERT_EQ(1, uring_submit(&self->u, &recv));
	for (int i = 0; i < 2; i++) {
		ASSERT_TRUE(uring_reap(&self->u, &cqe, WAIT_MS));
		EXPECT_EQ(MANY, cqe.res) {
			TH_LOG("operation %d", (int)cqe.user_data);
		}
	}
	EXPECT_EQ(MANY, first_wrong(out, MANY, 0));
}

TEST_F(uring, messages)
{
	char in[100], out[100];
	struct iovec wr[2] = { { in, 30 }, { in + 30, 70 } };
	struct iovec rd[2] = { { out, 50 }, { out + 50, 50 } };
	struct msghdr msg = { .msg_iov = wr, .msg_iovlen = 2 };

	fill_bytes(in, sizeof(in), 0);
	EXPECT_EQ(100, uring_do(&self->u, uring_sqe(IORING_OP_SENDMSG,
						    self->p.client, &msg, 1),
				WAIT_MS));
	msg.msg_iov = rd;
	EXPECT_EQ(100, uring_do(&self->u, uring_sqe(IORING_OP_RECVMSG,
						    self->p.server, &msg, 1),
				WAIT_MS));
	EXPECT_EQ(100, first_wrong(out, 100, 0));
}

TEST_F(uring, connect_and_accept)
{
	struct sockaddr *sa = (struct sockaddr *)&self->p.addr;
	int fd = open_socket(variant->kind, self->p.addr.ss_family, 0);
	struct io_uring_sqe accept, connect;
	struct io_uring_cqe cqe;
	int other = -1;

	accept = uring_sqe(IORING_OP_ACCEPT, self->p.listener, NULL, 0);
	ASSERT_EQ(1, uring_submit(&self->u, &accept));
	EXPECT_TRUE(none_yet(&self->u));
	connect = uring_sqe(IORING_OP_CONNECT, fd, sa, 0);
	connect.off = self->p.len;
	ASSERT_EQ(1, uring_submit(&self->u, &connect));
	for (int i = 0; i < 2; i++) {
		ASSERT_TRUE(uring_reap(&self->u, &cqe, WAIT_MS));
		if (cqe.user_data == IORING_OP_ACCEPT)
			other = cqe.res;
		else
			EXPECT_EQ(0, cqe.res);
	}
	ASSERT_LE(0, other);
	ASSERT_TRUE(write_just(fd, 1000, 0));
	EXPECT_TRUE(read_just(other, 1000, 0));
	close(fd);
	close(other);
}

TEST_F(uring, connect_refused)
{
	struct sockaddr *sa = (struct sockaddr *)&self->p.addr;
	int fd = open_socket(variant->kind, self->p.addr.ss_family, 0);
	struct io_uring_sqe connect;

	close_fd(&self->p.listener);
	connect = uring_sqe(IORING_OP_CONNECT, fd, sa, 0);
	connect.off = self->p.len;
	EXPECT_EQ(-ECONNREFUSED, uring_do(&self->u, connect, WAIT_MS));
	close(fd);
}

/* one request, a completion for each connection */
TEST_F(uring, accept_many)
{
	struct io_uring_sqe accept;
	struct io_uring_cqe cqe;
	struct pair more;

	accept = uring_sqe(IORING_OP_ACCEPT, self->p.listener, NULL, 0);
	accept.ioprio = IORING_ACCEPT_MULTISHOT;
	ASSERT_EQ(1, uring_submit(&self->u, &accept));
	for (int i = 0; i < 5; i++) {
		more = self->p;
		more.client = open_socket(variant->kind, more.addr.ss_family,
					  0);
		ASSERT_EQ(0, connect(more.client, (struct sockaddr *)&more.addr,
				     more.len));
		ASSERT_TRUE(uring_reap(&self->u, &cqe, WAIT_MS));
		ASSERT_LE(0, cqe.res);
		EXPECT_TRUE(cqe.flags & IORING_CQE_F_MORE);
		ASSERT_TRUE(write_just(more.client, 10, i));
		EXPECT_TRUE(read_just(cqe.res, 10, i));
		close(more.client);
		close(cqe.res);
	}
}

TEST_F(uring, poll)
{
	struct io_uring_sqe sqe;
	struct io_uring_cqe cqe;
	char c;

	/* at once */
	sqe = uring_sqe(IORING_OP_POLL_ADD, self->p.server, NULL, 0);
	sqe.poll32_events = POLLIN | POLLOUT;
	EXPECT_EQ(POLLOUT, uring_do(&self->u, sqe, WAIT_MS));
	/* later */
	sqe.poll32_events = POLLIN;
	ASSERT_EQ(1, uring_submit(&self->u, &sqe));
	EXPECT_TRUE(none_yet(&self->u));
	ASSERT_EQ(1, send(self->p.client, "x", 1, 0));
	ASSERT_TRUE(uring_reap(&self->u, &cqe, WAIT_MS));
	EXPECT_EQ(POLLIN, cqe.res);
	ASSERT_EQ(1, recv(self->p.server, &c, 1, 0));
	/* again and again */
	sqe.len = IORING_POLL_ADD_MULTI;
	ASSERT_EQ(1, uring_submit(&self->u, &sqe));
	for (int i = 0; i < 3; i++) {
		EXPECT_TRUE(none_yet(&self->u));
		ASSERT_EQ(1, send(self->p.client, "x", 1, 0));
		ASSERT_TRUE(uring_reap(&self->u, &cqe, WAIT_MS));
		EXPECT_EQ(POLLIN, POLLIN & cqe.res);
		EXPECT_TRUE(cqe.flags & IORING_CQE_F_MORE);
		ASSERT_EQ(1, recv(self->p.server, &c, 1, 0));
	}
	ASSERT_EQ(0, shutdown(self->p.client, SHUT_WR));
	ASSERT_TRUE(uring_reap(&self->u, &cqe, WAIT_MS));
	EXPECT_EQ(POLLIN, POLLIN & cqe.res);
}

/* below SO_RCVLOWAT there is no event */
TEST_F(uring, poll_below_lowat)
{
	struct io_uring_sqe sqe;
	struct io_uring_cqe cqe;
	int low = 10;
	char buf[16];

	ASSERT_EQ(0, setsockopt(self->p.server, SOL_SOCKET, SO_RCVLOWAT, &low,
				sizeof(low)));
	sqe = uring_sqe(IORING_OP_POLL_ADD, self->p.server, NULL, 0);
	sqe.poll32_events = POLLIN;
	ASSERT_EQ(1, uring_submit(&self->u, &sqe));
	EXPECT_TRUE(none_yet(&self->u));
	ASSERT_EQ(4, send(self->p.client, "four", 4, 0));
	EXPECT_TRUE(none_yet(&self->u));
	ASSERT_EQ(6, send(self->p.client, "andsix", 6, 0));
	ASSERT_TRUE(uring_reap(&self->u, &cqe, WAIT_MS));
	EXPECT_EQ(POLLIN, cqe.res);
	EXPECT_EQ(10, recv(self->p.server, buf, sizeof(buf), 0));
	/* the end is one */
	ASSERT_EQ(1, uring_submit(&self->u, &sqe));
	ASSERT_EQ(4, send(self->p.client, "last", 4, 0));
	EXPECT_TRUE(none_yet(&self->u));
	ASSERT_EQ(0, shutdown(self->p.client, SHUT_WR));
	ASSERT_TRUE(uring_reap(&self->u, &cqe, WAIT_MS));
	EXPECT_EQ(POLLIN, POLLIN & cqe.res);
	EXPECT_EQ(4, recv(self->p.server, buf, sizeof(buf), 0));
}

/* what is said to be there can be taken: the handshake is over by then */
TEST_F(uring, poll_listener)
{
	struct io_uring_sqe sqe;
	struct io_uring_cqe cqe;
	int client, server;

	set_nonblock(self->p.listener);
	sqe = uring_sqe(IORING_OP_POLL_ADD, self->p.listener, NULL, 0);
	sqe.poll32_events = POLLIN;
	for (int i = 0; i < 10; i++) {
		ASSERT_EQ(1, uring_submit(&self->u, &sqe));
		client = open_socket(variant->kind, self->p.addr.ss_family,
				     SOCK_NONBLOCK);
		connect(client, (struct sockaddr *)&self->p.addr, self->p.len);
		ASSERT_TRUE(uring_reap(&self->u, &cqe, WAIT_MS));
		EXPECT_EQ(POLLIN, cqe.res);
		server = accept(self->p.listener, NULL, NULL);
		ASSERT_LE(0, server);
		close(client);
		close(server);
	}
}

/* one that waits can be taken back, and takes no byte with it */
TEST_F(uring, cancel)
{
	struct io_uring_sqe sqe, cancel;
	struct io_uring_cqe cqe;
	char buf[16];
	int seen = 0;

	sqe = uring_sqe(IORING_OP_RECV, self->p.server, buf, sizeof(buf));
	ASSERT_EQ(1, uring_submit(&self->u, &sqe));
	EXPECT_TRUE(none_yet(&self->u));
	cancel = uring_sqe(IORING_OP_ASYNC_CANCEL, -1, NULL, 0);
	cancel.addr = sqe.user_data;
	ASSERT_EQ(1, uring_submit(&self->u, &cancel));
	for (int i = 0; i < 2; i++) {
		ASSERT_TRUE(uring_reap(&self->u, &cqe, WAIT_MS));
		if (cqe.user_data == IORING_OP_RECV && cqe.res == -ECANCELED)
			seen |= 1;
		if (cqe.user_data == IORING_OP_ASYNC_CANCEL && !cqe.res)
			seen |= 2;
	}
	EXPECT_EQ(3, seen);
	ASSERT_TRUE(write_just(self->p.client, 10, 0));
	EXPECT_TRUE(read_just(self->p.server, 10, 0));
}

/* the completion says whether there is more */
TEST_F(uring, tells_of_more)
{
	struct io_uring_sqe sqe;
	struct io_uring_cqe cqe;
	char buf[16];

	ASSERT_TRUE(write_just(self->p.client, 10, 0));
	ASSERT_EQ(POLLIN, wait_events(self->p.server, POLLIN));
	sqe = uring_sqe(IORING_OP_RECV, self->p.server, buf, 4);
	ASSERT_EQ(1, uring_submit(&self->u, &sqe));
	ASSERT_TRUE(uring_reap(&self->u, &cqe, WAIT_MS));
	EXPECT_EQ(4, cqe.res);
	EXPECT_TRUE(cqe.flags & IORING_CQE_F_SOCK_NONEMPTY);
	sqe.len = 6;
	ASSERT_EQ(1, uring_submit(&self->u, &sqe));
	ASSERT_TRUE(uring_reap(&self->u, &cqe, WAIT_MS));
	EXPECT_EQ(6, cqe.res);
	EXPECT_FALSE(cqe.flags & IORING_CQE_F_SOCK_NONEMPTY);
}

/*
 * One request, a completion for each piece.  It takes what there is by the time
 * of a wake-up, beyond an urgent byte, too: no other wake-up follows.
 */
TEST_F(uring, recv_many)
{
	struct uring u;
	struct io_uring_sqe sqe;
	struct io_uring_cqe cqe;
	int c = self->p.client, s = self->p.server, i;
	static const char *const want[] = { "abc", "efg" };
	char room[4][8] = {};

	/* its completions wait for uring_reap() */
	if (uring_open(&u, IORING_SETUP_SINGLE_ISSUER |
			   IORING_SETUP_DEFER_TASKRUN))
		SKIP(return, "what is not in this kernel");
	sqe = uring_sqe(IORING_OP_PROVIDE_BUFFERS, 4, room, sizeof(room[0]));
	ASSERT_LE(0, uring_do(&u, sqe, WAIT_MS));
	sqe = uring_sqe(IORING_OP_RECV, s, NULL, 0);
	sqe.ioprio = IORING_RECV_MULTISHOT;
	sqe.flags = IOSQE_BUFFER_SELECT;
	ASSERT_EQ(1, uring_submit(&u, &sqe));
	EXPECT_TRUE(none_yet(&u));
	/* in line all that has come counts for SIOCINQ */
	must_set(s, SOL_SOCKET, SO_OOBINLINE, 1);
	ASSERT_EQ(3, send(c, "abc", 3, 0));
	ASSERT_EQ(1, send(c, "d", 1, MSG_OOB));
	ASSERT_EQ(3, send(c, "efg", 3, 0));
	ASSERT_TRUE(wait_queued(s, 7));
	must_set(s, SOL_SOCKET, SO_OOBINLINE, 0);
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(uring_reap(&u, &cqe, WAIT_MS)) {
			TH_LOG("\"%s\" stays", want[i]);
		}
		ASSERT_EQ(3, cqe.res);
		EXPECT_EQ(IORING_CQE_F_MORE, cqe.flags & IORING_CQE_F_MORE);
		EXPECT_EQ(!i, !!(cqe.flags & IORING_CQE_F_SOCK_NONEMPTY));
		EXPECT_STREQ(want[i],
			     room[cqe.flags >> IORING_CQE_BUFFER_SHIFT]);
	}
	close(u.fd);
}

/* the result, and then word that the memory may be written again */
TEST_F(uring, send_without_copy)
{
	struct io_uring_sqe sqe;
	struct io_uring_cqe cqe;
	char buf[5000];

	fill_bytes(buf, sizeof(buf), 0);
	sqe = uring_sqe(IORING_OP_SEND_ZC, self->p.client, buf, sizeof(buf));
	ASSERT_EQ(1, uring_submit(&self->u, &sqe));
	ASSERT_TRUE(uring_reap(&self->u, &cqe, WAIT_MS));
	EXPECT_EQ(5000, cqe.res);
	ASSERT_TRUE(cqe.flags & IORING_CQE_F_MORE);
	EXPECT_TRUE(read_just(self->p.server, 5000, 0));
	ASSERT_TRUE(uring_reap(&self->u, &cqe, WAIT_MS));
	EXPECT_TRUE(cqe.flags & IORING_CQE_F_NOTIF);
	EXPECT_FALSE(cqe.flags & IORING_CQE_F_MORE);
}

TEST_F(uring, splice)
{
	struct io_uring_sqe sqe;
	int p[2];

	ASSERT_EQ(0, pipe(p));
	ASSERT_TRUE(write_just(p[1], 3000, 0));
	sqe = uring_sqe(IORING_OP_SPLICE, self->p.client, NULL, 3000);
	sqe.splice_fd_in = p[0];
	sqe.splice_off_in = -1;
	sqe.off = -1;
	EXPECT_EQ(3000, uring_do(&self->u, sqe, WAIT_MS));
	ASSERT_EQ(POLLIN, wait_events(self->p.server, POLLIN));
	sqe.fd = p[1];
	sqe.splice_fd_in = self->p.server;
	EXPECT_EQ(3000, uring_do(&self->u, sqe, WAIT_MS));
	EXPECT_TRUE(read_just(p[0], 3000, 0));
	close(p[0]);
	close(p[1]);
}

/* the descriptor is closed while a request waits */
TEST_F(uring, closed_while_waiting)
{
	struct io_uring_sqe sqe;
	struct io_uring_cqe cqe;
	char buf[16];

	sqe = uring_sqe(IORING_OP_RECV, self->p.server, buf, sizeof(buf));
	ASSERT_EQ(1, uring_submit(&self->u, &sqe));
	EXPECT_TRUE(none_yet(&self->u));
	/* the request has the file: the connection goes on */
	close_fd(&self->p.server);
	ASSERT_EQ(1, send(self->p.client, "x", 1, MSG_NOSIGNAL));
	ASSERT_TRUE(uring_reap(&self->u, &cqe, WAIT_MS));
	EXPECT_EQ(1, cqe.res);
	/* and ends with it */
	EXPECT_TRUE(POLLRDHUP & wait_events(self->p.client, POLLRDHUP));
}

/* shutdown() and close() as requests */
TEST_F(uring, ends)
{
	char c;

	EXPECT_EQ(0, uring_do(&self->u, uring_sqe(IORING_OP_SHUTDOWN,
						  self->p.client, NULL,
						  SHUT_WR), WAIT_MS));
	EXPECT_EQ(0, recv(self->p.server, &c, 1, 0));
	EXPECT_EQ(0, uring_do(&self->u, uring_sqe(IORING_OP_CLOSE,
						  self->p.server, NULL, 0),
			      WAIT_MS));
	self->p.server = -1;
	EXPECT_EQ(0, recv(self->p.client, &c, 1, 0));
}

TEST_HARNESS_MAIN
