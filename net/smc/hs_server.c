// SPDX-License-Identifier: GPL-2.0
/*
 * The server's side of the handshake: Proposal in, Accept out, Confirm in
 * (RFC 7609 section 3.5, IBM's SMC version 2).
 *
 * From the Proposal and from what the transports offer on the route
 * smc_select() picks a variant.  A group with that peer is used if there is
 * one; if it is being set up by another handshake, this one waits for it, but
 * not longer than half of its own deadline: then it opens a group of its own.
 * A variant that cannot be set up is skipped and the next one is tried.
 *
 * Context: process, from a step: priv->step is held.
 * Test: selftests/smc/fallback*.sh
 */
#include "hs_priv.h"

static enum smc_reason send_accept(struct smc_hs_priv *priv)
{
	int rc;

	rc = smc_hs_fill_accept(priv, SMC_CLC_ACCEPT);
	if (rc)
		return smc_hs_errno_reason(rc, SMC_REASON_ERR_REGBUF);
	if (smc_hs_write(priv))
		return SMC_REASON_LOSTPEER;
	set_bit(SMC_HS_SENT_ACCEPT, &priv->bits);
	smc_hs_enter(priv, SMC_HS_CONFIRM,
		     max(SMC_HS_CONFIRM_MS, 3 * priv->span_ms));
	return SMC_REASON_OK;
}

static enum smc_reason open_group(struct smc_hs_priv *priv)
{
	struct smc_hs_data *data = priv->data;
	int rc;

	data->direct = true;
	if (data->choice.variant == SMC_VARIANT_RV2) {
		rc = smc_route_direct(&data->route, data->prop.v2.gid);
		if (rc < 0)
			return SMC_REASON_NOROUTE;
		data->direct = rc;
	}
	return smc_hs_create_group(priv, data->prop.peer_id);
}

static enum smc_reason first_contact(struct smc_hs_priv *priv)
{
	enum smc_reason why = open_group(priv);

	return why != SMC_REASON_OK ? why : send_accept(priv);
}

static enum smc_reason use_group(struct smc_hs_priv *priv,
				 struct smc_lgr *lgr)
{
	enum smc_reason why = smc_hs_join_group(priv, lgr);

	return why != SMC_REASON_OK ? why : send_accept(priv);
}

static struct smc_lgr *find_group(struct smc_hs_priv *priv)
{
	struct smc_hs_data *data = priv->data;
	enum smc_xport_id id = data->choice.mode;

	return smc_lgr_find(priv->hs->sn, smc_xport_get(id), SMC_SERV,
			    &data->path[id], &data->prop, NULL);
}

/*
 * @lgr is a group that is there, or NULL and the connection has joined its own.
 * Connections of a client that has just been started arrive together: the
 * first makes the group, the others find it.
 */
static enum smc_reason find_or_open(struct smc_hs_priv *priv,
				    struct smc_lgr **lgr)
{
	struct smc_hs_data *data = priv->data;
	struct smc_dev *dev = data->path[data->choice.mode].dev;
	enum smc_reason why = SMC_REASON_OK;

	*lgr = find_group(priv);
	if (*lgr)
		return SMC_REASON_OK;
	if (!smc_xport_get(data->choice.mode)->lgr_match)
		return open_group(priv);
	if (!dev)
		return SMC_REASON_NOSMCDEV;
	/* The path's reference may end with the new group. */
	if (!smc_dev_get(dev))
		return SMC_REASON_DEVGONE;
	mutex_lock(&dev->first_contact);
	*lgr = find_group(priv);
	if (!*lgr)
		why = open_group(priv);
	mutex_unlock(&dev->first_contact);
	smc_dev_put(dev);
	return why;
}

/* Set up what data->choice says: Accept sent, or a group is waited for. */
static enum smc_reason set_up(struct smc_hs_priv *priv)
{
	enum smc_reason why;
	struct smc_lgr *lgr;

	why = find_or_open(priv, &lgr);
	if (why != SMC_REASON_OK)
		return why;
	if (!lgr)
		return send_accept(priv);
	if (smc_hs_wait_settled(priv, lgr)) {
		priv->group = lgr;
		smc_hs_enter_until(priv, SMC_HS_GROUP, priv->limit -
				   msecs_to_jiffies(priv->span_ms / 2));
		return SMC_REASON_OK;
	}
	if (smc_lgr_settled(lgr) == SMC_REASON_OK)
		return use_group(priv, lgr);
	smc_lgr_leave(lgr);
	return first_contact(priv);
}

