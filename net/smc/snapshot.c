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
#include <net/ipv6.h>
#include <net/tcp_states.h>

#include "sock.h"

/* Sockets passed over without letting go of the lock. */
#define WALK_STEP	256

/**
 * smc_sock_list() - let smc_sock_walk() find a new socket
 * @smc: socket, complete: from now on others may look at it
 *
 * Context: process.
 */
void smc_sock_list(struct smc_sock *smc)
{
	struct smc_net *sn = smc_sock_net(smc);

	spin_lock_bh(&sn->socks_lock);
	smc->nr = ++sn->socks_nr;
	hlist_add_head(&smc->node, &sn->socks);
	spin_unlock_bh(&sn->socks_lock);
}

/*
 * The next socket after @prev (referenced, dropped here) with a reference.  Those
 * not older than number @from are passed over, a few at a time.
 */
static struct smc_sock *next_sock(struct smc_net *sn, struct smc_sock *prev,
				  u64 from)
{
	struct smc_sock *smc;
	int passed = 0;

	spin_lock_bh(&sn->socks_lock);
	smc = prev ? hlist_entry_safe(prev->node.next, struct smc_sock, node) :
		     hlist_entry_safe(sn->socks.first, struct smc_sock, node);
	while (smc && ((smc->nr >= from && passed++ < WALK_STEP) ||
		       !refcount_inc_not_zero(&smc->sk.sk_refcnt)))
		smc = hlist_entry_safe(smc->node.next, struct smc_sock, node);
	spin_unlock_bh(&sn->socks_lock);
	if (prev)
		sock_put(&prev->sk);
	return smc;
}

/**
 * smc_sock_walk() - call a function for every socket of a namespace
 * @net: namespace
 * @from: 0, or only sockets older than this number; a socket that lives on
 *	is met once by walks that go on where the one before stopped
 * @fn: returns != 0 to stop; @nr is the socket's number
 * @arg: handed to @fn
 *
 * Context: process; the socket is referenced while @fn runs, no lock is held.
 * Return: what @fn returned, or 0.
 */
int smc_sock_walk(struct net *net, u64 from,
		  int (*fn)(struct sock *sk, u64 nr, void *arg), void *arg)
{
	struct smc_net *sn = smc_net(net);
	struct smc_sock *smc = NULL;
	int rc;

	if (!from)
		from = U64_MAX;
	while ((smc = next_sock(sn, smc, from))) {
		if (smc->nr >= from)
			continue;
		rc = fn(&smc->sk, smc->nr, arg);
		if (rc) {
			sock_put(&smc->sk);
			return rc;
		}
		cond_resched();
	}
	return 0;
}
EXPORT_SYMBOL_GPL(smc_sock_walk);

static bool copy_addresses(const struct sock *tcp,
			   struct smc_sock_snapshot *snap)
{
	snap->sport = inet_sk(tcp)->inet_sport;
	snap->dport = inet_sk(tcp)->inet_dport;
#if IS_ENABLED(CONFIG_IPV6)
	if (tcp->sk_family == AF_INET6) {
		snap->saddr = tcp->sk_v6_rcv_saddr;
		snap->daddr = tcp->sk_v6_daddr;
		return true;
	}
#endif
	snap->saddr.s6_addr32[0] = tcp->sk_rcv_saddr;
	snap->daddr.s6_addr32[0] = tcp->sk_daddr;
	return false;
}

static void snap_addresses(const struct smc_sock *smc,
			   struct smc_sock_snapshot *snap)
{
	const struct sock *tcp = smc->inner.sk;

	if (!tcp)
		return;
	/* TCP changes them without a mark: a dump may show half a name, once */
	snap->v6 = data_race(copy_addresses(tcp, snap));
}

/* In mode TCP there are only three states to tell apart. */
static u8 snap_tcp_state(const struct smc_sock *smc,
			 const struct smc_sock_snapshot *snap)
{
	const struct sock *tcp = smc->inner.sk;

	switch (tcp ? inet_sk_state_load(tcp) : TCP_CLOSE) {
	case TCP_CLOSE:
		return snap->dport ? SMC_CLOSED : SMC_INIT;
	case TCP_SYN_SENT:
		return SMC_INIT;
	case TCP_LISTEN:
		return SMC_LISTEN;
	default:
		return SMC_ACTIVE;
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
	snap->mode = lgr->xport->id == SMC_XPORT_D ? 2 : 0;
	snap->lgr_id = lgr->id;
	snap->role = lgr->role;
	lgr->xport->fill_info(lgr, conn, &snap->info);
}

/**
 * smc_sock_snapshot() - copy what can be shown of a socket
 * @sk: socket, referenced by the caller
 * @snap: overwritten
 *
 * Context: process.
 */
void smc_sock_snapshot(struct sock *sk, struct smc_sock_snapshot *snap)
{
	struct smc_sock *smc = smc_sk(sk);
	const struct smc_mode *mode;
	struct smc_conn *conn;

	memset(snap, 0, sizeof(*snap));
	mode = smp_load_acquire(&smc->mode);
	snap->family = sk->sk_family;
	snap->protocol = sk->sk_protocol;
	snap->state = READ_ONCE(sk->sk_state);
	snap->shutdown = READ_ONCE(sk->sk_shutdown);
	snap->bound_if = READ_ONCE(sk->sk_bound_dev_if);
	snap->uid = sock_i_uid(sk);
	snap->inode = sock_i_ino(sk);
	snap->reason = READ_ONCE(smc->reason);
	snap->peer_diagnosis = READ_ONCE(smc->peer_diagnosis);
	snap_addresses(smc, snap);
	if (mode->id == SMC_MODE_TCP) {
		snap->mode = 1;
		if (snap->state != SMC_CLOSED)
			snap->state = snap_tcp_state(smc, snap);
		snap->shutdown = READ_ONCE(smc->inner.sk->sk_shutdown);
		return;
	}
	conn = smc_sock_conn_get(smc);
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
