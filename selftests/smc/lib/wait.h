/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waiting for what a socket, a file or a task does.
 *
 * SMC_TEST_SCALE in the environment (1 if it is not set, or a decimal) says how
 * much slower than usual this machine or kernel may be.  Every limit is scaled
 * by it: pass it through limit_ms() or limit_s().  What a test sets to see it
 * happen (TCP_USER_TIMEOUT) is no limit, nor is IDLE_MS.
 */
#ifndef SMC_SELFTEST_WAIT_H
#define SMC_SELFTEST_WAIT_H

#include <poll.h>
#include <stdbool.h>

#define WAIT_MS	limit_ms(20000)	/* ten times what anything here takes */
#define WAIT_S	limit_s(20)
#define IDLE_MS	400	/* long enough for what must not happen */

int limit_ms(int ms);
int limit_s(int s);
int repeats(int n);

int poll_for(int fd, int events, int ms);
int wait_events(int fd, int events);
int mask_now(int fd);
int wait_mask(int fd, int mask);
int queued(int fd);
bool wait_queued(int fd, int n);
bool wait_flag(const int *flag);
bool wait_file(const char *path, int s);

#endif /* SMC_SELFTEST_WAIT_H */
