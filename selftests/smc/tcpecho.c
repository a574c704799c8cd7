// SPDX-License-Identifier: GPL-2.0
/*
 * tcpecho - the smallest program that notices a byte lost or added, and how
 * long it took to get a connection.
 *
 * The server sends back what it gets; with -g it speaks first (a greeting),
 * like SMTP or SSH.  The client connects, wants the greeting if -g, sends
 * -b bytes, wants exactly them back, closes its side and wants end of file.
 * The bytes start with the four that start an SMC message (E2 D4 C3 D9),
 * the worst a program can send during a handshake.  Its last line gives
 * times in milliseconds.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include "lib/util.h"
#include "lib/wait.h"

static const char greeting[] = "220 this server speaks first\r\n";
static bool greet, reset_first;
static uint64_t most_ms;	/* -t: the caller knows what it is made of */

static unsigned char byte_at(size_t i)
{
	static const unsigned char eye[4] = { 0xe2, 0xd4, 0xc3, 0xd9 };

	return i < 4 ? eye[i] : (i * 167 + (i >> 8)) & 0xff;
}


/* connections that are served; a thread each, which is not joined: its stack goes
 * with it
 */
static pthread_mutex_t serving_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t serving_none = PTHREAD_COND_INITIALIZER;
static long serving;

static void serving_add(int n)
{
	pthread_mutex_lock(&serving_lock);
	serving += n;
	if (!serving)
		pthread_cond_signal(&serving_none);
	pthread_mutex_unlock(&serving_lock);
}

static void *serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	unsigned long long total = 0;
	char buf[65536];
	ssize_t n;

	if (greet && send(fd, greeting, strlen(greeting), MSG_NOSIGNAL) < 0)
		goto bad;
	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0) {
		ssize_t off = 0, m;

		total += n;
		while (off < n) {
			m = send(fd, buf + off, n - off, MSG_NOSIGNAL);
			if (m < 0)
				goto bad;
			off += m;
		}
	}
	if (n < 0)
		goto bad;
	printf("tcpecho server: end of file after %llu bytes\n", total);
	goto out;
bad:
	printf("tcpecho server: %s after %llu bytes\n", strerror(errno), total);
out:
	fflush(stdout);
	close(fd);
	serving_add(-1);
	return NULL;
}

static int run_server(enum kind kind, const struct sockaddr_storage *ss,
		      socklen_t len, long conns)
{
	int fd, listener = open_listener(kind, ss, len, 128, 0, 0);
	struct linger now = { 1, 0 };
	pthread_attr_t detached;
	pthread_t thread;
	long i;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	printf("tcpecho server: listening\n");
	fflush(stdout);
	for (i = 0; i < conns; i++) {
		fd = accept(listener, NULL, NULL);
		if (fd < 0)
			die("accept");
		printf("tcpecho server: accepted\n");
		fflush(stdout);
		if (reset_first && !i) {
			if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &now,
				       sizeof(now)))
				die("SO_LINGER");
			close(fd);
			continue;
		}
		serving_add(1);
		errno = pthread_create(&thread, &detached, serve,
				       (void *)(intptr_t)fd);
		if (errno)
			die("pthread_create");
	}
	close(listener);
	pthread_mutex_lock(&serving_lock);
	while (serving)
		pthread_cond_wait(&serving_none, &serving_lock);
	pthread_mutex_unlock(&serving_lock);
	return 0;
}

static void read_greeting(int fd)
{
	char got[sizeof(greeting)];
	ssize_t n;

	n = recv(fd, got, strlen(greeting), MSG_WAITALL);
	if (n < 0)
		die("greeting");
	errno = 0;
	if (n != (ssize_t)strlen(greeting) || memcmp(got, greeting, n))
		die("greeting: %zd bytes that differ", n);
}

/* Which byte is wrong, and what stands there. */
static void differ(const unsigned char *in, size_t n, const unsigned char *out,
		   size_t rx, size_t bytes)
{
	size_t i, k;

	for (i = 0; i < n && rx + i < bytes && in[i] == out[rx + i]; i++)
		;
	fprintf(stderr, "byte %zu differs, %zu of this call, read:", rx + i, i);
	for (k = i; k < n && k < i + 48; k++)
		fprintf(stderr, " %02x", in[k]);
	fprintf(stderr, "\n");
	errno = 0;
	die("bytes from %zu on differ", rx);
}

