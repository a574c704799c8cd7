// SPDX-License-Identifier: GPL-2.0
/*
 * sockgroup - what a control group sees of its programs' connections
 *
 * BPF programs attached to a group are asked, and told, about a connection of
 * ours as they would be about TCP's, and what a connection buffers is charged
 * to the group.  Each test runs on plain TCP first (variant tcp).  Needs root
 * and cgroup2.
 */
#include "lib/bytes.h"
#include "lib/cgroup.h"
#include "lib/harness.h"
#include "lib/pair.h"
#include "lib/wait.h"

FIXTURE(group) {
	struct pair p;
	struct cgroup g;
};

FIXTURE_VARIANT(group) {
	enum kind kind;
};

FIXTURE_VARIANT_ADD(group, tcp) { KIND_TCP };
FIXTURE_VARIANT_ADD(group, ipproto) { KIND_IPPROTO };
FIXTURE_VARIANT_ADD(group, afsmc) { KIND_AFSMC };

FIXTURE_SETUP(group)
{
	if (cgroup_enter(&self->g))
		SKIP(return, "no control group: %s", strerror(errno));
	ASSERT_EQ(0, pair_listen(&self->p, variant->kind));
}

FIXTURE_TEARDOWN(group)
{
	pair_close(&self->p);
	cgroup_leave(&self->g);
}

static uint64_t cookie(int fd)
{
	uint64_t c = 0;
	socklen_t len = sizeof(c);

	if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &c, &len))
		return 0;
	return c;
}

TEST_F(group, connect_refused)
{
	ASSERT_EQ(0, bpf_refuse(&self->g, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
				BPF_CGROUP_INET4_CONNECT));
	EXPECT_EQ(-1, pair_connect(&self->p, variant->kind));
	EXPECT_EQ(EPERM, errno);
}

TEST_F(group, connect_elsewhere)
{
	struct sockaddr_in *to = (struct sockaddr_in *)&self->p.addr, peer;
	socklen_t len = sizeof(peer);
	int port = to->sin_port;

	ASSERT_EQ(0, bpf_redirect(&self->g, BPF_CGROUP_INET4_CONNECT, port));
	/* no socket listens there */
	to->sin_port = htons(1);
	ASSERT_EQ(0, pair_connect(&self->p, variant->kind));
	ASSERT_EQ(0, getpeername(self->p.client, (struct sockaddr *)&peer,
				 &len));
	EXPECT_EQ(port, peer.sin_port);
	ASSERT_TRUE(write_just(self->p.client, 1000, 0));
	EXPECT_TRUE(read_just(self->p.server, 1000, 0));
}

TEST_F(group, peer_renamed)
{
	struct sockaddr_in peer;
	socklen_t len = sizeof(peer);

	ASSERT_EQ(0, pair_connect(&self->p, variant->kind));
	ASSERT_EQ(0, bpf_redirect(&self->g, BPF_CGROUP_INET4_GETPEERNAME,
				  htons(77)));
	ASSERT_EQ(0, getpeername(self->p.client, (struct sockaddr *)&peer,
				 &len));
	EXPECT_EQ(htons(77), peer.sin_port);
	len = sizeof(peer);
	ASSERT_EQ(0, getpeername(self->p.server, (struct sockaddr *)&peer,
				 &len));
	EXPECT_EQ(htons(77), peer.sin_port);
}

TEST_F(group, bind_refused)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	int fd = open_socket(variant->kind, AF_INET, 0);

	ASSERT_EQ(0, bpf_refuse(&self->g, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
				BPF_CGROUP_INET4_BIND));
	EXPECT_EQ(-1, bind(fd, (struct sockaddr *)&addr, sizeof(addr)));
	EXPECT_EQ(EPERM, errno);
	close(fd);
}

/* asked when the port is known; refused, it is free again */
TEST_F(group, port_refused)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	int fd = open_socket(variant->kind, AF_INET, 0);

	ASSERT_EQ(0, bpf_refuse(&self->g, BPF_PROG_TYPE_CGROUP_SOCK,
				BPF_CGROUP_INET4_POST_BIND));
	EXPECT_EQ(-1, bind(fd, (struct sockaddr *)&addr, sizeof(addr)));
	EXPECT_EQ(EPERM, errno);
	close(fd);
}

TEST_F(group, socket_refused)
{
	int fd;

	ASSERT_EQ(0, bpf_refuse(&self->g, BPF_PROG_TYPE_CGROUP_SOCK,
				BPF_CGROUP_INET_SOCK_CREATE));
	if (variant->kind == KIND_AFSMC)
		fd = socket(AF_SMC, SOCK_STREAM, 0);
	else
		fd = socket(AF_INET, SOCK_STREAM,
			    variant->kind == KIND_IPPROTO ? IPPROTO_SMC : 0);
	EXPECT_EQ(-1, fd);
	EXPECT_EQ(EPERM, errno);
}

