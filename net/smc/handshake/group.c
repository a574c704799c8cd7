// SPDX-License-Identifier: GPL-2.0
/*
 * The link group of a handshake: paths, creating or joining a group, its first
 * link, leaving it.
 *
 * Context: process, from a step, no lock held.
 * Test: selftests/smc/fallback*.sh
 */
#include <linux/build_bug.h>
#include <linux/netdevice.h>
#include "priv.h"
#include "ueid.h"

/* One number of a transport: in CLC messages, in tables, as a bit. */
static_assert((int)SMC_CLC_MODE_R == (int)SMC_XPORT_R);
static_assert((int)SMC_CLC_MODE_D == (int)SMC_XPORT_D);
static_assert(SMC_USE_SMCR == 1U << SMC_XPORT_R);
static_assert(SMC_USE_SMCD == 1U << SMC_XPORT_D);

/* Server: the GIDs of both ends are of the family of the client's.  0: any. */
static sa_family_t gid_family(const struct smc_hs *hs)
{
	const struct smc_clc_proposal *prop = &hs->data->prop;

	if (hs->setup.role != SMC_SERV || !smc_offer_has_r(prop->offer_v2))
		return 0;
	return smc_gid_is_v6(prop->v2.gid) ? AF_INET6 : AF_INET;
}

/*
 * A path is refused if no link could be confirmed over it lately, or no ring be
 * registered.
 */
static enum smc_reason find_path(struct smc_hs *hs,
				 const struct smc_xport *xport)
{
	struct smc_hs_data *data = hs->data;
	struct smc_path *path = &data->path[xport->id];
	enum smc_reason why = xport->find_path(&data->route, path);

	if (why != SMC_REASON_OK)
		return why;
	if (smc_hs_path_remembered(hs, path->id)) {
		smc_stats_inc(hs->setup.sn, SMC_STAT_HS_NO_LINK);
		smc_path_put(path);
		return SMC_REASON_NOLINK;
	}
	data->path_id[xport->id] = path->id;
	return SMC_REASON_OK;
}

/**
 * smc_hs_find_paths() - find the paths of all transports for the route
 * @hs: handshake; data->path, with references until smc_hs_paths_drop(), and
 *	data->local are filled in
 *
 * Return: SMC_REASON_OK if there is at least one, else why not.
 */
enum smc_reason smc_hs_find_paths(struct smc_hs *hs)
{
	unsigned int use = READ_ONCE(hs->setup.sn->transports);
	enum smc_reason why[SMC_XPORT_NUM];
	struct smc_hs_data *data = hs->data;
	struct smc_select_local *local = &data->local;
	enum smc_xport_id id;
	struct smc_path *path;

	if (!use)
		return SMC_REASON_DISABLED;
	if (smc_route_get(hs->setup.sk, &data->route))
		return SMC_REASON_NOSMCDEV;
	if (data->route.secured) {
		smc_route_put(&data->route);
		return SMC_REASON_IPSEC;
	}
	data->route.gid_family = gid_family(hs);
	for (id = 0; id < SMC_XPORT_NUM; id++)
		why[id] = use & (1U << id) ? find_path(hs, smc_xport_get(id)) :
					     SMC_REASON_DISABLED;
	smc_route_prefixes(&data->route, &local->prefixes);
	local->same_host = data->route.own.ndev->flags & IFF_LOOPBACK;
	smc_route_put(&data->route);

