/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CLC messages: the handshake on the TCP connection (RFC 7609 section 3.5 and
 * appendix A.2, IBM's SMC version 2). PURE: also built in userspace.
 *
 * The structs are in host byte order and hold only what passed validation;
 * nothing points into the bytes they came from. Fields of the wire which carry
 * a byte string (EID, GID, MAC, peer ID, host name) are byte arrays here too.
 * smc_clc_msg is about 700 bytes: keep it off deep stacks.
 */
#ifndef SMC_WIRE_CLC_H
#define SMC_WIRE_CLC_H

#include <linux/string.h>
#include <linux/types.h>
#include <linux/smc_reason.h>

#define SMC_CLC_HDR_LEN		8
#define SMC_CLC_MIN_LEN		28	/* a version 1 Decline */
#define SMC_CLC_MAX_LEN		652	/* receive buffer, rest is drained */

#define SMC_EID_LEN		32
#define SMC_PEER_ID_LEN		8
#define SMC_GID_LEN		16
#define SMC_MAC_LEN		6
#define SMC_HOSTNAME_LEN	32

#define SMC_CLC_MAX_V6		8	/* IPv6 prefixes in a Proposal */
#define SMC_CLC_MAX_EIDS	8	/* UEIDs in a Proposal */
#define SMC_CLC_MAX_ISM		8	/* GID/CHID entries in a Proposal */
#define SMC_CLC_MAX_GIDS	8	/* GIDs kept from a Confirm */

#define SMC_RELEASE		1	/* highest release number known */
#define SMC_FEATURE_EMU_ISM	0x0001	/* feature mask: 128-bit ISM GIDs */
#define SMC_FEATURE_IMM		0x8000	/* ours: data by WRITE WITH IMMEDIATE */
#define SMC_OS_LINUX		2	/* 1 z/OS, 2 Linux, 3 AIX */

/* CHIDs from here on are emulated devices: two entries, one 128-bit GID */
#define SMC_CHID_EMULATED	0xff00
#define SMC_CHID_LOOPBACK	0xffff

enum smc_clc_type {
	SMC_CLC_PROPOSAL	= 1,
	SMC_CLC_ACCEPT		= 2,
	SMC_CLC_CONFIRM		= 3,
	SMC_CLC_DECLINE		= 4,
};

/* What a Proposal offers, for each of the two versions */
enum smc_offer {
	SMC_OFFER_R	= 0,
	SMC_OFFER_D	= 1,
	SMC_OFFER_NONE	= 2,
	SMC_OFFER_BOTH	= 3,
};

/* The variant of an Accept or Confirm */
enum smc_clc_mode {
	SMC_CLC_MODE_R	= 0,
	SMC_CLC_MODE_D	= 1,
};

/**
 * struct smc_clc_v6 - one IPv6 prefix of a Proposal
 * @addr: prefix, host bits zero
 * @len: prefix length, 0..128
 */
struct smc_clc_v6 {
	u8 addr[16];
	u8 len;
};

/**
 * struct smc_clc_ism - one GID/CHID entry of a Proposal
 * @gid: GID, or of an emulated device's second entry the GID extension
 * @chid: CHID
 */
struct smc_clc_ism {
	u64 gid;
	u16 chid;
};

/**
 * struct smc_clc_v2ext - version 2 part of a Proposal
 * @release: highest release the client knows, 0..15
 * @seid_valid: the client has its system EID enabled
 * @has_d: the SMC-D part (@ism) is there
 * @max_conns: connections per link group (release >= 1)
 * @max_links: links per link group (release >= 1)
 * @feature_mask: SMC_FEATURE_*
 * @n_eids: entries of @eids, 0..8
 * @n_ism: entries of @ism, 0..8
 * @gid: RoCE v2 GID of the client, zero if SMC-Rv2 is not offered
 * @eids: UEIDs in the client's order
 * @ism: raw entries in order of preference; a device with a CHID from
 *	SMC_CHID_EMULATED on takes two, which the reader must check
 */
struct smc_clc_v2ext {
	u8 release;
	bool seid_valid;
	bool has_d;
	u8 max_conns;
	u8 max_links;
	u16 feature_mask;
	u8 n_eids;
	u8 n_ism;
	u8 gid[SMC_GID_LEN];
	u8 eids[SMC_CLC_MAX_EIDS][SMC_EID_LEN];
	struct smc_clc_ism ism[SMC_CLC_MAX_ISM];
};

/**
 * struct smc_clc_proposal - Proposal, client to server
 * @offer_v1: enum smc_offer for version 1
 * @offer_v2: enum smc_offer for version 2; SMC_OFFER_NONE in a version 1
 *	message
 * @has_ism: the area of the version 1 ISM device is there, which is not read:
 *	always in version 2, sometimes in version 1
 * @peer_id: client's peer ID; may be zero if SMC-Rv1 is not offered
 * @gid: RoCE v1 GID; zero likewise
 * @mac: MAC of that port; zero likewise
 * @v4_net: IPv4 network address, host order; 0 for IPv6 or without v1 offer
 * @v4_len: its prefix length, 0..32
 * @n_v6: entries of @v6, 0..8
 * @v6: IPv6 prefixes
 * @v2: version 2 part, all zero if @offer_v2 is SMC_OFFER_NONE
 */
struct smc_clc_proposal {
	u8 offer_v1;
	u8 offer_v2;
	bool has_ism;
	u8 peer_id[SMC_PEER_ID_LEN];
	u8 gid[SMC_GID_LEN];
	u8 mac[SMC_MAC_LEN];
	u32 v4_net;
	u8 v4_len;
	u8 n_v6;
	struct smc_clc_v6 v6[SMC_CLC_MAX_V6];
	struct smc_clc_v2ext v2;
};

/**
 * struct smc_clc_fce - first-contact extension (version 2)
 * @direct: the sender reaches the peer's RoCE GID without a gateway
 * @os: SMC_OS_*
 * @release: release number in use
 * @max_conns: connections per link group (SMC-R, release >= 1)
 * @max_links: links per link group (SMC-R, release >= 1)
 * @feature_mask: SMC_FEATURE_* (release >= 1)
 * @hostname: trailing blanks removed, always terminated; "" if the peer sent
 *	anything but printable ASCII
 */
struct smc_clc_fce {
	bool direct;
	u8 os;
	u8 release;
	u8 max_conns;
	u8 max_links;
	u16 feature_mask;
	char hostname[SMC_HOSTNAME_LEN + 1];
};

/**
 * struct smc_clc_accept_r - SMC-R part of Accept and Confirm
 * @peer_id: sender's peer ID
 * @gid: GID of the port in use
 * @mac: MAC of that port
 * @qpn: queue pair number, 2..2^24-2
 * @psn: first packet sequence number, 24 bit
 * @rkey: key of the RMB
 * @token: alert token, not 0
 * @addr: address of the RMB's first byte
 * @index: RMBE in the RMB, 1..255
 * @size_code: RMBE size, smc_size_from_code()
 * @mtu: MTU code of the sender, enum ib_mtu, 1..15: use the minimum of it and
 *	the own
 *
 * The end of the RMBE, @addr + @index * size, does not wrap around.
 */
struct smc_clc_accept_r {
	u8 peer_id[SMC_PEER_ID_LEN];
	u8 gid[SMC_GID_LEN];
	u8 mac[SMC_MAC_LEN];
	u32 qpn;
	u32 psn;
	u32 rkey;
	u32 token;
	u64 addr;
	u8 index;
	u8 size_code;
	u8 mtu;
};

/**
 * struct smc_clc_accept_d - SMC-D part of Accept and Confirm
 * @gid: ISM GID of the sender
 * @gid_ext: GID extension of an emulated device, else 0 (version 2)
 * @token: DMB token
 * @chid: CHID of the device (version 2)
 * @index: DMBE in the DMB, from 0
 * @size_code: DMBE size, smc_size_from_code()
 * @link_id: opaque name of the sender's link group
 */
struct smc_clc_accept_d {
	u64 gid;
	u64 gid_ext;
	u64 token;
	u16 chid;
	u8 index;
	u8 size_code;
	u8 link_id[4];
};

/**
 * struct smc_clc_accept - Accept (server to client) and Confirm (back)
 * @mode: enum smc_clc_mode, tells which of @r and @d is filled
 * @first_contact: the sender created a link group for this connection
 * @eid: negotiated EID (version 2)
 * @fce: first-contact extension, present if @first_contact and version 2
 * @n_gids: entries of @gids, 0..8 (Confirm of SMC-Rv2 with @first_contact)
 * @gids: RoCE v2 GIDs of the client, first the one in use
 * @r: SMC-R part
 * @d: SMC-D part
 *
 * What does not apply is zero.
 */
struct smc_clc_accept {
	u8 mode;
	bool first_contact;
	u8 n_gids;
	u8 eid[SMC_EID_LEN];
	struct smc_clc_fce fce;
	u8 gids[SMC_CLC_MAX_GIDS][SMC_GID_LEN];
	struct smc_clc_accept_r r;
	struct smc_clc_accept_d d;
};

/**
 * struct smc_clc_decline - Decline, either direction
 * @out_of_sync: terminate the link group (with SMC_REASON_SYNCERR)
 * @peer_id: sender's peer ID, may be zero
 * @diagnosis: the reason, any value: it comes from a peer
 * @os: SMC_OS_*; 0 in version 1
 */
struct smc_clc_decline {
	bool out_of_sync;
	u8 os;
	u8 peer_id[SMC_PEER_ID_LEN];
	u32 diagnosis;
};

/**
 * struct smc_clc_msg - any CLC message
 * @type: enum smc_clc_type, tells which member of the union is filled
 * @version: 1 or 2; a message of a later version decodes as 2
 * @proposal: of SMC_CLC_PROPOSAL
 * @accept: of SMC_CLC_ACCEPT and SMC_CLC_CONFIRM
 * @decline: of SMC_CLC_DECLINE
 */
struct smc_clc_msg {
	u8 type;
	u8 version;
	union {
		struct smc_clc_proposal proposal;
		struct smc_clc_accept accept;
		struct smc_clc_decline decline;
	};
};

/* A RoCE v2 GID is an IP address: a mapped one of IPv4, or one of IPv6. */
static inline bool smc_gid_is_v4(const u8 *gid)
{
	static const u8 mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid, mapped, sizeof(mapped));
}

