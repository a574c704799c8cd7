// SPDX-License-Identifier: GPL-2.0
/*
 * sockopts - socket options are TCP's, or do on the SMC path what they mean
 *
 * The sweep sets and gets every option of a level with values of many lengths
 * on a TCP socket and on one of ours and compares the answers; set_not() and
 * get_not() list what may differ.  The other tests ask what options do.  Each
 * runs on plain TCP first (variants tcp, tcp6).  sockcase.h has the environment;
 * also
 *
 *	SMC_RDMA_PORT	UDP port of the RDMA traffic, to be dropped (4791)
 */
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <linux/sockios.h>
#include <linux/xfrm.h>

#include "lib/bytes.h"
#include "lib/harness.h"
#include "lib/sockcase.h"
#include "lib/tcpinfo.h"

#ifndef TCP_ULP
#define TCP_ULP 31
#endif
#ifndef TCP_MD5SIG
#define TCP_MD5SIG 14
#endif
#ifndef IP_XFRM_POLICY
#define IP_XFRM_POLICY 17
#endif
#ifndef IPV6_XFRM_POLICY
#define IPV6_XFRM_POLICY 35
#endif

FIXTURE(opt) {
	struct conn p;
};

KIND_VARIANTS(opt);

FIXTURE_SETUP(opt)
{
	ASSERT_TRUE(conn_open(&self->p, variant->kind, variant->family));
}

FIXTURE_TEARDOWN(opt)
{
	conn_close(&self->p);
}

/* -- the sweep -- */

enum phase { FRESH, LISTENING, CONNECTED };

/* what is not compared at all: it would change the socket for good */
static bool left_out(int level, int opt)
{
	if (level == IPPROTO_TCP)
		return opt == TCP_REPAIR || opt == TCP_ULP;
	if (level == SOL_SOCKET)
		return opt == SO_LOCK_FILTER;
	return level == IPPROTO_IPV6 && opt == IPV6_ADDRFORM;
}

/*
 * Before Linux 6.2 the core sets options of SOL_SOCKET without asking us, and
 * takes a new socket of AF_SMC for none of TCP.
 */
static bool core_refuses(enum phase phase, enum kind kind, int level, int opt)
{
	struct utsname u;

	return phase == FRESH && kind == KIND_AFSMC && level == SOL_SOCKET &&
	       (opt == SO_REUSEPORT || opt == SO_ZEROCOPY) &&
	       !uname(&u) && strverscmp(u.release, "6.2") < 0;
}

/* setsockopt() may answer differently */
static bool set_not(enum phase phase, int level, int opt)
{
	/* refused once it is SMC, whatever the value */
	if (phase == CONNECTED && level == IPPROTO_TCP &&
	    (opt == TCP_MD5SIG || opt == 32 /* TCP_MD5SIG_EXT */ ||
	     opt == 38 /* TCP_AO_ADD_KEY */ || opt == 40 /* TCP_AO_INFO */))
		return true;
	if (phase == CONNECTED && level == IPPROTO_IP)
		return opt == 16 /* IP_IPSEC_POLICY */ || opt == IP_XFRM_POLICY;
	if (phase == CONNECTED && level == IPPROTO_IPV6)
		return opt == 34 || opt == IPV6_XFRM_POLICY;
	return false;
}

/* getsockopt() may answer differently: other sizes, identities, moments */
static bool get_not(enum phase phase, int level, int opt)
{
	/* it grows with what has come by TCP */
	if (phase == CONNECTED && level == IPPROTO_TCP && opt == TCP_MAXSEG)
		return true;
	if (level == IPPROTO_TCP)
		return opt == TCP_INFO || opt == TCP_CC_INFO ||
		       opt == TCP_TIMESTAMP || opt == TCP_ZEROCOPY_RECEIVE;
	/*
	 * IPV6_MULTICAST_IF and _HOPS: taken from the last packet, and
	 * IPV6_2292PKTOPTIONS tells of it
	 */
	if (phase == CONNECTED && level == IPPROTO_IPV6)
		return opt == 6 || opt == 17 || opt == 18;
	if (level == IPPROTO_IP)
		return opt == 52 /* IP_PROTOCOL: the port, which differs */;
	if (level != SOL_SOCKET)
		return false;
	switch (opt) {
	case SO_SNDBUF:
	case SO_RCVBUF:
	case SO_DOMAIN:
	case SO_PROTOCOL:
	case SO_COOKIE:
	case SO_MEMINFO:
	case SO_INCOMING_CPU:
	case SO_INCOMING_NAPI_ID:
	case 28:	/* SO_PEERNAME: the ports differ */
	case 77:	/* SO_PEERPIDFD */
		return true;
	}
	return false;
}

