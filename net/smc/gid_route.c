// SPDX-License-Identifier: GPL-2.0
/*
 * Routes of RDMA packets, from GID to GID (RoCE version 2).
 *
 * An adapter sends from the network device of its GID, whatever the routing
 * tables say: the way is that device's, in its VRF, and with several equal
 * routes the one by it.
 *
 * Context: process.
 * Test: selftests/vm/tests/rdma_v6.sh
 */
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/ip6_route.h>
#include <net/l3mdev.h>
#include <net/route.h>
#include "gid_route.h"

static struct dst_entry *route_v4(struct net *net, int oif, const u8 *from,
				  const u8 *to)
{
	struct flowi4 fl4 = { .flowi4_oif = oif };
	struct rtable *rt;

	memcpy(&fl4.saddr, from + 12, sizeof(fl4.saddr));
	memcpy(&fl4.daddr, to + 12, sizeof(fl4.daddr));
	rt = ip_route_output_key(net, &fl4);
	return IS_ERR(rt) ? ERR_CAST(rt) : &rt->dst;
}

static struct dst_entry *route_v6(struct net *net, int oif, const u8 *from,
				  const u8 *to)
{
	struct flowi6 fl6 = { .flowi6_oif = oif };
	struct dst_entry *dst;
	int rc;

	if (!IS_ENABLED(CONFIG_IPV6))
		return ERR_PTR(-EAFNOSUPPORT);
	memcpy(&fl6.saddr, from, sizeof(fl6.saddr));
	memcpy(&fl6.daddr, to, sizeof(fl6.daddr));
	dst = ip6_route_output(net, NULL, &fl6);
	rc = dst->error;
	if (!rc)
		return dst;
	dst_release(dst);
	return ERR_PTR(rc);
}

static struct dst_entry *look_up(struct net *net, int oif, const u8 *from,
				 const u8 *to)
{
	return smc_gid_is_v4(from) ? route_v4(net, oif, from, to) :
				     route_v6(net, oif, from, to);
}

static bool gid_is_local(const struct dst_entry *dst)
{
	if (dst->ops->family == AF_INET)
		return container_of(dst, struct rtable, dst)->rt_type ==
		       RTN_LOCAL;
	return container_of(dst, struct rt6_info, dst)->rt6i_flags & RTF_LOCAL;
}

static bool leaves_by(const struct dst_entry *dst, int ifindex)
{
	bool same;

	rcu_read_lock();
	same = READ_ONCE(dst->dev)->ifindex == ifindex;
	rcu_read_unlock();
	return same;
}

/**
 * smc_gid_route_gateway() - the gateway of a route
 * @dst: from smc_gid_route()
 *
 * Return: its address as dst_neigh_lookup() takes it, which takes the address of
 * an IPv6 gateway of an IPv4 route from the route itself; NULL: there is no
 * gateway.  Valid as long as @dst.
 */
const void *smc_gid_route_gateway(const struct dst_entry *dst)
{
	const struct rt6_info *rt6;
	const struct rtable *rt;

	if (dst->ops->family == AF_INET) {
		rt = container_of(dst, struct rtable, dst);
		return rt->rt_uses_gateway ? &rt->rt_gw4 : NULL;
	}
	rt6 = container_of(dst, struct rt6_info, dst);
	return rt6->rt6i_flags & RTF_GATEWAY ? &rt6->rt6i_gateway : NULL;
}

/* Is an IPv4 address in a subnet of the route's device? */
static bool in_subnet(const struct dst_entry *dst, const u8 *to)
{
	const struct in_ifaddr *ifa;
	struct in_device *in_dev;
	bool in = false;
	__be32 addr;

	memcpy(&addr, to + 12, sizeof(addr));
	rcu_read_lock();
	in_dev = __in_dev_get_rcu(READ_ONCE(dst->dev));
	if (in_dev)
		in_dev_for_each_ifa_rcu(ifa, in_dev)
			in |= inet_ifa_match(addr, ifa);
	rcu_read_unlock();
	return in;
}

/*
 * Is there a route by the device that was asked for?  Where there is none, IPv4
 * takes the peer to be on the link, and IPv6 takes a route by another one.
 */
static bool is_by(const struct dst_entry *dst, int ifindex, const u8 *to)
{
	return leaves_by(dst, ifindex) &&
	       (dst->ops->family != AF_INET || smc_gid_route_gateway(dst) ||
		in_subnet(dst, to));
}

/**
 * smc_gid_route() - the route of RDMA packets from one GID to another
 * @net: namespace of the network device of @from
 * @ifindex: that device
 * @from: own GID, an address of that device
 * @to: the peer's, of the same family
 *
 * Return: route with a reference, by the device if there is one; or an ERR_PTR().
 */
struct dst_entry *smc_gid_route(struct net *net, int ifindex,
				const u8 from[SMC_GID_LEN],
				const u8 to[SMC_GID_LEN])
{
	int vrf = l3mdev_master_ifindex_by_index(net, ifindex);
	struct dst_entry *dst = look_up(net, vrf, from, to);
	struct dst_entry *by;

	if (IS_ERR(dst) || gid_is_local(dst) || leaves_by(dst, ifindex))
		return dst;
	by = look_up(net, ifindex, from, to);
	if (IS_ERR(by))
		return dst;
	if (!is_by(by, ifindex, to))
		swap(by, dst);
	dst_release(dst);
	return by;
}
