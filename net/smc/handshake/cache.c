// SPDX-License-Identifier: GPL-2.0
/*
 * What a namespace remembers of failures for net.smc.fallback_memory_s seconds:
 *
 *   addresses and ports where something answered the SYN option and then did
 *   not speak CLC: connects of the same user to them go out as plain TCP.  A
 *   program can bring that about at its own end, by a filter of its socket;
 *
 *   peers and own paths between which no link could be confirmed, or for whose
 *   new link the device did not register a ring in time, for each role: SMC-R is
 *   not offered or accepted there.  A server is identified by its address,
 *   whatever is behind that, a client by its address and peer ID, so that one
 *   client does not take SMC-R from others behind the same address.
 *
 * Each kind has a table, a set-associative cache of fixed size: a set that is
 * full forgets its oldest entry.
 *
 * Context: process; smc_hs_cache.lock (spinlock, BH) protects everything, a
 * leaf.
 * Tests: selftests/smc/fallback*.sh, selftests/smc/steps.py,
 * selftests/vm/tests/fallback_rdma.sh
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/jhash.h>
#include <linux/slab.h>
#include <linux/unaligned.h>
#include <net/ipv6.h>
#include <net/inet_sock.h>
#include "addr.h"
#include "priv.h"

#define WAYS		4

enum kind {
	NO_CLC,
	NO_LINK_CLNT,
	NO_LINK_SERV,
	KINDS,
};

/*
 * A host with thousands of peers may lose all its links.  NO_CLC has a small table:
 * any program can have it made, in each namespace that it makes.
 */
static const unsigned int num_sets[KINDS] = {
	[NO_CLC]	= 128,
	[NO_LINK_CLNT]	= 2048,
	[NO_LINK_SERV]	= 2048,
};

/*
 * Unused members are 0.
 * @addr: v4-mapped for IPv4
 * @path: of NO_LINK_*: smc_path.id
 * @peer_id: of NO_LINK_SERV: several clients may be behind one address
 * @scope: of a link-local @addr
 * @uid: of NO_CLC: the user whose connect it was
 * @port: of NO_CLC
 */
struct cache_key {
	struct in6_addr addr;
	u64 path;
	u64 peer_id;
	u32 scope;
	kuid_t uid;
	u16 port;
};

struct entry {
	struct cache_key key;
	bool used;
	unsigned long until;	/* jiffies */
};

struct smc_hs_cache {
	spinlock_t lock;		/* protects the rest */
	u32 seed;
	/* num_sets of them for each kind, made when needed */
	struct entry (*sets[KINDS])[WAYS];
};

/*
 * As with TCP, a scope counts for a link-local address only.  Without one TCP
 * takes the device that the socket is bound to.
 */
static u32 scope_of(const struct sock *sk, const struct sockaddr_in6 *addr)
{
	if (addr->sin6_family != AF_INET6 ||
	    !(ipv6_addr_type(&addr->sin6_addr) & IPV6_ADDR_LINKLOCAL))
		return 0;
	return addr->sin6_scope_id ?: READ_ONCE(sk->sk_bound_dev_if);
}

static struct cache_key key_of_addr(const struct sock *sk,
				    const struct sockaddr_in6 *addr)
{
	struct cache_key key = {
		/* sin_port is at the same place */
		.port = ntohs(addr->sin6_port),
		.uid = READ_ONCE(sk->sk_uid),
		.scope = scope_of(sk, addr),
	};

	smc_addr_get(&key.addr, (const struct sockaddr *)addr);
	return key;
}

static enum kind no_link_kind(const struct smc_hs *hs)
{
	return hs->setup.role == SMC_CLNT ? NO_LINK_CLNT : NO_LINK_SERV;
}

/*
 * @kind: NO_LINK_*: the peer as a server or as a client.  A link-local address
 * needs the device as its scope; TCP has bound the socket to that device.
 */
static struct cache_key key_of_path(const struct smc_hs *hs, enum kind kind,
				    u64 path)
{
	const struct smc_hs_data *data = hs->data;
	struct cache_key key = {
		.addr = data->route.daddr,
		.path = path,
	};

	if (ipv6_addr_type(&key.addr) & IPV6_ADDR_LINKLOCAL)
		key.scope = READ_ONCE(hs->setup.sk->sk_bound_dev_if);
	if (kind == NO_LINK_SERV)
		key.peer_id = get_unaligned_be64(hs->setup.role == SMC_SERV ?
						 data->prop.peer_id :
						 data->peer.r.peer_id);
	return key;
}

