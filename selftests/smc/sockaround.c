// SPDX-License-Identifier: GPL-2.0
/*
 * sockaround - a socket of ours among processes and namespaces
 *
 * Its name for the kernel (SO_COOKIE), the ways a descriptor gets into another
 * process, and network namespaces.  Each test runs on plain TCP first (variant
 * tcp); where the documentation lists a deviation, the test says so.  Needs
 * root for namespaces.
 */
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/sockios.h>
#include <net/if.h>

#include "lib/bytes.h"
#include "lib/harness.h"
#include "lib/pair.h"
#include "lib/task.h"
#include "lib/wait.h"

FIXTURE(around) {
	struct pair p;
};

FIXTURE_VARIANT(around) {
	enum kind kind;
};

FIXTURE_VARIANT_ADD(around, tcp) { KIND_TCP };
FIXTURE_VARIANT_ADD(around, ipproto) { KIND_IPPROTO };
FIXTURE_VARIANT_ADD(around, afsmc) { KIND_AFSMC };

FIXTURE_SETUP(around)
{
	ASSERT_EQ(0, pair_listen(&self->p, variant->kind));
	ASSERT_EQ(0, pair_connect(&self->p, variant->kind));
}

FIXTURE_TEARDOWN(around)
{
	pair_close(&self->p);
}

static uint64_t cookie(int fd)
{
	uint64_t c = 0;
	socklen_t len = sizeof(c);

	if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &c, &len))
		return 0;
	return c;
}

static bool talks(int a, int b)
{
	return write_just(a, 500, 0) && read_just(b, 500, 0) &&
	       write_just(b, 500, 9) && read_just(a, 500, 9);
}

static bool ended(int fd)
{
	char c;

	return POLLRDHUP & wait_events(fd, POLLRDHUP) && !recv(fd, &c, 1, 0);
}

union control {
	struct cmsghdr head;
	char space[CMSG_SPACE(4 * sizeof(int))];
};

static bool give(int via, const int *fds, int num)
{
	char c = 'f';
	struct iovec iov = { &c, 1 };
	union control u = {};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &u,
		.msg_controllen = CMSG_SPACE(num * sizeof(int)),
	};
	struct cmsghdr *cm = CMSG_FIRSTHDR(&msg);

	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(num * sizeof(int));
	memcpy(CMSG_DATA(cm), fds, num * sizeof(int));
	return sendmsg(via, &msg, 0) == 1;
}

static bool take(int via, int *fds, int num)
{
	char c;
	struct iovec iov = { &c, 1 };
	union control u;
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &u,
		.msg_controllen = sizeof(u),
	};
	struct cmsghdr *cm;

	if (recvmsg(via, &msg, 0) != 1)
		return false;
	cm = CMSG_FIRSTHDR(&msg);
	if (!cm || cm->cmsg_len != CMSG_LEN(num * sizeof(int)))
		return false;
	memcpy(fds, CMSG_DATA(cm), num * sizeof(int));
	return true;
}

TEST_F(around, cookie_is_constant)
{
	int fd = open_socket(variant->kind, AF_INET, 0), peer, copy;
	uint64_t c = cookie(fd), s;

	ASSERT_NE(0, c);
	EXPECT_EQ(c, cookie(fd));
	ASSERT_EQ(0, connect(fd, (struct sockaddr *)&self->p.addr,
			     self->p.len));
	EXPECT_EQ(c, cookie(fd));
	peer = accept(self->p.listener, NULL, NULL);
	ASSERT_LE(0, peer);
	s = cookie(peer);
	EXPECT_NE(0, s);
	EXPECT_NE(c, s);
	EXPECT_NE(cookie(self->p.listener), s);
	EXPECT_TRUE(talks(fd, peer));
	copy = dup(fd);
	EXPECT_EQ(c, cookie(copy));
	EXPECT_EQ(s, cookie(peer));
	close(copy);
	close(peer);
	EXPECT_TRUE(ended(fd));
	EXPECT_EQ(c, cookie(fd));
	close(fd);
}

/* another process has it, the one that made it has not */
TEST_F(around, passed_on)
{
	uint64_t c = cookie(self->p.client);
	int sv[2], fd;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		pair_close(&self->p);
		close(sv[0]);
		_exit(take(sv[1], &fd, 1) && cookie(fd) == c &&
		      read_just(fd, 500, 0) && write_just(fd, 500, 9) ?
		      0 : 1);
	}
	ASSERT_TRUE(give(sv[0], &self->p.client, 1));
	close_fd(&self->p.client);
	ASSERT_TRUE(write_just(self->p.server, 500, 0));
	EXPECT_TRUE(read_just(self->p.server, 500, 9));
	EXPECT_TRUE(child_ok(pid));
	EXPECT_TRUE(ended(self->p.server));
	close(sv[0]);
	close(sv[1]);
}

