// SPDX-License-Identifier: GPL-2.0
/*
 * Connecting a queue pair on RoCE: the CLC messages carry all addresses and
 * numbers, and ib_modify_qp() moves the queue pair through its states (RFC 7609
 * section 3.3; attributes as in the Linux kernel's own implementation, but for
 * the timeout of an acknowledgment).
 *
 * Context: process.
 * Tests: selftests/vm/tests.
 */
#include <linux/etherdevice.h>
#include <linux/random.h>
#include <net/neighbour.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>

#include "gid_route.h"
#include "rdma.h"

/*
 * How long the device waits for an acknowledgment: 4.096 us * 2^n.  A device
 * gives up after eight of them.  Soft-RoCE does not give up, and requests an
 * acknowledgment with every 64th packet only: a busy CPU takes hundreds of
 * milliseconds for so many, and sending them again makes it worse.
 */
#define QP_TIMEOUT_MIN		15	/* 134 ms */
#define QP_TIMEOUT_SOFT		18	/* 1.07 s */
#define QP_TIMEOUT_MAX		18	/* eight are SMC_RDMA_STUCK_MS */
#define QP_TIMEOUT_RTTS		4	/* at least so many round trips */
#define QP_RETRIES		7
#define QP_RNR_FOREVER		7
#define QP_RNR_TIMER		5	/* 0.06 ms */
#define HOPS_DIRECT		1
#define HOPS_GATEWAY		64

/* The route of packets to a version 2 GID, where our GID's device is. */
static struct dst_entry *route_to(const struct smc_rdma_link *link,
				  const u8 *gid)
{
	const struct smc_path *path = &link->lgr->path;
	struct dst_entry *dst;
	struct net *net;

	net = smc_rdma_gid_net(link->ibdev, path, smc_lgr_is_v1(link->lgr));
	if (!net)
		return ERR_PTR(-ENODEV);
	dst = smc_gid_route(net, path->gid_ifindex, link->gid.raw, gid);
	put_net(net);
	return dst;
}

/* Version 1 does not leave the subnet: the device's MTU is all there is. */
static int roce_way_mtu(const struct smc_rdma_link *link, const u8 *gid)
{
	struct dst_entry *dst;
	int mtu;

	if (smc_lgr_is_v1(link->lgr))
		return IB_MTU_4096;
	dst = route_to(link, gid);
	if (IS_ERR(dst))
		return PTR_ERR(dst);
	mtu = iboe_get_mtu(dst_mtu(dst));
	dst_release(dst);
	return mtu;
}

static int roce_prepare(struct smc_rdma_link *link)
{
	struct ib_qp_cap cap = {
		.max_send_wr = SMC_RDMA_SQ_DEPTH,
		/* one for the marker of ib_drain_rq() */
		.max_recv_wr = link->rx_num + 1,
		.max_inline_data = SMC_CDC_LEN,
	};
	struct ib_qp *qp;

	qp = smc_rdma_qp_create(link, &cap);
	if (IS_ERR(qp)) {
		/* not every device has inline data */
		cap.max_inline_data = 0;
		qp = smc_rdma_qp_create(link, &cap);
	}
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	link->qp = qp;
	link->qpn = qp->qp_num;
	link->inline_ok = cap.max_inline_data >= SMC_CDC_LEN;
	link->psn = get_random_u32() & 0xffffff;
	return 0;
}

static int qp_to_init(struct smc_rdma_link *link, struct ib_qp *qp, int access)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = link->lgr->path.port,
		.qp_access_flags = access,
	};

	/* the only one that RoCE has */
	if (ib_find_cached_pkey(link->ibdev, attr.port_num,
				IB_DEFAULT_PKEY_FULL, &attr.pkey_index))
		return -ENODEV;
	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			    IB_QP_PORT | IB_QP_ACCESS_FLAGS);
}

