// SPDX-License-Identifier: GPL-2.0
/*
 * The choice of variant and version from a Proposal, and what client and
 * server check in the answers to it.  PURE.
 *
 * The server goes through the variants in the order SMC-D v2, SMC-R v2,
 * SMC-R v1 and takes the first that both sides can do; if it then fails to set
 * that one up it asks again, skipping it.  SMC-D version 1 needs native ISM
 * devices, of which there are none here.
 *
 * A variant that was not offered leaves no reason behind.  Of the reasons of
 * those that were offered the first is reported, except that a foreign host's
 * shared-memory device is mentioned only if nothing else was on offer: clients
 * offer it to every server.
 *
 * Context: any, no locks, no allocation.  Test: selftests/unit/unit_hs_*.c
 */
#include <linux/types.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include "select.h"

static const u8 zeros[SMC_GID_LEN];

static bool no_mac(const u8 *mac)
{
	return !memcmp(mac, zeros, SMC_MAC_LEN);
}

/*
 * Peers of a device without MAC addresses (lo, a tunnel) have none, either.
 * With version 2 a gateway may be in front of a peer that has no MAC address,
 * or has the same as we: where the address is used, the transport checks it.
 */
static bool mac_plausible(const struct smc_select_local *local, u8 version,
			  const u8 *mac)
{
	if (no_mac(local->mac))
		return true;
	if (no_mac(mac))
		return version > 1;
	return !(mac[0] & 0x01);
}

static bool v4_plausible(const struct smc_select_local *local, u32 addr)
{
	switch (addr >> 24) {
	case 0:
		return false;
	case 127:
		return local->same_host;
	case 255:
		return ~addr;
	default:
		return addr >> 28 != 0xe;	/* multicast */
	}
}

/* RoCE v2 packets have one IP header, so both GIDs are of one family. */
static bool gid_plausible(const struct smc_select_local *local, u8 version,
			  const u8 *gid)
{
	bool v4 = smc_gid_is_v4(gid);

	if (version > 1 && v4 != smc_gid_is_v4(local->gid))
		return false;
	if (v4)
		return v4_plausible(local, get_unaligned_be32(gid + 12));
	if (version > 1)
		return smc_gid_is_v6(gid);
	return gid[0] != 0xff && memcmp(gid, zeros, SMC_GID_LEN - 1);
}

/*
 * Can this be a port of the peer?  Not if the GID is our own or belongs to no
 * host: our writes would go elsewhere.
 */
static enum smc_reason check_port(const struct smc_select_local *local,
				  u8 version, const u8 *gid, const u8 *mac)
{
	const u8 *own = version > 1 ? local->gid : local->gid_v1;
	bool ok = gid_plausible(local, version, gid);

	if (!local->same_host && !memcmp(gid, own, SMC_GID_LEN))
		ok = false;
	if (!mac_plausible(local, version, mac))
		ok = false;
	return ok ? SMC_REASON_OK : SMC_REASON_BADPORT;
}

/* First UEID of the client's list that is ours too. */
static bool common_eid(const struct smc_select_local *local,
		       const struct smc_clc_v2ext *v2, u8 *eid)
{
	u8 i, j;

	for (i = 0; i < v2->n_eids; i++)
		for (j = 0; j < local->n_eids; j++)
			if (!memcmp(v2->eids[i], local->eids[j],
				    SMC_EID_LEN)) {
				memcpy(eid, v2->eids[i], SMC_EID_LEN);
				return true;
			}
	return false;
}

/* Does the client list the device that we have?  Emulated: two entries. */
static bool ism_listed(const struct smc_select_local *local,
		       const struct smc_clc_v2ext *v2)
{
	bool emulated;
	u8 i;

	for (i = 0; i < v2->n_ism; i++) {
		const struct smc_clc_ism *ism = &v2->ism[i];

		emulated = ism->chid >= SMC_CHID_EMULATED;
		if (emulated &&
		    (i + 1 == v2->n_ism || ism[1].chid != ism->chid))
			continue;
		if (ism->chid == local->chid && ism->gid == local->ism_gid &&
		    (!emulated || ism[1].gid == local->ism_gid_ext))
			return true;
		i += emulated;
	}
	return false;
}

static enum smc_reason try_dv2(const struct smc_select_local *local,
			       const struct smc_clc_proposal *prop,
			       struct smc_choice *choice)
{
	if (!local->d_v2)
		return local->d_why ? local->d_why : SMC_REASON_NOISM2SUPP;
	if (!prop->v2.has_d)
		return SMC_REASON_NOV2DEXT;
	if (!prop->v2.n_eids && !prop->v2.seid_valid)
		return SMC_REASON_NOUEID;
	if (!ism_listed(local, &prop->v2))
		return SMC_REASON_NOSMCD2DEV;
	if (!common_eid(local, &prop->v2, choice->eid))
		return SMC_REASON_NOUEID;
	return SMC_REASON_OK;
}

