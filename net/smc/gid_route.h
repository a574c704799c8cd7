/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Routes of RDMA packets, from GID to GID.
 */
#ifndef SMC_GID_ROUTE_H
#define SMC_GID_ROUTE_H

#include <net/dst.h>
#include <net/net_namespace.h>
#include "wire/clc.h"

struct dst_entry *smc_gid_route(struct net *net, int ifindex,
				const u8 from[SMC_GID_LEN],
				const u8 to[SMC_GID_LEN]);
const void *smc_gid_route_gateway(const struct dst_entry *dst);

#endif /* SMC_GID_ROUTE_H */