/* The route may leave by a device that is no Ethernet. */
static int gateway_mac(const struct dst_entry *dst, const void *gw, u8 *mac)
{
	struct neighbour *neigh;
	int rc = 0;

	neigh = dst_neigh_lookup(dst, gw);
	if (!neigh)
		return -EHOSTUNREACH;
	if (neigh->dev->addr_len > ETH_ALEN) {
		rc = -EHOSTUNREACH;
	} else if (READ_ONCE(neigh->nud_state) & NUD_VALID) {
		neigh_ha_snapshot(mac, neigh, neigh->dev);
	} else {
		neigh_event_send(neigh, NULL);
		rc = -EHOSTUNREACH;
	}
	neigh_release(neigh);
	return rc;
}

/* Is the peer's GID one of this device, maybe in another namespace? */
static bool on_device(const struct smc_rdma_link *link)
{
	const struct ib_gid_attr *attr;

	attr = rdma_find_gid(link->ibdev, &link->peer.gid,
			     smc_lgr_is_v1(link->lgr) ?
			     IB_GID_TYPE_ROCE : IB_GID_TYPE_ROCE_UDP_ENCAP,
			     NULL);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

/*
 * Can the peer be reached by its MAC address?  What is sent to our own stays in
 * the device: right for a peer with the same port (IPVLAN), and only for that.
 * A device without such addresses (lo, a tunnel) has peers without.
 */
static int check_mac(const struct smc_rdma_link *link, const u8 *mac)
{
	const u8 *own = link->lgr->path.mac;
	bool ok;

	if (is_zero_ether_addr(own))
		return 0;
	if (ether_addr_equal(mac, own))
		ok = on_device(link);
	else
		ok = is_valid_ether_addr(mac);
	return ok ? 0 : -EADDRNOTAVAIL;
}

/*
 * MAC address and hop limit of the next hop: the peer itself or a gateway, as
 * for smc_route_direct().  Version 1 does not leave the subnet.
 */
static int resolve_hop(struct smc_rdma_link *link, u8 *mac, u8 *hops)
{
	struct dst_entry *dst;
	const void *gw;
	int rc;

	*hops = HOPS_DIRECT;
	ether_addr_copy(mac, link->peer.mac);
	if (smc_lgr_is_v1(link->lgr))
		return check_mac(link, mac);
	dst = route_to(link, link->peer.gid.raw);
	if (IS_ERR(dst))
		return PTR_ERR(dst);
	gw = smc_gid_route_gateway(dst);
	if (gw) {
		*hops = HOPS_GATEWAY;
		rc = gateway_mac(dst, gw, mac);
	} else {
		rc = check_mac(link, mac);
	}
	dst_release(dst);
	return rc;
}

/*
 * The queue pair gets the GID that has the index at that moment, and its
 * reference keeps the index for that GID.  So it has the path's GID if the index
 * is that one's afterwards.
 */
static int qp_to_rtr(struct smc_rdma_link *link, struct ib_qp *qp,
		     const struct smc_rdma_peer *peer, const u8 *mac, u8 hops)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = peer->mtu,
		.dest_qp_num = peer->qpn,
		.rq_psn = peer->psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = QP_RNR_TIMER,
	};
	const struct smc_path *path = &link->lgr->path;
	struct rdma_ah_attr *ah = &attr.ah_attr;
	union ib_gid gid = peer->gid;
	int rc;

	ah->type = RDMA_AH_ATTR_TYPE_ROCE;
	ether_addr_copy(ah->roce.dmac, mac);
	rdma_ah_set_port_num(ah, path->port);
	rdma_ah_set_sl(ah, path->sl);
	rdma_ah_set_grh(ah, &gid, 0, link->gid_index, hops, path->tclass);
	rc = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			  IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			  IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	if (rc)
		return rc;
	if (qp == link->qp)
		smc_rdma_link_raise(link, SMC_RDMA_RECEIVING);
	return smc_rdma_gid_lost(link->ibdev, link->lgr) ? -ENODEV : 0;
}

