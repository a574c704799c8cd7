// SPDX-License-Identifier: GPL-2.0
/*
 * Incompatible peers of a namespace: addresses and ports where something
 * answered the SYN option and then did not speak CLC.  For
 * net.smc.fallback_memory_s seconds connects to them go out as plain TCP.  A
 * set-associative cache of fixed size: a set that is full forgets its oldest
 * entry.
 *
 * Context: process; smc_hs_cache.lock (spinlock, BH) protects everything, a
 * leaf.
 * Test: selftests/smc/fallback*.sh
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/inet_sock.h>
#include "priv.h"

#define SETS		128
#define WAYS		4

struct entry {
	struct in6_addr addr;	/* v4-mapped for IPv4 */
	u32 scope;
	u16 port;
	bool used;
	unsigned long until;	/* jiffies */
};

struct smc_hs_cache {
	spinlock_t lock;		/* protects the rest */
	u32 seed;
	struct entry (*sets)[WAYS];	/* SETS of them, made when needed */
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

static struct entry *set_of(const struct smc_hs_cache *cache,
			    const struct entry *key)
{
	u32 hash = __ipv6_addr_jhash(&key->addr, cache->seed ^ key->port);

	return cache->sets[hash % SETS];
}

static struct entry *cache_find(struct smc_hs_cache *cache,
				const struct entry *key)
{
	struct entry *set;
	int i;

	if (!cache->sets)
		return NULL;
	set = set_of(cache, key);
	for (i = 0; i < WAYS; i++)
		if (set[i].used && set[i].port == key->port &&
		    set[i].scope == key->scope &&
		    ipv6_addr_equal(&set[i].addr, &key->addr))
			return &set[i];
	return NULL;
}

/* A place for a new entry: unused, else what would be forgotten first. */
static struct entry *victim(struct smc_hs_cache *cache,
			    const struct entry *key)
{
	struct entry *set, *old;
	int i;

	set = set_of(cache, key);
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
	struct smc_hs_cache *cache = sn->hs_cache;
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
	struct smc_hs_cache *cache = sn->hs_cache;
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

int smc_hs_cache_net_init(struct smc_net *sn)
{
	struct smc_hs_cache *cache;

	cache = kzalloc(sizeof(*cache), GFP_KERNEL);
	if (!cache)
		return -ENOMEM;
	spin_lock_init(&cache->lock);
	cache->seed = get_random_u32();
	sn->hs_cache = cache;
	return 0;
}

/* All handshakes of the namespace have ended: its sockets hold it. */
void smc_hs_cache_net_exit(struct smc_net *sn)
{
	kvfree(sn->hs_cache->sets);
	kfree(sn->hs_cache);
	sn->hs_cache = NULL;
}
