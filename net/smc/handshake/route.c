// SPDX-License-Identifier: GPL-2.0
/*
 * What the established TCP connection tells about the way to the peer: device,
 * addresses, VLAN, round-trip time, IP prefixes.
 *
 * The device is that of the socket's route; from a container packets leave the
 * host by another one (egress.c).  The VLAN is the device's own or
 * that of the first VLAN device below it, through bonds and bridges.  IP
 * prefixes are for SMC-R version 1, which needs both hosts in one subnet
 * (RFC 7609 section 3.5.1).
 *
 * Context: process; RCU inside.
 * Tests: selftests/vm/tests/rdma_v6.sh, ipsec.sh
 */
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/tcp.h>
#include <net/addrconf.h>
#include <net/dst.h>
#include <net/inet_ecn.h>
#include <net/inet_sock.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include "addr.h"
#include "gid_route.h"
#include "priv.h"

static int lower_vlan(struct net_device *lower, struct netdev_nested_priv *priv)
{
	u16 *vlan_id = priv->data;

	if (!is_vlan_dev(lower))
		return 0;
	*vlan_id = vlan_dev_vlan_id(lower);
	return 1;
}

static u16 find_vlan(struct net_device *ndev)
{
	u16 vlan_id = 0;
	struct netdev_nested_priv priv = { .data = &vlan_id };

	if (is_vlan_dev(ndev))
		return vlan_dev_vlan_id(ndev);
	rcu_read_lock();
	netdev_walk_all_lower_dev_rcu(ndev, lower_vlan, &priv);
	rcu_read_unlock();
	return vlan_id;
}

/* Fills in addresses, ports and priority; returns the family. */
static sa_family_t fill_addresses(const struct sock *tcp,
				  struct smc_route *route)
{
	const struct inet_sock *inet = inet_sk(tcp);
	sa_family_t family;

	smc_addr_own(&route->own.addr, tcp);
	smc_addr_peer(&route->daddr, tcp);
	family = ipv6_addr_v4mapped(&route->daddr) ? AF_INET : AF_INET6;
	route->sport = inet->inet_num;
	route->dport = ntohs(inet->inet_dport);
	route->own.tclass = READ_ONCE(inet->tos) & ~INET_ECN_MASK;
	route->own.priority = READ_ONCE(tcp->sk_priority);
#if IS_ENABLED(CONFIG_IPV6)
	if (family == AF_INET6)
		route->own.tclass = READ_ONCE(inet6_sk(tcp)->tclass) &
				    ~INET_ECN_MASK;
#endif
	return family;
}

/*
 * Nothing but the route tells by which device packets leave, and what protects
 * them.  While IPsec has no key TCP has a dead one, whose device is the loopback.
 */
static struct dst_entry *get_dst(struct sock *tcp)
{
	struct dst_entry *dst = sk_dst_get(tcp);

	if (dst && READ_ONCE(dst->obsolete) <= 0)
		return dst;
	dst_release(dst);
	return NULL;
}

/* A gateway may have said that a network behind it has a smaller MTU. */
static u32 narrowed(const struct dst_entry *dst, const struct net_device *ndev)
{
	u32 mtu = dst_mtu(dst);

	return mtu < READ_ONCE(ndev->mtu) ? mtu : 0;
}

static bool has_policy(const struct sock *tcp)
{
#ifdef CONFIG_XFRM
	return rcu_access_pointer(tcp->sk_policy[0]) ||
	       rcu_access_pointer(tcp->sk_policy[1]);
#else
	return false;
#endif
}

/**
 * smc_route_get() - find out how a connection leaves this host
 * @tcp: socket, established
 * @route: filled in; the devices are held until smc_route_put()
 *
 * Return: 0 or -ENETUNREACH.
 */
int smc_route_get(struct sock *tcp, struct smc_route *route)
{
	struct dst_entry *dst = get_dst(tcp);

	memset(route, 0, sizeof(*route));
	if (!dst)
		return -ENETUNREACH;
	route->net = sock_net(tcp);
	/*
	 * The socket is not locked: connect(AF_UNSPEC) may take it from the
	 * handshake, and the next connect() change the addresses.  What is made
	 * of a mix of both is given back by the next step.
	 */
	route->family = data_race(fill_addresses(tcp, route));
	route->secured = has_policy(tcp);
	rcu_read_lock();
	/* A device that is being removed has been replaced in @dst. */
	route->own.ndev = READ_ONCE(dst->dev);
	dev_hold(route->own.ndev);
	rcu_read_unlock();
	smc_route_follow(route, dst);
	route->mtu = narrowed(dst, route->own.ndev);
	dst_release(dst);
	route->own.vlan_id = find_vlan(route->own.ndev);
	if (route->lent.ndev)
		route->lent.vlan_id = find_vlan(route->lent.ndev);
	route->rtt_us = READ_ONCE(tcp_sk(tcp)->srtt_us) >> 3;
	return 0;
}

