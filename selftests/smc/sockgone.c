// SPDX-License-Identifier: GPL-2.0
/*
 * sockgone - a peer that vanishes is noticed in the time that the program has
 * asked for: TCP_USER_TIMEOUT, SO_KEEPALIVE
 *
 * Packets are dropped by nft.  As in sockopts.c each test runs on plain TCP
 * first; the environment has also
 *
 *	SMC_ECHO	address and port (IPv4) of a server that sends back what it
 *			gets, on another host: soft-RoCE does not use the
 *			network between two sockets of one port
 *	SMC_RDMA_PORT	UDP port of the RDMA traffic, to be dropped (4791)
 *	SMC_KEEPALIVE_FIRST	SO_KEEPALIVE is set before its times: a kernel
 *			before 6.2 does not tell us of it (deviations.rst)
 */
#include "lib/harness.h"
#include "lib/sockcase.h"

/* TCP and, if asked, RDMA traffic of a port goes nowhere from now on. */
static bool drop(int port, bool tcp, bool rdma)
{
	const char *udp = getenv("SMC_RDMA_PORT") ?: "4791";
	char cmd[512];
	int n;

	n = snprintf(cmd, sizeof(cmd),
		     "exec 2>/dev/null; nft add table inet smcdrop && "
		     "nft add chain inet smcdrop in '{ type filter hook input priority 0; }'");
	if (tcp)
		n += snprintf(cmd + n, sizeof(cmd) - n,
			      " && nft add rule inet smcdrop in tcp dport %d drop"
			      " && nft add rule inet smcdrop in tcp sport %d drop",
			      port, port);
	if (rdma)
		snprintf(cmd + n, sizeof(cmd) - n,
			 " && nft add rule inet smcdrop in udp dport %s drop",
			 udp);
	return !system(cmd);
}

static void undrop(void)
{
	if (system("nft delete table inet smcdrop 2>/dev/null"))
		errno = 0;
}

FIXTURE(gone) {
	struct conn p;
	bool dropped;
};

FIXTURE_VARIANT(gone) {
	enum kind kind;
	int family;
};

FIXTURE_VARIANT_ADD(gone, tcp) { KIND_TCP, AF_INET };
FIXTURE_VARIANT_ADD(gone, ipproto) { KIND_IPPROTO, AF_INET };
FIXTURE_VARIANT_ADD(gone, afsmc) { KIND_AFSMC, AF_INET };

FIXTURE_SETUP(gone)
{
	ASSERT_TRUE(conn_open(&self->p, variant->kind, variant->family));
	ASSERT_TRUE(byte_goes(self->p.c, self->p.s));
	ASSERT_TRUE(byte_goes(self->p.s, self->p.c));
}

/* The connection of the tests that drop goes to SMC_ECHO, if there is one. */
static bool far_away(struct conn *p, enum kind kind)
{
	const char *echo = getenv("SMC_ECHO"), *port;
	struct used then = smc_used();
	char host[64] = "";

	if (!echo)
		return true;
	port = strchr(echo, ' ');
	if (!port || port - echo >= (long)sizeof(host))
		die("SMC_ECHO is '%s', not ADDRESS PORT", echo);
	memcpy(host, echo, port - echo);
	conn_close(p);
	p->l = p->s = -1;
	p->c = open_socket(kind, AF_INET, 0);
	p->at.len = parse_addr(host, port + 1, &p->at.ss);
	return !connect(p->c, sa(&p->at), p->at.len) &&
	       became(kind, then, false) && byte_goes(p->c, p->c);
}

FIXTURE_TEARDOWN(gone)
{
	conn_close(&self->p);
	undrop();
}

/*
 * ms until the socket has an error, and which; from a @start before what makes
 * it wait: a test that is not run for a while sees a longer time, no shorter one
 */
static long until_error(int fd, uint64_t start, int *err)
{
	int mask = poll_for(fd, 0, WAIT_MS);

	*err = mask & POLLERR ? so_error(fd) : 0;
	return (now_ns() - start) / 1000000;
}

