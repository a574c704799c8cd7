// SPDX-License-Identifier: GPL-2.0
/*
 * wakeups - no thread sleeps while there is something to do
 *
 * Two processes take turns: a few messages of random length one way, then some
 * the other way, so that each turn ends with a sleep and a wake-up; long ones
 * fill the ring and put the writer to sleep, too.  How a side waits is random:
 * in the call itself, MSG_PEEK, MSG_WAITALL, poll, select, epoll (level, edge,
 * one-shot), SO_RCVLOWAT.  A 1 kHz timer signal interrupts both; because a
 * signal would also end a sleep that no wake-up ended, it is blocked in half of
 * the turns, and waits there.  A third process watches: if neither side gets
 * on for a second of its own ticks, and one is found asleep though its socket
 * is ready, five times in a row, a wake-up was lost.
 */
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "lib/bytes.h"
#include "lib/task.h"
#include "lib/util.h"
#include "lib/wait.h"

#include "kselftest.h"

#define TICK_MS	20
#define LOOKS	5
#define RING	16384
#define LONGEST	60000
/* a message's header: its length and */
#define LAST	0x80000000u	/* your turn */
#define STOP	0x40000000u	/* and no turn after that */
#define LENGTH	0x0fffffffu

enum method { CALL, PEEK, WAITALL, POLL, SELECT, LEVEL, EDGE, ONESHOT, LOWAT,
	      METHODS };

static const char * const method_names[] = {
	"call", "peek", "waitall", "poll", "select", "level", "edge",
	"oneshot", "lowat",
};

/* Seen by all three; each side writes its own. */
struct side {
	_Atomic uint64_t progress;	/* calls that moved bytes */
	_Atomic uint64_t messages;
	_Atomic uint64_t signals;
	_Atomic uint64_t waits[METHODS];
	_Atomic int method;
	_Atomic bool writing;
};

static struct side *sides, *me;
static int fd, level_ep, edge_ep, oneshot_ep;
static unsigned int rnd;
static uint64_t rx_pos, tx_pos;
static long hang_at = -1;	/* -x: message at which one side hangs */
static unsigned char buf[LONGEST + 4];

static unsigned int below(unsigned int n)
{
	return rand_r(&rnd) % n;
}

static void on_alarm(int sig)
{
	me->signals++;
}

/* From now on a signal each millisecond. */
static void ticking(void)
{
	struct itimerval it = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction sa = {
		.sa_handler = on_alarm,
		.sa_flags = below(2) ? SA_RESTART : 0,
	};

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
}

static int ep_new(uint32_t events)
{
	struct epoll_event ev = { .events = events };
	int ep = epoll_create1(EPOLL_CLOEXEC);

	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev))
		die("epoll");
	return ep;
}

/* One sleep until the descriptor is ready; a signal may end it early. */
static void wait_ready(enum method how, bool out)
{
	uint32_t want = out ? EPOLLOUT : EPOLLIN;
	struct pollfd p = { .fd = fd, .events = out ? POLLOUT : POLLIN };
	struct epoll_event ev = { .events = want };
	fd_set set;

	me->waits[how]++;
	switch (how) {
	case SELECT:
		FD_ZERO(&set);
		FD_SET(fd, &set);
		select(fd + 1, out ? NULL : &set, out ? &set : NULL, NULL,
		       NULL);
		break;
	case LEVEL:
		epoll_ctl(level_ep, EPOLL_CTL_MOD, fd, &ev);
		epoll_wait(level_ep, &ev, 1, -1);
		break;
	case EDGE:
		epoll_wait(edge_ep, &ev, 1, -1);
		break;
	case ONESHOT:
		ev.events |= EPOLLONESHOT;
		epoll_ctl(oneshot_ep, EPOLL_CTL_MOD, fd, &ev);
		epoll_wait(oneshot_ep, &ev, 1, -1);
		break;
	default:
		poll(&p, 1, -1);
	}
}

static bool again(void)
{
	return errno == EAGAIN || errno == EINTR;
}

static void moved(void)
{
	me->progress++;
}