/* both directions at once, so that no amount of bytes can block */
static void exchange(int fd, size_t bytes)
{
	unsigned char *out = malloc(bytes), in[16384];
	size_t i, tx = 0, rx = 0;
	ssize_t n;

	for (i = 0; i < bytes; i++)
		out[i] = byte_at(i);
	while (rx < bytes) {
		struct pollfd p = {
			.fd = fd,
			.events = POLLIN | (tx < bytes ? POLLOUT : 0),
		};

		int ready = poll(&p, 1, limit_ms(60000));

		if (ready < 0)
			die("poll");
		errno = 0;
		if (!ready)
			die("nothing for %d s at %zu of %zu", limit_s(60), rx,
			    bytes);
		if (p.revents & POLLOUT && tx < bytes) {
			n = send(fd, out + tx, bytes - tx,
				 MSG_NOSIGNAL | MSG_DONTWAIT);
			if (n < 0 && errno != EAGAIN)
				die("send at %zu", tx);
			tx += n > 0 ? n : 0;
		}
		if (p.revents & ~POLLOUT) {
			n = recv(fd, in, sizeof(in), MSG_DONTWAIT);
			if (n < 0 && errno == EAGAIN)
				continue;
			if (n < 0)
				die("recv at %zu of %zu", rx, bytes);
			errno = 0;
			if (!n)
				die("end of file at %zu of %zu", rx, bytes);
			if (rx + n > bytes || memcmp(in, out + rx, n))
				differ(in, n, out, rx, bytes);
			rx += n;
		}
	}
	free(out);
}

static int run_client(enum kind kind, const struct sockaddr_storage *ss,
		      socklen_t len, size_t bytes, const char *hold)
{
	uint64_t t0, t_conn, t_first, t_end;
	int fd = open_socket(kind, ss->ss_family, SOCK_CLOEXEC);
	char name[4096], c;
	ssize_t n;

	t0 = now_ns();
	if (connect(fd, (const struct sockaddr *)ss, len))
		die("connect after %llu ms",
		    (unsigned long long)(now_ns() - t0) / 1000000);
	t_conn = now_ns() - t0;
	if (greet)
		read_greeting(fd);
	exchange(fd, bytes);
	t_first = now_ns() - t0;
	if (hold) {
		snprintf(name, sizeof(name), "%s.client", hold);
		touch(name);
		if (!wait_file(hold, 120))
			die("%s was not made", hold);
	}
	if (shutdown(fd, SHUT_WR))
		die("shutdown");
	n = recv(fd, &c, 1, 0);
	if (n < 0)
		die("recv for end of file");
	errno = 0;
	if (n)
		die("a byte more than was sent");
	close(fd);
	t_end = now_ns() - t0;
	printf("tcpecho client: ok bytes=%zu connect_ms=%llu exchanged_ms=%llu closed_ms=%llu\n",
	       bytes, (unsigned long long)t_conn / 1000000,
	       (unsigned long long)t_first / 1000000,
	       (unsigned long long)t_end / 1000000);
	if (most_ms && t_first / 1000000 > most_ms) {
		fprintf(stderr, "longer than %llu ms\n",
			(unsigned long long)most_ms);
		return 1;
	}
	return 0;
}

static int usage(FILE *f)
{
	fprintf(f,
"usage: tcpecho -s [-gx] [-n CONNECTIONS] [-k KIND] ADDRESS PORT\n"
"       tcpecho -c [-g] [-n CONNECTIONS] [-b BYTES] [-t MS] [-H FILE] [-k KIND]\n"
"               ADDRESS PORT\n"
"  -k KIND  socket: " KIND_HELP "; default tcp\n"
"  -g       the server speaks first\n"
"  -n N     the server ends after N connections, the client makes them one\n"
"           after the other (1)\n"
"  -x       the server resets the first connection at once\n"
"  -b BYTES the client sends (100)\n"
"  -t MS    fail if connecting and exchanging took longer\n"
"  -H FILE  after the exchange make FILE.client and wait for FILE\n");
	return f == stderr;
}

int main(int argc, char **argv)
{
	enum kind kind = KIND_TCP;
	const char *hold = NULL;
	struct sockaddr_storage ss;
	bool server = false;
	size_t bytes = 100;
	long conns = 1;
	socklen_t len;
	int opt, rc = 0;

	while ((opt = getopt(argc, argv, "scgn:k:b:t:H:xh")) > 0) {
		switch (opt) {
		case 's': case 'c':
			server = opt == 's';
			break;
		case 'g':
			greet = true;
			break;
		case 'n':
			conns = parse_size(optarg);
			break;
		case 'k':
			kind = parse_kind(optarg);
			break;
		case 'b':
			bytes = parse_size(optarg);
			break;
		case 't':
			most_ms = parse_size(optarg);
			break;
		case 'H':
			hold = optarg;
			break;
		case 'x':
			reset_first = true;
			break;
		case 'h':
			return usage(stdout);
		default:
			return usage(stderr);
		}
	}
	if (argc - optind != 2)
		return usage(stderr);
	len = parse_addr(argv[optind], argv[optind + 1], &ss);
	if (server)
		return run_server(kind, &ss, len, conns);
	while (conns-- > 0 && !rc)
		rc = run_client(kind, &ss, len, bytes, hold);
	return rc;
}
