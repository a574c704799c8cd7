// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices: the port and GID that serve a route.
 *
 * The GIDs of a port name its network device.  A port serves a route if that
 * device is the route's, or a lower device of the route's (VLAN, bond, bridge).
 * Only RoCE ports are used.  A version 2 GID is an IP address, and the one that
 * TCP uses is the best.  An IPv6 route takes any IPv4 GID of its device, and an
 * IPv6 GID if there is none: a client has to choose before it knows the
 * server's GIDs, and the server takes one of the same family.  If both ends are
 * on this host, any port may serve: both ends must choose the same one, so the
 * choice depends only on the two addresses.
 *
 * If there is no such port, the table of physical networks is used (pnet.c):
 * any port serves that is in the network of the route's device.  A row of the
 * table names the port, or the port's network device.
 *
 * If the table names no port, either, a port that another namespace lends
 * serves if the packets leave this host by its network device
 * (handshake/egress.c).  Any version 2 GID of it will do, as a container's
 * addresses are not the host's.
 *
 * Context: process; the registry of devices is locked for reading while they
 * are looked at.
 * Tests: selftests/vm/tests.
 */
#include <linux/if_vlan.h>
#include <linux/in.h>
#include <linux/inetdevice.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/siphash.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "pnet.h"
#include "rdma.h"

/* of a mapped address */
#define V4_PREFIX_LEN	96

/* Network devices of GIDs whose subnet is kept, by number */
#define SUBNETS		8

/*
 * Rank of a GID for a route: twice the value, plus one if its device is the
 * route's and not one below it.
 */
enum {
	RANK_NONE,
	RANK_V1,		/* a GID of RoCE version 1 */
	RANK_DEVICE,		/* right device, other address */
	RANK_SUBNET,		/* address in the same subnet */
	RANK_PEER,		/* both ends on this host: the other address */
	RANK_EXACT,		/* the address TCP uses */
	RANK_V4,		/* IPv6 route, right device, IPv4 GID */
};

static int is_below(struct net_device *lower, struct netdev_nested_priv *priv)
{
	return lower == priv->data;
}

/* Is @below a lower device of @ndev?  RCU. */
static bool stands_on(struct net_device *ndev, struct net_device *below)
{
	struct netdev_nested_priv priv = { .data = below };

	return netdev_walk_all_lower_dev_rcu(ndev, is_below, &priv);
}

/* Prefix length of the widest IPv6 subnet of @ndev that has @addr, or -1. RCU. */
static int widest_v6(struct net_device *ndev, const struct in6_addr *addr)
{
	int widest = -1;
#if IS_ENABLED(CONFIG_IPV6)
	struct inet6_dev *in6_dev = __in6_dev_get(ndev);
	const struct inet6_ifaddr *ifp;
	int len;

	if (!in6_dev)
		return -1;
	read_lock_bh(&in6_dev->lock);
	list_for_each_entry(ifp, &in6_dev->addr_list, if_list) {
		len = ifp->prefix_len;
		if ((widest < 0 || len < widest) &&
		    ipv6_prefix_equal(addr, &ifp->addr, len))
			widest = len;
	}
	read_unlock_bh(&in6_dev->lock);
#endif
	return widest;
}

/* The same for IPv4, as the length of a prefix of the mapped address. */
static int widest_v4(struct net_device *ndev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rcu(ndev);
	const struct in_ifaddr *ifa;
	int widest = -1;
	int len;

	if (!in_dev)
		return -1;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		len = V4_PREFIX_LEN + inet_mask_len(ifa->ifa_mask);
		if ((widest < 0 || len < widest) && inet_ifa_match(addr, ifa))
			widest = len;
	}
	return widest;
}

/**
 * struct subnet - the widest subnet of a network device that has an address
 * @ndev: the device; only compared, as it may be gone
 * @addr: the address, of the route
 * @len: prefix length, -1: no subnet has the address
 *
 * Of all subnets with the address the widest one contains the others.  To walk
 * the addresses of the device for each GID takes too long: each of them is a
 * GID, too.
 */
