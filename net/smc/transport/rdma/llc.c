// SPDX-License-Identifier: GPL-2.0
/*
 * LLC: the messages that control a link.
 *
 * Each link has one actor, a work item, which is not reentrant.  It handles the
 * messages that the receive side queued (SMC_RDMA_LLC_QUEUE at most, more are
 * counted and dropped) and the bits of link->llc_todo, and sends everything but
 * the DELETE LINK of lgr_down(), which comes while the actor may still run.
 * Requests of the peer are answered at once and in order.  A message stays at
 * the head of the queue until it has been handled.  Without a send slot the
 * actor returns, and the next completion queues it again: a handler may run
 * twice for a message.  After SMC_RDMA_LLC_TURN messages it queues itself
 * again: a peer that never stops sending does not occupy a worker.
 *
 * With one link per group no ADD LINK is carried out: a client rejects it at
 * once, a server declines REQUEST ADD LINK.  A client that has not agreed on
 * one link waits for an ADD LINK after the confirmation: the server sends one
 * that must be rejected.
 *
 * The delayed work "watch" is the clock: first the limit of the confirmation,
 * then supervision of a silent link and of a stuck send queue.
 *
 * Context: process, unless a function says otherwise; llc_lock as in rdma.h.
 * Tests: selftests/vm/tests; selftests/unit/unit_llc.c for the messages.
 */
#include <linux/etherdevice.h>
#include <linux/slab.h>

#include "wire/llc.h"
#include "rdma.h"

struct llc_rx {
	struct list_head node;
	u32 len;
	u8 data[];
};

static void queue_dropped(struct smc_rdma_link *link)
{
	smc_stats_inc(link->lgr->sn, SMC_STAT_LLC_DROPPED);
}

static void watch_in(struct smc_rdma_link *link, unsigned int ms)
{
	mod_delayed_work(link->wq, &link->watch, msecs_to_jiffies(ms));
}

/* The confirmation of the link has ended: report the first outcome. */
static void link_confirmed(struct smc_rdma_link *link, enum smc_reason why)
{
	bool first;

	spin_lock_bh(&link->post_lock);
	first = !link->confirmed;
	WRITE_ONCE(link->confirmed, true);
	spin_unlock_bh(&link->post_lock);
	if (first)
		smc_lgr_changed(link->lgr, why);
}

/* Errors and @end as for smc_rdma_tx_llc(). */
static int send_msg_end(struct smc_rdma_link *link, struct smc_llc_msg *msg,
			u64 *end)
{
	u8 p[SMC_LLC_LEN];

	msg->v2 = !smc_lgr_is_v1(link->lgr);
	smc_llc_encode(p, msg);
	return smc_rdma_tx_llc(link, p, end);
}

static int send_msg(struct smc_rdma_link *link, struct smc_llc_msg *msg)
{
	return send_msg_end(link, msg, NULL);
}

/* Return the request as its own response. */
static int echo(struct smc_rdma_link *link, const struct llc_rx *rx, u8 flags)
{
	u8 p[SMC_LLC_LEN];

	memcpy(p, rx->data, sizeof(p));
	smc_llc_respond(p, flags);
	return smc_rdma_tx_llc(link, p, NULL);
}

/*
 * The client's link is active when the peer's device has acknowledged the
 * answer.  If RoCE works in one direction only that does not happen, and the
 * program gets TCP instead of a dead connection.
 */
static int send_confirm_link(struct smc_rdma_link *link, bool response)
{
	const struct smc_lgr *lgr = link->lgr;
	struct smc_llc_msg msg = {
		.type = SMC_LLC_CONFIRM_LINK,
		.response = response,
		.flags = SMC_LLC_CL_NO_EYEC,
	};
	struct smc_llc_confirm_link *cl = &msg.confirm_link;

	ether_addr_copy(cl->mac, lgr->path.mac);
	memcpy(cl->gid, link->gid.raw, sizeof(cl->gid));
	cl->qpn = link->qpn;
	cl->user_id = lgr->id + link->link_id;
	cl->link_id = link->link_id;
	cl->max_links = lgr->release ? lgr->max_links : 2;
	cl->max_conns = lgr->release ? lgr->max_conns : 0;
	return send_msg_end(link, &msg, response ? &link->confirm_end : NULL);
}

