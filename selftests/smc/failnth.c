// SPDX-License-Identifier: GPL-2.0
/*
 * failnth - every allocation of a call fails in turn
 *
 *	failnth calls		calls of a program, in its own context: the file
 *				fail-nth of /proc
 *	failnth life N		whole connections, in whatever context: workers
 *				and soft interrupts too
 *	failnth links N		the same over RDMA, each with a new link: needs
 *				SMC-R on lo and the module badverbs on that port
 *	failnth init N SMC DIAG	loading the two modules
 *
 * N: every N-th allocation; SMC_SEED of the environment says which comes first.
 * Only allocations below functions of the module fail (the stack filter of
 * fault injection).  A call either works or says that there is no memory, and
 * after each the next connection uses SMC as if nothing had happened.
 * Needs root and a kernel with FAILSLAB, FAIL_PAGE_ALLOC,
 * FAULT_INJECTION_DEBUG_FS and FAULT_INJECTION_STACKTRACE_FILTER.
 */
#define _GNU_SOURCE
#include "failnth.h"

#include <linux/sockios.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/wait.h>

#include "kselftest.h"

/* The counters of kselftest.h are one file's. */
void result(bool ok, const char *fmt, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ksft_test_result(ok, "%s\n", text);
}

static bool hit;	/* has the last armed call met its fault? */

/* the call with its nth allocation failing */
#define FAULTY(nth, call) ({			\
	long _rc;				\
	int _err;				\
						\
	nth_arm(nth);				\
	errno = 0;				\
	_rc = (call);				\
	_err = errno;				\
	hit = nth_disarm();			\
	errno = _err;				\
	_rc;					\
})

/*
 * Did it work, or say that there is no memory?  As with TCP, that is ENFILE
 * where a socket was to be made and EADDRINUSE where a port was.
 */
static bool no_memory(long rc, const char *what)
{
	if (rc >= 0 || errno == ENOMEM || errno == ENOBUFS ||
	    (errno == ENFILE && !strcmp(what, "socket")) ||
	    (errno == EADDRINUSE && !strcmp(what, "bind")))
		return true;
	return bad("%s: %s", what, strerror(errno));
}

/* Each step does its call with the nth allocation failing; false: wrong. */

static bool step_socket(int nth)
{
	static int turn;
	enum kind kind = turn++ % 2 ? KIND_AFSMC : KIND_IPPROTO;
	int fd;

	fd = FAULTY(nth, kind == KIND_AFSMC ? socket(AF_SMC, SOCK_STREAM, 0) :
		    socket(AF_INET, SOCK_STREAM, IPPROTO_SMC));
	if (!no_memory(fd, "socket"))
		return false;
	if (fd >= 0)
		close(fd);
	return true;
}

static bool step_bind(int nth)
{
	struct where at = where_is(AF_INET);
	int fd = open_socket(KIND_IPPROTO, AF_INET, 0);
	long rc = FAULTY(nth, bind(fd, sa(&at), at.len));
	bool ok = no_memory(rc, "bind");

	if (rc && bind(fd, sa(&at), at.len))
		ok = bad("second bind: %s", strerror(errno));
	close(fd);
	return ok;
}

static bool step_listen(int nth)
{
	struct where at = where_is(AF_INET);
	int fd = open_socket(KIND_IPPROTO, AF_INET, 0);
	struct ends e = { .l = fd, .c = -1, .s = -1 };
	bool ok;
	long rc;

	if (bind(fd, sa(&at), at.len))
		die("bind");
	rc = FAULTY(nth, listen(fd, 8));
	ok = no_memory(rc, "listen");
	if (rc && listen(fd, 8))
		ok = bad("second listen: %s", strerror(errno));
	ok = ok && ends_connect(&e) && ends_accept(&e) && ends_talk(&e, 100);
	ends_close(&e);
	return ok;
}

static bool step_connect(int nth)
{
	struct ends e = ends_listen();
	struct where at = local_name(e.l);
	long rc;
	bool ok;

	e.c = open_socket(KIND_IPPROTO, AF_INET, 0);
	rc = FAULTY(nth, connect(e.c, sa(&at), at.len));
	ok = no_memory(rc, "connect");
	if (ok && rc) {
		/* the socket is as good as new */
		close(e.c);
		e.c = -1;
		ok = ends_connect(&e);
		/* what the first one has left */
		while (ok && wait_events(e.l, POLLIN)) {
			if (!ends_accept(&e))
				return false;
			if (same_connection(e.c, e.s))
				break;
			close(e.s);
			e.s = -1;
		}
	} else if (ok) {
		ok = ends_accept(&e);
	}
	ok = ok && ends_talk(&e, 100);
	ends_close(&e);
	return ok;
}

