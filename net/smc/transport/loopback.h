/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared-memory transport: for the init table of main.c.
 */
#ifndef SMC_LO_H
#define SMC_LO_H

int smc_lo_init(void);
void smc_lo_exit(void);

#endif /* SMC_LO_H */