static bool same_get(int tcp, int fd, int level, int opt, int len)
{
	int a[32], b[32];
	socklen_t la = len, lb = len;
	int ra, rb, ea, eb, at = 0;

	memset(a, 0x55, sizeof(a));
	memset(b, 0x55, sizeof(b));
	errno = 0;
	ra = getsockopt(tcp, level, opt, a, &la);
	ea = errno;
	errno = 0;
	rb = getsockopt(fd, level, opt, b, &lb);
	eb = errno;
	if (ra == rb && ea == eb && la == lb && !memcmp(a, b, sizeof(a)))
		return true;
	while (at < 31 && a[at] == b[at])
		at++;
	printf("# get level %d option %d length %d: TCP %d %s, length %d, %d; ours %d %s, length %d, %d (byte %d)\n",
	       level, opt, len, ra, strerror(ea), la, a[at], rb, strerror(eb),
	       lb, b[at], at * 4);
	return false;
}

static bool same_set(int tcp, int fd, int level, int opt, const void *val,
		     int len)
{
	int ra, rb, ea, eb;

	errno = 0;
	ra = setsockopt(tcp, level, opt, val, len);
	ea = errno;
	errno = 0;
	rb = setsockopt(fd, level, opt, val, len);
	eb = errno;
	if (ra == rb && ea == eb)
		return true;
	printf("# set level %d option %d length %d value %d: TCP %d %s; ours %d %s\n",
	       level, opt, len, *(int *)val, ra, strerror(ea), rb,
	       strerror(eb));
	return false;
}

/*
 * 0, or 1 at the first difference.  A slow kernel has a value of the three in turn
 * for each option.
 */
static int sweep_option(enum phase phase, int tcp, int fd, int level, int opt)
{
	static const int values[] = { 0, 1, -1 };
	static const int lens[] = { 0, 1, 3, 4, 16, -1 };
	bool set = !set_not(phase, level, opt), get = !get_not(phase, level, opt);
	int count = repeats(3), first = (env_int("SMC_SEED", 0) & 0xff) + opt;
	char buf[64];

	for (int v = first; v < first + count; v++) {
		memset(buf, 0, sizeof(buf));
		memcpy(buf, &values[v % 3], sizeof(int));
		for (int n = 0; n < 6 && set; n++)
			if (!same_set(tcp, fd, level, opt, buf, lens[n]))
				return 1;
		for (int n = 0; n < 6 && get; n++)
			if (!same_get(tcp, fd, level, opt, lens[n]))
				return 1;
	}
	return 0;
}

static void sweep_sockets(enum phase phase, enum kind kind, int family,
			  struct conn *t, struct conn *o)
{
	if (phase == CONNECTED) {
		if (!conn_open(t, KIND_TCP, family) ||
		    !conn_open(o, kind, family))
			die("no connection to sweep");
		return;
	}
	t->l = t->s = o->l = o->s = -1;
	t->c = open_socket(KIND_TCP, family, 0);
	o->c = open_socket(kind, family, 0);
	if (phase == LISTENING && (listen(t->c, 1) || listen(o->c, 1)))
		die("listen");
}

static int sweep(enum phase phase, enum kind kind, int family, int level,
		 int last)
{
	struct conn t, o;
	int bad = 0;

	for (int opt = 0; opt <= last; opt++) {
		if (left_out(level, opt) ||
		    core_refuses(phase, kind, level, opt))
			continue;
		/* options work on each other: a new socket for each */
		if (!opt || phase != CONNECTED)
			sweep_sockets(phase, kind, family, &t, &o);
		bad += sweep_option(phase, t.c, o.c, level, opt);
		if (opt == last || phase != CONNECTED) {
			conn_close(&t);
			conn_close(&o);
		}
	}
	return bad;
}