/* also on a connection that was accepted */
TEST_F(group, option_refused)
{
	int on = 1;

	ASSERT_EQ(0, pair_connect(&self->p, variant->kind));
	EXPECT_EQ(0, setsockopt(self->p.server, SOL_SOCKET, SO_KEEPALIVE, &on,
				sizeof(on)));
	ASSERT_EQ(0, bpf_refuse(&self->g, BPF_PROG_TYPE_CGROUP_SOCKOPT,
				BPF_CGROUP_SETSOCKOPT));
	EXPECT_EQ(-1, setsockopt(self->p.client, SOL_SOCKET, SO_KEEPALIVE, &on,
				 sizeof(on)));
	EXPECT_EQ(EPERM, errno);
	EXPECT_EQ(-1, setsockopt(self->p.server, SOL_SOCKET, SO_KEEPALIVE, &on,
				 sizeof(on)));
	EXPECT_EQ(EPERM, errno);
	EXPECT_EQ(-1, setsockopt(self->p.server, IPPROTO_TCP, TCP_NODELAY, &on,
				 sizeof(on)));
	EXPECT_EQ(EPERM, errno);
}

/* one connection, each step once, and by the name the program has for it */
TEST_F(group, connection_watched)
{
	int map = bpf_watch(&self->g);
	struct seen seen;

	ASSERT_LE(0, map);
	ASSERT_EQ(0, pair_connect(&self->p, variant->kind));
	ASSERT_TRUE(write_just(self->p.client, 1000, 0));
	EXPECT_TRUE(read_just(self->p.server, 1000, 0));
	seen = bpf_seen(map, BPF_SOCK_OPS_TCP_CONNECT_CB);
	EXPECT_EQ(1, seen.count);
	EXPECT_EQ(cookie(self->p.client), seen.cookie);
	seen = bpf_seen(map, BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB);
	EXPECT_EQ(1, seen.count);
	EXPECT_EQ(cookie(self->p.client), seen.cookie);
	seen = bpf_seen(map, BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB);
	EXPECT_EQ(1, seen.count);
	EXPECT_EQ(cookie(self->p.server), seen.cookie);
	close(map);
}

/* a mark above the length of any message of a handshake */
TEST_F(group, lowat_of_children)
{
	enum { LOW = 4096 };
	int low = 0, s;
	socklen_t len = sizeof(low);

	ASSERT_EQ(0, bpf_set_children(&self->g, SO_RCVLOWAT, LOW));
	ASSERT_EQ(0, pair_connect(&self->p, variant->kind));
	s = self->p.server;
	ASSERT_EQ(0, getsockopt(s, SOL_SOCKET, SO_RCVLOWAT, &low, &len));
	EXPECT_EQ(LOW, low);
	ASSERT_TRUE(write_just(self->p.client, LOW - 1, 0));
	EXPECT_EQ(0, poll_for(s, POLLIN, IDLE_MS));
	ASSERT_TRUE(write_just(self->p.client, 1, LOW - 1));
	EXPECT_EQ(POLLIN, poll_for(s, POLLIN, WAIT_MS));
	EXPECT_TRUE(read_just(s, LOW, 0));
}

/* sends until nothing more is taken; the bytes that lie unread */
static size_t fill(int fd)
{
	static char block[16384];
	size_t sum = 0;
	ssize_t n;

	while ((n = send(fd, block, sizeof(block), MSG_DONTWAIT)) > 0)
		sum += n;
	return sum;
}

/* both directions full: both ends' memory is the group's */
TEST_F(group, memory_charged)
{
	struct pair more[6];
	size_t held = 0;
	long before, grown;

	before = cgroup_number(&self->g, "memory.current");
	if (before < 0)
		SKIP(return, "no memory controller");
	for (int i = 0; i < 6; i++) {
		more[i] = self->p;
		ASSERT_EQ(0, pair_connect(&more[i], variant->kind));
		held += fill(more[i].client);
		held += fill(more[i].server);
	}
	grown = cgroup_number(&self->g, "memory.current") - before;
	/* Each CPU has its own stock: not exact; rings alone are most of it. */
	EXPECT_LE((long)held / 2, grown) {
		TH_LOG("%zu bytes are held, %ld charged", held, grown);
	}
	for (int i = 0; i < 6; i++) {
		close(more[i].client);
		close(more[i].server);
	}
}

TEST_HARNESS_MAIN
