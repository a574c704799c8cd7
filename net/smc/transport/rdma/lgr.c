// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a group with its one link, and the transport's table.
 *
 *   lgr_up       protection domain, completion queue, queue pair in RESET, and
 *                the one for registrations
 *   lgr_connect  post receives, RTR; the server also RTS
 *   lgr_confirm  CONFIRM LINK (llc.c), ends in smc_lgr_changed()
 *   lgr_down     DELETE LINK, dead, drain, destroy, free
 *
 * Context: as struct smc_xport says; locks: rdma.h.
 * Tests: selftests/vm/tests.
 */
#include <linux/etherdevice.h>

#include "rdma.h"

/* Count the cause of a link that ends because its group ends. */
static void count_down(const struct smc_rdma_link *link)
{
	const struct smc_lgr *lgr = link->lgr;

	if (SMC_REASON_IS_LINK(lgr->why))
		return;
	if (lgr->why == SMC_REASON_DEVGONE)
		smc_stats_inc(lgr->sn, SMC_STAT_LINK_DOWN_REMOVED);
	else if (READ_ONCE(link->state) < SMC_RDMA_ACTIVE ||
		 lgr->why != SMC_REASON_GOING)
		smc_stats_inc(lgr->sn, SMC_STAT_LINK_DOWN_SETUP);
	else
		smc_stats_inc(lgr->sn, SMC_STAT_LINK_DOWN_IDLE);
}

static int queues_create(struct smc_rdma_link *link)
{
	int rc;

	smc_rdma_rx_plan(link);
	link->pd = ib_alloc_pd(link->ibdev, 0);
	if (IS_ERR(link->pd)) {
		rc = PTR_ERR(link->pd);
		goto err_pd;
	}
	/* both directions, two markers of ib_drain_qp(), registrations */
	rc = smc_rdma_cq_get(link, SMC_RDMA_SQ_DEPTH + link->rx_num + 2 +
			     SMC_RDMA_REG_DEPTH);
	if (rc)
		goto err_cq;
	rc = link->bringup->prepare(link);
	if (rc)
		goto err_qp;
	rc = smc_rdma_reg_init(link);
	if (rc)
		goto err_reg;
	return 0;

err_reg:
	link->bringup->destroy(link);
err_qp:
	smc_rdma_events_exit(link);
	smc_rdma_cq_put(link);
err_cq:
	ib_dealloc_pd(link->pd);
err_pd:
	link->cq = NULL;
	link->pd = NULL;
	return rc;
}

/* What is left of queues_create() without queue pairs. */
static void queues_put(struct smc_rdma_link *link)
{
	smc_rdma_events_exit(link);
	smc_rdma_cq_put(link);
	mutex_lock(&link->mem_mutex);
	ib_dealloc_pd(link->pd);
	link->pd = NULL;
	mutex_unlock(&link->mem_mutex);
}

static void link_init(struct smc_rdma_link *link, struct smc_lgr *lgr)
{
	struct smc_path *path = &lgr->path;

	link->lgr = lgr;
	link->bringup = &smc_rdma_bringup_roce;
	link->ibdev = smc_rdma_dev(path->dev)->ibdev;
	link->wq = smc_rdma_dev(path->dev)->wq;
	link->gid_index = smc_lgr_is_v1(lgr) ? path->gid_v1_index :
					       path->gid_index;
	memcpy(link->gid.raw, smc_lgr_is_v1(lgr) ? path->gid_v1 : path->gid,
	       sizeof(link->gid.raw));
	/* netlink may be looking at the group */
	if (lgr->role == SMC_SERV)
		WRITE_ONCE(link->link_id, 1);
	mutex_init(&link->mem_mutex);
	INIT_LIST_HEAD(&link->bufs);
	spin_lock_init(&link->retire_lock);
	INIT_LIST_HEAD(&link->retired);
	INIT_LIST_HEAD(&link->regs);
	smc_rdma_events_init(link);
}

/*
 * The MTU of a way may be smaller than that of its device.  A server has to
 * know it before the Accept tells the MTU.  A client learns the peer's GID
 * before its Confirm tells the MTU.
 */
static int way_mtu(const struct smc_rdma_link *link, const u8 *gid)
{
	int mtu = link->bringup->way_mtu(link, gid);

	if (!mtu)
		return -EHOSTUNREACH;
	return min_t(int, mtu, link->lgr->path.mtu_code);
}

