// SPDX-License-Identifier: GPL-2.0
/*
 * The server's side of the handshake: Proposal in, Accept out, Confirm in
 * (RFC 7609 section 3.5, IBM's SMC version 2).
 *
 * smc_select() chooses a variant by the Proposal and the transports' paths.  A
 * group with the peer is used if there is one.  If another handshake is making
 * it, this one waits for it for at most half of its own deadline, and then
 * makes a group of its own.  If that group dies it looks again.  If a variant
 * cannot be set up the next one is tried.
 *
 * Context: process, from a step; server_start() and failed() as struct
 * smc_hs_role_ops says.
 * Test: selftests/smc/fallback*.sh
 */
#include <net/inet_sock.h>
#include <net/tcp_states.h>
#include "priv.h"

/*
 * Children in a listener's queue.  A connection over a limit of handshakes does
 * not wait behind so many: see sock/acceptq.c for what it costs.
 */
#define QUEUE_LONG	512

/* Nor does it wait in one of the last places: TCP would drop the next SYN. */
static bool has_to_settle(const struct smc_hs *hs)
{
	u32 len = hs->setup.queue_len, max = hs->setup.queue_max;

	return len >= QUEUE_LONG || len > max - max / 8;
}

/* A client that proposes and then is silent has a place in the queue, too. */
static unsigned int confirm_ms(const struct smc_hs *hs)
{
	if (smc_hs_crowded(hs))
		return READ_ONCE(hs->setup.sn->handshake_timeout_ms) / 4;
	return max(SMC_HS_CONFIRM_MS, 3 * hs->span_ms);
}

static enum smc_reason send_accept(struct smc_hs *hs)
{
	enum smc_reason why;
	bool filled;

	why = smc_hs_fill_accept(hs, SMC_CLC_ACCEPT, &filled);
	if (why != SMC_REASON_OK || !filled)
		return why;
	if (smc_hs_write(hs, SMC_HS_SENT_ACCEPT))
		return SMC_REASON_LOSTPEER;
	/* no other variant is tried: no device waits for the Confirm */
	smc_hs_paths_drop(hs);
	smc_hs_enter(hs, SMC_HS_CONFIRM, confirm_ms(hs));
	return SMC_REASON_OK;
}

static enum smc_reason make_group(struct smc_hs *hs,
				  const struct smc_lgr_key *key, bool needed,
				  struct smc_lgr **lgr)
{
	enum smc_reason why = smc_hs_check_way(hs, &hs->data->direct);

	return why ?: smc_hs_make_group(hs, key, needed, lgr);
}

static enum smc_reason server_use_group(struct smc_hs *hs,
					struct smc_lgr *lgr)
{
	enum smc_reason why = smc_hs_join_group(hs, lgr);

	return why ?: send_accept(hs);
}

static enum smc_reason server_first_contact(struct smc_hs *hs)
{
	struct smc_lgr *lgr;
	enum smc_reason why = make_group(hs, NULL, true, &lgr);

	return why ?: server_use_group(hs, lgr);
}

/*
 * Join a group of our own beside a crowded one.  False: there is none, and the
 * connection can still join the other.  Where it may have to wait for its rings no
 * other connection would use its group.
 */
static bool join_beside(struct smc_hs *hs)
{
	struct smc_lgr *lgr;

	return !hs->has_lane &&
	       make_group(hs, NULL, false, &lgr) == SMC_REASON_OK &&
	       smc_hs_join_group(hs, lgr) == SMC_REASON_OK;
}

/*
 * Set up data->choice with a group with the peer, or the namespace's without links,
 * one that exists or a new one: send the Accept, or wait for the group.
 */
static enum smc_reason set_up(struct smc_hs *hs)
{
	const struct smc_lgr_key key = smc_hs_group_key(hs);
	enum smc_reason why = SMC_REASON_OK;
	struct smc_lgr_seen seen;
	struct smc_lgr *lgr;

	lgr = smc_lgr_find(hs->setup.sn, &key, &seen);
	if (lgr && seen.crowded && join_beside(hs)) {
		smc_lgr_leave(lgr);
		return send_accept(hs);
	}
	if (!lgr)
		why = make_group(hs, &key, true, &lgr);
	if (why != SMC_REASON_OK)
		return why;
	/* without links there is nothing to wait for */
	if (test_bit(SMC_HS_FIRST, &hs->bits) ||
	    !smc_xport_has_links(lgr->xport))
		return server_use_group(hs, lgr);
	if (!smc_hs_await_group(hs, lgr, hs->limit -
				msecs_to_jiffies(hs->span_ms / 2)))
		return server_first_contact(hs);
	return hs->group ? SMC_REASON_OK : server_use_group(hs, lgr);
}