TEST_F_TIMEOUT(gone, user_timeout, 200)
{
	uint64_t start;
	int c, err;
	long ms;

	if (becomes(variant->kind, "smcd"))
		SKIP(return, "what is in shared memory has arrived");
	if (becomes(variant->kind, "smcr") && !getenv("SMC_ECHO"))
		SKIP(return, "for SMC-R between two hosts");
	ASSERT_TRUE(far_away(&self->p, variant->kind));
	c = self->p.c;
	ASSERT_EQ(0, set_int(c, IPPROTO_TCP, TCP_USER_TIMEOUT, 1000));
	if (!drop(port_of(&self->p.at), true, true))
		SKIP(return, "no nft");
	start = now_ns();
	ASSERT_EQ(1, send(c, "x", 1, 0));
	ms = until_error(c, start, &err);
	EXPECT_EQ(ETIMEDOUT, err);
	EXPECT_LE(900, ms);
	EXPECT_GE(limit_ms(10000), ms);
}

/* TCP alone would not notice: it is the data's way that is cut. */
TEST_F_TIMEOUT(gone, user_timeout_rdma, 200)
{
	uint64_t start;
	int c, err;
	long ms;

	if (!becomes(variant->kind, "smcr") || !getenv("SMC_ECHO"))
		SKIP(return, "for SMC-R between two hosts");
	ASSERT_TRUE(far_away(&self->p, variant->kind));
	c = self->p.c;
	ASSERT_EQ(0, set_int(c, IPPROTO_TCP, TCP_USER_TIMEOUT, 500));
	if (!drop(0, false, true))
		SKIP(return, "no nft");
	start = now_ns();
	ASSERT_EQ(1, send(c, "x", 1, 0));
	ms = until_error(c, start, &err);
	EXPECT_EQ(ETIMEDOUT, err);
	EXPECT_LE(450, ms);
	EXPECT_GE(limit_ms(5000), ms);
}

/* After @sec of silence, and twice as long without an answer, the peer is gone. */
static void set_keepalive(int fd, int sec)
{
	bool first = getenv("SMC_KEEPALIVE_FIRST");

	if (first)
		set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, sec);
	set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, sec);
	set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, 2);
	if (!first)
		set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

TEST_F_TIMEOUT(gone, keepalive, 200)
{
	uint64_t start;
	int c, err;
	long ms;

	ASSERT_TRUE(far_away(&self->p, variant->kind));
	c = self->p.c;
	if (!drop(port_of(&self->p.at), true, true))
		SKIP(return, "no nft");
	start = now_ns();
	set_keepalive(c, 1);
	/* the peer's end is of this kernel, or its device answers: lo drops no RDMA */
	if (becomes(variant->kind, "smcd") ||
	    (becomes(variant->kind, "smcr") && !getenv("SMC_ECHO"))) {
		EXPECT_EQ(0, poll_for(c, POLLIN, limit_ms(6000)));
		EXPECT_TRUE(byte_goes(c, self->p.s));
		return;
	}
	ms = until_error(c, start, &err);
	EXPECT_EQ(ETIMEDOUT, err);
	EXPECT_LE(900, ms);
}

TEST_F_TIMEOUT(gone, keepalive_rdma, 200)
{
	uint64_t start;
	int c, err;
	long ms;

	if (!becomes(variant->kind, "smcr") || !getenv("SMC_ECHO"))
		SKIP(return, "for SMC-R between two hosts");
	ASSERT_TRUE(far_away(&self->p, variant->kind));
	c = self->p.c;
	if (!drop(0, false, true))
		SKIP(return, "no nft");
	start = now_ns();
	set_keepalive(c, 1);
	ms = until_error(c, start, &err);
	EXPECT_EQ(ETIMEDOUT, err);
	EXPECT_LE(900, ms);
}

/* A firewall forgets the TCP connection, which is idle below a busy one. */
TEST_F_TIMEOUT(gone, keepalive_busy, 200)
{
	uint64_t until;
	int c;

	/* TCP has the data there */
	if (!uses_smc(variant->kind))
		SKIP(return, "for SMC-R and SMC-D");
	ASSERT_TRUE(far_away(&self->p, variant->kind));
	c = self->p.c;
	if (!drop(port_of(&self->p.at), true, false))
		SKIP(return, "no nft");
	set_keepalive(c, limit_s(1));
	/* twice as long as its probes take to fail */
	until = now_ns() + limit_s(6) * 1000000000ULL;
	while (now_ns() < until) {
		ASSERT_TRUE(byte_goes(c, self->p.s < 0 ? c : self->p.s));
		usleep(50000);
	}
	EXPECT_EQ(0, so_error(c));
}