#define SWEEP(phase) do {						\
	EXPECT_EQ(0, sweep(phase, variant->kind, variant->family,	\
			   SOL_SOCKET, 90));				\
	EXPECT_EQ(0, sweep(phase, variant->kind, variant->family,	\
			   IPPROTO_TCP, 60));				\
	EXPECT_EQ(0, sweep(phase, variant->kind, variant->family,	\
			   IPPROTO_IP, 60));				\
	EXPECT_EQ(0, sweep(phase, variant->kind, variant->family,	\
			   IPPROTO_IPV6, 90));				\
	EXPECT_EQ(0, sweep(phase, variant->kind, variant->family,	\
			   IPPROTO_UDP, 4));				\
	EXPECT_EQ(0, sweep(phase, variant->kind, variant->family,	\
			   300, 4));					\
} while (0)

TEST_F_TIMEOUT(opt, sweep_fresh, 120)
{
	SWEEP(FRESH);
}

TEST_F_TIMEOUT(opt, sweep_listening, 120)
{
	SWEEP(LISTENING);
}

TEST_F_TIMEOUT(opt, sweep_connected, 120)
{
	SWEEP(CONNECTED);
}

/* -- the level decides -- */

/*
 * TCP_FASTOPEN and others force plain TCP; options of other levels with their
 * numbers do not.
 */
TEST_F(opt, level_is_honoured)
{
	static const int opts[] = { 1, 3, 9, 23, 30, 33, 34 };
	struct used then = smc_used();
	int fd = NEW(0), level, s;

	level = variant->family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP;
	for (int i = 0; i < 7; i++) {
		set_int(fd, level, opts[i], 1);
		set_int(fd, SOL_SOCKET, opts[i] == 1 ? SO_MARK : opts[i], 0);
	}
	set_int(fd, SOL_SOCKET, SO_LINGER, 0);
	ASSERT_EQ(0, CONNECT(fd, &self->p.at));
	EXPECT_TRUE(became(variant->kind, then, false));
	s = accept(self->p.l, NULL, NULL);
	EXPECT_TRUE(byte_goes(fd, s));
	close(fd);
	close(s);
	/* a listener with such options */
	then = smc_used();
	for (int i = 0; i < 7; i++)
		set_int(self->p.l, level, opts[i], 0);
	fd = NEW(0);
	ASSERT_EQ(0, CONNECT(fd, &self->p.at));
	EXPECT_TRUE(became(variant->kind, then, false));
	close(fd);
}

/* What TCP refuses, and what switches off, forces nothing. */
TEST_F(opt, refused_forces_nothing)
{
	struct used then = smc_used();
	int fd = NEW(0), s, one = 1;

	EXPECT_ERR(EINVAL, setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT,
				      &one, 1));
	EXPECT_ERR(EINVAL, set_int(fd, IPPROTO_TCP, TCP_FASTOPEN, -1));
	EXPECT_ERR(EINVAL, setsockopt(fd, IPPROTO_TCP, TCP_MD5SIG, &one, 4));
	EXPECT_EQ(-1, setsockopt(fd, IPPROTO_TCP, TCP_ULP, "nosuch", 6));
	EXPECT_EQ(0, set_int(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 0));
	EXPECT_EQ(0, set_int(fd, IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, 0));
	ASSERT_EQ(0, CONNECT(fd, &self->p.at));
	EXPECT_TRUE(became(variant->kind, then, false));
	s = accept(self->p.l, NULL, NULL);
	EXPECT_TRUE(byte_goes(fd, s));
	close(fd);
	close(s);
}

/* Only a connection to a mapped address can become one of IPv4. */
#define ADDRFORM(f) set_int(self->p.c, IPPROTO_IPV6, IPV6_ADDRFORM, f)
TEST_F(opt, addrform_refused)
{
	int no = variant->family == AF_INET6 ? 0 : ENOPROTOOPT;

	EXPECT_ERR(no ?: EADDRNOTAVAIL, ADDRFORM(AF_INET));
	EXPECT_ERR(no ?: EINVAL, ADDRFORM(AF_INET6));
	EXPECT_EQ(0, shutdown(self->p.s, SHUT_WR));
	EXPECT_EQ(POLLRDHUP, poll_for(self->p.c, POLLRDHUP, WAIT_MS));
	EXPECT_ERR(no ?: ENOTCONN, ADDRFORM(AF_INET));
}