/* flags: of accept4(); -1: accept() */
static bool accept_with(int nth, int flags)
{
	struct ends e = ends_listen();
	bool ok = ends_connect(&e);

	if (ok && !wait_events(e.l, POLLIN))
		ok = bad("nothing to accept");
	if (ok) {
		e.s = FAULTY(nth, flags < 0 ? accept(e.l, NULL, NULL) :
			     accept4(e.l, NULL, NULL, flags));
		ok = no_memory(e.s, "accept");
	}
	/* it is there still, or its peer has been told */
	if (ok && e.s < 0 && wait_either(e.l, e.c))
		ok = ends_accept(&e);
	if (ok && e.s >= 0)
		ok = ends_talk(&e, 100);
	else if (ok && !wait_events(e.c, POLLIN))
		ok = bad("lost, and the peer does not know");
	ends_close(&e);
	return ok;
}

static bool step_accept(int nth)
{
	return accept_with(nth, -1);
}

static bool step_accept4(int nth)
{
	return accept_with(nth, SOCK_CLOEXEC);
}

/* what one end of a connection does, the other's view of it being whole */

static bool step_send(int nth)
{
	struct ends e;
	bool ok = ends_open(&e);
	long n = 0;

	if (ok) {
		n = FAULTY(nth, send(e.c, pattern, 3000, MSG_NOSIGNAL));
		ok = no_memory(n, "send");
	}
	if (ok && n < 3000)
		ok = send_all(e.c, n < 0 ? 0 : n, 3000);
	ok = ok && recv_all(e.s, 3000) && ends_talk(&e, 100);
	ends_close(&e);
	return ok;
}

static bool step_recv(int nth)
{
	static char buf[3000];
	struct ends e;
	bool ok = ends_open(&e) && send_all(e.c, 0, 3000);
	long n = 0;

	if (ok && !wait_events(e.s, POLLIN))
		ok = bad("nothing to read");
	if (ok) {
		n = FAULTY(nth, recv(e.s, buf, sizeof(buf), 0));
		ok = no_memory(n, "recv");
	}
	if (ok && n > 0 && memcmp(buf, pattern, n))
		ok = bad("wrong bytes");
	ok = ok && recv_from(e.s, n < 0 ? 0 : n, 3000) && ends_talk(&e, 100);
	ends_close(&e);
	return ok;
}

static bool step_shutdown(int nth)
{
	struct ends e;
	bool ok = ends_open(&e) && send_all(e.c, 0, 100);
	long rc = ok ? FAULTY(nth, shutdown(e.c, SHUT_WR)) : 0;

	ok = ok && no_memory(rc, "shutdown");
	if (rc && shutdown(e.c, SHUT_WR))
		ok = bad("second shutdown: %s", strerror(errno));
	ok = ok && recv_all(e.s, 100) && at_end(e.s);
	ends_close(&e);
	return ok;
}

static bool step_close(int nth)
{
	struct ends e;
	bool ok = ends_open(&e) && send_all(e.c, 0, 3000);

	if (ok && FAULTY(nth, close(e.c)))
		ok = bad("close: %s", strerror(errno));
	e.c = -1;
	ok = ok && recv_all(e.s, 3000) && at_end(e.s);
	ends_close(&e);
	return ok;
}

/* bytes move to a pipe in pages of their own; what did not move is still there */
static bool step_splice_out(int nth)
{
	static char buf[3000];
	struct ends e;
	bool ok = ends_open(&e) && send_all(e.c, 0, 3000);
	int pipes[2];
	long n = 0;

	if (pipe(pipes))
		die("pipe");
	if (ok && !wait_events(e.s, POLLIN))
		ok = bad("nothing to read");
	if (ok) {
		n = FAULTY(nth, splice(e.s, NULL, pipes[1], NULL, 3000, 0));
		ok = no_memory(n, "splice");
	}
	if (ok && n > 0 && (read(pipes[0], buf, n) != n ||
			    memcmp(buf, pattern, n)))
		ok = bad("wrong bytes in the pipe");
	ok = ok && recv_from(e.s, n < 0 ? 0 : n, 3000) && ends_talk(&e, 100);
	close(pipes[0]);
	close(pipes[1]);
	ends_close(&e);
	return ok;
}

