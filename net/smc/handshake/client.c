// SPDX-License-Identifier: GPL-2.0
/*
 * The client's side of the handshake: Proposal out, Accept in, Confirm out
 * (RFC 7609 section 3.5, IBM's SMC version 2).
 *
 * The Proposal offers everything that the transports can do on the route.  The
 * Accept names one, and says whether the server has made a group for this
 * connection (then so does the client) or uses one that the client has, too.
 *
 * Until the Accept the peer may be without SMC: a middlebox may echo or alter
 * TCP options.  If the peer is silent, sends something else or closes, the TCP
 * socket connects again without the option, inside the same connect() call, and
 * the peer is remembered for a while (cache.c).  But a client that can propose
 * nothing declines and goes on: a server with SMC waits for that message, and
 * one without SMC cannot be told from it.
 *
 * Context: process, from a step, unless a function says otherwise.
 * Test: selftests/smc/fallback*.sh
 */
#include <linux/net.h>
#include <linux/tcp.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include "addr.h"
#include "priv.h"

static void build_proposal(struct smc_hs *hs)
{
	struct smc_hs_data *data = hs->data;
	const struct smc_path *r = &data->path[SMC_XPORT_R];
	const struct smc_path *d = &data->path[SMC_XPORT_D];
	struct smc_select_local *local = &data->local;
	const struct smc_prefixes *pfx = &local->prefixes;
	struct smc_clc_proposal *prop = &data->prop;
	struct smc_clc_v2ext *v2 = &prop->v2;

	if (!pfx->has_v4 && !pfx->n_v6)
		local->r_v1 = false;
	prop->offer_v1 = smc_offer_make(local->r_v1, false);
	prop->offer_v2 = smc_offer_make(local->r_v2, local->d_v2);
	prop->has_ism = true;
	/* where GIDs are shared it also tells the senders of version 2 apart */
	if (local->r_v1 || local->r_v2)
		smc_peer_id_get(hs->setup.sn, prop->peer_id);
	if (local->r_v1) {
		memcpy(prop->gid, r->gid_v1, SMC_GID_LEN);
		memcpy(prop->mac, r->mac, SMC_MAC_LEN);
		prop->v4_net = pfx->v4_net;
		prop->v4_len = pfx->v4_len;
		prop->n_v6 = pfx->n_v6;
		memcpy(prop->v6, pfx->v6, sizeof(prop->v6));
	}
	if (prop->offer_v2 == SMC_OFFER_NONE)
		return;
	v2->release = SMC_RELEASE;
	v2->feature_mask = SMC_FEATURE_EMU_ISM;
	v2->n_eids = local->n_eids;
	memcpy(v2->eids, local->eids, sizeof(local->eids));
	if (local->r_v2) {
		if (local->r_imm)
			v2->feature_mask |= SMC_FEATURE_IMM;
		memcpy(v2->gid, r->gid, SMC_GID_LEN);
		v2->max_conns = local->max_conns;
		v2->max_links = local->max_links;
	}
	if (local->d_v2) {
		v2->has_d = true;
		v2->ism[v2->n_ism].gid = d->ism_gid;
		v2->ism[v2->n_ism++].chid = d->chid;
		if (d->chid >= SMC_CHID_EMULATED) {
			v2->ism[v2->n_ism].gid = d->ism_gid_ext;
			v2->ism[v2->n_ism++].chid = d->chid;
		}
	}
}

static enum smc_reason propose(struct smc_hs *hs)
{
	struct smc_hs_data *data = hs->data;
	struct smc_clc_proposal *prop = &data->prop;
	enum smc_reason why;
	bool wanted_v1;

	if (test_bit(SMC_HS_LIMITED, &hs->bits))
		return SMC_REASON_HSLIMIT;
	why = smc_hs_find_paths(hs);
	if (why != SMC_REASON_OK)
		return why;
	wanted_v1 = data->local.r_v1;
	build_proposal(hs);
	if (prop->offer_v1 == SMC_OFFER_NONE &&
	    prop->offer_v2 == SMC_OFFER_NONE)
		return wanted_v1 ? SMC_REASON_CNFERR : SMC_REASON_NOSMCDEV;
	memset(&data->msg, 0, sizeof(data->msg));
	data->msg.type = SMC_CLC_PROPOSAL;
	data->msg.version = 2;
	data->msg.proposal = *prop;
	if (smc_hs_write(hs, -1))
		return SMC_REASON_HSRESET;
	smc_hs_enter_until(hs, SMC_HS_ACCEPT, hs->limit);
	return SMC_REASON_OK;
}