/* Waits in the call itself for some methods, else apart from it. */
static ssize_t recv_once(enum method how, void *buf, size_t len)
{
	int val = len;
	ssize_t n;

	switch (how) {
	case CALL:
		me->waits[how]++;
		return recv(fd, buf, len, 0);
	case WAITALL:
		me->waits[how]++;
		return recv(fd, buf, len, MSG_WAITALL);
	case PEEK:
		me->waits[how]++;
		if (recv(fd, buf, len, MSG_PEEK) < 0)
			return -1;
		return recv(fd, buf, len, MSG_DONTWAIT);
	case LOWAT:
		/* TCP stalls by itself when that is a good part of its ring */
		val = len > 200 ? 200 : len;
		setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &val, sizeof(val));
		n = recv(fd, buf, len, MSG_DONTWAIT);
		if (n < 0)
			wait_ready(how, false);
		val = 1;
		setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &val, sizeof(val));
		return n;
	default:
		n = recv(fd, buf, len, MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN) {
			wait_ready(how, false);
			errno = EAGAIN;
		}
		return n;
	}
}

/* From here to there in the message; the header's bytes are not checked. */
static void recv_bytes(enum method how, size_t done, size_t len)
{
	size_t i = done;
	ssize_t n;

	me->method = how;
	me->writing = false;
	while (done < len) {
		n = recv_once(how, buf + done, len - done);
		if (!n || (n < 0 && !again()))
			die("recv: %zd", n);
		if (n > 0) {
			done += n;
			moved();
		}
	}
	for (; i >= 4 && i < len; i++)
		if (buf[i] != byte_at(rx_pos + i))
			die("wrong byte at %llu",
			    (unsigned long long)(rx_pos + i));
}

static void send_bytes(enum method how, size_t len)
{
	int flags = how <= WAITALL ? 0 : MSG_DONTWAIT;
	size_t done = 0;
	ssize_t n;

	me->method = how;
	me->writing = true;
	while (done < len) {
		n = send(fd, buf + done, len - done, flags | MSG_NOSIGNAL);
		if (n > 0) {
			done += n;
			moved();
		} else if (!again()) {
			die("send");
		} else if (flags && errno == EAGAIN) {
			wait_ready(how, true);
		}
	}
}

static size_t length(void)
{
	switch (below(20)) {
	case 0:
		return 1 + below(LONGEST);
	case 1: case 2: case 3: case 4:
		return 1 + below(2000);
	default:
		return 1 + below(64);
	}
}

static void send_turn(uint32_t stop)
{
	int left = 1 + below(4);
	enum method how = below(METHODS);
	uint32_t head;
	size_t len;

	while (left--) {
		len = 4 + length();
		fill_bytes(buf + 4, len - 4, tx_pos + 4);
		head = len | (left ? 0 : LAST | stop);
		memcpy(buf, &head, 4);
		send_bytes(how, len);
		tx_pos += len;
		me->messages++;
	}
}

/* Reads until it is our turn; false: it was the last time. */
static bool recv_turn(void)
{
	enum method how = below(METHODS);
	uint32_t head;

	do {
		recv_bytes(how, 0, 4);
		memcpy(&head, buf, 4);
		if ((head & LENGTH) > sizeof(buf))
			die("header %x", head);
		recv_bytes(how, 4, head & LENGTH);
		rx_pos += head & LENGTH;
		me->messages++;
	} while (!(head & LAST));
	return !(head & STOP);
}

static void block_signal(bool block)
{
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(block ? SIG_BLOCK : SIG_UNBLOCK, &alarm, NULL);
}

/* One side; the first to write says when it is over. */
static void play(int nr, unsigned long messages)
{
	bool mine = !nr;

	level_ep = ep_new(EPOLLIN);
	edge_ep = ep_new(EPOLLIN | EPOLLOUT | EPOLLET);
	oneshot_ep = ep_new(EPOLLIN | EPOLLONESHOT);
	ticking();
	for (;; mine = !mine) {
		block_signal(below(2));
		if (nr && hang_at >= 0 && (long)me->messages > hang_at) {
			block_signal(true);
			me->writing = mine;
			for (;;)
				pause();
		}
		if (!mine && !recv_turn())
			break;
		if (mine) {
			bool stop = !nr && me->messages >= messages;

			send_turn(stop ? STOP : 0);
			if (stop)
				break;
		}
	}
	/* the other one may still read: it closes first */
	shutdown(fd, SHUT_WR);
	me->writing = false;
	block_signal(true);
	if (recv(fd, buf, 1, 0))
		die("no end");
	exit(0);
}

