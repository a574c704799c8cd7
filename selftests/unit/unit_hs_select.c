// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of net/smc/handshake/select.c.
 */
#include "unit_hs.h"

#define OWN_GID		0x1122334455667788ULL
#define OWN_EXT		0x99aabbccddeeff00ULL

static const u8 eid_b[SMC_EID_LEN] = "OTHER.EID                      ";
static const u8 eid_c[SMC_EID_LEN] = "THIRD.EID                      ";

/* A host that can do everything, and a Proposal of another such host. */
static int everything(void **state)
{
	two_ports();
	local.d_v2 = true;
	local.ism_gid = OWN_GID;
	local.ism_gid_ext = OWN_EXT;
	local.chid = SMC_CHID_LOOPBACK;

	prop.offer_v1 = SMC_OFFER_R;
	prop.offer_v2 = SMC_OFFER_BOTH;
	prop.v2.release = 1;
	prop.v2.has_d = true;
	prop.v2.max_conns = 255;
	prop.v2.max_links = 2;
	prop.v2.feature_mask = SMC_FEATURE_EMU_ISM;
	prop.v2.n_ism = 2;
	prop.v2.ism[0].gid = 1;
	prop.v2.ism[0].chid = SMC_CHID_LOOPBACK;
	prop.v2.ism[1].gid = 2;
	prop.v2.ism[1].chid = SMC_CHID_LOOPBACK;
	memset(&choice, 0xff, sizeof(choice));
	return 0;
}

static void same_host(void)
{
	prop.v2.ism[0].gid = OWN_GID;
	prop.v2.ism[1].gid = OWN_EXT;
}

static void gets(enum smc_reason want)
{
	assert_int_equal(smc_select(&local, &prop, 0, &choice), want);
}

static void chooses(enum smc_variant want)
{
	gets(SMC_REASON_OK);
	assert_int_equal(choice.variant, want);
}

static void select__order(void **state)
{
	unsigned int skip = 0;

	same_host();
	chooses(SMC_VARIANT_DV2);
	assert_int_equal(choice.mode, SMC_CLC_MODE_D);
	assert_int_equal(choice.version, 2);

	skip |= 1 << SMC_VARIANT_DV2;
	assert_int_equal(smc_select(&local, &prop, skip, &choice), 0);
	assert_int_equal(choice.variant, SMC_VARIANT_RV2);
	assert_int_equal(choice.mode, SMC_CLC_MODE_R);
	assert_int_equal(choice.version, 2);

	skip |= 1 << SMC_VARIANT_RV2;
	assert_int_equal(smc_select(&local, &prop, skip, &choice), 0);
	assert_int_equal(choice.variant, SMC_VARIANT_RV1);
	assert_int_equal(choice.mode, SMC_CLC_MODE_R);
	assert_int_equal(choice.version, 1);
	assert_int_equal(choice.release, 0);

	skip |= 1 << SMC_VARIANT_RV1;
	assert_int_not_equal(smc_select(&local, &prop, skip, &choice), 0);
}

static void select__foreign_loopback(void **state)
{
	chooses(SMC_VARIANT_RV2);
	local.r_v1 = false;
	local.r_v2 = false;
	local.r_why = SMC_REASON_NOSMCRDEV;
	gets(SMC_REASON_NOSMCRDEV);
	prop.offer_v1 = SMC_OFFER_NONE;
	prop.offer_v2 = SMC_OFFER_D;
	gets(SMC_REASON_NOSMCD2DEV);
}

