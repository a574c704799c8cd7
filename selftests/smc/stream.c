// SPDX-License-Identifier: GPL-2.0
/*
 * stream - the stream checker: are the bytes that arrive those that were sent?
 *
 * N connections at once, both directions of each at the same time.  A
 * direction is a header, a payload and the payload's SHA-256:
 *
 *	magic, connection id, payload length, pool offset, closing side
 *
 * Payload is cut from a pool of random bytes both sides make from the seed.
 * The pool's period is a prime, so data displaced by a ring size or taken
 * from another connection shows, and the first wrong byte can be named.  The
 * verdict is the digest.  After it must come end of file and nothing else.
 *
 * Sizes of single send and receive calls are log-uniform, 1 byte to 1 MiB;
 * calls vary (send, sendmsg with three pieces, MSG_MORE; recv, readv,
 * MSG_PEEK then recv, MSG_WAITALL).  Modes: blocking (two threads per
 * connection), poll, and edge-triggered epoll.  A watchdog ends the run when
 * no byte moves for -w seconds, after printing where each connection stands.
 *
 * stream_io.c has the two state machines, this file the options and loops.
 * Run with -h.  Exit: 0 all equal, 1 something failed, 3 no progress.
 */
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "lib/wait.h"
#include "stream.h"

enum mode { MODE_POLL, MODE_EPOLL, MODE_BLOCK };

static enum mode mode = MODE_EPOLL;
static enum kind kind = KIND_TCP;
static const char *hold;		/* file that ends the hold */
static unsigned int rounds = 1, watchdog_s = 60;
static int sndbuf, rcvbuf;		/* -1: differs per connection */
static struct sockaddr_storage addr;
static socklen_t addr_len;
static bool server;

static struct conn *conns;
static unsigned int total_conns;
static atomic_uint failures;
static atomic_uint verified_conns;
static atomic_uint ended_conns;

static void dump(void)
{
	unsigned int i, shown = 0;

	for (i = 0; i < total_conns && shown < 20; i++) {
		struct conn *c = &conns[i];
		struct pollfd p = { .fd = c->fd, .events = POLLIN | POLLOUT };
		int in = -1, out = -1;

		if (c->fd < 0 || c->done)
			continue;
		poll(&p, 1, 0);
		ioctl(c->fd, FIONREAD, &in);
		ioctl(c->fd, TIOCOUTQ, &out);
		fprintf(stderr,
			"  %s conn %u: sent %llu of %llu, received %llu of %llu, revents 0x%x, inq %d, outq %d%s%s\n",
			server ? "server" : "client", i,
			(unsigned long long)c->tx_pos,
			(unsigned long long)tx_end(c),
			(unsigned long long)c->rx_pos,
			(unsigned long long)(c->rx_len ? rx_end(c) : 0),
			p.revents, in, out, c->verified ? ", verified" : "",
			c->connected ? "" : ", connecting");
		shown++;
	}
}

static void *watchdog(void *arg)
{
	unsigned long seen = atomic_load(&progress);
	int idle = 0;

	while (ended_conns < total_conns) {
		sleep(1);
		if (seen != atomic_load(&progress) || (server && !seen)) {
			seen = atomic_load(&progress);
			idle = 0;
		} else if (++idle >= limit_s(watchdog_s)) {
			fprintf(stderr, "%s: no byte moved for %d s\n",
				server ? "server" : "client",
				limit_s(watchdog_s));
			dump();
			_exit(3);
		}
	}
	return arg;
}

/*
 * With -H connections stay open after their data is verified, so that a
 * script can look at them: FILE.ready (client only) says that all are, FILE
 * ends it.  Without it this returns true at once.
 */
static bool may_close(void)
{
	static atomic_bool said;
	char name[PATH_MAX];

	if (!hold)
		return true;
	if (atomic_load(&verified_conns) < total_conns)
		return false;
	if (!atomic_exchange(&said, true)) {
		snprintf(name, sizeof(name), "%s.%s", hold,
			 server ? "server" : "client");
		touch(name);
	}
	if (!access(hold, F_OK))
		return true;
	atomic_fetch_add(&progress, 1);
	return false;
}

static void conn_end(struct conn *c, const char *why)
{
	if (c->done)
		return;
	if (why) {
		fprintf(stderr,
			"%s conn %u: %s: %s (sent %llu of %llu, received %llu of %llu)\n",
			server ? "server" : "client", c->id, why,
			errno ? strerror(errno) : "wrong",
			(unsigned long long)c->tx_pos,
			(unsigned long long)tx_end(c),
			(unsigned long long)c->rx_pos,
			(unsigned long long)(c->rx_len ? rx_end(c) : 0));
		atomic_fetch_add(&failures, 1);
		if (!c->verified)
			atomic_fetch_add(&verified_conns, 1);
	}
	c->done = true;
	close(c->fd);
	atomic_fetch_add(&ended_conns, 1);
	atomic_fetch_add(&progress, 1);
}

