// SPDX-License-Identifier: GPL-2.0
/*
 * What smcss prints.
 *
 * Columns, widths and their order are those of the smcss of IBM's smc-tools,
 * on which scripts rely: state, uid, inode, local and peer address, interface
 * and mode stand in columns 1 to 7, the code of a connection that fell back to
 * TCP in column 8.  What follows the code is ours: the reason in words.
 *
 * Tests: selftests/unit/unit_smcss.c.
 */
#include <arpa/inet.h>
#include <string.h>

#include "paint.h"
#include "reason.h"
#include "ss.h"

#define ADDR_WIDTH	23

/**
 * ss_state_name() - name of a state
 * @state: number of the kernel
 *
 * Return: constant text, or NULL for an unknown one.
 */
const char *ss_state_name(unsigned int state)
{
	static const char * const names[] = {
		[1] = "ACTIVE", [2] = "INIT", [7] = "CLOSED", [10] = "LISTEN",
		[20] = "PEERCLOSEWAIT1", [21] = "PEERCLOSEWAIT2",
		[22] = "APPCLOSEWAIT1", [23] = "APPCLOSEWAIT2",
		[24] = "APPFINCLOSEWAIT1", [25] = "PEERFINCLOSEWAIT",
		[26] = "PEERABORTWAIT", [27] = "PROCESSABORT",
	};

	if (state >= sizeof(names) / sizeof(names[0]))
		return NULL;
	return names[state];
}

static void print_addr(FILE *out, const struct ss_options *opt,
		       const struct diag_row *row, const __be32 *addr,
		       __be16 port)
{
	char text[INET6_ADDRSTRLEN + 8];
	char tail[8];
	size_t len;

	strcpy(text, diag_addr(row, addr));
	snprintf(tail, sizeof(tail), ":%u", ntohs(port));
	len = strlen(text);
	if (!opt->wide && len + strlen(tail) > ADDR_WIDTH) {
		/* keep the port, it tells more than the middle */
		len = ADDR_WIDTH - strlen(tail) - 2;
		strcpy(text + len, "..");
	}
	strcat(text, tail);
	fprintf(out, "%-*s ", ADDR_WIDTH, text);
}

/* The code, the peer's code, and both in words. */
static void print_fallback(FILE *out, const struct smc_diag_fallback *fb)
{
	const struct reason_text *why = reason_find(fb->reason);
	const struct reason_text *peer = reason_find(fb->peer_diagnosis);

	fprintf(out, "%sTCP%s 0x%08x", paint(PAINT_WARN), paint(PAINT_NONE),
		fb->reason);
	if (fb->peer_diagnosis)
		fprintf(out, "/0x%08x", fb->peer_diagnosis);
	if (why)
		fprintf(out, "  %s", why->sentence);
	if (peer)
		fprintf(out, "%s%s", why ? "; peer: " : "  peer: ",
			peer->sentence);
}

static void print_cursor(FILE *out, const struct smc_diag_cursor *cur)
{
	fprintf(out, "%04x:%08x ", cur->wrap, cur->count);
}

static void print_details(FILE *out, const struct diag_row *row)
{
	const struct smc_diag_conninfo *c = &row->conn;

	fprintf(out, "%cR-W%c ", row->shutdown & 1 ? ' ' : '<',
		row->shutdown & 2 ? ' ' : '>');
	if (!(row->have & DIAG_EXT(SMC_DIAG_CONNINFO)))
		return;
	fprintf(out, "%08x %08x %08x %08x ", c->token, c->sndbuf_size,
		c->rmbe_size, c->peer_rmbe_size);
	print_cursor(out, &c->rx_prod);
	print_cursor(out, &c->rx_cons);
	fprintf(out, "%02x:%02x   ", c->rx_prod_flags, c->rx_conn_state_flags);
	print_cursor(out, &c->tx_prod);
	print_cursor(out, &c->tx_cons);
	fprintf(out, "%02x:%02x   ", c->tx_prod_flags, c->tx_conn_state_flags);
	print_cursor(out, &c->tx_prep);
	print_cursor(out, &c->tx_sent);
	print_cursor(out, &c->tx_fin);
}

static void print_link(FILE *out, const struct smc_diag_lgrinfo *lgr)
{
	const struct smc_diag_linkinfo *link = &lgr->lnk[0];

	fprintf(out, "%4s %-15s %02x   %02x     %-40s %s",
		lgr->role ? "SERV" : "CLNT", link->ibname, link->ibport,
		link->link_id, link->gid, link->peer_gid);
}

static void print_dmb(FILE *out, const struct smcd_diag_dmbinfo *dmb)
{
	fprintf(out, "%016llx %016llx %016llx %016llx %08x",
		(unsigned long long)dmb->my_gid,
		(unsigned long long)dmb->token,
		(unsigned long long)dmb->peer_gid,
		(unsigned long long)dmb->peer_token, dmb->linkid);
}

/**
 * ss_has_mode() - did a socket get as far as a mode?
 * @row: the socket
 */
bool ss_has_mode(const struct diag_row *row)
{
	unsigned int state = row->msg.diag_state;

	return state != SS_INIT && state != SS_LISTEN && state != SS_CLOSED;
}