static void select__ism_entries(void **state)
{
	struct smc_clc_ism *ism = prop.v2.ism;

	prop.offer_v1 = SMC_OFFER_NONE;
	prop.offer_v2 = SMC_OFFER_D;
	/* a native device, half an emulated one, then ours */
	prop.v2.n_ism = 4;
	ism[0].gid = OWN_GID;
	ism[0].chid = 0x1234;
	ism[1].gid = OWN_GID;
	ism[1].chid = 0xff01;
	ism[2].gid = OWN_GID;
	ism[2].chid = SMC_CHID_LOOPBACK;
	ism[3].gid = OWN_EXT;
	ism[3].chid = SMC_CHID_LOOPBACK;
	chooses(SMC_VARIANT_DV2);
	/* the second entry is missing */
	prop.v2.n_ism = 3;
	gets(SMC_REASON_NOSMCD2DEV);
	/* the second entry belongs to another device */
	prop.v2.n_ism = 4;
	ism[3].chid = 0xff01;
	gets(SMC_REASON_NOSMCD2DEV);
	/* the extension differs */
	ism[3].chid = SMC_CHID_LOOPBACK;
	ism[3].gid++;
	gets(SMC_REASON_NOSMCD2DEV);
	/* a pair is not read from its middle */
	ism[1].chid = SMC_CHID_LOOPBACK;
	ism[3].gid = OWN_EXT;
	gets(SMC_REASON_NOSMCD2DEV);
	prop.v2.n_ism = 0;
	gets(SMC_REASON_NOSMCD2DEV);
}

/* A device that is not emulated has one entry, whatever follows. */
static void select__native_ism(void **state)
{
	struct smc_clc_ism *ism = prop.v2.ism;

	prop.offer_v1 = SMC_OFFER_NONE;
	prop.offer_v2 = SMC_OFFER_D;
	local.chid = SMC_CHID_EMULATED - 1;
	prop.v2.n_ism = 1;
	ism[0].chid = local.chid;
	ism[0].gid = OWN_GID;
	ism[1].gid = 5;
	chooses(SMC_VARIANT_DV2);
	ism[0].gid++;
	gets(SMC_REASON_NOSMCD2DEV);
	/* the first emulated one needs its second entry */
	local.chid = SMC_CHID_EMULATED;
	ism[0].chid = local.chid;
	ism[0].gid = OWN_GID;
	gets(SMC_REASON_NOSMCD2DEV);
	ism[1].chid = local.chid;
	ism[1].gid = OWN_EXT;
	gets(SMC_REASON_NOSMCD2DEV);
	prop.v2.n_ism = 2;
	chooses(SMC_VARIANT_DV2);
	/* the extension alone is not enough */
	ism[0].gid++;
	gets(SMC_REASON_NOSMCD2DEV);
}

static void select__full_ism_list(void **state)
{
	u8 i;

	prop.offer_v2 = SMC_OFFER_D;
	prop.offer_v1 = SMC_OFFER_NONE;
	prop.v2.n_ism = SMC_CLC_MAX_ISM;
	for (i = 0; i < SMC_CLC_MAX_ISM; i++) {
		prop.v2.ism[i].chid = 1;
		prop.v2.ism[i].gid = i;
	}
	/* last entry, alone: nothing behind it is looked at */
	prop.v2.ism[7].chid = SMC_CHID_LOOPBACK;
	prop.v2.ism[7].gid = OWN_GID;
	gets(SMC_REASON_NOSMCD2DEV);
	prop.v2.ism[6].chid = SMC_CHID_LOOPBACK;
	prop.v2.ism[6].gid = OWN_GID;
	prop.v2.ism[7].gid = OWN_EXT;
	chooses(SMC_VARIANT_DV2);
}

static void select__eids(void **state)
{
	prop.offer_v1 = SMC_OFFER_NONE;
	/* the first of the client's list that is ours too */
	prop.v2.n_eids = 3;
	memcpy(prop.v2.eids[0], eid_c, SMC_EID_LEN);
	memcpy(prop.v2.eids[1], eid_b, SMC_EID_LEN);
	memcpy(prop.v2.eids[2], eid, SMC_EID_LEN);
	local.n_eids = 2;
	memcpy(local.eids[1], eid_b, SMC_EID_LEN);
	chooses(SMC_VARIANT_RV2);
	assert_memory_equal(choice.eid, eid_b, SMC_EID_LEN);
	same_host();
	chooses(SMC_VARIANT_DV2);
	assert_memory_equal(choice.eid, eid_b, SMC_EID_LEN);

	prop.v2.n_eids = 1;
	gets(SMC_REASON_NOUEID);
	prop.v2.n_eids = 0;
	gets(SMC_REASON_NOUEID);
	/* version 1 needs none */
	prop.offer_v1 = SMC_OFFER_R;
	chooses(SMC_VARIANT_RV1);
}

