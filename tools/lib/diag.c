// SPDX-License-Identifier: GPL-2.0
/*
 * Reading of sock_diag messages.
 *
 * diag_parse() turns one message into a struct diag_row and is all the tests
 * need; nl.c fetches messages from the kernel.  Attributes may be shorter than
 * our structures (older kernel: the rest stays zero), longer (newer kernel:
 * the rest is ignored), unknown (ignored) or repeated (the first one counts).
 *
 * Tests: selftests/unit/unit_smcss.c.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include <linux/rtnetlink.h>

#include "diag.h"

_Static_assert(sizeof(struct smc_diag_req) == 52, "ABI");
_Static_assert(sizeof(struct smc_diag_msg) == 64, "ABI");
_Static_assert(offsetof(struct smc_diag_msg, diag_uid) == 52, "ABI");
_Static_assert(offsetof(struct smc_diag_msg, diag_inode) == 56, "ABI");
_Static_assert(sizeof(struct smc_diag_cursor) == 8, "ABI");
_Static_assert(sizeof(struct smc_diag_conninfo) == 76, "ABI");
_Static_assert(offsetof(struct smc_diag_conninfo, tx_prep) == 52, "ABI");
_Static_assert(sizeof(struct smc_diag_lgrinfo) == 147, "ABI");
_Static_assert(sizeof(struct smcd_diag_dmbinfo) == 56, "ABI");
_Static_assert(offsetof(struct smcd_diag_dmbinfo, peer_gid_ext) == 40, "ABI");
_Static_assert(sizeof(struct smc_diag_fallback) == 8, "ABI");

/* Where an attribute goes, and the least that makes sense of it. */
static void *attr_place(struct diag_row *row, int type, size_t *size,
			size_t *least)
{
	switch (type) {
	case SMC_DIAG_CONNINFO:
		*size = sizeof(row->conn);
		*least = sizeof(row->conn);
		return &row->conn;
	case SMC_DIAG_LGRINFO:
		*size = sizeof(row->lgr);
		*least = sizeof(row->lgr);
		return &row->lgr;
	case SMC_DIAG_SHUTDOWN:
		*size = sizeof(row->shutdown);
		*least = sizeof(row->shutdown);
		return &row->shutdown;
	case SMC_DIAG_DMBINFO:
		*size = sizeof(row->dmb);
		*least = offsetof(struct smcd_diag_dmbinfo, peer_gid_ext);
		return &row->dmb;
	case SMC_DIAG_FALLBACK:
		*size = sizeof(row->fallback);
		*least = sizeof(row->fallback);
		return &row->fallback;
	default:
		return NULL;
	}
}

static void take_attr(struct diag_row *row, int type, const void *data,
		      size_t len)
{
	size_t size, least;
	void *place = attr_place(row, type, &size, &least);

	if (!place || len < least || row->have & DIAG_EXT(type))
		return;
	memcpy(place, data, len < size ? len : size);
	row->have |= DIAG_EXT(type);
}

/**
 * diag_parse() - read one sock_diag message
 * @payload: what follows the netlink header, any alignment
 * @len: its length in bytes
 * @row: result
 *
 * Return: 0, or -EBADMSG if it is not even the fixed part.
 */
int diag_parse(const void *payload, size_t len, struct diag_row *row)
{
	struct smc_diag_linkinfo *link = &row->lgr.lnk[0];
	const char *p = payload;

	memset(row, 0, sizeof(*row));
	if (len < sizeof(row->msg))
		return -EBADMSG;
	memcpy(&row->msg, p, sizeof(row->msg));
	p += NLMSG_ALIGN(sizeof(row->msg));
	len -= sizeof(row->msg);

	while (len >= sizeof(struct rtattr)) {
		struct rtattr rta;
		size_t step;

		memcpy(&rta, p, sizeof(rta));
		if (rta.rta_len < sizeof(rta) || rta.rta_len > len)
			break;
		take_attr(row, rta.rta_type & NLA_TYPE_MASK,
			  p + RTA_LENGTH(0), rta.rta_len - RTA_LENGTH(0));
		step = RTA_ALIGN(rta.rta_len);
		if (step > len)
			break;
		p += step;
		len -= step;
	}
	link->ibname[sizeof(link->ibname) - 1] = 0;
	link->gid[sizeof(link->gid) - 1] = 0;
	link->peer_gid[sizeof(link->peer_gid) - 1] = 0;
	return 0;
}

/**
 * diag_mode_name() - what carries the data
 * @mode: SMC_DIAG_MODE_*
 *
 * Return: constant text.
 */
const char *diag_mode_name(unsigned int mode)
{
	switch (mode) {
	case SMC_DIAG_MODE_SMCR:
		return "SMC-R";
	case SMC_DIAG_MODE_SMCD:
		return "SMC-D";
	default:
		return "TCP";
	}
}

/**
 * diag_is_v4() - is this an address of IPv4?
 * @row: the socket
 * @addr: one of its addresses
 *
 * Families are told apart as on the wire: IPv4 leaves three words zero.
 */
bool diag_is_v4(const struct diag_row *row, const __be32 *addr)
{
	return row->msg.diag_family != AF_INET6 &&
	       !addr[1] && !addr[2] && !addr[3];
}

/**
 * diag_addr() - an address as text
 * @row: the socket
 * @addr: one of its addresses
 *
 * Return: the text, valid until the next call.
 */
const char *diag_addr(const struct diag_row *row, const __be32 *addr)
{
	static char text[INET6_ADDRSTRLEN];

	return inet_ntop(diag_is_v4(row, addr) ? AF_INET : AF_INET6, addr,
			 text, sizeof(text));
}

/**
 * diag_distance() - bytes from one position in a ring to a later one
 * @size: of the ring
 * @from: the earlier position
 * @to: the later one
 *
 * A cursor counts 65536 rounds and begins again; the result is too small if the
 * two positions are further apart.
 *
 * Return: bytes; 0 for a ring without bytes.
 */
uint64_t diag_distance(uint32_t size, const struct smc_diag_cursor *from,
		       const struct smc_diag_cursor *to)
{
	uint64_t all = (uint64_t)size << 16;
	uint64_t a = (uint64_t)from->wrap * size + from->count;
	uint64_t b = (uint64_t)to->wrap * size + to->count;

	return all ? (b % all + all - a % all) % all : 0;
}
