// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices: which there are, and which port and GID serve a route.
 *
 * The device behind a TCP route is found from the route alone, no table is
 * needed: a port belongs to a network device through its GIDs, and a route's
 * device is either that one or stands on it (VLAN, bond, bridge).  Only RoCE
 * ports are used; their version 2 GIDs have to be mapped IPv4 addresses, of
 * which the one that TCP uses itself is the best.  An IPv6 route takes any
 * GID of its device.  When both ends are this host, any port may serve, and
 * both ends have to choose the same one, so the choice depends only on the
 * pair of addresses.
 *
 * Context: process; devs.lock (mutex) protects the list of devices and is
 * never held while the core waits for a device.
 * Tests: selftests/vm/tests.
 */
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "init.h"
#include "rdma.h"

/* How well a GID fits a route; twice the value, one more if its device is
 * the route's and not one below it.
 */
enum {
	RANK_NONE,
	RANK_DEVICE,		/* right device, other address */
	RANK_SUBNET,		/* address in the same subnet */
	RANK_PEER,		/* this host's other end of the connection */
	RANK_EXACT,		/* the address TCP uses */
};

static struct {
	struct mutex lock;	/* protects list */
	struct list_head list;	/* of struct smc_rdma_dev */
	struct workqueue_struct *wq;
} devs = {
	.lock = __MUTEX_INITIALIZER(devs.lock),
	.list = LIST_HEAD_INIT(devs.list),
};

/**
 * smc_rdma_wq() - where the LLC actors run
 *
 * Context: any.
 */
struct workqueue_struct *smc_rdma_wq(void)
{
	return devs.wq;
}

/**
 * smc_rdma_gid_is_v4() - is this a mapped IPv4 address?
 * @gid: GID
 */
bool smc_rdma_gid_is_v4(const union ib_gid *gid)
{
	return ipv6_addr_v4mapped((const struct in6_addr *)gid->raw);
}

/**
 * smc_rdma_gid_v4() - the IPv4 address of a mapped GID
 * @gid: GID
 */
__be32 smc_rdma_gid_v4(const union ib_gid *gid)
{
	return ((const struct in6_addr *)gid->raw)->s6_addr32[3];
}

/* Is @below somewhere under @ndev?  RCU. */
static int is_below(struct net_device *lower, struct netdev_nested_priv *priv)
{
	return lower == priv->data;
}

static bool stands_on(struct net_device *ndev, struct net_device *below)
{
	struct netdev_nested_priv priv = { .data = below };

	return netdev_walk_all_lower_dev_rcu(ndev, is_below, &priv);
}

/* Do both addresses belong to one subnet of @ndev?  RCU. */
static bool same_subnet(struct net_device *ndev, __be32 a, __be32 b)
{
	struct in_device *in_dev = __in_dev_get_rcu(ndev);
	const struct in_ifaddr *ifa;

	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		if (inet_ifa_match(a, ifa) && inet_ifa_match(b, ifa))
			return true;
	}
	return false;
}

static bool is_local(const struct smc_route *route)
{
	return route->ndev->flags & IFF_LOOPBACK;
}

/* Both ends on this host: they see the addresses exchanged. */
static int rank_local(const struct smc_route *route, struct net_device *ndev,
		      const union ib_gid *gid)
{
	const struct in6_addr *first = &route->saddr, *second = &route->daddr;
	__be32 addr = smc_rdma_gid_v4(gid);

	if (memcmp(first, second, sizeof(*first)) > 0)
		swap(first, second);
	if (!memcmp(gid->raw, first, sizeof(*first)))
		return RANK_EXACT;
	if (!memcmp(gid->raw, second, sizeof(*second)))
		return RANK_PEER;
	if (route->family == AF_INET &&
	    same_subnet(ndev, addr, first->s6_addr32[3]))
		return RANK_SUBNET;
	return RANK_DEVICE;
}

static int rank_remote(const struct smc_route *route, struct net_device *ndev,
		       const union ib_gid *gid)
{
	__be32 saddr = route->saddr.s6_addr32[3];

	if (route->family != AF_INET)
		return RANK_DEVICE;
	if (!memcmp(gid->raw, &route->saddr, sizeof(route->saddr)))
		return RANK_EXACT;
	if (same_subnet(ndev, smc_rdma_gid_v4(gid), saddr) ||
	    same_subnet(route->ndev, smc_rdma_gid_v4(gid), saddr))
		return RANK_SUBNET;
	return RANK_NONE;
}