static bool step_splice_in(int nth)
{
	struct ends e;
	bool ok = ends_open(&e);
	int pipes[2];
	long n = 0;

	if (pipe(pipes) || write(pipes[1], pattern, 3000) != 3000)
		die("pipe");
	if (ok) {
		n = FAULTY(nth, splice(pipes[0], NULL, e.c, NULL, 3000, 0));
		ok = no_memory(n, "splice");
	}
	/* what has left the pipe is sent */
	if (ok && n < 3000)
		ok = splice(pipes[0], NULL, e.c, NULL, 3000, 0) ==
			     3000 - (n < 0 ? 0 : n) || bad("bytes are lost");
	ok = ok && recv_all(e.s, 3000) && ends_talk(&e, 100);
	close(pipes[0]);
	close(pipes[1]);
	ends_close(&e);
	return ok;
}

static bool step_sendfile(int nth)
{
	int file = memfd_create("failnth", 0);
	struct ends e;
	bool ok = ends_open(&e);
	long n = 0;

	if (file < 0 || pwrite(file, pattern, 3000, 0) != 3000)
		die("memfd");
	if (ok) {
		n = FAULTY(nth, sendfile(e.c, file, NULL, 3000));
		ok = no_memory(n, "sendfile");
	}
	if (ok && n < 3000)
		ok = sendfile(e.c, file, NULL, 3000) ==
			     3000 - (n < 0 ? 0 : n) || bad("bytes are lost");
	ok = ok && recv_all(e.s, 3000) && ends_talk(&e, 100);
	close(file);
	ends_close(&e);
	return ok;
}

static long poll_many(int fd)
{
	struct pollfd p[64];
	size_t i;

	for (i = 0; i < ARRAY_LEN(p); i++)
		p[i] = (struct pollfd){ .fd = fd, .events = POLLIN };
	return poll(p, ARRAY_LEN(p), 1);
}

/* @call about a connection, which goes on after it */
static bool step_about(int nth, long (*call)(int fd), const char *what)
{
	struct ends e;
	bool ok = ends_open(&e);
	long rc = ok ? FAULTY(nth, call(e.s)) : 0;

	ok = ok && no_memory(rc, what) && ends_talk(&e, 100);
	ends_close(&e);
	return ok;
}

/* more than poll() has room for on its stack: that is asked for below ours */
static bool step_poll(int nth)
{
	return step_about(nth, poll_many, "poll");
}

/* to be woken is a matter of memory, too */
static bool step_epoll(int nth)
{
	struct epoll_event want = { .events = EPOLLIN };
	struct ends e;
	bool ok = ends_open(&e);
	int ep = epoll_create1(0);
	long rc = 0;

	if (ok) {
		rc = FAULTY(nth, epoll_ctl(ep, EPOLL_CTL_ADD, e.s, &want));
		ok = no_memory(rc, "epoll_ctl");
	}
	if (ok && rc && epoll_ctl(ep, EPOLL_CTL_ADD, e.s, &want))
		ok = bad("second epoll_ctl: %s", strerror(errno));
	ok = ok && send_all(e.c, 0, 100) &&
	     (epoll_wait(ep, &want, 1, WAIT_MS) == 1 || bad("no event")) &&
	     recv_all(e.s, 100) && ends_talk(&e, 100);
	close(ep);
	ends_close(&e);
	return ok;
}

static long ask_ioctls(int fd)
{
	static const int asks[] = { SIOCINQ, SIOCOUTQ, SIOCATMARK };
	int val = 1;
	long rc = ioctl(fd, FIOASYNC, &val);
	size_t i;

	for (i = 0; i < ARRAY_LEN(asks) && !rc; i++)
		rc = ioctl(fd, asks[i], &val);
	return rc;
}

static bool step_ioctl(int nth)
{
	return step_about(nth, ask_ioctls, "ioctl");
}

static const struct { int level, name; } options[] = {
	{ 286, 1 }, { 286, 256 },		/* SMC_LIMIT_HS, SMC_PLAIN_TCP */
	{ SOL_SOCKET, SO_SNDBUF }, { SOL_SOCKET, SO_KEEPALIVE },
	{ IPPROTO_TCP, TCP_NODELAY }, { IPPROTO_TCP, TCP_CORK },
	{ IPPROTO_TCP, TCP_DEFER_ACCEPT }, { IPPROTO_TCP, TCP_USER_TIMEOUT },
};

static long set_options(int fd)
{
	long rc = 0;
	size_t i;

	for (i = 0; i < sizeof(options) / sizeof(*options) && !rc; i++)
		rc = set_int(fd, options[i].level, options[i].name, 1);
	return rc;
}

