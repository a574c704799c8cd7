// SPDX-License-Identifier: GPL-2.0
/*
 * bench - what messages, streams and connections cost
 *
 *	bench KIND latency SIZE 1	a message one way, half of a round trip
 *	bench KIND rate SIZE CONNS	a round trip, where each of CONNS
 *					connections has one under way
 *	bench KIND stream SIZE CONNS	a byte, written in calls of SIZE bytes
 *	bench KIND setup 64 1		a connection: made, an echo of 64 bytes,
 *					closed
 *	bench KIND memory SIZE CONNS	bytes of the kernel's for both ends of a
 *					connection at rest after such an echo
 *
 * KIND is tcp, ipproto, afsmc or unix.  A client and a server process, both of
 * one thread.  One line: KIND PATTERN SIZE CONNS VALUE COUNT, nanoseconds (the mean
 * by CLOCK_MONOTONIC: instructions, in a guest under -icount) or bytes, and of how
 * many messages, round trips, writes or connections it is the mean.  With one
 * connection both block; with more both use epoll.
 */
#include <sys/epoll.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "lib/mark.h"
#include "lib/util.h"

#define MAX_CONNS	1024
#define BUF		(1 << 20)

static const char *kind_name, *pattern;
static size_t size;
static int conns;
static struct sockaddr_storage addr;
static socklen_t addr_len;
static char *buf;
static long count;	/* what the mean is of */

static int new_socket(void)
{
	if (!strcmp(kind_name, "unix"))
		return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return open_socket(parse_kind(kind_name), AF_INET, SOCK_CLOEXEC);
}

static int new_listener(void)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&addr;
	int fd;

	if (strcmp(kind_name, "unix")) {
		addr_len = parse_addr("127.0.0.1", "0", &addr);
		fd = open_listener(parse_kind(kind_name), &addr, addr_len,
				   MAX_CONNS, 0, 0);
	} else {
		un->sun_family = AF_UNIX;
		addr_len = sizeof(un->sun_family);	/* a name of its own */
		fd = new_socket();
		if (bind(fd, (struct sockaddr *)&addr, addr_len) ||
		    listen(fd, MAX_CONNS))
			die("bind");
	}
	addr_len = sizeof(addr);
	if (getsockname(fd, (struct sockaddr *)&addr, &addr_len))
		die("getsockname");
	return fd;
}

static void nodelay(int fd)
{
	if (addr.ss_family != AF_UNIX)
		must_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

static int new_client(void)
{
	int fd = new_socket();

	if (connect(fd, (struct sockaddr *)&addr, addr_len))
		die("connect");
	nodelay(fd);
	return fd;
}

static void put(int fd, size_t len)
{
	ssize_t n;

	for (; len; len -= n) {
		n = send(fd, buf, len, MSG_NOSIGNAL);
		if (n <= 0)
			die("send");
	}
}

/* false: end of file */
static bool get(int fd, size_t len)
{
	ssize_t n;

	for (; len; len -= n) {
		n = recv(fd, buf, len, MSG_WAITALL);
		if (n < 0)
			die("recv");
		if (!n)
			return false;
	}
	return true;
}

/* -- the server -- */

/* Echoes, or takes a stream and says so with one byte at its end. */
static bool serve_once(int fd)
{
	ssize_t n;

	if (*pattern != 's' || !strcmp(pattern, "setup")) {
		if (!get(fd, size))
			return false;
		put(fd, size);
		return true;
	}
	n = recv(fd, buf, BUF, 0);
	if (n < 0)
		die("recv");
	if (!n)
		put(fd, 1);
	return n;
}

static void serve_many(const int *fd)
{
	struct epoll_event ev[64];
	int ep = epoll_create1(EPOLL_CLOEXEC), left = conns, i, n;

	for (i = 0; i < conns; i++) {
		ev[0] = (struct epoll_event){ EPOLLIN, { .fd = fd[i] } };
		if (epoll_ctl(ep, EPOLL_CTL_ADD, fd[i], ev))
			die("epoll_ctl");
	}
	while (left) {
		n = epoll_wait(ep, ev, ARRAY_LEN(ev), -1);
		for (i = 0; i < n; i++) {
			if (serve_once(ev[i].data.fd))
				continue;
			close(ev[i].data.fd);
			left--;
		}
	}
}

static void serve(int listener, long num)
{
	int fd[MAX_CONNS], i;
	long n;

	for (n = 0; n < num; n++) {
		for (i = 0; i < conns; i++) {
			fd[i] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
			if (fd[i] < 0)
				die("accept");
			nodelay(fd[i]);
		}
		if (conns > 1) {
			serve_many(fd);
			continue;
		}
		while (serve_once(fd[0]))
			;
		close(fd[0]);
	}
}

/* -- the client -- */

static uint64_t begin(void)
{
	MARK(MARK_BEGIN);
	return now_ns();
}

static double ns_since(uint64_t start)
{
	uint64_t end = now_ns();

	MARK(MARK_END);
	return end - start;
}

static double latency(long num)
{
	int fd = new_client();
	uint64_t start = 0;
	long i;

	for (i = -num / 10; i < num; i++) {
		if (!i)
			start = begin();
		put(fd, size);
		if (!get(fd, size))
			die("end of file");
	}
	count = 2 * num;
	return ns_since(start) / count;
}

static double rate(long num)
{
	int fd[MAX_CONNS], ep = epoll_create1(EPOLL_CLOEXEC), i, n;
	struct epoll_event ev[64];
	uint64_t start = 0;
	long done = -num / 10;
	double ns;

	for (i = 0; i < conns; i++) {
		fd[i] = new_client();
		ev[0] = (struct epoll_event){ EPOLLIN, { .fd = fd[i] } };
		if (epoll_ctl(ep, EPOLL_CTL_ADD, fd[i], ev))
			die("epoll_ctl");
	}
	for (i = 0; i < conns; i++)
		put(fd[i], size);
	while (done < num) {
		n = epoll_wait(ep, ev, ARRAY_LEN(ev), -1);
		for (i = 0; i < n; i++, done++) {
			if (!done)
				start = begin();
			if (!get(ev[i].data.fd, size))
				die("end of file");
			put(ev[i].data.fd, size);
		}
	}
	ns = ns_since(start);
	for (i = 0; i < conns; i++)
		get(fd[i], size);
	count = num;
	return ns / count;
}

static double stream(long num)
{
	int fd[MAX_CONNS], i;
	uint64_t start = 0;
	long n;

	for (i = 0; i < conns; i++)
		fd[i] = new_client();
	for (n = -num / 10; n < num; n++) {
		if (!n)
			start = begin();
		for (i = 0; i < conns; i++)
			put(fd[i], size);
	}
	for (i = 0; i < conns; i++)
		shutdown(fd[i], SHUT_WR);
	for (i = 0; i < conns; i++)
		get(fd[i], 1);
	count = num * conns;
	return ns_since(start) / count / size;
}

static double setup(long num)
{
	uint64_t start = 0;
	long i;
	int fd;

	for (i = -20; i < num; i++) {
		if (!i)
			start = begin();
		fd = new_client();
		put(fd, size);
		if (!get(fd, size))
			die("end of file");
		close(fd);
	}
	count = num;
	return ns_since(start) / count;
}

/* Bytes of pages that are free, and of those that a CPU keeps for itself. */
static double free_memory(void)
{
	unsigned long n, pages = 0;
	char line[256];
	FILE *f;

	/* longer than kfree_rcu() collects */
	usleep(6000 * 1000);
	if (put_text("/proc/sys/vm/drop_caches", "3"))
		die("drop_caches");
	shrink_slabs();
	f = fopen("/proc/zoneinfo", "r");
	if (!f)
		die("/proc/zoneinfo");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " pages free %lu", &n) == 1 ||
		    sscanf(line, " count: %lu", &n) == 1)
			pages += n;
	fclose(f);
	return (double)pages * getpagesize();
}