static void report(const char *what)
{
	int i, k;

	printf("# %s\n", what);
	for (i = 0; i < 2; i++) {
		printf("# side %d: %llu messages, %llu signals, %s by %s; waits:",
		       i, (unsigned long long)sides[i].messages,
		       (unsigned long long)sides[i].signals,
		       sides[i].writing ? "writing" : "reading",
		       method_names[sides[i].method]);
		for (k = 0; k < METHODS; k++)
			printf(" %s %llu", method_names[k],
			       (unsigned long long)sides[i].waits[k]);
		printf("\n");
	}
}

static int ended(pid_t pid[2], int end[2], int *bad)
{
	int i, status, n = 0;

	for (i = 0; i < 2; i++)
		if (pid[i] && waitpid(pid[i], &status, WNOHANG) > 0) {
			n++;
			*bad |= status;
			pid[i] = 0;
			/* the other one sees it */
			close_fd(&end[i]);
		}
	return n;
}

static bool sleeps_ready(pid_t pid, int fd, const struct side *s)
{
	int want = s->writing ? POLLOUT : POLLIN;

	return pid && poll_for(fd, want, 0) & want && process_asleep(pid);
}

/*
 * False if one fails, or sleeps though it could get on, or if both have nothing
 * to do and wait for each other.  A host that is busy does none of this.
 */
static bool watch(pid_t pid[2], int end[2])
{
	int i, idle = 0, open = 2, bad = 0, looks[2] = {};
	const char *what = NULL;
	uint64_t last = 0, now;

	while (open && !what) {
		usleep(TICK_MS * 1000);
		open -= ended(pid, end, &bad);
		now = sides[0].progress + sides[1].progress + !open;
		idle = now == last ? idle + 1 : 0;
		last = now;
		if (idle * TICK_MS >= WAIT_MS)
			what = "no side got on";
		for (i = 0; i < 2; i++) {
			if (idle * TICK_MS >= limit_ms(1000) &&
			    sleeps_ready(pid[i], end[i], &sides[i]))
				looks[i]++;
			else
				looks[i] = 0;
			if (looks[i] == LOOKS)
				what = "a side sleeps though it could get on";
		}
	}
	report(what ?: bad ? "a side failed" : "done");
	for (i = 0; i < 2; i++)
		if (pid[i])
			kill(pid[i], SIGKILL);
	return !what && !bad;
}

static void pair_up(enum kind kind, const char *host, int end[2])
{
	struct sockaddr_storage addr;
	socklen_t len = parse_addr(host, "0", &addr);
	int size = RING, one = 1, listener;

	listener = open_listener(kind, &addr, len, 1, size, size);
	len = sizeof(addr);
	if (getsockname(listener, (struct sockaddr *)&addr, &len))
		die("getsockname");
	end[0] = open_socket(kind, addr.ss_family, 0);
	setsockopt(end[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	setsockopt(end[0], SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (connect(end[0], (struct sockaddr *)&addr, len))
		die("connect");
	end[1] = accept(listener, NULL, NULL);
	if (end[1] < 0)
		die("accept");
	if (setsockopt(end[0], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) ||
	    setsockopt(end[1], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		die("TCP_NODELAY");
	close(listener);
}

static void usage(void)
{
	fprintf(stderr,
		"wakeups [-k KIND] [-a ADDRESS] [-n MESSAGES] [-s SEED] [-x N]\n"
		"  -k  " KIND_HELP "\n"
		"  -x  hang at message N, to see that it is noticed\n");
	exit(2);
}

int main(int argc, char **argv)
{
	unsigned long messages = 10000;
	const char *host = "127.0.0.1";
	enum kind kind = KIND_TCP;
	int i, c, end[2], seed = 1;
	pid_t pid[2];

	while ((c = getopt(argc, argv, "a:k:n:s:x:")) >= 0) {
		switch (c) {
		case 'a':
			host = optarg;
			break;
		case 'k':
			kind = parse_kind(optarg);
			break;
		case 'n':
			messages = parse_size(optarg);
			break;
		case 's':
			seed = atoi(optarg);
			break;
		case 'x':
			hang_at = atol(optarg);
			break;
		default:
			usage();
		}
	}
	sides = shared_memory(2 * sizeof(*sides));
	pair_up(kind, host, end);
	ksft_print_header();
	ksft_set_plan(1);
	fflush(stdout);
	for (i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			die("fork");
		if (pid[i])
			continue;
		fd = end[i];
		close(end[!i]);
		me = &sides[i];
		rnd = 2 * seed + i;
		play(i, messages);
	}
	ksft_test_result(watch(pid, end), "%lu messages\n", messages);
	ksft_finished();
}
