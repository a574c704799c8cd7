// SPDX-License-Identifier: GPL-2.0
/*
 * Connections of smc_chk: the one it makes, and those it waits for.
 *
 * Under SMC_TOOLS_REPLAY no connection is made; what became of it is recorded.
 *
 * Tests: tools/tests/chk.sh, selftests/vm.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "chk.h"
#include "replay.h"
#include "tool.h"

#define CONNECT_S	20
#define SERVE_S		10

/* For each connection: what its address looks like. */
static const char *addr_text(const struct sockaddr *sa, socklen_t len)
{
	static char text[NI_MAXHOST + NI_MAXSERV + 8];
	char host[NI_MAXHOST], port[NI_MAXSERV];

	if (getnameinfo(sa, len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return "?";
	snprintf(text, sizeof(text), "%s port %s", host, port);
	return text;
}

static struct addrinfo *resolve(const struct chk_options *opt)
{
	struct addrinfo hints = {
		.ai_family = opt->ipv6 ? AF_INET6 : AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = opt->server ? AI_PASSIVE : 0,
	};
	struct addrinfo *list = NULL;
	const char *host = opt->host ? opt->host : "any";
	int rc;

	if (opt->server && !opt->ipv6)
		hints.ai_family = AF_INET;
	rc = getaddrinfo(opt->host, opt->port, &hints, &list);
	if (rc) {
		chk_step("Address", "%s port %s: %s", host, opt->port,
			 gai_strerror(rc));
		if (tool_opt.json)
			tool_say("%s: %s", host, gai_strerror(rc));
		return NULL;
	}
	return list;
}

static int bind_iface(int fd, const struct chk_options *opt)
{
	int err;

	if (!opt->iface || !setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE,
				       opt->iface, strlen(opt->iface) + 1))
		return 0;
	err = errno;
	tool_say("cannot use interface %s: %s", opt->iface, strerror(err));
	errno = err;
	return -1;
}

/*
 * Connect; -1 with errno set.  @said: it is the interface that cannot be used,
 * and that was said.
 */
static int try_connect(const struct chk_options *opt,
		       const struct addrinfo *ai, bool smc, bool *said)
{
	struct timeval limit = { .tv_sec = CONNECT_S };
	int fd, err;

	*said = false;
	fd = smc ? chk_socket(ai->ai_family) :
		   socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC,
			  IPPROTO_TCP);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (bind_iface(fd, opt))
		*said = true;
	else if (!connect(fd, ai->ai_addr, ai->ai_addrlen))
		return fd;
	/* what the kernel says at the end of SO_SNDTIMEO */
	err = errno == EINPROGRESS ? ETIMEDOUT : errno;
	close(fd);
	errno = err;
	return -1;
}

static const char *advice_for(bool tcp_works, int err)
{
	if (err == EPERM || err == EACCES)
		return tcp_works ?
		       "on this host: SMC sockets are forbidden to this program (SELinux, BPF, seccomp)" :
		       "on this host: a firewall, or a policy for this program, forbids it";
	if (tcp_works)
		return "on both: the handshake broke, see the kernel log and the trace events smc:*";
	if (err == ECONNREFUSED)
		return "on the peer: nothing listens there, start smc_chk -S";
	return "on the way: this is no matter of SMC";
}

/* SMC could not connect: could TCP? */
static int explain_failure(const struct chk_options *opt,
			   const struct addrinfo *ai, int err)
{
	bool said;
	int fd;

	chk_step("Connection", "failed: %s", strerror(err));
	if (tool_opt.json)
		tool_say("cannot connect: %s", strerror(err));
	fd = try_connect(opt, ai, false, &said);
	if (fd >= 0) {
		close(fd);
		chk_step("The same with TCP", "works");
	} else {
		err = errno;
		chk_step("The same with TCP", "failed: %s", strerror(err));
	}
	chk_advice("%s", advice_for(fd >= 0, err));
	return EXIT_FAILURE;
}

