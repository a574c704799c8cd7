/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The host's identity in CLC messages: host name, peer ID.
 */
#ifndef SMC_HOST_H
#define SMC_HOST_H

#include <linux/types.h>
#include "wire/clc.h"

void smc_host_init(void);
void smc_host_name(char name[SMC_HOSTNAME_LEN + 1]);
void smc_host_learn_mac(const u8 mac[SMC_MAC_LEN]);
void smc_host_peer_id(u8 id[SMC_PEER_ID_LEN]);

#endif /* SMC_HOST_H */