	path = &data->path[SMC_XPORT_R];
	local->r_why = why[SMC_XPORT_R];
	local->n_eids = smc_ueid_list(local->eids, SMC_MAX_UEIDS);
	if (path->dev) {
		smc_peer_id_learn_mac(hs->setup.sn, path->mac);
		local->r_v1 = path->v1;
		local->r_v2 = path->v2 && local->n_eids;
		local->r_imm = path->write_imm;
		memcpy(local->gid, path->gid, SMC_GID_LEN);
		memcpy(local->gid_v1, path->gid_v1, SMC_GID_LEN);
		memcpy(local->mac, path->mac, SMC_MAC_LEN);
	}
	path = &data->path[SMC_XPORT_D];
	local->d_why = why[SMC_XPORT_D];
	if (path->dev) {
		local->d_v2 = path->v2 && local->n_eids;
		local->ism_gid = path->ism_gid;
		local->ism_gid_ext = path->ism_gid_ext;
		local->chid = path->chid;
	}
	local->max_conns = READ_ONCE(hs->setup.sn->max_conns);
	local->max_links = 1;
	if (data->path[SMC_XPORT_R].dev || data->path[SMC_XPORT_D].dev)
		return SMC_REASON_OK;
	return local->r_why == SMC_REASON_NOLINK ? local->r_why :
						   SMC_REASON_NOSMCDEV;
}

/**
 * smc_hs_paths_drop() - give all paths back
 * @hs: handshake
 */
void smc_hs_paths_drop(struct smc_hs *hs)
{
	enum smc_xport_id id;

	for (id = 0; id < SMC_XPORT_NUM; id++)
		smc_path_put(&hs->data->path[id]);
}

/**
 * smc_hs_errno_reason() - the reason for a local failure
 * @err: -errno of the core or of a transport
 * @other: reason for all other errnos
 */
enum smc_reason smc_hs_errno_reason(int err, enum smc_reason other)
{
	switch (err) {
	case -ENOMEM:
		return SMC_REASON_MEM;
	case -ENODEV:
	case -ENXIO:
		return SMC_REASON_DEVGONE;
	case -EPROTO:
		return SMC_REASON_MISMATCH;
	case -EUSERS:
		return SMC_REASON_LGRLIMIT;
	case -EDQUOT:
		return SMC_REASON_RINGLIMIT;
	case -EADDRNOTAVAIL:
		return SMC_REASON_BADPORT;
	default:
		return other;
	}
}

/* The peer's RoCE port, by its message */
static const u8 *peer_gid(const struct smc_hs *hs)
{
	const struct smc_hs_data *data = hs->data;
	const struct smc_clc_proposal *prop = &data->prop;

	if (hs->setup.role == SMC_CLNT)
		return data->peer.r.gid;
	return data->choice.version > 1 ? prop->v2.gid : prop->gid;
}

/**
 * smc_hs_group_key() - what a group for the connection has to match
 * @hs: handshake; data->choice is made, and the client has the Accept
 *
 * Return: key; valid as long as @hs->data.
 */
struct smc_lgr_key smc_hs_group_key(const struct smc_hs *hs)
{
	const struct smc_hs_data *data = hs->data;
	enum smc_xport_id id = data->choice.mode;
	bool is_server = hs->setup.role == SMC_SERV;

	return (struct smc_lgr_key) {
		.xport = smc_xport_get(id),
		.role = hs->setup.role,
		.path = &data->path[id],
		.route = &data->route,
		.prop = is_server ? &data->prop : NULL,
		.acc = is_server ? NULL : &data->peer,
		.peer_id = is_server ? data->prop.peer_id :
				       data->peer.r.peer_id,
		.peer_gid = peer_gid(hs),
		.eid = data->choice.eid,
	};
}

/**
 * smc_hs_check_way() - the way to the peer's RDMA port
 * @hs: handshake; data->choice is made, and the client has the Accept
 * @direct: is there no gateway on it?
 *
 * Our own port is no peer's, unless both ends are on this host.
 *
 * Return: SMC_REASON_OK or why there is none.
 */
enum smc_reason smc_hs_check_way(const struct smc_hs *hs, bool *direct)
{
	const struct smc_select_local *local = &hs->data->local;
	const struct smc_choice *choice = &hs->data->choice;
	const struct smc_path *path = &hs->data->path[choice->mode];
	const struct smc_xport *xport = smc_xport_get(choice->mode);
	enum smc_reason why = SMC_REASON_OK;
	struct net *net;