/* An ADD LINK without an MTU must be rejected: the client need not wait. */
static int send_add_link(struct smc_rdma_link *link)
{
	const struct smc_lgr *lgr = link->lgr;
	struct smc_llc_msg msg = { .type = SMC_LLC_ADD_LINK };
	struct smc_llc_add_link *al = &msg.add_link;

	if (lgr->release && lgr->max_links == 1)
		return 0;
	ether_addr_copy(al->mac, lgr->path.mac);
	memcpy(al->gid, link->gid.raw, sizeof(al->gid));
	al->link_id = link->link_id + 1;
	return send_msg(link, &msg);
}

static void now_active(struct smc_rdma_link *link)
{
	smc_rdma_link_raise(link, SMC_RDMA_ACTIVE);
	/* the clock comes second: its first look would take it for not confirmed */
	link_confirmed(link, SMC_REASON_OK);
	watch_in(link, SMC_RDMA_LOOK_MS);
	smc_rdma_tx_kick(link);
}

static int rx_confirm_request(struct smc_rdma_link *link,
			      const struct smc_llc_msg *msg)
{
	if (link->lgr->role != SMC_CLNT || READ_ONCE(link->confirmed) ||
	    READ_ONCE(link->confirm_end)) {
		queue_dropped(link);
		return 0;
	}
	if (!(msg->flags & SMC_LLC_CL_NO_EYEC)) {
		link_confirmed(link, SMC_REASON_RMBE_EC);
		return 0;
	}
	WRITE_ONCE(link->link_id, msg->confirm_link.link_id);
	WRITE_ONCE(link->peer_uid, msg->confirm_link.user_id);
	if (smc_rdma_link_ready(link)) {
		link_confirmed(link, SMC_REASON_ERR_RDYLNK);
		return 0;
	}
	return send_confirm_link(link, true);
}

static int rx_confirm_response(struct smc_rdma_link *link,
			       const struct smc_llc_msg *msg)
{
	int rc;

	if (link->lgr->role != SMC_SERV || READ_ONCE(link->confirmed) ||
	    READ_ONCE(link->state) < SMC_RDMA_READY) {
		queue_dropped(link);
		return 0;
	}
	if (!(msg->flags & SMC_LLC_CL_NO_EYEC)) {
		link_confirmed(link, SMC_REASON_RMBE_EC);
		return 0;
	}
	WRITE_ONCE(link->peer_uid, msg->confirm_link.user_id);
	rc = send_add_link(link);
	if (!rc)
		now_active(link);
	return rc;
}

static int rx_confirm(struct smc_rdma_link *link, const struct smc_llc_msg *msg,
		      const struct llc_rx *rx)
{
	return msg->response ? rx_confirm_response(link, msg) :
			       rx_confirm_request(link, msg);
}

/* A server ignores invitations (version 1) and rejections. */
static int rx_add_link(struct smc_rdma_link *link,
		       const struct smc_llc_msg *msg, const struct llc_rx *rx)
{
	if (msg->response || link->lgr->role != SMC_CLNT)
		return 0;
	return echo(link, rx, SMC_LLC_AL_REJECT);
}

static int rx_req_add_link(struct smc_rdma_link *link,
			   const struct smc_llc_msg *msg,
			   const struct llc_rx *rx)
{
	u8 p[SMC_LLC_LEN] = {};

	if (msg->response || link->lgr->role != SMC_SERV)
		return 0;
	memcpy(p, rx->data, 4);
	smc_llc_respond(p, 0);
	return smc_rdma_tx_llc(link, p, NULL);
}

/* A client learns the number of its link only from CONFIRM LINK. */
static bool is_this_link(const struct smc_rdma_link *link,
			 const struct smc_llc_msg *msg)
{
	return msg->flags & SMC_LLC_DL_ALL || !link->link_id ||
	       msg->delete_link.link_id == link->link_id;
}

/*
 * The peer does not confirm the link any more.  If it says that the path is lost
 * nothing of ours arrives there, as if it had not said anything.
 */
static void peer_left(struct smc_rdma_link *link, u32 reason)
{
	WRITE_ONCE(link->peer_bye, true);
	if (reason == SMC_LLC_DEL_LOST_PATH && !READ_ONCE(link->confirmed)) {
		link_confirmed(link, SMC_REASON_TIMEOUT_CL);
		return;
	}
	smc_rdma_link_end(link, SMC_REASON_LINK_PEER);
	link_confirmed(link, SMC_REASON_LINK_PEER);
}

/*
 * The group ends with its only link.  A client answers a request to delete the
 * link; a request to delete the group has no answer.
 */