static void select__eids_end(void **state)
{
	prop.offer_v1 = SMC_OFFER_NONE;
	/* what is behind the lists is not in them */
	memcpy(prop.v2.eids[0], eid_b, SMC_EID_LEN);
	memcpy(prop.v2.eids[1], eid, SMC_EID_LEN);
	memcpy(local.eids[1], eid_b, SMC_EID_LEN);
	gets(SMC_REASON_NOUEID);
	prop.v2.n_eids = 2;
	chooses(SMC_VARIANT_RV2);
	assert_memory_equal(choice.eid, eid, SMC_EID_LEN);

	/* a client without UEIDs that has a SEID has a device first of all */
	prop.offer_v2 = SMC_OFFER_D;
	prop.v2.n_eids = 0;
	gets(SMC_REASON_NOUEID);
	prop.v2.seid_valid = true;
	gets(SMC_REASON_NOSMCD2DEV);
	same_host();
	gets(SMC_REASON_NOUEID);
}

static void select__limits(void **state)
{
	prop.offer_v1 = SMC_OFFER_NONE;
	chooses(SMC_VARIANT_RV2);
	assert_int_equal(choice.release, 1);
	assert_int_equal(choice.max_conns, 255);
	assert_int_equal(choice.max_links, 1);
	assert_int_equal(choice.feature_mask, SMC_FEATURE_EMU_ISM);

	prop.v2.release = 15;
	prop.v2.max_conns = 16;
	chooses(SMC_VARIANT_RV2);
	assert_int_equal(choice.release, SMC_RELEASE);
	assert_int_equal(choice.max_conns, 16);
	prop.v2.max_conns = 100;
	local.max_conns = 32;
	chooses(SMC_VARIANT_RV2);
	assert_int_equal(choice.max_conns, 32);

	prop.v2.max_conns = 15;
	gets(SMC_REASON_MAXCONNERR);
	prop.v2.max_conns = 255;
	prop.v2.max_links = 0;
	gets(SMC_REASON_MAXLINKERR);
	/* release 0 knows no limits */
	prop.v2.release = 0;
	prop.v2.max_conns = 0;
	chooses(SMC_VARIANT_RV2);
	assert_int_equal(choice.release, 0);
	assert_int_equal(choice.max_conns, 255);
	assert_int_equal(choice.feature_mask, 0);
}

/* The server takes bytes without a CDC if the client offers it, over RDMA only. */
static void select__imm(void **state)
{
	prop.v2.feature_mask = 0xffff;
	chooses(SMC_VARIANT_RV2);
	assert_int_equal(choice.feature_mask,
			 SMC_FEATURE_EMU_ISM | SMC_FEATURE_IMM);
	prop.v2.feature_mask = SMC_FEATURE_IMM;
	chooses(SMC_VARIANT_RV2);
	assert_int_equal(choice.feature_mask,
			 SMC_FEATURE_EMU_ISM | SMC_FEATURE_IMM);
	prop.v2.feature_mask = 0x7fff;
	chooses(SMC_VARIANT_RV2);
	assert_int_equal(choice.feature_mask, SMC_FEATURE_EMU_ISM);
	/* a driver that turns immediate data round */
	prop.v2.feature_mask = 0xffff;
	local.r_imm = false;
	chooses(SMC_VARIANT_RV2);
	assert_int_equal(choice.feature_mask, SMC_FEATURE_EMU_ISM);
	local.r_imm = true;
	/* release 0 has no features */
	prop.v2.release = 0;
	chooses(SMC_VARIANT_RV2);
	assert_int_equal(choice.feature_mask, 0);
	prop.v2.release = 1;
	same_host();
	chooses(SMC_VARIANT_DV2);
	assert_int_equal(choice.feature_mask, SMC_FEATURE_EMU_ISM);
}

static void select__limits_are_for_rdma(void **state)
{
	prop.v2.max_conns = 0;
	prop.v2.max_links = 0;
	same_host();
	chooses(SMC_VARIANT_DV2);
}