	*direct = true;
	if (!path->dev || !xport->path_net)
		return SMC_REASON_OK;
	net = xport->path_net(path);
	if (!net)
		return SMC_REASON_DEVGONE;
	if (choice->variant == SMC_VARIANT_RV2)
		why = smc_route_direct(net, path->gid_ifindex, local,
				       peer_gid(hs), direct);
	else if (!local->same_host && xport->gid_is_own &&
		 xport->gid_is_own(net, peer_gid(hs)))
		why = SMC_REASON_BADPORT;
	put_net(net);
	return why;
}

/**
 * smc_hs_first_contact() - what our Accept or Confirm says
 * @hs: handshake; the connection has joined a group
 *
 * Without links each contact is a first one: what its group is at the other end
 * does not matter.
 *
 * Return: the first-contact bit.
 */
bool smc_hs_first_contact(const struct smc_hs *hs)
{
	return test_bit(SMC_HS_FIRST, &hs->bits) ||
	       !smc_xport_has_links(hs->conn->xport);
}

/*
 * A group with a link, which nothing has joined, or one that is dead.  It may have
 * died for a more precise reason.
 */
static enum smc_reason give_up_new(struct smc_lgr *lgr, enum smc_reason why)
{
	smc_lgr_kill(lgr, why);
	why = smc_lgr_death(lgr);
	smc_lgr_leave(lgr);
	return why;
}

/* Describe a new group and its peer.  Without links the peer is this host. */
static void fill_group(const struct smc_hs *hs, struct smc_lgr *lgr)
{
	const struct smc_hs_data *data = hs->data;
	const struct smc_choice *choice = &data->choice;

	lgr->release = choice->release;
	memcpy(lgr->eid, choice->eid, SMC_EID_LEN);
	if (!smc_xport_has_links(lgr->xport)) {
		lgr->peer_os = SMC_OS_LINUX;
		smc_peer_id_hostname(hs->setup.sn->net, lgr->peer_host);
		return;
	}
	lgr->max_conns = choice->max_conns;
	lgr->max_links = choice->max_links;
	lgr->direct = data->direct;
	lgr->throttled = hs->has_lane;
	if (hs->setup.role == SMC_CLNT) {
		memcpy(lgr->peer_id, data->peer.r.peer_id, SMC_PEER_ID_LEN);
		return;
	}
	memcpy(lgr->peer_id, data->prop.peer_id, SMC_PEER_ID_LEN);
	memcpy(lgr->peer_gid, peer_gid(hs), SMC_GID_LEN);
}

/**
 * smc_hs_make_group() - make a group for the connection
 * @hs: handshake; data->choice names the transport
 * @key: do not make a group if one matches this; NULL: always make one
 * @needed: there is no other for the connection
 * @lgr: the new group, or the one that matches @key: with a reference and a
 *	place, which smc_hs_join_group() takes
 *
 * SMC_HS_FIRST is set if the group is new and has a link.
 *
 * Context: process.
 * Return: SMC_REASON_OK or why not.
 */
enum smc_reason smc_hs_make_group(struct smc_hs *hs,
				  const struct smc_lgr_key *key, bool needed,
				  struct smc_lgr **lgr)
{
	struct smc_hs_data *data = hs->data;
	enum smc_xport_id id = data->choice.mode;
	enum smc_reason why;
	struct smc_lgr *new;
	int rc;

	if (!data->path[id].dev)
		return SMC_REASON_NOSMCDEV;
	/* first: once it is found, others join a group without links */
	if (!smc_hs_may_charge(hs))
		return SMC_REASON_MEM;
	new = smc_lgr_new(hs->setup.sn, smc_xport_get(id), hs->setup.role,
			  &data->path[id], &data->route, data->choice.version);
	if (IS_ERR(new))
		return smc_hs_errno_reason(PTR_ERR(new), SMC_REASON_INTERR);
	fill_group(hs, new);
	rc = smc_lgr_publish(new, key, needed, lgr);
	if (rc)
		return smc_hs_errno_reason(rc, SMC_REASON_INTERR);
	if (*lgr)
		return SMC_REASON_OK;
	rc = smc_lgr_up(new, &data->path[id]);
	if (rc) {
		why = smc_hs_errno_reason(rc, SMC_REASON_INTERR);
		return give_up_new(new, why);
	}
	if (smc_xport_has_links(new->xport))
		set_bit(SMC_HS_FIRST, &hs->bits);
	*lgr = new;
	return SMC_REASON_OK;
}

