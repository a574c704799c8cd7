// SPDX-License-Identifier: GPL-2.0
/*
 * failnth_life - the modes of failnth that do not stay in the caller's context
 * or begin without the module
 */
#include "failnth.h"

#include <sys/syscall.h>

/*
 * An attribute of fault injection counts the allocations that pass its filter,
 * while it is armed, and lets those fail whose number is a multiple of its
 * "interval".  Once a fault was met, that number is the interval itself: an
 * interval larger by n means the n-th allocation from then on.
 */
static void arm_next(const char *attr, int nth)
{
	long last = fault_get(attr, "interval");

	fault_set(attr, "interval", (last > 1 ? last : 0) + nth);
	fault_set(attr, "probability", 100);
	fault_set(attr, "times", 1);
}

static bool armed(const char *attr)
{
	return fault_get(attr, "times") != 0;
}

/* What a program may be told by a call, or of the peer's end */
static bool is_allowed(int err)
{
	switch (err) {
	case ENOMEM:
	case ENOBUFS:
	case ENFILE:		/* no socket, in TCP's words */
	case EADDRINUSE:	/* no port */
	case ECONNRESET:
	case ECONNREFUSED:
	case ECONNABORTED:
	case ETIMEDOUT:
	case EPIPE:
		return true;
	}
	return false;
}

enum outcome { WORKED, REFUSED, WRONG };

static enum outcome outcome(const char *what)
{
	if (is_allowed(errno))
		return REFUSED;
	bad("%s: %s", what, strerror(errno));
	return WRONG;
}

/* bytes from one end to the other; an end of file in between is wrong */
static enum outcome carry(int from, int to, int len)
{
	static char buf[PATTERN];
	int sent = 0, got = 0, n;

	while (got < len) {
		if (sent < len) {
			n = send(from, pattern + sent, len - sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);
			if (n < 0 && errno != EAGAIN)
				return outcome("send");
			sent += n > 0 ? n : 0;
		}
		if (sent > got && !wait_events(to, POLLIN)) {
			bad("%d of %d bytes arrive", got, sent);
			return WRONG;
		}
		n = recv(to, buf, len - got, MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			continue;
		if (n < 0)
			return outcome("recv");
		if (!n || memcmp(buf, pattern + got, n)) {
			bad(n ? "wrong bytes" : "early end of file");
			return WRONG;
		}
		got += n;
	}
	return WORKED;
}

static enum outcome try_accept(struct ends *e)
{
	int mask;

	/* what was there may be gone when accept() looks */
	do {
		if (!wait_either(e->l, e->c)) {
			mask = mask_now(e->c);
			errno = so_error(e->c);
			if (errno)
				return outcome("the client's error");
			bad("the client does not know: %#x", mask);
			return WRONG;
		}
		e->s = accept(e->l, NULL, NULL);
	} while (e->s < 0 && errno == EAGAIN);
	return e->s < 0 ? outcome("accept") : WORKED;
}

static enum outcome try_open(struct ends *e)
{
	struct where at = where_is(AF_INET);

	e->l = socket(AF_INET, SOCK_STREAM, IPPROTO_SMC);
	if (e->l < 0 || bind(e->l, sa(&at), at.len) || listen(e->l, 8))
		return outcome("the listener");
	set_nonblock(e->l);
	at = local_name(e->l);
	e->c = socket(AF_INET, SOCK_STREAM, IPPROTO_SMC);
	if (e->c < 0 || connect(e->c, sa(&at), at.len))
		return outcome("the client");
	return try_accept(e);
}

static enum outcome life(void)
{
	struct ends e = { -1, -1, -1 };
	enum outcome o = try_open(&e);
	char c;

	if (o == WORKED)
		o = carry(e.c, e.s, 100);
	if (o == WORKED)
		o = carry(e.s, e.c, 20000);
	if (o == WORKED) {
		close(e.c);
		e.c = -1;
		if (!wait_events(e.s, POLLIN)) {
			bad("the end does not come");
			o = WRONG;
		} else if (recv(e.s, &c, 1, MSG_DONTWAIT) < 0) {
			o = outcome("the end");
		}
	}
	ends_close(&e);
	return o;
}

/* Where to begin if every so-many-th is tried: the seed says it. */
static int first_of(int every)
{
	const char *seed = getenv("SMC_SEED");

	return 1 + (seed ? strtoul(seed, NULL, 0) % every : 0);
}

/*
 * No link is left: the device says that it has failed.  Done by the module
 * badverbs (selftests/vm/planted).
 */
static bool end_links(void)
{
	static const char event[] = "/sys/module/badverbs/parameters/event";
	uint64_t start = now_ns();

	if (put_text(event, "fatal"))
		die("%s", event);
	while (smc_counter("LinkCreated") != smc_counter("LinkDestroyed")) {
		if (seconds_since(start) > limit_s(20))
			return bad("a link stays");
		usleep(1000);
	}
	return true;
}

static bool with_links;

/* The next life makes a link, if it is about links. */
static bool fresh(void)
{
	return !with_links || end_links();
}

enum swept { MET, BEYOND, BROKEN };

/*
 * The nth allocation of a life fails, in any thread.  BEYOND: there are not so
 * many.
 */
static enum swept one_life(const char *attr, int nth, int count[3])
{
	enum swept swept;
	enum outcome o;
	int again;