static const struct { int level, name; } connected_options[] = {
	{ 286, 1 }, { SOL_SOCKET, SO_RCVBUF }, { SOL_SOCKET, SO_KEEPALIVE },
	{ SOL_SOCKET, SO_RCVLOWAT }, { SOL_SOCKET, SO_PRIORITY },
	{ IPPROTO_TCP, TCP_NODELAY }, { IPPROTO_TCP, TCP_CORK },
	{ IPPROTO_TCP, TCP_KEEPIDLE }, { IPPROTO_TCP, TCP_USER_TIMEOUT },
	{ IPPROTO_IP, IP_TOS },
};

static long get_and_set_options(int fd)
{
	static const int asks[] = { TCP_INFO, TCP_CC_INFO, TCP_CONGESTION };
	char buf[512];
	socklen_t len;
	long rc = 0;
	size_t i;

	for (i = 0; i < ARRAY_LEN(connected_options) && !rc; i++)
		rc = set_int(fd, connected_options[i].level,
			     connected_options[i].name, 1);
	for (i = 0; i < ARRAY_LEN(asks) && !rc; i++) {
		len = sizeof(buf);
		rc = getsockopt(fd, IPPROTO_TCP, asks[i], buf, &len);
	}
	return rc;
}

/* of a connection */
static bool step_options(int nth)
{
	struct ends e;
	bool ok = ends_open(&e);
	long rc = ok ? FAULTY(nth, get_and_set_options(e.c)) : 0;

	ok = ok && no_memory(rc, "options");
	if (rc && get_and_set_options(e.c))
		ok = bad("options again: %s", strerror(errno));
	/* what was corked leaves */
	ok = ok && !set_int(e.c, IPPROTO_TCP, TCP_CORK, 0) &&
	     ends_talk(&e, 100);
	ends_close(&e);
	return ok;
}

static bool step_setsockopt(int nth)
{
	int fd = open_socket(KIND_IPPROTO, AF_INET, 0);
	long rc = FAULTY(nth, set_options(fd));
	bool ok = no_memory(rc, "setsockopt");

	if (rc && set_options(fd))
		ok = bad("second setsockopt: %s", strerror(errno));
	close(fd);
	return ok;
}

/* A dump that ends well lists all there is. */
static bool step_diag(int nth)
{
	struct ends e;
	int fd = netlink_open(NETLINK_SOCK_DIAG);
	bool ok = ends_open(&e);
	long rows;

	rows = ok ? FAULTY(nth, diag_dump(fd)) : 0;
	ok = ok && no_memory(rows, "sock_diag");
	if (ok && rows >= 0 && rows < 3)
		ok = bad("sock_diag: %ld rows", rows);
	close(fd);
	ends_close(&e);
	return ok;
}

static bool step_genl(int nth)
{
	static const int gets[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16 };
	struct ends e;
	int fd = netlink_open(NETLINK_GENERIC);
	int family = genl_family(fd, "SMC_GEN_NETLINK");
	bool ok = ends_open(&e), any = false;
	long rows;
	size_t i;

	for (i = 0; ok && i < sizeof(gets) / sizeof(*gets); i++) {
		rows = FAULTY(nth, genl_dump(fd, family, gets[i]));
		any |= hit;
		ok = no_memory(rows, "generic netlink");
		/* the groups of the two ends: loopback has one each */
		if (gets[i] == 4 && rows >= 0 && rows < 2)
			ok = bad("%ld groups listed", rows);
	}
	hit = any;
	close(fd);
	ends_close(&e);
	return ok;
}

/* Rows of tables: what has failed has added nothing. */
static bool row_comes(int nth, const char *family_name, int add, int del,
		      const char *const *words)
{
	int fd = netlink_open(NETLINK_GENERIC);
	int family = genl_family(fd, family_name);
	long rc = FAULTY(nth, genl_change(fd, family, add, words));
	bool ok = no_memory(rc, family_name);

	if (ok && rc < 0 && genl_change(fd, family, add, words))
		ok = bad("%s: not again: %s", family_name, strerror(errno));
	if (ok && genl_change(fd, family, del, words))
		ok = bad("%s: no row: %s", family_name, strerror(errno));
	close(fd);
	return ok;
}

static bool step_ueid(int nth)
{
	/* ADD_UEID, REMOVE_UEID */
	static const char *const eid[] = {
		"FAILNTH-EID                     ", NULL
	};

	return row_comes(nth, "SMC_GEN_NETLINK", 10, 11, eid);
}

static bool step_pnet(int nth)
{
	/* SMC_PNETID_ADD, SMC_PNETID_DEL; NAME, ETHNAME */
	static const char *const row[] = { "FAILNTH", "lo", NULL };

	return row_comes(nth, "SMC_PNETID", 2, 3, row);
}

