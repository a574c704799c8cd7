// SPDX-License-Identifier: GPL-2.0
/*
 * All that sock_diag tells about a socket, in lines and as JSON.
 *
 * Cursors are positions in a ring; what a reader wants to know are the bytes
 * between two of them.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <arpa/inet.h>
#include <inttypes.h>

#include "json.h"
#include "reason.h"
#include "ss.h"

#define SHUT_RECEIVE	1	/* SMC_DIAG_SHUTDOWN */
#define SHUT_SEND	2

struct flag {
	unsigned int bit;
	const char *name;
};

static const struct flag prod_flags[] = {
	{ SMC_DIAG_PROD_BLOCKED, "blocked" },
	{ SMC_DIAG_PROD_URG_PENDING, "urgent-pending" },
	{ SMC_DIAG_PROD_URG_PRESENT, "urgent" },
	{ SMC_DIAG_PROD_CONS_REQ, "wants-cursor" },
	{ SMC_DIAG_PROD_FAILOVER, "failover" },
	{ 0, NULL }
};

static const struct flag conn_flags[] = {
	{ SMC_DIAG_CONN_DONE, "done" },
	{ SMC_DIAG_CONN_CLOSED, "closed" },
	{ SMC_DIAG_CONN_ABORT, "aborted" },
	{ 0, NULL }
};

static bool has(const struct diag_row *row, int attr)
{
	return row->have & DIAG_EXT(attr);
}

static uint64_t cookie(const struct diag_row *row)
{
	const __u32 *half = row->msg.id.idiag_cookie;

	return (uint64_t)half[1] << 32 | half[0];
}

static void print_flags(FILE *out, unsigned int prod, unsigned int conn)
{
	const struct flag *f;

	for (f = prod_flags; f->name; f++)
		if (prod & f->bit)
			fprintf(out, ", %s", f->name);
	for (f = conn_flags; f->name; f++)
		if (conn & f->bit)
			fprintf(out, ", %s", f->name);
	fputc('\n', out);
}

static void print_conn(FILE *out, const struct smc_diag_conninfo *c)
{
	fprintf(out, "\tbuffers: send %u, receive %u, peer's %u bytes; token %08x\n",
		c->sndbuf_size, c->rmbe_size, c->peer_rmbe_size, c->token);
	fprintf(out, "\tsending: %" PRIu64 " unsent, %" PRIu64
		" unconfirmed, %" PRIu64 " not read by the peer",
		diag_distance(c->sndbuf_size, &c->tx_sent, &c->tx_prep),
		diag_distance(c->sndbuf_size, &c->tx_fin, &c->tx_sent),
		diag_distance(c->peer_rmbe_size, &c->rx_cons, &c->tx_prod));
	print_flags(out, c->tx_prod_flags, c->tx_conn_state_flags);
	fprintf(out, "\treceiving: %" PRIu64 " not announced as read",
		diag_distance(c->rmbe_size, &c->tx_cons, &c->rx_prod));
	print_flags(out, c->rx_prod_flags, c->rx_conn_state_flags);
}

static void print_reason(FILE *out, const char *what, uint32_t code)
{
	const struct reason_text *why = reason_find(code);

	if (!code)
		return;
	fprintf(out, "\t%s: 0x%08x", what, code);
	if (why)
		fprintf(out, " %s, %s%s%s", why->label, why->sentence,
			*why->hint ? "; " : "", why->hint);
	fputc('\n', out);
}

/**
 * ss_print_info() - all that is known, in lines after that of the socket
 * @out: where to
 * @row: the socket
 */
void ss_print_info(FILE *out, const struct diag_row *row)
{
	static const char * const open_for[] = {
		[0] = "receiving and sending", [SHUT_RECEIVE] = "sending",
		[SHUT_SEND] = "receiving", [SHUT_RECEIVE | SHUT_SEND] = "nothing",
	};
	const struct smc_diag_linkinfo *link = &row->lgr.lnk[0];
	const struct smcd_diag_dmbinfo *dmb = &row->dmb;

	fprintf(out, "\tsocket: family %u, cookie %" PRIx64 ", open for %s\n",
		row->msg.diag_family, cookie(row), open_for[row->shutdown & 3]);
	print_reason(out, "reason", row->fallback.reason);
	print_reason(out, "peer's reason", row->fallback.peer_diagnosis);
	if (has(row, SMC_DIAG_CONNINFO))
		print_conn(out, &row->conn);
	if (has(row, SMC_DIAG_LGRINFO)) {
		fprintf(out, "\tlink: %s, %s port %u, link %02x\n",
			row->lgr.role ? "server" : "client", link->ibname,
			link->ibport, link->link_id);
		fprintf(out, "\tGIDs: %s to %s\n", link->gid, link->peer_gid);
	}
	if (has(row, SMC_DIAG_DMBINFO)) {
		fprintf(out, "\tgroup: %08x, token %016" PRIx64
			", peer's %016" PRIx64 "\n", dmb->linkid,
			(uint64_t)dmb->token, (uint64_t)dmb->peer_token);
		fprintf(out, "\tGIDs: %016" PRIx64 ":%016" PRIx64
			" to %016" PRIx64 ":%016" PRIx64 "\n",
			(uint64_t)dmb->my_gid, (uint64_t)dmb->my_gid_ext,
			(uint64_t)dmb->peer_gid, (uint64_t)dmb->peer_gid_ext);
	}
}

