// SPDX-License-Identifier: GPL-2.0
/*
 * libsmc-preload.so - let a program use SMC where it asks for TCP.
 *
 * Loaded by smc_run through LD_PRELOAD, it stands in front of socket().  A
 * stream socket for IPv4 or IPv6 is opened as
 *
 *   1. IPPROTO_SMC of the same family: its addresses and its SO_DOMAIN are what
 *      programs expect, and sandboxes that allow AF_INET allow it;
 *   2. AF_SMC, for kernels older than IPPROTO_SMC;
 *   3. TCP, if the kernel has no SMC.
 *
 * All other sockets are left alone.  What the kernel lacks is remembered, so
 * that a program without SMC pays for two system calls once.
 *
 *   SMC_DEBUG=1		say on standard error what each socket became
 *   SMC_SNDBUF, SMC_RCVBUF	buffer sizes in bytes, with K or M for 1024s
 *
 * socket() must be callable from a signal handler and between fork and exec:
 * nothing is allocated, no lock is taken, errno is changed only on failure,
 * and the environment is read once, when the library is loaded.
 *
 * Programs that do not call the C library for socket() (statically linked
 * ones, Go) are not reached.  Tests: tools/tests/preload.sh.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROTO_SMC	256		/* IPPROTO_SMC */
#define FAMILY_SMC	43		/* AF_SMC */
#define TYPE_MASK	0xf		/* what SOCK_NONBLOCK etc. leave */

typedef int (*socket_fn)(int domain, int type, int protocol);

static struct {
	_Atomic(socket_fn) next;	/* the socket() behind ours */
	atomic_bool no_proto;		/* IPPROTO_SMC is not there */
	atomic_bool no_family;		/* AF_SMC is not there */
	bool debug;
	int sndbuf;			/* 0: leave as it is */
	int rcvbuf;
} self;

static void say_line(const char *line, int len)
{
	int err = errno;

	if (len > 0 && write(STDERR_FILENO, line, len) < 0)
		errno = err;
}

#define say(...)							\
do {									\
	char line_[128];						\
									\
	if (self.debug)							\
		say_line(line_, snprintf(line_, sizeof(line_),		\
					 __VA_ARGS__));			\
} while (0)

/* "64K" to 65536; 0 and a remark for what is no size. */
static int parse_size(const char *name)
{
	const char *text = getenv(name);
	unsigned long long n;
	char *end;

	if (!text || !*text)
		return 0;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (*end == 'k' || *end == 'K') {
		n = n > ULLONG_MAX >> 10 ? ULLONG_MAX : n << 10;
		end++;
	} else if (*end == 'm' || *end == 'M') {
		n = n > ULLONG_MAX >> 20 ? ULLONG_MAX : n << 20;
		end++;
	}
	if (errno || *end || *text < '0' || *text > '9' || n > INT_MAX) {
		fprintf(stderr, "libsmc-preload: %s=%s is not a size, ignored\n",
			name, text);
		return 0;
	}
	return n;
}

/* Only successful look-ups are kept; threads may do the same work twice. */
static socket_fn next_socket(void)
{
	socket_fn next = atomic_load_explicit(&self.next, memory_order_acquire);

	if (!next) {
		*(void **)&next = dlsym(RTLD_NEXT, "socket");
		atomic_store_explicit(&self.next, next, memory_order_release);
	}
	return next;
}

static int call_next(int domain, int type, int protocol)
{
	socket_fn next = next_socket();

	if (!next)
		return syscall(SYS_socket, domain, type, protocol);
	return next(domain, type, protocol);
}

__attribute__((constructor))
static void setup(void)
{
	const char *debug = getenv("SMC_DEBUG");
	int err = errno;

	self.debug = debug && *debug && strcmp(debug, "0");
	self.sndbuf = parse_size("SMC_SNDBUF");
	self.rcvbuf = parse_size("SMC_RCVBUF");
	next_socket();
	errno = err;
}

static bool wants_tcp(int domain, int type, int protocol)
{
	return (domain == AF_INET || domain == AF_INET6) &&
	       (type & TYPE_MASK) == SOCK_STREAM &&
	       (protocol == 0 || protocol == IPPROTO_TCP);
}

/* Does this failure mean "never", as opposed to "not now"? */
static bool is_missing(int err)
{
	switch (err) {
	case EPROTONOSUPPORT:
	case ESOCKTNOSUPPORT:
	case EAFNOSUPPORT:
	case EPROTOTYPE:
	case EINVAL:
	case EACCES:
	case EPERM:
		return true;
	default:
		return false;
	}
}

static int try_smc(int domain, int type, int protocol, atomic_bool *missing)
{
	int fd;

	if (atomic_load_explicit(missing, memory_order_relaxed))
		return -1;
	fd = call_next(domain, type, protocol);
	if (fd < 0 && is_missing(errno)) {
		say("libsmc-preload: no family %d protocol %d in this kernel\n",
		    domain, protocol);
		atomic_store_explicit(missing, true, memory_order_relaxed);
	}
	return fd;
}

static void set_buffers(int fd)
{
	if (self.sndbuf &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &self.sndbuf,
		       sizeof(self.sndbuf)))
		say("libsmc-preload: fd %d: cannot set SO_SNDBUF %d\n", fd,
		    self.sndbuf);
	if (self.rcvbuf &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &self.rcvbuf,
		       sizeof(self.rcvbuf)))
		say("libsmc-preload: fd %d: cannot set SO_RCVBUF %d\n", fd,
		    self.rcvbuf);
}

/**
 * socket() - as socket(2), with SMC in the place of TCP
 * @domain: address family
 * @type: type and flags
 * @protocol: protocol
 *
 * Context: any thread, signal handlers, after fork.
 * Return: file descriptor, or -1 and errno of the TCP socket.
 */
__attribute__((visibility("default")))
int socket(int domain, int type, int protocol)
{
	int err = errno, tcp_err;
	int fd;

	if (!wants_tcp(domain, type, protocol))
		return call_next(domain, type, protocol);
	fd = try_smc(domain, type, PROTO_SMC, &self.no_proto);
	if (fd < 0)
		fd = try_smc(FAMILY_SMC, type, domain == AF_INET6,
			     &self.no_family);
	if (fd < 0) {
		errno = err;
		fd = call_next(domain, type, protocol);
		tcp_err = errno;
		say("libsmc-preload: fd %d: TCP, family %d\n", fd, domain);
		errno = tcp_err;
		return fd;
	}
	set_buffers(fd);
	say("libsmc-preload: fd %d: SMC, family %d\n", fd, domain);
	errno = err;
	return fd;
}