/* first to close, for this end of this connection? */
static bool closes_first(const struct conn *c)
{
	return c->closer == (server ? CLOSE_SERVER : CLOSE_CLIENT);
}

/*
 * Send, receive and close as far as is possible now.  Only in non-blocking
 * modes; the blocking threads have a straight line of their own.
 */
static void conn_drive(struct conn *c, uint8_t *buf)
{
	const char *why = NULL;
	int rc;

	if (c->done)
		return;
	if (!c->connected) {
		int err = 0;
		socklen_t len = sizeof(err);
		struct pollfd p = { .fd = c->fd, .events = POLLOUT };

		if (poll(&p, 1, 0) <= 0)
			return;
		getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &err, &len);
		errno = err;
		if (err) {
			conn_end(c, "connect");
			return;
		}
		c->connected = true;
		atomic_fetch_add(&progress, 1);
	}
	rc = tx_some(c, &why);
	if (rc < 0)
		goto fail;
	rc = rx_some(c, buf, false, &why);
	if (rc < 0)
		goto fail;
	if (c->verified && !c->counted) {
		c->counted = true;
		atomic_fetch_add(&verified_conns, 1);
	}
	if (!tx_done(c) || !c->rx_len)
		return;
	if (c->closer == CLOSE_SHUTDOWN && !c->shut) {
		if (hold && !may_close())
			return;
		c->shut = true;
		errno = 0;
		/* the peer has all it wants and may be gone already */
		if (shutdown(c->fd, SHUT_WR) && !(errno == ENOTCONN && c->eof)) {
			why = "shutdown";
			goto fail;
		}
	}
	if (c->eof || (c->verified && closes_first(c) && may_close()))
		conn_end(c, NULL);
	return;
fail:
	conn_end(c, why);
}

static int conn_open(struct conn *c, bool nonblock)
{
	int fd = open_socket(kind, addr.ss_family,
			     SOCK_CLOEXEC | (nonblock ? SOCK_NONBLOCK : 0));
	int s = sndbuf, r = rcvbuf;

	if (s < 0)
		s = 16384 << conn_random(c->id, 1) % 7;
	if (r < 0)
		r = 16384 << conn_random(c->id, 2) % 7;
	if (s && setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &s, sizeof(s)))
		die("SO_SNDBUF");
	if (r && setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &r, sizeof(r)))
		die("SO_RCVBUF");
	c->fd = fd;
	errno = 0;
	if (!connect(fd, (struct sockaddr *)&addr, addr_len)) {
		c->connected = true;
		return 0;
	}
	return errno == EINPROGRESS && nonblock ? 0 : -1;
}

/* ---- blocking mode: two threads for each connection ---- */

static void *block_tx(void *arg)
{
	const char *why = NULL;
	struct conn *c = arg;

	if (tx_some(c, &why) < 0) {
		c->tx_err = errno;
		c->tx_why = why;
		return NULL;
	}
	/*
	 * Half-close while the other direction still runs.  The server does
	 * so later: it learns only from the client which side closes first.
	 */
	if (!hold && !server && c->closer == CLOSE_SHUTDOWN) {
		c->shut = true;
		shutdown(c->fd, SHUT_WR);
	}
	return NULL;
}

static const char *block_run(struct conn *c, uint8_t *buf)
{
	const char *why = NULL;
	pthread_t tx;

	errno = pthread_create(&tx, NULL, block_tx, c);
	if (errno)
		die("pthread_create");
	while (!c->verified && !c->eof)
		if (rx_some(c, buf, true, &why) < 0)
			break;
	if (why)	/* let the sender go too */
		shutdown(c->fd, SHUT_RDWR);
	pthread_join(tx, NULL);
	if (why)
		return why;
	if (c->tx_why) {
		errno = c->tx_err;
		return c->tx_why;
	}
	atomic_fetch_add(&verified_conns, 1);
	while (!may_close())
		usleep(20000);
	if (closes_first(c))
		return NULL;
	if (c->closer == CLOSE_SHUTDOWN && !c->shut &&
	    shutdown(c->fd, SHUT_WR) && errno != ENOTCONN)
		return "shutdown";
	while (!c->eof)
		if (rx_some(c, buf, true, &why) < 0)
			return why;
	return NULL;
}

static void *block_thread(void *arg)
{
	uint8_t *buf = malloc(2 * READ_MAX);
	struct conn *c = arg;

	if (!buf)
		die("malloc");
	if (!server && conn_open(c, false))
		conn_end(c, "connect");
	else
		conn_end(c, block_run(c, buf));
	free(buf);
	return NULL;
}

