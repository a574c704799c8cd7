/* SPDX-License-Identifier: GPL-2.0 */
/*
 * LLC messages: links and memory keys of a link group, on its queue pairs
 * (RFC 7609 appendix A.3, IBM's SMC version 2). PURE: also built in userspace.
 *
 * The host struct is small: the keys of a long version 2 message stay in the
 * bytes received, smc_llc_deletes_rkey() looks at those of a DELETE RKEY.
 */
#ifndef SMC_WIRE_LLC_H
#define SMC_WIRE_LLC_H

#include <linux/types.h>

#define SMC_LLC_LEN		44	/* version 1, and shortest version 2 */
#define SMC_LLC_MAX_LEN		8192	/* longest version 2 message */
#define SMC_LLC_MAX_RKEYS	255	/* keys in one message */
#define SMC_LLC_MAX_GIDS	8	/* GIDs kept from a REQUEST ADD LINK */
#define SMC_LLC_CONT_RKEYS	2	/* keys in one ADD LINK CONTINUATION */
#define SMC_LLC_MORE_RKEYS	2	/* further keys in one CONFIRM RKEY */
#define SMC_LLC_V1_DEL_RKEYS	8	/* keys in a version 1 DELETE RKEY */

enum smc_llc_type {
	SMC_LLC_CONFIRM_LINK	= 1,
	SMC_LLC_ADD_LINK	= 2,
	SMC_LLC_ADD_LINK_CONT	= 3,	/* version 1 groups only */
	SMC_LLC_DELETE_LINK	= 4,
	SMC_LLC_REQ_ADD_LINK	= 5,	/* version 2 groups only */
	SMC_LLC_CONFIRM_RKEY	= 6,
	SMC_LLC_TEST_LINK	= 7,
	/* 8, CONFIRM RKEY CONTINUATION, is neither sent nor decoded */
	SMC_LLC_DELETE_RKEY	= 9,
};

/* smc_llc_msg.flags, by message type; the rest of the byte is dropped */
#define SMC_LLC_CL_NO_EYEC	0x03	/* no eye catcher in my RMBEs (any) */
#define SMC_LLC_AL_REJECT	0x40	/* with response */
#define SMC_LLC_DL_ALL		0x40	/* terminate the link group */
#define SMC_LLC_DL_ORDERLY	0x20
#define SMC_LLC_CR_NEGATIVE	0x20
#define SMC_LLC_CR_RETRY	0x10
#define SMC_LLC_DR_NEGATIVE	0x20	/* some key was unknown */

/* the response bit on the wire, for smc_llc_respond() */
#define SMC_LLC_RESPONSE	0x80

/* DELETE LINK: reasons of a request */
#define SMC_LLC_DEL_LOST_PATH	0x00010000
#define SMC_LLC_DEL_OPERATOR	0x00020000
#define SMC_LLC_DEL_PROGRAM	0x00030000
#define SMC_LLC_DEL_PROTOCOL	0x00040000
#define SMC_LLC_DEL_ASYMMETRIC	0x00050000
/* DELETE LINK: reasons of a response; 0 is done */
#define SMC_LLC_DEL_NO_LINK	0x00100000
#define SMC_LLC_DEL_NO_GROUP	0x00200000

/* ADD LINK: reason of a version 1 rejection */
#define SMC_LLC_REJ_NO_ALT_PATH	1

/**
 * struct smc_llc_confirm_link - CONFIRM LINK
 * @mac: MAC of the sender's port
 * @gid: GID of the sender's port
 * @qpn: sender's queue pair number, 24 bit
 * @user_id: informational
 * @link_id: number of the link, given by the server
 * @max_links: informational
 * @max_conns: informational, 0 before release 1
 */
struct smc_llc_confirm_link {
	u8 mac[6];
	u8 gid[16];
	u32 qpn;
	u32 user_id;
	u8 link_id;
	u8 max_links;
	u8 max_conns;
};

/**
 * struct smc_llc_add_link - ADD LINK
 * @mac: MAC of the sender's port for the new link
 * @gid: GID of that port
 * @qpn: queue pair number of the new link, 24 bit
 * @psn: initial packet sequence number, 24 bit
 * @link_id: number of the new link
 * @mtu: MTU code, 0..15 (0 is to be rejected)
 * @reason: of a version 1 rejection
 * @has_ext: version 2 extension is there (not in rejections)
 * @direct: sender reaches the peer's GID without a gateway (extension)
 * @n_rkeys: keys that are really in the message, 0..255 (extension)
 * @target_gid: upstream: the sender's own new GID; ignored (extension)
 */
