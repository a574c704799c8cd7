// SPDX-License-Identifier: GPL-2.0
/*
 * The handshake's messages, in and out, and the decision how it ends.
 *
 * Nothing is read beyond the message that is expected.  A message is peeked at
 * until it is complete; what is longer than the buffer is thrown away as it
 * comes.  So every byte that is not part of the handshake stays for the
 * program.
 *
 * smc_hs_conclude() is the one place that knows what follows from a reason: a
 * Decline and TCP, TCP at once, the client connecting again without the
 * option, or an error (RFC 7609 section 3.5.4 and appendix C; where the RFC
 * lets the connection fail before SMC has been used, the program
 * gets a TCP connection all the same).
 *
 * Context: process, from a step.
 * Test: selftests/smc/fallback*.sh
 */
#include <linux/net.h>
#include <linux/tcp.h>
#include <net/tcp_states.h>
#include <net/inet_sock.h>
#include "hs_priv.h"
#include "reason.h"
#include "ueid.h"

static void set_need(struct smc_hs *hs, u32 need)
{
	spin_lock_irq(&hs->lock);
	hs->need = need;
	spin_unlock_irq(&hs->lock);
}

/* The stream ended before it said enough. */
static enum smc_reason gone(const struct smc_hs *hs)
{
	return test_bit(SMC_HS_SPOKE, &hs->bits) ? SMC_REASON_LOSTPEER :
						     SMC_REASON_SPOILT_RESET;
}

/* Fewer than @want bytes are there: wait for them, or they cannot come. */
static enum smc_reason await_bytes(struct smc_hs *hs, u32 want,
				   bool *ready)
{
	set_need(hs, want);
	/* Bytes that came before set_need() have woken nobody. */
	*ready = smc_hs_tcp_readable(hs->sk) >= want;
	if (*ready)
		return SMC_REASON_OK;
	if (READ_ONCE(hs->sk->sk_err) ||
	    smc_hs_tcp_closed(hs->sk)) {
		/* Data and FIN may have come between the two looks. */
		*ready = smc_hs_tcp_readable(hs->sk) >= want;
		return *ready ? SMC_REASON_OK : gone(hs);
	}
	return SMC_REASON_OK;
}

/* Throw away what is readable of the rest of a long message. */
static enum smc_reason drain(struct smc_hs *hs)
{
	u8 junk[64];
	bool ready;
	int rc;

	/* Bounded by @drain, which was at most 65535. */
	while (hs->drain) {
		rc = smc_hs_recv(hs, junk,
				 min_t(u32, hs->drain, sizeof(junk)));
		if (rc <= 0)
			return await_bytes(hs, 1, &ready);
		hs->drain -= rc;
	}
	return SMC_REASON_OK;
}

/* What begins at the head of the stream? */
static enum smc_reason frame(struct smc_hs *hs, ssize_t *total)
{
	u8 head[SMC_CLC_HDR_LEN];
	enum smc_reason why;
	int n, last = -1;
	bool ready;

	for (;;) {
		n = smc_hs_peek(hs, head, sizeof(head));
		if (n == -EAGAIN) {
			*total = n;
			return SMC_REASON_OK;
		}
		if (n < 0)
			return gone(hs);
		/*
		 * Urgent data inside: readable and yet not to be had.  A FIN
		 * looks like a byte for a moment, but not under the lock.
		 */
		if ((!n && smc_hs_tcp_at_urgent(hs->sk)) ||
		    (n == last && smc_hs_tcp_readable(hs->sk) > n))
			return SMC_REASON_NOTCLC;
		last = n;
		if (n && !hs->first_at)
			hs->first_at = jiffies ?: 1;
		*total = n ? smc_clc_peek(head, n) : -EAGAIN;
		if (*total != -EAGAIN)
			break;
		why = await_bytes(hs, n + 1, &ready);
		if (why != SMC_REASON_OK || !ready)
			return why;
	}
	/* Four bytes may be an eye catcher by chance, but not a header. */
	if (*total < 0)
		return *total == -ENOMSG || !test_bit(SMC_HS_SPOKE, &hs->bits) ?
		       SMC_REASON_NOTCLC : SMC_REASON_MALFORMED;
	set_bit(SMC_HS_SPOKE, &hs->bits);
	return SMC_REASON_OK;
}