static void run_block(int listener, unsigned int first, unsigned int n)
{
	pthread_t *thread = calloc(n, sizeof(*thread));
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct conn *c = &conns[first + i];

		conn_init(c, first + i, server);
		if (server) {
			c->fd = accept(listener, NULL, NULL);
			if (c->fd < 0)
				die("accept");
			c->connected = true;
			atomic_fetch_add(&progress, 1);
		}
		errno = pthread_create(&thread[i], NULL, block_thread, c);
		if (errno)
			die("pthread_create");
	}
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	free(thread);
}

/* ---- poll and epoll: one thread, n connections ---- */

static void watch(int ep, struct conn *c)
{
	struct epoll_event ev = {
		.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
		.data.ptr = c,
	};

	if (ep >= 0 && epoll_ctl(ep, EPOLL_CTL_ADD, c->fd, &ev))
		die("EPOLL_CTL_ADD");
}

static unsigned int accept_some(int listener, int ep, unsigned int next,
				unsigned int end)
{
	while (next < end) {
		struct conn *c = &conns[next];

		c->fd = accept4(listener, NULL, NULL,
				SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (c->fd < 0) {
			if (errno == EAGAIN)
				break;
			die("accept");
		}
		conn_init(c, next, true);
		c->connected = true;
		atomic_fetch_add(&progress, 1);
		watch(ep, c);
		next++;
	}
	return next;
}

static void wait_poll(int listener, unsigned int first, unsigned int next,
		      unsigned int end, uint8_t *buf)
{
	struct pollfd *p = calloc(next - first + 1, sizeof(*p));
	unsigned int i, k = 0;

	for (i = first; i < next; i++) {
		struct conn *c = &conns[i];

		if (c->done)
			continue;
		p[k].fd = c->fd;
		/* POLLOUT only when there is something to send */
		p[k].events = POLLIN;
		if (!c->connected || !tx_done(c))
			p[k].events |= POLLOUT;
		if (c->eof)
			p[k].events &= ~POLLIN;
		k++;
	}
	if (listener >= 0 && next < end) {
		p[k].fd = listener;
		p[k++].events = POLLIN;
	}
	poll(p, k, 100);
	for (i = first, k = 0; i < next; i++) {
		if (conns[i].done)
			continue;
		if (p[k++].revents || hold)
			conn_drive(&conns[i], buf);
	}
	free(p);
}

static void wait_epoll(int ep, uint8_t *buf)
{
	struct epoll_event ev[64];
	int i, n;

	n = epoll_wait(ep, ev, 64, 100);
	for (i = 0; i < n; i++)
		if (ev[i].data.ptr)
			conn_drive(ev[i].data.ptr, buf);
}

static void run_events(int listener, unsigned int first, unsigned int n)
{
	unsigned int i, next = first, end = first + n;
	uint8_t *buf = malloc(2 * READ_MAX);
	int ep = -1;

	if (mode == MODE_EPOLL) {
		struct epoll_event ev = { .events = EPOLLIN };

		ep = epoll_create1(EPOLL_CLOEXEC);
		if (listener >= 0 &&
		    epoll_ctl(ep, EPOLL_CTL_ADD, listener, &ev))
			die("EPOLL_CTL_ADD listener");
	}
	if (listener >= 0)
		set_nonblock(listener);
	else
		for (; next < end; next++) {
			conn_init(&conns[next], next, false);
			if (conn_open(&conns[next], true))
				conn_end(&conns[next], "connect");
			else
				watch(ep, &conns[next]);
		}
	while (ended_conns < end) {
		if (listener >= 0)
			next = accept_some(listener, ep, next, end);
		if (mode == MODE_EPOLL)
			wait_epoll(ep, buf);
		else
			wait_poll(listener, first, next, end, buf);
		/* the end of the hold is no event of any socket */
		for (i = first; hold && i < next && may_close(); i++)
			conn_drive(&conns[i], buf);
	}
	if (ep >= 0)
		close(ep);
	free(buf);
}

static int run(int listener, unsigned int n)
{
	unsigned int r;
	uint64_t start;
	pthread_t dog;
	double s;

	total_conns = n * rounds;
	conns = calloc(total_conns, sizeof(*conns));
	if (!conns || pthread_create(&dog, NULL, watchdog, NULL))
		die("out of memory");
	for (r = 0; r < total_conns; r++)
		conns[r].fd = -1;
	start = now_ns();
	if (server && mode != MODE_BLOCK)
		run_events(listener, 0, total_conns);
	else
		for (r = 0; r < rounds; r++) {
			if (mode == MODE_BLOCK)
				run_block(listener, r * n, n);
			else
				run_events(-1, r * n, n);
		}
	s = (now_ns() - start) / 1e9;
	printf("stream %s: %s, %u connections, %u failed, sent %llu, received %llu bytes, %.2f s, %.2f MiB/s\n",
	       server ? "server" : "client", failures ? "FAILED" : "ok",
	       total_conns, failures, (unsigned long long)sent_bytes,
	       (unsigned long long)recv_bytes, s,
	       (sent_bytes + recv_bytes) / s / (1 << 20));
	fflush(stdout);
	return failures ? 1 : 0;
}

static int run_both(const char *host, const char *port, unsigned int n)
{
	socklen_t len = sizeof(addr);
	int listener, status, rc;
	pid_t pid;

	addr_len = parse_addr(host, port, &addr);
	listener = open_listener(kind, &addr, addr_len, n < 512 ? 512 : n,
				 sndbuf, rcvbuf > 0 ? rcvbuf : 0);
	if (getsockname(listener, (struct sockaddr *)&addr, &len))
		die("getsockname");
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		server = true;
		_exit(run(listener, n));
	}
	close(listener);
	rc = run(-1, n);
	if (rc)
		kill(pid, SIGTERM);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return rc ? rc : 1;
	return rc ? rc : WEXITSTATUS(status);
}

