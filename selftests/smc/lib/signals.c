// SPDX-License-Identifier: GPL-2.0
/*
 * Signals of sockets: they wait in the queue until they are asked for.  Tested by
 * its users.
 */
#include "signals.h"
#include "util.h"
#include "wait.h"

sigset_t watched;

static const struct timespec moment = { 0, QUIET_MS * 1000000 };

void watch_signals(void)
{
	sigemptyset(&watched);
	sigaddset(&watched, SIGURG);
	sigaddset(&watched, SIGPIPE);
	sigaddset(&watched, SIGIO);
	sigaddset(&watched, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &watched, NULL);
}

void own_signals(int fd, int flags)
{
	if (fcntl(fd, F_SETOWN, getpid()) || fcntl(fd, F_SETSIG, SIGRTMIN) ||
	    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | flags))
		die("fcntl");
}

void forget_signals(void)
{
	static const struct timespec none;

	while (sigtimedwait(&watched, NULL, &none) > 0)
		;
}

/* Waits for a SIGIO with this code about the descriptor. */
bool got_sigio(int fd, int code)
{
	const struct timespec limit = { WAIT_S, 0 };
	siginfo_t si;

	while (sigtimedwait(&watched, &si, &limit) > 0)
		if (si.si_signo == SIGRTMIN && si.si_fd == fd &&
		    si.si_code == code)
			return true;
	return false;
}

/* The same, and none with the other code comes, nor soon afterwards. */
bool got_sigio_but(int fd, int code, int never)
{
	struct timespec limit = { WAIT_S, 0 };
	bool got = false;
	siginfo_t si;

	while (sigtimedwait(&watched, &si, &limit) > 0) {
		if (si.si_signo != SIGRTMIN || si.si_fd != fd)
			continue;
		if (si.si_code == never)
			return false;
		if (si.si_code == code) {
			got = true;
			limit = moment;
		}
	}
	return got;
}

bool no_signal(void)
{
	return sigtimedwait(&watched, NULL, &moment) < 0;
}
