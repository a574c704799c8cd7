// SPDX-License-Identifier: GPL-2.0
/*
 * How many handshakes may run in a namespace: SMC_HS_MAX of its clients, as many
 * of its servers.  Those beyond do without SMC: a server answers with Decline, a
 * client does not offer it.
 *
 * One peer gets at most a third of what is left, and the next one a third of
 * the rest: it takes 22 peers to use all.  A peer is what it is for accounts.
 *
 * Context: process or BH; smc_hs_limit.lock (spinlock, BH) protects the tables;
 * it is a leaf.
 * Test: selftests/smc/hslimit.py
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/slab.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include "account.h"
#include "priv.h"

#define SMC_HS_MAX	1024	/* of one role; a peer alone: 256 */
#define HEADS		64
#define ROLES		(SMC_SERV + 1)

/* Handshakes of one role */
struct table {
	unsigned int num;
	struct hlist_head heads[HEADS];	/* struct smc_hs, by peer */
};

struct smc_hs_limit {
	spinlock_t lock;		/* protects the tables */
	u32 seed;
	struct table tables[ROLES];
};

static void peer_of_sock(const struct sock *tcp, struct in6_addr *peer)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (tcp->sk_family == AF_INET6) {
		smc_account_peer_id(&tcp->sk_v6_daddr, peer);
		return;
	}
#endif
	ipv6_addr_set_v4mapped(inet_sk(tcp)->inet_daddr, peer);
}

static void peer_of_sockaddr(const struct sockaddr *addr, struct in6_addr *peer)
{
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)addr;

	if (addr->sa_family == AF_INET6)
		smc_account_peer_id(&v6->sin6_addr, peer);
	else
		ipv6_addr_set_v4mapped(v4->sin_addr.s_addr, peer);
}

static struct hlist_head *head_of(struct smc_hs_limit *limit,
				  enum smc_role role,
				  const struct in6_addr *peer)
{
	u32 hash = __ipv6_addr_jhash(peer, limit->seed);

	return &limit->tables[role].heads[hash % HEADS];
}

/* May one more handshake with this peer run?  Looks at SMC_HS_MAX at most. */
static bool has_room(struct smc_hs_limit *limit, enum smc_role role,
		     const struct in6_addr *peer)
{
	unsigned int left = SMC_HS_MAX - limit->tables[role].num;
	unsigned int num = 0;
	struct smc_hs *hs;

	lockdep_assert_held(&limit->lock);
	hlist_for_each_entry(hs, head_of(limit, role, peer), node)
		num += ipv6_addr_equal(&hs->peer, peer);
	return 3 * num < left;
}

/**
 * smc_hs_room() - could a client's handshake begin now?
 * @sn: namespace state
 * @addr: where it connects to, AF_INET or AF_INET6
 *
 * Context: process or BH.
 */
bool smc_hs_room(struct smc_net *sn, const struct sockaddr *addr)
{
	struct smc_hs_limit *limit = sn->hs_limit;
	struct in6_addr peer;
	bool ok;

	/* has_room() for any peer: each connect() asks */
	if (4 * READ_ONCE(limit->tables[SMC_CLNT].num) < SMC_HS_MAX)
		return true;
	peer_of_sockaddr(addr, &peer);
	spin_lock_bh(&limit->lock);
	ok = has_room(limit, SMC_CLNT, &peer);
	spin_unlock_bh(&limit->lock);
	return ok;
}

/**
 * smc_hs_count() - count a handshake that begins
 * @hs: handshake that begins
 *
 * Context: process or BH.
 * Return: false if it is one too many; then it is not counted.
 */
bool smc_hs_count(struct smc_hs *hs)
{
	struct smc_hs_limit *limit = hs->setup.sn->hs_limit;
	enum smc_role role = hs->setup.role;
	bool ok;

	peer_of_sock(hs->setup.sk, &hs->peer);
	spin_lock_bh(&limit->lock);
	ok = has_room(limit, role, &hs->peer);
	if (ok) {
		hlist_add_head(&hs->node, head_of(limit, role, &hs->peer));
		WRITE_ONCE(limit->tables[role].num,
			   limit->tables[role].num + 1);
	}
	spin_unlock_bh(&limit->lock);
	return ok;
}

/**
 * smc_hs_uncount() - a handshake ends
 * @hs: handshake, counted or not
 *
 * Context: process or BH.
 */
void smc_hs_uncount(struct smc_hs *hs)
{
	struct smc_hs_limit *limit = hs->setup.sn->hs_limit;

	spin_lock_bh(&limit->lock);
	if (!hlist_unhashed(&hs->node)) {
		hlist_del_init(&hs->node);
		WRITE_ONCE(limit->tables[hs->setup.role].num,
			   limit->tables[hs->setup.role].num - 1);
	}
	spin_unlock_bh(&limit->lock);
}

int smc_hs_limit_net_init(struct smc_net *sn)
{
	struct smc_hs_limit *limit;

	/* an empty head is NULL */
	limit = kzalloc(sizeof(*limit), GFP_KERNEL);
	if (!limit)
		return -ENOMEM;
	spin_lock_init(&limit->lock);
	limit->seed = get_random_u32();
	sn->hs_limit = limit;
	return 0;
}

/* All handshakes of the namespace have ended: its sockets hold it. */
void smc_hs_limit_net_exit(struct smc_net *sn)
{
	kfree(sn->hs_limit);
	sn->hs_limit = NULL;
}
