/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDMA transport: for the init table of main.c.
 */
#ifndef SMC_RDMA_INIT_H
#define SMC_RDMA_INIT_H

int smc_rdma_init(void);
void smc_rdma_exit(void);

#endif /* SMC_RDMA_INIT_H */