static void select__prefixes(void **state)
{
	prop.offer_v2 = SMC_OFFER_NONE;
	chooses(SMC_VARIANT_RV1);
	prop.v4_len = 16;
	gets(SMC_REASON_DIFFPREFIX);
	prop.v4_len = 24;
	prop.v4_net = 0x0a090100;
	gets(SMC_REASON_DIFFPREFIX);
	/* nothing equals nothing: no match */
	prop.v4_net = 0;
	prop.v4_len = 0;
	local.prefixes.has_v4 = false;
	local.prefixes.v4_net = 0;
	local.prefixes.v4_len = 0;
	gets(SMC_REASON_DIFFPREFIX);

	prop.n_v6 = 2;
	memset(prop.v6[0].addr, 1, 8);
	memset(prop.v6[1].addr, 2, 8);
	prop.v6[0].len = 64;
	prop.v6[1].len = 64;
	local.prefixes.n_v6 = 1;
	memset(local.prefixes.v6[0].addr, 2, 8);
	local.prefixes.v6[0].len = 64;
	chooses(SMC_VARIANT_RV1);
	assert_int_equal(choice.max_conns, SMC_MAX_CONNS);
	assert_int_equal(choice.max_links, 1);
	local.prefixes.v6[0].len = 65;
	gets(SMC_REASON_DIFFPREFIX);
}

static void select__prefixes_v4(void **state)
{
	prop.offer_v2 = SMC_OFFER_NONE;
	local.prefixes.has_v4 = false;
	gets(SMC_REASON_DIFFPREFIX);
	/* the whole of IPv4 is no subnet */
	local.prefixes.has_v4 = true;
	local.prefixes.v4_net = 0;
	prop.v4_net = 0;
	gets(SMC_REASON_DIFFPREFIX);
}

static void select__prefixes_v6(void **state)
{
	u8 *addr = local.prefixes.v6[1].addr;

	prop.offer_v2 = SMC_OFFER_NONE;
	prop.v4_len = 16;
	prop.n_v6 = 1;
	prop.v6[0].len = 64;
	memset(prop.v6[0].addr, 1, 16);
	/* behind the ends of the lists */
	prop.v6[1].len = 64;
	memset(prop.v6[1].addr, 2, 16);
	local.prefixes.n_v6 = 1;
	local.prefixes.v6[0].len = 64;
	memset(local.prefixes.v6[0].addr, 2, 16);
	local.prefixes.v6[1].len = 64;
	memset(addr, 1, 16);
	gets(SMC_REASON_DIFFPREFIX);
	local.prefixes.n_v6 = 2;
	chooses(SMC_VARIANT_RV1);
	addr[15]++;
	gets(SMC_REASON_DIFFPREFIX);
}

static void select__reasons(void **state)
{
	/* what no transport has is reported as that transport says it */
	local.r_v1 = false;
	local.r_v2 = false;
	local.d_v2 = false;
	local.r_why = SMC_REASON_GETVLANERR;
	gets(SMC_REASON_GETVLANERR);
	local.r_why = SMC_REASON_OK;
	gets(SMC_REASON_NOSMCRDEV);
	prop.offer_v1 = SMC_OFFER_NONE;
	prop.offer_v2 = SMC_OFFER_D;
	gets(SMC_REASON_NOISM2SUPP);
	local.d_v2 = true;
	prop.v2.has_d = false;
	gets(SMC_REASON_NOV2DEXT);
	local.d_v2 = false;
	local.d_why = SMC_REASON_DISABLED;
	gets(SMC_REASON_DISABLED);
	/* native SMC-D version 1 alone, and nothing at all */
	prop.offer_v2 = SMC_OFFER_NONE;
	prop.offer_v1 = SMC_OFFER_D;
	gets(SMC_REASON_NOSMCDDEV);
	prop.offer_v1 = SMC_OFFER_NONE;
	gets(SMC_REASON_PEERNOSMC);
}

