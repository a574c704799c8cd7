/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a server makes of a Proposal: one variant and version, or a reason why
 * none.  PURE: also built in userspace.
 */
#ifndef SMC_HS_SELECT_H
#define SMC_HS_SELECT_H

#include <linux/types.h>
#include <linux/smc_reason.h>
#include "wire/clc.h"

#define SMC_MAX_UEIDS		4	/* UEIDs one host has */
#define SMC_MIN_CONNS		16	/* smallest limit of a group */
#define SMC_MAX_CONNS		255	/* limit where none is negotiated */

/* Variants in order of preference; bits of smc_select()'s @skip. */
enum smc_variant {
	SMC_VARIANT_DV2,
	SMC_VARIANT_RV2,
	SMC_VARIANT_RV1,
	SMC_VARIANT_NUM,
};

/**
 * struct smc_prefixes - IP prefixes of the route's interface
 * @has_v4: @v4_net and @v4_len are valid
 * @v4_net: IPv4 network, host order
 * @v4_len: its prefix length
 * @n_v6: entries of @v6
 * @v6: IPv6 prefixes, host bits zero
 */
struct smc_prefixes {
	bool has_v4;
	u32 v4_net;
	u8 v4_len;
	u8 n_v6;
	struct smc_clc_v6 v6[SMC_CLC_MAX_V6];
};

/**
 * struct smc_select_local - what this host can offer on the route
 * @r_v1: an RDMA port for SMC-R version 1
 * @r_v2: an RDMA port for SMC-R version 2
 * @r_imm: it can have bytes by RDMA WRITE WITH IMMEDIATE (smc_path.write_imm)
 * @d_v2: an SMC-D device
 * @same_host: both ends are on this host, and may use one port
 * @gid: own RoCE v2 GID, zero without
 * @gid_v1: own RoCE v1 GID, zero without
 * @mac: MAC address of the RDMA port; zero: its device has none
 * @r_why: why there is no RDMA port, or SMC_REASON_OK
 * @d_why: why there is no SMC-D device, or SMC_REASON_OK
 * @ism_gid: GID of the SMC-D device
 * @ism_gid_ext: its extension (emulated devices)
 * @chid: its CHID
 * @max_conns: own limit of connections per group
 * @max_links: own limit of links per group
 * @n_eids: entries of @eids
 * @eids: own UEIDs
 * @prefixes: for the comparison that version 1 asks for
 */
struct smc_select_local {
	bool r_v1;
	bool r_v2;
	bool r_imm;
	bool d_v2;
	bool same_host;
	u8 gid[SMC_GID_LEN];
	u8 gid_v1[SMC_GID_LEN];
	u8 mac[SMC_MAC_LEN];
	enum smc_reason r_why;
	enum smc_reason d_why;
	u64 ism_gid;
	u64 ism_gid_ext;
	u16 chid;
	u8 max_conns;
	u8 max_links;
	u8 n_eids;
	u8 eids[SMC_MAX_UEIDS][SMC_EID_LEN];
	struct smc_prefixes prefixes;
};

/**
 * struct smc_choice - what both sides use
 * @variant: which variant, for @skip if it cannot be set up
 * @mode: enum smc_clc_mode
 * @version: SMC version, 1 or 2
 * @release: release in use, 0 for version 1
 * @max_conns: negotiated limit of connections per group
 * @max_links: negotiated limit of links per group
 * @feature_mask: SMC_FEATURE_*, of the server until the Confirm
 * @eid: common EID (version 2)
 */
struct smc_choice {
	enum smc_variant variant;
	u8 mode;
	u8 version;
	u8 release;
	u8 max_conns;
	u8 max_links;
	u16 feature_mask;
	u8 eid[SMC_EID_LEN];
};

enum smc_reason smc_select(const struct smc_select_local *local,
			   const struct smc_clc_proposal *prop,
			   unsigned int skip, struct smc_choice *choice);
enum smc_reason smc_select_accept(const struct smc_select_local *local,
				  const struct smc_clc_proposal *prop,
				  const struct smc_clc_msg *msg,
				  struct smc_choice *choice);
enum smc_reason smc_select_confirm(const struct smc_select_local *local,
				   const struct smc_clc_proposal *prop,
				   const struct smc_choice *choice,
				   bool first_contact,
				   const struct smc_clc_msg *msg);

#endif /* SMC_HS_SELECT_H */
