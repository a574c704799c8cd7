// SPDX-License-Identifier: GPL-2.0
/*
 * What the handshake remembers of peers, per network namespace.
 *
 * Spoilt peers: addresses and ports where something answered the SYN option
 * and then did not speak CLC.  For net.smc.fallback_memory_s seconds connects
 * to them go out as plain TCP.  A set-associative cache of fixed size: a set
 * that is full forgets its oldest entry.
 *
 * Running handshakes, by peer address: over SMC_HS_MAX_SOURCE from one address
 * or SMC_HS_MAX_NET in all, a server answers Decline.
 *
 * Context: process; smc_negcache.lock (spinlock, BH) protects everything, a
 * leaf.
 * Test: selftests/smc/fallback*.sh
 */
#include <linux/jhash.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/inet_sock.h>
#include "priv.h"

#define SETS		128
#define WAYS		4
#define HEADS		64

struct entry {
	struct in6_addr addr;	/* v4-mapped for IPv4 */
	u32 scope;
	u16 port;
	bool used;
	unsigned long until;	/* jiffies */
};

struct smc_negcache {
	spinlock_t lock;		/* protects the rest */
	u32 seed;
	struct entry (*sets)[WAYS];	/* SETS of them, made when needed */
	struct hlist_head running[HEADS];
};

static bool make_key(const struct sockaddr *addr, struct entry *key)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;

	memset(key, 0, sizeof(*key));
	if (addr->sa_family == AF_INET) {
		ipv6_addr_set_v4mapped(in->sin_addr.s_addr, &key->addr);
		key->port = ntohs(in->sin_port);
		return true;
	}
	if (addr->sa_family != AF_INET6)
		return false;
	key->addr = in6->sin6_addr;
	key->scope = in6->sin6_scope_id;
	key->port = ntohs(in6->sin6_port);
	return true;
}

static u32 addr_hash(const struct smc_negcache *cache,
		     const struct in6_addr *addr, u32 port)
{
	return jhash2((const u32 *)addr, sizeof(*addr) / sizeof(u32),
		      cache->seed ^ port);
}

static struct entry *cache_find(struct smc_negcache *cache, const struct entry *key)
{
	struct entry *set;
	int i;

	if (!cache->sets)
		return NULL;
	set = cache->sets[addr_hash(cache, &key->addr, key->port) % SETS];
	for (i = 0; i < WAYS; i++)
		if (set[i].used && set[i].port == key->port &&
		    set[i].scope == key->scope &&
		    ipv6_addr_equal(&set[i].addr, &key->addr))
			return &set[i];
	return NULL;
}

/* A place for a new entry: unused, else what would be forgotten first. */
static struct entry *victim(struct smc_negcache *cache,
			    const struct entry *key)
{
	struct entry *set, *old;
	int i;

	set = cache->sets[addr_hash(cache, &key->addr, key->port) % SETS];
	old = set;
	for (i = 0; i < WAYS; i++) {
		if (!set[i].used)
			return &set[i];
		if (time_before(set[i].until, old->until))
			old = &set[i];
	}
	return old;
}

/**
 * smc_hs_remember() - this peer was incompatible: plain TCP for a while
 * @sn: namespace state
 * @addr: where connect() went
 */
void smc_hs_remember(struct smc_net *sn, const struct sockaddr *addr)
{
	unsigned int span_s = READ_ONCE(sn->fallback_memory_s);
	struct smc_negcache *cache = sn->negcache;
	struct entry (*sets)[WAYS] = NULL;
	struct entry key, *entry;

	if (!span_s || !make_key(addr, &key))
		return;
	if (!READ_ONCE(cache->sets))
		sets = kvcalloc(SETS, sizeof(*sets), GFP_KERNEL);
	key.used = true;
	key.until = jiffies + span_s * (unsigned long)HZ;
	spin_lock_bh(&cache->lock);
	if (!cache->sets) {
		WRITE_ONCE(cache->sets, sets);
		sets = NULL;
	}
	if (cache->sets) {
		entry = cache_find(cache, &key);
		if (!entry)
			entry = victim(cache, &key);
		*entry = key;
	}
	spin_unlock_bh(&cache->lock);
	kvfree(sets);
}

/**
 * smc_hs_remembered() - was this peer incompatible a short while ago?
 * @sn: namespace state
 * @addr: where connect() goes
 */
bool smc_hs_remembered(struct smc_net *sn, const struct sockaddr *addr)
{
	struct smc_negcache *cache = sn->negcache;
	struct entry key, *entry;
	bool known = false;

	if (!READ_ONCE(cache->sets) || !READ_ONCE(sn->fallback_memory_s) ||
	    !make_key(addr, &key))
		return false;
	spin_lock_bh(&cache->lock);
	entry = cache_find(cache, &key);
	if (entry) {
		known = time_before(jiffies, entry->until);
		entry->used = known;
	}
	spin_unlock_bh(&cache->lock);
	return known;
}

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
	struct smc_negcache *cache = sn->negcache;
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
	head = &cache->running[addr_hash(cache, &hs->saddr, 0) % HEADS];
	spin_lock_bh(&cache->lock);
	ok = running_from(head, &hs->saddr) < SMC_HS_MAX_SOURCE;
	if (ok)
		hlist_add_head(&hs->node, head);
	spin_unlock_bh(&cache->lock);
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
	spin_lock_bh(&sn->negcache->lock);
	if (!hlist_unhashed(&hs->node))
		hlist_del_init(&hs->node);
	spin_unlock_bh(&sn->negcache->lock);
	atomic_dec(&sn->hs_count);
}

int smc_hs_memory_net_init(struct smc_net *sn)
{
	struct smc_negcache *cache;
	int i;

	cache = kzalloc(sizeof(*cache), GFP_KERNEL);
	if (!cache)
		return -ENOMEM;
	spin_lock_init(&cache->lock);
	cache->seed = get_random_u32();
	for (i = 0; i < HEADS; i++)
		INIT_HLIST_HEAD(&cache->running[i]);
	sn->negcache = cache;
	return 0;
}

/* All handshakes of the namespace have ended: its sockets hold it. */
void smc_hs_memory_net_exit(struct smc_net *sn)
{
	kvfree(sn->negcache->sets);
	kfree(sn->negcache);
	sn->negcache = NULL;
}
