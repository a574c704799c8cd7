// SPDX-License-Identifier: GPL-2.0
/* Waiting for what a socket, a file or a task does.  Tested by its users. */
#include "wait.h"
#include "util.h"

#include <sys/ioctl.h>

/* waits for any of the events; returns the mask, 0 after ms */
int poll_for(int fd, int events, int ms)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, ms) > 0 ? p.revents : 0;
}

/* waits for any of the events; returns the mask, 0 after WAIT_MS */
int wait_events(int fd, int events)
{
	struct pollfd p = { .fd = fd, .events = events };

	while (poll(&p, 1, WAIT_MS) < 0 && errno == EINTR)
		;
	return p.revents;
}

int mask_now(int fd)
{
	return poll_for(fd, POLLIN | POLLOUT | POLLPRI | POLLRDHUP, 0);
}

/* waits until the mask is just this one; returns the last mask seen */
int wait_mask(int fd, int mask)
{
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;
	int got;

	while ((got = mask_now(fd)) != mask && now_ns() < end)
		usleep(1000);
	return got;
}

/* bytes that can be read, of a socket or of a pipe */
int queued(int fd)
{
	int n = -1;

	ioctl(fd, FIONREAD, &n);
	return n;
}

bool wait_queued(int fd, int n)
{
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;

	while (queued(fd) < n && now_ns() < end)
		usleep(1000);
	return queued(fd) == n;
}

/* Waits for a file that a script makes; false after limit_s seconds. */
bool wait_file(const char *path, int limit_s)
{
	uint64_t end = now_ns() + limit_s * 1000000000ULL;

	while (access(path, F_OK)) {
		if (now_ns() > end)
			return false;
		usleep(20000);
	}
	return true;
}