/* TCP lets a socket connect to itself. */
static bool to_itself(const struct sock *tcp)
{
	struct in6_addr own, peer;

	smc_addr_own(&own, tcp);
	smc_addr_peer(&peer, tcp);
	return ipv6_addr_equal(&own, &peer) &&
	       inet_sk(tcp)->inet_sport == inet_sk(tcp)->inet_dport;
}

/**
 * smc_hs_agreed() - is there to be a handshake?
 * @sk: client, TCP is established
 *
 * Context: any, the socket is locked.
 * Return: both ends have offered SMC.
 */
bool smc_hs_agreed(const struct sock *sk)
{
	lockdep_assert(lockdep_sock_is_held(sk));
	return smc_synopt_peer_has(sk) && !to_itself(sk);
}

/* SMC_HS_OPEN: TCP is established, or was. */
static enum smc_reason step_open(struct smc_hs *hs)
{
	int err = 0, rc;

	rc = smc_hs_tcp_up(hs, &err);
	if (!rc || rc == -EAGAIN)
		return SMC_REASON_OK;
	if (rc < 0) {
		/* these two: TCP was established, and the peer closed it */
		if (err != ECONNRESET && err != EPIPE)
			hs->tcp_failed = true;
		return SMC_REASON_HSRESET;
	}
	smc_hs_start_clock(hs);
	/* let_go_late() may have given the place back */
	if (!hs->account && !test_bit(SMC_HS_LIMITED, &hs->bits))
		smc_hs_count(hs);
	return propose(hs);
}

static enum smc_reason send_confirm(struct smc_hs *hs)
{
	struct smc_conn *conn = hs->conn;
	enum smc_reason why;
	bool filled;
	int rc;

	why = smc_hs_fill_accept(hs, SMC_CLC_CONFIRM, &filled);
	if (why != SMC_REASON_OK || !filled)
		return why;
	/* first: the server may write to us when it has the Confirm */
	rc = smc_conn_attach(conn, &hs->data->peer);
	if (rc)
		return smc_hs_errno_reason(rc, SMC_REASON_MEM);
	if (smc_hs_write(hs, SMC_HS_SENT_CONFIRM))
		return SMC_REASON_LOSTPEER;
	smc_hs_paths_drop(hs);
	return smc_hs_confirm_link(hs);
}

/* SMC-R version 2: both sides must agree on a direct or an indirect way. */
static enum smc_reason agree_on_way(struct smc_hs *hs)
{
	struct smc_hs_data *data = hs->data;
	enum smc_reason why;
	bool direct;

	data->direct = true;
	why = smc_hs_check_way(hs, &direct);
	if (why != SMC_REASON_OK ||
	    data->choice.variant != SMC_VARIANT_RV2 || data->peer.fce.direct)
		return why;
	if (direct)
		return SMC_REASON_NOINDIRECT;
	data->direct = false;
	return SMC_REASON_OK;
}

static enum smc_reason client_first_contact(struct smc_hs *hs)
{
	struct smc_hs_data *data = hs->data;
	enum smc_reason why;
	struct smc_lgr *lgr;

	why = agree_on_way(hs);
	if (why != SMC_REASON_OK)
		return why;
	why = smc_hs_make_group(hs, NULL, true, &lgr);
	why = why ?: smc_hs_join_group(hs, lgr);
	if (why != SMC_REASON_OK)
		return why;
	smc_hs_group_learn(hs, lgr, &data->peer.fce);
	why = smc_hs_connect_group(hs, NULL, &data->peer);
	return why ?: send_confirm(hs);
}

static enum smc_reason client_use_group(struct smc_hs *hs,
					struct smc_lgr *lgr)
{
	enum smc_reason why = smc_hs_join_group(hs, lgr);

	return why ?: send_confirm(hs);
}

