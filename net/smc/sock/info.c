// SPDX-License-Identifier: GPL-2.0
/*
 * What sock_diag shows: the sockets of a namespace, and what there is to say of
 * one, copied at once.
 *
 * The reader (smc_diag.ko) gets a struct of plain values and never a pointer
 * into a live object.  A reference keeps the connection in its group while it
 * is looked at; positions are read as they are, each one consistent in itself.
 *
 * Context: process, no lock held.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/tcp_states.h>

#include "sock.h"

static void snap_addresses(const struct sock *sk,
			   struct smc_sock_snapshot *snap)
{
	snap->v6 = sk->sk_family == AF_INET6;
	snap->sport = inet_sk(sk)->inet_sport;
	snap->dport = inet_sk(sk)->inet_dport;
#if IS_ENABLED(CONFIG_IPV6)
	if (snap->v6) {
		snap->saddr = sk->sk_v6_rcv_saddr;
		snap->daddr = sk->sk_v6_daddr;
		return;
	}
#endif
	snap->saddr.s6_addr32[0] = sk->sk_rcv_saddr;
	snap->daddr.s6_addr32[0] = sk->sk_daddr;
}

/* Phase LATE: plain TCP, but its first bytes are hidden. */
static bool is_late(struct sock *sk)
{
	struct smc_sock *smc = smc_sock_get(sk);
	bool late;

	if (!smc)
		return false;
	late = !smc_sock_rules(smc)->ours;
	smc_sock_put(smc);
	return late;
}

/* Without a connection there are only these states to tell apart. */
static u8 snap_tcp_state(const struct sock *sk, bool tcp)
{
	switch (inet_sk_state_load(sk)) {
	case TCP_CLOSE:
		return tcp && inet_sk(sk)->inet_dport ? SMC_CLOSED : SMC_INIT;
	case TCP_SYN_SENT:
		return SMC_INIT;
	case TCP_LISTEN:
		return SMC_LISTEN;
	default:
		return tcp ? SMC_ACTIVE : SMC_INIT;
	}
}

static void snap_conn(struct smc_conn *conn, struct smc_sock_snapshot *snap)
{
	u64 prod = READ_ONCE(conn->prod_pos);
	u64 sent = READ_ONCE(conn->sent_pos);
	u64 done = READ_ONCE(conn->done_pos);

	snap->token = conn->token;
	snap->sndbuf_size = conn->snd_size;
	snap->rmbe_size = conn->rcv_size;
	snap->peer_rmbe_size = conn->peer_size;
	smc_cursor_put(conn->rcv_size, READ_ONCE(conn->rcvd_pos),
		       &snap->rx_prod);
	smc_cursor_put(conn->rcv_size, READ_ONCE(conn->announced_pos),
		       &snap->tx_cons);
	smc_cursor_put(conn->peer_size, sent, &snap->tx_prod);
	smc_cursor_put(conn->peer_size, READ_ONCE(conn->peer_read_pos),
		       &snap->rx_cons);
	smc_cursor_put(conn->snd_size, prod, &snap->tx_prep);
	smc_cursor_put(conn->snd_size, sent, &snap->tx_sent);
	smc_cursor_put(conn->snd_size, done, &snap->tx_fin);
	snap->rx_prod_flags = READ_ONCE(conn->rx_prod_flags);
	snap->rx_conn_flags = READ_ONCE(conn->rx_conn_flags);
	snap->tx_prod_flags = READ_ONCE(conn->tx_prod_flags);
	snap->tx_conn_flags = READ_ONCE(conn->tx_conn_flags);
}

static void snap_lgr(struct smc_conn *conn, struct smc_sock_snapshot *snap)
{
	const struct smc_lgr *lgr = conn->lgr;

	snap->has_lgr = true;
	snap->mode = smc_conn_diag_mode(conn);
	snap->lgr_id = lgr->id;
	snap->role = lgr->role;
	lgr->xport->fill_info(lgr, conn, &snap->info);
}

/**
 * smc_sock_snapshot() - copy what can be shown of a socket
 * @row: its row; the socket is referenced by the caller
 * @snap: overwritten
 *
 * Context: process.
 */
void smc_sock_snapshot(const struct smc_row *row,
		       struct smc_sock_snapshot *snap)
{
	bool tcp = row->past || is_late(row->sk);
	struct sock *sk = row->sk;
	struct smc_conn *conn;

	memset(snap, 0, sizeof(*snap));
	snap->family = row->family;
	snap->state = snap_tcp_state(sk, tcp);
	snap->shutdown = READ_ONCE(sk->sk_shutdown);
	snap->bound_if = READ_ONCE(sk->sk_bound_dev_if);
	snap->uid = sock_i_uid(sk);
	snap->inode = sock_i_ino(sk);
	snap->reason = row->reason;
	snap->peer_diagnosis = row->peer_diagnosis;
	snap_addresses(sk, snap);
	if (tcp) {
		snap->mode = 1;
		return;
	}
	conn = smc_sock_conn(sk);
	if (!conn)
		return;
	snap->has_conn = true;
	snap->state = READ_ONCE(conn->state);
	snap->shutdown = READ_ONCE(conn->shutdown);
	snap_conn(conn, snap);
	snap_lgr(conn, snap);
	smc_conn_put(conn);
}
EXPORT_SYMBOL_GPL(smc_sock_snapshot);
