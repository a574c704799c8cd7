// SPDX-License-Identifier: GPL-2.0
/*
 * What the executor of the differential tester knows about its sockets, and
 * how it waits until TCP's answer is determined.
 *
 * A flow is one direction of a connection: how many bytes were written and
 * read, where the urgent byte is, how it ended.  Every byte of a flow follows
 * from its position, so that what is read can be checked without a copy.
 *
 * Before a call on a socket, settle() waits until everything that is on its
 * way has arrived there: bytes, FIN, reset, room.  Corked bytes are pushed
 * first (TCP_NODELAY does that), otherwise a timer would decide.  A flow that
 * is "full" holds as much as the kernel took, which is not the same for two
 * kinds: until it is drained its amounts are not looked at.
 */
#include "difftest.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>

struct config config = {
	.kind = KIND_TCP, .host = "127.0.0.1", .tick_us = 3000,
	.wait_ms = 5000,
};

sig_atomic_t sigpipes;	/* since the call began */

/* -- memory -- */

#define PATTERN		65521
#define GUARD		(128 * 1024)

static unsigned char pattern[2 * PATTERN + AREA];
unsigned char *area;	/* AREA bytes, then GUARD without access */

void memory_init(void)
{
	uint32_t x = 1;
	unsigned int i;

	for (i = 0; i < PATTERN; i++) {
		x = x * 1664525 + 1013904223;
		pattern[i] = x >> 24;
	}
	for (; i < sizeof(pattern); i++)
		pattern[i] = pattern[i - PATTERN];
	area = mmap(NULL, AREA + GUARD, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED || mprotect(area + AREA, GUARD, PROT_NONE))
		die("mmap");
}

const unsigned char *flow_bytes(const struct flow *f, uint64_t pos)
{
	return pattern + (pos + f->key * 7919) % PATTERN;
}

/*
 * Lay @len bytes out in up to @pieces, from good memory; with @hole >= 0 the
 * bytes from there on cannot be accessed.  Returns the number of pieces.
 */
int memory_layout(struct iovec *iov, int len, int pieces, int hole)
{
	unsigned char *at = area;
	int n = 0, step;

	if (hole >= 0) {
		at = area + AREA - hole;
		if (pieces < 2) {
			iov[0] = (struct iovec){ at, len };
			return 1;
		}
		/* good, bad, good again */
		iov[n++] = (struct iovec){ at, hole };
		step = (len - hole + 1) / 2;
		iov[n++] = (struct iovec){ area + AREA, step };
		iov[n++] = (struct iovec){ area, len - hole - step };
		return n;
	}
	if (pieces < 1)
		pieces = 1;
	step = len / pieces;
	while (--pieces) {
		iov[n++] = (struct iovec){ at, step };
		at += step;
		len -= step;
	}
	iov[n++] = (struct iovec){ at, len };
	return n;
}

/* -- waiting -- */

int events_now(int fd)
{
	struct pollfd p = {
		.fd = fd,
		.events = POLLIN | POLLOUT | POLLPRI | POLLRDHUP | POLLRDNORM |
			  POLLWRNORM | POLLRDBAND | POLLWRBAND,
	};

	poll(&p, 1, 0);
	return p.revents;
}

uint64_t on_way(const struct flow *f)
{
	return f ? f->wr - f->rd : 0;
}

struct slot *reader_of(struct run *run, const struct flow *f)
{
	int i;

	for (i = 0; i < NUM_SLOTS; i++)
		if (run->slot[i].fd >= 0 && run->slot[i].in == f)
			return &run->slot[i];
	return NULL;
}

