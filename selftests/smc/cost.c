// SPDX-License-Identifier: GPL-2.0
/*
 * cost - what a connection that is TCP costs more where a socket was ours
 *
 * One thread has both ends, so that no switch of tasks is measured.  Each way to
 * come to a TCP connection is measured in turn (A B C A B C ...), -r times; the
 * first and the last are both plain TCP: how far they are apart is the error.
 *
 *	cost message	a message of 64 bytes there and back
 *	cost connect	a connection: made, accepted and closed at both ends
 *	cost memory	what 1000 connections hold (/proc/slabinfo)
 *
 * One line for each way: NAME, the median of its measurements (nanoseconds of
 * CLOCK_MONOTONIC: instructions, in a guest under -icount; or bytes), its ratio
 * to plain TCP (bytes: the difference), the least and the largest measurement.
 */
#include <sys/resource.h>

#include "lib/util.h"
#include "lib/wait.h"

#define MSG_LEN		64
#define MANY		1000	/* connections of which the memory is measured */
#define MAX_TURNS	64

/* how a connection becomes TCP */
struct way {
	const char *name;
	enum kind client, server;
	bool declines;		/* the listener offers SMC, and then does not */
	double got[MAX_TURNS];
};

#define WAY(n, c, s)	{ .name = n, .client = KIND_##c, .server = KIND_##s }

static struct way ways[] = {
	WAY("tcp", TCP, TCP),
	WAY("client-ipproto", IPPROTO, TCP),
	WAY("client-afsmc", AFSMC, TCP),
	WAY("listener-ipproto", TCP, IPPROTO),
	WAY("listener-afsmc", TCP, AFSMC),
	{ .name = "declined", .client = KIND_IPPROTO, .server = KIND_IPPROTO,
	  .declines = true },
	WAY("tcp-again", TCP, TCP),
};

struct ends {
	int listener, client, server;
	struct sockaddr_in addr;
};

static void listen_for(struct ends *e, const struct way *w)
{
	struct sockaddr_storage ss = {};
	socklen_t len = sizeof(e->addr);

	((struct sockaddr_in *)&ss)->sin_family = AF_INET;
	((struct sockaddr_in *)&ss)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	e->listener = open_listener(w->server, &ss, len, 8, 0, 0);
	if (w->declines)
		decline(e->listener);
	if (getsockname(e->listener, (struct sockaddr *)&e->addr, &len))
		die("getsockname");
}

static void open_ends(struct ends *e, const struct way *w)
{
	e->client = open_socket(w->client, AF_INET, SOCK_CLOEXEC);
	if (connect(e->client, (struct sockaddr *)&e->addr, sizeof(e->addr)))
		die("connect: %s", w->name);
	e->server = accept4(e->listener, NULL, NULL, SOCK_CLOEXEC);
	if (e->server < 0)
		die("accept: %s", w->name);
}

static void close_ends(struct ends *e)
{
	close(e->client);
	close(e->server);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, int n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

static void pass(int from, int to)
{
	char buf[MSG_LEN] = {};

	if (send(from, buf, sizeof(buf), MSG_NOSIGNAL) != sizeof(buf))
		die("send");
	if (recv(to, buf, sizeof(buf), MSG_WAITALL) != sizeof(buf))
		die("recv");
}

/* The median of n rounds: a tick of the clock is in few of them. */
static double message(const struct way *w, int n)
{
	double *t = calloc(n, sizeof(*t)), m;
	struct ends e;
	uint64_t start;
	int i;

	listen_for(&e, w);
	open_ends(&e, w);
	must_set(e.client, IPPROTO_TCP, TCP_NODELAY, 1);
	must_set(e.server, IPPROTO_TCP, TCP_NODELAY, 1);
	for (i = -50; i < n; i++) {
		start = now_ns();
		pass(e.client, e.server);
		pass(e.server, e.client);
		if (i >= 0)
			t[i] = now_ns() - start;
	}
	close_ends(&e);
	close(e.listener);
	m = median(t, n);
	free(t);
	return m;
}

/* The mean of n connections, with all that is done for them later. */
static double connection(const struct way *w, int n)
{
	uint64_t start = 0;
	struct ends e;
	int i;

	listen_for(&e, w);
	for (i = -20; i < n; i++) {
		if (!i)
			start = now_ns();
		open_ends(&e, w);
		close_ends(&e);
	}
	close(e.listener);
	return (double)(now_ns() - start) / n;
}

/* Bytes of all slab objects in use. */
static double slab_bytes(void)
{
	unsigned long used, all, size;
	char line[512], name[64];
	double sum = 0;
	FILE *f = fopen("/proc/slabinfo", "r");

	if (!f)
		die("/proc/slabinfo");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %lu %lu %lu", name, &used, &all,
			   &size) == 4)
			sum += (double)used * size;
	fclose(f);
	return sum;
}