/* -- what must not be bypassed -- */

struct md5sig {
	struct sockaddr_storage addr;
	uint8_t flags, prefixlen;
	uint16_t keylen;
	uint32_t ifindex;
	uint8_t key[80];
};

static int set_md5(int fd, const struct where *w)
{
	struct md5sig md5 = { .addr = w->ss, .keylen = 4, .key = "key" };

	set_int(fd, SOL_SOCKET, SO_MARK, 0);
	return setsockopt(fd, IPPROTO_TCP, TCP_MD5SIG, &md5, sizeof(md5));
}

TEST_F(opt, md5)
{
	struct where at, host = where_is(variant->family);
	struct used then = smc_used();
	int l, fd, s;

	l = listen_any(variant->kind, variant->family, 4, &at);
	fd = NEW(0);
	if (set_md5(l, &host) && errno == ENOPROTOOPT)
		SKIP(return, "no TCP_MD5SIG");
	ASSERT_EQ(0, set_md5(fd, &host));
	ASSERT_EQ(0, CONNECT(fd, &at));
	EXPECT_TRUE(became(variant->kind, then, true));
	s = accept(l, NULL, NULL);
	EXPECT_TRUE(byte_goes(fd, s));
	EXPECT_TRUE(byte_goes(s, fd));
	close(fd);
	close(s);
	/* without the key nothing comes through */
	fd = NEW(SOCK_NONBLOCK);
	EXPECT_ERR(EINPROGRESS, CONNECT(fd, &at));
	EXPECT_EQ(0, poll_for(fd, POLLOUT, IDLE_MS));
	EXPECT_EQ(0, poll_for(l, POLLIN, 0));
	close(fd);
	close(l);
}

/* On an SMC connection it is too late: refused as if TCP did not have it. */
TEST_F(opt, md5_too_late)
{
	struct where host = where_is(variant->family);
	int rc = set_md5(self->p.c, &host), err = errno;

	if (uses_smc(variant->kind)) {
		EXPECT_EQ(-1, rc);
		EXPECT_EQ(ENOPROTOOPT, err);
		EXPECT_TRUE(byte_goes(self->p.c, self->p.s));
	} else {
		EXPECT_TRUE(!rc || err == ENOPROTOOPT);
	}
}

TEST_F(opt, ulp)
{
	bool smc = uses_smc(variant->kind);
	int rc, err;

	EXPECT_ERR(ENOENT, setsockopt(self->p.c, IPPROTO_TCP, TCP_ULP,
				      "nosuch", 6));
	errno = 0;
	rc = setsockopt(self->p.c, IPPROTO_TCP, TCP_ULP, "tls", 3);
	err = errno;
	if (smc)
		EXPECT_EQ(-1, rc);
	EXPECT_TRUE(!rc || err == ENOENT);
	/* a library without kernel TLS goes on by itself */
	EXPECT_TRUE(byte_goes(self->p.c, self->p.s));
	rc = NEW(0);
	setsockopt(rc, IPPROTO_TCP, TCP_ULP, "tls", 3);
	EXPECT_TRUE(errno == ENOENT || errno == ENOTCONN);
	close(rc);
}

static int set_policy(int fd, int family)
{
	struct xfrm_userpolicy_info pol = {
		.sel.family = family,
		.lft = {
			.soft_byte_limit = XFRM_INF,
			.hard_byte_limit = XFRM_INF,
			.soft_packet_limit = XFRM_INF,
			.hard_packet_limit = XFRM_INF,
		},
		.dir = XFRM_POLICY_OUT,
		.action = XFRM_POLICY_ALLOW,
	};
	bool v6 = family == AF_INET6;

	return setsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP,
			  v6 ? IPV6_XFRM_POLICY : IP_XFRM_POLICY, &pol,
			  sizeof(pol));
}

