// SPDX-License-Identifier: GPL-2.0
/*
 * The device by which the packets of a container leave this host.
 *
 * A container's interface may be one end of a pair (veth, netkit), and what is
 * behind the other end belongs to another namespace.  Each step follows the
 * packets over one such border, if the namespace behind it lends its ports and
 * the initial one does, too:
 *
 *   pair		the other end's namespace has the route to the peer
 *   tunnel (vxlan)	the namespace of its packets has the route to its end
 *
 * What stands on another device (VLAN, macvlan, ipvlan, bond) needs no step:
 * lower devices are found in any namespace (transport/rdma/dev.c).  A bridge
 * that forwards by itself is not followed, nor what stands on one: the kernel
 * does not tell a module whether it filters VLANs.
 *
 * Where a step leads to this host itself or to nowhere, no device is found.
 *
 * IPsec and MACsec protect the packets, and RDMA would bypass them.  So a
 * connection that they protect, here or on the way, is plain TCP.
 *
 * Context: any; RCU inside.
 * Tests: selftests/vm/tests/rdma_pods.sh, selftests/smc/ipsec.sh
 */
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <net/dst.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/vxlan.h>
#include "net.h"
#include "addr.h"
#include "priv.h"

/* Containers in containers, each with a tunnel. */
#define MAX_STEPS	8

/**
 * struct way - how far the packets have been followed
 * @net: the socket's namespace
 * @ndev: the device they leave by
 * @hop: the next hop there, v4-mapped for IPv4
 * @src: whose packets they are: of the connection, or of a tunnel
 * @dst: where they go
 * @borrowed: a step, or a device below, is in a namespace that lends its ports
 * @bridged: a device that they have left by stands on a bridge
 * @tunnel: they are in a tunnel
 * @secured: IPsec or MACsec protects them, or may do so
 * @proto: TCP or UDP
 * @sport: their ports
 * @dport: likewise
 */
struct way {
	const struct net *net;
	struct net_device *ndev;
	struct in6_addr hop;
	struct in6_addr src;
	struct in6_addr dst;
	bool borrowed;
	bool bridged;
	bool tunnel;
	bool secured;
	u8 proto;
	__be16 sport;
	__be16 dport;
};

static void learn_hop(struct way *way, const struct dst_entry *dst)
{
	const struct rtable *rt;

	way->hop = way->dst;
	if (dst->ops->family != AF_INET) {
		way->hop = *rt6_nexthop(container_of(dst, struct rt6_info, dst),
					&way->dst);
		return;
	}
	rt = container_of(dst, struct rtable, dst);
	if (rt->rt_gw_family == AF_INET)
		ipv6_addr_set_v4mapped(rt->rt_gw4, &way->hop);
	else if (rt->rt_gw_family == AF_INET6)
		way->hop = rt->rt_gw6;
}

/* As for a packet that is forwarded: its source is no address of this host. */
static struct dst_entry *lookup(struct net *net, const struct way *way)
{
	struct rtable *rt;

	if (ipv6_addr_v4mapped(&way->dst)) {
		struct flowi4 fl4 = {
			.flowi4_proto = way->proto,
			.flowi4_flags = FLOWI_FLAG_ANYSRC,
			.saddr = way->src.s6_addr32[3],
			.daddr = way->dst.s6_addr32[3],
			.fl4_sport = way->sport,
			.fl4_dport = way->dport,
		};

		rt = ip_route_output_flow(net, &fl4, NULL);
		return IS_ERR(rt) ? ERR_CAST(rt) : &rt->dst;
	}
	if (IS_ENABLED(CONFIG_IPV6)) {
		struct flowi6 fl6 = {
			.flowi6_proto = way->proto,
			.saddr = way->src,
			.daddr = way->dst,
			.fl6_sport = way->sport,
			.fl6_dport = way->dport,
		};

		return ip6_dst_lookup_flow(net, NULL, &fl6, NULL);
	}
	return ERR_PTR(-ENETUNREACH);
}

