// SPDX-License-Identifier: GPL-2.0
/*
 * The phases of a socket, and what calls do with it in each of them.  How one
 * leads to another: Documentation/networking/smc/socket.rst.
 *
 * A call looks the rules up, and then either acts under the lock that keeps the
 * phase, or looks again.
 *
 * Context: per function.  Tests: selftests/smc.
 */
#include <net/sock.h>

#include "sock.h"

#define POLL_ALL	((__force __poll_t)~0)
#define POLL_READ	(EPOLLIN | EPOLLRDNORM | EPOLLPRI | EPOLLRDHUP)

const struct smc_phase_rules smc_phase_rules[SMC_PHASES] = {
	[SMC_PHASE_INIT] = {
		.data		= { SMC_DATA_REFUSE, SMC_DATA_REFUSE },
		.idle		= true,
		.ours		= true,
	},
	[SMC_PHASE_HS] = {
		.data		= { SMC_DATA_WAIT, SMC_DATA_WAIT },
		.poll_hides	= POLL_ALL,
		.attempt	= true,
		.ours		= true,
	},
	[SMC_PHASE_SMC] = {
		.data		= { SMC_DATA_CONN, SMC_DATA_CONN },
		.poll_hides	= POLL_ALL,
		.ours		= true,
	},
	[SMC_PHASE_LATE] = {
		.data		= { SMC_DATA_WAIT, SMC_DATA_TCP },
		.poll_hides	= POLL_READ,
		.tells		= true,
	},
	[SMC_PHASE_TCP] = {
		.data		= { SMC_DATA_TCP, SMC_DATA_TCP },
	},
	[SMC_PHASE_DEAD] = {
		.data		= { SMC_DATA_TCP, SMC_DATA_TCP },
	},
};

/**
 * smc_sock_set_phase() - the only place that changes it
 * @smc: context of a locked socket, or of one that TCP destroys
 * @phase: the new one
 *
 * Release: a reader of the phase sees what was stored before.
 *
 * Context: any; the socket is locked, but for one that TCP destroys.
 */
void smc_sock_set_phase(struct smc_sock *smc, enum smc_phase phase)
{
	lockdep_assert(phase == SMC_PHASE_DEAD ||
		       lockdep_sock_is_held(smc->sk));
	smp_store_release(&smc->phase, phase);
}
