// SPDX-License-Identifier: GPL-2.0
/*
 * Opens the sockets named on the command line, DOMAIN,TYPE,PROTOCOL each, and
 * prints what came of it: the errno it found afterwards, and with "+buffers"
 * the sizes of the socket's buffers.  "+fork" opens the rest in a child,
 * "+connect ADDRESS PORT" and "+listen ADDRESS PORT" use the last socket.
 * errno is 77 before each call, to see whether it is left alone; a call that
 * allocates memory ends the program.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

void *__libc_malloc(size_t size);

static bool calling;

void *malloc(size_t size)
{
	if (calling)
		abort();
	return __libc_malloc(size);
}

static void print_result(int rc)
{
	int err = errno;

	calling = false;
	printf("%s errno %d\n", rc < 0 ? "failed" : "ok", err);
}

static void use(int fd, bool is_listen, const char *host, const char *port)
{
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(atoi(port)),
	};
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htons(atoi(port)),
	};
	bool v6 = strchr(host, ':');
	struct sockaddr *sa = v6 ? (void *)&in6 : (void *)&in;
	socklen_t len = v6 ? sizeof(in6) : sizeof(in);
	int rc;

	if (inet_pton(sa->sa_family, host, v6 ? (void *)&in6.sin6_addr :
		      (void *)&in.sin_addr) != 1)
		exit(2);
	if (is_listen)
		bind(fd, sa, len);
	errno = 77;
	calling = true;
	if (is_listen)
		rc = listen(fd, 5);
	else
		rc = connect(fd, sa, len);
	print_result(rc);
}

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
		if (*argv[i] == '+' && i + 2 < argc) {
			use(fd, !strcmp(argv[i], "+listen"), argv[i + 1],
			    argv[i + 2]);
			i += 2;
			continue;
		}
		if (sscanf(argv[i], "%d,%i,%d", &domain, &type,
			   &protocol) != 3)
			return 2;
		errno = 77;
		calling = true;
		fd = socket(domain, type, protocol);
		print_result(fd);
	}
	return 0;
}