/* The device of a path that failed is not asked for again. */
static void forget(struct smc_hs_priv *priv)
{
	struct smc_select_local *local = &priv->data->local;

	priv->skip |= 1U << priv->data->choice.variant;
	if (priv->data->has_path[priv->data->choice.mode])
		return;
	if (priv->data->choice.mode == SMC_CLC_MODE_D) {
		local->d_v2 = false;
	} else {
		local->r_v1 = false;
		local->r_v2 = false;
	}
}

/* After @why try what else the client has offered, unless all is over. */
static enum smc_reason try_others(struct smc_hs_priv *priv,
				  enum smc_reason why)
{
	struct smc_hs_data *data = priv->data;

	while (why != SMC_REASON_OK && why != SMC_REASON_LOSTPEER) {
		if (priv->first_why == SMC_REASON_OK)
			priv->first_why = why;
		smc_hs_drop_group(priv, why);
		/* A connection can join one group in its life. */
		if (test_bit(SMC_CONN_DEAD, &priv->hs->conn->flags))
			return priv->first_why;
		forget(priv);
		if (smc_select(&data->local, &data->prop, priv->skip,
			       &data->choice) != SMC_REASON_OK)
			return priv->first_why;
		why = set_up(priv);
	}
	return why;
}

static enum smc_reason proposed(struct smc_hs_priv *priv)
{
	struct smc_hs_data *data = priv->data;
	enum smc_reason why;

	data->prop = data->msg.proposal;
	priv->version = data->msg.version;
	if (priv->hs->refuse != SMC_REASON_OK)
		return priv->hs->refuse;
	if (test_bit(SMC_HS_LIMITED, &priv->bits))
		return SMC_REASON_HSLIMIT;
	if (smc_hs_secured(priv->hs->inner->sk))
		return SMC_REASON_IPSEC;
	why = smc_hs_offers(priv);
	if (why != SMC_REASON_OK)
		return why;
	why = smc_select(&data->local, &data->prop, 0, &data->choice);
	if (why != SMC_REASON_OK)
		return why;
	return try_others(priv, set_up(priv));
}

/**
 * smc_hs_step_proposal() - waiting for the client's first message
 * @priv: handshake
 */
enum smc_reason smc_hs_step_proposal(struct smc_hs_priv *priv)
{
	enum smc_reason why;
	bool got;

	why = smc_hs_await(priv, SMC_CLC_PROPOSAL, SMC_REASON_SILENT, &got);
	return why != SMC_REASON_OK || !got ? why : proposed(priv);
}

/**
 * smc_hs_server_group() - waiting for a group that another handshake sets up
 * @priv: handshake; priv->group is the group
 */
enum smc_reason smc_hs_server_group(struct smc_hs_priv *priv)
{
	enum smc_reason why;

	why = smc_hs_look(priv);
	if (why != SMC_REASON_OK)
		return why;
	if (!smc_hs_settled(priv, &why)) {
		if (!smc_hs_expired(priv))
			return SMC_REASON_OK;
		why = SMC_REASON_TIMEOUT_CL;
	}
	smc_hs_stop_waiting(priv);
	if (why == SMC_REASON_OK)
		return try_others(priv, use_group(priv, priv->group));
	smc_hs_drop_group(priv, why);
	return try_others(priv, first_contact(priv));
}

/* The Confirm is in data->msg: learn from it. */
static enum smc_reason confirmed(struct smc_hs_priv *priv)
{
	bool first = test_bit(SMC_HS_FIRST, &priv->bits);
	struct smc_hs_data *data = priv->data;
	struct smc_conn *conn = priv->hs->conn;
	const struct smc_clc_accept *acc = &data->msg.accept;
	struct smc_lgr *lgr = conn->lgr;
	enum smc_reason why;
	int rc;

	why = smc_select_confirm(&data->choice, first, &data->msg);
	if (why != SMC_REASON_OK)
		return why;
	if (first && data->choice.version > 1) {
		smc_hs_group_learn(lgr, &acc->fce);
		if (data->choice.release)
			lgr->feature_mask = acc->fce.feature_mask;
	}
	rc = smc_conn_bind(conn, acc);
	if (rc)
		return smc_hs_errno_reason(rc, SMC_REASON_INTERR);
	if (first) {
		why = smc_hs_connect_group(priv, &data->prop, acc);
		if (why != SMC_REASON_OK)
			return why;
	}
	return smc_hs_confirm_link(priv);
}

/**
 * smc_hs_step_confirm() - waiting for the client's last message
 * @priv: handshake; the Accept has been sent
 */
enum smc_reason smc_hs_step_confirm(struct smc_hs_priv *priv)
{
	enum smc_reason why;
	bool got;

	why = smc_hs_await(priv, SMC_CLC_CONFIRM, SMC_REASON_NOCONFIRM, &got);
	return why != SMC_REASON_OK || !got ? why : confirmed(priv);
}