/* Without the first connection, which brings what all share. */
static double memory(long num)
{
	double before = 0;
	int fd[MAX_CONNS], i;

	if (conns < 2)
		die("the first connection does not count");
	for (i = 0; i < conns; i++) {
		fd[i] = new_client();
		if (!i)
			before = free_memory();
	}
	for (i = 0; i < conns; i++) {
		put(fd[i], size);
		if (!get(fd[i], size))
			die("end of file");
	}
	count = conns - 1;
	return (before - free_memory()) / count;
}

static const struct {
	const char *name;
	double (*measure)(long num);
} patterns[] = {
	{ "latency", latency },
	{ "rate", rate },
	{ "stream", stream },
	{ "setup", setup },
	{ "memory", memory },
};

/* TCP finds its pace in the first thousands of small writes. */
static long how_often(void)
{
	long most = strcmp(pattern, "stream") ? 5000 : 50000;
	long num = (32 << 20) / size;

	if (!strcmp(pattern, "setup"))
		return 500;
	if (!strcmp(pattern, "stream"))
		num /= conns;
	return num < 100 ? 100 : num > most ? most : num;
}

int main(int argc, char **argv)
{
	unsigned int i;
	int listener;
	double value;
	long num;
	pid_t pid;

	if (argc != 5) {
		fprintf(stderr, "usage: bench KIND PATTERN SIZE CONNS\n");
		return 1;
	}
	kind_name = argv[1];
	pattern = argv[2];
	size = parse_size(argv[3]);
	conns = atoi(argv[4]);
	for (i = 0; i < ARRAY_LEN(patterns); i++)
		if (!strcmp(pattern, patterns[i].name))
			break;
	if (i == ARRAY_LEN(patterns) || !size || size > BUF || conns < 1 ||
	    conns > MAX_CONNS)
		die("no such thing to measure");
	buf = calloc(1, BUF);
	listener = new_listener();
	num = how_often();
	pid = fork();
	if (!pid) {
		serve(listener, strcmp(pattern, "setup") ? 1 : num + 20);
		_exit(0);
	}
	value = patterns[i].measure(num);
	printf("%s %s %zu %d %.4f %ld\n", kind_name, pattern, size, conns, value,
	       count);
	fflush(stdout);
	/* the server ends by itself: no connection is reset */
	if (close_range(3, ~0U, 0))
		die("close_range");
	waitpid(pid, NULL, 0);
	return 0;
}
