// SPDX-License-Identifier: GPL-2.0
/*
 * libsmc-preload.so - let a program use SMC where it asks for TCP.
 *
 * Loaded by smc_run through LD_PRELOAD, it stands in front of socket().  A
 * stream socket for IPv4 or IPv6 is opened as
 *
 *   1. IPPROTO_SMC of the same family: its addresses and its SO_DOMAIN are what
 *      programs expect, and sandboxes that allow AF_INET allow it.  One that
 *      compares the protocol and kills (vsftpd's) ends the program;
 *   2. AF_SMC, for kernels older than IPPROTO_SMC;
 *   3. TCP, if the kernel has no SMC.
 *
 * All other sockets are left alone.  What the kernel lacks is remembered, so
 * that a program without SMC pays for two system calls once.
 *
 * It also stands in front of connect() and listen(), where the address is known
 * by which a policy (lib/policy.c) may want plain TCP.  The socket stays what
 * and where it is, with its options, its place in epoll sets and its flags:
 * the kernel is told not to offer SMC on it (SOL_SMC, SMC_PLAIN_TCP), and the
 * connection falls back before the first packet.  A program to which the
 * policy gives no SMC at all gets TCP sockets from the start.
 *
 *   SMC_DEBUG=1		say on standard error what each socket became
 *   SMC_SNDBUF, SMC_RCVBUF	buffer sizes in bytes, with K or M for 1024s
 *   SMC_RUN_CONF		file with the policy; "" for none; if not set
 *				/etc/smc_run.conf, which need not be there
 *
 * The three must be callable from signal handlers and between fork and exec:
 * nothing is allocated, no lock is taken, errno is changed only on failure,
 * and environment and policy are read once, when the library is loaded.  Before
 * that they are those of the C library.
 *
 * Programs that do not call the C library for socket() (statically linked
 * ones, Go) are not reached.  Tests: tools/tests/preload.sh, policy.sh.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/smc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/policy.h"

#define PROTO_SMC	256		/* IPPROTO_SMC */
#define FAMILY_SMC	43		/* AF_SMC */
#define LEVEL_SMC	286		/* SOL_SMC */
#define TYPE_MASK	0xf		/* what SOCK_NONBLOCK etc. leave */
#define CONF_FILE	"/etc/smc_run.conf"

/* In the C library this is a union that takes all kinds of addresses. */
#ifndef __CONST_SOCKADDR_ARG
#define __CONST_SOCKADDR_ARG const struct sockaddr *
#endif

typedef int (*socket_fn)(int domain, int type, int protocol);
typedef int (*connect_fn)(int fd, const struct sockaddr *sa, socklen_t len);
typedef int (*listen_fn)(int fd, int backlog);

static struct {
	atomic_uintptr_t socket;	/* the functions behind ours */
	atomic_uintptr_t connect;
	atomic_uintptr_t listen;
	atomic_bool ready;		/* what follows is set up */
	atomic_bool no_proto;		/* IPPROTO_SMC is not there */
	atomic_bool no_family;		/* AF_SMC is not there */
	bool debug;
	int sndbuf;			/* 0: leave as it is */
	int rcvbuf;
	bool no_smc;			/* the policy leaves nothing to SMC */
	bool asks;			/* it has to be asked */
	struct policy policy;
} self;

static void say_line(const char *line, int len)
{
	int err = errno;

	if (len > 0 && write(STDERR_FILENO, line, len) < 0)
		errno = err;
}