static int rdma_lgr_up(struct smc_lgr *lgr)
{
	struct smc_rdma_link *link = smc_rdma_link(lgr);
	int mtu = lgr->path.mtu_code;
	int rc;

	link_init(link, lgr);
	/* an event that finds the group after this ends it */
	if (smc_rdma_gid_lost(link->ibdev, lgr))
		return -ENODEV;
	if (lgr->role == SMC_SERV)
		mtu = way_mtu(link, lgr->peer_gid);
	if (mtu < 0)
		return mtu;
	WRITE_ONCE(lgr->path.mtu_code, mtu);
	rc = smc_rdma_tx_init(link);
	if (rc)
		return rc;
	rc = queues_create(link);
	if (rc)
		goto err_queues;
	/* not with the link: its peer does not wait for our control group */
	rc = smc_rdma_rx_init(link);
	if (rc)
		goto err_rx;
	smc_rdma_llc_init(link);
	smc_stats_inc(lgr->sn, SMC_STAT_LINK_CREATED);
	return 0;

err_rx:
	smc_rdma_reg_exit(link);
	link->bringup->destroy(link);
	queues_put(link);
	smc_rdma_rx_exit(link);
err_queues:
	smc_rdma_tx_exit(link);
	return rc;
}

/*
 * A client is identified by the GID of its Proposal: a Proposal of version 2
 * alone may have no peer ID.  Connections of another traffic class need a link
 * of their own; a client has to take the one that the server names.
 */
static bool match_proposal(const struct smc_lgr *lgr,
			   const struct smc_path *path,
			   const struct smc_clc_proposal *prop)
{
	const u8 *gid = smc_lgr_is_v1(lgr) ? prop->gid : prop->v2.gid;

	return lgr->path.dev == path->dev && lgr->path.port == path->port &&
	       lgr->path.tclass == path->tclass && lgr->path.sl == path->sl &&
	       !memcmp(lgr->peer_id, prop->peer_id, SMC_PEER_ID_LEN) &&
	       !memcmp(lgr->peer_gid, gid, SMC_GID_LEN) &&
	       memchr_inv(gid, 0, SMC_GID_LEN);
}

static bool match_accept(const struct smc_lgr *lgr,
			 const struct smc_rdma_link *link,
			 const struct smc_clc_accept *acc)
{
	/* the number before the rest: pairs with peer_learn() */
	return acc->r.qpn && smp_load_acquire(&link->peer.qpn) == acc->r.qpn &&
	       !memcmp(lgr->peer_id, acc->r.peer_id, SMC_PEER_ID_LEN) &&
	       !memcmp(link->peer.gid.raw, acc->r.gid, SMC_GID_LEN) &&
	       (!smc_lgr_is_v1(lgr) ||
		ether_addr_equal(link->peer.mac, acc->r.mac));
}

/* MTU of the link; that of our own way before the peer has told its. */
static u8 link_mtu(const struct smc_lgr *lgr, const struct smc_rdma_link *link)
{
	if (smp_load_acquire(&link->peer.qpn))
		return link->peer.mtu;
	return READ_ONCE(lgr->path.mtu_code);
}

/* Has our way become too narrow for its packets?  None arrives any more. */
static bool too_large(const struct smc_lgr *lgr,
		      const struct smc_rdma_link *link,
		      const struct smc_path *path)
{
	return lgr->path.dev == path->dev && lgr->path.port == path->port &&
	       lgr->path.ifindex == path->ifindex &&
	       link_mtu(lgr, link) > path->mtu_code;
}

/* The link may be zero yet: smc_lgr_up() comes later. */
static bool lgr_match(const struct smc_lgr *lgr, const struct smc_path *path,
		      const struct smc_clc_proposal *prop,
		      const struct smc_clc_accept *acc)
{
	const struct smc_rdma_link *link;

	lockdep_assert_held(&lgr->sn->lgr_lock);
	link = &container_of(lgr, struct smc_rdma_lgr, lgr)->link;
	if (READ_ONCE(link->dead) || too_large(lgr, link, path))
		return false;
	return acc ? match_accept(lgr, link, acc) :
		     match_proposal(lgr, path, prop);
}

/*
 * Learn the peer's port.  The server takes that of the Proposal and refuses a
 * Confirm with another one.  A Proposal of version 2 alone has no MAC address:
 * then the Confirm's is used.
 */