static bool step_destroy(int nth)
{
	int fd = netlink_open(NETLINK_SOCK_DIAG);
	struct ends e;
	bool ok = ends_open(&e);
	long rc;

	rc = ok ? FAULTY(nth, diag_destroy(fd, e.c)) : 0;
	ok = ok && no_memory(rc, "SOCK_DESTROY");
	if (ok && rc < 0)
		ok = !diag_destroy(fd, e.c) ||
		     bad("second SOCK_DESTROY: %s", strerror(errno));
	if (ok && so_error(e.c) != ECONNABORTED)
		ok = bad("it lives");
	if (ok && (!wait_events(e.s, POLLIN) || so_error(e.s) != ECONNRESET))
		ok = bad("the peer does not know");
	close(fd);
	ends_close(&e);
	return ok;
}

/* exit code of a child: 1 something is wrong, 2 the fault was met */
static int new_namespace(int nth)
{
	long rc;

	nth_open();
	rc = FAULTY(nth, unshare(CLONE_NEWNET));
	if (!no_memory(rc, "unshare"))
		return 1;
	if (!rc && (!lo_up() || !clean_connection()))
		return 1;
	return hit ? 2 : 0;
}

static bool step_netns(int nth)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		status = new_namespace(nth);
		fflush(stdout);
		_exit(status);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("fork");
	hit = WIFEXITED(status) && WEXITSTATUS(status) == 2;
	return hit || (WIFEXITED(status) && !WEXITSTATUS(status)) ||
	       bad("namespace: status %#x", status);
}

static const struct step {
	const char *name;
	const char *module;	/* below whose functions */
	bool (*run)(int nth);
	bool some;		/* something is allocated */
} steps[] = {
	{ "socket", "smc", step_socket, true },
	{ "bind", "smc", step_bind, true },
	{ "listen", "smc", step_listen, false },
	{ "connect", "smc", step_connect, true },
	{ "accept", "smc", step_accept, false },
	{ "accept4", "smc", step_accept4, false },
	{ "send", "smc", step_send, false },
	{ "recv", "smc", step_recv, false },
	{ "shutdown", "smc", step_shutdown, false },
	{ "close", "smc", step_close, false },
	{ "setsockopt", "smc", step_setsockopt, false },
	{ "splice_out", "smc", step_splice_out, true },
	{ "splice_in", "smc", step_splice_in, false },
	{ "sendfile", "smc", step_sendfile, false },
	{ "poll", "smc", step_poll, true },
	{ "epoll", "smc", step_epoll, true },
	{ "ioctl", "smc", step_ioctl, false },
	{ "options", "smc", step_options, false },
	{ "sock_diag", "smc_diag", step_diag, true },
	{ "sock_destroy", "smc_diag", step_destroy, true },
	{ "generic_netlink", "smc", step_genl, true },
	{ "ueid", "smc", step_ueid, false },
	{ "pnet", "smc", step_pnet, true },
	{ "namespace", "smc", step_netns, true },
};

#define STEPS (sizeof(steps) / sizeof(*steps))

/* The nth allocation of the step fails, for all nth there are. */
static void sweep(const struct step *s)
{
	uint64_t start = now_ns();
	int nth = 0, wrong = 0;

	only_under(s->module);
	do {
		doing(s->name, ++nth);
		hit = false;
		if (!s->run(nth) || !clean_connection()) {
			ksft_print_msg("%s: allocation %d\n", s->name, nth);
			wrong++;
		}
	} while (hit && nth < 1000 && wrong < 3);
	if (nth == 1 && s->some)
		wrong += !bad("%s allocates nothing", s->name);
	result(!wrong && !hit, "%s # %d faults, %.1f s", s->name, nth - 1,
	       seconds_since(start));
}

static void all_calls(void)
{
	size_t i;

	ksft_set_plan(STEPS);
	for (i = 0; i < STEPS; i++)
		sweep(&steps[i]);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int every = argc > 2 ? atoi(argv[2]) : 1;

	fault_setup();
	ksft_print_header();
	if (!strcmp(mode, "calls") && argc == 2) {
		all_calls();
	} else if (!strcmp(mode, "life") && argc == 3 && every > 0) {
		ksft_set_plan(2);
		whole_lives(every);
	} else if (!strcmp(mode, "links") && argc == 3 && every > 0) {
		ksft_set_plan(2);
		whole_links(every);
	} else if (!strcmp(mode, "init") && argc == 5 && every > 0) {
		ksft_set_plan(3);
		load_modules(argv[3], argv[4], every);
	} else {
		ksft_exit_fail_msg("failnth calls | life N | links N | init N SMC DIAG\n");
	}
	ksft_finished();
}
