// SPDX-License-Identifier: GPL-2.0
/*
 * A kernel with or without SMC, as far as socket() can tell: loaded behind
 * libsmc-preload.so, it says on descriptor 3 what it was asked for and answers
 * as FAKE_KERNEL says.
 *
 *   both    IPPROTO_SMC and AF_SMC
 *   family  AF_SMC only
 *   none    neither
 *   full    no descriptor is free: EMFILE for everything
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int socket(int domain, int type, int protocol)
{
	const char *kernel = getenv("FAKE_KERNEL");
	int proto_smc = !strcmp(kernel, "both");
	int family_smc = proto_smc || !strcmp(kernel, "family");

	dprintf(3, "socket(%d, %#x, %d)\n", domain, type, protocol);
	if (!strcmp(kernel, "full")) {
		errno = EMFILE;
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