static enum smc_reason try_rv2(const struct smc_select_local *local,
			       const struct smc_clc_proposal *prop,
			       struct smc_choice *choice)
{
	if (!prop->v2.n_eids || !common_eid(local, &prop->v2, choice->eid))
		return SMC_REASON_NOUEID;
	choice->max_conns = SMC_MAX_CONNS;
	choice->max_links = local->max_links;
	if (choice->release) {
		if (prop->v2.max_conns < local->max_conns)
			choice->max_conns = prop->v2.max_conns;
		else
			choice->max_conns = local->max_conns;
		if (choice->max_conns < SMC_MIN_CONNS)
			return SMC_REASON_MAXCONNERR;
		if (prop->v2.max_links < local->max_links)
			choice->max_links = prop->v2.max_links;
		if (!choice->max_links)
			return SMC_REASON_MAXLINKERR;
	}
	if (!local->r_v2)
		return local->r_why ? local->r_why : SMC_REASON_NOSMCRDEV;
	return check_port(local, 2, prop->v2.gid, prop->mac);
}

/* Is the client in a subnet of ours? */
static bool same_prefix(const struct smc_prefixes *own,
			const struct smc_clc_proposal *prop)
{
	u8 i, j;

	if (own->has_v4 && prop->v4_net && own->v4_len == prop->v4_len &&
	    own->v4_net == prop->v4_net)
		return true;
	for (i = 0; i < prop->n_v6; i++)
		for (j = 0; j < own->n_v6; j++)
			if (prop->v6[i].len == own->v6[j].len &&
			    !memcmp(prop->v6[i].addr, own->v6[j].addr, 16))
				return true;
	return false;
}

static enum smc_reason try_rv1(const struct smc_select_local *local,
			       const struct smc_clc_proposal *prop,
			       struct smc_choice *choice)
{
	choice->max_conns = SMC_MAX_CONNS;
	choice->max_links = local->max_links;
	if (!same_prefix(&local->prefixes, prop))
		return SMC_REASON_DIFFPREFIX;
	if (!local->r_v1)
		return local->r_why ? local->r_why : SMC_REASON_NOSMCRDEV;
	return check_port(local, 1, prop->gid, prop->mac);
}

static bool offered(const struct smc_clc_proposal *prop, enum smc_variant v)
{
	switch (v) {
	case SMC_VARIANT_DV2:
		return smc_offer_has_d(prop->offer_v2);
	case SMC_VARIANT_RV2:
		return smc_offer_has_r(prop->offer_v2);
	default:
		return smc_offer_has_r(prop->offer_v1);
	}
}

static enum smc_reason try_variant(const struct smc_select_local *local,
				   const struct smc_clc_proposal *prop,
				   enum smc_variant v,
				   struct smc_choice *choice)
{
	memset(choice, 0, sizeof(*choice));
	choice->variant = v;
	choice->mode = v == SMC_VARIANT_DV2 ? SMC_CLC_MODE_D : SMC_CLC_MODE_R;
	choice->version = v == SMC_VARIANT_RV1 ? 1 : 2;
	if (v == SMC_VARIANT_RV1)
		return try_rv1(local, prop, choice);

	choice->release = prop->v2.release < SMC_RELEASE ?
			  prop->v2.release : SMC_RELEASE;
	if (choice->release)
		choice->feature_mask = SMC_FEATURE_EMU_ISM;
	if (v == SMC_VARIANT_DV2)
		return try_dv2(local, prop, choice);
	if (choice->release && local->r_imm)
		choice->feature_mask |= prop->v2.feature_mask & SMC_FEATURE_IMM;
	return try_rv2(local, prop, choice);
}

/**
 * smc_select() - server: choose from a Proposal
 * @local: what this host can do on the route
 * @prop: the Proposal
 * @skip: bits (1 << enum smc_variant) of variants that failed to come up
 * @choice: the choice; valid only if SMC_REASON_OK is returned
 *
 * Return: SMC_REASON_OK or the reason to decline with.  With bits in @skip
 * SMC_REASON_OK or any other value: the caller reports why the first failed.
 */
enum smc_reason smc_select(const struct smc_select_local *local,
			   const struct smc_clc_proposal *prop,
			   unsigned int skip, struct smc_choice *choice)
{
	enum smc_reason first = SMC_REASON_OK;
	enum smc_reason foreign = SMC_REASON_OK;
	enum smc_reason why;
	enum smc_variant v;

	for (v = 0; v < SMC_VARIANT_NUM; v++) {
		if (!offered(prop, v) || skip & (1U << v))
			continue;
		why = try_variant(local, prop, v, choice);
		if (why == SMC_REASON_OK)
			return why;
		if (v == SMC_VARIANT_DV2)
			foreign = why;
		else if (first == SMC_REASON_OK)
			first = why;
	}
	if (first != SMC_REASON_OK)
		return first;
	if (foreign != SMC_REASON_OK)
		return foreign;
	if (smc_offer_has_d(prop->offer_v1))
		return SMC_REASON_NOSMCDDEV;
	return SMC_REASON_PEERNOSMC;
}