/* May a GID of this device serve the route at all?  RCU. */
static bool ndev_fits(const struct smc_route *route, struct net_device *ndev)
{
	u16 vlan_id = is_vlan_dev(ndev) ? vlan_dev_vlan_id(ndev) : 0;

	if (!net_eq(dev_net(ndev), route->net))
		return false;
	if (is_local(route))
		return true;
	if (vlan_id != route->vlan_id)
		return false;
	return ndev == route->ndev || stands_on(route->ndev, ndev);
}

/*
 * How well does this GID serve the route?  The MAC address goes to @mac if it
 * does.
 */
static int gid_rank(const struct smc_route *route,
		    const struct ib_gid_attr *attr, u8 *mac)
{
	struct net_device *ndev;
	int rank = RANK_NONE;

	if (attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
	    !smc_rdma_gid_is_v4(&attr->gid))
		return RANK_NONE;
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (IS_ERR_OR_NULL(ndev) || !ndev_fits(route, ndev))
		goto out;
	if (attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		rank = is_local(route) ? RANK_NONE : RANK_DEVICE;
	else if (is_local(route))
		rank = rank_local(route, ndev, &attr->gid);
	else
		rank = rank_remote(route, ndev, &attr->gid);
	if (rank == RANK_NONE)
		goto out;
	rank = 2 * rank + (ndev == route->ndev);
	ether_addr_copy(mac, ndev->dev_addr);
out:
	rcu_read_unlock();
	return rank;
}

/* The best GIDs of a port.  Returns the rank. */
static int scan_gids(struct ib_device *ibdev, u32 port, int num,
		     const struct smc_route *route, struct smc_path *path)
{
	const struct ib_gid_attr *attr;
	u8 mac[ETH_ALEN];
	int best = 0;
	int rank, i;

	for (i = 0; i < num; i++) {
		attr = rdma_get_gid_attr(ibdev, port, i);
		if (IS_ERR(attr))
			continue;
		rank = gid_rank(route, attr, mac);
		if (rank && attr->gid_type == IB_GID_TYPE_ROCE && !path->v1) {
			path->v1 = true;
			path->gid_v1_index = i;
			memcpy(path->gid_v1, attr->gid.raw, SMC_GID_LEN);
		} else if (attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP) {
			rank = 0;
		} else if (rank > best) {
			path->v2 = true;
			path->gid_index = i;
			memcpy(path->gid, attr->gid.raw, SMC_GID_LEN);
		}
		if (rank > best) {
			best = rank;
			ether_addr_copy(path->mac, mac);
		}
		rdma_put_gid_attr(attr);
	}
	return best;
}

/*
 * Soft-RoCE listens in the initial namespace only, whatever namespace its
 * network device is in: elsewhere no packet would ever arrive.
 */
static bool ns_usable(struct ib_device *ibdev, const struct net *net)
{
	if (ibdev->ops.driver_id == RDMA_DRIVER_RXE && !net_eq(net, &init_net))
		return false;
	return rdma_dev_access_netns(ibdev, net);
}

static int scan_port(struct smc_rdma_dev *rdev, u32 port,
		     const struct smc_route *route, struct smc_path *path)
{
	struct ib_device *ibdev = rdev->ibdev;
	struct ib_port_attr attr;

	if (!rdma_protocol_roce(ibdev, port) ||
	    ib_query_port(ibdev, port, &attr) ||
	    attr.state != IB_PORT_ACTIVE)
		return 0;
	path->port = port;
	path->mtu_code = attr.active_mtu;
	path->vlan_id = route->vlan_id;
	return scan_gids(ibdev, port, attr.gid_tbl_len, route, path);
}

/* The best port of a device for the route, if better than @best. */
static int scan_dev(struct smc_rdma_dev *rdev, const struct smc_route *route,
		    struct smc_path *path, int best)
{
	unsigned int port;
	int rank;

	if (!ns_usable(rdev->ibdev, route->net))
		return best;
	rdma_for_each_port(rdev->ibdev, port) {
		struct smc_path try = {};

		/* A port's number is one byte here (uapi and core). */
		if (port > U8_MAX)
			break;
		rank = scan_port(rdev, port, route, &try);
		if (rank <= best)
			continue;
		if (!path->dev || path->dev != &rdev->dev) {
			if (!smc_dev_get(&rdev->dev))
				break;
			smc_path_put(path);
		}
		try.dev = &rdev->dev;
		*path = try;
		best = rank;
	}
	return best;
}

/**
 * smc_rdma_offer() - find the RDMA port for a route
 * @route: from the TCP connection
 * @path: filled in, with a reference to the device
 *
 * Context: process.
 * Return: SMC_REASON_OK or SMC_REASON_NOSMCRDEV.
 */
enum smc_reason smc_rdma_offer(const struct smc_route *route,
			       struct smc_path *path)
{
	struct smc_rdma_dev *rdev;
	int best = 0;

	memset(path, 0, sizeof(*path));
	mutex_lock(&devs.lock);
	list_for_each_entry(rdev, &devs.list, node)
		best = scan_dev(rdev, route, path, best);
	mutex_unlock(&devs.lock);
	return best ? SMC_REASON_OK : SMC_REASON_NOSMCRDEV;
}

/* Does this event take the link down? */
static bool link_hit(struct smc_rdma_link *link, const struct ib_event *event)
{
	union ib_gid gid;

	switch (event->event) {
	case IB_EVENT_DEVICE_FATAL:
		return true;
	case IB_EVENT_PORT_ERR:
		return link->port == event->element.port_num;
	case IB_EVENT_GID_CHANGE:
		return link->port == event->element.port_num &&
		       (rdma_query_gid(link->ibdev, link->port,
				       link->gid_index, &gid) ||
			memcmp(&gid, &link->gid, sizeof(gid)));
	default:
		return false;
	}
}

static void dev_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct smc_rdma_dev *rdev = container_of(handler, struct smc_rdma_dev,
						 events);
	struct smc_rdma_link *link;

	spin_lock_bh(&rdev->lock);
	list_for_each_entry(link, &rdev->links, dev_node) {
		if (link_hit(link, event))
			smc_rdma_link_lost(link, SMC_REASON_LINKLOST);
	}
	spin_unlock_bh(&rdev->lock);
}

