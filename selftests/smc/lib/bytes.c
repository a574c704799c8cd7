// SPDX-License-Identifier: GPL-2.0
/*
 * A stream whose bytes follow from their position: one that is lost, doubled or
 * another page's is seen.  Tested by its users.
 */
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "bytes.h"
#include "util.h"
#include "wait.h"

/* What byte @pos of a stream is; no period divides a ring or a page. */
unsigned char byte_at(uint64_t pos)
{
	return (pos * 2654435761u >> 13) + pos / 251;
}

void fill_bytes(void *buf, size_t len, uint64_t pos)
{
	unsigned char *p = buf;

	for (size_t i = 0; i < len; i++)
		p[i] = byte_at(pos + i);
}

/* Index of the first wrong byte, @len if all are right. */
size_t first_wrong(const void *buf, size_t len, uint64_t pos)
{
	const unsigned char *p = buf;
	size_t i;

	for (i = 0; i < len && p[i] == byte_at(pos + i); i++)
		;
	return i;
}

/* Writes just @len bytes of the stream, to a socket, a pipe or a file. */
bool write_just(int fd, size_t len, uint64_t pos)
{
	unsigned char block[65536];
	size_t want;
	ssize_t n;

	for (; len; len -= n, pos += n) {
		want = len < sizeof(block) ? len : sizeof(block);
		fill_bytes(block, want, pos);
		n = write(fd, block, want);
		if (n <= 0)
			return false;
	}
	return true;
}

/* Reads just @len bytes of the stream; false if they do not come. */
bool read_just(int fd, size_t len, uint64_t pos)
{
	unsigned char block[65536];
	ssize_t n;

	for (; len; len -= n, pos += n) {
		if (!wait_events(fd, POLLIN))
			return false;
		n = read(fd, block, len < sizeof(block) ? len : sizeof(block));
		if (n <= 0 || first_wrong(block, n, pos) != (size_t)n)
			return false;
	}
	return true;
}

/* Have bytes left that have not arrived? */
static bool under_way(int fd)
{
	int all = 0, unsent = 0;

	return !ioctl(fd, SIOCOUTQ, &all) && !ioctl(fd, SIOCOUTQNSD, &unsent) &&
	       all > unsent;
}

/*
 * Bytes of the stream from @pos until it would block; how many.  The peer's ring
 * may still be filling, or TCP compacts its queue: it is full when there was no
 * room for a while, up to the return, and nothing is under way.  A device may
 * stand still for long; TCP sends again what its peer had no room for.
 */
size_t fill_from(int fd, uint64_t pos)
{
	unsigned char block[8192];
	size_t sum = 0;
	ssize_t n;
	int dry = 0;

	for (;;) {
		fill_bytes(block, sizeof(block), pos + sum);
		n = send(fd, block, sizeof(block), MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0) {
			sum += n;
			dry = 0;
			continue;
		}
		if (dry >= 3 && (dry >= 50 || !under_way(fd)))
			return sum;
		usleep(limit_ms(20) * 1000);
		dry += !(mask_now(fd) & POLLOUT);
	}
}

/*
 * Reads the stream to its end or an error, of which *@err is the errno (0: a
 * clean end of file).  Bytes read; -1 if one is wrong.
 */
ssize_t read_to_end(int fd, uint64_t pos, int *err)
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
		if (first_wrong(block, n, pos + sum) != (size_t)n)
			return -1;
		sum += n;
	}
	return sum;
}