static int peer_learn(struct smc_rdma_link *link,
		      const struct smc_clc_proposal *prop,
		      const struct smc_clc_accept *acc)
{
	const struct smc_clc_accept_r *r = &acc->r;
	const struct smc_lgr *lgr = link->lgr;
	const u8 *gid = r->gid;
	const u8 *mac = r->mac;
	int mtu = lgr->path.mtu_code;

	if (acc->mode != SMC_CLC_MODE_R || !r->qpn || !r->mtu)
		return -EPROTO;
	if (lgr->role == SMC_SERV && prop) {
		gid = smc_lgr_is_v1(lgr) ? prop->gid : prop->v2.gid;
		if (memchr_inv(r->gid, 0, SMC_GID_LEN) &&
		    memcmp(r->gid, gid, SMC_GID_LEN))
			return -EPROTO;
		/* no *_ether_addr(): it may be at an odd address */
		if (memchr_inv(prop->mac, 0, ETH_ALEN))
			mac = prop->mac;
	}
	if (lgr->role == SMC_CLNT)
		mtu = way_mtu(link, gid);
	if (mtu < 0)
		return mtu;
	memcpy(link->peer.gid.raw, gid, SMC_GID_LEN);
	memcpy(link->peer.mac, mac, ETH_ALEN);
	link->peer.psn = r->psn;
	link->peer.mtu = min_t(int, mtu, r->mtu);
	/* last: pairs with match_accept(), link_mtu() and rdma_fill_info() */
	smp_store_release(&link->peer.qpn, r->qpn);
	return 0;
}

static int rdma_lgr_connect(struct smc_lgr *lgr,
			    const struct smc_clc_proposal *prop,
			    const struct smc_clc_accept *peer)
{
	struct smc_rdma_link *link = smc_rdma_link(lgr);
	int rc;

	rc = peer_learn(link, prop, peer);
	if (rc)
		return rc;
	rc = link->bringup->connect(link);
	if (rc || lgr->role == SMC_CLNT)
		return rc;
	return smc_rdma_link_ready(link);
}

static void rdma_lgr_test(struct smc_lgr *lgr)
{
	smc_rdma_llc_do(smc_rdma_link(lgr), SMC_RDMA_DO_TEST);
}

static void rdma_lgr_down(struct smc_lgr *lgr)
{
	struct smc_rdma_link *link = smc_rdma_link(lgr);

	count_down(link);
	smc_rdma_llc_goodbye(link);
	smc_rdma_link_stop(link);
	smc_rdma_llc_exit(link);
	smc_rdma_mem_down(link);
	queues_put(link);
	smc_rdma_rx_exit(link);
	smc_rdma_tx_exit(link);
	smc_stats_inc(lgr->sn, SMC_STAT_LINK_DESTROYED);
}

static int rdma_describe(struct smc_conn *conn, struct smc_clc_accept *acc)
{
	struct smc_rdma_link *link = smc_rdma_link(conn->lgr);
	struct smc_rdma_buf *rbuf = smc_rdma_buf(conn->rmb);
	struct smc_clc_accept_r *r = &acc->r;
	int rc;

	smc_rdma_conn_init(conn);
	rc = smc_rdma_reg_key(link, conn, &r->rkey);
	if (rc)
		return rc;
	r->size_code = smc_size_code(conn->rcv_size);
	/* both ends must use the same size */
	if (WARN_ON_ONCE(smc_size_from_code(r->size_code) != conn->rcv_size))
		return -EINVAL;
	acc->mode = SMC_CLC_MODE_R;
	memcpy(r->gid, link->gid.raw, SMC_GID_LEN);
	ether_addr_copy(r->mac, conn->lgr->path.mac);
	r->qpn = link->qpn;
	r->psn = link->psn;
	r->addr = rbuf->iova;
	r->index = 1;
	r->token = conn->token;
	r->mtu = link_mtu(conn->lgr, link);
	return 0;
}

/*
 * The peer has given the ring of an old connection to a new one.  The old one's
 * last CDC message may still be on the way, as CLC messages use TCP: revoke it
 * now, so that nothing is written into the ring for it.  If that message does
 * not come watch_moved() ends the connection, which could not send any more.
 */
