/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the two tests of net/smc/handshake/select.c share: two hosts with an RDMA
 * port each, in one subnet, and a Proposal of the other one.
 */
#ifndef UNIT_HS_H
#define UNIT_HS_H

#include "unit.h"
#include "handshake/select.h"

static const u8 eid[SMC_EID_LEN] = "SMCV2-DEFAULT-UEID             ";
/* 10.9.0.1; 10.9.0.2, fe80::2 */
static const u8 gid_own[SMC_GID_LEN] = { [10] = 0xff, 0xff, 10, 9, 0, 1 };
static const u8 gid_peer[SMC_GID_LEN] = { [10] = 0xff, 0xff, 10, 9, 0, 2 };
static const u8 gid_peer_v1[SMC_GID_LEN] = { 0xfe, 0x80, [15] = 2 };

static struct smc_select_local local;
static struct smc_clc_proposal prop;
static struct smc_choice choice;

static inline void two_ports(void)
{
	memset(&local, 0, sizeof(local));
	local.r_v1 = true;
	local.r_v2 = true;
	local.r_imm = true;
	local.max_conns = 255;
	local.max_links = 1;
	local.n_eids = 1;
	memcpy(local.eids[0], eid, SMC_EID_LEN);
	memcpy(local.gid, gid_own, SMC_GID_LEN);
	local.prefixes.has_v4 = true;
	local.prefixes.v4_net = 0x0a090000;
	local.prefixes.v4_len = 24;

	memset(&prop, 0, sizeof(prop));
	memcpy(prop.gid, gid_peer_v1, SMC_GID_LEN);
	memcpy(prop.v2.gid, gid_peer, SMC_GID_LEN);
	prop.v4_net = 0x0a090000;
	prop.v4_len = 24;
	prop.v2.n_eids = 1;
	memcpy(prop.v2.eids[0], eid, SMC_EID_LEN);
}

#endif /* UNIT_HS_H */
