/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A listener and a connection in one process, for tests in the harness that
 * run on TCP first and then on sockets of ours.  SMC_HOST is the address, for
 * a run over an RDMA port; by default it is loopback's.
 */
#ifndef SMC_SELFTEST_MOVE_PAIR_H
#define SMC_SELFTEST_MOVE_PAIR_H

#include <poll.h>
#include "util.h"

#define WAIT_MS	10000	/* ten times what anything here takes */

struct pair {
	struct sockaddr_storage addr;
	socklen_t len;
	int listener, client, server;
};

static inline int pair_listen(struct pair *p, enum kind kind)
{
	const char *host = getenv("SMC_HOST");

	p->len = parse_addr(host ? host : "127.0.0.1", "0", &p->addr);
	p->client = -1;
	p->server = -1;
	p->listener = open_listener(kind, &p->addr, p->len, 64, 0, 0);
	return getsockname(p->listener, (struct sockaddr *)&p->addr, &p->len);
}

static inline int pair_connect(struct pair *p, enum kind kind)
{
	p->client = open_socket(kind, p->addr.ss_family, 0);
	if (connect(p->client, (struct sockaddr *)&p->addr, p->len))
		return -1;
	p->server = accept(p->listener, NULL, NULL);
	return p->server < 0 ? -1 : 0;
}

static inline void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static inline void pair_close(struct pair *p)
{
	close_fd(&p->client);
	close_fd(&p->server);
	close_fd(&p->listener);
}

/* waits for any of the events; returns the mask, 0 after WAIT_MS */
static inline int wait_events(int fd, int events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, WAIT_MS) > 0 ? p.revents : 0;
}

/* The byte at a position of a stream; no two pages of it are alike. */
static inline unsigned char stream_byte(size_t pos)
{
	return pos ^ pos >> 8 ^ (pos >> 16) * 13;
}

static inline void stream_fill(char *buf, size_t len, size_t pos)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = stream_byte(pos + i);
}

/* number of bytes that are right, from the first on */
static inline size_t stream_right(const char *buf, size_t len, size_t pos)
{
	size_t i;

	for (i = 0; i < len && (unsigned char)buf[i] == stream_byte(pos + i);)
		i++;
	return i;
}

/* reads all of a stream that begins at pos; false if a byte differs */
static inline bool stream_read(int fd, size_t len, size_t pos)
{
	static char buf[65536];
	ssize_t n;

	while (len && wait_events(fd, POLLIN)) {
		n = read(fd, buf, len < sizeof(buf) ? len : sizeof(buf));
		if (n <= 0 || stream_right(buf, n, pos) != n)
			return false;
		pos += n;
		len -= n;
	}
	return !len;
}

static inline bool stream_write(int fd, size_t len, size_t pos)
{
	static char buf[65536];
	size_t want;
	ssize_t n;

	while (len) {
		want = len < sizeof(buf) ? len : sizeof(buf);
		stream_fill(buf, want, pos);
		n = write(fd, buf, want);
		if (n <= 0)
			return false;
		pos += n;
		len -= n;
	}
	return true;
}

#endif /* SMC_SELFTEST_MOVE_PAIR_H */
