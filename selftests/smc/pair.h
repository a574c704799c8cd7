/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fixture of the tests in the kselftest harness: a listener and both ends
 * of a connection in one process.  The program adds its variants; TCP is one
 * of them, so that a test that is wrong fails there.  SMC_ADDR in the
 * environment names another IPv4 address for sockets of ours: over SMC-R it
 * has to be one that an RDMA port stands on.  Tested by its users.
 */
#ifndef SMC_SELFTEST_PAIR_H
#define SMC_SELFTEST_PAIR_H

#include "util.h"

#include <poll.h>
#include <sys/ioctl.h>

#include "kselftest_harness.h"

#define WAIT_MS	10000	/* ten times what anything here takes */
#define WAIT_S	(WAIT_MS / 1000)
#define RING	16384	/* the smallest ring, about */

FIXTURE(pair) {
	struct sockaddr_storage addr;
	socklen_t len;
	int listener, client, server;
};

FIXTURE_VARIANT(pair) {
	enum kind kind;
	const char *host;
};

static inline const char *pair_host(enum kind kind, const char *host)
{
	const char *other = getenv("SMC_ADDR");

	return other && kind != KIND_TCP ? other : host;
}

FIXTURE_SETUP(pair)
{
	struct sockaddr *sa = (struct sockaddr *)&self->addr;
	int size = RING;	/* the kernel doubles it, and a ring is half */

	self->len = parse_addr(pair_host(variant->kind, variant->host), "0",
			       &self->addr);
	self->listener = open_listener(variant->kind, &self->addr, self->len,
				       512, size, size);
	self->len = sizeof(self->addr);
	ASSERT_EQ(0, getsockname(self->listener, sa, &self->len));
	self->client = open_socket(variant->kind, self->addr.ss_family, 0);
	setsockopt(self->client, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	setsockopt(self->client, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	ASSERT_EQ(0, connect(self->client, sa, self->len)) {
		TH_LOG("connect: %s", strerror(errno));
	}
	self->server = accept(self->listener, NULL, NULL);
	ASSERT_LE(0, self->server);
}

FIXTURE_TEARDOWN(pair)
{
	if (self->client >= 0)
		close(self->client);
	if (self->server >= 0)
		close(self->server);
	if (self->listener >= 0)
		close(self->listener);
}

/* waits for any of the events; returns the mask, 0 after WAIT_MS */
static inline int wait_events(int fd, int events)
{
	struct pollfd p = { .fd = fd, .events = events };

	while (poll(&p, 1, WAIT_MS) < 0 && errno == EINTR)
		;
	return p.revents;
}

static inline int mask_now(int fd)
{
	struct pollfd p = {
		.fd = fd,
		.events = POLLIN | POLLOUT | POLLPRI | POLLRDHUP,
	};

	poll(&p, 1, 0);
	return p.revents;
}

/* waits until the mask is just this one; returns the last mask seen */
static inline int wait_mask(int fd, int mask)
{
	uint64_t end = now_ns() + WAIT_S * 1000000000ULL;
	int got;

	while ((got = mask_now(fd)) != mask && now_ns() < end)
		usleep(1000);
	return got;
}

/* What byte @pos of a stream is; no period divides a ring. */
static inline unsigned char byte_at(uint64_t pos)
{
	return (pos * 2654435761u >> 13) + pos / 251;
}

static inline void fill_bytes(unsigned char *buf, size_t len, uint64_t pos)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = byte_at(pos + i);
}

/* Index of the first wrong byte, @len if all are right. */
static inline size_t first_wrong(const unsigned char *buf, size_t len,
				 uint64_t pos)
{
	size_t i;

	for (i = 0; i < len && buf[i] == byte_at(pos + i); i++)
		;
	return i;
}

/* Bytes of the stream from @pos until it would block; how many. */
static inline size_t fill_from(int fd, uint64_t pos)
{
	unsigned char block[8192];
	size_t sum = 0;
	ssize_t n;
	int dry = 0;

	/* the peer's ring may still be filling, or TCP compacts its queue */
	while (dry < 3) {
		for (;;) {
			fill_bytes(block, sizeof(block), pos + sum);
			n = send(fd, block, sizeof(block),
				 MSG_DONTWAIT | MSG_NOSIGNAL);
			if (n <= 0)
				break;
			sum += n;
			dry = 0;
		}
		usleep(20000);
		dry += !(mask_now(fd) & POLLOUT);
	}
	return sum;
}

/*
 * Reads the stream to its end or an error, of which *@err is the errno (0: a
 * clean end of file).  Bytes read; -1 if one is wrong.
 */
static inline ssize_t read_to_end(int fd, uint64_t pos, int *err)
{
	unsigned char block[8192];
	size_t sum = 0;
	ssize_t n;

	*err = ETIMEDOUT;
	while (wait_events(fd, POLLIN)) {
		n = recv(fd, block, sizeof(block), MSG_DONTWAIT);
		if (n <= 0) {
			*err = n ? errno : 0;
			break;
		}
		if (first_wrong(block, n, pos + sum) != n)
			return -1;
		sum += n;
	}
	return sum;
}

/* Reads just @len bytes of the stream; false if they do not come. */
static inline bool read_just(int fd, size_t len, uint64_t pos)
{
	unsigned char block[8192];
	ssize_t n;

	for (; len; len -= n, pos += n) {
		if (!wait_events(fd, POLLIN))
			return false;
		n = recv(fd, block, len < sizeof(block) ? len : sizeof(block),
			 MSG_DONTWAIT);
		if (n <= 0 || first_wrong(block, n, pos) != n)
			return false;
	}
	return true;
}

static inline void set_int(int fd, int level, int name, int val)
{
	if (setsockopt(fd, level, name, &val, sizeof(val)))
		die("setsockopt %d", name);
}

static inline int queued(int fd)
{
	int n = -1;

	ioctl(fd, FIONREAD, &n);
	return n;
}

static inline bool wait_queued(int fd, int n)
{
	int i;

	for (i = 0; i < WAIT_MS && queued(fd) < n; i++)
		usleep(1000);
	return queued(fd) == n;
}

static inline double seconds_since(uint64_t start)
{
	return (now_ns() - start) / 1e9;
}

#endif /* SMC_SELFTEST_PAIR_H */
