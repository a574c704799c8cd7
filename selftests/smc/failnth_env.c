// SPDX-License-Identifier: GPL-2.0
/*
 * failnth_env - faults, connections and netlink for failnth
 */
#include "failnth.h"

#include <ctype.h>
#include <net/if.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "kselftest.h"

#define HANG_S	limit_s(50)	/* longer than all waiting in one step */
#define DEBUGFS	"/sys/kernel/debug/"

char pattern[PATTERN];

static const char *const attrs[] = { "failslab", "fail_page_alloc" };
static int nth_fd = -1;
static char now_doing[64];

bool bad(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	return false;
}

static void on_alarm(int sig)
{
	static const char hang[] = "\nBail out! hangs: ";

	if (write(1, hang, sizeof(hang) - 1) < 0 ||
	    write(1, now_doing, strlen(now_doing)) < 0 ||
	    write(1, "\n", 1) < 0)
		_exit(3);
	_exit(2);
}

void doing(const char *what, int nth)
{
	snprintf(now_doing, sizeof(now_doing), "%s, allocation %d", what, nth);
	alarm(HANG_S);
}

static void fault_path(char *path, int size, const char *attr,
		       const char *name)
{
	snprintf(path, size, DEBUGFS "%s/%s", attr, name);
}

long fault_get(const char *attr, const char *name)
{
	char path[128], line[64];

	fault_path(path, sizeof(path), attr, name);
	if (!*first_line(path, line, sizeof(line)))
		die("%s", path);
	return strtol(line, NULL, 0);
}

static void fault_put(const char *attr, const char *name, const char *text)
{
	char path[128];

	fault_path(path, sizeof(path), attr, name);
	if (put_text(path, text))
		die("%s", path);
}

void fault_set(const char *attr, const char *name, long val)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", val);
	fault_put(attr, name, text);
}

struct range {
	uint64_t start, end;
};

/* how: "require" or "reject" this in the stack */
static void filter(const char *how, struct range r)
{
	char name[32], text[32];
	int i;

	for (i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%s-start", how);
		snprintf(text, sizeof(text), "%#llx", (long long)r.start);
		fault_put(attrs[i], name, text);
		snprintf(name, sizeof(name), "%s-end", how);
		snprintf(text, sizeof(text), "%#llx", (long long)r.end);
		fault_put(attrs[i], name, text);
	}
}

/* one line of /proc/kallsyms: address, type, name, [module] */
static void look_at(const char *line, const char *module, struct range *r)
{
	char name[128], in[64] = "", type;
	unsigned long long at;

	if (sscanf(line, "%llx %c %127s [%63[^]]", &at, &type, name, in) < 3 ||
	    tolower(type) != 't' || strcmp(in, module))
		return;
	if (!r->start || at < r->start)
		r->start = at;
	/* the last function ends somewhere on the page that follows */
	if (at + 4096 > r->end)
		r->end = at + 4096;
}

/* Only allocations below functions of the module fail. */
void only_under(const char *module)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	struct range r = {};
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (strchr(line, '['))
			look_at(line, module, &r);
	if (f)
		fclose(f);
	errno = 0;
	if (!r.start)
		die("no functions of module %s", module);
	filter("require", r);
}

static struct range function_range(const char *function)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], name[128], type;
	struct range r = { 0, ~0ULL };
	unsigned long long at;
	int round;

	/* first where it begins, then what comes next */
	for (round = 0; f && round < 2; round++) {
		rewind(f);
		while (fgets(line, sizeof(line), f)) {
			if (sscanf(line, "%llx %c %127s", &at, &type,
				   name) < 3)
				continue;
			if (!round && !strcmp(name, function))
				r.start = at;
			if (round && at > r.start && at < r.end)
				r.end = at;
		}
	}
	if (f)
		fclose(f);
	errno = 0;
	if (!r.start)
		die("no function %s", function);
	return r;
}

/* Only allocations below this function of the kernel fail. */
void only_under_function(const char *function)
{
	filter("require", function_range(function));
}

/* but not those below this one */
void not_under_function(const char *function)
{
	filter("reject", function_range(function));
}

void nth_open(void)
{
	if (nth_fd >= 0)
		close(nth_fd);
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		die("/proc/thread-self/fail-nth");
}

void nth_arm(int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", nth);

	if (pwrite(nth_fd, text, len, 0) != len)
		die("fail-nth");
}

/* true: the fault was met since nth_arm() */
bool nth_disarm(void)
{
	char text[16] = "";

	if (pread(nth_fd, text, sizeof(text) - 1, 0) <= 0)
		die("fail-nth");
	nth_arm(0);
	return !atoi(text);
}