static int usage(FILE *f)
{
	fprintf(f,
"usage: stream [-s | -c | -b] [options] ADDRESS PORT\n"
"  -s server, -c client, -b both in one command (PORT may be 0)\n"
"  -k KIND  socket: " KIND_HELP "; default tcp\n"
"  -m MODE  poll, epoll (edge-triggered) or block; default epoll\n"
"  -n N     connections at once (64); -r R rounds of N one after another (1)\n"
"  -l BYTES longest payload of a direction (256K); -e: exactly that, not random\n"
"  -S, -R BYTES|mix  SO_SNDBUF and SO_RCVBUF; mix: 16K to 1M by connection\n"
"  -x SIDE  closes first: shutdown (both, half-close), client, server, mix (mix)\n"
"  -i SEED  same on both sides (1)\n"
"  -w S     watchdog: no byte for so long, scaled, is a failure (60)\n"
"  -H FILE  when all is verified make FILE.client (FILE.server) and keep the\n"
"           connections open until FILE exists\n"
"N, R and SEED must be equal on both sides.\n");
	return f == stderr;
}

static int parse_ring(const char *s)
{
	return !strcmp(s, "mix") ? -1 : (int)parse_size(s);
}

static enum closer parse_closer(const char *s)
{
	if (*s == 'm')
		return CLOSE_MIX;
	if (*s == 'c')
		return CLOSE_CLIENT;
	return *s == 's' && s[1] == 'e' ? CLOSE_SERVER : CLOSE_SHUTDOWN;
}

int main(int argc, char **argv)
{
	int opt, role = 'c', listener;
	unsigned int n = 64;
	uint64_t seed = 1;

	while ((opt = getopt(argc, argv, "scbk:m:n:r:l:eS:R:x:i:w:H:h")) > 0) {
		switch (opt) {
		case 's': case 'c': case 'b':
			role = opt;
			break;
		case 'k':
			kind = parse_kind(optarg);
			break;
		case 'm':
			mode = *optarg == 'p' ? MODE_POLL :
			       *optarg == 'b' ? MODE_BLOCK : MODE_EPOLL;
			break;
		case 'n':
			n = parse_size(optarg);
			break;
		case 'r':
			rounds = parse_size(optarg);
			break;
		case 'l':
			stream_config.payload_max = parse_size(optarg);
			break;
		case 'e':
			stream_config.payload_exact = true;
			break;
		case 'S':
			sndbuf = parse_ring(optarg);
			break;
		case 'R':
			rcvbuf = parse_ring(optarg);
			break;
		case 'x':
			stream_config.close_order = parse_closer(optarg);
			break;
		case 'i':
			seed = parse_size(optarg);
			break;
		case 'w':
			watchdog_s = parse_size(optarg);
			break;
		case 'H':
			hold = optarg;
			break;
		case 'h':
			return usage(stdout);
		default:
			return usage(stderr);
		}
	}
	if (argc - optind != 2 || !n || !rounds || !stream_config.payload_max)
		return usage(stderr);
	if (!sha256_selftest())
		die("the SHA-256 here is wrong");
	signal(SIGPIPE, SIG_IGN);
	pool_make(seed);
	if (role == 'b')
		return run_both(argv[optind], argv[optind + 1], n);
	addr_len = parse_addr(argv[optind], argv[optind + 1], &addr);
	if (role == 'c')
		return run(-1, n);
	server = true;
	listener = open_listener(kind, &addr, addr_len, 512,
				 sndbuf > 0 ? sndbuf : 0,
				 rcvbuf > 0 ? rcvbuf : 0);
	return run(listener, n);
}