static void ring_moved(struct smc_rdma_link *link, struct smc_conn *conn,
		       u32 rkey, u64 addr)
{
	struct smc_rdma_conn *xp;
	struct smc_conn *other;
	unsigned long token;

	rcu_read_lock();
	xa_for_each(&conn->lgr->conns, token, other) {
		xp = READ_ONCE(other->xp);
		/* before key and address: pairs with rdma_conn_attach() */
		if (other == conn || !xp || !smp_load_acquire(&xp->bound) ||
		    xp->peer_rkey != rkey || xp->peer_addr != addr)
			continue;
		spin_lock_bh(&link->post_lock);
		xp->revoked = true;
		xp->moved = 1;
		spin_unlock_bh(&link->post_lock);
		/* after xp->moved: pairs with watch_moved() */
		smp_store_release(&link->moved, true);
	}
	rcu_read_unlock();
}

static int rdma_conn_attach(struct smc_conn *conn,
			    const struct smc_clc_accept *peer)
{
	struct smc_rdma_link *link = smc_rdma_link(conn->lgr);
	const struct smc_clc_accept_r *r = &peer->r;
	struct smc_rdma_conn *xp = conn->xp;
	u32 qpn = READ_ONCE(link->peer.qpn);
	u32 size;
	u64 addr;

	if (peer->mode != SMC_CLC_MODE_R || !r->index || !r->token)
		return -EPROTO;
	if (qpn && r->qpn != qpn)
		return -EPROTO;
	if (conn->lgr->write_imm && r->token > SMC_TOKEN_MAX)
		return -EPROTO;
	size = smc_size_from_code(r->size_code);
	if (check_add_overflow(r->addr, (u64)size * (r->index - 1), &addr) ||
	    addr + size < addr)
		return -EPROTO;
	ring_moved(link, conn, r->rkey, addr);
	smc_rdma_conn_init(conn);
	xp->peer_rkey = r->rkey;
	xp->peer_addr = addr;
	conn->peer_token = r->token;
	conn->peer_size = size;
	/* key and address first: pairs with revoke_all() and ring_moved() */
	smp_store_release(&xp->bound, true);
	return 0;
}

/* struct smc_xport_info.link_state */
static u8 shown_state(const struct smc_lgr *lgr,
		      const struct smc_rdma_link *link)
{
	if (READ_ONCE(link->dead))
		return 0;
	if (READ_ONCE(lgr->stalled))
		return 1;
	return READ_ONCE(link->state) == SMC_RDMA_ACTIVE ? 3 : 2;
}

static void rdma_fill_info(const struct smc_lgr *lgr,
			   const struct smc_conn *conn,
			   struct smc_xport_info *info)
{
	const struct smc_rdma_link *link;

	link = &container_of(lgr, struct smc_rdma_lgr, lgr)->link;
	/* a rename may be under way */
	data_race(strscpy(info->dev, lgr->dev, sizeof(info->dev)));
	/* the link may be zero yet */
	info->port = lgr->path.port;
	info->link_id = READ_ONCE(link->link_id);
	info->link_state = shown_state(lgr, link);
	info->link_uid = lgr->id + info->link_id;
	info->peer_link_uid = READ_ONCE(link->peer_uid);
	memcpy(info->gid, smc_lgr_is_v1(lgr) ? lgr->path.gid_v1 : lgr->path.gid,
	       sizeof(info->gid));
	/* zero before the peer is known: pairs with peer_learn() */
	if (smp_load_acquire(&link->peer.qpn))
		memcpy(info->peer_gid, link->peer.gid.raw,
		       sizeof(info->peer_gid));
}

const struct smc_xport smc_rdma_xport = {
	.id		= SMC_XPORT_R,
	.lgr_size	= sizeof(struct smc_rdma_lgr),
	.buf_size	= sizeof(struct smc_rdma_buf),
	.conn_size	= sizeof(struct smc_rdma_conn),
	.max_size_code	= SMC_SIZE_CODE_MAX,
	.find_path	= smc_rdma_find_path,
	.path_net	= smc_rdma_path_net,
	.gid_is_own	= smc_rdma_gid_is_own,
	.lgr_up		= rdma_lgr_up,
	.lgr_match	= lgr_match,
	.lgr_connect	= rdma_lgr_connect,
	.lgr_confirm	= smc_rdma_lgr_confirm,
	.lgr_test	= rdma_lgr_test,
	.lgr_down	= rdma_lgr_down,
	.buf_alloc	= smc_rdma_buf_alloc,
	.buf_free	= smc_rdma_buf_free,
	.describe	= rdma_describe,
	.conn_attach	= rdma_conn_attach,
	.conn_detach	= smc_rdma_conn_detach,
	.push		= smc_rdma_push,
	.fill_info	= rdma_fill_info,
	.fill_dev	= smc_rdma_fill_dev,
};