/*
 * The namespace's group without links, made if there is none.  The peer does
 * not share it: each contact is a first contact.
 */
static enum smc_reason client_shared_group(struct smc_hs *hs)
{
	const struct smc_lgr_key key = smc_hs_group_key(hs);
	enum smc_reason why = SMC_REASON_OK;
	struct smc_lgr_seen seen;
	struct smc_lgr *lgr;

	if (!hs->data->peer.first_contact)
		return SMC_REASON_SYNCERR;
	lgr = smc_lgr_find(hs->setup.sn, &key, &seen);
	if (!lgr)
		why = smc_hs_make_group(hs, &key, true, &lgr);
	return why ?: client_use_group(hs, lgr);
}

static enum smc_reason next_contact(struct smc_hs *hs)
{
	const struct smc_lgr_key key = smc_hs_group_key(hs);
	struct smc_lgr_seen seen;
	struct smc_lgr *lgr;

	lgr = smc_lgr_find(hs->setup.sn, &key, &seen);
	if (!lgr)
		return seen.others ? SMC_REASON_OTHERHOST : SMC_REASON_SYNCERR;
	if (READ_ONCE(lgr->stalled)) {
		smc_lgr_leave(lgr);
		return SMC_REASON_LINK_STUCK;
	}
	/* the server may have confirmed the group earlier than we */
	if (!smc_hs_await_group(hs, lgr, hs->limit))
		return SMC_REASON_SYNCERR;
	return hs->group ? SMC_REASON_OK : client_use_group(hs, lgr);
}

/* SMC_HS_ACCEPT: the Proposal is sent, wait for the answer. */
static enum smc_reason step_accept(struct smc_hs *hs)
{
	struct smc_hs_data *data = hs->data;
	enum smc_reason why;
	bool got;

	why = smc_hs_await(hs, SMC_CLC_ACCEPT, SMC_REASON_SILENT, &got);
	if (why != SMC_REASON_OK || !got)
		return why;
	why = smc_select_accept(&data->local, &data->prop, &data->msg,
				&data->choice);
	if (why != SMC_REASON_OK)
		return why;
	hs->version = data->msg.version;
	data->peer = data->msg.accept;
	if (!smc_xport_has_links(smc_xport_get(data->choice.mode)))
		return client_shared_group(hs);
	return data->peer.first_contact ? client_first_contact(hs) :
					  next_contact(hs);
}

/* SMC_HS_GROUP: wait for hs->group, which is ACTIVE at the server. */
static enum smc_reason client_step_group(struct smc_hs *hs)
{
	enum smc_reason why;

	if (!smc_hs_settled(hs, &why)) {
		why = smc_hs_look(hs);
		if (why != SMC_REASON_OK)
			return why;
		return smc_hs_expired(hs) ? SMC_REASON_TIMEOUT_CL :
					      SMC_REASON_OK;
	}
	smc_hs_stop_waiting(hs);
	if (why != SMC_REASON_OK)
		return SMC_REASON_SYNCERR;
	return client_use_group(hs, hs->group);
}

/* SMC_HS_RING: wait for the registration of our ring. */
static enum smc_reason client_step_ring(struct smc_hs *hs)
{
	enum smc_reason why = smc_hs_look(hs);

	return why ?: send_confirm(hs);
}

/*
 * Did the peer not speak CLC as it should?  A server that has been heard and went
 * away (LOSTPEER), or did not wait for our Decline, may have been restarted.
 */
static bool spoke_badly(const struct smc_hs *hs)
{
	return smc_hs_incompatible(hs->why) && hs->why != SMC_REASON_LOSTPEER;
}

/* SMC_HS_REOPEN: wait for TCP to be established without the option. */
static enum smc_reason step_reopen(struct smc_hs *hs)
{
	int err, rc = 0;