static int rx_delete_link(struct smc_rdma_link *link,
			  const struct smc_llc_msg *msg,
			  const struct llc_rx *rx)
{
	bool all = msg->flags & SMC_LLC_DL_ALL;
	struct smc_llc_msg reply = *msg;
	int rc = 0;

	if (msg->response)
		return 0;
	if (!is_this_link(link, msg)) {
		if (link->lgr->role != SMC_CLNT)
			return 0;
		reply.response = true;
		reply.delete_link.reason = SMC_LLC_DEL_NO_LINK;
		return send_msg(link, &reply);
	}
	if (!all && link->lgr->role == SMC_CLNT) {
		reply.response = true;
		reply.delete_link.reason = 0;
		rc = send_msg(link, &reply);
	}
	if (rc == -EAGAIN)
		return rc;
	peer_left(link, msg->delete_link.reason);
	return 0;
}

/* The peer's keys are in its CLC messages: there is no table of them. */
static int rx_confirm_rkey(struct smc_rdma_link *link,
			   const struct smc_llc_msg *msg,
			   const struct llc_rx *rx)
{
	if (msg->response) {
		queue_dropped(link);
		return 0;
	}
	return echo(link, rx, msg->overflow ?
		    SMC_LLC_CR_NEGATIVE | SMC_LLC_CR_RETRY : 0);
}

static int rx_test_link(struct smc_rdma_link *link,
			const struct smc_llc_msg *msg, const struct llc_rx *rx)
{
	/* watch_silence() counts anything received as an answer */
	return msg->response ? 0 : echo(link, rx, 0);
}

/* Has an end of the connection announced that it writes no more? */
static bool is_ending(struct smc_conn *conn)
{
	return smc_conn_peer_done_writing(conn) || smc_conn_done_writing(conn);
}

/* The connection may not write any more, and has not ended. */
static void abort_revoked(struct smc_conn *conn)
{
	smc_conn_peer_error(conn, SMC_REASON_PEERPROTO);
	smc_conn_push_rcu(conn);
}

/*
 * The peer deletes the key of a connection, which means that it has ended.  The
 * next write would break the link.  If neither end has announced its end, abort
 * the connection; if we have, there is no next write.
 */
static void revoke(struct smc_rdma_link *link, struct smc_conn *conn,
		   struct smc_rdma_conn *xp)
{
	bool alive;

	spin_lock_bh(&link->post_lock);
	alive = !xp->revoked || xp->moved;
	xp->revoked = true;
	xp->moved = 0;
	spin_unlock_bh(&link->post_lock);
	if (alive && !is_ending(conn))
		abort_revoked(conn);
}

/* One walk for all keys: there may be 255 of them, and many connections. */
static void revoke_all(struct smc_rdma_link *link, const struct llc_rx *rx)
{
	struct smc_rdma_conn *xp;
	struct smc_conn *conn;
	unsigned long token;

	rcu_read_lock();
	xa_for_each(&link->lgr->conns, token, conn) {
		xp = READ_ONCE(conn->xp);
		/* before the key: pairs with rdma_conn_attach() */
		if (xp && smp_load_acquire(&xp->bound) &&
		    smc_llc_deletes_rkey(rx->data, rx->len, xp->peer_rkey))
			revoke(link, conn, xp);
	}
	rcu_read_unlock();
}

static int delete_rkey_request(struct smc_rdma_link *link,
			       const struct smc_llc_msg *msg,
			       const struct llc_rx *rx)
{
	struct smc_llc_msg reply = {
		.type = SMC_LLC_DELETE_RKEY,
		.response = true,
		.delete_rkey = msg->delete_rkey,
	};

	revoke_all(link, rx);
	return send_msg(link, &reply);
}

static int rx_delete_rkey(struct smc_rdma_link *link,
			  const struct smc_llc_msg *msg,
			  const struct llc_rx *rx)
{
	if (!msg->response)
		return delete_rkey_request(link, msg, rx);
	if (!smc_rdma_retire_done(link))
		queue_dropped(link);
	set_bit(SMC_RDMA_DO_RETIRE, &link->llc_todo);
	return 0;
}

typedef int (*llc_handler)(struct smc_rdma_link *link,
			   const struct smc_llc_msg *msg,
			   const struct llc_rx *rx);

static const llc_handler handlers[] = {
	[SMC_LLC_CONFIRM_LINK]	= rx_confirm,
	[SMC_LLC_ADD_LINK]	= rx_add_link,
	[SMC_LLC_DELETE_LINK]	= rx_delete_link,
	[SMC_LLC_REQ_ADD_LINK]	= rx_req_add_link,
	[SMC_LLC_CONFIRM_RKEY]	= rx_confirm_rkey,
	[SMC_LLC_TEST_LINK]	= rx_test_link,
	[SMC_LLC_DELETE_RKEY]	= rx_delete_rkey,
};