void push_held(struct slot *s)
{
	int one = 1;

	if (s->fd < 0 || !s->out || !s->out->more)
		return;
	s->out->more = false;
	setsockopt(s->fd, SOL_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* Bytes FIONREAD must show: it stops at the urgent byte. */
static uint64_t inq_wanted(const struct slot *s)
{
	const struct flow *f = s->in;

	if (!s->inl && f->mark != NO_MARK && f->mark >= f->rd)
		return f->mark - f->rd;
	return f->wr - f->rd;
}

static bool behind_mark_arrived(const struct slot *s)
{
	const struct flow *f = s->in;
	int want = f->wr - f->rd - 1;

	if (s->inl || f->mark == NO_MARK || f->rst)
		return true;
	if (f->counted && !f->full)
		return info_of(s->fd).bytes_received - f->before >= f->wr;
	if (f->mark != f->rd || want <= 0)
		return true;
	/* of what fills all buffers the reader has that much at least */
	if (f->full && want > LIMIT)
		want = LIMIT;
	return recv(s->fd, area, want,
		    MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT) == want;
}

/* After shutdown(SHUT_RD) there is no RDHUP for the FIN: ask the state. */
static bool fin_arrived(const struct slot *s, int ev)
{
	int state;

	if (!s->in->rx_shut)
		return ev & POLLRDHUP;
	state = info_of(s->fd).state;
	return state != TCP_ESTABLISHED && state != TCP_FIN_WAIT1 &&
	       state != TCP_FIN_WAIT2;
}

static bool settled(const struct slot *s)
{
	struct flow *f = s->in;
	int ev;

	if (s->listening)
		return !s->npend || events_now(s->fd) & POLLIN;
	if (!f)
		return true;
	ev = events_now(s->fd);
	if (f->rst && !f->rst_seen && (ev & (POLLHUP | POLLERR)) !=
	    (POLLHUP | POLLERR))
		return false;
	f->rst_seen = f->rst;
	if (f->urg_new && f->mark != NO_MARK && !f->rst && !(ev & POLLPRI))
		return false;
	f->urg_new = false;
	if (f->lossy)
		return true;
	if (queued(s->fd) < (f->full && inq_wanted(s) > LIMIT ? LIMIT :
			  (int)inq_wanted(s)))
		return false;
	if (f->full)
		return behind_mark_arrived(s);
	if (f->fin && !fin_arrived(s, ev))
		return false;
	if (!s->out->full && !(ev & POLLOUT))
		return false;
	return behind_mark_arrived(s);
}

/* Wait until all that is on the way to the socket is there. */
bool settle(struct slot *s)
{
	uint64_t end = 0;
	int tries = 0;

	if (s->fd < 0)
		return true;
	while (!settled(s)) {
		if (!end)
			end = now_ns() + config.wait_ms * 1000000ULL;
		else if (now_ns() > end)
			return false;
		if (++tries > 20)
			usleep(200);
	}
	return true;
}

/* -- blocking calls are interrupted, again and again until they return -- */

void tick(bool on)
{
	struct itimerval it = {};

	if (on) {
		it.it_value.tv_usec = config.tick_us;
		it.it_interval.tv_usec = config.tick_us;
	}
	setitimer(ITIMER_REAL, &it, NULL);
}

/* How often this thread has slept. */
long sleeps(void)
{
	struct rusage ru;

	getrusage(RUSAGE_THREAD, &ru);
	return ru.ru_nvcsw;
}

/*
 * Was a call interrupted before it slept?  A slow host's tick may come so early,
 * and TCP looks for signals behind an urgent byte where it would not sleep.
 */
bool too_early(int rc, long slept)
{
	int err = errno;
	bool early = rc < 0 && err == EINTR && sleeps() == slept;

	errno = err;
	return early;
}

/* -- reading with a check of every byte -- */

/* An in-band read: the urgent byte is skipped if it is the next. */
void skip_mark(struct slot *s)
{
	struct flow *f = s->in;

	if (!s->inl && f->mark == f->rd && f->wr > f->rd) {
		f->rd++;
		f->mark = NO_MARK;
	}
}

/* @n bytes were read in-band */
void advance(struct flow *f, int n)
{
	f->rd += n;
	if (f->mark != NO_MARK && f->mark < f->rd)
		f->mark = NO_MARK;
}

/* false: what was read is not what was written there */
bool bytes_right(const struct flow *f, uint64_t pos, const unsigned char *buf,
		 int len)
{
	return pos + len <= f->wr && !memcmp(flow_bytes(f, pos), buf, len);
}

/* recv() of plain memory; advances the flow.  -2: wrong bytes. */
int read_some(struct slot *s, int len)
{
	struct flow *f = s->in;
	int n;

	n = recv(s->fd, area, len < AREA ? len : AREA, MSG_DONTWAIT);
	skip_mark(s);
	if (n <= 0)
		return n;
	if (!bytes_right(f, f->rd, area, n))
		return -2;
	advance(f, n);
	return n;
}
