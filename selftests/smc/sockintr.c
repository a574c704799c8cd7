// SPDX-License-Identifier: GPL-2.0
/*
 * sockintr - signals at every call that waits
 *
 * points[] has where a call can wait, among them each step of a handshake.  What
 * it waits for is kept away until the caller sleeps there.  Then a handler runs,
 * after which the call fails with EINTR or goes on (SA_RESTART), and what has
 * been moved by then counts; or the caller is killed, at once, and nothing is
 * left.
 *
 * Environment and use as sockconn.c.
 */
#include <linux/sockios.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/wait.h>

#include "lib/bytes.h"
#include "lib/harness.h"
#include "lib/pair.h"
#include "lib/sockcase.h"
#include "lib/task.h"

#define AT_ONCE_MS	limit_ms(5000)	/* less than any deadline here */
#define MANY		(1 << 20)	/* more than any ring here */
#define BADVERBS	"/sys/module/badverbs/parameters/"
#define RULE		BADVERBS "rule"
#define HITS		BADVERBS "hits"

/* in a chain of && */
#define WANT(cond)	want(s, cond, #cond)

struct shot {		/* what the caller tells, in shared memory */
	int may_begin, begun, caught, done, err;
	long rc;
};

struct scene {
	const struct point *at;
	enum kind kind;
	int family;
	struct conn p;
	int fd;		/* of the call: one of the above */
	int pipe[2], file;
	size_t sent;	/* what fills the ring */
	struct used then;
	long begun;	/* handshakes before it */
	char address[64];
	pid_t pid;
	const char *wrong;	/* the first thing that was not so */
};

struct point {
	const char *name;
	bool (*fits)(enum kind kind);
	bool (*begin)(struct scene *s);
	/* until the call may go on these packets are dropped (%d: the port) */
	const char *drop;
	/* and the device has this rule (selftests/vm/planted/badverbs.c) */
	const char *rule;
	long (*call)(struct scene *s);
	/* it has come so far */
	bool (*there)(struct scene *s);
	bool (*go_on)(struct scene *s);
	long done;	/* what it returns then */
	/* afterwards, if the call is done, and if it was not */
	bool (*works)(struct scene *s, bool done);
};

static struct shot *shot;

static bool want(struct scene *s, bool is_so, const char *what)
{
	if (!is_so && !s->wrong)
		s->wrong = what;
	return is_so;
}

static void on_signal(int sig)
{
	__atomic_store_n(&shot->caught, 1, __ATOMIC_RELEASE);
}

/* -- what is kept away -- */

static bool nft(const char *text)
{
	char cmd[512];

	snprintf(cmd, sizeof(cmd), "nft '%s'", text);
	return !system(cmd);
}

static bool keep_away(const struct scene *s)
{
	char text[400], match[128];

	if (s->at->rule)
		return !put_text(RULE, s->at->rule);
	if (!s->at->drop)
		return true;
	snprintf(match, sizeof(match), s->at->drop, local_port(s->p.l));
	snprintf(text, sizeof(text),
		 "add table inet smcintr\n"
		 "add chain inet smcintr in { type filter hook input priority 0; }\n"
		 "add rule inet smcintr in %s drop", match);
	return nft(text);
}

/* also if it has been done before */
static bool pass(struct scene *s)
{
	if (s->at->rule)
		return !put_text(RULE, "off");
	return !s->at->drop ||
	       nft("add table inet smcintr\ndelete table inet smcintr");
}

static bool wait_until(bool (*is_so)(struct scene *s), struct scene *s)
{
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;

	while (!is_so(s)) {
		if (now_ns() > end)
			return false;
		usleep(1000);
	}
	return true;
}

/* -- the points -- */

static bool has_link(enum kind kind)
{
	return becomes(kind, "smcr") && !access(RULE, F_OK);
}

static bool begin_pair(struct scene *s)
{
	if (!conn_open(&s->p, s->kind, s->family))
		return false;
	s->fd = s->p.s;
	return true;
}

