/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of failnth share: failnth.c (calls), failnth_life.c (whole
 * connections, loading the module), failnth_env.c (faults, connections,
 * netlink).
 */
#ifndef SMC_SELFTEST_FAILNTH_H
#define SMC_SELFTEST_FAILNTH_H

#include "lib/sockcase.h"
#include "lib/wait.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>

#define PATTERN	32768

extern char pattern[PATTERN];

/* of a test: name, "#", what else there is to say */
void result(bool ok, const char *fmt, ...);

/* says what is wrong; false */
bool bad(const char *fmt, ...);

/* a call that does not come back ends the program with these words */
void doing(const char *what, int nth);

/* faults */
void fault_setup(void);
void only_under(const char *module);
void only_under_function(const char *function);
void not_under_function(const char *function);
void nth_open(void);
void nth_arm(int nth);
bool nth_disarm(void);
long fault_get(const char *attr, const char *name);
void fault_set(const char *attr, const char *name, long val);

/* both ends of a connection; -1 where there is none */
struct ends {
	int l, c, s;
};

struct ends ends_listen(void);
bool ends_connect(struct ends *e);
bool ends_accept(struct ends *e);
bool ends_open(struct ends *e);
bool ends_talk(struct ends *e, int len);
void ends_close(struct ends *e);
bool send_all(int fd, int from, int to);
bool recv_from(int fd, int from, int to);
bool recv_all(int fd, int len);
bool at_end(int fd);
bool wait_either(int listener, int client);
bool same_connection(int c, int s);
bool clean_connection(void);
extern const char *clean_counter;	/* of its outcome */
bool lo_up(void);

/* netlink: the number of rows, or -1 */
int netlink_open(int protocol);
int genl_family(int fd, const char *name);
long genl_dump(int fd, int family, int cmd);
long genl_change(int fd, int family, int cmd, const char *const *words);
long diag_destroy(int fd, int sock);
long diag_dump(int fd);

void whole_lives(int every);
void whole_links(int every);
void load_modules(const char *smc, const char *diag, int every);

#endif /* SMC_SELFTEST_FAILNTH_H */