/**
 * smc_hs_read() - take the next message off the stream if it is complete
 * @hs: handshake
 * @got: true if data->msg has been filled; never a Decline
 *
 * Return: SMC_REASON_OK; SMC_REASON_PEERDECL for a Decline; NOTCLC with every
 * byte left where it was; SPOILT_RESET or LOSTPEER if the stream has ended
 * (before or after the peer's first CLC message); MALFORMED.
 */
enum smc_reason smc_hs_read(struct smc_hs *hs, bool *got)
{
	struct smc_hs_data *data = hs->data;
	enum smc_reason why;
	ssize_t total;
	u32 want;
	bool ready;
	int rc;

	*got = false;
	if (!hs->drain) {
		why = frame(hs, &total);
		if (why != SMC_REASON_OK || total < 0)
			return why;
		want = min_t(ssize_t, total, sizeof(data->buf));
		why = await_bytes(hs, want, &ready);
		if (why != SMC_REASON_OK || !ready)
			return why;
		rc = smc_hs_recv(hs, data->buf, want);
		if (rc == -EAGAIN)
			return SMC_REASON_OK;
		if (rc != want)
			return SMC_REASON_MALFORMED;
		if (smc_clc_decode(data->buf, want, &data->msg, &why))
			return SMC_REASON_MALFORMED;
		hs->drain = total - want;
	}
	why = drain(hs);
	if (why != SMC_REASON_OK || hs->drain)
		return why;
	set_need(hs, 1);
	if (data->msg.type != SMC_CLC_DECLINE) {
		*got = true;
		return SMC_REASON_OK;
	}
	hs->peer_diagnosis = data->msg.decline.diagnosis;
	if (data->msg.decline.out_of_sync && hs->conn->lgr)
		smc_lgr_kill(hs->conn->lgr, SMC_REASON_SYNCERR);
	return SMC_REASON_PEERDECL;
}

/**
 * smc_hs_await() - take the one message that may come now
 * @hs: handshake
 * @type: SMC_CLC_ACCEPT, ...
 * @late: what it means that the deadline passes without it
 * @got: true if it is in data->msg
 *
 * Return: SMC_REASON_OK (got or not); @late; WRONGMSG; or as smc_hs_read().
 */
enum smc_reason smc_hs_await(struct smc_hs *hs, u8 type,
			     enum smc_reason late, bool *got)
{
	enum smc_reason why = smc_hs_read(hs, got);

	if (why != SMC_REASON_OK)
		return why;
	/* It may be there: a system call had the socket. */
	if (!*got)
		return smc_hs_expired(hs) && !READ_ONCE(hs->put_off) ?
		       late : SMC_REASON_OK;
	return hs->data->msg.type == type ? SMC_REASON_OK :
					      SMC_REASON_WRONGMSG;
}

/**
 * smc_hs_look() - while something else is awaited: has the peer declined?
 * @hs: handshake
 *
 * Return: as smc_hs_read(); WRONGMSG for any message but a Decline.
 */
enum smc_reason smc_hs_look(struct smc_hs *hs)
{
	enum smc_reason why;
	bool got;

	why = smc_hs_read(hs, &got);
	return got ? SMC_REASON_WRONGMSG : why;
}

/**
 * smc_hs_write() - encode and send data->msg
 * @hs: handshake
 * @mark: bit of hs->bits to be set once it was sent, -1: none
 *
 * Return: 0 or -errno.
 */
int smc_hs_write(struct smc_hs *hs, int mark)
{
	struct smc_hs_data *data = hs->data;
	ssize_t len;
	int rc;

	len = smc_clc_encode(data->out, sizeof(data->out), &data->msg);
	if (len < 0)
		return len;
	data->out_len = len;
	data->out_mark = mark;
	rc = smc_hs_flush(hs);
	/* it leaves before the next step */
	return rc == -EAGAIN ? 0 : rc;
}