struct subnet {
	const struct net_device *ndev;
	const struct in6_addr *addr;
	int len;
};

/*
 * Do a GID and an address belong to one subnet of @ndev?  The subnet is kept
 * for the next GID of the same device.  RCU.
 */
static bool same_subnet(struct subnet *kept, struct net_device *ndev,
			const struct in6_addr *gid, const struct in6_addr *addr)
{
	if (ipv6_addr_v4mapped(gid) != ipv6_addr_v4mapped(addr))
		return false;
	if (kept->ndev != ndev || kept->addr != addr) {
		kept->ndev = ndev;
		kept->addr = addr;
		kept->len = ipv6_addr_v4mapped(addr) ?
			    widest_v4(ndev, addr->s6_addr32[3]) :
			    widest_v6(ndev, addr);
	}
	return kept->len >= 0 && ipv6_prefix_equal(gid, addr, kept->len);
}

/**
 * struct search - what is being looked for
 * @route: from the TCP connection
 * @pnet_id: "": a port of the route's device, else one in this network
 * @via: how the packets leave, &route->own or &route->lent
 * @port_in: the port at hand is in this network, from its own row
 * @max_mtu: the largest MTU of the port at hand
 * @path: the best one so far
 * @best: its rank, 0: none
 * @below: subnets of the last GIDs' network devices
 * @above: subnet of @via's network device
 */
struct search {
	const struct smc_route *route;
	char pnet_id[SMC_PNET_ID_LEN + 1];
	const struct smc_egress *via;
	bool port_in;
	u8 max_mtu;
	struct smc_path *path;
	int best;
	struct subnet below[SUBNETS];
	struct subnet above;
};

/* Does the search look for ports that other namespaces lend? */
static bool by_lent(const struct search *search)
{
	return search->via == &search->route->lent;
}

static bool port_is_local(const struct smc_route *route)
{
	return route->own.ndev->flags & IFF_LOOPBACK;
}

/*
 * May a RoCE v2 GID of this family serve the route?  A TCP connection over IPv4
 * takes IPv4 GIDs only, like the kernel's own SMC, which has no version 2 over
 * IPv6.
 */
static bool family_fits(const struct smc_route *route, const u8 *gid)
{
	if (route->family == AF_INET)
		return smc_gid_is_v4(gid);
	if (smc_gid_is_v4(gid))
		return route->gid_family != AF_INET6;
	return smc_gid_is_v6(gid) && route->gid_family != AF_INET;
}

/* The GIDs of two devices may alternate: each device has its place. */
static struct subnet *subnet_below(struct search *search,
				   const struct net_device *ndev)
{
	return &search->below[ndev->ifindex % SUBNETS];
}

/* Both ends are on this host: the other one has the addresses swapped. */
static int rank_local(struct search *search, struct net_device *ndev,
		      const struct in6_addr *gid)
{
	const struct smc_route *route = search->route;
	const struct in6_addr *first = &route->own.addr, *second = &route->daddr;

	if (memcmp(first, second, sizeof(*first)) > 0)
		swap(first, second);
	if (ipv6_addr_equal(gid, first))
		return RANK_EXACT;
	if (ipv6_addr_equal(gid, second))
		return RANK_PEER;
	return same_subnet(subnet_below(search, ndev), ndev, gid, first) ?
	       RANK_SUBNET : RANK_DEVICE;
}

/* A container's addresses are not the host's: any GID of the device will do. */
static int rank_remote(struct search *search, struct net_device *ndev,
		       const struct in6_addr *gid)
{
	const struct smc_egress *via = search->via;

	if (ipv6_addr_equal(gid, &via->addr))
		return RANK_EXACT;
	if (same_subnet(subnet_below(search, ndev), ndev, gid, &via->addr) ||
	    same_subnet(&search->above, via->ndev, gid, &via->addr))
		return RANK_SUBNET;
	return by_lent(search) ? RANK_DEVICE : RANK_NONE;
}

