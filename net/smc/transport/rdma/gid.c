// SPDX-License-Identifier: GPL-2.0
/*
 * GIDs: the network device and namespace of one, and whether a path still has the
 * one that was found for it (dev.c).
 *
 * Context: any, unless a function says otherwise.
 * Tests: selftests/vm/tests.
 */
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <rdma/ib_cache.h>

#include "rdma.h"

/**
 * smc_rdma_gid_ifindex() - the network device of a GID
 * @attr: GID
 * @net: namespace
 *
 * Context: any.
 * Return: its index; 0: it is not in @net, or there is none.
 */
int smc_rdma_gid_ifindex(const struct ib_gid_attr *attr, const struct net *net)
{
	struct net_device *ndev;
	int ifindex = 0;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (!IS_ERR_OR_NULL(ndev) && net_eq(dev_net(ndev), net))
		ifindex = ndev->ifindex;
	rcu_read_unlock();
	return ifindex;
}

/*
 * Is this the GID of a path, on the path's network device, at the MAC address
 * that the peer is told?  RCU.
 */
static bool is_path_gid(const struct smc_path *path, bool v1,
			const struct ib_gid_attr *attr,
			const struct net_device *ndev)
{
	return attr->gid_type == (v1 ? IB_GID_TYPE_ROCE :
				       IB_GID_TYPE_ROCE_UDP_ENCAP) &&
	       !memcmp(attr->gid.raw, v1 ? path->gid_v1 : path->gid,
		       SMC_GID_LEN) &&
	       dev_net(ndev)->net_cookie == path->gid_net &&
	       ndev->ifindex == path->gid_ifindex &&
	       ether_addr_equal(ndev->dev_addr, path->mac);
}

/**
 * smc_rdma_gid_net() - the namespace in which packets of a GID are routed
 * @ibdev: device of the path
 * @path: from smc_rdma_find_path(); perhaps put since
 * @v1: its GID of version 1
 *
 * A GID is named by its index in the port's table.  The entry may have gone
 * since, and the index may be that of another address or namespace.
 *
 * Context: any.
 * Return: that of its network device, with a reference; NULL: it is going, or
 * the index is no longer that of the path's GID.
 */
struct net *smc_rdma_gid_net(struct ib_device *ibdev,
			     const struct smc_path *path, bool v1)
{
	const struct ib_gid_attr *attr;
	struct net_device *ndev;
	struct net *net = NULL;

	attr = rdma_get_gid_attr(ibdev, path->port,
				 v1 ? path->gid_v1_index : path->gid_index);
	if (IS_ERR(attr))
		return NULL;
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (!IS_ERR_OR_NULL(ndev) && is_path_gid(path, v1, attr, ndev))
		net = maybe_get_net(dev_net(ndev));
	rcu_read_unlock();
	rdma_put_gid_attr(attr);
	return net;
}

/**
 * smc_rdma_gid_lost() - is the index of a group's GID no longer that GID's?
 * @ibdev: device of the group
 * @lgr: group; lgr_down may run
 *
 * Context: any.
 */
bool smc_rdma_gid_lost(struct ib_device *ibdev, const struct smc_lgr *lgr)
{
	struct net *net;

	net = smc_rdma_gid_net(ibdev, &lgr->path, smc_lgr_is_v1(lgr));
	if (!net)
		return true;
	put_net(net);
	return false;
}

/**
 * smc_rdma_path_net() - the namespace in which packets of a path are routed
 * @path: from smc_rdma_find_path()
 *
 * Context: process.
 * Return: as smc_rdma_gid_net().
 */
struct net *smc_rdma_path_net(const struct smc_path *path)
{
	return smc_rdma_gid_net(smc_rdma_dev(path->dev)->ibdev, path,
				!path->v2);
}

struct own_gid {
	const struct net *net;
	const u8 *gid;
};

static bool port_has(struct smc_rdma_dev *rdev, u32 port,
		     const struct own_gid *own)
{
	int num = READ_ONCE(rdev->ports[port].gids);
	const struct ib_gid_attr *attr;
	bool has = false;
	int i;

	for (i = 0; i < num && !has; i++) {
		attr = rdma_get_gid_attr(rdev->ibdev, port, i);
		if (IS_ERR(attr))
			continue;
		has = !memcmp(attr->gid.raw, own->gid, SMC_GID_LEN) &&
		      smc_rdma_gid_ifindex(attr, own->net);
		rdma_put_gid_attr(attr);
	}
	return has;
}

static int dev_has(struct smc_dev *dev, void *arg)
{
	struct smc_rdma_dev *rdev = smc_rdma_dev(dev);
	unsigned int port;

	smc_rdma_for_each_port(rdev->ibdev, port) {
		if (rdma_protocol_roce(rdev->ibdev, port) &&
		    port_has(rdev, port, arg))
			return 1;
	}
	return 0;
}

/**
 * smc_rdma_gid_is_own() - has a port this GID, in this namespace?
 * @net: namespace; the same GID in another namespace counts as another host's
 * @gid: GID
 *
 * Context: process.
 */
bool smc_rdma_gid_is_own(const struct net *net, const u8 *gid)
{
	struct own_gid own = { .net = net, .gid = gid };

	return smc_dev_walk(smc_xport_get(SMC_XPORT_R), dev_has, &own);
}