/*
 * Is it an IPv6 address of one host that others can reach?  Not multicast (ff),
 * nor link-local (fe), which says nothing without the link; ::/80 has the
 * unspecified address, the host's own, and those of IPv4.
 */
static inline bool smc_gid_is_v6(const u8 *gid)
{
	static const u8 zeros[10];

	return gid[0] < 0xfe && memcmp(gid, zeros, sizeof(zeros));
}

static inline bool smc_offer_has_r(u8 offer)
{
	return offer == SMC_OFFER_R || offer == SMC_OFFER_BOTH;
}

static inline bool smc_offer_has_d(u8 offer)
{
	return offer == SMC_OFFER_D || offer == SMC_OFFER_BOTH;
}

/* Offer code for a choice of variants */
static inline u8 smc_offer_make(bool r, bool d)
{
	if (r)
		return d ? SMC_OFFER_BOTH : SMC_OFFER_R;
	return d ? SMC_OFFER_D : SMC_OFFER_NONE;
}

#define SMC_SIZE_MIN		(16U * 1024)	/* code 0 */
#define SMC_SIZE_CODE_MAX	15
#define SMC_SIZE_MAX		(SMC_SIZE_MIN << SMC_SIZE_CODE_MAX)

/* Size in bytes of buffer size code 0..15 */
static inline u32 smc_size_from_code(u8 code)
{
	return SMC_SIZE_MIN << (code & 0x0f);
}

u8 smc_size_code(u32 bytes);

ssize_t smc_clc_peek(const u8 *p, size_t have);
int smc_clc_decode(const u8 *p, size_t len, struct smc_clc_msg *out);
ssize_t smc_clc_encode(u8 *p, size_t room, const struct smc_clc_msg *msg);

#endif /* SMC_WIRE_CLC_H */
