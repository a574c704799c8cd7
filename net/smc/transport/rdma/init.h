/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module's init table calls of the RDMA transport.
 */
#ifndef SMC_RDMA_INIT_H
#define SMC_RDMA_INIT_H

/* Register the transport and learn the host's RDMA devices.  Process. */
int smc_rdma_init(void);
/* Forget them all; terminates every link group on them.  Process, sleeps. */
void smc_rdma_exit(void);

#endif /* SMC_RDMA_INIT_H */