/* Rank of a RoCE v2 GID of a family that fits. */
static int rank_v2(struct search *search, struct net_device *ndev,
		   const union ib_gid *gid)
{
	const struct in6_addr *addr = (const struct in6_addr *)gid->raw;
	const struct smc_route *route = search->route;

	if (route->family == AF_INET6 && ipv6_addr_v4mapped(addr))
		return RANK_V4;
	return port_is_local(route) ? rank_local(search, ndev, addr) :
				 rank_remote(search, ndev, addr);
}

/*
 * The port's own network device is that of its first GID.  0: it is not in
 * @net, or there is no such GID (a slave of a bond).
 */
static int port_ifindex(struct ib_device *ibdev, u32 port,
			const struct net *net)
{
	const struct ib_gid_attr *attr;
	int ifindex;

	attr = rdma_get_gid_attr(ibdev, port, 0);
	if (IS_ERR(attr))
		return 0;
	ifindex = smc_rdma_gid_ifindex(attr, net);
	rdma_put_gid_attr(attr);
	return ifindex;
}

static bool in_network(const struct search *search, struct net_device *ndev)
{
	char id[SMC_PNET_ID_LEN + 1];

	return search->port_in ||
	       (smc_pnet_of_ndev(search->route->net, ndev, id) &&
		!strcmp(id, search->pnet_id));
}

/*
 * Is @ndev lent, and do the packets leave by it?  Not below a bridge, which may
 * filter VLANs.  Soft-RoCE works in the initial namespace on all kernels.  RCU.
 */
static bool is_lent(const struct search *search, struct ib_device *ibdev,
		    struct net_device *ndev)
{
	struct net_device *above = search->via->ndev;
	const struct net *net = dev_net(ndev);

	if (net_eq(net, search->route->net) || !smc_net_lends(net))
		return false;
	if (ibdev->ops.driver_id == RDMA_DRIVER_RXE && !net_eq(net, &init_net))
		return false;
	return ndev == above || (!netif_is_bridge_master(above) &&
				 stands_on(above, ndev));
}

/* Soft-RoCE does not know its device in a packet that a VRF has received. */
static bool soft_in_vrf(const struct ib_device *ibdev,
			const struct net_device *ndev)
{
	return ibdev->ops.driver_id == RDMA_DRIVER_RXE &&
	       netif_is_l3_slave(ndev);
}

/* May a GID of this device serve the route at all?  RCU. */
static bool ndev_fits(const struct search *search, struct ib_device *ibdev,
		      struct net_device *ndev)
{
	const struct smc_route *route = search->route;
	u16 vlan_id = is_vlan_dev(ndev) ? vlan_dev_vlan_id(ndev) : 0;

	if (!netif_running(ndev) || !netif_carrier_ok(ndev))
		return false;
	if (port_is_local(route))
		return net_eq(dev_net(ndev), route->net);
	if (vlan_id != search->via->vlan_id || soft_in_vrf(ibdev, ndev))
		return false;
	if (by_lent(search))
		return is_lent(search, ibdev, ndev);
	if (!net_eq(dev_net(ndev), route->net))
		return false;
	if (search->pnet_id[0])
		return in_network(search, ndev);
	return ndev == route->own.ndev || stands_on(route->own.ndev, ndev);
}

/*
 * The MTU of the way through a GID: its network device's or the route's without
 * the headers, as drivers compute it.  0: too small for RoCE.
 */
static u8 gid_mtu(const struct search *search, const struct net_device *ndev)
{
	u32 mtu = READ_ONCE(ndev->mtu);

	if (search->route->mtu)
		mtu = min(mtu, search->route->mtu);
	return min_t(u8, iboe_get_mtu(mtu), search->max_mtu);
}

