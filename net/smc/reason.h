/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the reasons of <linux/smc_reason.h> mean.
 */
#ifndef SMC_REASON_H
#define SMC_REASON_H

#include <linux/types.h>
#include <linux/smc_reason.h>

#define SMC_REASON_ONE(symbol, code, label, sentence, hint, err)	+ 1
/* how many there are, success not counted */
enum { SMC_REASON_NUM = 0 SMC_REASON_LIST(SMC_REASON_ONE) };
#undef SMC_REASON_ONE

unsigned int smc_reason_index(u32 code);
u32 smc_reason_code(unsigned int index);
int smc_reason_errno(u32 code);
bool smc_reason_on_wire(u32 code);
u32 smc_reason_wire(u32 code);

#endif /* SMC_REASON_H */