#define say(...)							\
do {									\
	char line_[160];						\
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
static void *next_function(atomic_uintptr_t *kept, const char *name)
{
	uintptr_t next = atomic_load_explicit(kept, memory_order_acquire);

	if (!next) {
		next = (uintptr_t)dlsym(RTLD_NEXT, name);
		atomic_store_explicit(kept, next, memory_order_release);
	}
	return (void *)next;
}

static int call_socket(int domain, int type, int protocol)
{
	socket_fn next = next_function(&self.socket, "socket");

	if (!next)
		return syscall(SYS_socket, domain, type, protocol);
	return next(domain, type, protocol);
}

static int call_connect(int fd, const struct sockaddr *sa, socklen_t len)
{
	connect_fn next = next_function(&self.connect, "connect");

	if (!next)
		return syscall(SYS_connect, fd, sa, len);
	return next(fd, sa, len);
}

static int call_listen(int fd, int backlog)
{
	listen_fn next = next_function(&self.listen, "listen");

	if (!next)
		return syscall(SYS_listen, fd, backlog);
	return next(fd, backlog);
}

/*
 * A program is known by the name it was called by and by that of its file,
 * which for a script is the script's.  The kernel has the latter twice: what
 * prctl() tells can be chosen, but ends after 15 characters.
 */
static void load_policy(void)
{
	const char *path = secure_getenv("SMC_RUN_CONF");
	const char *file = (const char *)getauxval(AT_EXECFN);
	const char *slash = file ? strrchr(file, '/') : NULL;
	char comm[17] = "";
	const char *const names[] = {
		program_invocation_short_name, comm,
		slash ? slash + 1 : file, NULL,
	};

	if (path && !*path)
		return;
	prctl(PR_GET_NAME, comm);
	policy_load(&self.policy, path ? path : CONF_FILE, !path, names);
	self.no_smc = policy_denies_all(&self.policy);
	self.asks = self.policy.num && !self.no_smc;
	if (self.policy.num)
		say("libsmc-preload: %u rules for %.16s in %.60s\n",
		    self.policy.num, names[0], path ? path : CONF_FILE);
}

__attribute__((constructor))
static void setup(void)
{
	const char *debug = getenv("SMC_DEBUG");
	int err = errno;

	self.debug = debug && *debug && strcmp(debug, "0");
	self.sndbuf = parse_size("SMC_SNDBUF");
	self.rcvbuf = parse_size("SMC_RCVBUF");
	load_policy();
	next_function(&self.socket, "socket");
	next_function(&self.connect, "connect");
	next_function(&self.listen, "listen");
	atomic_store_explicit(&self.ready, true, memory_order_release);
	errno = err;
}

/*
 * Constructors of the program's libraries run before ours.  Their sockets stay
 * TCP: the policy that may deny them SMC has not been read.
 */
static bool is_ready(void)
{
	return atomic_load_explicit(&self.ready, memory_order_acquire);
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

/* @refused: it seems that there is no such thing in this kernel */
static int try_smc(int domain, int type, int protocol, atomic_bool *missing,
		   bool *refused)
{
	int fd;

	if (atomic_load_explicit(missing, memory_order_relaxed))
		return -1;
	fd = call_socket(domain, type, protocol);
	*refused = fd < 0 && is_missing(errno);
	return fd;
}

static void remember(atomic_bool *missing, bool refused, int domain,
		     int protocol)
{
	if (!refused)
		return;
	say("libsmc-preload: no family %d protocol %d in this kernel\n", domain,
	    protocol);
	atomic_store_explicit(missing, true, memory_order_relaxed);
}

/* The kernel takes a larger size than @limit silently, as @limit. */
static void set_buffer(int fd, int option, const char *name, const char *limit,
		       int size)
{
	socklen_t len = sizeof(int);
	int doubled;

	if (!size)
		return;
	if (setsockopt(fd, SOL_SOCKET, option, &size, sizeof(size)))
		say("libsmc-preload: fd %d: cannot set %s %d\n", fd, name,
		    size);
	else if (self.debug &&
		 !getsockopt(fd, SOL_SOCKET, option, &doubled, &len) &&
		 doubled / 2 < size)
		say("libsmc-preload: fd %d: %s is %d, not %d: %s\n", fd, name,
		    doubled / 2, size, limit);
}

static void set_buffers(int fd)
{
	set_buffer(fd, SO_SNDBUF, "SO_SNDBUF", "net.core.wmem_max",
		   self.sndbuf);
	set_buffer(fd, SO_RCVBUF, "SO_RCVBUF", "net.core.rmem_max",
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
	bool no_proto = false, no_family = false;
	int smc_protocol = domain == AF_INET6;
	int err = errno, tcp_err;
	bool is_smc;
	int fd = -1;

	if (!is_ready() || !wants_tcp(domain, type, protocol))
		return call_socket(domain, type, protocol);
	if (!self.no_smc)
		fd = try_smc(domain, type, PROTO_SMC, &self.no_proto,
			     &no_proto);
	if (fd < 0 && !self.no_smc)
		fd = try_smc(FAMILY_SMC, type, smc_protocol, &self.no_family,
			     &no_family);
	is_smc = fd >= 0;
	if (!is_smc) {
		errno = err;
		fd = call_socket(domain, type, protocol);
	}
	tcp_err = errno;
	/* a refusal that TCP meets, too, says nothing about SMC */
	if (fd >= 0) {
		remember(&self.no_proto, no_proto, domain, PROTO_SMC);
		remember(&self.no_family, no_family, FAMILY_SMC, smc_protocol);
	}
	if (is_smc)
		set_buffers(fd);
	say("libsmc-preload: fd %d: %s, family %d\n", fd,
	    is_smc ? "SMC" : "TCP", domain);
	errno = is_smc ? err : tcp_err;
	return fd;
}

/* "10.0.0.1 port 80" */
static void format_addr(char *buf, size_t size, const struct sockaddr *sa)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)sa;
	const struct sockaddr_in *in = (const struct sockaddr_in *)sa;
	bool is_v6 = sa->sa_family == AF_INET6;
	char text[INET6_ADDRSTRLEN] = "?";

	inet_ntop(sa->sa_family, is_v6 ? (const void *)&in6->sin6_addr :
					 (const void *)&in->sin_addr,
		  text, sizeof(text));
	snprintf(buf, size, "%s port %u", text,
		 ntohs(is_v6 ? in6->sin6_port : in->sin_port));
}

/*
 * Have the kernel not offer SMC.  Sockets that are not SMC know no level
 * SOL_SMC.  The kernel's own SMC knows the level but not the option; TCP Fast
 * Open is what it gives up SMC for, and this way of it changes nothing.
 */
static int make_plain(int fd)
{
	int one = 1, zero = 0;

	if (!setsockopt(fd, LEVEL_SMC, SMC_PLAIN_TCP, &one, sizeof(one)))
		return 0;
	if (errno != EOPNOTSUPP)
		return -1;
	return setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, &zero,
			  sizeof(zero));
}