/* Do not try this variant again, nor the others of a path that was used up. */
static void forget(struct smc_hs *hs)
{
	struct smc_select_local *local = &hs->data->local;

	hs->skip |= 1U << hs->data->choice.variant;
	if (hs->data->path[hs->data->choice.mode].dev)
		return;
	if (hs->data->choice.mode == SMC_CLC_MODE_D) {
		local->d_v2 = false;
	} else {
		local->r_v1 = false;
		local->r_v2 = false;
	}
}

/* After @why try the other variants of the Proposal. */
static enum smc_reason try_others(struct smc_hs *hs,
				  enum smc_reason why)
{
	struct smc_hs_data *data = hs->data;

	while (why != SMC_REASON_OK && why != SMC_REASON_LOSTPEER) {
		if (hs->first_why == SMC_REASON_OK)
			hs->first_why = why;
		smc_hs_drop_group(hs, why);
		/* a connection cannot join a second group */
		if (!hs->conn)
			return hs->first_why;
		forget(hs);
		if (smc_select(&data->local, &data->prop, hs->skip,
			       &data->choice) != SMC_REASON_OK)
			return hs->first_why;
		why = set_up(hs);
	}
	return why;
}

static enum smc_reason proposed(struct smc_hs *hs)
{
	struct smc_hs_data *data = hs->data;
	enum smc_reason why;

	data->prop = data->msg.proposal;
	hs->version = data->msg.version;
	if (hs->setup.refuse != SMC_REASON_OK)
		return hs->setup.refuse;
	if (test_bit(SMC_HS_LIMITED, &hs->bits))
		return SMC_REASON_HSLIMIT;
	why = smc_hs_find_paths(hs);
	if (why != SMC_REASON_OK)
		return why;
	why = smc_select(&data->local, &data->prop, 0, &data->choice);
	if (why != SMC_REASON_OK)
		return why;
	return try_others(hs, set_up(hs));
}

/* SMC_HS_PROPOSAL: wait for the client's first message. */
static enum smc_reason step_proposal(struct smc_hs *hs)
{
	enum smc_reason why;
	bool got;

	why = smc_hs_await(hs, SMC_CLC_PROPOSAL, SMC_REASON_SILENT, &got);
	return why != SMC_REASON_OK || !got ? why : proposed(hs);
}

/* SMC_HS_GROUP: wait for hs->group, which another handshake makes. */
static enum smc_reason server_step_group(struct smc_hs *hs)
{
	bool settled;
	enum smc_reason why;

	why = smc_hs_look(hs);
	if (why != SMC_REASON_OK)
		return why;
	settled = smc_hs_settled(hs, &why);
	if (!settled) {
		if (!smc_hs_expired(hs))
			return SMC_REASON_OK;
		why = SMC_REASON_TIMEOUT_CL;
	}
	smc_hs_stop_waiting(hs);
	if (why == SMC_REASON_OK)
		return try_others(hs, server_use_group(hs, hs->group));
	smc_hs_drop_group(hs, why);
	/* of those that waited for a group that is dead one makes the next */
	return try_others(hs, settled ? set_up(hs) : server_first_contact(hs));
}

/* SMC_HS_RING: wait for the registration of our ring. */
static enum smc_reason server_step_ring(struct smc_hs *hs)
{
	enum smc_reason why = smc_hs_look(hs);

	return why ?: try_others(hs, send_accept(hs));
}

/* The Confirm is in data->msg. */
static enum smc_reason confirmed(struct smc_hs *hs)
{
	bool first = test_bit(SMC_HS_FIRST, &hs->bits);
	struct smc_hs_data *data = hs->data;
	struct smc_conn *conn = hs->conn;
	const struct smc_clc_accept *acc = &data->msg.accept;
	enum smc_reason why;
	int rc;

	why = smc_select_confirm(&data->local, &data->prop, &data->choice,
				 smc_hs_first_contact(hs), &data->msg);
	if (why != SMC_REASON_OK)
		return why;
	if (first && data->choice.version > 1)
		smc_hs_group_learn(hs, conn->lgr, &acc->fce);
	rc = smc_conn_attach(conn, acc);
	if (rc)
		return smc_hs_errno_reason(rc, SMC_REASON_INTERR);
	if (first) {
		why = smc_hs_connect_group(hs, &data->prop, acc);
		if (why != SMC_REASON_OK)
			return why;
	}
	return smc_hs_confirm_link(hs);
}

