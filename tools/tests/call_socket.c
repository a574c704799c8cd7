// SPDX-License-Identifier: GPL-2.0
/*
 * Opens the sockets named on the command line, DOMAIN,TYPE,PROTOCOL each, and
 * prints what came of it: the errno it found afterwards, and with "+buffers"
 * the sizes of the socket's buffers.  "+fork" opens the rest in a child.
 * errno is 77 before each call, to see whether it is left alone.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void print_buffers(int fd)
{
	int snd = 0, rcv = 0;
	socklen_t len = sizeof(int);

	getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &snd, &len);
	getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rcv, &len);
	/* the kernel doubles what was set */
	printf("buffers %d %d\n", snd / 2, rcv / 2);
}

int main(int argc, char **argv)
{
	int domain, type, protocol;
	int fd = -1;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "+buffers")) {
			print_buffers(fd);
			continue;
		}
		if (!strcmp(argv[i], "+fork")) {
			fflush(stdout);
			if (fork()) {
				wait(NULL);
				return 0;
			}
			continue;
		}
		if (sscanf(argv[i], "%d,%i,%d", &domain, &type,
			   &protocol) != 3)
			return 2;
		errno = 77;
		fd = socket(domain, type, protocol);
		printf("%s errno %d\n", fd < 0 ? "failed" : "ok", errno);
	}
	return 0;
}
