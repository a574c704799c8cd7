// SPDX-License-Identifier: GPL-2.0
/*
 * parked - many listeners whose program owns them in the kernel for long
 *
 *	parked [-k KIND] [-n LISTENERS] [-s FILE] HOST PORT
 *
 * Listeners at PORT and the ports after it.  A thread of each is in
 * setsockopt(IP_OPTIONS) with a page that does not come (userfaultfd), so the
 * kernel has the listener locked.  Meanwhile each gets a client of TCP and one
 * of SMC, which connect all the same; or, with -s, FILE is made, and clients come
 * from elsewhere until it is gone.  Another user's listener is connected to and
 * accepts all the while: no call of it may take as long as LIMIT_MS.  Then the
 * page comes, and each listener accepts what it has.
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include "lib/page.h"
#include "lib/task.h"
#include "lib/util.h"
#include "lib/wait.h"

#include "kselftest.h"

#define LIMIT_MS	limit_ms(1000)
#define MAX		512
#define NOBODY		65534
#define ROUNDS		20
#define PAUSE_US	20000	/* of the other user, after each */
#define AT_ONCE		8	/* listeners whose clients connect together */

struct listener {
	int fd;
	struct sockaddr_in addr;
	struct task owner;
	int clients[2];
};

/* what the other user's process tells */
struct other {
	int stop, rounds;
	uint64_t connect_ns, accept_ns;	/* the longest */
};

static struct listener listeners[MAX];
static int count = 320;
static struct page page;

static void *own(void *arg)
{
	struct listener *l = arg;

	if (setsockopt(l->fd, IPPROTO_IP, IP_OPTIONS, page.at, 4))
		die("IP_OPTIONS");
	return NULL;
}

/* Any option that needs the socket's lock. */
static void *try_lock(void *arg)
{
	must_set(*(int *)arg, SOL_SOCKET, SO_SNDBUF, 65536);
	return NULL;
}

static void longest(uint64_t *max, uint64_t start)
{
	uint64_t ns = now_ns() - start;

	if (ns > *max)
		__atomic_store_n(max, ns, __ATOMIC_RELAXED);
}

/* The other user: connects to itself over and over, with every kind. */
static int be_other(struct other *o)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	static const enum kind kinds[] = { KIND_TCP, KIND_IPPROTO, KIND_AFSMC };
	socklen_t len = sizeof(addr);
	enum kind kind;
	int l, c, s, i;
	uint64_t t;

	if (setuid(NOBODY))
		die("setuid");
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (i = 0; !__atomic_load_n(&o->stop, __ATOMIC_ACQUIRE); i++) {
		kind = kinds[i % 3];
		addr.sin_port = 0;
		l = open_listener(kind, (struct sockaddr_storage *)&addr,
				  sizeof(addr), 8, 0, 0);
		if (getsockname(l, (struct sockaddr *)&addr, &len))
			die("getsockname");
		c = open_socket(kind, AF_INET, 0);
		t = now_ns();
		if (connect(c, (struct sockaddr *)&addr, len))
			die("the other user's connect");
		longest(&o->connect_ns, t);
		t = now_ns();
		s = accept(l, NULL, NULL);
		if (s < 0)
			die("the other user's accept");
		longest(&o->accept_ns, t);
		if (send(c, "x", 1, 0) != 1 || recv(s, &kind, 1, 0) != 1)
			die("the other user's byte");
		close(c);
		close(s);
		close(l);
		usleep(PAUSE_US);
		__atomic_add_fetch(&o->rounds, 1, __ATOMIC_RELEASE);
	}
	return 0;
}

static void begin_client(struct listener *l, int i, enum kind kind)
{
	l->clients[i] = open_socket(kind, AF_INET, SOCK_NONBLOCK);
	if (connect(l->clients[i], (struct sockaddr *)&l->addr,
		    sizeof(l->addr)) && errno != EINPROGRESS)
		die("connect");
}

static void await_client(struct listener *l, int i)
{
	int err;

	if (!(poll_for(l->clients[i], POLLOUT, WAIT_MS) & POLLOUT))
		die("client %d of listener %d does not connect", i,
		    (int)(l - listeners));
	err = so_error(l->clients[i]);
	if (err)
		die("client %d: %s", i, strerror(err));
}

static void begin_clients(struct listener *l)
{
	begin_client(l, 0, KIND_TCP);
	begin_client(l, 1, KIND_IPPROTO);
}

static void await_clients(struct listener *l)
{
	await_client(l, 0);
	await_client(l, 1);
}

