/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The directory net.smc of a namespace.
 */
#ifndef SMC_CTL_SYSCTL_H
#define SMC_CTL_SYSCTL_H

struct smc_net;

int smc_sysctl_net_init(struct smc_net *sn);
void smc_sysctl_net_exit(struct smc_net *sn);

#endif /* SMC_CTL_SYSCTL_H */