/* Of packets of this priority, as rdma_cm has it.  RCU. */
static u8 service_level(struct net_device *ndev, u32 priority)
{
	struct net_device *real = rdma_vlan_dev_real_dev(ndev);
	u16 tci;

	if ((real ?: ndev)->num_tc)
		return netdev_get_prio_tc_map(real ?: ndev, priority);
	if (!real)
		return 0;
	tci = vlan_dev_get_egress_qos_mask(ndev, priority);
	return (tci & VLAN_PRIO_MASK) >> VLAN_PRIO_SHIFT;
}

/*
 * Rank of a GID for the route.  If it is not 0, the device, its MAC address, the
 * MTU and the service level are stored in @found.
 */
static int gid_rank(struct search *search, const struct ib_gid_attr *attr,
		    struct smc_path *found)
{
	const struct smc_route *route = search->route;
	struct net_device *ndev;
	int rank = RANK_NONE;

	if (attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
	    !family_fits(route, attr->gid.raw))
		return RANK_NONE;
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (IS_ERR_OR_NULL(ndev) || !ndev_fits(search, attr->device, ndev))
		goto out;
	if (attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP)
		rank = rank_v2(search, ndev, &attr->gid);
	else
		rank = port_is_local(route) || by_lent(search) ? RANK_NONE :
								 RANK_V1;
	/* by the table of physical networks this port reaches the peer */
	if (rank == RANK_NONE && search->pnet_id[0])
		rank = RANK_DEVICE;
	found->mtu_code = gid_mtu(search, ndev);
	if (rank == RANK_NONE || !found->mtu_code) {
		rank = RANK_NONE;
		goto out;
	}
	rank = 2 * rank + (ndev == search->via->ndev);
	found->gid_net = dev_net(ndev)->net_cookie;
	found->gid_ifindex = ndev->ifindex;
	ether_addr_copy(found->mac, ndev->dev_addr);
	found->sl = service_level(ndev, search->via->priority);
	found->ifindex = by_lent(search) ? route->own.ndev->ifindex :
					   ndev->ifindex;
out:
	rcu_read_unlock();
	return rank;
}

static bool same_device(const struct smc_path *a, const struct smc_path *b)
{
	return a->gid_net == b->gid_net && a->gid_ifindex == b->gid_ifindex;
}

static void store_gid(struct smc_path *path, const struct ib_gid_attr *attr)
{
	if (attr->gid_type == IB_GID_TYPE_ROCE) {
		path->v1 = true;
		path->gid_v1_index = attr->index;
		memcpy(path->gid_v1, attr->gid.raw, SMC_GID_LEN);
	} else {
		path->v2 = true;
		path->gid_index = attr->index;
		memcpy(path->gid, attr->gid.raw, SMC_GID_LEN);
	}
}

/* Where a GID of this type has this rank, none has a higher one for a route. */
static int top_rank(const struct smc_route *route, enum ib_gid_type type)
{
	int top = RANK_EXACT;

	if (type == IB_GID_TYPE_ROCE)
		top = RANK_V1;
	else if (route->family == AF_INET6 && route->gid_family != AF_INET6)
		top = RANK_V4;
	return 2 * top + 1;
}

/*
 * Store the first of the best GIDs of a type.  Returns the rank.  Version 2
 * comes first, and version 1 then has to be of the same network device: a
 * Proposal has one MAC address for both.  Those behind one that cannot be beaten
 * are not read.
 */
static int scan_gids(struct smc_rdma_dev *rdev, u32 port, struct search *search,
		     enum ib_gid_type type, struct smc_path *path)
{
	int num = READ_ONCE(rdev->ports[port].gids);
	int top = top_rank(search->route, type);
	const struct ib_gid_attr *attr;
	struct smc_path found;
	int best = 0;
	int rank, i;