static bool chid_offered(const struct smc_clc_v2ext *v2, u16 chid)
{
	u8 i;

	for (i = 0; i < v2->n_ism; i++)
		if (v2->ism[i].chid == chid)
			return true;
	return false;
}

static bool eid_offered(const struct smc_clc_v2ext *v2, const u8 *eid)
{
	u8 i;

	for (i = 0; i < v2->n_eids; i++)
		if (!memcmp(v2->eids[i], eid, SMC_EID_LEN))
			return true;
	return false;
}

/**
 * smc_select_accept() - client: is an Accept an answer to the Proposal?
 * @local: what this host can do on the route
 * @prop: the Proposal that was sent
 * @msg: the Accept
 * @choice: what both sides use from now on; valid with SMC_REASON_OK.  The
 *	limits and the release are those of a new group, @msg has them only
 *	on first contact
 *
 * Return: SMC_REASON_OK; a reason to decline with; or SMC_REASON_MISMATCH for
 * a device or an EID that was never offered.
 */
enum smc_reason smc_select_accept(const struct smc_select_local *local,
				  const struct smc_clc_proposal *prop,
				  const struct smc_clc_msg *msg,
				  struct smc_choice *choice)
{
	const struct smc_clc_accept *acc = &msg->accept;
	const struct smc_clc_fce *fce = &acc->fce;
	u8 offer = msg->version > 1 ? prop->offer_v2 : prop->offer_v1;
	bool is_d = acc->mode == SMC_CLC_MODE_D;
	enum smc_reason why;

	memset(choice, 0, sizeof(*choice));
	if (is_d ? !smc_offer_has_d(offer) : !smc_offer_has_r(offer))
		return SMC_REASON_MODEUNSUPP;
	if (is_d && msg->version > 1 && !chid_offered(&prop->v2, acc->d.chid))
		return SMC_REASON_MISMATCH;
	if (msg->version > 1 && !eid_offered(&prop->v2, acc->eid))
		return SMC_REASON_MISMATCH;
	/* without first contact it is the port of a group that we have */
	if (!is_d && acc->first_contact) {
		why = check_port(local, msg->version, acc->r.gid, acc->r.mac);
		if (why != SMC_REASON_OK)
			return why;
	}

	choice->mode = acc->mode;
	choice->version = msg->version;
	choice->variant = is_d ? SMC_VARIANT_DV2 :
			  msg->version > 1 ? SMC_VARIANT_RV2 : SMC_VARIANT_RV1;
	choice->max_conns = SMC_MAX_CONNS;
	choice->max_links = 1;
	if (msg->version < 2)
		return SMC_REASON_OK;

	memcpy(choice->eid, acc->eid, SMC_EID_LEN);
	if (!acc->first_contact)
		return SMC_REASON_OK;
	if (fce->release > prop->v2.release)
		return SMC_REASON_RELEASEERR;
	choice->release = fce->release;
	if (!choice->release)
		return SMC_REASON_OK;
	choice->feature_mask = fce->feature_mask & prop->v2.feature_mask;
	choice->max_conns = fce->max_conns;
	choice->max_links = fce->max_links;
	if (is_d)
		return SMC_REASON_OK;
	if (choice->max_conns < SMC_MIN_CONNS)
		return SMC_REASON_MAXCONNERR;
	if (!choice->max_links || choice->max_links > prop->v2.max_links)
		return SMC_REASON_MAXLINKERR;
	return SMC_REASON_OK;
}

/**
 * smc_select_confirm() - server: does a Confirm fit the Accept?
 * @local: what this host can do on the route
 * @prop: the Proposal
 * @choice: what the Accept said
 * @first_contact: the first-contact bit of the Accept
 * @msg: the Confirm
 *
 * Return: SMC_REASON_OK; a reason to decline with; or SMC_REASON_MISMATCH if
 * the client contradicts itself.
 */
enum smc_reason smc_select_confirm(const struct smc_select_local *local,
				   const struct smc_clc_proposal *prop,
				   const struct smc_choice *choice,
				   bool first_contact,
				   const struct smc_clc_msg *msg)
{
	const struct smc_clc_accept *acc = &msg->accept;
	const struct smc_clc_fce *fce = &acc->fce;

	if (acc->mode != choice->mode || msg->version != choice->version ||
	    acc->first_contact != first_contact)
		return SMC_REASON_MISMATCH;
	/* the GID is that of the Proposal; it may have had no MAC address */
	if (first_contact && choice->mode == SMC_CLC_MODE_R &&
	    no_mac(prop->mac) &&
	    !mac_plausible(local, choice->version, acc->r.mac))
		return SMC_REASON_BADPORT;
	if (!first_contact || choice->version < 2)
		return SMC_REASON_OK;
	if (fce->release != choice->release)
		return SMC_REASON_RELEASEERR;
	if (!choice->release || choice->mode == SMC_CLC_MODE_D)
		return SMC_REASON_OK;
	if (fce->max_conns != choice->max_conns)
		return SMC_REASON_MAXCONNERR;
	if (fce->max_links != choice->max_links)
		return SMC_REASON_MAXLINKERR;
	return SMC_REASON_OK;
}
