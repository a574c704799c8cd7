/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The host's user-defined EIDs: two hosts that share one may use SMC version 2.
 */
#ifndef SMC_UEID_H
#define SMC_UEID_H

#include <linux/types.h>
#include "select.h"

int smc_ueid_init(void);
int smc_ueid_list(u8 eids[][SMC_EID_LEN], int max);
int smc_ueid_add(const u8 *eid);
int smc_ueid_remove(const u8 *eid);
void smc_ueid_flush(void);

#endif /* SMC_UEID_H */