void fault_setup(void)
{
	int i;

	setbuf(stdout, NULL);
	signal(SIGALRM, on_alarm);
	for (i = 0; i < PATTERN; i++)
		pattern[i] = i * 7 + i / 251;
	if (access(DEBUGFS "failslab/require-start", F_OK))
		ksft_exit_skip("no stack filter of fault injection\n");
	for (i = 0; i < 2; i++) {
		fault_set(attrs[i], "probability", 0);
		fault_set(attrs[i], "times", 0);
		/* a stack in the log is a complaint to the verdict */
		fault_set(attrs[i], "verbose", getenv("FAULT_TRACE") ? 2 : 0);
		fault_put(attrs[i], "task-filter", "N");
		fault_put(attrs[i], "ignore-gfp-wait", "N");
	}
	filter("reject", (struct range){});
	fault_put("fail_page_alloc", "ignore-gfp-highmem", "N");
	fault_set("fail_page_alloc", "min-order", 0);
	nth_open();
}

/* connections */

struct ends ends_listen(void)
{
	struct ends e = { .c = -1, .s = -1 };
	struct where at;

	e.l = listen_any(KIND_IPPROTO, AF_INET, 8, &at);
	return e;
}

bool ends_connect(struct ends *e)
{
	struct where at = local_name(e->l);

	e->c = open_socket(KIND_IPPROTO, AF_INET, 0);
	if (connect(e->c, sa(&at), at.len))
		return bad("connect: %s", strerror(errno));
	return true;
}

bool ends_accept(struct ends *e)
{
	if (!wait_events(e->l, POLLIN))
		return bad("no connection to accept");
	e->s = accept(e->l, NULL, NULL);
	return e->s >= 0 || bad("accept: %s", strerror(errno));
}

bool ends_open(struct ends *e)
{
	*e = ends_listen();
	return ends_connect(e) && ends_accept(e);
}

bool send_all(int fd, int from, int to)
{
	int n;

	for (; from < to; from += n) {
		n = send(fd, pattern + from, to - from, MSG_NOSIGNAL);
		if (n <= 0)
			return bad("send: %s", strerror(errno));
	}
	return true;
}

bool recv_from(int fd, int from, int to)
{
	static char buf[PATTERN];
	int n;

	for (; from < to; from += n) {
		if (!wait_events(fd, POLLIN))
			return bad("recv: %d bytes, then nothing", from);
		n = recv(fd, buf, to - from, MSG_DONTWAIT);
		if (n <= 0)
			return bad("recv at %d of %d: %s", from, to,
				   n ? strerror(errno) : "end of file");
		if (memcmp(buf, pattern + from, n))
			return bad("wrong bytes");
	}
	return true;
}

bool recv_all(int fd, int len)
{
	return recv_from(fd, 0, len);
}

bool at_end(int fd)
{
	char c;
	int n;

	if (!wait_events(fd, POLLIN))
		return bad("the end does not come");
	n = recv(fd, &c, 1, MSG_DONTWAIT);
	return !n || bad("not the end: %s",
			 n < 0 ? strerror(errno) : "a byte");
}

/* len bytes there, and back */
bool ends_talk(struct ends *e, int len)
{
	return send_all(e->c, 0, len) && recv_all(e->s, len) &&
	       send_all(e->s, 0, len) && recv_all(e->c, len);
}

void ends_close(struct ends *e)
{
	if (e->c >= 0)
		close(e->c);
	if (e->s >= 0)
		close(e->s);
	if (e->l >= 0)
		close(e->l);
}

/* true: a connection to accept; false: the client has been told otherwise */
bool wait_either(int listener, int client)
{
	struct pollfd p[2] = {
		{ .fd = listener, .events = POLLIN },
		{ .fd = client, .events = POLLIN | POLLRDHUP },
	};

	poll(p, 2, WAIT_MS);
	return p[0].revents & POLLIN;
}

bool same_connection(int c, int s)
{
	struct where a = local_name(c), b = { .len = sizeof(b.ss) };

	return !getpeername(s, sa(&b), &b.len) && port_of(&a) == port_of(&b);
}

const char *clean_counter = "HsClientSmcd";

#define DEADLINE "/proc/sys/net/smc/handshake_timeout_ms"

/* After whatever happened the next connection is as ever, on a busy host, too. */
bool clean_connection(void)
{
	long before = smc_counter(clean_counter);
	char deadline[32];
	struct ends e;
	bool ok;

	first_line(DEADLINE, deadline, sizeof(deadline));
	if (put_text(DEADLINE, "20000"))
		die(DEADLINE);
	ok = ends_open(&e) && ends_talk(&e, 1000);
	if (put_text(DEADLINE, deadline))
		die(DEADLINE);
	if (ok && smc_counter(clean_counter) == before)
		ok = bad("the next connection is not as ever");
	ends_close(&e);
	return ok;
}

bool lo_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int rc = ioctl(fd, SIOCSIFFLAGS, &ifr);

	close(fd);
	return !rc || bad("lo: %s", strerror(errno));
}

/* netlink */