/**
 * smc_hs_await_group() - wait for a group that was found, if it is being set up
 * @hs: handshake
 * @lgr: found, not made by this handshake
 * @until: jiffies, when the step of SMC_HS_GROUP runs at the latest
 *
 * Context: process.
 * Return: false: the group is dead, and left.  True: it can be joined; or it is
 * waited for, and is hs->group.
 */
bool smc_hs_await_group(struct smc_hs *hs, struct smc_lgr *lgr,
			unsigned long until)
{
	if (smc_hs_watch_group(hs, lgr)) {
		hs->group = lgr;
		smc_hs_enter_until(hs, SMC_HS_GROUP, until);
		return true;
	}
	if (smc_lgr_death(lgr) == SMC_REASON_OK)
		return true;
	smc_lgr_leave(lgr);
	return false;
}

/**
 * smc_hs_join_group() - join a group
 * @hs: handshake
 * @lgr: found or made; its reference and place pass to the connection or are
 *	given back
 *
 * Context: process.
 * Return: SMC_REASON_OK or why not; a group of its own has ended then.
 */
enum smc_reason smc_hs_join_group(struct smc_hs *hs,
				  struct smc_lgr *lgr)
{
	enum smc_reason why;
	int rc;

	hs->group = NULL;
	rc = smc_hs_may_charge(hs) ?
	     smc_conn_join(hs->conn, lgr, hs->setup.snd_len,
			   hs->setup.rcv_len) : -ENOMEM;
	if (!rc) {
		/* it has its rings: others may wait for the link */
		if (test_bit(SMC_HS_FIRST, &hs->bits))
			WRITE_ONCE(lgr->throttled, false);
		return SMC_REASON_OK;
	}
	why = smc_hs_errno_reason(rc, SMC_REASON_INTERR);
	if (test_and_clear_bit(SMC_HS_FIRST, &hs->bits))
		return give_up_new(lgr, why);
	smc_lgr_leave(lgr);
	return why;
}

/**
 * smc_hs_group_learn() - store the peer's first-contact extension
 * @hs: handshake; data->choice is made
 * @lgr: its group, before smc_hs_connect_group()
 * @fce: extension of the Accept or Confirm
 *
 * With the Confirm the server learns which of its features the client uses.
 */
void smc_hs_group_learn(const struct smc_hs *hs, struct smc_lgr *lgr,
			const struct smc_clc_fce *fce)
{
	const struct smc_choice *choice = &hs->data->choice;

	lgr->write_imm = choice->mode == SMC_CLC_MODE_R &&
			 choice->feature_mask & fce->feature_mask &
			 SMC_FEATURE_IMM;
	lgr->peer_os = fce->os;
	strscpy(lgr->peer_host, fce->hostname, sizeof(lgr->peer_host));
}

static int fill_accept(struct smc_hs *hs, u8 type)
{
	const struct smc_choice *choice = &hs->data->choice;
	struct smc_clc_msg *msg = &hs->data->msg;
	struct smc_clc_accept *acc = &msg->accept;
	struct smc_conn *conn = hs->conn;
	struct smc_clc_fce *fce = &acc->fce;
	bool is_r = choice->mode == SMC_CLC_MODE_R;
	int rc;

	memset(msg, 0, sizeof(*msg));
	msg->type = type;
	msg->version = choice->version;
	acc->mode = choice->mode;
	acc->first_contact = smc_hs_first_contact(hs);
	rc = smc_conn_describe(conn, acc);
	if (rc)
		return rc;
	if (is_r)
		smc_peer_id_get(hs->setup.sn, acc->r.peer_id);
	if (choice->version < 2)
		return 0;
	memcpy(acc->eid, choice->eid, SMC_EID_LEN);
	if (!acc->first_contact)
		return 0;
	fce->direct = is_r && conn->lgr->direct;
	fce->os = SMC_OS_LINUX;
	fce->release = choice->release;
	smc_peer_id_hostname(hs->setup.sn->net, fce->hostname);
	if (choice->release) {
		fce->feature_mask = choice->feature_mask;
		fce->max_conns = is_r ? choice->max_conns : 0;
		fce->max_links = is_r ? choice->max_links : 0;
	}
	if (is_r && type == SMC_CLC_CONFIRM) {
		acc->n_gids = 1;
		memcpy(acc->gids[0], conn->lgr->path.gid, SMC_GID_LEN);
	}
	return 0;
}