TEST_F(opt, ipsec_policy)
{
	bool smc = uses_smc(variant->kind);
	struct used then = smc_used();
	int fd = NEW(0), s, rc;

	if (set_policy(fd, variant->family))
		SKIP(return, "no socket policies: %s", strerror(errno));
	ASSERT_EQ(0, CONNECT(fd, &self->p.at));
	EXPECT_TRUE(became(variant->kind, then, true));
	s = accept(self->p.l, NULL, NULL);
	EXPECT_TRUE(byte_goes(fd, s));
	EXPECT_TRUE(byte_goes(s, fd));
	close(s);
	close(fd);
	/* one for a connection that is SMC already */
	rc = set_policy(self->p.c, variant->family);
	EXPECT_EQ(smc ? -1 : 0, rc);
	EXPECT_TRUE(byte_goes(self->p.c, self->p.s));
}

/* -- what options do to data -- */

/*
 * Bytes that are held back stay for 200 ms and no longer.  A machine that
 * stands still makes what is prompt look late and what is held look prompt, but
 * not in every one of 20 rounds, nor in most of those that are held.
 */
#define ROUNDS	20
#define HELD	5
#define HELD_MS	150

enum hold { BY_CORK, BY_MORE };
enum release { BY_UNCORK, BY_NODELAY, BY_WRITE, BY_URGENT, BY_TIME };

/* one round; ms from the write to the arrival, -1 if it is not what was sent */
static int held_ms(int c, int s, enum hold hold, enum release by)
{
	char buf[8] = "";
	int want = 2, ms;
	uint64_t t;

	set_int(c, IPPROTO_TCP, TCP_NODELAY, 0);
	set_int(c, IPPROTO_TCP, TCP_CORK, hold == BY_CORK);
	t = now_ns();
	if (send(c, "ab", 2, hold == BY_MORE ? MSG_MORE : 0) != 2)
		return -1;
	if (by == BY_UNCORK)
		set_int(c, IPPROTO_TCP, TCP_CORK, 0);
	if (by == BY_NODELAY)
		set_int(c, IPPROTO_TCP, TCP_NODELAY, 1);
	if (by == BY_WRITE)
		want += send(c, "cd", 2, 0);
	/* it is not read, and the next round passes it */
	if (by == BY_URGENT && send(c, "!", 1, MSG_OOB) != 1)
		return -1;
	if (!poll_for(s, POLLIN, WAIT_MS))
		return -1;
	ms = (now_ns() - t) / 1000000;
	if (recv(s, buf, want, MSG_WAITALL) != want ||
	    memcmp(buf, "abcd", want))
		return -1;
	return ms;
}

static void let_go(int c)
{
	set_int(c, IPPROTO_TCP, TCP_CORK, 0);
	set_int(c, IPPROTO_TCP, TCP_NODELAY, 0);
}

/* of HELD rounds, those where just the time ended it; -1: wrong bytes */
static int rounds_held(int c, int s, enum hold hold)
{
	int i, ms, n = 0;

	for (i = 0; i < HELD; i++) {
		ms = held_ms(c, s, hold, BY_TIME);
		if (ms < 0)
			return -1;
		n += ms >= HELD_MS;
	}
	let_go(c);
	return n;
}

/* the shortest of the rounds, ends with one that was not held */
static int shortest(int c, int s, enum hold hold, enum release by)
{
	int i, ms, best = WAIT_MS;

	for (i = 0; i < ROUNDS && best >= HELD_MS; i++) {
		ms = held_ms(c, s, hold, by);
		if (ms < 0)
			return WAIT_MS;
		best = ms < best ? ms : best;
	}
	let_go(c);
	return best;
}

TEST_F_TIMEOUT(opt, cork_and_nodelay, 120)
{
	int c = self->p.c, s = self->p.s;

	ASSERT_EQ(0, set_int(c, IPPROTO_TCP, TCP_CORK, 1));
	EXPECT_EQ(1, get_int(c, IPPROTO_TCP, TCP_CORK));
	/* held back, and no cork lasts longer than 200 ms */
	EXPECT_LT(HELD / 2, rounds_held(c, s, BY_CORK));
	EXPECT_LT(HELD / 2, rounds_held(c, s, BY_MORE));
	/* let go by whatever ends it, not by the time */
	EXPECT_GT(HELD_MS, shortest(c, s, BY_CORK, BY_UNCORK));
	EXPECT_GT(HELD_MS, shortest(c, s, BY_CORK, BY_NODELAY));
	EXPECT_GT(HELD_MS, shortest(c, s, BY_CORK, BY_URGENT));
	EXPECT_GT(HELD_MS, shortest(c, s, BY_MORE, BY_URGENT));
	EXPECT_GT(HELD_MS, shortest(c, s, BY_MORE, BY_WRITE));
	EXPECT_TRUE(byte_goes(c, s));
}