/* Of several that were offered the first counts. */
static void select__first_reason(void **state)
{
	prop.v2.n_eids = 0;
	prop.v4_len = 16;
	gets(SMC_REASON_NOUEID);
	prop.offer_v2 = SMC_OFFER_D;
	gets(SMC_REASON_DIFFPREFIX);
	prop.v4_len = 24;
	local.r_v1 = false;
	local.r_why = SMC_REASON_GETVLANERR;
	gets(SMC_REASON_GETVLANERR);
	local.r_why = SMC_REASON_OK;
	gets(SMC_REASON_NOSMCRDEV);
}

static const u8 zeros[SMC_EID_LEN];
static struct smc_clc_msg msg;

/* An Accept that fits the Proposal of everything(). */
static void accept_r(u8 version)
{
	memset(&msg, 0, sizeof(msg));
	msg.type = SMC_CLC_ACCEPT;
	msg.version = version;
	msg.accept.mode = SMC_CLC_MODE_R;
	msg.accept.first_contact = true;
	memcpy(msg.accept.r.gid, version > 1 ? gid_peer : gid_peer_v1,
	       SMC_GID_LEN);
	if (version < 2)
		return;
	memcpy(msg.accept.eid, eid, SMC_EID_LEN);
	msg.accept.fce.release = 1;
	msg.accept.fce.max_conns = 128;
	msg.accept.fce.max_links = 1;
	msg.accept.fce.feature_mask = 0xffff;
}

static void accepts(enum smc_reason want)
{
	assert_int_equal(smc_select_accept(&local, &prop, &msg, &choice),
			 want);
}

static void nothing_negotiated(void)
{
	assert_int_equal(choice.release, 0);
	assert_int_equal(choice.feature_mask, 0);
	assert_int_equal(choice.max_conns, SMC_MAX_CONNS);
	assert_int_equal(choice.max_links, 1);
}

static void accept__takes_over(void **state)
{
	accept_r(2);
	accepts(SMC_REASON_OK);
	assert_int_equal(choice.variant, SMC_VARIANT_RV2);
	assert_int_equal(choice.release, 1);
	assert_int_equal(choice.max_conns, 128);
	assert_int_equal(choice.max_links, 1);
	/* the server answered what was not offered, too */
	assert_int_equal(choice.feature_mask, SMC_FEATURE_EMU_ISM);
	assert_memory_equal(choice.eid, eid, SMC_EID_LEN);
	prop.v2.feature_mask |= SMC_FEATURE_IMM;
	accepts(SMC_REASON_OK);
	assert_int_equal(choice.feature_mask,
			 SMC_FEATURE_EMU_ISM | SMC_FEATURE_IMM);
	msg.accept.fce.feature_mask = 0x7fff;
	accepts(SMC_REASON_OK);
	assert_int_equal(choice.feature_mask, SMC_FEATURE_EMU_ISM);

	accept_r(1);
	accepts(SMC_REASON_OK);
	assert_int_equal(choice.variant, SMC_VARIANT_RV1);
	assert_int_equal(choice.mode, SMC_CLC_MODE_R);
	assert_int_equal(choice.version, 1);
	nothing_negotiated();
	assert_memory_equal(choice.eid, zeros, SMC_EID_LEN);

	/* subsequent contact: nothing is negotiated */
	accept_r(2);
	msg.accept.first_contact = false;
	accepts(SMC_REASON_OK);
	assert_int_equal(choice.version, 2);
	assert_memory_equal(choice.eid, eid, SMC_EID_LEN);
	nothing_negotiated();
}

/* Version 1 knows no first contact extension, whatever is in its place. */
static void accept__version_1(void **state)
{
	accept_r(2);
	msg.version = 1;
	msg.accept.fce.release = 15;
	accepts(SMC_REASON_OK);
	nothing_negotiated();
	assert_memory_equal(choice.eid, zeros, SMC_EID_LEN);

	/* nor does it number devices */
	prop.offer_v1 = SMC_OFFER_BOTH;
	msg.accept.mode = SMC_CLC_MODE_D;
	msg.accept.d.chid = 0x4321;
	accepts(SMC_REASON_OK);
	assert_int_equal(choice.mode, SMC_CLC_MODE_D);
	assert_int_equal(choice.variant, SMC_VARIANT_DV2);
}