static void described(void *arg)
{
	smc_hs_kick(arg);
}

/**
 * smc_hs_fill_accept() - store our Accept or Confirm in data->msg
 * @hs: handshake; the connection has joined its group
 * @type: SMC_CLC_ACCEPT or SMC_CLC_CONFIRM
 * @filled: false: the ring is being registered; the state is SMC_HS_RING, whose
 *	step calls this again
 *
 * Publishes the connection's token.
 *
 * Return: SMC_REASON_OK or why not.
 */
enum smc_reason smc_hs_fill_accept(struct smc_hs *hs, u8 type, bool *filled)
{
	unsigned long until, last;
	int rc;

	smc_conn_await(hs->conn, described, hs);
	rc = fill_accept(hs, type);
	*filled = !rc;
	if (rc != -EINPROGRESS) {
		smc_conn_await(hs->conn, NULL, NULL);
		return rc ? smc_hs_errno_reason(rc, SMC_REASON_ERR_REGBUF) :
			    SMC_REASON_OK;
	}
	if (hs->state == SMC_HS_RING) {
		if (!smc_hs_expired(hs))
			return SMC_REASON_OK;
		/* others would wait, too, each with a link of its own */
		if (test_bit(SMC_HS_FIRST, &hs->bits) &&
		    !test_bit(SMC_HS_HURRIED, &hs->bits))
			smc_hs_path_remember(hs);
		return SMC_REASON_ERR_REGBUF;
	}
	until = jiffies + msecs_to_jiffies(max(SMC_HS_RING_MS,
					       hs->span_ms / 2));
	/* the client must get an answer before its own limit */
	last = hs->limit - msecs_to_jiffies(hs->span_ms / 8);
	if (type == SMC_CLC_ACCEPT && time_after(until, last)) {
		until = last;
		set_bit(SMC_HS_HURRIED, &hs->bits);
	}
	smc_hs_enter_until(hs, SMC_HS_RING, until);
	return SMC_REASON_OK;
}

/* If the group died, its reason is the more precise one. */
static enum smc_reason group_error(struct smc_lgr *lgr, int rc,
				   enum smc_reason other)
{
	enum smc_reason why = smc_lgr_death(lgr);

	return why ?: smc_hs_errno_reason(rc, other);
}

/**
 * smc_hs_connect_group() - first contact: bring up the group's link
 * @hs: handshake that made the group
 * @prop: the Proposal, server only
 * @peer: Accept or Confirm
 *
 * Context: process.
 * Return: SMC_REASON_OK or why not.
 */
enum smc_reason smc_hs_connect_group(struct smc_hs *hs,
				     const struct smc_clc_proposal *prop,
				     const struct smc_clc_accept *peer)
{
	struct smc_lgr *lgr = hs->conn->lgr;
	int rc;

	rc = smc_lgr_connect(lgr, prop, peer);
	return rc ? group_error(lgr, rc, SMC_REASON_ERR_RDYLNK) :
		    SMC_REASON_OK;
}

/**
 * smc_hs_confirm_link() - go on when all messages are exchanged
 * @hs: handshake; the connection is attached
 *
 * Starts the confirmation of a new group's link, and a step will follow its
 * end; on an existing group the handshake is complete.
 *
 * Return: SMC_REASON_OK or why not.
 */
enum smc_reason smc_hs_confirm_link(struct smc_hs *hs)
{
	struct smc_lgr *lgr = hs->conn->lgr;
	enum smc_reason why;
	int rc;

