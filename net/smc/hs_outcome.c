// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of a handshake that will not become SMC.
 *
 * smc_hs_conclude() is the one place that knows what follows from a reason: a
 * Decline and TCP, TCP at once, the client connecting again without the
 * option, or an error (RFC 7609 section 3.5.4 and appendix C; where the RFC
 * lets the connection fail before SMC has been used, the program gets a TCP
 * connection all the same).
 *
 * Context: process, from a step.
 * Test: selftests/smc/fallback*.sh
 */
#include <net/inet_sock.h>
#include <net/tcp_states.h>
#include "hs_priv.h"

/* The TCP stream cannot be given to the program: what was ours is in it. */
static bool spoilt(enum smc_reason why)
{
	switch (why) {
	case SMC_REASON_SILENT:
	case SMC_REASON_NOTCLC:
	case SMC_REASON_SPOILT_RESET:
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
 * After our Accept: does the client still wait, so that it reads a Decline?
 * Once it has sent a Confirm for an existing group or for shared memory it has
 * begun to use SMC.
 */
static bool client_waits(const struct smc_hs *hs, bool first)
{
	if (!test_bit(SMC_HS_SENT_ACCEPT, &hs->bits) ||
	    hs->state == SMC_HS_CROSSING)
		return true;
	return first && hs->data->choice.mode == SMC_CLC_MODE_R;
}

/* A stream that ended with FIN can still be read and written. */
static bool reset_by_peer(const struct smc_hs *hs)
{
	return inet_sk_state_load(hs->sk) == TCP_CLOSE;
}

static enum smc_hs_verdict conclude_server(struct smc_hs *hs,
					   enum smc_reason why, bool first)
{
	if (why == SMC_REASON_PEERDECL)
		return SMC_HS_V_TCP;
	if (why == SMC_REASON_SPOILT_RESET)
		return reset_by_peer(hs) ? SMC_HS_V_ERR : SMC_HS_V_TCP;
	if (why == SMC_REASON_NOTCLC &&
	    !test_bit(SMC_HS_SENT_ACCEPT, &hs->bits))
		return SMC_HS_V_TCP;
	if (why == SMC_REASON_SILENT)
		return SMC_HS_V_LATE;
	if (spoilt(why) || !client_waits(hs, first))
		return SMC_HS_V_ERR;
	return smc_hs_write_decline(hs, why) ? SMC_HS_V_ERR : SMC_HS_V_TCP;
}

/*
 * The peer found no device in common because nothing but the loopback device
 * was offered, which serves one host: what kept SMC-R out of the Proposal is
 * the reason that an administrator can remove.
 */
static enum smc_reason why_declined(const struct smc_hs *hs)
{
	const struct smc_hs_data *data = hs->data;

	if (hs->peer_diagnosis >= SMC_REASON_NOSMCDEV &&
	    hs->peer_diagnosis <= SMC_REASON_NOSMCD2DEV &&
	    !data->has_path[SMC_XPORT_R] &&
	    data->local.r_why != SMC_REASON_OK)
		return data->local.r_why;
	return SMC_REASON_PEERDECL;
}

/**
 * smc_hs_reopen() - client: the stream is spoilt, connect again as plain TCP
 * @hs: handshake
 */
void smc_hs_reopen(struct smc_hs *hs)
{
	/* nor is a message for the old one to leave */
	hs->data->out_len = 0;
	smc_stats_inc(hs->sn, SMC_STAT_HS_RECONNECT);
	smc_hs_enter(hs, SMC_HS_REOPEN, 0);
}

static enum smc_hs_verdict conclude_client(struct smc_hs *hs,
					   enum smc_reason why)
{
	if (hs->err)
		return SMC_HS_V_ERR;
	if (why == SMC_REASON_PEERDECL)
		hs->why = why_declined(hs);
	if (why == SMC_REASON_PEERDECL || why == SMC_REASON_PEERNOSMC)
		return SMC_HS_V_TCP;
	if (!spoilt(why) && !smc_hs_write_decline(hs, why))
		return SMC_HS_V_TCP;
	smc_hs_reopen(hs);
	return SMC_HS_V_GO_ON;
}

/**
 * smc_hs_conclude() - this will not become SMC: what becomes of it?
 * @hs: handshake
 * @why: what a step returned, not SMC_REASON_OK
 *
 * Gives back the place in the group, tells the peer if it has to be told.
 *
 * Return: how the handshake ends; or SMC_HS_V_GO_ON and another state.
 */
enum smc_hs_verdict smc_hs_conclude(struct smc_hs *hs,
				    enum smc_reason why)
{
	bool first = test_bit(SMC_HS_FIRST, &hs->bits);
	enum smc_hs_verdict v;

	/* A ring that is gone together with the peer was named rightly. */
	if (why == SMC_REASON_MALFORMED || why == SMC_REASON_WRONGMSG ||
	    (why == SMC_REASON_MISMATCH && !smc_hs_tcp_closed(hs->sk)))
		smc_stats_inc(hs->sn, SMC_STAT_CLC_MALFORMED);
	smc_hs_drop_group(hs, why);
	if (hs->state == SMC_HS_LINK && !spoilt(why) &&
	    why != SMC_REASON_PEERDECL) {
		/* The peer may have declined at the same time. */
		hs->why = why;
		set_bit(SMC_HS_LOOKED, &hs->bits);
		smc_hs_enter(hs, SMC_HS_CROSSING, SMC_HS_CROSSING_MS);
		return SMC_HS_V_GO_ON;
	}
	hs->why = why;
	if (hs->role == SMC_SERV)
		v = conclude_server(hs, why, first);
	else
		v = conclude_client(hs, why);
	if (v == SMC_HS_V_TCP && why != SMC_REASON_PEERDECL &&
	    test_bit(SMC_HS_LOOKED, &hs->bits)) {
		set_bit(SMC_HS_LATE_DECLINE, &hs->bits);
		v = SMC_HS_V_LATE;
	}
	return v;
}
