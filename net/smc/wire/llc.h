/* SPDX-License-Identifier: GPL-2.0 */
/*
 * LLC messages: links and memory keys of a link group, on its queue pairs
 * (RFC 7609 appendix A.3, IBM's SMC version 2). PURE: also built in userspace.
 *
 * The host struct has what this end looks at or sends.  The keys of a DELETE
 * RKEY stay in the bytes received: smc_llc_deletes_rkey().
 */
#ifndef SMC_WIRE_LLC_H
#define SMC_WIRE_LLC_H

#include <linux/types.h>

#define SMC_LLC_LEN		44	/* version 1, and shortest version 2 */
#define SMC_LLC_DEL_RKEYS	8	/* keys in a DELETE RKEY of that length */

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
	SMC_LLC_TYPES,
};

/* smc_llc_msg.flags, by message type; the rest of the byte is dropped */
#define SMC_LLC_CL_NO_EYEC	0x03	/* no eye catcher in my RMBEs (any) */
#define SMC_LLC_DL_ALL		0x40	/* terminate the link group */
#define SMC_LLC_DL_ORDERLY	0x20

/* of responses, for smc_llc_respond(); not decoded */
#define SMC_LLC_AL_REJECT	0x40
#define SMC_LLC_CR_NEGATIVE	0x20
#define SMC_LLC_CR_RETRY	0x10

/* the response bit on the wire, for smc_llc_respond() */
#define SMC_LLC_RESPONSE	0x80

/* DELETE LINK: reasons of a request */
#define SMC_LLC_DEL_LOST_PATH	0x00010000
#define SMC_LLC_DEL_OPERATOR	0x00020000
#define SMC_LLC_DEL_PROGRAM	0x00030000
#define SMC_LLC_DEL_PROTOCOL	0x00040000
/* DELETE LINK: reasons of a response; 0 is done */
#define SMC_LLC_DEL_NO_LINK	0x00100000

/**
 * struct smc_llc_confirm_link - CONFIRM LINK
 * @mac: MAC of the sender's port
 * @gid: GID of the sender's port
 * @qpn: sender's queue pair number, 24 bit
 * @user_id: informational, decoded
 * @link_id: number of the link, given by the server; decoded
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
 * struct smc_llc_add_link - ADD LINK that has to be rejected; it is not decoded
 * @mac: MAC of the sender's port for the new link
 * @gid: GID of that port
 * @link_id: number of the new link
 */
struct smc_llc_add_link {
	u8 mac[6];
	u8 gid[16];
	u8 link_id;
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
 * struct smc_llc_delete_rkey - DELETE RKEY
 * @n_keys: request: keys that are really in the message (version 1: 0..8,
 *	version 2: 0..255); the response repeats it
 * @rkey: of a request that is sent: @n_keys keys
 */
struct smc_llc_delete_rkey {
	u8 n_keys;
	u32 rkey[SMC_LLC_DEL_RKEYS];
};

/**
 * struct smc_llc_msg - any LLC message
 * @type: enum smc_llc_type, tells which member of the union is filled, if any
 * @v2: layout of a version 2 link group
 * @response: the message answers a request
 * @flags: flags of the type, without the response bit
 * @confirm_link: of SMC_LLC_CONFIRM_LINK
 * @add_link: of SMC_LLC_ADD_LINK
 * @delete_link: of SMC_LLC_DELETE_LINK
 * @overflow: of SMC_LLC_CONFIRM_RKEY: it announces more than two further keys:
 *	answer negative
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
		struct smc_llc_delete_link delete_link;
		bool overflow;
		struct smc_llc_delete_rkey delete_rkey;
	};
};

int smc_llc_decode(const u8 *p, size_t len, struct smc_llc_msg *out);
void smc_llc_encode(u8 p[SMC_LLC_LEN], const struct smc_llc_msg *msg);
size_t smc_llc_used(const u8 *p, size_t len);
bool smc_llc_deletes_rkey(const u8 *p, size_t len, u32 rkey);
void smc_llc_respond(u8 p[SMC_LLC_LEN], u8 flags);

#endif /* SMC_WIRE_LLC_H */
