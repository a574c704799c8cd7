/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attributes that only this module sends, beside those that are too narrow.
 */
#ifndef TOOLS_GENL_UAPI_H
#define TOOLS_GENL_UAPI_H

/* u16, in SMC_GEN_LGR_SMCR and SMC_GEN_LGR_SMCD */
#define GENL_LGR_FULL_VLAN_ID		256
/* u64, in SMC_GEN_FBACK_STATS */
#define GENL_FBACK_STATS_FULL_CNT	256

#endif /* TOOLS_GENL_UAPI_H */