/* 0: the message is handled; -EAGAIN: again when there is a slot. */
static int handle(struct smc_rdma_link *link, const struct llc_rx *rx)
{
	struct smc_llc_msg msg;

	if (smc_llc_decode(rx->data, rx->len, &msg)) {
		smc_stats_inc(link->lgr->sn, SMC_STAT_LLC_MALFORMED);
		return 0;
	}
	if (msg.v2 == smc_lgr_is_v1(link->lgr) ||
	    msg.type >= ARRAY_SIZE(handlers) || !handlers[msg.type]) {
		queue_dropped(link);
		return 0;
	}
	return handlers[msg.type](link, &msg, rx);
}

static int do_test(struct smc_rdma_link *link)
{
	struct smc_llc_msg msg = { .type = SMC_LLC_TEST_LINK };

	return send_msg_end(link, &msg, &link->test_end);
}

static int do_retire(struct smc_rdma_link *link)
{
	struct smc_llc_msg msg = { .type = SMC_LLC_DELETE_RKEY };
	int rc;

	msg.delete_rkey.n_keys =
		smc_rdma_retire_next(link, msg.delete_rkey.rkey,
				     ARRAY_SIZE(msg.delete_rkey.rkey));
	if (!msg.delete_rkey.n_keys)
		return 0;
	rc = send_msg(link, &msg);
	if (!rc)
		smc_rdma_retire_sent(link, msg.delete_rkey.n_keys);
	return rc;
}

static int do_todo(struct smc_rdma_link *link, enum smc_rdma_todo what)
{
	switch (what) {
	case SMC_RDMA_DO_CONFIRM:
		return send_confirm_link(link, false);
	case SMC_RDMA_DO_TEST:
		return do_test(link);
	case SMC_RDMA_DO_RETIRE:
		return do_retire(link);
	case SMC_RDMA_DO_ACTIVE:
		now_active(link);
		return 0;
	default:
		return 0;
	}
}

static int run_todo(struct smc_rdma_link *link)
{
	unsigned int what;
	int rc;

	for (what = 0; what < SMC_RDMA_DO_NUM; what++) {
		if (!test_and_clear_bit(what, &link->llc_todo))
			continue;
		rc = do_todo(link, what);
		if (rc) {
			set_bit(what, &link->llc_todo);
			return rc;
		}
	}
	return 0;
}

static struct llc_rx *queue_head(struct smc_rdma_link *link)
{
	struct llc_rx *rx;

	spin_lock_bh(&link->llc_lock);
	rx = list_first_entry_or_null(&link->llc_queue, struct llc_rx, node);
	spin_unlock_bh(&link->llc_lock);
	return rx;
}

static void queue_drop(struct smc_rdma_link *link, struct llc_rx *rx)
{
	spin_lock_bh(&link->llc_lock);
	list_del(&rx->node);
	WRITE_ONCE(link->llc_num, link->llc_num - 1);
	spin_unlock_bh(&link->llc_lock);
	kfree(rx);
}

/* The peer decides how many messages come: other work runs between turns. */
static void llc_work(struct work_struct *work)
{
	struct smc_rdma_link *link = container_of(work, struct smc_rdma_link,
						  llc_work);
	unsigned int left = SMC_RDMA_LLC_TURN;
	struct llc_rx *rx;

	while (!READ_ONCE(link->dead)) {
		if (run_todo(link))
			return;
		rx = queue_head(link);
		if (!rx)
			return;
		if (!left--) {
			smc_rdma_llc_wake(link);
			return;
		}
		if (handle(link, rx) == -EAGAIN)
			return;
		queue_drop(link, rx);
	}
}

/**
 * smc_rdma_llc_rx() - an LLC message arrived
 * @link: link
 * @data: the message
 * @len: its length, as received
 *
 * Context: softirq.
 */