static void json_addr(const char *key, const struct diag_row *row,
		      const __be32 *addr, __be16 port)
{
	json_object(key);
	json_str("address", diag_addr(row, addr));
	json_uint("port", ntohs(port));
	json_close();
}

static void json_cursor(const char *key, const struct smc_diag_cursor *cur)
{
	json_object(key);
	json_uint("wrap", cur->wrap);
	json_uint("count", cur->count);
	json_close();
}

static void json_flags(const char *key, unsigned int prod, unsigned int conn)
{
	const struct flag *f;

	json_array(key);
	for (f = prod_flags; f->name; f++)
		if (prod & f->bit)
			json_str(NULL, f->name);
	for (f = conn_flags; f->name; f++)
		if (conn & f->bit)
			json_str(NULL, f->name);
	json_close();
}

static void json_conn(const struct smc_diag_conninfo *c)
{
	json_object("connection");
	json_fmt("token", "%08x", c->token);
	json_uint("sndbuf_bytes", c->sndbuf_size);
	json_uint("rcvbuf_bytes", c->rmbe_size);
	json_uint("peerbuf_bytes", c->peer_rmbe_size);
	json_uint("unsent_bytes",
		  diag_distance(c->sndbuf_size, &c->tx_sent, &c->tx_prep));
	json_uint("unconfirmed_bytes",
		  diag_distance(c->sndbuf_size, &c->tx_fin, &c->tx_sent));
	json_uint("peer_unread_bytes",
		  diag_distance(c->peer_rmbe_size, &c->rx_cons, &c->tx_prod));
	json_uint("unread_bytes",
		  diag_distance(c->rmbe_size, &c->tx_cons, &c->rx_prod));
	json_cursor("rx_prod", &c->rx_prod);
	json_cursor("rx_cons", &c->rx_cons);
	json_flags("rx_flags", c->rx_prod_flags, c->rx_conn_state_flags);
	json_cursor("tx_prod", &c->tx_prod);
	json_cursor("tx_cons", &c->tx_cons);
	json_flags("tx_flags", c->tx_prod_flags, c->tx_conn_state_flags);
	json_cursor("tx_prep", &c->tx_prep);
	json_cursor("tx_sent", &c->tx_sent);
	json_cursor("tx_fin", &c->tx_fin);
	json_close();
}

static void json_link(const struct smc_diag_lgrinfo *lgr)
{
	const struct smc_diag_linkinfo *link = &lgr->lnk[0];

	json_object("link");
	json_str("role", lgr->role ? "SERV" : "CLNT");
	json_str("ibdev", (const char *)link->ibname);
	json_uint("ibport", link->ibport);
	json_uint("link_id", link->link_id);
	json_str("gid", (const char *)link->gid);
	json_str("peer_gid", (const char *)link->peer_gid);
	json_close();
}

static void json_dmb(const struct smcd_diag_dmbinfo *dmb)
{
	json_object("dmb");
	json_fmt("lg_id", "%08x", dmb->linkid);
	json_fmt("token", "%016" PRIx64, (uint64_t)dmb->token);
	json_fmt("peer_token", "%016" PRIx64, (uint64_t)dmb->peer_token);
	json_fmt("gid", "%016" PRIx64 "%016" PRIx64, (uint64_t)dmb->my_gid,
		 (uint64_t)dmb->my_gid_ext);
	json_fmt("peer_gid", "%016" PRIx64 "%016" PRIx64,
		 (uint64_t)dmb->peer_gid, (uint64_t)dmb->peer_gid_ext);
	json_close();
}

/**
 * ss_print_json() - all that is known, as an object in an array
 * @row: the socket
 */
void ss_print_json(const struct diag_row *row)
{
	const struct smc_diag_msg *msg = &row->msg;
	const char *name = ss_state_name(msg->diag_state);

	json_object(NULL);
	if (name)
		json_str("state", name);
	else
		json_fmt("state", "%#x", msg->diag_state);
	json_uint("uid", msg->diag_uid);
	json_uint("inode", msg->diag_inode);
	json_uint("family", msg->diag_family);
	json_fmt("cookie", "%" PRIx64, cookie(row));
	json_addr("local", row, msg->id.idiag_src, msg->id.idiag_sport);
	json_addr("peer", row, msg->id.idiag_dst, msg->id.idiag_dport);
	json_uint("ifindex", msg->id.idiag_if);
	if (ss_has_mode(row))
		json_str("mode", diag_mode_name(msg->diag_mode));
	json_bool("receives", !(row->shutdown & SHUT_RECEIVE));
	json_bool("sends", !(row->shutdown & SHUT_SEND));
	reason_json("reason", row->fallback.reason);
	reason_json("peer_reason", row->fallback.peer_diagnosis);
	if (has(row, SMC_DIAG_CONNINFO))
		json_conn(&row->conn);
	if (has(row, SMC_DIAG_LGRINFO))
		json_link(&row->lgr);
	if (has(row, SMC_DIAG_DMBINFO))
		json_dmb(&row->dmb);
	json_close();
}