/* Enough of everything, and at least one RoCE port? */
static bool dev_usable(struct ib_device *ibdev)
{
	unsigned int port;

	if (!(ibdev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) ||
	    ibdev->attrs.max_qp_wr < SMC_RDMA_SQ_DEPTH ||
	    ibdev->attrs.max_qp_wr < SMC_RDMA_RX_MIN + 1)
		return false;
	rdma_for_each_port(ibdev, port) {
		if (rdma_protocol_roce(ibdev, port))
			return true;
	}
	return false;
}

static struct ib_client client;

static int dev_add(struct ib_device *ibdev)
{
	struct smc_rdma_dev *rdev;

	if (!dev_usable(ibdev))
		return -EOPNOTSUPP;
	rdev = kzalloc(sizeof(*rdev), GFP_KERNEL);
	if (!rdev)
		return -ENOMEM;
	rdev->ibdev = ibdev;
	spin_lock_init(&rdev->lock);
	INIT_LIST_HEAD(&rdev->links);
	INIT_IB_EVENT_HANDLER(&rdev->events, ibdev, dev_event);
	smc_dev_add(&rdev->dev, &smc_rdma_xport, dev_name(&ibdev->dev));
	ib_set_client_data(ibdev, &client, rdev);
	ib_register_event_handler(&rdev->events);
	mutex_lock(&devs.lock);
	list_add_tail(&rdev->node, &devs.list);
	mutex_unlock(&devs.lock);
	return 0;
}

static void dev_remove(struct ib_device *ibdev, void *data)
{
	struct smc_rdma_dev *rdev = data;

	mutex_lock(&devs.lock);
	list_del(&rdev->node);
	mutex_unlock(&devs.lock);
	ib_unregister_event_handler(&rdev->events);
	/* Ends all groups on it and waits for them. */
	smc_dev_del(&rdev->dev);
	WARN_ON_ONCE(!list_empty(&rdev->links));
	kfree(rdev);
}

static void dev_rename(struct ib_device *ibdev, void *data)
{
	struct smc_rdma_dev *rdev = data;

	strscpy(rdev->dev.name, dev_name(&ibdev->dev), sizeof(rdev->dev.name));
}

static struct ib_client client = {
	.name = "smc",
	.add = dev_add,
	.remove = dev_remove,
	.rename = dev_rename,
};

int smc_rdma_init(void)
{
	int rc;

	devs.wq = alloc_workqueue("smc_rdma", WQ_UNBOUND, 0);
	if (!devs.wq)
		return -ENOMEM;
	rc = smc_xport_register(&smc_rdma_xport);
	if (rc)
		goto err_wq;
	rc = ib_register_client(&client);
	if (rc)
		goto err_xport;
	return 0;

err_xport:
	smc_xport_unregister(&smc_rdma_xport);
err_wq:
	destroy_workqueue(devs.wq);
	return rc;
}

void smc_rdma_exit(void)
{
	ib_unregister_client(&client);
	smc_xport_unregister(&smc_rdma_xport);
	destroy_workqueue(devs.wq);
}