	if (test_bit(SMC_HS_FIRST, &hs->bits)) {
		smc_hs_enter(hs, SMC_HS_LINK,
			     max(SMC_HS_LINK_MS, 5 * hs->span_ms));
		rc = smc_lgr_confirm(lgr);
		if (rc)
			return group_error(lgr, rc, SMC_REASON_TIMEOUT_CL);
		smc_hs_watch_group(hs, lgr);
		return SMC_REASON_OK;
	}
	why = smc_lgr_death(lgr);
	if (why == SMC_REASON_OK)
		smc_hs_enter_idle(hs, SMC_HS_ATTACHED);
	return why;
}

/**
 * smc_hs_step_link() - wait for our own group to settle, or for a Decline
 * @hs: handshake
 *
 * A peer that did not see the link confirmed declines, even if this end did.
 * Ignores the end of the TCP stream: the peer may have used the connection and
 * closed it already.
 *
 * Return: as smc_hs_step.run.
 */
enum smc_reason smc_hs_step_link(struct smc_hs *hs)
{
	struct smc_lgr *lgr = hs->conn->lgr;
	enum smc_reason why, link;
	bool settled;

	settled = smc_hs_settled(hs, &link);
	if (settled)
		smc_hs_stop_waiting(hs);
	if (settled && link != SMC_REASON_OK)
		return link;
	why = smc_hs_look(hs);
	if (why != SMC_REASON_OK && why != SMC_REASON_LOSTPEER)
		return why;
	if (!settled) {
		if (!smc_hs_expired(hs))
			return SMC_REASON_OK;
		/* it may be ACTIVE, and we have not been told yet */
		smc_lgr_give_up(lgr, SMC_REASON_TIMEOUT_CL);
		smc_hs_stop_waiting(hs);
		link = smc_lgr_death(lgr);
		if (link != SMC_REASON_OK)
			return link;
	}
	/* put_off: a system call owned the socket, look again. */
	if (READ_ONCE(hs->put_off))
		return SMC_REASON_OK;
	smc_hs_path_works(hs);
	/* other handshakes use the group now */
	clear_bit(SMC_HS_FIRST, &hs->bits);
	smc_hs_enter_idle(hs, SMC_HS_ATTACHED);
	return SMC_REASON_OK;
}

/* No callback and no up-call after this. */
static void stop_conn(struct smc_hs *hs)
{
	smc_conn_await(hs->conn, NULL, NULL);
	smc_conn_stop(hs->conn);
	hs->conn = NULL;
}

/**
 * smc_hs_drop_conn() - drop the connection, if there is one
 * @hs: handshake; its reference of the connection is dropped
 */
void smc_hs_drop_conn(struct smc_hs *hs)
{
	struct smc_conn *conn = hs->conn;

	if (!conn)
		return;
	stop_conn(hs);
	smc_conn_put(conn);
}

/**
 * smc_hs_drop_group() - leave the group; drop the connection that has joined it
 * @hs: handshake
 * @why: reason to end a group that was created for this connection
 *
 * Others may use the group once it is ACTIVE: then only the peer's Decline ends
 * it, which says that the link is not there.
 */
void smc_hs_drop_group(struct smc_hs *hs, enum smc_reason why)
{
	struct smc_conn *conn = hs->conn;

	smc_hs_stop_waiting(hs);
	if (hs->group)
		smc_lgr_leave(hs->group);
	hs->group = NULL;
	if (!conn || !conn->lgr)
		return;
	/* a peer that has declined needs no abort */
	if (why == SMC_REASON_PEERDECL)
		set_bit(SMC_CONN_DEAD, &conn->flags);
	stop_conn(hs);
	/* before the connection leaves, or the group ends as idle */
	if (test_and_clear_bit(SMC_HS_FIRST, &hs->bits)) {
		if (why == SMC_REASON_PEERDECL)
			smc_lgr_kill(conn->lgr, why);
		else
			smc_lgr_give_up(conn->lgr, why);
	}
	smc_conn_put(conn);
}