/* Posts receives before RTR, in which the peer can send. */
static int roce_connect(struct smc_rdma_link *link)
{
	u8 mac[ETH_ALEN] __aligned(2);
	u8 hops;
	int rc;

	rc = qp_to_init(link, link->qp, IB_ACCESS_LOCAL_WRITE |
					IB_ACCESS_REMOTE_WRITE);
	if (rc)
		return rc;
	rc = smc_rdma_rx_post(link);
	if (rc)
		return rc;
	rc = resolve_hop(link, mac, &hops);
	if (rc)
		return rc;
	return qp_to_rtr(link, link->qp, &link->peer, mac, hops);
}

/* TCP measured its round trips when queues were shorter: wait for several. */
static u8 qp_timeout(const struct smc_rdma_link *link)
{
	u64 want_ns = (u64)link->lgr->path.rtt_us * 1000 * QP_TIMEOUT_RTTS;
	u8 n = QP_TIMEOUT_MIN;

	if (link->ibdev->ops.driver_id == RDMA_DRIVER_RXE)
		n = QP_TIMEOUT_SOFT;
	while (n < QP_TIMEOUT_MAX && 4096ULL << n < want_ns)
		n++;
	return n;
}

static int qp_to_rts(struct smc_rdma_link *link, struct ib_qp *qp, u32 psn)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.sq_psn = psn,
		.timeout = qp_timeout(link),
		.retry_cnt = QP_RETRIES,
		.rnr_retry = QP_RNR_FOREVER,
		.max_rd_atomic = 1,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN |
			    IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			    IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC);
}

static int roce_ready(struct smc_rdma_link *link)
{
	return qp_to_rts(link, link->qp, link->psn);
}

static void roce_reset(const struct smc_rdma_link *link)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };

	ib_modify_qp(link->qp, &attr, IB_QP_STATE);
}

/*
 * Soft-RoCE queues a received packet, which holds the queue pair, and then
 * schedules the queue pair's task.  The task may have run and put the packet by
 * then: the queue pair would be freed below rxe_sched_task().  In RESET it takes
 * no packet.  Those that were checked before are queued when the grace period is
 * over, and the second RESET drops them.  The receiver is a soft interrupt, or,
 * if both ends are of one device, the sender's work, which is preemptible.
 */
static void rxe_quiesce(const struct smc_rdma_link *link)
{
	roce_reset(link);
	if (ether_addr_equal(link->peer.mac, link->lgr->path.mac))
		synchronize_rcu_tasks();
	else
		synchronize_rcu();
	roce_reset(link);
}

static void roce_destroy(struct smc_rdma_link *link)
{
	/* a move to RTR may have failed and let packets in all the same */
	if (link->peer.qpn && link->ibdev->ops.driver_id == RDMA_DRIVER_RXE)
		rxe_quiesce(link);
	ib_destroy_qp(link->qp);
	link->qp = NULL;
}

/* Local operations only: no remote access. */
static int roce_loop(struct smc_rdma_link *link, struct ib_qp *qp)
{
	const struct smc_path *path = &link->lgr->path;
	struct smc_rdma_peer self = {
		.gid = link->gid,
		.qpn = qp->qp_num,
		.psn = get_random_u32() & 0xffffff,
		.mtu = path->mtu_code,
	};
	int rc;

	rc = qp_to_init(link, qp, 0);
	if (rc)
		return rc;
	rc = qp_to_rtr(link, qp, &self, path->mac, HOPS_DIRECT);
	if (rc)
		return rc;
	return qp_to_rts(link, qp, self.psn);
}

const struct smc_bringup smc_rdma_bringup_roce = {
	.way_mtu = roce_way_mtu,
	.prepare = roce_prepare,
	.connect = roce_connect,
	.ready = roce_ready,
	.reset = roce_reset,
	.destroy = roce_destroy,
	.loop = roce_loop,
};