	for (i = 0; i < num && best != top; i++) {
		attr = rdma_get_gid_attr(rdev->ibdev, port, i);
		if (IS_ERR(attr))
			continue;
		rank = 0;
		if (attr->gid_type == type) {
			found = *path;
			rank = gid_rank(search, attr, &found);
		}
		if (rank > best && (type != IB_GID_TYPE_ROCE || !path->v2 ||
				    same_device(path, &found))) {
			best = rank;
			store_gid(&found, attr);
			*path = found;
		}
		rdma_put_gid_attr(attr);
	}
	return best;
}

/* one probe at a time: another one's socket has the port, too */
static DEFINE_MUTEX(probe_lock);

/* Does anything in this namespace have the UDP port of RoCE? */
static bool roce_udp_taken(struct net *net)
{
	struct sockaddr_in any = {
		.sin_family = AF_INET,
		.sin_port = htons(ROCE_V2_UDP_DPORT),
	};
	struct socket *sock;
	int rc;

	if (sock_create_kern(net, AF_INET, SOCK_DGRAM, IPPROTO_UDP, &sock))
		return false;
	mutex_lock(&probe_lock);
	rc = kernel_bind(sock, (struct sockaddr_unsized *)&any, sizeof(any));
	sock_release(sock);
	mutex_unlock(&probe_lock);
	return rc == -EADDRINUSE;
}

/*
 * Soft-RoCE of older kernels receives in the initial namespace only, whatever
 * that of its network device is; that of newer ones in the device's.  Nothing
 * tells one from the other but the UDP port that it receives on.
 */
static bool ns_usable(struct ib_device *ibdev, struct net *net)
{
	if (!rdma_dev_access_netns(ibdev, net))
		return false;
	if (ibdev->ops.driver_id != RDMA_DRIVER_RXE || net_eq(net, &init_net))
		return true;
	return port_ifindex(ibdev, 1, net) && roce_udp_taken(net);
}

/* Is the port in the network that is searched, by a row of its own? */
static bool port_in(const struct search *search, const struct smc_dev *dev,
		    u32 port)
{
	char name[SMC_DEV_NAME_LEN], id[SMC_PNET_ID_LEN + 1];

	if (!search->pnet_id[0])
		return false;
	smc_dev_name(dev, name);
	return smc_pnet_of_port(name, dev->parent, port, id) &&
	       !strcmp(id, search->pnet_id);
}

static int scan_port(struct smc_rdma_dev *rdev, u32 port,
		     struct search *search, struct smc_path *path)
{
	struct ib_device *ibdev = rdev->ibdev;
	int rank, rank_v1 = 0;

	/* the network device of a GID may be up all the same: a bond */
	if (!rdma_protocol_roce(ibdev, port) ||
	    !smc_rdma_port_active(rdev, port))
		return 0;
	search->max_mtu = READ_ONCE(rdev->ports[port].max_mtu);
	search->port_in = port_in(search, &rdev->dev, port);
	path->port = port;
	path->vlan_id = search->via->vlan_id;
	path->rtt_us = search->route->rtt_us;
	path->tclass = search->via->tclass;
	/* its driver took the bytes in the processor's order until Linux 6.11 */
	path->write_imm = ibdev->ops.driver_id != RDMA_DRIVER_BNXT_RE;
	rank = scan_gids(rdev, port, search, IB_GID_TYPE_ROCE_UDP_ENCAP, path);
	if (rdma_protocol_roce_eth_encap(ibdev, port))
		rank_v1 = scan_gids(rdev, port, search, IB_GID_TYPE_ROCE, path);
	return max(rank, rank_v1);
}

