/* SPDX-License-Identifier: GPL-2.0 */
/* Waiting for what a socket, a file or a task does. */
#ifndef SMC_SELFTEST_WAIT_H
#define SMC_SELFTEST_WAIT_H

#include <poll.h>
#include <stdbool.h>

#define WAIT_MS	20000	/* ten times what anything here takes */
#define WAIT_S	(WAIT_MS / 1000)
#define IDLE_MS	400	/* long enough for what must not happen */

int poll_for(int fd, int events, int ms);
int wait_events(int fd, int events);
int mask_now(int fd);
int wait_mask(int fd, int mask);
int queued(int fd);
bool wait_queued(int fd, int n);
bool wait_file(const char *path, int limit_s);

#endif /* SMC_SELFTEST_WAIT_H */