/* Ask the policy; never fails, and leaves errno alone. */
static void obey(int fd, int op, const struct sockaddr *sa, socklen_t len)
{
	const struct policy_rule *rule;
	int err = errno;
	char text[80];
	int rc;

	rule = policy_match(&self.policy, op, sa, len);
	if (rule && rule->deny) {
		rc = make_plain(fd);
		/* not a socket, or one that is not SMC's: nothing to tell */
		if (self.debug && (!rc || errno == EOPNOTSUPP ||
				   errno == EINVAL)) {
			format_addr(text, sizeof(text), sa);
			say("libsmc-preload: fd %d: %s TCP, line %u, %s %s\n",
			    fd, rc ? "too late for" : "plain", rule->line,
			    op == POLICY_CONNECT ? "to" : "on", text);
		}
	}
	errno = err;
}

/*
 * The kernel reads the eight bytes of a signal mask before it refuses what is to
 * be done with it.  Filters that kill a program for other calls allow this one.
 */
static bool is_readable(const void *at)
{
	return !syscall(SYS_rt_sigprocmask, -1L, at, NULL, 8L) ||
	       errno != EFAULT;
}

/*
 * A bad pointer is EFAULT in connect(), and not the end of the program.  @len is
 * from 16 to 28: the first and the last bytes are in all of its pages.  Leaves
 * errno alone.
 */
static bool copy_addr(void *copy, const struct sockaddr *sa, size_t len)
{
	int err = errno;
	bool ok = is_readable(sa) && is_readable((const char *)sa + len - 8);

	if (ok)
		memcpy(copy, sa, len);
	errno = err;
	return ok;
}

/**
 * connect() - as connect(2), as plain TCP where the policy says so
 * @fd: socket
 * @addr: the peer's address
 * @len: its length
 *
 * Context: any thread, signal handlers, after fork.
 * Return: as connect(2).
 */
__attribute__((visibility("default")))
int connect(int fd, __CONST_SOCKADDR_ARG addr, socklen_t len)
{
	const struct sockaddr *sa;
	struct sockaddr_in6 copy;
	socklen_t copied = len < sizeof(copy) ? len : sizeof(copy);

	memcpy(&sa, &addr, sizeof(sa));
	if (is_ready() && self.asks && sa && len >= sizeof(*sa) &&
	    len <= sizeof(struct sockaddr_storage) &&
	    copy_addr(&copy, sa, copied))
		obey(fd, POLICY_CONNECT, (struct sockaddr *)&copy, copied);
	return call_connect(fd, sa, len);
}

/**
 * listen() - as listen(2), as plain TCP where the policy says so
 * @fd: socket
 * @backlog: as for listen(2)
 *
 * Context: any thread, signal handlers, after fork.
 * Return: as listen(2).
 */
__attribute__((visibility("default")))
int listen(int fd, int backlog)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	int err = errno;

	if (is_ready() && self.asks &&
	    !getsockname(fd, (struct sockaddr *)&ss, &len))
		obey(fd, POLICY_LISTEN, (struct sockaddr *)&ss, len);
	errno = err;
	return call_listen(fd, backlog);
}