void smc_rdma_llc_rx(struct smc_rdma_link *link, const u8 *data, u32 len)
{
	struct llc_rx *rx = NULL;

	if (len < SMC_LLC_LEN) {
		smc_stats_inc(link->lgr->sn, SMC_STAT_LLC_MALFORMED);
		return;
	}
	/* a receive may have 4 KiB */
	len = smc_llc_used(data, len);
	if (READ_ONCE(link->llc_num) < SMC_RDMA_LLC_QUEUE)
		rx = kmalloc(struct_size(rx, data, len), GFP_ATOMIC);
	if (!rx) {
		queue_dropped(link);
		return;
	}
	rx->len = len;
	memcpy(rx->data, data, len);
	spin_lock_bh(&link->llc_lock);
	list_add_tail(&rx->node, &link->llc_queue);
	WRITE_ONCE(link->llc_num, link->llc_num + 1);
	spin_unlock_bh(&link->llc_lock);
	smc_rdma_llc_wake(link);
}

/* Has the peer's device acknowledged the last TEST LINK? */
static bool test_taken(struct smc_rdma_link *link)
{
	bool taken;

	spin_lock_bh(&link->post_lock);
	taken = link->test_end && link->tx_tail >= link->test_end;
	spin_unlock_bh(&link->post_lock);
	return taken;
}

/*
 * If nothing is received for a while, send TEST LINK.  The time for the answer
 * begins when the peer's device has acknowledged it: watch_stuck() is for the
 * messages in front of it.  Anything received is an answer.
 */
static void watch_silence(struct smc_rdma_link *link)
{
	unsigned int limit_s = READ_ONCE(link->lgr->sn->testlink_s);
	u32 rx = READ_ONCE(link->rx_count);

	if (rx != link->silent_rx || !limit_s) {
		link->silent_rx = rx;
		link->silent = 0;
		link->test_sent = false;
		return;
	}
	if (link->test_sent) {
		if (test_taken(link) &&
		    ++link->test_wait > SMC_RDMA_LOOKS(SMC_RDMA_LLC_MS))
			smc_rdma_link_lost(link, SMC_REASON_LINK_TEST);
		return;
	}
	if (++link->silent <= limit_s)
		return;
	link->test_sent = true;
	link->test_wait = 0;
	spin_lock_bh(&link->post_lock);
	link->test_end = 0;
	spin_unlock_bh(&link->post_lock);
	smc_rdma_llc_do(link, SMC_RDMA_DO_TEST);
}

/*
 * The peer takes no message: a device may retry without an end.  A connection
 * that joined the group now would wait as long as the others.
 */
static void watch_stuck(struct smc_rdma_link *link)
{
	struct smc_lgr *lgr = link->lgr;
	bool was = lgr->stalled;

	if (!smc_rdma_tx_awaited(link))
		smc_rdma_stall_begin(link, &link->stall);
	else if (smc_rdma_stalled(link, &link->stall))
		smc_rdma_link_lost(link, SMC_REASON_LINK_STUCK);
	WRITE_ONCE(lgr->stalled, link->stall.unsent >
		   SMC_RDMA_LOOKS(SMC_RDMA_STALLED_MS));
	if (was && !lgr->stalled)
		smc_lgr_list(lgr);
}

/* A connection whose ring was moved; true if it has to be looked at again. */
static bool look_moved(struct smc_rdma_link *link, struct smc_conn *conn,
		       struct smc_rdma_conn *xp)
{
	bool ending = is_ending(conn), late = false, again;

	spin_lock_bh(&link->post_lock);
	if (xp->moved && !ending)
		late = ++xp->moved > SMC_RDMA_LOOKS(SMC_RDMA_MOVED_MS);
	if (ending || late)
		xp->moved = 0;
	again = xp->moved;
	spin_unlock_bh(&link->post_lock);
	if (late)
		abort_revoked(conn);
	return again;
}

/* Rings that the peer uses for other connections: see ring_moved(), lgr.c. */
static void watch_moved(struct smc_rdma_link *link)
{
	struct smc_rdma_conn *xp;
	struct smc_conn *conn;
	unsigned long token;
	bool again = false;

	if (!READ_ONCE(link->moved))
		return;
	/* before the walk: pairs with ring_moved(), which sets xp->moved first */
	smp_store_mb(link->moved, false);
	rcu_read_lock();
	xa_for_each(&link->lgr->conns, token, conn) {
		xp = READ_ONCE(conn->xp);
		if (xp && smp_load_acquire(&xp->bound))
			again |= look_moved(link, conn, xp);
	}
	rcu_read_unlock();
	if (again)
		WRITE_ONCE(link->moved, true);
}