/*
 * So that it stays full.  The device empties a send ring a little later, until
 * the peer's is full, too: then nothing that is in it has been sent.
 */
static bool fill(struct scene *s)
{
	int ring = get_int(s->fd, SOL_SOCKET, SO_SNDBUF) / 2, unsent = -1;

	fix_buffers(s->p.c, s->p.s);
	for (int i = 0; i < 100 && unsent < ring; i++) {
		s->sent += fill_from(s->fd, s->sent);
		if (!becomes(s->kind, "smcr"))
			return true;
		if (ioctl(s->fd, SIOCOUTQNSD, &unsent))
			return false;
	}
	return unsent == ring;
}

static bool begin_full(struct scene *s)
{
	if (!conn_open(&s->p, s->kind, s->family))
		return false;
	s->fd = s->p.c;
	return fill(s) && write_just(s->pipe[1], 1, s->sent) &&
	       write_just(s->file, 1, s->sent) && !lseek(s->file, 0, SEEK_SET);
}

static bool begin_accept(struct scene *s)
{
	s->p.l = listen_any(s->kind, s->family, 8, &s->p.at);
	s->fd = s->p.l;
	return keep_away(s);
}

static bool begin_connect(struct scene *s)
{
	if (!begin_accept(s))
		return false;
	s->p.c = open_socket(s->kind, s->family, 0);
	s->fd = s->p.c;
	return true;
}

/*
 * The client has an address of its own: no group is there for it, so that a link
 * has to be made.
 */
static bool begin_link(struct scene *s)
{
	static int n;
	struct where w = {};
	char cmd[128], name[32];
	bool v6 = s->family == AF_INET6;

	if (!begin_connect(s))
		return false;
	/* each process has its own */
	n++;
	if (v6)
		snprintf(name, sizeof(name), "fd09:0:0:9::%x:%x",
			 getpid() & 0x7fff, n);
	else
		snprintf(name, sizeof(name), "10.%d.%d.%d",
			 100 + (getpid() >> 8 & 127), getpid() & 255, n);
	snprintf(s->address, sizeof(s->address), "%s/%d dev lo", name,
		 v6 ? 128 : 32);
	snprintf(cmd, sizeof(cmd), "ip address add %s %s", s->address,
		 v6 ? "nodad" : "");
	if (system(cmd))
		return false;
	w.len = parse_addr(name, "0", &w.ss);
	return !bind(s->p.c, sa(&w), w.len);
}

/* of both ends */
static bool handshake_begun(struct scene *s)
{
	return smc_counter("HsStarted") == s->begun + 2;
}

/* by the rule */
static bool link_held(struct scene *s)
{
	char line[32];

	return atoi(first_line(HITS, line, sizeof(line))) > 0;
}

/* A client is on its way. */
static bool begin_child(struct scene *s)
{
	set_nonblock(s->p.c);
	s->fd = s->p.l;
	return connect(s->p.c, sa(&s->p.at), s->p.at.len) &&
	       errno == EINPROGRESS;
}

static bool begin_child_confirm(struct scene *s)
{
	return begin_connect(s) && begin_child(s);
}

static bool begin_child_link(struct scene *s)
{
	return begin_link(s) && begin_child(s);
}

static long call_recv(struct scene *s)
{
	char buf[4];

	return recv(s->fd, buf, sizeof(buf), 0);
}

static long call_send(struct scene *s)
{
	char c = byte_at(s->sent);

	return send(s->fd, &c, 1, MSG_NOSIGNAL);
}

static long call_splice_out(struct scene *s)
{
	return splice(s->fd, NULL, s->pipe[1], NULL, 100, 0);
}

static long call_splice_in(struct scene *s)
{
	return splice(s->pipe[0], NULL, s->fd, NULL, 1, 0);
}

static long call_sendfile(struct scene *s)
{
	return sendfile(s->fd, s->file, NULL, 1);
}