static void await_rounds(const struct other *o)
{
	int end = __atomic_load_n(&o->rounds, __ATOMIC_ACQUIRE) + ROUNDS, i;

	for (i = 0; __atomic_load_n(&o->rounds, __ATOMIC_ACQUIRE) < end; i++) {
		if (i > WAIT_MS / 10)
			die("the other user is stuck after %d rounds",
			    o->rounds);
		usleep(10000);
	}
}

/* Both clients' connections, in any order. */
static void accept_both(struct listener *l)
{
	int i, s;
	char c;

	for (i = 0; i < 2; i++) {
		if (send(l->clients[i], "x", 1, 0) != 1)
			die("send");
		set_nonblock(l->fd);
		if (!(poll_for(l->fd, POLLIN, WAIT_MS) & POLLIN))
			die("nothing to accept");
		s = accept(l->fd, NULL, NULL);
		if (s < 0 || recv(s, &c, 1, 0) != 1)
			die("accept");
		close(s);
	}
	close(l->clients[0]);
	close(l->clients[1]);
}

static void check_other(const struct other *o, pid_t pid)
{
	bool in_time = o->connect_ns / 1000000 < LIMIT_MS &&
		       o->accept_ns / 1000000 < LIMIT_MS;

	ksft_test_result(child_ok(pid) && in_time,
			 "the other user: %d rounds, connect() took %llu ms at most, accept() %llu ms\n",
			 o->rounds, (unsigned long long)o->connect_ns / 1000000,
			 (unsigned long long)o->accept_ns / 1000000);
}

static void listen_all(enum kind kind, const char *host, const char *port)
{
	struct sockaddr_storage ss;
	struct listener *l;
	socklen_t len;
	int i;

	for (i = 0; i < count; i++) {
		l = &listeners[i];
		len = parse_addr(host, port, &ss);
		l->addr = *(struct sockaddr_in *)&ss;
		l->addr.sin_port = htons(ntohs(l->addr.sin_port) + i);
		*(struct sockaddr_in *)&ss = l->addr;
		l->fd = open_listener(kind, &ss, len, 8, 0, 0);
	}
}

/* Until the page comes each listener is locked; @try waits for one. */
static void lock_all(struct task *try)
{
	int i;

	for (i = 0; i < count; i++)
		task_start(&listeners[i].owner, own, &listeners[i]);
	for (i = 0; i < count; i++)
		if (!task_sleeps(&listeners[i].owner))
			die("a page came");
	task_start(try, try_lock, &listeners[0].fd);
	if (!task_sleeps(try))
		die("the listener is not locked");
	printf("%d listeners are locked\n", count);
	fflush(stdout);
}

static void connect_all(void)
{
	int i;

	for (i = 0; i < count + AT_ONCE; i++) {
		if (i < count)
			begin_clients(&listeners[i]);
		if (i >= AT_ONCE)
			await_clients(&listeners[i - AT_ONCE]);
	}
	printf("all clients are connected\n");
}

static void unlock_all(struct task *try)
{
	int i;

	page_serve(&page);
	for (i = 0; i < count; i++)
		task_join(&listeners[i].owner);
	task_join(try);
}

int main(int argc, char **argv)
{
	struct other *o = shared_memory(sizeof(*o));
	struct rlimit files = { 4 * MAX, 4 * MAX };
	const char *elsewhere = NULL;
	enum kind kind = KIND_AFSMC;
	struct task try;
	pid_t pid;
	int i, opt;

	while ((opt = getopt(argc, argv, "k:n:s:")) > 0) {
		if (opt == 'k')
			kind = parse_kind(optarg);
		else if (opt == 'n')
			count = atoi(optarg);
		else
			elsewhere = optarg;
	}
	if (argc - optind != 2 || count < 1 || count > MAX)
		die("usage: parked [-k KIND] [-n LISTENERS] [-s FILE] HOST PORT");
	if (setrlimit(RLIMIT_NOFILE, &files))
		die("RLIMIT_NOFILE");
	ksft_print_header();
	ksft_set_plan(1);
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		return be_other(o);
	page_make(&page);
	listen_all(kind, argv[optind], argv[optind + 1]);
	lock_all(&try);
	if (elsewhere) {
		touch(elsewhere);
		while (!access(elsewhere, F_OK))
			usleep(50000);
	} else {
		connect_all();
	}
	await_rounds(o);
	unlock_all(&try);
	for (i = 0; i < count; i++) {
		if (!elsewhere)
			accept_both(&listeners[i]);
		close(listeners[i].fd);
	}
	__atomic_store_n(&o->stop, 1, __ATOMIC_RELEASE);
	check_other(o, pid);
	ksft_finished();
}