static void watch_work(struct work_struct *work)
{
	struct smc_rdma_link *link = container_of(to_delayed_work(work),
						  struct smc_rdma_link, watch);
	unsigned long delay;

	if (READ_ONCE(link->dead))
		return;
	if (!READ_ONCE(link->confirmed)) {
		link_confirmed(link, SMC_REASON_TIMEOUT_CL);
		return;
	}
	watch_silence(link);
	watch_stuck(link);
	smc_rdma_retire_tick(link);
	smc_rdma_reg_tick(link);
	watch_moved(link);
	/* all links together: each alone would keep an idle CPU awake */
	delay = __round_jiffies_relative(msecs_to_jiffies(SMC_RDMA_LOOK_MS), 0);
	mod_delayed_work(link->wq, &link->watch, delay);
}

/**
 * smc_rdma_lgr_confirm() - start the confirmation of the first link
 * @lgr: group; lgr_connect has succeeded
 *
 * The server sends the request, the client waits for it or has got it already.
 * smc_lgr_changed() reports the outcome.
 *
 * Context: process.
 * Return: 0.
 */
int smc_rdma_lgr_confirm(struct smc_lgr *lgr)
{
	unsigned int slow_ms = READ_ONCE(lgr->sn->handshake_timeout_ms);
	struct smc_rdma_link *link = smc_rdma_link(lgr);
	unsigned int limit_ms;

	if (lgr->role == SMC_SERV) {
		limit_ms = max(SMC_RDMA_CONFIRM_SERV_MS, slow_ms);
		smc_rdma_llc_do(link, SMC_RDMA_DO_CONFIRM);
	} else {
		limit_ms = max(SMC_RDMA_CONFIRM_CLNT_MS, 2 * slow_ms);
	}
	spin_lock_bh(&link->post_lock);
	if (!link->confirmed)
		watch_in(link, limit_ms);
	spin_unlock_bh(&link->post_lock);
	return 0;
}

static u32 goodbye_reason(enum smc_reason why)
{
	switch (why) {
	case SMC_REASON_TIMEOUT_CL:
		return SMC_LLC_DEL_LOST_PATH;
	case SMC_REASON_MALFORMED:
		return SMC_LLC_DEL_PROTOCOL;
	case SMC_REASON_DEVGONE:
		return SMC_LLC_DEL_OPERATOR;
	default:
		return SMC_LLC_DEL_PROGRAM;
	}
}

/**
 * smc_rdma_llc_goodbye() - send DELETE LINK for the group
 * @link: link; nothing is sent if it is dead or was never ready to send
 *
 * Waits a short while for the completions to come, of it and of the last
 * messages of connections; shorter if the peer has sent DELETE LINK first.  A
 * link whose confirmation failed may be active at the other end.
 *
 * Context: process, sleeps.
 */
void smc_rdma_llc_goodbye(struct smc_rdma_link *link)
{
	enum smc_reason why = link->lgr->why;
	struct smc_llc_msg msg = {
		.type = SMC_LLC_DELETE_LINK,
		/* orderly: an idle group, not a failure */
		.flags = SMC_LLC_DL_ALL |
			 (why == SMC_REASON_GOING ? SMC_LLC_DL_ORDERLY : 0),
	};

	if (READ_ONCE(link->dead) || READ_ONCE(link->state) < SMC_RDMA_READY)
		return;
	msg.delete_link.reason = goodbye_reason(why);
	/* a client that was told so does not say it, but may have answered */
	if (!(READ_ONCE(link->peer_bye) && link->lgr->role == SMC_CLNT) &&
	    send_msg(link, &msg))
		return;
	wait_event_timeout(link->wait, !smc_rdma_tx_awaited(link),
			   msecs_to_jiffies(READ_ONCE(link->peer_bye) ?
					    SMC_RDMA_GOODBYE_MS / 10 :
					    SMC_RDMA_GOODBYE_MS));
}

/**
 * smc_rdma_llc_init() - prepare the actor
 * @link: zeroed
 *
 * Context: process.
 */
void smc_rdma_llc_init(struct smc_rdma_link *link)
{
	spin_lock_init(&link->llc_lock);
	INIT_LIST_HEAD(&link->llc_queue);
	INIT_WORK(&link->llc_work, llc_work);
	INIT_DELAYED_WORK(&link->watch, watch_work);
}

/**
 * smc_rdma_llc_exit() - stop the clock, drop what the actor has not handled
 * @link: stopped: the actor does not run any more and does not start the clock
 *
 * Context: process, sleeps.
 */
void smc_rdma_llc_exit(struct smc_rdma_link *link)
{
	struct llc_rx *rx;

	cancel_delayed_work_sync(&link->watch);
	while ((rx = queue_head(link)))
		queue_drop(link, rx);
}
