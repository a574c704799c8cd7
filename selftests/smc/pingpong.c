// SPDX-License-Identifier: GPL-2.0
/*
 * pingpong - one-way latency of small messages, and throughput
 *
 * Two threads of one process (-b) or two hosts (-s, -c) send a message of -l
 * bytes back and forth; half the time of a round is the one-way latency.  One
 * line: minimum, median and mean in nanoseconds of CLOCK_MONOTONIC, which is
 * virtual time in a guest under -icount.  With -t the client instead sends
 * BYTES one way and waits for a one-byte answer: MiB/s.
 */
#include <pthread.h>

#include "lib/util.h"
#include "lib/wait.h"

#define BULK	65536

static enum kind kind = KIND_TCP;
static size_t msg_len = 64;
static uint64_t rounds = 2000, warm = 200, bulk;

static void send_all(int fd, const char *p, size_t len)
{
	ssize_t n;

	for (; len; p += n, len -= n) {
		n = send(fd, p, len, MSG_NOSIGNAL);
		if (n <= 0)
			die("send");
	}
}

static bool recv_all(int fd, char *p, size_t len)
{
	ssize_t n;

	for (; len; p += n, len -= n) {
		n = recv(fd, p, len, 0);
		if (n < 0)
			die("recv");
		if (!n)
			return false;
	}
	return true;
}

static void *serve(void *arg)
{
	int listener = (int)(intptr_t)arg, fd, one = 1;
	char *buf = malloc(BULK > msg_len ? BULK : msg_len);
	uint64_t left = bulk;
	ssize_t n;

	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		die("accept");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	while (left) {
		n = recv(fd, buf, BULK, 0);
		if (n <= 0)
			die("recv");
		left -= (uint64_t)n < left ? (uint64_t)n : left;
	}
	if (bulk)
		send_all(fd, buf, 1);
	else
		while (recv_all(fd, buf, msg_len))
			send_all(fd, buf, msg_len);
	close(fd);
	free(buf);
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void ping(int fd)
{
	uint64_t *t = calloc(rounds, sizeof(*t)), i, sum = 0, start;
	char *buf = calloc(1, msg_len);

	for (i = 0; i < warm + rounds; i++) {
		start = now_ns();
		send_all(fd, buf, msg_len);
		if (!recv_all(fd, buf, msg_len))
			die("end of file");
		if (i >= warm)
			t[i - warm] = (now_ns() - start) / 2;
	}
	for (i = 0; i < rounds; i++)
		sum += t[i];
	qsort(t, rounds, sizeof(*t), by_value);
	printf("pingpong: bytes=%zu rounds=%llu one_way_ns min=%llu median=%llu mean=%llu p99=%llu\n",
	       msg_len, (unsigned long long)rounds, (unsigned long long)t[0],
	       (unsigned long long)t[rounds / 2],
	       (unsigned long long)(sum / rounds),
	       (unsigned long long)t[rounds * 99 / 100]);
	free(buf);
	free(t);
}

static void push(int fd)
{
	char *buf = calloc(1, BULK);
	uint64_t start = now_ns(), left = bulk;
	double s;

	while (left) {
		size_t n = left < BULK ? left : BULK;

		send_all(fd, buf, n);
		left -= n;
	}
	if (!recv_all(fd, buf, 1))
		die("end of file");
	s = (now_ns() - start) / 1e9;
	printf("pingpong: bulk=%llu seconds=%.3f MiB/s=%.1f\n",
	       (unsigned long long)bulk, s, bulk / s / (1 << 20));
	free(buf);
}

static int usage(FILE *f)
{
	fprintf(f,
"usage: pingpong [-s | -c | -b] [options] ADDRESS PORT\n"
"  -s server, -c client, -b both in one process (PORT may be 0)\n"
"  -k KIND  socket: " KIND_HELP "; default tcp\n"
"  -l BYTES message length (64); -n ROUNDS (2000); -w ROUNDS not counted (200)\n"
"  -t BYTES throughput of so many bytes instead; both sides\n"
"  -H FILE  connected, make FILE.client and wait for FILE before measuring\n");
	return f == stderr;
}

int main(int argc, char **argv)
{
	int opt, role = 'b', fd, one = 1, listener = -1;
	const char *hold = NULL;
	struct sockaddr_storage ss;
	char name[4096];
	pthread_t thread;
	socklen_t len;

	while ((opt = getopt(argc, argv, "scbk:l:n:w:t:H:h")) > 0) {
		switch (opt) {
		case 's': case 'c': case 'b':
			role = opt;
			break;
		case 'k':
			kind = parse_kind(optarg);
			break;
		case 'l':
			msg_len = parse_size(optarg);
			break;
		case 'n':
			rounds = parse_size(optarg);
			break;
		case 'w':
			warm = parse_size(optarg);
			break;
		case 't':
			bulk = parse_size(optarg);
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
	if (argc - optind != 2 || !msg_len || !rounds)
		return usage(stderr);
	len = parse_addr(argv[optind], argv[optind + 1], &ss);
	if (role != 'c') {
		listener = open_listener(kind, &ss, len, 8, 0, 0);
		if (role == 's')
			return serve((void *)(intptr_t)listener) ? 1 : 0;
		len = sizeof(ss);
		if (getsockname(listener, (struct sockaddr *)&ss, &len))
			die("getsockname");
		errno = pthread_create(&thread, NULL, serve,
				       (void *)(intptr_t)listener);
		if (errno)
			die("pthread_create");
	}
	fd = open_socket(kind, ss.ss_family, SOCK_CLOEXEC);
	if (connect(fd, (struct sockaddr *)&ss, len))
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (hold) {
		snprintf(name, sizeof(name), "%s.client", hold);
		touch(name);
		if (!wait_file(hold, 120))
			die("%s was not made", hold);
	}
	if (bulk)
		push(fd);
	else
		ping(fd);
	close(fd);
	if (role == 'b')
		pthread_join(thread, NULL);
	return 0;
}