/* Policies may look at marks, or at addresses that have been translated. */
static bool has_policies(const struct net *net)
{
#ifdef CONFIG_XFRM
	return READ_ONCE(net->xfrm.policy_count[XFRM_POLICY_OUT]);
#else
	return false;
#endif
}

static bool is_xfrm(const struct dst_entry *dst)
{
	/* with the flag packets are queued until there is a key */
	return dst_xfrm(dst) || dst->flags & DST_XFRM_QUEUE;
}

/*
 * Follow the packets through @net.  False: it does not forward them, or IPsec
 * may protect them, or they are for @net itself.
 */
static bool routed(struct net *net, struct way *way)
{
	struct net_device *ndev;
	struct dst_entry *dst;
	bool ok;

	if (!smc_net_lends(net))
		return false;
	way->borrowed = true;
	way->secured = has_policies(net);
	if (way->secured)
		return false;
	dst = lookup(net, way);
	if (IS_ERR(dst))
		return false;
	ndev = READ_ONCE(dst->dev);
	way->secured = is_xfrm(dst);
	ok = !dst->error && !way->secured && !(ndev->flags & IFF_LOOPBACK);
	if (ok) {
		way->ndev = ndev;
		learn_hop(way, dst);
	}
	dst_release(dst);
	return ok;
}

static bool route_is_local(struct net *net, struct net_device *ndev,
			   const struct in6_addr *addr)
{
	if (ipv6_addr_v4mapped(addr))
		return inet_addr_type(net, addr->s6_addr32[3]) == RTN_LOCAL;
	return IS_ENABLED(CONFIG_IPV6) && ipv6_chk_addr(net, addr, ndev, 0);
}

static bool cross_pair(struct way *way, struct net_device *peer)
{
	struct net_device *master = netdev_master_upper_dev_get_rcu(peer);
	struct net *net = dev_net(peer);

	/* a bridge: its host is the gateway, or the packets are not followed */
	if (master && (!netif_is_bridge_master(master) ||
		       !route_is_local(net, master, &way->hop)))
		return false;
	return routed(net, way) && way->ndev != peer;
}

/*
 * 1: followed into the tunnel; 0: the tunnel stands on a device; -errno: its
 * other end varies, or is not reached.
 */
static int enter_tunnel(struct way *way)
{
	const struct vxlan_dev *vxlan = netdev_priv(way->ndev);
	const union vxlan_addr *end = &vxlan->default_dst.remote_ip;
	struct in6_addr v4_any;

	if (vxlan->default_dst.remote_ifindex)
		return 0;
	ipv6_addr_set_v4mapped(htonl(INADDR_ANY), &v4_any);
	smc_addr_get(&way->dst, &end->sa);
	if (ipv6_addr_any(&way->dst) ||
	    ipv6_addr_equal(&way->dst, &v4_any))
		return -EHOSTUNREACH;
	memset(&way->src, 0, sizeof(way->src));
	way->tunnel = true;
	way->proto = IPPROTO_UDP;
	way->sport = 0;
	way->dport = vxlan->cfg.dst_port;
	return routed(vxlan->net, way) ? 1 : -EHOSTUNREACH;
}

/* 1: one step further; 0: there is none; -errno: not followed. */
static int egress_step(struct way *way)
{
	const struct net_device_ops *ops = way->ndev->netdev_ops;
	struct net_device *peer;

	peer = ops->ndo_get_peer_dev ? ops->ndo_get_peer_dev(way->ndev) : NULL;
	if (peer)
		return cross_pair(way, peer) ? 1 : -EHOSTUNREACH;
	return netif_is_vxlan(way->ndev) ? enter_tunnel(way) : 0;
}

