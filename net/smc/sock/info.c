// SPDX-License-Identifier: GPL-2.0
/*
 * What sock_diag shows of a socket: a copy of the values.
 *
 * The reader (smc_diag.ko) gets a struct of plain values and never a pointer
 * into a live object.  A reference keeps the connection in its group while it
 * is looked at; positions are read as they are, each one consistent in itself.
 *
 * Context: process, no lock held.
 * Test: selftests/smc/diag.py
 */
#include <linux/export.h>
#include <net/ipv6.h>
#include <net/tcp_states.h>

#include "sock.h"

/* True if they are of IPv6. */
static bool info_addresses(const struct sock *sk, struct smc_sock_info *si)
{
	si->sport = inet_sk(sk)->inet_sport;
	si->dport = inet_sk(sk)->inet_dport;
#if IS_ENABLED(CONFIG_IPV6)
	if (READ_ONCE(sk->sk_family) == AF_INET6) {
		si->saddr = sk->sk_v6_rcv_saddr;
		si->daddr = sk->sk_v6_daddr;
		return true;
	}
#endif
	si->saddr.s6_addr32[0] = sk->sk_rcv_saddr;
	si->daddr.s6_addr32[0] = sk->sk_daddr;
	return false;
}

/* Phase LATE: plain TCP, but its first bytes are held back. */
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
static u8 info_tcp_state(const struct sock *sk, bool tcp, __be16 dport)
{
	switch (inet_sk_state_load(sk)) {
	case TCP_CLOSE:
		return tcp && dport ? SMC_CLOSED : SMC_INIT;
	case TCP_SYN_SENT:
		return SMC_INIT;
	case TCP_LISTEN:
		return SMC_LISTEN;
	default:
		return tcp ? SMC_ACTIVE : SMC_INIT;
	}
}

/*
 * The connection moves meanwhile.  Of two positions the one that stays behind the
 * other is read first: a distance may be too long by what moved, and never wraps.
 */
static void info_conn(struct smc_conn *conn, struct smc_sock_info *si)
{
	u64 announced = READ_ONCE(conn->announced_pos);
	u64 peer_read = READ_ONCE(conn->peer_read_pos);
	u64 done = READ_ONCE(conn->done_pos);
	u64 rcvd, sent, prod;

	smp_rmb();
	rcvd = READ_ONCE(conn->rcvd_pos);
	sent = READ_ONCE(conn->sent_pos);
	smp_rmb();
	prod = smc_conn_prod(conn);
	si->token = conn->token;
	si->sndbuf_size = conn->snd_size;
	si->rmbe_size = conn->rcv_size;
	si->peer_rmbe_size = conn->peer_size;
	smc_cursor_put(conn->rcv_size, rcvd, &si->rx_prod);
	smc_cursor_put(conn->rcv_size, announced, &si->tx_cons);
	smc_cursor_put(conn->peer_size, sent, &si->tx_prod);
	smc_cursor_put(conn->peer_size, peer_read, &si->rx_cons);
	smc_cursor_put(conn->snd_size, prod, &si->tx_prep);
	smc_cursor_put(conn->snd_size, sent, &si->tx_sent);
	smc_cursor_put(conn->snd_size, done, &si->tx_fin);
	si->rx_prod_flags = READ_ONCE(conn->rx_prod_flags);
	si->rx_conn_flags = READ_ONCE(conn->rx_conn_flags);
	si->tx_prod_flags = READ_ONCE(conn->tx_prod_flags);
	si->tx_conn_flags = READ_ONCE(conn->tx_conn_flags);
}

static void info_lgr(struct smc_conn *conn, struct smc_sock_info *si)
{
	const struct smc_lgr *lgr = conn->lgr;

	si->mode = smc_conn_diag_mode(conn);
	si->lgr_id = lgr->id;
	si->role = lgr->role;
	lgr->xport->fill_info(lgr, conn, &si->info);
}

/* The row was copied before the socket fell back: its new one is not met. */
static void info_fallen_back(const struct smc_row *row,
			     struct smc_sock_info *si)
{
	if (smc_sock_has_context(row->sk) ||
	    !smc_row_reason(row, &si->reason, &si->peer_diagnosis))
		return;
	si->mode = SMC_DIAG_MODE_FALLBACK_TCP;
	si->state = info_tcp_state(row->sk, true, si->dport);
}

/**
 * smc_sock_info() - copy what can be shown of a socket
 * @row: its row; the socket is referenced by the caller
 * @si: overwritten
 *
 * Context: process.
 */
void smc_sock_info(const struct smc_row *row,
		   struct smc_sock_info *si)
{
	bool tcp = row->past || is_late(row->sk);
	struct sock *sk = row->sk;
	struct smc_conn *conn;

	memset(si, 0, sizeof(*si));
	si->family = row->family;
	/*
	 * TCP may write them now, as the socket is not locked: a dump may show
	 * half an address, as TCP's own does.
	 */
	si->v6 = data_race(info_addresses(sk, si));
	si->state = info_tcp_state(sk, tcp, si->dport);
	si->shutdown = READ_ONCE(sk->sk_shutdown);
	si->bound_if = READ_ONCE(sk->sk_bound_dev_if);
	si->uid = sk_uid(sk);
	si->inode = sock_i_ino(sk);
	si->reason = row->reason;
	si->peer_diagnosis = row->peer_diagnosis;
	if (tcp) {
		si->mode = SMC_DIAG_MODE_FALLBACK_TCP;
		return;
	}
	conn = smc_sock_conn(sk);
	if (!conn) {
		info_fallen_back(row, si);
		return;
	}
	si->has_conn = true;
	si->state = READ_ONCE(conn->state);
	si->shutdown = READ_ONCE(conn->shutdown);
	info_conn(conn, si);
	info_lgr(conn, si);
	smc_conn_put(conn);
}
EXPORT_SYMBOL_GPL(smc_sock_info);
