/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Answers from a file instead of the kernel, for tests.
 */
#ifndef TOOLS_REPLAY_H
#define TOOLS_REPLAY_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/netlink.h>

/* How a recording names the family that answered, in nlmsg_pid. */
enum {
	REPLAY_SMC_GEN	= 1,
	REPLAY_PNETID	= 2,
	REPLAY_DIAG	= 3,
};

/* sock_diag, which has no name of its own */
#define REPLAY_DIAG_NAME	"sock_diag"

typedef int (*replay_fn)(const struct nlmsghdr *nlh, void *arg);

bool replay_active(void);
void replay_step(void);
unsigned int replay_steps(void);
const char *replay_pick(const char *name);
int replay_request(const char *family, const char *what, int cmd,
		   const void *attrs, size_t len, replay_fn fn, void *arg);

#endif /* TOOLS_REPLAY_H */
