/* SPDX-License-Identifier: GPL-2.0 */
/* Signals of sockets: they wait in the queue until they are asked for. */
#ifndef SMC_SELFTEST_SIGNALS_H
#define SMC_SELFTEST_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#define QUIET_MS	100	/* how long nothing must happen */

extern sigset_t watched;

void watch_signals(void);
void own_signals(int fd, int flags);
void forget_signals(void);
bool got_sigio(int fd, int code);
bool got_sigio_but(int fd, int code, int never);
bool no_signal(void);

#endif /* SMC_SELFTEST_SIGNALS_H */