/* The same when what was let go of has been freed. */
static double slab_settled(void)
{
	double last, now = 0;
	int tries = 0;

	/* a look at all rows drops those of connections that are gone */
	if (system("smcss >/dev/null"))
		die("smcss");
	do {
		/* longer than kfree_rcu() collects */
		usleep(6000 * 1000);
		last = now;
		now = slab_bytes();
		if (++tries > 40)
			die("slabs do not settle");
	} while (now - last > 16 * MANY || last - now > 16 * MANY);
	shrink_slabs();
	return slab_bytes();
}

/* Bytes that each of MANY connections holds, both ends. */
static double memory(const struct way *w, int n)
{
	static struct ends e[MANY];
	double before, after;
	struct ends l;
	int i;

	listen_for(&l, w);
	/* what is made once */
	open_ends(&l, w);
	close_ends(&l);
	before = slab_settled();
	for (i = 0; i < n; i++) {
		e[i] = l;
		open_ends(&e[i], w);
	}
	after = slab_settled();
	for (i = 0; i < n; i++)
		close_ends(&e[i]);
	close(l.listener);
	return (after - before) / n;
}

static const struct {
	const char *name;
	double (*measure)(const struct way *w, int n);
	int n, turns;
	bool difference;
} what[] = {
	{ "message", message, 500, 9, false },
	/* so many that it does not matter which pages of slabs they begin with */
	{ "connect", connection, 2000, 5, false },
	{ "memory", memory, MANY, 3, true },
};

int main(int argc, char **argv)
{
	struct rlimit files = { 2 * MANY + 100, 2 * MANY + 100 };
	unsigned int i, m, t, turns;
	double base, v;

	for (m = 0; m < ARRAY_LEN(what); m++)
		if (argc > 1 && !strcmp(argv[1], what[m].name))
			break;
	if (m == ARRAY_LEN(what)) {
		fprintf(stderr, "usage: cost message|connect|memory\n");
		return 1;
	}
	if (setrlimit(RLIMIT_NOFILE, &files))
		die("RLIMIT_NOFILE");
	turns = what[m].turns;
	/* what is made once, and grows once */
	what[m].measure(&ways[0], what[m].n);
	for (t = 0; t < turns; t++)
		for (i = 0; i < ARRAY_LEN(ways); i++)
			ways[i].got[t] = what[m].measure(&ways[i], what[m].n);
	base = median(ways[0].got, turns);
	for (i = 0; i < ARRAY_LEN(ways); i++) {
		v = median(ways[i].got, turns);
		if (what[m].difference)
			printf("%s %s %.0f %+.0f min %.0f max %.0f\n",
			       what[m].name, ways[i].name, v, v - base,
			       ways[i].got[0], ways[i].got[turns - 1]);
		else
			printf("%s %s %.0f %.4f min %.0f max %.0f\n",
			       what[m].name, ways[i].name, v, v / base,
			       ways[i].got[0], ways[i].got[turns - 1]);
	}
	return 0;
}
