/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What sockconn, sockopts and their like share: where to connect, pairs of
 * sockets, and a listener that does not answer.  The environment says where:
 *
 *	SMC_HOST4, SMC_HOST6	addresses of this host (127.0.0.1 and ::1)
 *	SMC_WANT		what kinds other than tcp must become: smcd, smcr
 *				or tcp (fallback); not set: not checked
 */
#ifndef SMC_SELFTEST_SOCKCASE_H
#define SMC_SELFTEST_SOCKCASE_H

#include "util.h"
#include "wait.h"

struct where {
	struct sockaddr_storage ss;
	socklen_t len;
};

/* connections by what they became, of /proc/net/smc_stat */
struct used {
	long r, d, tcp;
};

struct conn {
	struct where at;
	int l, c, s;	/* listener, client, server */
};

const char *host_of(int family);
struct sockaddr *sa(struct where *w);
struct where where_is(int family);
int port_of(const struct where *w);
struct where local_name(int fd);
int local_port(int fd);
int listen_any(enum kind kind, int family, int backlog, struct where *w);
int listen_on(int fd, enum kind kind, int backlog);
struct where nowhere(int family, int fd[2]);
bool byte_goes(int from, int to);

long smc_counter(const char *name);
struct used smc_used(void);
bool became(enum kind kind, struct used then, bool plain);
bool one_became(enum kind kind, struct used then);
bool becomes(enum kind kind, const char *what);
bool uses_smc(enum kind kind);

bool conn_open(struct conn *p, enum kind how, int family);
void conn_close(struct conn *p);

#endif /* SMC_SELFTEST_SOCKCASE_H */