/* SMC_HS_CONFIRM: the Accept is sent, wait for the client's last message. */
static enum smc_reason step_confirm(struct smc_hs *hs)
{
	enum smc_reason why;
	bool got;

	why = smc_hs_await(hs, SMC_CLC_CONFIRM, SMC_REASON_NOCONFIRM, &got);
	return why != SMC_REASON_OK || !got ? why : confirmed(hs);
}

/* After a FIN only, the stream can still be read and written. */
static bool reset_by_peer(const struct smc_hs *hs)
{
	return inet_sk_state_load(hs->setup.sk) == TCP_CLOSE;
}

static enum smc_hs_verdict server_conclude(struct smc_hs *hs,
					   enum smc_reason why, bool in_use)
{
	if (why == SMC_REASON_PEERDECL)
		return SMC_HS_V_TCP;
	if (why == SMC_REASON_HSRESET)
		return reset_by_peer(hs) ? SMC_HS_V_ERR : SMC_HS_V_TCP;
	/* later the Proposal has been taken from the stream */
	if (why == SMC_REASON_NOTCLC && hs->state == SMC_HS_PROPOSAL)
		return SMC_HS_V_TCP;
	if (why == SMC_REASON_SILENT) {
		/* whatever it proposes will be declined for this (late.c) */
		if (test_bit(SMC_HS_LIMITED, &hs->bits))
			hs->why = SMC_REASON_HSLIMIT;
		return SMC_HS_V_LATE;
	}
	if (smc_hs_incompatible(why) || in_use)
		return SMC_HS_V_ERR;
	return smc_hs_write_decline(hs, why) ? SMC_HS_V_ERR : SMC_HS_V_TCP;
}

/*
 * A client that says nothing has a place in the listener's queue.  With TCP the
 * program would have accepted it: while places are few it soon can.
 *
 * One that is over a limit is declined whatever it proposes.  Its Proposal comes
 * right behind its ACK, as a rule.  It is waited for, but not for long, because
 * a server that speaks first leaves no place for the Decline (late.c).
 */
static void server_start(struct smc_hs *hs)
{
	unsigned int ms = READ_ONCE(hs->setup.sn->handshake_timeout_ms);

	if (test_bit(SMC_HS_LIMITED, &hs->bits) && !hs->setup.connects)
		ms = has_to_settle(hs) ? 0 : ms / 16;
	else if (smc_hs_crowded(hs))
		ms /= 4;
	else
		ms = hs->span_ms;
	smc_hs_set_deadline(hs, jiffies + msecs_to_jiffies(ms));
}

/* The peer must not take this for a regular end. */
static void failed(struct smc_hs *hs)
{
	smc_hs_tcp_reset(hs->setup.sk);
}

const struct smc_hs_role_ops smc_hs_server = {
	.steps = {
		[SMC_HS_PROPOSAL] = {
			"proposal", step_proposal, SMC_REASON_LOSTPEER,
			.charges = true },
		[SMC_HS_GROUP] = {
			"group", server_step_group, SMC_REASON_LOSTPEER,
			.charges = true },
		[SMC_HS_RING] = {
			"ring", server_step_ring, SMC_REASON_LOSTPEER },
		[SMC_HS_CONFIRM] = {
			"confirm", step_confirm, SMC_REASON_LOSTPEER },
		[SMC_HS_LINK] = {
			"link", smc_hs_step_link, SMC_REASON_LOSTPEER },
		[SMC_HS_CROSSING] = {
			"crossing", smc_hs_step_crossing, SMC_REASON_LOSTPEER },
		[SMC_HS_ATTACHED] = { .verdict = SMC_HS_V_SMC },
	},
	.first = SMC_HS_PROPOSAL,
	.start = server_start,
	.conclude = server_conclude,
	.failed = failed,
	.stat_err = SMC_STAT_HS_SRV_ERR,
	.stat_tcp = SMC_STAT_HS_SRV_TCP,
	.stat_smc = {
		[SMC_XPORT_R] = SMC_STAT_HS_SRV_SMCR,
		[SMC_XPORT_D] = SMC_STAT_HS_SRV_SMCD,
	},
	.tech_v1 = SMC_TECH_SRV_V1,
	.tech_v2 = SMC_TECH_SRV_V2,
};
