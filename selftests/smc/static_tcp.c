// SPDX-License-Identifier: GPL-2.0
/*
 * static_tcp - a TCP client and its server in a program that no library can be
 * put in front of: it is linked statically.
 *
 *	static_tcp ADDRESS PORT BYTES
 *
 * The server sends back what it gets, and the client compares it.  Exit: 0 all
 * equal, 1 something failed.  Used by selftests/vm/tests/activate.sh.
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE	4093		/* no power of two */

static struct sockaddr_storage addr;
static socklen_t addr_len;

static void set_addr(const char *text, const char *port)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&addr;
	struct sockaddr_in *in = (struct sockaddr_in *)&addr;

	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		addr.ss_family = AF_INET;
		in->sin_port = htons(atoi(port));
		addr_len = sizeof(*in);
	} else if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1) {
		addr.ss_family = AF_INET6;
		in6->sin6_port = htons(atoi(port));
		addr_len = sizeof(*in6);
	} else {
		errx(1, "%s is not an address", text);
	}
}

static int new_socket(void)
{
	int fd = socket(addr.ss_family, SOCK_STREAM, 0);

	if (fd < 0)
		err(1, "socket");
	return fd;
}

static void send_all(int fd, const uint8_t *data, size_t len)
{
	ssize_t n;

	for (; len; data += n, len -= n) {
		n = send(fd, data, len, MSG_NOSIGNAL);
		if (n <= 0)
			err(1, "send");
	}
}

static void serve(int listener)
{
	uint8_t data[PIECE];
	ssize_t n;
	int fd;

	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		err(1, "accept");
	while ((n = recv(fd, data, sizeof(data), 0)) > 0)
		send_all(fd, data, n);
	if (n)
		err(1, "recv of the server");
	close(fd);
}

/* One piece at a time is under way. */
static void ask(size_t bytes)
{
	uint8_t sent[PIECE], got[PIECE];
	int fd = new_socket();
	size_t at, i, len;

	if (connect(fd, (struct sockaddr *)&addr, addr_len))
		err(1, "connect");
	for (at = 0; at < bytes; at += len) {
		len = bytes - at < PIECE ? bytes - at : PIECE;
		for (i = 0; i < len; i++)
			sent[i] = (at + i) % 251;
		send_all(fd, sent, len);
		if (recv(fd, got, len, MSG_WAITALL) != (ssize_t)len)
			err(1, "recv of the client");
		if (memcmp(sent, got, len))
			errx(1, "other bytes after %zu", at);
	}
	if (shutdown(fd, SHUT_WR))
		err(1, "shutdown");
	if (recv(fd, got, 1, 0))
		err(1, "no end of file");
	close(fd);
}

int main(int argc, char **argv)
{
	int listener, status, one = 1;
	pid_t pid;

	if (argc != 4)
		errx(1, "usage: static_tcp ADDRESS PORT BYTES");
	set_addr(argv[1], argv[2]);
	listener = new_socket();
	if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(listener, (struct sockaddr *)&addr, addr_len) ||
	    listen(listener, 1))
		err(1, "listen");
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		ask(strtoul(argv[3], NULL, 10));
		return 0;
	}
	serve(listener);
	if (waitpid(pid, &status, 0) != pid || status)
		return 1;
	return 0;
}