/* The limits of SMC-D are taken as they come. */
static void accept__smcd(void **state)
{
	accept_r(2);
	msg.accept.mode = SMC_CLC_MODE_D;
	prop.v2.n_ism = 1;
	msg.accept.d.chid = SMC_CHID_LOOPBACK;
	msg.accept.fce.max_conns = 0;
	msg.accept.fce.max_links = 0;
	accepts(SMC_REASON_OK);
	assert_int_equal(choice.variant, SMC_VARIANT_DV2);
	assert_int_equal(choice.mode, SMC_CLC_MODE_D);
	assert_int_equal(choice.max_conns, 0);
	assert_int_equal(choice.max_links, 0);
}

static void accept__not_offered(void **state)
{
	accept_r(2);
	prop.offer_v2 = SMC_OFFER_D;
	accepts(SMC_REASON_MODEUNSUPP);
	prop.offer_v2 = SMC_OFFER_NONE;
	accepts(SMC_REASON_MODEUNSUPP);
	accept_r(1);
	accepts(SMC_REASON_OK);
	prop.offer_v1 = SMC_OFFER_NONE;
	accepts(SMC_REASON_MODEUNSUPP);
	/* SMC-D version 1 never is */
	everything(NULL);
	msg.accept.mode = SMC_CLC_MODE_D;
	accepts(SMC_REASON_MODEUNSUPP);
}

static void accept__chid(void **state)
{
	accept_r(2);
	msg.accept.mode = SMC_CLC_MODE_D;
	msg.accept.d.chid = SMC_CHID_LOOPBACK;
	accepts(SMC_REASON_OK);
	/* 0 does not match an empty place in the list */
	msg.accept.d.chid = 0;
	accepts(SMC_REASON_MISMATCH);
	msg.accept.d.chid = 0xff01;
	accepts(SMC_REASON_MISMATCH);
}

/* An EID is a name that only hosts of one installation know. */
static void accept__eid(void **state)
{
	accept_r(2);
	accepts(SMC_REASON_OK);
	msg.accept.first_contact = false;
	msg.accept.eid[SMC_EID_LEN - 1] ^= 1;
	accepts(SMC_REASON_MISMATCH);
	memset(msg.accept.eid, 0, SMC_EID_LEN);
	accepts(SMC_REASON_MISMATCH);
}

static void accept__limits(void **state)
{
	accept_r(2);
	msg.accept.fce.max_conns = 15;
	accepts(SMC_REASON_MAXCONNERR);
	msg.accept.fce.max_conns = 16;
	accepts(SMC_REASON_OK);
	msg.accept.fce.max_links = 0;
	accepts(SMC_REASON_MAXLINKERR);
	msg.accept.fce.max_links = 3;
	accepts(SMC_REASON_MAXLINKERR);
	msg.accept.fce.max_links = 2;
	accepts(SMC_REASON_OK);
	msg.accept.fce.release = 2;
	accepts(SMC_REASON_RELEASEERR);
	/* release 0: limits are not looked at */
	msg.accept.fce.release = 0;
	msg.accept.fce.max_conns = 0;
	accepts(SMC_REASON_OK);
	assert_int_equal(choice.max_conns, SMC_MAX_CONNS);
}

static void confirms(bool first, enum smc_reason want)
{
	assert_int_equal(smc_select_confirm(&local, &prop, &choice, first,
					    &msg), want);
}

static void confirm__echo(void **state)
{
	accept_r(2);
	accepts(SMC_REASON_OK);
	msg.type = SMC_CLC_CONFIRM;
	confirms(true, SMC_REASON_OK);
	msg.accept.fce.max_conns++;
	confirms(true, SMC_REASON_MAXCONNERR);
	msg.accept.fce.max_conns--;
	msg.accept.fce.max_links++;
	confirms(true, SMC_REASON_MAXLINKERR);
	msg.accept.fce.max_links--;
	msg.accept.fce.release = 0;
	confirms(true, SMC_REASON_RELEASEERR);
}