static long call_connect(struct scene *s)
{
	return connect(s->fd, sa(&s->p.at), s->p.at.len);
}

static long call_accept(struct scene *s)
{
	int fd = accept(s->fd, NULL, NULL);

	return fd < 0 || send(fd, "x", 1, MSG_NOSIGNAL) != 1 ? -1 : 0;
}

static bool go_on_write(struct scene *s)
{
	return send(s->p.c, "four", 4, MSG_NOSIGNAL) == 4;
}

static bool go_on_read(struct scene *s)
{
	return read_just(s->p.s, s->sent, 0);
}

static bool go_on_connect(struct scene *s)
{
	s->p.c = open_socket(s->kind, s->family, 0);
	return !connect(s->p.c, sa(&s->p.at), s->p.at.len);
}

static bool both_ways(struct scene *s)
{
	return byte_goes(s->p.c, s->p.s) && byte_goes(s->p.s, s->p.c);
}

static bool works_reader(struct scene *s, bool done)
{
	char buf[8];

	/* what the call did not take is there */
	if (!done && (!wait_queued(s->p.s, 4) ||
		      recv(s->p.s, buf, 8, MSG_DONTWAIT) != 4))
		return false;
	return both_ways(s);
}

static bool works_writer(struct scene *s, bool done)
{
	return (!done || read_just(s->p.s, 1, s->sent)) && both_ways(s);
}

static bool works_client(struct scene *s, bool done)
{
	if (wait_events(s->p.c, POLLOUT) != POLLOUT || so_error(s->p.c) ||
	    !wait_events(s->p.l, POLLIN))
		return false;
	s->p.s = accept(s->p.l, NULL, NULL);
	return s->p.s >= 0 && both_ways(s) && one_became(s->kind, s->then);
}

static bool works_listener(struct scene *s, bool done)
{
	char c;

	if (!done)
		return works_client(s, done);
	return wait_events(s->p.c, POLLIN) && recv(s->p.c, &c, 1, 0) == 1 &&
	       c == 'x' && one_became(s->kind, s->then);
}

#define NO_SYN		"tcp dport %d tcp flags & syn == syn"
/* the server's messages: the client awaits the Accept, the server the Confirm */
#define NO_CLC		"tcp sport %d tcp flags & psh == psh"
/* of a new link, after a queue pair for registrations of either end */
#define NO_LINK		"modify_qp hold op=rts nth=3"
#define READER		.begin = begin_pair, .go_on = go_on_write, .done = 4, \
			.works = works_reader
#define WRITER		.begin = begin_full, .go_on = go_on_read, .done = 1, \
			.works = works_writer
#define CLIENT		.call = call_connect, .go_on = pass, .works = works_client
#define LISTENER	.call = call_accept, .go_on = pass, .works = works_listener

static const struct point points[] = {
	{ "recv", .call = call_recv, READER },
	{ "splice from it", .call = call_splice_out, READER },
	{ "send", .call = call_send, WRITER },
	{ "splice to it", .call = call_splice_in, WRITER },
	{ "sendfile", .call = call_sendfile, WRITER },
	{ "accept", .begin = begin_accept, .call = call_accept,
	  .go_on = go_on_connect, .works = works_listener },
	{ "accept, Confirm", .fits = uses_smc, .begin = begin_child_confirm,
	  .drop = NO_CLC, .there = handshake_begun, LISTENER },
	{ "accept, link", .fits = has_link, .begin = begin_child_link,
	  .rule = NO_LINK, .there = link_held, LISTENER },
	{ "connect, SYN", .begin = begin_connect, .drop = NO_SYN, CLIENT },
	{ "connect, Accept", .fits = uses_smc, .begin = begin_connect,
	  .drop = NO_CLC, .there = handshake_begun, CLIENT },
	{ "connect, link", .fits = has_link, .begin = begin_link,
	  .rule = NO_LINK, .there = link_held, CLIENT },
};

/* -- the caller, and what hits it -- */

