// SPDX-License-Identifier: GPL-2.0
/*
 * How many handshakes may run: SMC_HS_MAX_SOURCE of one peer's address,
 * SMC_HS_MAX_NET of a namespace.  A server answers those beyond with Decline.
 *
 * Context: process; smc_hs_limit.lock (spinlock, BH) protects the table;
 * it is a leaf.
 * Test: selftests/smc/hostile_clc.py
 */
#include <linux/in6.h>
#include <linux/slab.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include "priv.h"

#define HEADS		64

struct smc_hs_limit {
	spinlock_t lock;		/* protects the table */
	u32 seed;
	struct hlist_head running[HEADS];	/* struct smc_hs, by address */
};

static void peer_addr(const struct sock *tcp, struct in6_addr *addr)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (tcp->sk_family == AF_INET6) {
		*addr = tcp->sk_v6_daddr;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(inet_sk(tcp)->inet_daddr, addr);
}

static struct hlist_head *head_of(struct smc_hs_limit *limit,
				  const struct in6_addr *addr)
{
	return &limit->running[__ipv6_addr_jhash(addr, limit->seed) % HEADS];
}

/* How many handshakes run with this address?  Bounded by SMC_HS_MAX_NET. */
static unsigned int running_from(const struct hlist_head *head,
				 const struct in6_addr *addr)
{
	struct smc_hs *hs;
	unsigned int num = 0;

	hlist_for_each_entry(hs, head, node)
		num += ipv6_addr_equal(&hs->saddr, addr);
	return num;
}

/**
 * smc_hs_count() - count a handshake that begins
 * @hs: handshake that begins
 *
 * Return: false if it is one too many; then it is not counted.
 */
bool smc_hs_count(struct smc_hs *hs)
{
	struct smc_net *sn = hs->setup.sn;
	struct smc_hs_limit *limit = sn->hs_limit;
	struct hlist_head *head;
	bool ok;

	if (atomic_inc_return(&sn->hs_count) > SMC_HS_MAX_NET) {
		atomic_dec(&sn->hs_count);
		return false;
	}
	if (!hs->ops->per_source) {
		set_bit(SMC_HS_COUNTED, &hs->bits);
		return true;
	}
	peer_addr(hs->setup.sk, &hs->saddr);
	head = head_of(limit, &hs->saddr);
	spin_lock_bh(&limit->lock);
	ok = running_from(head, &hs->saddr) < SMC_HS_MAX_SOURCE;
	if (ok)
		hlist_add_head(&hs->node, head);
	spin_unlock_bh(&limit->lock);
	if (ok)
		set_bit(SMC_HS_COUNTED, &hs->bits);
	else
		atomic_dec(&sn->hs_count);
	return ok;
}

/**
 * smc_hs_uncount() - a handshake ends
 * @hs: handshake, counted or not
 */
void smc_hs_uncount(struct smc_hs *hs)
{
	struct smc_net *sn = hs->setup.sn;

	if (!test_and_clear_bit(SMC_HS_COUNTED, &hs->bits))
		return;
	spin_lock_bh(&sn->hs_limit->lock);
	if (!hlist_unhashed(&hs->node))
		hlist_del_init(&hs->node);
	spin_unlock_bh(&sn->hs_limit->lock);
	atomic_dec(&sn->hs_count);
}

int smc_hs_limit_net_init(struct smc_net *sn)
{
	struct smc_hs_limit *limit;
	int i;

	limit = kzalloc(sizeof(*limit), GFP_KERNEL);
	if (!limit)
		return -ENOMEM;
	spin_lock_init(&limit->lock);
	limit->seed = get_random_u32();
	for (i = 0; i < HEADS; i++)
		INIT_HLIST_HEAD(&limit->running[i]);
	atomic_set(&sn->hs_count, 0);
	sn->hs_limit = limit;
	return 0;
}

/* All handshakes of the namespace have ended: its sockets hold it. */
void smc_hs_limit_net_exit(struct smc_net *sn)
{
	kfree(sn->hs_limit);
	sn->hs_limit = NULL;
}