static int write_decline(struct smc_hs *hs, enum smc_reason why)
{
	struct smc_clc_msg *msg = &hs->data->msg;

	memset(msg, 0, sizeof(*msg));
	msg->type = SMC_CLC_DECLINE;
	msg->version = hs->version;
	msg->decline.out_of_sync = why == SMC_REASON_SYNCERR;
	msg->decline.os = hs->version > 1 ? SMC_OS_LINUX : 0;
	msg->decline.diagnosis = smc_reason_wire(why);
	if (hs->data->choice.mode != SMC_CLC_MODE_D)
		smc_host_peer_id(msg->decline.peer_id);
	return smc_hs_write(hs, -1);
}

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

/**
 * smc_hs_drop_group() - leave the group
 * @hs: handshake
 * @why: a group that was created for this connection ends, for this reason
 */
void smc_hs_drop_group(struct smc_hs *hs, enum smc_reason why)
{
	struct smc_conn *conn = hs->conn;
	struct smc_lgr *lgr = conn->lgr;

	smc_hs_stop_waiting(hs);
	if (hs->group)
		smc_lgr_leave(hs->group);
	hs->group = NULL;
	if (!lgr)
		return;
	smc_lgr_get(lgr);
	/* A peer that has declined needs no word, nor do we wait for it. */
	if (why == SMC_REASON_PEERDECL)
		set_bit(SMC_CONN_DEAD, &conn->flags);
	smc_conn_leave(conn);
	if (test_bit(SMC_HS_FIRST, &hs->bits))
		smc_lgr_kill(lgr, why);
	smc_lgr_put(lgr);
	clear_bit(SMC_HS_FIRST, &hs->bits);
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
	return write_decline(hs, why) ? SMC_HS_V_ERR : SMC_HS_V_TCP;
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
	if (!spoilt(why) && !write_decline(hs, why))
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

/**
 * smc_hs_secured() - does IPsec protect the connection?
 * @tcp: TCP socket, established
 *
 * By a policy of the socket, or by one of the host that its route goes through.
 *
 * What goes by RDMA is not seen by IPsec (RFC 7609 section 5.5).
 */
bool smc_hs_secured(const struct sock *tcp)
{
#ifdef CONFIG_XFRM
	struct dst_entry *dst;
	bool secured;

	if (rcu_access_pointer(tcp->sk_policy[0]) ||
	    rcu_access_pointer(tcp->sk_policy[1]))
		return true;
	dst = sk_dst_get(tcp);
	secured = dst && dst_xfrm(dst);
	dst_release(dst);
	return secured;
#else
	return false;
#endif
}

/**
 * smc_hs_offers() - ask the transports what they can do on the route
 * @hs: handshake; data->path and data->local are filled in
 *
 * Return: SMC_REASON_OK if at least one can do something.
 */
enum smc_reason smc_hs_offers(struct smc_hs *hs)
{
	unsigned int use = READ_ONCE(hs->sn->transports);
	enum smc_reason why[SMC_XPORT_NUM] = {
		[SMC_XPORT_R] = SMC_REASON_NOSMCRDEV,
		[SMC_XPORT_D] = SMC_REASON_NOSMCDDEV,
	};
	struct smc_hs_data *data = hs->data;
	struct smc_select_local *local = &data->local;
	const struct smc_xport *xport;
	enum smc_xport_id id;
	struct smc_path *path;

	if (!use)
		return SMC_REASON_DISABLED;
	if (smc_route_get(hs->sk, &data->route))
		return SMC_REASON_NOSMCDEV;
	for (id = 0; id < SMC_XPORT_NUM; id++) {
		xport = smc_xport_get(id);
		if (!xport)
			continue;
		if (!(use & (1U << id))) {
			why[id] = SMC_REASON_DISABLED;
			continue;
		}
		why[id] = xport->offer(&data->route, &data->path[id]);
		data->has_path[id] = why[id] == SMC_REASON_OK;
	}
	smc_route_prefixes(&data->route, &local->prefixes);
	smc_route_put(&data->route);

	path = &data->path[SMC_XPORT_R];
	local->r_why = why[SMC_XPORT_R];
	local->n_eids = smc_ueid_list(local->eids, SMC_MAX_UEIDS);
	if (data->has_path[SMC_XPORT_R]) {
		smc_host_learn_mac(path->mac);
		local->r_v1 = path->v1;
		local->r_v2 = path->v2 && local->n_eids;
	}
	path = &data->path[SMC_XPORT_D];
	local->d_why = why[SMC_XPORT_D];
	if (data->has_path[SMC_XPORT_D]) {
		local->d_v2 = path->v2 && local->n_eids;
		local->ism_gid = path->ism_gid;
		local->ism_gid_ext = path->ism_gid_ext;
		local->chid = path->chid;
	}
	local->max_conns = clamp_t(unsigned int,
				   READ_ONCE(hs->sn->max_conns),
				   SMC_MIN_CONNS, SMC_MAX_CONNS);
	local->max_links = 1;
	if (data->has_path[SMC_XPORT_R] || data->has_path[SMC_XPORT_D])
		return SMC_REASON_OK;
	return SMC_REASON_NOSMCDEV;
}

/**
 * smc_hs_path_drop() - a path is not needed any more
 * @hs: handshake
 * @id: of which transport
 */
void smc_hs_path_drop(struct smc_hs *hs, enum smc_xport_id id)
{
	if (hs->data->has_path[id])
		smc_path_put(&hs->data->path[id]);
	hs->data->has_path[id] = false;
}

/**
 * smc_hs_errno_reason() - a local failure as a reason to decline
 * @err: -errno of the core or of a transport
 * @other: for an errno that says nothing by itself
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
	case -ENOSPC:
		return SMC_REASON_MAX_DMB;
	case -EUSERS:
		return SMC_REASON_LGRLIMIT;
	default:
		return other;
	}
}

/**
 * smc_hs_create_group() - first contact: a group for this connection
 * @hs: handshake; data->choice tells the transport
 * @peer_id: the peer's id
 *
 * Return: SMC_REASON_OK and the connection has joined it, or why not.
 */
enum smc_reason smc_hs_create_group(struct smc_hs *hs,
				    const u8 *peer_id)
{
	struct smc_hs_data *data = hs->data;
	const struct smc_choice *choice = &data->choice;
	enum smc_xport_id id = choice->mode;
	struct smc_lgr *lgr;
	int rc;

	if (!data->has_path[id])
		return SMC_REASON_NOSMCDEV;
	lgr = smc_lgr_create(hs->sn, smc_xport_get(id), hs->role,
			     &data->path[id], choice->version);
	if (IS_ERR(lgr))
		return smc_hs_errno_reason(PTR_ERR(lgr), SMC_REASON_INTERR);
	data->has_path[id] = false;
	lgr->release = choice->release;
	lgr->max_conns = choice->max_conns;
	lgr->max_links = choice->max_links;
	lgr->feature_mask = choice->feature_mask;
	lgr->direct = data->direct;
	memcpy(lgr->eid, choice->eid, SMC_EID_LEN);
	memcpy(lgr->peer_id, peer_id, SMC_PEER_ID_LEN);
	if (hs->role == SMC_SERV)
		memcpy(lgr->peer_gid, choice->version > 1 ?
		       data->prop.v2.gid : data->prop.gid, SMC_GID_LEN);
	rc = smc_lgr_publish(lgr);
	if (!rc)
		rc = smc_conn_join(hs->conn, lgr, hs->snd_len, hs->rcv_len);
	if (rc) {
		smc_lgr_kill(lgr, SMC_REASON_MEM);
		smc_lgr_leave(lgr);
		return smc_hs_errno_reason(rc, SMC_REASON_INTERR);
	}
	set_bit(SMC_HS_FIRST, &hs->bits);
	return SMC_REASON_OK;
}

/**
 * smc_hs_join_group() - subsequent contact: use a group that is there
 * @hs: handshake
 * @lgr: found; its reference and place pass to the connection or are given
 *	back
 */
enum smc_reason smc_hs_join_group(struct smc_hs *hs,
				  struct smc_lgr *lgr)
{
	int rc;

	hs->group = NULL;
	rc = smc_conn_join(hs->conn, lgr, hs->snd_len, hs->rcv_len);
	if (!rc)
		return SMC_REASON_OK;
	smc_lgr_leave(lgr);
	return smc_hs_errno_reason(rc, SMC_REASON_INTERR);
}

/**
 * smc_hs_group_learn() - what a peer's first-contact extension says of it
 * @lgr: group
 * @fce: extension of the Accept or Confirm
 */
void smc_hs_group_learn(struct smc_lgr *lgr, const struct smc_clc_fce *fce)
{
	lgr->peer_os = fce->os;
	strscpy(lgr->peer_host, fce->hostname, sizeof(lgr->peer_host));
}

/**
 * smc_hs_fill_accept() - our Accept or Confirm into data->msg
 * @hs: handshake; the connection has joined its group
 * @type: SMC_CLC_ACCEPT or SMC_CLC_CONFIRM
 *
 * From now on the peer's messages find the connection.
 *
 * Return: 0 or -errno.
 */
int smc_hs_fill_accept(struct smc_hs *hs, u8 type)
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
	acc->first_contact = test_bit(SMC_HS_FIRST, &hs->bits);
	rc = smc_conn_describe(conn, acc);
	if (rc)
		return rc;
	if (is_r)
		smc_host_peer_id(acc->r.peer_id);
	if (choice->version < 2)
		return 0;
	memcpy(acc->eid, choice->eid, SMC_EID_LEN);
	if (!acc->first_contact)
		return 0;
	fce->direct = is_r && conn->lgr->direct;
	fce->os = SMC_OS_LINUX;
	fce->release = choice->release;
	smc_host_name(fce->hostname);
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

/* If the group died, why it did says more than how we noticed. */
static enum smc_reason group_error(struct smc_lgr *lgr, int rc,
				   enum smc_reason other)
{
	enum smc_reason why = smc_lgr_settled(lgr);

	return why != SMC_REASON_OK ? why : smc_hs_errno_reason(rc, other);
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
	struct smc_conn *conn = hs->conn;
	int rc;

	rc = smc_lgr_connect(conn->lgr, conn, prop, peer);
	return rc ? group_error(conn->lgr, rc, SMC_REASON_ERR_RDYLNK) :
		    SMC_REASON_OK;
}

/**
 * smc_hs_confirm_link() - all messages are exchanged: first contact continues
 * @hs: handshake; the connection is bound
 *
 * Starts the confirmation of a new group's link and waits for its end; on an
 * existing group the handshake is complete.
 */
enum smc_reason smc_hs_confirm_link(struct smc_hs *hs)
{
	struct smc_conn *conn = hs->conn;
	struct smc_lgr *lgr = conn->lgr;
	enum smc_reason why;
	int rc;

	if (test_bit(SMC_HS_FIRST, &hs->bits)) {
		smc_hs_enter(hs, SMC_HS_LINK,
			     max(SMC_HS_LINK_MS, 5 * hs->span_ms));
		rc = smc_lgr_confirm(lgr, conn);
		if (rc)
			return group_error(lgr, rc, SMC_REASON_TIMEOUT_CL);
		if (smc_hs_wait_settled(hs, lgr))
			return SMC_REASON_OK;
	}
	why = smc_lgr_settled(lgr);
	if (why == SMC_REASON_OK)
		smc_hs_enter(hs, SMC_HS_BOUND, 0);
	return why;
}

/**
 * smc_hs_step_link() - our own group: has it settled, has the peer declined?
 * @hs: handshake
 *
 * The end of the TCP stream means nothing here: the peer may be through
 * already, have used the connection and closed it.
 */
enum smc_reason smc_hs_step_link(struct smc_hs *hs)
{
	enum smc_reason why;

	if (smc_hs_settled(hs, &why)) {
		smc_hs_stop_waiting(hs);
		if (why == SMC_REASON_OK)
			smc_hs_enter(hs, SMC_HS_BOUND, 0);
		return why;
	}
	why = smc_hs_look(hs);
	if (why != SMC_REASON_OK && why != SMC_REASON_LOSTPEER)
		return why;
	return smc_hs_expired(hs) ? SMC_REASON_TIMEOUT_CL : SMC_REASON_OK;
}