/* not received: it is closed with the message that carried it */
TEST_F(around, lost_on_the_way)
{
	int sv[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
	ASSERT_TRUE(write_just(self->p.client, 500, 0));
	ASSERT_TRUE(give(sv[0], &self->p.client, 1));
	close_fd(&self->p.client);
	EXPECT_TRUE(read_just(self->p.server, 500, 0));
	close(sv[0]);
	close(sv[1]);
	EXPECT_TRUE(ended(self->p.server));
}

/* what carries it is in itself: the kernel's worker closes it */
TEST_F(around, lost_in_a_circle)
{
	int sv[2], fds[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
	fds[0] = self->p.client;
	fds[1] = sv[1];
	ASSERT_TRUE(give(sv[0], fds, 2));
	close_fd(&self->p.client);
	close(sv[0]);
	close(sv[1]);
	/* the collector begins when some such socket closes */
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
	close(sv[0]);
	close(sv[1]);
	EXPECT_TRUE(ended(self->p.server));
}

/* processes that write to one socket, and a listener of the parent's */
TEST_F(around, forked)
{
	pid_t pid[8], acceptor;
	struct pair more = self->p;
	char block[1000], c;

	for (int i = 0; i < 8; i++) {
		pid[i] = fork();
		ASSERT_LE(0, pid[i]);
		memset(block, 'a' + i, sizeof(block));
		if (!pid[i])
			_exit(write(self->p.client, block, 1000) == 1000 ?
			      0 : 1);
	}
	/* each block in one piece */
	for (int i = 0; i < 8; i++) {
		ASSERT_EQ(1000, recv(self->p.server, block, 1000, MSG_WAITALL));
		c = block[0];
		for (int j = 0; j < 1000; j++)
			ASSERT_EQ(c, block[j]);
		EXPECT_TRUE(child_ok(pid[i]));
	}
	acceptor = fork();
	ASSERT_LE(0, acceptor);
	if (!acceptor) {
		more.server = accept(self->p.listener, NULL, NULL);
		_exit(write_just(more.server, 500, 0) ? 0 : 1);
	}
	more.client = open_socket(variant->kind, AF_INET, 0);
	ASSERT_EQ(0, connect(more.client, (struct sockaddr *)&more.addr,
			     more.len));
	EXPECT_TRUE(read_just(more.client, 500, 0));
	EXPECT_TRUE(child_ok(acceptor));
	EXPECT_TRUE(ended(more.client));
	close(more.client);
}

/* a socket stays in the namespace it was made in */
TEST_F(around, namespace_of_birth)
{
	struct sockaddr *sa = (struct sockaddr *)&self->p.addr;
	int fd = open_socket(variant->kind, AF_INET, 0), peer;

	if (unshare(CLONE_NEWNET))
		SKIP(return, "no namespace: %s", strerror(errno));
	EXPECT_EQ(0, connect(fd, sa, self->p.len));
	peer = accept(self->p.listener, NULL, NULL);
	ASSERT_LE(0, peer);
	EXPECT_TRUE(talks(fd, peer));
	EXPECT_TRUE(talks(self->p.client, self->p.server));
	close(fd);
	close(peer);
	/* one made now is in the new one, where nothing listens */
	fd = open_socket(variant->kind, AF_INET, 0);
	EXPECT_EQ(-1, connect(fd, sa, self->p.len));
	close(fd);
}

static int lo_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), rc;

	ifr.ifr_flags = IFF_UP | IFF_RUNNING;
	rc = ioctl(fd, SIOCSIFFLAGS, &ifr);
	close(fd);
	return rc;
}

static int is_of(int fd, ino_t *netns)
{
	int ns = ioctl(fd, SIOCGSKNS);
	struct stat st;

	if (ns < 0 || fstat(ns, &st))
		return -1;
	*netns = st.st_ino;
	return close(ns);
}

/* a connection keeps its namespace after the last process has left it */
TEST_F(around, namespace_outlived)
{
	struct pair more;
	int sv[2], fds[2];
	ino_t ours, theirs;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		unsetenv("SMC_HOST");
		if (unshare_net() || lo_up() ||
		    pair_listen(&more, variant->kind) ||
		    pair_connect(&more, variant->kind))
			_exit(1);
		fds[0] = more.client;
		fds[1] = more.server;
		_exit(give(sv[1], fds, 2) ? 0 : 1);
	}
	ASSERT_TRUE(child_ok(pid));
	ASSERT_TRUE(take(sv[0], fds, 2));
	ASSERT_EQ(0, is_of(self->p.client, &ours));
	ASSERT_EQ(0, is_of(fds[0], &theirs));
	EXPECT_NE(ours, theirs);
	EXPECT_TRUE(talks(fds[0], fds[1]));
	close(fds[0]);
	EXPECT_TRUE(ended(fds[1]));
	close(fds[1]);
	close(sv[0]);
	close(sv[1]);
}

/*
 * Landlock's rules for TCP are for ours, too.  Deviation: they do not see the first
 * call on a socket of AF_SMC.
 */
TEST_F(around, landlock)
{
	/* struct landlock_ruleset_attr, which not all headers have in full */
	uint64_t attr[2] = { 0, 3 };	/* LANDLOCK_ACCESS_NET_BIND|CONNECT_TCP */
	struct sockaddr_storage any = self->p.addr;
	int fd, rules, rc;

	rules = syscall(__NR_landlock_create_ruleset, attr, sizeof(attr), 0);
	if (rules < 0 && errno != EOPNOTSUPP)
		SKIP(return, "what is not in this kernel");
	if (rules < 0)
		SKIP(return, "no Landlock: %s", strerror(errno));
	ASSERT_EQ(0, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	ASSERT_EQ(0, syscall(__NR_landlock_restrict_self, rules, 0));
	fd = open_socket(variant->kind, AF_INET, 0);
	((struct sockaddr_in *)&any)->sin_port = 0;
	rc = bind(fd, (struct sockaddr *)&any, self->p.len);
	EXPECT_EQ(variant->kind == KIND_AFSMC ? 0 : -EACCES, rc ? -errno : 0);
	rc = connect(fd, (struct sockaddr *)&self->p.addr, self->p.len);
	EXPECT_EQ(-EACCES, rc ? -errno : 0);
	close(fd);
	close(rules);
}

TEST_HARNESS_MAIN
