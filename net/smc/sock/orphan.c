// SPDX-License-Identifier: GPL-2.0
/*
 * An orphan: a connection whose program has closed it, and which still has
 * bytes to deliver.
 *
 * It is aborted if its peer takes nothing for net.smc.orphan_timeout_s.  One that
 * has been aborted has nothing to deliver.  It waits a little for the peer's
 * answer, after which its ring can serve the next connection.  TCP's own limits do
 * not count an orphan.  Before close() the same timer ends corking.
 *
 * Context: per function.  Tests: selftests/smc/sockclose.c.
 */
#include <net/sock.h>

#include "sock.h"
#include "stats.h"

/**
 * smc_orphan_end() - abort an orphan: its time is over, or there are too many
 * @conn: connection of a closed socket, the caller has a reference
 *
 * Context: any but an up-call.
 */
void smc_orphan_end(struct smc_conn *conn)
{
	struct smc_sock *smc = smc_of_conn(conn);

	if (!(READ_ONCE(conn->st_flags) & SMC_ST_CLOSE_SENT)) {
		smc_stats_inc(smc->sn, SMC_STAT_ORPHAN_ABORTED);
		WRITE_ONCE(conn->abort_reason, SMC_REASON_ORPHANED);
	}
	smc_conn_event(conn, SMC_EV_TIMEOUT, 0, false);
}

/**
 * smc_orphan_start_timer() - limit the time in which the peer takes nothing
 * @conn: connection of a closed socket, the caller has a reference
 *
 * Context: any.
 */
void smc_orphan_start_timer(struct smc_conn *conn)
{
	conn->orphan_pos = READ_ONCE(conn->sent_pos);
	smc_conn_start_timer(conn, &conn->timer, mod_timer,
			     jiffies + smc_orphan_time(conn));
}

/* Does the peer read, if slowly?  Or is the abort not sent yet? */
static bool makes_progress(const struct smc_conn *conn)
{
	/* a link that cannot send it ends soon */
	if (test_bit(SMC_CONN_WANT_ABORT, &conn->flags))
		return !smc_conn_last_sent(conn);
	return !(READ_ONCE(conn->st_flags) & SMC_ST_CLOSE_SENT) &&
	       READ_ONCE(conn->sent_pos) != conn->orphan_pos;
}

/* True: the orphan stays, and the timer has been started again. */
static bool gets_on(struct smc_conn *conn)
{
	if (!makes_progress(conn))
		return false;
	smc_orphan_start_timer(conn);
	return true;
}

/**
 * smc_orphan_timer() - end corking, or look at an orphan
 * @t: a connection's timer
 *
 * Context: softirq.
 */
void smc_orphan_timer(struct timer_list *t)
{
	struct smc_conn *conn = timer_container_of(conn, t, timer);

	/*
	 * If not, the socket may have another connection.  A timer that is
	 * pending again was started by close() while corking ended here.
	 */
	if (smc_conn_is_current(conn)) {
		/* the flag before the timer: pairs with close_conn() */
		if (!(smp_load_acquire(&conn->st_flags) & SMC_ST_RELEASED))
			smc_tx_uncork(conn);
		else if (!timer_pending(t) && !gets_on(conn))
			smc_orphan_end(conn);
	}
	smc_conn_put(conn);
}