struct smc_llc_add_link {
	u8 mac[6];
	u8 gid[16];
	u32 qpn;
	u32 psn;
	u8 link_id;
	u8 mtu;
	u8 reason;
	bool has_ext;
	bool direct;
	u8 n_rkeys;
	u8 target_gid[16];
};

/**
 * struct smc_llc_rkey - key and address of an RMB while a link is added
 * @rkey: key on the link that carries the message
 * @new_rkey: key on the new link
 * @new_addr: address on the new link
 */
struct smc_llc_rkey {
	u32 rkey;
	u32 new_rkey;
	u64 new_addr;
};

/**
 * struct smc_llc_add_link_cont - ADD LINK CONTINUATION
 * @link_id: number of the new link
 * @n_left: entries to come from this sender, these included
 * @rkey: the first min(@n_left, 2) of them; others are zero
 */
struct smc_llc_add_link_cont {
	u8 link_id;
	u8 n_left;
	struct smc_llc_rkey rkey[SMC_LLC_CONT_RKEYS];
};

/**
 * struct smc_llc_delete_link - DELETE LINK
 * @link_id: link to delete, 0 with SMC_LLC_DL_ALL
 * @reason: SMC_LLC_DEL_*
 */
struct smc_llc_delete_link {
	u8 link_id;
	u32 reason;
};

/**
 * struct smc_llc_req_add_link - REQUEST ADD LINK
 * @n_gids: entries of @gids, 0..8; of a longer list the first 8
 * @gids: RoCE v2 GIDs of the client, first the one in use
 */
struct smc_llc_req_add_link {
	u8 n_gids;
	u8 gids[SMC_LLC_MAX_GIDS][16];
};

/**
 * struct smc_llc_confirm_rkey - CONFIRM RKEY
 * @rkey: key on the link that carries the message
 * @addr: RMB address on that link
 * @n_more: entries of @more, 0..2
 * @overflow: the message announces more than two further entries: answer
 *	negative
 * @more: the same RMB on other links
 * @more.link_id: number of the link
 * @more.rkey: key on it
 * @more.addr: RMB address on it
 */
struct smc_llc_confirm_rkey {
	u32 rkey;
	u64 addr;
	u8 n_more;
	bool overflow;
	struct {
		u8 link_id;
		u32 rkey;
		u64 addr;
	} more[SMC_LLC_MORE_RKEYS];
};

/**
 * struct smc_llc_test_link - TEST LINK
 * @data: user data, returned by the response
 */
struct smc_llc_test_link {
	u8 data[16];
};

/**
 * struct smc_llc_delete_rkey - DELETE RKEY
 * @n_keys: request: keys that are really in the message (version 1: 0..8,
 *	version 2: 0..255); response: as received
 * @unknown: response: version 1 bit mask of unknown keys, bit 7 the first;
 *	version 2 their number
 * @rkey: request: the first 8 keys
 */
struct smc_llc_delete_rkey {
	u8 n_keys;
	u8 unknown;
	u32 rkey[SMC_LLC_V1_DEL_RKEYS];
};

/**
 * struct smc_llc_msg - any LLC message
 * @type: enum smc_llc_type, tells which member of the union is filled
 * @v2: layout of a version 2 link group
 * @response: the message answers a request
 * @flags: flags of the type, without the response bit
 * @confirm_link: of SMC_LLC_CONFIRM_LINK
 * @add_link: of SMC_LLC_ADD_LINK
 * @add_link_cont: of SMC_LLC_ADD_LINK_CONT
 * @delete_link: of SMC_LLC_DELETE_LINK
 * @req_add_link: of SMC_LLC_REQ_ADD_LINK
 * @confirm_rkey: of SMC_LLC_CONFIRM_RKEY
 * @test_link: of SMC_LLC_TEST_LINK
 * @delete_rkey: of SMC_LLC_DELETE_RKEY
 */
struct smc_llc_msg {
	u8 type;
	bool v2;
	bool response;
	u8 flags;
	union {
		struct smc_llc_confirm_link confirm_link;
		struct smc_llc_add_link add_link;
		struct smc_llc_add_link_cont add_link_cont;
		struct smc_llc_delete_link delete_link;
		struct smc_llc_req_add_link req_add_link;
		struct smc_llc_confirm_rkey confirm_rkey;
		struct smc_llc_test_link test_link;
		struct smc_llc_delete_rkey delete_rkey;
	};
};

int smc_llc_decode(const u8 *p, size_t len, struct smc_llc_msg *out);
ssize_t smc_llc_encode(u8 *p, size_t room, const struct smc_llc_msg *msg);
bool smc_llc_deletes_rkey(const u8 *p, size_t len, u32 rkey);
int smc_llc_respond(u8 *p, size_t len, u8 flags);

#endif /* SMC_WIRE_LLC_H */
