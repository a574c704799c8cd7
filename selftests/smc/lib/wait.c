// SPDX-License-Identifier: GPL-2.0
/* Waiting for what a socket, a file or a task does.  Tested by its users. */
#include "wait.h"
#include "util.h"

#include <sys/ioctl.h>

static double scale(void)
{
	const char *s = getenv("SMC_TEST_SCALE");
	static double val;
	char *end;

	if (val)
		return val;
	if (!s || !*s) {
		val = 1;
		return val;
	}
	val = strtod(s, &end);
	if (*end || !(val > 0 && val <= 1000)) {
		errno = 0;
		die("SMC_TEST_SCALE is '%s', not a factor", s);
	}
	return val;
}

/* ms of an idle machine with a usual kernel, for this one */
int limit_ms(int ms)
{
	return ms * scale();
}

/* the same for seconds; a limit does not become none */
int limit_s(int s)
{
	int scaled = s * scale();

	return s && !scaled ? 1 : scaled;
}

/*
 * n rounds on a usual kernel, for this one: a slow one is there for what its
 * checkers see, the first time or never.
 */
int repeats(int n)
{
	int scaled = scale() > 1 ? n / (2 * scale()) : n;

	return scaled ?: 1;
}

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

/* between two looks at what is waited for */
static void pause_briefly(void)
{
	usleep(200);
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
		pause_briefly();
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
		pause_briefly();
	return queued(fd) == n;
}

/* Waits for a flag that another thread or process sets. */
bool wait_flag(const int *flag)
{
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;

	while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) {
		if (now_ns() > end)
			return false;
		pause_briefly();
	}
	return true;
}

/* Waits for a file that a script makes; false after s seconds, scaled. */
bool wait_file(const char *path, int s)
{
	uint64_t end = now_ns() + limit_s(s) * 1000000000ULL;

	while (access(path, F_OK)) {
		if (now_ns() > end)
			return false;
		usleep(20000);
	}
	return true;
}