/* What is negotiated with a new link alone is compared with nothing else. */
static void confirm__not_compared(void **state)
{
	accept_r(2);
	accepts(SMC_REASON_OK);
	memset(&msg.accept.fce, 0xff, sizeof(msg.accept.fce));
	msg.accept.first_contact = false;
	confirms(false, SMC_REASON_OK);

	accept_r(1);
	accepts(SMC_REASON_OK);
	memset(&msg.accept.fce, 0xff, sizeof(msg.accept.fce));
	confirms(true, SMC_REASON_OK);

	accept_r(2);
	msg.accept.fce.release = 0;
	accepts(SMC_REASON_OK);
	msg.accept.fce.max_conns++;
	msg.accept.fce.max_links++;
	confirms(true, SMC_REASON_OK);

	accept_r(2);
	msg.accept.mode = SMC_CLC_MODE_D;
	msg.accept.d.chid = SMC_CHID_LOOPBACK;
	accepts(SMC_REASON_OK);
	msg.accept.fce.max_conns++;
	msg.accept.fce.max_links++;
	confirms(true, SMC_REASON_OK);
	msg.accept.fce.release = 0;
	confirms(true, SMC_REASON_RELEASEERR);
}

static void confirm__contradiction(void **state)
{
	accept_r(2);
	accepts(SMC_REASON_OK);
	confirms(false, SMC_REASON_MISMATCH);
	msg.accept.first_contact = false;
	confirms(true, SMC_REASON_MISMATCH);
	confirms(false, SMC_REASON_OK);
	msg.version = 1;
	confirms(false, SMC_REASON_MISMATCH);
	msg.version = 2;
	msg.accept.mode = SMC_CLC_MODE_D;
	confirms(false, SMC_REASON_MISMATCH);
}

/* Whatever a Proposal says, the answer is a choice both have, or a reason. */
static void select__random(void **state)
{
	enum smc_reason why;
	int i;

	rnd_seed(5);
	for (i = 0; i < 300000; i++) {
		everything(NULL);
		prop.offer_v1 = rnd() % 4;
		prop.offer_v2 = rnd() % 4;
		prop.v2.has_d = smc_offer_has_d(prop.offer_v2) || rnd() % 2;
		prop.v2.release = rnd() % 16;
		prop.v2.max_conns = rnd();
		prop.v2.max_links = rnd() % 4;
		prop.v2.n_eids = rnd() % 2;
		prop.v2.n_ism = rnd() % (SMC_CLC_MAX_ISM + 1);
		prop.v4_len = rnd() % 2 ? 24 : 25;
		if (rnd() % 2)
			same_host();
		local.r_v1 = rnd() % 2;
		local.r_v2 = rnd() % 2;
		local.d_v2 = rnd() % 2;
		why = smc_select(&local, &prop, rnd() % 8, &choice);
		if (why != SMC_REASON_OK)
			continue;
		assert_in_range(choice.max_links, 0, 1);
		if (choice.mode == SMC_CLC_MODE_D) {
			assert_true(local.d_v2);
			assert_true(smc_offer_has_d(prop.offer_v2));
			assert_true(prop.v2.n_ism >= 2);
		} else if (choice.version == 2) {
			assert_true(local.r_v2);
			assert_true(smc_offer_has_r(prop.offer_v2));
			assert_in_range(choice.max_conns, 16, 255);
		} else {
			assert_true(local.r_v1);
			assert_true(smc_offer_has_r(prop.offer_v1));
			assert_int_equal(prop.v4_len, 24);
		}
	}
}

#define test(f)	cmocka_unit_test_setup(f, everything)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(select__order),
		test(select__foreign_loopback),
		test(select__ism_entries),
		test(select__native_ism),
		test(select__full_ism_list),
		test(select__eids),
		test(select__eids_end),
		test(select__limits),
		test(select__imm),
		test(select__limits_are_for_rdma),
		test(select__prefixes),
		test(select__prefixes_v4),
		test(select__prefixes_v6),
		test(select__reasons),
		test(select__first_reason),
		test(accept__takes_over),
		test(accept__version_1),
		test(accept__smcd),
		test(accept__not_offered),
		test(accept__chid),
		test(accept__eid),
		test(accept__limits),
		test(confirm__echo),
		test(confirm__not_compared),
		test(confirm__contradiction),
		test(select__random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
