/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module's init table calls of the shared-memory transport.
 */
#ifndef SMC_LO_H
#define SMC_LO_H

/* Register the transport and its one device.  0 or -errno.  Process. */
int smc_lo_init(void);
/* Forget them; terminates every link group.  Process, sleeps. */
void smc_lo_exit(void);

#endif /* SMC_LO_H */