static bool same_key(const struct cache_key *a, const struct cache_key *b)
{
	return a->port == b->port && a->scope == b->scope &&
	       uid_eq(a->uid, b->uid) && a->path == b->path &&
	       a->peer_id == b->peer_id &&
	       ipv6_addr_equal(&a->addr, &b->addr);
}

static struct entry *set_of(const struct smc_hs_cache *cache, enum kind kind,
			    const struct cache_key *key)
{
	u32 hash = __ipv6_addr_jhash(&key->addr, cache->seed ^ key->port);

	hash = jhash_2words(key->peer_id, key->path, hash);

	return cache->sets[kind][hash % num_sets[kind]];
}

static struct entry *cache_find(struct smc_hs_cache *cache, enum kind kind,
				const struct cache_key *key)
{
	struct entry *set;
	int i;

	lockdep_assert_held(&cache->lock);
	if (!cache->sets[kind])
		return NULL;
	set = set_of(cache, kind, key);
	for (i = 0; i < WAYS; i++)
		if (set[i].used && same_key(&set[i].key, key))
			return &set[i];
	return NULL;
}

/* A place for a new entry: unused, else what would be forgotten first. */
static struct entry *victim(struct smc_hs_cache *cache, enum kind kind,
			    const struct cache_key *key)
{
	struct entry *set, *old;
	int i;

	lockdep_assert_held(&cache->lock);
	set = set_of(cache, kind, key);
	old = set;
	for (i = 0; i < WAYS; i++) {
		if (!set[i].used)
			return &set[i];
		if (time_before(set[i].until, old->until))
			old = &set[i];
	}
	return old;
}

static void cache_store(struct smc_net *sn, enum kind kind,
			const struct cache_key *key)
{
	unsigned int span_s = READ_ONCE(sn->fallback_memory_s);
	struct smc_hs_cache *cache = sn->hs_cache;
	struct entry (*sets)[WAYS] = NULL;
	struct entry *entry;

	if (!span_s)
		return;
	if (!READ_ONCE(cache->sets[kind]))
		sets = kvcalloc(num_sets[kind], sizeof(*sets), GFP_KERNEL);
	spin_lock_bh(&cache->lock);
	if (!cache->sets[kind]) {
		WRITE_ONCE(cache->sets[kind], sets);
		sets = NULL;
	}
	if (cache->sets[kind]) {
		entry = cache_find(cache, kind, key) ?: victim(cache, kind, key);
		entry->key = *key;
		entry->used = true;
		entry->until = jiffies + span_s * (unsigned long)HZ;
	}
	spin_unlock_bh(&cache->lock);
	kvfree(sets);
}

/* Is it worth while to make a key?  Most hosts have nothing to remember. */
static bool cache_in_use(const struct smc_net *sn, enum kind kind)
{
	return READ_ONCE(sn->hs_cache->sets[kind]) &&
	       READ_ONCE(sn->fallback_memory_s);
}

static bool cache_has(struct smc_net *sn, enum kind kind,
		      const struct cache_key *key)
{
	struct smc_hs_cache *cache = sn->hs_cache;
	struct entry *entry;
	bool known = false;

	spin_lock_bh(&cache->lock);
	entry = cache_find(cache, kind, key);
	if (entry) {
		known = time_before(jiffies, entry->until);
		entry->used = known;
	}
	spin_unlock_bh(&cache->lock);
	return known;
}

static void cache_drop(struct smc_net *sn, enum kind kind,
		       const struct cache_key *key)
{
	struct smc_hs_cache *cache = sn->hs_cache;
	struct entry *entry;

	if (!READ_ONCE(cache->sets[kind]))
		return;
	spin_lock_bh(&cache->lock);
	entry = cache_find(cache, kind, key);
	if (entry)
		entry->used = false;
	spin_unlock_bh(&cache->lock);
}

/**
 * smc_hs_remember() - this peer was incompatible: plain TCP for a while
 * @sk: socket of the user's connect()
 * @addr: where that went, as for smc_hs_want()
 */