/**
 * smc_route_put() - let go of the devices; the addresses stay
 * @route: from smc_route_get()
 */
void smc_route_put(struct smc_route *route)
{
	dev_put(route->lent.ndev);
	route->lent.ndev = NULL;
	dev_put(route->own.ndev);
	route->own.ndev = NULL;
}

static void v4_prefix(const struct smc_route *route, struct smc_prefixes *pfx)
{
	__be32 addr = route->own.addr.s6_addr32[3];
	const struct in_ifaddr *ifa;
	struct in_device *in_dev;

	in_dev = __in_dev_get_rcu(route->own.ndev);
	if (!in_dev)
		return;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		if (!inet_ifa_match(addr, ifa))
			continue;
		pfx->has_v4 = true;
		pfx->v4_net = ntohl(ifa->ifa_address & ifa->ifa_mask);
		pfx->v4_len = inet_mask_len(ifa->ifa_mask);
		return;
	}
}

static void v6_prefixes(const struct smc_route *route,
			struct smc_prefixes *pfx)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct inet6_ifaddr *ifp;
	struct inet6_dev *in6_dev;
	struct smc_clc_v6 *v6;
	struct in6_addr addr;

	in6_dev = __in6_dev_get(route->own.ndev);
	if (!in6_dev)
		return;
	read_lock_bh(&in6_dev->lock);
	list_for_each_entry(ifp, &in6_dev->addr_list, if_list) {
		if (pfx->n_v6 == SMC_CLC_MAX_V6)
			break;
		if (ipv6_addr_type(&ifp->addr) & IPV6_ADDR_LINKLOCAL)
			continue;
		v6 = &pfx->v6[pfx->n_v6++];
		v6->len = ifp->prefix_len;
		ipv6_addr_prefix(&addr, &ifp->addr, ifp->prefix_len);
		memcpy(v6->addr, &addr, sizeof(v6->addr));
	}
	read_unlock_bh(&in6_dev->lock);
#endif
}

/**
 * smc_route_prefixes() - IP prefixes of the route's device
 * @route: from smc_route_get()
 * @pfx: IPv4: the subnet of the local address; IPv6: up to eight prefixes
 *	that are not link-local
 */
void smc_route_prefixes(const struct smc_route *route,
			struct smc_prefixes *pfx)
{
	memset(pfx, 0, sizeof(*pfx));
	rcu_read_lock();
	if (route->family == AF_INET)
		v4_prefix(route, pfx);
	else
		v6_prefixes(route, pfx);
	rcu_read_unlock();
}

static enum smc_reason check_type(const struct dst_entry *dst, const u8 *gid,
				  bool same_host)
{
	const struct rt6_info *rt6;
	u8 type;

	if (dst->ops->family == AF_INET) {
		type = container_of(dst, struct rtable, dst)->rt_type;
		return type == RTN_UNICAST ||
		       (same_host && type == RTN_LOCAL) ?
			       SMC_REASON_OK : SMC_REASON_BADPORT;
	}
	rt6 = container_of(dst, struct rt6_info, dst);
	return ipv6_anycast_destination(dst, (const struct in6_addr *)gid) ||
	       (rt6->rt6i_flags & RTF_LOCAL && !same_host) ?
		       SMC_REASON_BADPORT : SMC_REASON_OK;
}

/**
 * smc_route_direct() - is the peer's RDMA port reached without a gateway?
 * @net: network namespace of the own port's addresses
 * @ifindex: the network device of its GID
 * @local: own RoCE v2 GID; is the peer on this host?
 * @gid: the peer's, of the same family
 * @direct: the answer
 *
 * The route is that of the RDMA packets, from GID to GID; TCP may use other
 * addresses.
 *
 * Return: SMC_REASON_OK; NOROUTE; BADPORT if @gid is no address of another
 * host.
 */
enum smc_reason smc_route_direct(struct net *net, int ifindex,
				 const struct smc_select_local *local,
				 const u8 gid[SMC_GID_LEN], bool *direct)
{
	struct dst_entry *dst = smc_gid_route(net, ifindex, local->gid, gid);
	enum smc_reason why;

	if (IS_ERR(dst))
		return SMC_REASON_NOROUTE;
	why = check_type(dst, gid, local->same_host);
	*direct = !smc_gid_route_gateway(dst);
	dst_release(dst);
	return why;
}