static void scene_open(struct scene *s)
{
	s->p.l = -1;
	s->p.c = -1;
	s->p.s = -1;
	s->then = smc_used();
	s->begun = smc_counter("HsStarted");
	s->file = memfd_create("sockintr", 0);
	if (s->file < 0 || pipe(s->pipe))
		die("memfd, pipe");
	memset(shot, 0, sizeof(*shot));
	shot->rc = -1;
}

/* of all but one, or of just this one */
static void close_ends(struct scene *s, bool this_one)
{
	int *fds[] = { &s->p.l, &s->p.c, &s->p.s };
	size_t i;

	for (i = 0; i < ARRAY_LEN(fds); i++)
		if ((*fds[i] == s->fd) == this_one)
			close_fd(fds[i]);
}

static void scene_close(struct scene *s)
{
	char cmd[128];

	/* only if something has failed */
	if (s->pid > 0 && !kill(s->pid, SIGKILL))
		waitpid(s->pid, NULL, 0);
	pass(s);
	close_ends(s, true);
	close_ends(s, false);
	close(s->pipe[0]);
	close(s->pipe[1]);
	close(s->file);
	if (s->address[0]) {
		snprintf(cmd, sizeof(cmd), "ip address delete %s", s->address);
		if (system(cmd))
			die("%s", cmd);
	}
}

static void in_caller(struct scene *s, int flags)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = flags };

	close_ends(s, false);
	if (sigaction(SIGUSR1, &sa, NULL) || !wait_flag(&shot->may_begin))
		_exit(2);
	__atomic_store_n(&shot->begun, 1, __ATOMIC_RELEASE);
	errno = 0;
	shot->rc = s->at->call(s);
	shot->err = errno;
	__atomic_store_n(&shot->done, 1, __ATOMIC_RELEASE);
	_exit(0);
}

static bool caller_sleeps(struct scene *s)
{
	return wait_flag(&shot->begun) &&
	       (!s->at->there || wait_until(s->at->there, s)) &&
	       process_sleeps(s->pid) &&
	       !__atomic_load_n(&shot->done, __ATOMIC_ACQUIRE);
}

/*
 * A process that makes the call and sleeps in it.  @alone: it has the only
 * descriptor of the socket, which ends with the process.
 */
static bool caller_start(struct scene *s, int flags, bool alone)
{
	s->pid = fork();
	if (s->pid < 0)
		die("fork");
	if (!s->pid)
		in_caller(s, flags);
	if (alone)
		close_ends(s, true);
	__atomic_store_n(&shot->may_begin, 1, __ATOMIC_RELEASE);
	return caller_sleeps(s);
}

static bool caller_ends(struct scene *s, int ms, int *status)
{
	uint64_t end = now_ns() + ms * 1000000ULL;
	pid_t pid;

	while (!(pid = waitpid(s->pid, status, WNOHANG)) && now_ns() < end)
		usleep(1000);
	if (pid != s->pid)
		return false;
	s->pid = 0;
	return true;
}

static bool caller_said(struct scene *s, int ms)
{
	int status;

	return caller_ends(s, ms, &status) && !status;
}

static bool is_killed(struct scene *s)
{
	int status;

	return caller_ends(s, AT_ONCE_MS, &status) && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGKILL;
}

static bool fails(struct scene *s, int flags)
{
	return WANT(caller_start(s, flags, false)) &&
	       WANT(!kill(s->pid, SIGUSR1)) &&
	       WANT(caller_said(s, AT_ONCE_MS)) &&
	       WANT(shot->rc == -1) && WANT(shot->err == EINTR) &&
	       WANT(s->at->go_on(s)) && WANT(s->at->works(s, false));
}

static bool interrupted(struct scene *s)
{
	return WANT(s->at->begin(s)) && fails(s, 0);
}

