// SPDX-License-Identifier: GPL-2.0
/*
 * A kernel with or without SMC, as far as socket() can tell: loaded behind
 * libsmc-preload.so, it says on descriptor 3 what it was asked for and answers
 * as FAKE_KERNEL says.  There is no network: bind(), connect() and listen()
 * succeed for all addresses, but connect() fails with the errno FAKE_CONNECT if
 * that is set.  With FAKE_SANDBOX there is no process_vm_readv().
 *
 *   both    IPPROTO_SMC and AF_SMC
 *   own     the same by the kernel's own SMC, which has no SMC_PLAIN_TCP
 *   late    the same; it is too late for plain TCP
 *   family  AF_SMC only
 *   none    neither
 *   full    no descriptor is free: EMFILE for everything
 *   barred  as both, but the first three sockets get EPERM
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef __CONST_SOCKADDR_ARG
#define __CONST_SOCKADDR_ARG const struct sockaddr *
#define __SOCKADDR_ARG struct sockaddr *
#endif

/* dprintf() would allocate memory, which the caller forbids */
#define tell(...)							\
do {									\
	char line_[128];						\
									\
	if (write(3, line_, snprintf(line_, sizeof(line_),		\
				     __VA_ARGS__)) < 0)			\
		abort();						\
} while (0)

static struct sockaddr_storage bound;
static socklen_t bound_len;

static void told(const char *call, const struct sockaddr *sa)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)sa;
	const struct sockaddr_in *in = (const struct sockaddr_in *)sa;
	int v6 = sa->sa_family == AF_INET6;
	char text[INET6_ADDRSTRLEN] = "?";

	inet_ntop(sa->sa_family, v6 ? (const void *)&in6->sin6_addr :
		  (const void *)&in->sin_addr, text, sizeof(text));
	tell("%s %s %d\n", call, text,
		ntohs(v6 ? in6->sin6_port : in->sin_port));
}

int connect(int fd, __CONST_SOCKADDR_ARG addr, socklen_t len)
{
	const char *error = getenv("FAKE_CONNECT");
	const struct sockaddr *sa;

	memcpy(&sa, &addr, sizeof(sa));
	if (fd < 0 || len < sizeof(*sa)) {
		tell("connect refused\n");
		errno = fd < 0 ? EBADF : EINVAL;
		return -1;
	}
	told("connect", sa);
	if (error)
		errno = atoi(error);
	return error ? -1 : 0;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long to_num,
			 const struct iovec *from, unsigned long from_num,
			 unsigned long flags)
{
	if (getenv("FAKE_SANDBOX")) {
		errno = EPERM;
		return -1;
	}
	return syscall(SYS_process_vm_readv, pid, to, to_num, from, from_num,
		       flags);
}

int bind(int fd, __CONST_SOCKADDR_ARG addr, socklen_t len)
{
	const struct sockaddr *sa;

	(void)fd;
	memcpy(&sa, &addr, sizeof(sa));
	memcpy(&bound, sa, len);
	bound_len = len;
	return 0;
}

int getsockname(int fd, __SOCKADDR_ARG addr, socklen_t *restrict len)
{
	struct sockaddr *sa;

	memcpy(&sa, &addr, sizeof(sa));
	if (fd < 0) {
		errno = EBADF;
		return -1;
	}
	memcpy(sa, &bound, bound_len);
	*len = bound_len;
	return 0;
}

int listen(int fd, int backlog)
{
	if (fd < 0) {
		errno = EBADF;
		return -1;
	}
	told("listen", (struct sockaddr *)&bound);
	return backlog == 5 ? 0 : -1;
}

int setsockopt(int fd, int level, int name, const void *val, socklen_t len)
{
	const char *kernel = getenv("FAKE_KERNEL");

	if (level == SOL_SOCKET)
		return syscall(SYS_setsockopt, fd, level, name, val, len);
	tell("setsockopt(%d, %d, %d)\n", level, name,
		*(const int *)val);
	if (level == 286 && strcmp(kernel, "both"))
		errno = !strcmp(kernel, "none") ? ENOPROTOOPT :
			!strcmp(kernel, "late") ? EINVAL : EOPNOTSUPP;
	else
		return 0;
	return -1;
}

int socket(int domain, int type, int protocol)
{
	static int calls;
	const char *kernel = getenv("FAKE_KERNEL");
	int proto_smc = !strcmp(kernel, "both") || !strcmp(kernel, "own") ||
			!strcmp(kernel, "late") || !strcmp(kernel, "barred");
	int family_smc = proto_smc || !strcmp(kernel, "family");

	tell("socket(%d, %#x, %d)\n", domain, type, protocol);
	if (!strcmp(kernel, "full")) {
		errno = EMFILE;
		return -1;
	}
	if (!strcmp(kernel, "barred") && calls++ < 3) {
		errno = EPERM;
		return -1;
	}
	if (protocol == 256 && !proto_smc) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	if (domain == 43 && !family_smc) {
		errno = EAFNOSUPPORT;
		return -1;
	}
	/* machines without IPv6 can run this, too */
	if (domain == 43 || domain == AF_INET6)
		domain = AF_INET;
	return syscall(SYS_socket, domain, type, 0);
}