#define NOTSENT	4000
#define SEGMENT	500

/*
 * Bytes that are held back are unsent, too, but leave before poll() would wait
 * for it.  TCP holds back less than a segment, which is short here.
 */
TEST_F(opt, cork_and_notsent_lowat)
{
	size_t len = NOTSENT - SEGMENT;
	int c, s, i, ms, best = WAIT_MS;
	uint64_t t;

	ASSERT_EQ(0, set_int(self->p.l, IPPROTO_TCP, TCP_MAXSEG, SEGMENT));
	c = NEW(0);
	ASSERT_EQ(0, CONNECT(c, &self->p.at));
	s = accept(self->p.l, NULL, NULL);
	ASSERT_LE(0, s);
	ASSERT_EQ(0, set_int(c, IPPROTO_TCP, TCP_NOTSENT_LOWAT, NOTSENT));
	ASSERT_EQ(0, set_int(c, IPPROTO_TCP, TCP_CORK, 1));
	for (i = 0; i < ROUNDS && best >= HELD_MS; i++) {
		t = now_ns();
		ASSERT_TRUE(write_just(c, len, i * len));
		ASSERT_EQ(POLLOUT, poll_for(c, POLLOUT, WAIT_MS));
		ms = (now_ns() - t) / 1000000;
		best = ms < best ? ms : best;
		ASSERT_TRUE(read_just(s, len, i * len));
	}
	EXPECT_GT(HELD_MS, best);
	close(s);
	close(c);
}

TEST_F(opt, for_tcp_alone)
{
	char name[16] = "";
	socklen_t len = sizeof(name);
	int c = self->p.c, v;

	ASSERT_EQ(0, setsockopt(c, IPPROTO_TCP, TCP_CONGESTION, "reno", 4));
	ASSERT_EQ(0, getsockopt(c, IPPROTO_TCP, TCP_CONGESTION, name, &len));
	EXPECT_STREQ("reno", name);
	EXPECT_ERR(ENOENT, setsockopt(c, IPPROTO_TCP, TCP_CONGESTION, "xyz",
				      3));
	v = get_int(c, IPPROTO_TCP, TCP_MAXSEG);
	EXPECT_LT(500, v);
	EXPECT_EQ(0, set_int(c, IPPROTO_TCP, TCP_QUICKACK, 1));
	EXPECT_EQ(0, set_int(c, IPPROTO_TCP, TCP_KEEPIDLE, 77));
	EXPECT_EQ(77, get_int(c, IPPROTO_TCP, TCP_KEEPIDLE));
	EXPECT_TRUE(byte_goes(c, self->p.s));
}

/* since Linux 6.8 */
static bool tcp_has_peek_off(void)
{
	int fd = open_socket(KIND_TCP, AF_INET, 0);
	bool yes = !set_int(fd, SOL_SOCKET, SO_PEEK_OFF, 0);

	close(fd);
	return yes;
}