/* A call with a time limit does not begin anew. */
static bool limited(struct scene *s)
{
	struct timeval tv = { .tv_sec = 10 * WAIT_S };

	return WANT(s->at->begin(s)) &&
	       WANT(!setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &tv,
				sizeof(tv))) &&
	       WANT(!setsockopt(s->fd, SOL_SOCKET, SO_SNDTIMEO, &tv,
				sizeof(tv))) &&
	       fails(s, SA_RESTART);
}

static bool restarted(struct scene *s)
{
	return WANT(s->at->begin(s)) &&
	       WANT(caller_start(s, SA_RESTART, false)) &&
	       WANT(!kill(s->pid, SIGUSR1)) &&
	       WANT(wait_flag(&shot->caught)) && WANT(caller_sleeps(s)) &&
	       WANT(s->at->go_on(s)) && WANT(caller_said(s, WAIT_MS)) &&
	       WANT(shot->rc == s->at->done) && WANT(s->at->works(s, true));
}

/* All that was written is delivered, before a clean end of file. */
static bool delivered(struct scene *s)
{
	int err;

	return read_to_end(s->p.s, 0, &err) == (ssize_t)s->sent && !err;
}

static bool killed(struct scene *s)
{
	if (!WANT(s->at->begin(s)) || !WANT(caller_start(s, 0, true)) ||
	    !WANT(!kill(s->pid, SIGKILL)) || !WANT(is_killed(s)) ||
	    !WANT(pass(s)))
		return false;
	if (s->sent)
		return WANT(delivered(s));
	/* a reader's */
	return s->p.l < 0 || s->p.c < 0 ||
	       WANT(wait_events(s->p.c, POLLRDHUP) & POLLRDHUP);
}

/* no socket, no handshake, no connection with its rings */
static bool is_at_rest(struct scene *s)
{
	static const char *const of[][2] = {
		{ "SockCreated", "SockDestroyed" },
		{ "HsStarted", "HsEnded" },
		{ "ConnCreated", "ConnDestroyed" },
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(of); i++)
		if (smc_counter(of[i][0]) != smc_counter(of[i][1]))
			return false;
	return smc_counter("SmcdRxBufBytes") <= 0 &&
	       smc_counter("SmcrRxBufBytes") <= 0 &&
	       smc_counter("SmcrTxBufBytes") <= 0;
}

FIXTURE(intr) {
};

KIND_VARIANTS(intr);

FIXTURE_SETUP(intr)
{
	shot = shared_memory(sizeof(*shot));
}

FIXTURE_TEARDOWN(intr)
{
}

/* One point on a kind of socket: this is so, and then nothing is left. */
static void at_point(struct __test_metadata *_metadata, enum kind kind,
		     int family, const struct point *at,
		     bool (*is_so)(struct scene *s))
{
	struct scene s = { .at = at, .kind = kind, .family = family };
	char wrong[256] = "";

	if (at->fits && !at->fits(kind))
		return;
	scene_open(&s);
	if (!is_so(&s))
		snprintf(wrong, sizeof(wrong), "%s: %s (%ld, %s)", at->name,
			 s.wrong, shot->rc, strerror(shot->err));
	scene_close(&s);
	if (!*wrong && !wait_until(is_at_rest, &s))
		snprintf(wrong, sizeof(wrong), "%s: something is left",
			 at->name);
	EXPECT_STREQ("", wrong);
}

static void at_each_point(struct __test_metadata *_metadata, enum kind kind,
			  int family, bool (*is_so)(struct scene *s))
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(points); i++)
		at_point(_metadata, kind, family, &points[i], is_so);
}

TEST_F_TIMEOUT(intr, handler, 120)
{
	at_each_point(_metadata, variant->kind, variant->family, interrupted);
}

TEST_F_TIMEOUT(intr, handler_with_restart, 120)
{
	at_each_point(_metadata, variant->kind, variant->family, restarted);
}

TEST_F_TIMEOUT(intr, time_limit, 120)
{
	at_each_point(_metadata, variant->kind, variant->family, limited);
}