static int explain_find(int rc)
{
	chk_step("Result", "cannot be asked: %s", rc == -ESRCH ?
		 "the socket is not listed" : strerror(-rc));
	if (rc == -ENOENT)
		chk_advice("on this host: modprobe smc_diag");
	if (tool_opt.json)
		tool_say("cannot ask what became of the connection: %s",
			 strerror(-rc));
	return EXIT_FAILURE;
}

static int judge(const struct chk_options *opt, int fd)
{
	struct diag_row row;
	int rc;

	rc = chk_find(fd, &row);
	return rc ? explain_find(rc) : chk_verdict(opt, &row);
}

/* Try an address; @more says whether another one may do better. */
static int connect_one(const struct chk_options *opt,
		       const struct addrinfo *ai, bool *more)
{
	int fd, err, rc;
	bool said;

	chk_step("Address", "%s", addr_text(ai->ai_addr, ai->ai_addrlen));
	fd = try_connect(opt, ai, true, &said);
	err = errno;
	if (fd < 0) {
		*more = !said && err != EPROTONOSUPPORT && ai->ai_next;
		if (said)
			return EXIT_FAILURE;
		if (err == EPROTONOSUPPORT)
			return chk_no_smc(err);
		if (!*more)
			return explain_failure(opt, ai, err);
		chk_step("Connection", "failed: %s", strerror(err));
		return EXIT_FAILURE;
	}
	*more = false;
	chk_step("Connection", "established");
	rc = judge(opt, fd);
	close(fd);
	return rc;
}

/**
 * chk_connect() - connect to the host and say what became of it
 * @opt: options
 *
 * Return: exit status.
 */
int chk_connect(const struct chk_options *opt)
{
	struct addrinfo *list, *ai;
	int rc = EXIT_FAILURE;
	bool more = true;

	if (replay_active())
		return judge(opt, -1);
	list = resolve(opt);
	/* as programs do: the addresses of a name, until one answers */
	for (ai = list; ai && more; ai = ai->ai_next)
		rc = connect_one(opt, ai, &more);
	if (list)
		freeaddrinfo(list);
	return rc;
}

static void serve_one(const struct chk_options *opt, int fd,
		      const struct sockaddr *sa, socklen_t len)
{
	struct timeval limit = { .tv_sec = SERVE_S };
	char byte[256];

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	chk_step("Connection", "from %s", addr_text(sa, len));
	judge(opt, fd);
	/* the client looks at its end until it closes it */
	while (read(fd, byte, sizeof(byte)) > 0)
		;
}

static int accept_all(const struct chk_options *opt, int lfd)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int fd;

	for (;;) {
		len = sizeof(ss);
		fd = accept(lfd, (struct sockaddr *)&ss, &len);
		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0) {
			tool_say("accept: %s", strerror(errno));
			return EXIT_FAILURE;
		}
		serve_one(opt, fd, (struct sockaddr *)&ss, len);
		close(fd);
	}
}

/**
 * chk_serve() - wait for connections and say what becomes of each
 * @opt: options
 *
 * Return: exit status; only if something goes wrong.
 */
int chk_serve(const struct chk_options *opt)
{
	struct addrinfo *ai = resolve(opt);
	int fd, on = 1, rc = EXIT_FAILURE;

	if (!ai)
		return EXIT_FAILURE;
	fd = chk_socket(ai->ai_family);
	if (fd < 0) {
		rc = chk_no_smc(errno);
		goto out;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind_iface(fd, opt))
		goto out;
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 16)) {
		tool_say("cannot listen: %s", strerror(errno));
		goto out;
	}
	chk_step("Listening", "%s", addr_text(ai->ai_addr, ai->ai_addrlen));
	rc = accept_all(opt, fd);
out:
	if (fd >= 0)
		close(fd);
	freeaddrinfo(ai);
	return rc;
}
