// SPDX-License-Identifier: GPL-2.0
/*
 * What the test programs share: socket kinds, addresses, sizes with a suffix,
 * files, time, and ends with a message.  Tested by its users.
 */
#include "util.h"

#include <glob.h>
#include <netdb.h>
#include <sched.h>
#include <stdarg.h>
#include <time.h>

void die(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	fflush(stdout);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	if (err)
		fprintf(stderr, ": %s", strerror(err));
	fputc('\n', stderr);
	exit(1);
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

double seconds_since(uint64_t start_ns)
{
	return (now_ns() - start_ns) / 1e9;
}

enum kind parse_kind(const char *s)
{
	errno = 0;
	if (!strcmp(s, "tcp"))
		return KIND_TCP;
	if (!strcmp(s, "ipproto"))
		return KIND_IPPROTO;
	if (!strcmp(s, "afsmc"))
		return KIND_AFSMC;
	die("unknown kind '%s': " KIND_HELP, s);
}

/* splitmix64: every state is good, also 0 */
uint64_t random64(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* "64K", "1M", "100" to bytes */
uint64_t parse_size(const char *s)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(s, &end, 0);
	if (end == s)
		die("'%s' is not a size", s);
	switch (*end) {
	case 'k': case 'K':
		v <<= 10;
		end++;
		break;
	case 'm': case 'M':
		v <<= 20;
		end++;
		break;
	case 'g': case 'G':
		v <<= 30;
		end++;
		break;
	}
	if (*end)
		die("'%s' is not a size", s);
	return v;
}

/* numeric address and port; returns the length */
socklen_t parse_addr(const char *host, const char *port,
		     struct sockaddr_storage *ss)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
	};
	struct addrinfo *ai;
	socklen_t len;
	int rc;

	rc = getaddrinfo(host, port, &hints, &ai);
	errno = 0;
	if (rc)
		die("address %s port %s: %s", host, port, gai_strerror(rc));
	memcpy(ss, ai->ai_addr, ai->ai_addrlen);
	len = ai->ai_addrlen;
	freeaddrinfo(ai);
	return len;
}

/* family is AF_INET or AF_INET6; dies with a clear message */
int open_socket(enum kind kind, int family, int flags)
{
	int fd;

	if (kind == KIND_AFSMC)
		fd = socket(AF_SMC, SOCK_STREAM | flags, family == AF_INET6);
	else
		fd = socket(family, SOCK_STREAM | flags,
			    kind == KIND_IPPROTO ? IPPROTO_SMC : IPPROTO_TCP);
	if (fd < 0)
		die("socket (is the smc module loaded?)");
	return fd;
}

/* A listener that offers SMC and then declines it; see decline_if_asked(). */
void decline(int fd)
{
	int one = 1;

	/*
	 * SOL_SMC, SMC_PLAIN_TCP: after listen() the SYN/ACK has the option.
	 * What fell back before is TCP's, which does not have it.
	 */
	if (setsockopt(fd, 286, 256, &one, sizeof(one)) && errno != ENOPROTOOPT)
		die("SMC_PLAIN_TCP");
}

/*
 * Environment SMC_DECLINE: every connection falls back by a CLC Decline of its
 * listener, after the handshake of TCP and with the Proposal on the way.
 */
void decline_if_asked(int fd, enum kind kind)
{
	if (kind != KIND_TCP && getenv("SMC_DECLINE"))
		decline(fd);
}

int open_listener(enum kind kind, const struct sockaddr_storage *ss,
		  socklen_t len, int backlog, int sndbuf, int rcvbuf)
{
	int fd = open_socket(kind, ss->ss_family, SOCK_CLOEXEC);

	must_set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (sndbuf)
		must_set(fd, SOL_SOCKET, SO_SNDBUF, sndbuf);
	if (rcvbuf)
		must_set(fd, SOL_SOCKET, SO_RCVBUF, rcvbuf);
	if (bind(fd, (const struct sockaddr *)ss, len))
		die("bind");
	if (listen(fd, backlog))
		die("listen");
	decline_if_asked(fd, kind);
	return fd;
}

/* a number of the environment, or what it is by default */
int env_int(const char *name, int dflt)
{
	const char *s = getenv(name);

	return s && *s ? atoi(s) : dflt;
}

/* Gives the file the text; -1 if that is not possible. */
int put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : 0;
}

/* No CPU keeps objects that are not in use. */
void shrink_slabs(void)
{
	size_t i;
	glob_t g;

	if (glob("/sys/kernel/slab/*/shrink", 0, NULL, &g))
		die("/sys/kernel/slab");
	for (i = 0; i < g.gl_pathc; i++)
		put_text(g.gl_pathv[i], "1");
	globfree(&g);
}

/* The first line of a file with its end, "" if there is none. */
const char *first_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "r");

	if (!f || !fgets(line, size, f))
		line[0] = 0;
	if (f)
		fclose(f);
	return line;
}

/*
 * A network namespace of this process's own, whose sockets become what those
 * of the old one do, but for SMC-R: there is no RDMA in it.
 */
int unshare_net(void)
{
	static const char *const names[] = {
		"/proc/sys/net/smc/transports",
		"/proc/sys/net/smc/handshake_timeout_ms",
	};
	bool smc = !access(names[0], F_OK);
	char line[2][64];
	int i;

	for (i = 0; i < 2; i++)
		first_line(names[i], line[i], sizeof(line[i]));
	if (unshare(CLONE_NEWNET))
		return -1;
	for (i = 0; smc && i < 2; i++)
		if (put_text(names[i], line[i][0] ? line[i] : "\n"))
			return -1;
	errno = 0;
	return 0;
}

void set_nonblock(int fd)
{
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK))
		die("O_NONBLOCK");
}

int set_int(int fd, int level, int opt, int val)
{
	return setsockopt(fd, level, opt, &val, sizeof(val));
}

/* where the test makes no sense without it */
void must_set(int fd, int level, int opt, int val)
{
	if (set_int(fd, level, opt, val))
		die("setsockopt %d %d", level, opt);
}

/* the option's value or -errno */
int get_int(int fd, int level, int opt)
{
	socklen_t len = sizeof(int);
	int val = -1;

	return getsockopt(fd, level, opt, &val, &len) ? -errno : val;
}

/* the pending error, fetched */
int so_error(int fd)
{
	socklen_t len = sizeof(int);
	int err = -1;

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) ? -1 : err;
}

void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Creates an empty file, the sign that a script waits for. */
void touch(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		die("%s", path);
	close(fd);
}