/**
 * ss_ext() - attributes the chosen columns need
 * @opt: options
 *
 * Return: DIAG_EXT() bits.
 */
unsigned int ss_ext(const struct ss_options *opt)
{
	unsigned int ext = 0;

	if (opt->info || opt->json)
		return DIAG_EXT(SMC_DIAG_CONNINFO) |
		       DIAG_EXT(SMC_DIAG_LGRINFO) |
		       DIAG_EXT(SMC_DIAG_DMBINFO);
	if (opt->details)
		ext |= DIAG_EXT(SMC_DIAG_CONNINFO);
	if (opt->smcr)
		ext |= DIAG_EXT(SMC_DIAG_LGRINFO);
	if (opt->smcd)
		ext |= DIAG_EXT(SMC_DIAG_DMBINFO);
	return ext;
}

/**
 * ss_wanted() - is a socket among those asked for?
 * @opt: options
 * @row: the socket
 */
bool ss_wanted(const struct ss_options *opt, const struct diag_row *row)
{
	unsigned int state = row->msg.diag_state;

	if (!ss_filter_match(&opt->filter, row))
		return false;
	if (opt->listening)
		return state == SS_LISTEN;
	/* states that the user names are always shown */
	if (!opt->all && !opt->filter.states &&
	    (state == SS_LISTEN || state == SS_INIT))
		return false;
	if (opt->smcr && row->msg.diag_mode != SMC_DIAG_MODE_SMCR)
		return false;
	if (opt->smcd && row->msg.diag_mode != SMC_DIAG_MODE_SMCD)
		return false;
	return true;
}

/**
 * ss_print_header() - the first line
 * @out: where to
 * @opt: options
 */
void ss_print_header(FILE *out, const struct ss_options *opt)
{
	fputs(paint(PAINT_HEAD), out);
	fputs("State          UID   Inode   Local Address           "
	      "Peer Address            Intf Mode ", out);
	if (opt->details)
		fputs("Shutd Token    Sndbuf   Rcvbuf   Peerbuf  "
		      "rxprod-Cursor rxcons-Cursor rxFlags "
		      "txprod-Cursor txcons-Cursor txFlags "
		      "txprep-Cursor txsent-Cursor txfin-Cursor  ", out);
	if (opt->smcr)
		fputs("Role IB-device       Port Linkid "
		      "GID                                      Peer-GID", out);
	if (opt->smcd)
		fputs("GID              Token            Peer-GID         "
		      "Peer-Token       Linkid", out);
	fputs(paint(PAINT_NONE), out);
	fputc('\n', out);
}

/* The columns of a socket that got as far as a mode. */
static void print_mode(FILE *out, const struct ss_options *opt,
		       const struct diag_row *row)
{
	if (row->msg.diag_mode == SMC_DIAG_MODE_FALLBACK_TCP) {
		print_fallback(out, &row->fallback);
		return;
	}
	fprintf(out, "%s%4s%s ", paint(PAINT_GOOD),
		row->msg.diag_mode == SMC_DIAG_MODE_SMCD ? "SMCD" : "SMCR",
		paint(PAINT_NONE));
	if (opt->details)
		print_details(out, row);
	if (opt->smcr && row->have & DIAG_EXT(SMC_DIAG_LGRINFO))
		print_link(out, &row->lgr);
	if (opt->smcd && row->have & DIAG_EXT(SMC_DIAG_DMBINFO))
		print_dmb(out, &row->dmb);
}

/* Connections that end stand out; others are what one expects. */
static enum paint state_paint(const struct smc_diag_msg *msg)
{
	if (msg->diag_state == 1 || msg->diag_state == SS_LISTEN ||
	    msg->diag_state == SS_INIT)
		return PAINT_PLAIN;
	return msg->diag_state >= 26 ? PAINT_BAD : PAINT_WARN;
}

/**
 * ss_print_row() - one socket, one line
 * @out: where to
 * @opt: options
 * @row: the socket
 *
 * Sockets that are not connected have fewer columns: INIT ends after the
 * inode, LISTEN after the local address, CLOSED after the interface.
 */
void ss_print_row(FILE *out, const struct ss_options *opt,
		  const struct diag_row *row)
{
	const struct smc_diag_msg *msg = &row->msg;
	const char *name = ss_state_name(msg->diag_state);
	char unknown[8];

	if (!name) {
		snprintf(unknown, sizeof(unknown), "%#x?", msg->diag_state);
		name = unknown;
	}
	fprintf(out, "%s%-14s%s %05u %07llu ", paint(state_paint(msg)), name,
		paint(PAINT_NONE), msg->diag_uid,
		(unsigned long long)msg->diag_inode);
	if (msg->diag_state == SS_INIT)
		goto out;
	print_addr(out, opt, row, msg->id.idiag_src, msg->id.idiag_sport);
	if (msg->diag_state == SS_LISTEN)
		goto out;
	print_addr(out, opt, row, msg->id.idiag_dst, msg->id.idiag_dport);
	fprintf(out, "%04x ", msg->id.idiag_if);
	if (msg->diag_state != SS_CLOSED)
		print_mode(out, opt, row);
out:
	fputc('\n', out);
	if (opt->info)
		ss_print_info(out, row);
}