/* What a connection gets from its listener. */
TEST_F(opt, inherited)
{
	static const struct {
		int level, opt, val;
	} child_has[] = {
		{ SOL_SOCKET, SO_PEEK_OFF, 7 },
		{ IPPROTO_TCP, TCP_CORK, 1 },
		{ SOL_SOCKET, SO_BROADCAST, 1 },
		{ SOL_SOCKET, SO_RXQ_OVFL, 1 },
		{ SOL_SOCKET, SO_BUSY_POLL, 60 },
		{ SOL_SOCKET, SO_MAX_PACING_RATE, 1000000 },
		{ SOL_SOCKET, SO_OOBINLINE, 1 },
	};
	int l = self->p.l, fd = NEW(0), first = !tcp_has_peek_off(), s, i;

	ASSERT_EQ(0, set_int(l, SOL_SOCKET, SO_KEEPALIVE, 1));
	ASSERT_EQ(0, set_int(l, IPPROTO_TCP, TCP_KEEPIDLE, 55));
	ASSERT_EQ(0, set_int(l, IPPROTO_TCP, TCP_NODELAY, 1));
	ASSERT_EQ(0, set_int(l, IPPROTO_TCP, TCP_USER_TIMEOUT, 5555));
	ASSERT_EQ(0, set_int(l, SOL_SOCKET, SO_RCVLOWAT, 3));
	ASSERT_EQ(0, set_int(l, SOL_SOCKET, SO_PRIORITY, 4));
	for (i = first; i < 7; i++)
		ASSERT_EQ(0, set_int(l, child_has[i].level, child_has[i].opt,
				     child_has[i].val));
	ASSERT_EQ(0, CONNECT(fd, &self->p.at));
	s = accept(l, NULL, NULL);
	ASSERT_LE(0, s);
	for (i = first; i < 7; i++)
		EXPECT_EQ(child_has[i].val,
			  get_int(s, child_has[i].level, child_has[i].opt));
	ASSERT_EQ(0, set_int(s, IPPROTO_TCP, TCP_CORK, 0));
	EXPECT_EQ(1, get_int(s, SOL_SOCKET, SO_KEEPALIVE));
	EXPECT_EQ(55, get_int(s, IPPROTO_TCP, TCP_KEEPIDLE));
	EXPECT_EQ(1, get_int(s, IPPROTO_TCP, TCP_NODELAY));
	EXPECT_EQ(5555, get_int(s, IPPROTO_TCP, TCP_USER_TIMEOUT));
	EXPECT_EQ(3, get_int(s, SOL_SOCKET, SO_RCVLOWAT));
	EXPECT_EQ(0, get_int(s, SOL_SOCKET, SO_PRIORITY));
	/* the low-water mark works: two bytes are not enough */
	ASSERT_EQ(2, send(fd, "ab", 2, 0));
	EXPECT_EQ(0, poll_for(s, POLLIN, IDLE_MS));
	ASSERT_EQ(1, send(fd, "c", 1, 0));
	EXPECT_EQ(POLLIN, poll_for(s, POLLIN, WAIT_MS));
	close(fd);
	close(s);
}

TEST_F(opt, peek_offset)
{
	int s = self->p.s;
	char buf[8];

	if (!tcp_has_peek_off())
		SKIP(return, "what is not in this kernel");
	EXPECT_EQ(-1, get_int(s, SOL_SOCKET, SO_PEEK_OFF));
	ASSERT_EQ(0, set_int(s, SOL_SOCKET, SO_PEEK_OFF, 2));
	EXPECT_EQ(2, get_int(s, SOL_SOCKET, SO_PEEK_OFF));
	ASSERT_EQ(6, send(self->p.c, "abcdef", 6, 0));
	ASSERT_EQ(POLLIN, poll_for(s, POLLIN, WAIT_MS));
	EXPECT_EQ(2, recv(s, buf, 2, MSG_PEEK));
	EXPECT_EQ(0, memcmp(buf, "cd", 2));
	EXPECT_EQ(2, recv(s, buf, 8, MSG_PEEK));
	EXPECT_EQ(0, memcmp(buf, "ef", 2));
	EXPECT_ERR(EAGAIN, recv(s, buf, 8, MSG_PEEK | MSG_DONTWAIT));
	EXPECT_EQ(3, recv(s, buf, 3, 0));
	EXPECT_EQ(0, memcmp(buf, "abc", 3));
	/* the offset went back with what was read */
	EXPECT_EQ(3, get_int(s, SOL_SOCKET, SO_PEEK_OFF));
	EXPECT_EQ(0, set_int(s, SOL_SOCKET, SO_PEEK_OFF, -1));
	EXPECT_EQ(3, recv(s, buf, 8, MSG_PEEK));
	EXPECT_EQ(0, memcmp(buf, "def", 3));
}

/* -- TCP_INFO -- */

static bool state_is(int fd, int state)
{
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;

	while (info_of(fd).state != state && now_ns() < end)
		usleep(1000);
	return info_of(fd).state == state;
}