/* With TCP_USER_TIMEOUT the number of probes does not count. */
TEST_F_TIMEOUT(gone, keepalive_user_timeout, 200)
{
	bool tcp = variant->kind == KIND_TCP;
	uint64_t start;
	int c, err;
	long ms;

	if (!tcp && (!becomes(variant->kind, "smcr") || !getenv("SMC_ECHO")))
		SKIP(return, "for SMC-R between two hosts");
	ASSERT_TRUE(far_away(&self->p, variant->kind));
	c = self->p.c;
	ASSERT_EQ(0, set_int(c, IPPROTO_TCP, TCP_USER_TIMEOUT, 5000));
	if (!drop(port_of(&self->p.at), tcp, true))
		SKIP(return, "no nft");
	start = now_ns();
	set_keepalive(c, 1);
	ms = until_error(c, start, &err);
	EXPECT_EQ(ETIMEDOUT, err);
	EXPECT_LE(3900, ms);
}

/* The peer is there and does not read. */
TEST_F_TIMEOUT(gone, user_timeout_window, 200)
{
	static char block[65536];
	int c = self->p.c, err;
	uint64_t start;
	long ms;

	ASSERT_EQ(0, set_int(c, IPPROTO_TCP, TCP_USER_TIMEOUT, 1500));
	set_nonblock(c);
	start = now_ns();
	/* until it is full for good: what the peer has does not wait here */
	do {
		while (send(c, block, sizeof(block), MSG_NOSIGNAL) > 0)
			;
	} while (poll_for(c, POLLOUT, 200) == POLLOUT);
	ms = until_error(c, start, &err);
	EXPECT_EQ(ETIMEDOUT, err);
	EXPECT_LE(1400, ms);
	EXPECT_ERR(EPIPE, send(c, block, 1, MSG_NOSIGNAL));
}

/* The peer has all that was written: a poll for its answer waits for nothing else. */
TEST_F_TIMEOUT(gone, user_timeout_of_a_reader, 200)
{
	static char block[49152];
	int c = self->p.c;

	ASSERT_EQ(0, set_int(c, IPPROTO_TCP, TCP_USER_TIMEOUT,
			     limit_ms(1000)));
	ASSERT_EQ(sizeof(block), send(c, block, sizeof(block), 0));
	EXPECT_EQ(0, poll_for(c, POLLIN, limit_ms(2500)));
	EXPECT_EQ(0, so_error(c));
}

/* Nothing outstanding, or a slow reader: the peer is there. */
TEST_F_TIMEOUT(gone, false_alarm, 200)
{
	static char block[65536];
	int c = self->p.c, s = self->p.s;
	int most = limit_ms(4000), step = most / 6, i;
	size_t sent = 0, got = 0;
	ssize_t n;

	/* as a step of the reader must not take that long it is a limit here */
	ASSERT_EQ(0, set_int(c, IPPROTO_TCP, TCP_USER_TIMEOUT, most));
	set_keepalive(c, limit_s(1));
	set_keepalive(s, limit_s(1));
	/* longer than the keepalive of either side would wait */
	usleep(3000000 * limit_s(1) + 500000);
	ASSERT_TRUE(byte_goes(c, s));
	ASSERT_TRUE(byte_goes(s, c));
	set_nonblock(c);
	/* fill, and read so slowly that it takes longer than the timeout */
	for (i = 0; i < most / step + 2; i++) {
		while ((n = send(c, block, sizeof(block), MSG_NOSIGNAL)) > 0)
			sent += n;
		for (int k = 0; k < 16 && got < sent; k++) {
			n = recv(s, block, sizeof(block), MSG_DONTWAIT);
			got += n > 0 ? n : 0;
		}
		usleep(step * 1000);
	}
	EXPECT_EQ(0, so_error(c));
	while (got < sent && poll_for(s, POLLIN, WAIT_MS)) {
		n = recv(s, block, sizeof(block), MSG_DONTWAIT);
		if (n <= 0)
			break;
		got += n;
	}
	EXPECT_EQ(sent, got);
	EXPECT_EQ(0, so_error(c));
}

TEST_HARNESS_MAIN