void smc_hs_remember(const struct sock *sk, const struct sockaddr_in6 *addr)
{
	const struct cache_key key = key_of_addr(sk, addr);

	cache_store(smc_net(sock_net(sk)), NO_CLC, &key);
}

/**
 * smc_hs_remembered() - was this peer incompatible a short while ago?
 * @sn: state of the namespace of @sk
 * @sk: socket
 * @addr: where connect() goes, as for smc_hs_want()
 */
bool smc_hs_remembered(struct smc_net *sn, const struct sock *sk,
		       const struct sockaddr_in6 *addr)
{
	struct cache_key key;

	if (!cache_in_use(sn, NO_CLC))
		return false;
	key = key_of_addr(sk, addr);
	return cache_has(sn, NO_CLC, &key);
}

/*
 * A walk over groups calls this: has another connection a link over this path?
 * That of a closed group proves nothing: the peer may not have it any more.
 */
static int reaches(struct smc_lgr *lgr, void *arg)
{
	const struct smc_hs *hs = arg;
	const struct smc_hs_data *data = hs->data;

	return !(hs->conn && hs->conn->lgr == lgr) &&
	       lgr->role == hs->setup.role && !lgr->closed &&
	       READ_ONCE(lgr->state) == SMC_LGR_ACTIVE &&
	       !READ_ONCE(lgr->stalled) &&
	       lgr->path.id == data->path_id[data->choice.mode] &&
	       ipv6_addr_equal(&lgr->peer_addr, &data->route.daddr);
}

/*
 * A hostile client can make a server look here as often as it likes: the groups
 * of other hosts must not make that slow.  The groups of a client are sorted by
 * peer ID, and any of them with the address counts: it looks at all.
 */
static bool path_used(struct smc_hs *hs)
{
	struct smc_net *sn = hs->setup.sn;

	if (hs->setup.role == SMC_SERV)
		return smc_lgr_walk_peer(sn, &hs->data->route.daddr, reaches,
					 hs);
	return smc_lgr_walk(sn, 0, reaches, hs);
}

/**
 * smc_hs_path_remember() - no link could be confirmed over the path that was
 * chosen, or no ring be registered: it is not used for a while
 * @hs: handshake, in a group or just out of it
 *
 * Not if another connection has a link over it: then something else was the
 * cause, one of several hosts behind the peer's address for example.
 */
void smc_hs_path_remember(struct smc_hs *hs)
{
	const struct smc_hs_data *data = hs->data;
	u64 id = data->path_id[data->choice.mode];
	const struct cache_key key = key_of_path(hs, no_link_kind(hs), id);

	if (id && !path_used(hs))
		cache_store(hs->setup.sn, no_link_kind(hs), &key);
}

/**
 * smc_hs_path_remembered() - was this path remembered a short while ago?
 * @hs: handshake with a route
 * @id: smc_path.id
 */
bool smc_hs_path_remembered(const struct smc_hs *hs, u64 id)
{
	enum kind kind = no_link_kind(hs);
	struct cache_key key;

	if (!id || !cache_in_use(hs->setup.sn, kind))
		return false;
	key = key_of_path(hs, kind, id);
	return cache_has(hs->setup.sn, kind, &key);
}

/**
 * smc_hs_path_works() - a link was confirmed over the path that was chosen
 * @hs: handshake
 */
void smc_hs_path_works(const struct smc_hs *hs)
{
	const struct smc_hs_data *data = hs->data;
	u64 id = data->path_id[data->choice.mode];
	struct cache_key key;
	enum kind kind;

	for (kind = NO_LINK_CLNT; id && kind <= NO_LINK_SERV; kind++) {
		key = key_of_path(hs, kind, id);
		cache_drop(hs->setup.sn, kind, &key);
	}
}

/**
 * smc_hs_cache_net_init() - an empty memory for a new namespace
 * @sn: namespace state
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
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

/**
 * smc_hs_cache_net_exit() - undo smc_hs_cache_net_init()
 * @sn: namespace state; all its handshakes have ended
 *
 * Context: process.
 */
void smc_hs_cache_net_exit(struct smc_net *sn)
{
	enum kind kind;

	for (kind = 0; kind < KINDS; kind++)
		kvfree(sn->hs_cache->sets[kind]);
	kfree(sn->hs_cache);
	sn->hs_cache = NULL;
}
