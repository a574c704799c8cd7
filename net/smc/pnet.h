/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of physical networks: which interfaces and RDMA ports belong
 * together when the route itself does not tell.
 */
#ifndef SMC_PNET_H
#define SMC_PNET_H

#include <linux/types.h>
#include <linux/if.h>
#include <linux/list.h>

struct net;
struct net_device;
struct smc_net;

#define SMC_PNET_ID_LEN		16
#define SMC_PNET_DEV_LEN	64	/* of an RDMA device's name, with NUL */
#define SMC_PNET_MAX_PORT	2
#define SMC_PNET_MAX_ROWS	1024	/* of a namespace */

/**
 * struct smc_pnet_row - an interface or an RDMA port and its network
 * @node: in smc_net.pnet
 * @nr: grows from row to row of the list, for dumps that go on behind one
 * @id: name of the network, 1 to 16 letters (capital) and digits
 * @eth: name of the interface, "" in a row for a port
 * @dev: name of the RDMA or SMC-D device or of its parent, "" in a row for an
 *	interface
 * @port: RDMA port, 1 or 2; means nothing for SMC-D
 */
struct smc_pnet_row {
	struct list_head node;
	unsigned long nr;
	char id[SMC_PNET_ID_LEN + 1];
	char eth[IFNAMSIZ];
	char dev[SMC_PNET_DEV_LEN];
	u8 port;
};

int smc_pnet_parse_id(const char *text, char id[SMC_PNET_ID_LEN + 1]);
int smc_pnet_add(struct smc_net *sn, const struct smc_pnet_row *rows, int num);
int smc_pnet_del(struct smc_net *sn, const char *id);
int smc_pnet_walk(struct smc_net *sn,
		  int (*fn)(const struct smc_pnet_row *row, void *arg),
		  void *arg);
bool smc_pnet_of_ndev(const struct net *net, struct net_device *ndev,
		      char id[SMC_PNET_ID_LEN + 1]);
bool smc_pnet_of_port(const char *name, const char *parent, u8 port,
		      char id[SMC_PNET_ID_LEN + 1]);

#endif /* SMC_PNET_H */