TEST_F_TIMEOUT(intr, kill, 120)
{
	at_each_point(_metadata, variant->kind, variant->family, killed);
}

/* -- what has been moved before the signal -- */

static long call_recv_all(struct scene *s)
{
	char buf[10];

	return recv(s->fd, buf, sizeof(buf), MSG_WAITALL);
}

static long call_send_many(struct scene *s)
{
	static char block[MANY];

	fill_bytes(block, MANY, 0);
	return send(s->fd, block, MANY, MSG_NOSIGNAL);
}

static bool begin_some_to_read(struct scene *s)
{
	return begin_pair(s) && send(s->p.c, "abc", 3, 0) == 3 &&
	       wait_queued(s->p.s, 3);
}

static bool begin_room(struct scene *s)
{
	if (!begin_pair(s))
		return false;
	s->fd = s->p.c;
	fix_buffers(s->p.c, s->p.s);
	return true;
}

static bool partly(struct scene *s)
{
	return WANT(s->at->begin(s)) &&
	       WANT(caller_start(s, SA_RESTART, false)) &&
	       WANT(!kill(s->pid, SIGUSR1)) &&
	       WANT(caller_said(s, AT_ONCE_MS)) && WANT(shot->rc > 0) &&
	       WANT(shot->rc < MANY) &&
	       (s->fd == s->p.s ? WANT(shot->rc == 3) :
				  WANT(read_just(s->p.s, shot->rc, 0))) &&
	       WANT(both_ways(s));
}

TEST_F_TIMEOUT(intr, what_was_moved_counts, 60)
{
	static const struct point some[] = {
		{ "recv", .begin = begin_some_to_read, .call = call_recv_all },
		{ "send", .begin = begin_room, .call = call_send_many },
	};

	for (size_t i = 0; i < ARRAY_LEN(some); i++)
		at_point(_metadata, variant->kind, variant->family, &some[i],
			 partly);
}

/* -- a close() that lingers: it says 0, and waits no more -- */

static long call_close(struct scene *s)
{
	return close(s->fd);
}

static bool begin_linger(struct scene *s)
{
	struct linger l = { 1, 10 * WAIT_S };

	return begin_full(s) && !setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &l,
					    sizeof(l));
}

/* what is in shared memory has arrived, and then it does not wait at all */
static bool lingers(struct scene *s, int flags)
{
	int outq;

	return WANT(s->at->begin(s)) && WANT(!ioctl(s->fd, SIOCOUTQ, &outq)) &&
	       WANT(caller_start(s, flags, true) == !!outq);
}

static bool linger_interrupted(struct scene *s)
{
	return lingers(s, 0) && WANT(!kill(s->pid, SIGUSR1)) &&
	       WANT(caller_said(s, AT_ONCE_MS)) && WANT(!shot->rc) &&
	       WANT(delivered(s));
}

static bool linger_restarted(struct scene *s)
{
	return lingers(s, SA_RESTART) && WANT(!kill(s->pid, SIGUSR1)) &&
	       WANT(caller_said(s, AT_ONCE_MS)) && WANT(!shot->rc) &&
	       WANT(delivered(s));
}

static bool linger_killed(struct scene *s)
{
	if (!lingers(s, 0))
		return false;
	if (shot->done)
		return WANT(caller_said(s, AT_ONCE_MS)) && WANT(delivered(s));
	return WANT(!kill(s->pid, SIGKILL)) && WANT(is_killed(s)) &&
	       WANT(delivered(s));
}

TEST_F_TIMEOUT(intr, linger, 60)
{
	static bool (*const ways[])(struct scene *s) = {
		linger_interrupted, linger_restarted, linger_killed,
	};
	static const struct point at = {
		"close", .begin = begin_linger, .call = call_close
	};

	for (size_t i = 0; i < ARRAY_LEN(ways); i++)
		at_point(_metadata, variant->kind, variant->family, &at,
			 ways[i]);
}

TEST_HARNESS_MAIN