TEST_F(opt, info_counts)
{
	static char block[50000];
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;
	uint64_t other = uses_smc(variant->kind) ? 0 : 1000;
	int c = self->p.c, s = self->p.s;
	socklen_t got = 1;
	struct info info;
	char state = 0;

	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(sizeof(block), send(c, block, sizeof(block), 0));
		ASSERT_EQ(sizeof(block), recv(s, block, sizeof(block),
					      MSG_WAITALL));
	}
	ASSERT_TRUE(byte_goes(s, c));
	do {
		info = info_of(c);
		usleep(10000);
	} while (info.bytes_acked < 200000 && now_ns() < end);
	EXPECT_EQ(1, info.state);
	EXPECT_LE(200000, info.bytes_sent);
	EXPECT_LE(200000, info.bytes_acked);
	/* after a handshake that failed TCP has counted its messages, too */
	EXPECT_GE(200002 + other, info.bytes_acked);
	EXPECT_LE(1, info.bytes_received);
	EXPECT_GE(1 + other, info.bytes_received);
	EXPECT_EQ(0, info.notsent_bytes);
	EXPECT_EQ(0, info.unacked);
	EXPECT_LT(0, info.snd_mss);
	EXPECT_LT(0, info.rto);
	EXPECT_LT(0, info.segs_out);
	EXPECT_GT(limit_ms(60000), info.last_data_sent);
	info = info_of(s);
	EXPECT_LE(200000, info.bytes_received);
	EXPECT_GE(200000 + other, info.bytes_received);
	EXPECT_GE(WAIT_MS, info.last_data_recv);
	/* short values */
	ASSERT_EQ(0, getsockopt(c, IPPROTO_TCP, TCP_INFO, &state, &got));
	EXPECT_EQ(1, got);
	EXPECT_EQ(1, state);
}

TEST_F(opt, info_times)
{
	struct info info;
	uint64_t start;
	uint32_t last;

	ASSERT_TRUE(byte_goes(self->p.c, self->p.s));
	usleep(300000);
	info = info_of(self->p.c);
	EXPECT_LE(250, info.last_data_sent);
	info = info_of(self->p.s);
	EXPECT_LE(250, info.last_data_recv);
	start = now_ns();
	ASSERT_TRUE(byte_goes(self->p.c, self->p.s));
	/* it came since then, and TCP counts in ticks */
	last = info_of(self->p.s).last_data_recv;
	EXPECT_GE((now_ns() - start) / 1000000 + 20, last);
}

TEST_F(opt, info_states)
{
	int l = self->p.l, c = self->p.c, s = self->p.s, fd = NEW(0);
	char b;

	EXPECT_EQ(TCP_CLOSE, info_of(fd).state);
	EXPECT_EQ(TCP_LISTEN, info_of(l).state);
	EXPECT_EQ(8, info_of(l).sacked);
	EXPECT_EQ(0, info_of(l).unacked);
	ASSERT_EQ(0, CONNECT(fd, &self->p.at));
	EXPECT_EQ(POLLIN, poll_for(l, POLLIN, WAIT_MS));
	EXPECT_EQ(1, info_of(l).unacked);
	close(fd);
	ASSERT_EQ(0, shutdown(c, SHUT_WR));
	EXPECT_EQ(0, recv(s, &b, 1, 0));
	EXPECT_TRUE(state_is(s, TCP_CLOSE_WAIT));
	EXPECT_TRUE(state_is(c, TCP_FIN_WAIT2));
	ASSERT_EQ(0, shutdown(s, SHUT_WR));
	EXPECT_TRUE(state_is(s, TCP_CLOSE));
	EXPECT_TRUE(state_is(c, TCP_CLOSE));
}

/* The peer does not read: what waits for it shows. */
TEST_F(opt, info_full)
{
	int c = self->p.c;
	struct info info;

	fill_from(c, 0);
	info = info_of(c);
	/* where the send ring is the peer's nothing waits on this side */
	if (!becomes(variant->kind, "smcd"))
		EXPECT_LT(0, info.notsent_bytes);
	EXPECT_EQ(1, info.state);
	EXPECT_EQ(0, POLLOUT & poll_for(c, POLLOUT, 0));
}

TEST_HARNESS_MAIN