	if (!test_bit(SMC_HS_REOPENED, &hs->bits)) {
		rc = smc_hs_connect_again(hs);
		if (rc == -EAGAIN)
			return SMC_REASON_OK;
		set_bit(SMC_HS_REOPENED, &hs->bits);
	}
	rc = rc ?: smc_hs_tcp_up(hs, &err);
	if (!rc || rc == -EAGAIN)
		return SMC_REASON_OK;
	if (rc < 0) {
		hs->tcp_failed = true;
		return hs->why;
	}
	/*
	 * Not earlier: a server that is being restarted refuses this attempt,
	 * and must not be remembered.
	 */
	if (spoke_badly(hs))
		smc_hs_remember(hs->setup.sk, &hs->setup.addr);
	smc_hs_enter_idle(hs, SMC_HS_RECONNECTED);
	return SMC_REASON_OK;
}

/*
 * If the peer finds no common device because SMC-R was not offered, the reason
 * for that is more useful than the peer's: an administrator can remove it.
 */
static enum smc_reason why_declined(const struct smc_hs *hs)
{
	const struct smc_hs_data *data = hs->data;

	if (hs->peer_diagnosis >= SMC_REASON_NOSMCDEV &&
	    hs->peer_diagnosis <= SMC_REASON_NOSMCD2DEV &&
	    !data->path[SMC_XPORT_R].dev &&
	    data->local.r_why != SMC_REASON_OK)
		return data->local.r_why;
	return SMC_REASON_PEERDECL;
}

/* The stream cannot be used: connect again as plain TCP. */
static enum smc_hs_verdict reopen(struct smc_hs *hs)
{
	/* not for the new connection */
	hs->data->out_len = 0;
	/*
	 * TCP may take minutes: neither the removal of a device nor the
	 * handshakes of others must wait for it
	 */
	smc_hs_paths_drop(hs);
	smc_hs_uncount(hs);
	smc_stats_inc(hs->setup.sn, SMC_STAT_HS_RECONNECT);
	smc_hs_enter_idle(hs, SMC_HS_REOPEN);
	return SMC_HS_V_GO_ON;
}

static enum smc_hs_verdict client_conclude(struct smc_hs *hs,
					   enum smc_reason why, bool in_use)
{
	if (hs->tcp_failed)
		return SMC_HS_V_ERR;
	/* also if a Decline for another connection has ended the group */
	if (in_use)
		return reopen(hs);
	if (why == SMC_REASON_PEERDECL) {
		hs->why = why_declined(hs);
		return SMC_HS_V_TCP;
	}
	if (!smc_hs_incompatible(why) && !smc_hs_write_decline(hs, why))
		return SMC_HS_V_TCP;
	return reopen(hs);
}

const struct smc_hs_role_ops smc_hs_client = {
	.steps = {
		[SMC_HS_OPEN] = {
			"open", step_open, SMC_REASON_LOSTPEER, true },
		/* half of the Proposal may be in the stream */
		[SMC_HS_ACCEPT] = {
			"accept", step_accept, SMC_REASON_HSRESET,
			.charges = true },
		[SMC_HS_GROUP] = {
			"group", client_step_group, SMC_REASON_LOSTPEER,
			.charges = true },
		[SMC_HS_RING] = {
			"ring", client_step_ring, SMC_REASON_LOSTPEER },
		[SMC_HS_LINK] = {
			"link", smc_hs_step_link, SMC_REASON_LOSTPEER },
		[SMC_HS_CROSSING] = {
			"crossing", smc_hs_step_crossing, SMC_REASON_LOSTPEER },
		[SMC_HS_REOPEN] = {
			"reopen", step_reopen, SMC_REASON_LOSTPEER, true },
		[SMC_HS_ATTACHED] = {
			"attached", NULL, SMC_REASON_LOSTPEER,
			.verdict = SMC_HS_V_SMC },
		[SMC_HS_RECONNECTED] = { .verdict = SMC_HS_V_TCP },
	},
	.first = SMC_HS_OPEN,
	.conclude = client_conclude,
	/* half of the Decline may be in the stream */
	.unsent = reopen,
	.stat_err = SMC_STAT_HS_CLNT_ERR,
	.stat_tcp = SMC_STAT_HS_CLNT_TCP,
	.stat_smc = {
		[SMC_XPORT_R] = SMC_STAT_HS_CLNT_SMCR,
		[SMC_XPORT_D] = SMC_STAT_HS_CLNT_SMCD,
	},
	.tech_v1 = SMC_TECH_CLNT_V1,
	.tech_v2 = SMC_TECH_CLNT_V2,
};