/* Is the best port of a device a better one?  Not 0: none of another can be. */
static int scan_dev(struct smc_dev *dev, void *arg)
{
	struct smc_rdma_dev *rdev = smc_rdma_dev(dev);
	struct search *search = arg;
	unsigned int port;
	int rank;

	if (READ_ONCE(rdev->no_rings) ||
	    !(by_lent(search) ?
	      rdma_dev_access_netns(rdev->ibdev, search->route->net) :
	      ns_usable(rdev->ibdev, search->route->net)))
		return 0;
	smc_rdma_for_each_port(rdev->ibdev, port) {
		struct smc_path try = {};

		rank = scan_port(rdev, port, search, &try);
		if (rank <= search->best)
			continue;
		if (search->path->dev != dev) {
			if (!smc_dev_get(dev))
				break;
			smc_path_put(search->path);
		}
		try.dev = dev;
		*search->path = try;
		search->best = rank;
	}
	return search->best == top_rank(search->route,
					IB_GID_TYPE_ROCE_UDP_ENCAP);
}

/*
 * smc_path.id is a hash, to keep the entries of handshake/cache.c small.  All
 * inputs are our own, so the key need not be secret.
 */
static u64 path_id(const struct smc_path *path)
{
	static const siphash_key_t key;
	struct {
		u64 seq;
		u32 ups;
		u16 port;
		u16 vlan_id;
		u8 gid[2][SMC_GID_LEN];
	} way = {
		.seq = path->dev->seq,
		.ups = atomic_read(&smc_rdma_dev(path->dev)->ups),
		.port = path->port,
		.vlan_id = path->vlan_id,
	};

	memcpy(way.gid[0], path->gid, SMC_GID_LEN);
	memcpy(way.gid[1], path->gid_v1, SMC_GID_LEN);
	return siphash(&way, sizeof(way), &key) ?: 1;
}

/**
 * smc_rdma_find_path() - find the RDMA port for a route
 * @route: from the TCP connection
 * @path: filled in, with a reference to the device
 *
 * Context: process.
 * Return: SMC_REASON_OK or SMC_REASON_NOSMCRDEV.
 */
enum smc_reason smc_rdma_find_path(const struct smc_route *route,
				   struct smc_path *path)
{
	const struct smc_xport *xport = smc_xport_get(SMC_XPORT_R);
	struct search search = {
		.route = route,
		.via = &route->own,
		.path = path,
	};

	memset(path, 0, sizeof(*path));
	smc_dev_walk(xport, scan_dev, &search);
	if (!search.best &&
	    smc_pnet_of_ndev(route->net, route->own.ndev, search.pnet_id))
		smc_dev_walk(xport, scan_dev, &search);
	if (!search.best && route->lent.ndev) {
		search.pnet_id[0] = 0;
		search.via = &route->lent;
		smc_dev_walk(xport, scan_dev, &search);
	}
	if (!search.best)
		return SMC_REASON_NOSMCRDEV;
	path->id = path_id(path);
	return SMC_REASON_OK;
}

/**
 * smc_rdma_fill_dev() - describe a device for netlink
 * @dev: device
 * @net: namespace of the caller
 * @info: zeroed
 *
 * Context: process, registry locked.
 * Return: false if the device cannot be used from @net.
 */
bool smc_rdma_fill_dev(struct smc_dev *dev, struct net *net,
		       struct smc_dev_info *info)
{
	struct smc_rdma_dev *rdev = smc_rdma_dev(dev);
	struct ib_device *ibdev = rdev->ibdev;
	struct device *parent = ibdev->dev.parent;
	unsigned int port;

	if (!ns_usable(ibdev, net))
		return false;
	if (parent && dev_is_pci(parent)) {
		info->is_pci = true;
		info->pci_vendor = to_pci_dev(parent)->vendor;
		info->pci_device = to_pci_dev(parent)->device;
	}
	rdma_for_each_port(ibdev, port) {
		if (port > SMC_DEV_PORTS)
			break;
		if (!rdma_protocol_roce(ibdev, port))
			continue;
		info->port[port - 1].valid = true;
		info->port[port - 1].active = !READ_ONCE(rdev->no_rings) &&
			READ_ONCE(rdev->ports[port].active);
		info->port[port - 1].ifindex = port_ifindex(ibdev, port, net);
	}
	return true;
}
