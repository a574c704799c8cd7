// SPDX-License-Identifier: GPL-2.0
/*
 * How a handshake ends.
 *
 * smc_hs_conclude() and the conclude() of the role decide what follows from a
 * reason: a Decline and TCP, TCP at once, connecting again without the option
 * (client), or an error (RFC 7609 section 3.5.4 and appendix C; where the RFC
 * lets the connection fail before SMC is used, the program gets TCP here).
 *
 * Context: process, from a step, no lock held, unless a function says
 * otherwise.
 * Test: selftests/smc/fallback*.sh
 */
#include "priv.h"

/**
 * smc_hs_incompatible() - true if the TCP stream cannot be used
 * @why: reason
 *
 * It has CLC bytes in it, or the peer may have begun to use SMC.
 */
bool smc_hs_incompatible(enum smc_reason why)
{
	switch (why) {
	case SMC_REASON_SILENT:
	case SMC_REASON_NOTCLC:
	case SMC_REASON_HSRESET:
	case SMC_REASON_MALFORMED:
	case SMC_REASON_WRONGMSG:
	case SMC_REASON_MISMATCH:
	case SMC_REASON_NOCONFIRM:
	case SMC_REASON_LOSTPEER:
		return true;
	default:
		return false;
	}
}

/*
 * Is the link being confirmed, or has the peer just ended it?  Its Decline, which
 * says why, may come after its DELETE LINK.
 */
static bool link_open(const struct smc_hs *hs)
{
	return hs->state == SMC_HS_LINK || (hs->state == SMC_HS_CROSSING &&
					    hs->why == SMC_REASON_LINK_PEER);
}

/*
 * Was the new link not confirmed because nothing came over it?  A peer that has
 * closed the stream may have had no reason to confirm it.
 */
static bool went_unanswered(const struct smc_hs *hs, enum smc_reason why)
{
	if (!link_open(hs))
		return false;
	switch (why) {
	case SMC_REASON_PEERDECL:
		return hs->peer_diagnosis == SMC_REASON_TIMEOUT_CL;
	case SMC_REASON_TIMEOUT_CL:
	case SMC_REASON_LINK_RETRY:
	case SMC_REASON_LINK_QUEUE:	/* some devices do not say more */
		return !smc_hs_tcp_closed(hs->setup.sk);
	default:
		return false;
	}
}

/* Not MISMATCH after the peer has closed: its ring was valid. */
static bool breaks_protocol(const struct smc_hs *hs, enum smc_reason why)
{
	return why == SMC_REASON_MALFORMED || why == SMC_REASON_WRONGMSG ||
	       why == SMC_REASON_BADPORT ||
	       (why == SMC_REASON_MISMATCH && !smc_hs_tcp_closed(hs->setup.sk));
}

/*
 * May the peer use SMC by now, and read no Decline?  It may if our Accept or
 * Confirm was for an existing group or for shared memory.  In CROSSING it was for
 * a group of our own, which has been left.
 */
static bool is_in_use(const struct smc_hs *hs)
{
	return (test_bit(SMC_HS_SENT_ACCEPT, &hs->bits) ||
		test_bit(SMC_HS_SENT_CONFIRM, &hs->bits)) &&
	       !test_bit(SMC_HS_FIRST, &hs->bits) &&
	       hs->state != SMC_HS_CROSSING;
}

/**
 * smc_hs_conclude() - decide how a handshake without SMC ends
 * @hs: handshake
 * @why: what a step returned, not SMC_REASON_OK
 *
 * Leaves the group, writes a Decline if the peer needs one.
 *
 * Return: the verdict; or SMC_HS_V_GO_ON and another state.
 */
enum smc_hs_verdict smc_hs_conclude(struct smc_hs *hs,
				    enum smc_reason why)
{
	bool in_use = is_in_use(hs);
	enum smc_hs_verdict v;

	/* the same reason again: connecting again has failed, too */
	if (breaks_protocol(hs, why) && why != hs->why)
		smc_stats_inc(hs->setup.sn, SMC_STAT_CLC_MALFORMED);
	if (went_unanswered(hs, why))
		smc_hs_path_remember(hs);
	smc_hs_drop_group(hs, why);
	if (hs->state == SMC_HS_LINK && !smc_hs_incompatible(why) &&
	    why != SMC_REASON_PEERDECL) {
		/* the peer may have sent a Decline, too */
		hs->why = why;
		smc_hs_enter(hs, SMC_HS_CROSSING, SMC_HS_CROSSING_MS);
		return SMC_HS_V_GO_ON;
	}
	hs->why = why;
	v = hs->ops->conclude(hs, why, in_use);
	if (v == SMC_HS_V_TCP && why != SMC_REASON_PEERDECL &&
	    hs->state == SMC_HS_CROSSING) {
		set_bit(SMC_HS_LATE_DECLINE, &hs->bits);
		v = SMC_HS_V_LATE;
	}
	return v;
}

/**
 * smc_hs_step_crossing() - wait for a Decline of the peer before sending ours
 * @hs: handshake; hs->why is our reason
 *
 * Return: as smc_hs_step.run.
 */
enum smc_reason smc_hs_step_crossing(struct smc_hs *hs)
{
	enum smc_reason why = smc_hs_look(hs);

	if (why != SMC_REASON_OK)
		return why;
	/* put_off: a system call owned the socket, look again */
	if (!smc_hs_expired(hs) || READ_ONCE(hs->put_off))
		return SMC_REASON_OK;
	return hs->why;
}

/**
 * smc_hs_count_end() - count the outcome
 * @hs: handshake; SMC: still with its connection
 * @outcome: outcome
 *
 * Context: any.
 */
void smc_hs_count_end(struct smc_hs *hs, enum smc_hs_outcome outcome)
{
	const struct smc_hs_role_ops *ops = hs->ops;
	enum smc_xport_id id;

	if (outcome == SMC_HS_ERR) {
		smc_stats_inc(hs->setup.sn, ops->stat_err);
	} else if (outcome == SMC_HS_TCP) {
		smc_stats_inc(hs->setup.sn, ops->stat_tcp);
	} else {
		id = hs->conn->xport->id;
		smc_stats_inc(hs->setup.sn, ops->stat_smc[id]);
		smc_tech_inc(hs->conn->tech, hs->conn->lgr->version > 1 ?
			     ops->tech_v2 : ops->tech_v1);
	}
}

/**
 * smc_hs_set_result() - turn a verdict into a result
 * @hs: handshake
 * @v: verdict
 * @res: filled in; the reference of its connection is the handshake's
 *
 * Context: any.
 */
void smc_hs_set_result(const struct smc_hs *hs, enum smc_hs_verdict v,
		       struct smc_hs_result *res)
{
	memset(res, 0, sizeof(*res));
	if (v == SMC_HS_V_SMC) {
		res->outcome = SMC_HS_SMC;
		res->conn = hs->conn;
		return;
	}
	res->outcome = v == SMC_HS_V_ERR ? SMC_HS_ERR : SMC_HS_TCP;
	res->holds_back = v == SMC_HS_V_LATE;
	res->reason = hs->why;
	res->peer_diagnosis = hs->peer_diagnosis;
}
