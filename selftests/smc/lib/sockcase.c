// SPDX-License-Identifier: GPL-2.0
/*
 * What sockconn, sockopts and their like share: where to connect, pairs of
 * sockets, and a listener that does not answer.  sockcase.h says what of the
 * environment counts.
 */
#include "sockcase.h"

const char *host_of(int family)
{
	const char *name = family == AF_INET6 ? "SMC_HOST6" : "SMC_HOST4";
	const char *host = getenv(name);

	return host ?: family == AF_INET6 ? "::1" : "127.0.0.1";
}

struct sockaddr *sa(struct where *w)
{
	return (struct sockaddr *)&w->ss;
}

struct where where_is(int family)
{
	struct where w = {};

	w.len = parse_addr(host_of(family), "0", &w.ss);
	return w;
}

int port_of(const struct where *w)
{
	return ntohs(((const struct sockaddr_in *)&w->ss)->sin_port);
}

/* the name of this end; port 0 and family 0 if there is none */
struct where local_name(int fd)
{
	struct where w = { .len = sizeof(w.ss) };

	if (getsockname(fd, sa(&w), &w.len))
		memset(&w, 0, sizeof(w));
	return w;
}

int local_port(int fd)
{
	struct where w = local_name(fd);

	return port_of(&w);
}

/* a listener on a free port; its address in w */
int listen_any(enum kind kind, int family, int backlog, struct where *w)
{
	int fd;

	*w = where_is(family);
	fd = open_listener(kind, &w->ss, w->len, backlog, 0, 0);
	*w = local_name(fd);
	return fd;
}

/* one byte arrives at the other end */
bool byte_goes(int from, int to)
{
	char c = 0;

	return send(from, "x", 1, MSG_NOSIGNAL) == 1 &&
	       poll_for(to, POLLIN, WAIT_MS) & POLLIN &&
	       recv(to, &c, 1, MSG_DONTWAIT) == 1 && c == 'x';
}

/*
 * A place that never answers a SYN: a TCP listener whose queue is full.
 * fd[0] listens, fd[1] fills it.
 */
struct where nowhere(int family, int fd[2])
{
	struct where w;

	fd[0] = listen_any(KIND_TCP, family, 0, &w);
	fd[1] = open_socket(KIND_TCP, family, 0);
	if (connect(fd[1], sa(&w), w.len))
		die("connect to fill a queue");
	return w;
}

/* a counter of /proc/net/smc_stat; -1 without the module */
long smc_counter(const char *name)
{
	FILE *f = fopen("/proc/net/smc_stat", "r");
	char word[64];
	long n, val = -1;

	while (f && fscanf(f, "%63s %ld", word, &n) == 2)
		if (!strcmp(word, name))
			val = n;
	if (f)
		fclose(f);
	errno = 0;
	return val;
}

struct used smc_used(void)
{
	return (struct used){
		.r = smc_counter("HsClientSmcr"),
		.d = smc_counter("HsClientSmcd"),
		.tcp = smc_counter("HsClientTcp"),
	};
}

/*
 * Has the one connection made since then become what SMC_WANT says, or plain
 * TCP if plain?  Also true where that does not apply.
 */
bool became(enum kind kind, struct used then, bool plain)
{
	const char *want = getenv("SMC_WANT");
	struct used now = smc_used();

	if (kind == KIND_TCP || !want)
		return true;
	if (plain || !strcmp(want, "tcp"))
		return now.tcp == then.tcp + 1 && now.r == then.r &&
		       now.d == then.d;
	if (!strcmp(want, "smcr"))
		return now.r == then.r + 1 && now.tcp == then.tcp;
	return now.d == then.d + 1 && now.tcp == then.tcp;
}

/* kinds that become SMC-R, SMC-D ("smcr", "smcd"): for what differs there */
bool becomes(enum kind kind, const char *what)
{
	const char *want = getenv("SMC_WANT");

	return kind != KIND_TCP && want && !strcmp(want, what);
}

/* kinds that become SMC of either sort */
bool uses_smc(enum kind kind)
{
	return becomes(kind, "smcd") || becomes(kind, "smcr");
}

/*
 * Has a connection become what SMC_WANT says since then?  Unlike became() it
 * does not mind others that end at the same time.
 */
bool one_became(enum kind kind, struct used then)
{
	const char *want = getenv("SMC_WANT");
	struct used now = smc_used();

	if (kind == KIND_TCP || !want)
		return true;
	if (!strcmp(want, "tcp"))
		return now.tcp > then.tcp;
	return !strcmp(want, "smcr") ? now.r > then.r : now.d > then.d;
}

/* a connection, of what SMC_WANT says; false, errno says why */
bool conn_open(struct conn *p, enum kind how, int family)
{
	struct used then = smc_used();

	p->l = listen_any(how, family, 8, &p->at);
	p->c = open_socket(how, family, 0);
	p->s = -1;
	if (connect(p->c, sa(&p->at), p->at.len))
		return false;
	p->s = accept(p->l, NULL, NULL);
	return p->s >= 0 && one_became(how, then);
}

void conn_close(struct conn *p)
{
	close(p->c);
	close(p->s);
	close(p->l);
}

/* listen() as open_listener() does it, see decline_if_asked() */
int listen_on(int fd, enum kind kind, int backlog)
{
	int rc = listen(fd, backlog);

	if (!rc)
		decline_if_asked(fd, kind);
	return rc;
}
