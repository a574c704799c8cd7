/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The host's identity in CLC messages: host name, peer ID.
 */
#ifndef SMC_PEER_ID_H
#define SMC_PEER_ID_H

#include <linux/types.h>
#include "wire/clc.h"

struct net;
struct smc_net;

void smc_peer_id_net_init(struct smc_net *sn);
void smc_peer_id_hostname(const struct net *net,
			  char name[SMC_HOSTNAME_LEN + 1]);
void smc_peer_id_learn_mac(struct smc_net *sn, const u8 mac[SMC_MAC_LEN]);
void smc_peer_id_get(const struct smc_net *sn, u8 id[SMC_PEER_ID_LEN]);

#endif /* SMC_PEER_ID_H */