int netlink_open(int protocol)
{
	struct timeval limit = { .tv_sec = WAIT_MS / 1000 };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit,
				 sizeof(limit)))
		die("netlink");
	return fd;
}

struct request {
	struct nlmsghdr n;
	char body[128];
};

/* Sends the request and counts what is answered, up to the end or an error. */
static long ask(int fd, struct request *r, size_t len, int flags,
		char *first, size_t size)
{
	static char buf[65536];
	struct nlmsghdr *n;
	long rows = 0;
	int got;

	r->n.nlmsg_len = NLMSG_LENGTH(len);
	r->n.nlmsg_flags = NLM_F_REQUEST | flags;
	if (send(fd, r, r->n.nlmsg_len, 0) < 0)
		return -1;
	for (;;) {
		got = recv(fd, buf, sizeof(buf), 0);
		if (got < 0)
			return -1;
		for (n = (void *)buf; NLMSG_OK(n, got); n = NLMSG_NEXT(n, got)) {
			if (n->nlmsg_type == NLMSG_DONE ||
			    n->nlmsg_type == NLMSG_ERROR) {
				errno = -*(int *)NLMSG_DATA(n);
				return errno ? -1 : rows;
			}
			if (!rows++ && first)
				memcpy(first, n, size < n->nlmsg_len ?
						 size : n->nlmsg_len);
			if (!(flags & NLM_F_DUMP))
				return rows;
		}
	}
}

static size_t genl_request(struct request *r, int family, int cmd)
{
	struct genlmsghdr *g = (void *)r->body;

	memset(r, 0, sizeof(*r));
	r->n.nlmsg_type = family;
	g->cmd = cmd;
	g->version = 1;
	return sizeof(*g);
}

int genl_family(int fd, const char *name)
{
	static char answer[4096];
	struct nlmsghdr *n = (void *)answer;
	struct request r;
	size_t len = genl_request(&r, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	struct nlattr *a = (void *)(r.body + len);
	int left;

	a->nla_type = CTRL_ATTR_FAMILY_NAME;
	a->nla_len = NLA_HDRLEN + strlen(name) + 1;
	memcpy((char *)a + NLA_HDRLEN, name, strlen(name) + 1);
	if (ask(fd, &r, len + NLA_ALIGN(a->nla_len), 0, answer,
		sizeof(answer)) < 1)
		die("family %s", name);
	a = (void *)((char *)NLMSG_DATA(n) + GENL_HDRLEN);
	left = n->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN);
	while (left > 0 && a->nla_len) {
		if (a->nla_type == CTRL_ATTR_FAMILY_ID)
			return *(uint16_t *)((char *)a + NLA_HDRLEN);
		left -= NLA_ALIGN(a->nla_len);
		a = (void *)((char *)a + NLA_ALIGN(a->nla_len));
	}
	die("family %s has no number", name);
	return -1;
}

long genl_dump(int fd, int family, int cmd)
{
	struct request r;
	size_t len = genl_request(&r, family, cmd);

	return ask(fd, &r, len, NLM_F_DUMP, NULL, 0);
}

/* A change, with the words as the first attributes; 0 or -1. */
long genl_change(int fd, int family, int cmd, const char *const *words)
{
	struct request r;
	size_t len = genl_request(&r, family, cmd);
	int type;

	for (type = 1; *words; type++, words++) {
		struct nlattr *a = (void *)(r.body + len);

		a->nla_type = type;
		a->nla_len = NLA_HDRLEN + strlen(*words) + 1;
		strcpy((char *)a + NLA_HDRLEN, *words);
		len += NLA_ALIGN(a->nla_len);
	}
	return ask(fd, &r, len, NLM_F_ACK, NULL, 0);
}

/* SOCK_DESTROY of an IPv4 connection of ours; 0 or -1 */
long diag_destroy(int fd, int sock)
{
	struct request r = { .n.nlmsg_type = SOCK_DESTROY };
	struct sockaddr_in self, peer;
	socklen_t len = sizeof(self);
	char *id = r.body + 4;

	r.body[0] = AF_SMC;
	if (getsockname(sock, (struct sockaddr *)&self, &len) ||
	    getpeername(sock, (struct sockaddr *)&peer, &len))
		return -1;
	memcpy(id, &self.sin_port, 2);
	memcpy(id + 2, &peer.sin_port, 2);
	memcpy(id + 4, &self.sin_addr, 4);
	memcpy(id + 20, &peer.sin_addr, 4);
	/* any interface; INET_DIAG_NOCOOKIE */
	memset(id + 40, 0xff, 8);
	return ask(fd, &r, 52, NLM_F_ACK, NULL, 0);
}

/* of all SMC sockets with all attributes */
long diag_dump(int fd)
{
	struct request r = { .n.nlmsg_type = SOCK_DIAG_BY_FAMILY };

	r.body[0] = AF_SMC;
	r.body[3] = 0xff;
	return ask(fd, &r, 52, NLM_F_DUMP, NULL, 0);
}