	doing(attr, nth);
	if (!fresh())
		return BROKEN;
	arm_next(attr, nth);
	o = life();
	count[o]++;
	swept = armed(attr) ? BEYOND : MET;
	/* the number of the next allocation is known once the fault was met */
	for (again = 0; o != WRONG && armed(attr); again++) {
		o = fresh() ? life() : WRONG;
		if (again == 1000 && bad("the fault does not come"))
			o = WRONG;
	}
	if (o == WRONG || !clean_connection()) {
		bad("%s: allocation %d", attr, nth);
		return BROKEN;
	}
	return swept;
}

/* @wrong: what was found before */
static void sweep_lives(const char *attr, int every, int wrong)
{
	int nth = first_of(every), count[3] = {};
	enum swept swept = MET;
	uint64_t start = now_ns();

	for (; swept != BEYOND && wrong < 3; nth += every) {
		swept = one_life(attr, nth, count);
		wrong += swept == BROKEN;
	}
	fault_set(attr, "times", 0);
	fault_set(attr, "probability", 0);
	result(!wrong, "%s # up to %d, %d worked, %d refused, %.1f s", attr, nth,
	       count[WORKED], count[REFUSED], seconds_since(start));
}

/* All allocations below a function fail, or none. */
static void fail_all(const char *function)
{
	if (function)
		only_under_function(function);
	fault_set("failslab", "interval", 1);
	fault_set("failslab", "probability", function ? 100 : 0);
	fault_set("failslab", "times", function ? 1000000 : 0);
}

/* A child has come and gone since these were the counters. */
static bool child_goes(long made, long gone)
{
	uint64_t start = now_ns();

	while (smc_counter("SockCreated") == made ||
	       smc_counter("SockCreated") - smc_counter("SockDestroyed") >
	       made - gone) {
		if (seconds_since(start) > limit_s(20))
			return bad("the child stays");
		usleep(1000);
	}
	return true;
}

/*
 * No memory for a handshake, nor when it is tried again: connect() says so, the
 * child is never accepted, and client and listener are as good as new.
 */
static bool no_handshake(void)
{
	struct ends e = ends_listen();
	struct where at = local_name(e.l);
	long made, gone, smc;
	int err;
	bool ok;

	doing("no handshake", 0);
	e.c = open_socket(KIND_IPPROTO, AF_INET, 0);
	made = smc_counter("SockCreated");
	gone = smc_counter("SockDestroyed");
	smc = smc_counter(clean_counter);
	fail_all("smc_hs_new");
	err = connect(e.c, sa(&at), at.len) ? errno : 0;
	ok = child_goes(made, gone);
	fail_all(NULL);
	if (err != ENOMEM)
		ok = bad("connect() without a handshake: %s", strerror(err));
	if (ok && mask_now(e.l))
		ok = bad("a child to accept");
	if (ok && connect(e.c, sa(&at), at.len))
		ok = bad("second connect: %s", strerror(errno));
	ok = ok && ends_accept(&e) && ends_talk(&e, 100);
	if (ok && smc_counter(clean_counter) != smc + 1)
		ok = bad("the second connect is not as ever");
	ends_close(&e);
	return ok;
}

void whole_lives(int every)
{
	int wrong = !with_links && !no_handshake();

	only_under("smc");
	sweep_lives("failslab", every, wrong);
	sweep_lives("fail_page_alloc", every, 0);
}

/* The same over RDMA, each with a link of its own */
void whole_links(int every)
{
	with_links = true;
	clean_counter = "HsClientSmcr";
	whole_lives(every);
}

/* loading */

static bool is_loaded(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/module/%s/refcnt", name);
	return !access(path, F_OK);
}

static void unload(const char *name)
{
	if (is_loaded(name) && syscall(SYS_delete_module, name, O_NONBLOCK))
		die("rmmod %s", name);
}

/*
 * Loads the module again and again while every so-many-th allocation of its
 * start fails, one a time.
 */
static bool sweep_load(const char *name, const char *path, int every)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), refused = 0, faults = 0;
	int nth = first_of(every) - every;
	uint64_t start = now_ns();
	bool hit, ok = true;
	long rc;

	if (fd < 0)
		die("%s", path);
	do {
		nth += every;
		doing(name, nth);
		unload(name);
		nth_arm(nth);
		rc = syscall(SYS_finit_module, fd, "", 0);
		if (rc)
			rc = errno;
		hit = nth_disarm();
		faults += hit;
		refused += !!rc;
		if (rc && rc != ENOMEM && rc != ENOBUFS)
			ok = bad("%s: %s", name, strerror(rc));
		if (rc && is_loaded(name))
			ok = bad("%s has failed and is there", name);
		if (rc && !hit)
			ok = bad("%s does not load", name);
	} while (ok && hit && nth < 2000);
	close(fd);
	result(ok && !hit && refused, "load_%s # %d faults, %d refused, %.1f s",
	       name, faults, refused, seconds_since(start));
	return ok;
}

void load_modules(const char *smc, const char *diag, int every)
{
	unload("smc_diag");
	/* what the module's own start allocates, not what loads it */
	only_under_function("do_init_module");
	/* the kernel loses a name there, and shows a stack */
	not_under_function("__kmem_cache_create_args");
	if (!sweep_load("smc", smc, every) || !sweep_load("smc_diag", diag, 1))
		return;
	doing("a connection", 0);
	result(clean_connection(), "connection");
}