/* Does the device encrypt what it sends?  The route of its packets has no xfrm. */
static bool is_ipsec(const struct net_device *ndev)
{
	const struct rtnl_link_ops *ops = ndev->rtnl_link_ops;

	return ops && (!strcmp(ops->kind, "xfrm") || !strcmp(ops->kind, "vti") ||
		       !strcmp(ops->kind, "vti6"));
}

/* Note what a device means for the way.  Not 0: the packets are protected. */
static int look(struct net_device *ndev, struct netdev_nested_priv *priv)
{
	const struct vxlan_dev *vxlan = netdev_priv(ndev);
	struct way *way = priv->data;

	if (netif_is_macsec(ndev) || is_ipsec(ndev) ||
	    (netif_is_vxlan(ndev) && has_policies(vxlan->net)))
		way->secured = true;
	if (ndev != way->ndev && netif_is_bridge_master(ndev))
		way->bridged = true;
	if (!net_eq(dev_net(ndev), way->net) && smc_net_lends(dev_net(ndev)))
		way->borrowed = true;
	return way->secured;
}

/* look() at way->ndev and its lower devices.  False: one protects. */
static bool look_down(struct way *way)
{
	struct netdev_nested_priv priv = { .data = way };

	return !look(way->ndev, &priv) &&
	       !netdev_walk_all_lower_dev_rcu(way->ndev, look, &priv);
}

/* Is there a way to a port of another namespace? */
static bool follow(struct way *way)
{
	int i, rc = 1;

	for (i = 0; i < MAX_STEPS && rc > 0; i++) {
		rc = egress_step(way);
		if (rc > 0 && !look_down(way))
			return false;
	}
	return !rc && way->borrowed && !way->bridged;
}

/* The address that the host itself would use there. */
static void own_addr(const struct way *way, struct in6_addr *addr)
{
	struct net_device *ndev = way->ndev;
	__be32 hop = way->hop.s6_addr32[3];

	memset(addr, 0, sizeof(*addr));
	if (ipv6_addr_v4mapped(&way->hop))
		ipv6_addr_set_v4mapped(inet_select_addr(ndev, hop,
							RT_SCOPE_UNIVERSE),
				       addr);
	else if (IS_ENABLED(CONFIG_IPV6))
		ipv6_dev_get_saddr(dev_net(ndev), ndev, &way->dst, 0, addr);
}

/* The priority of a socket is for devices of its own namespace. */
static void lend_port(struct smc_route *route, const struct way *way)
{
	struct smc_egress *lent = &route->lent;

	lent->ndev = way->ndev;
	dev_hold(lent->ndev);
	lent->tclass = way->tunnel ? 0 : route->own.tclass;
	lent->priority = rt_tos2priority(lent->tclass);
	if (way->ndev == route->own.ndev)
		lent->addr = route->own.addr;
	else
		own_addr(way, &lent->addr);
}

/**
 * smc_route_follow() - find the device by which packets leave this host
 * @route: its device and addresses are set, and @secured if the socket has
 *	IPsec policies.  Fills in @secured, and @lent without the VLAN; the
 *	device of @lent, if there is one, is held
 * @dst: the socket's route
 *
 * Link-local addresses are of one link: they are not followed.  If the host
 * lends nothing, only the devices of the socket's namespace are looked at.
 */
void smc_route_follow(struct smc_route *route, const struct dst_entry *dst)
{
	struct way way = {
		.net = route->net,
		.ndev = route->own.ndev,
		.src = route->own.addr,
		.dst = route->daddr,
		.secured = route->secured || is_xfrm(dst),
		.proto = IPPROTO_TCP,
		.sport = htons(route->sport),
		.dport = htons(route->dport),
	};

	rcu_read_lock();
	if (!look_down(&way) || !smc_net_lends(&init_net) ||
	    ipv6_addr_type(&route->daddr) & IPV6_ADDR_LINKLOCAL)
		goto out;
	learn_hop(&way, dst);
	if (follow(&way))
		lend_port(route, &way);
out:
	route->secured = way.secured;
	rcu_read_unlock();
}
