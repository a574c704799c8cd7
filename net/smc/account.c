// SPDX-License-Identifier: GPL-2.0
/*
 * Accounts: what a peer, a user, a namespace and the host hold, and may hold.
 *
 *   address -> networks it is in -> namespace -> host        user at peer -> user
 *
 * What an account holds is held by those above it as well.  It is charged to all
 * of them or to none.  Then the connection is plain TCP, and the counter of the
 * account that has no room says whose limit it was.
 *
 * A peer is an IPv4 address, or an IPv6 network of 64 bits: an IPv6 host can
 * choose any address in it.  One address of such a network gets half of the
 * network's limit.  The networks above a peer have 24 bits (127.0.0.0/8: 8) or
 * 48 bits, and limit handshakes only.  A peer's limits of handshakes, groups and
 * orphans shrink as the namespace fills: see fair_share().
 *
 * A user is charged for the rings of its connections, on the whole host, and may
 * have half of them with one peer.  It is charged for its orphans, too.
 *
 * References: the account of a peer or user has one for each handshake, group,
 * ring and socket that is charged to it, for each connection with the peer, and
 * for each account below.  It is freed with the last one.  The account of a
 * namespace is counted, too: a ring of shared memory may outlive the namespace.
 *
 * Context: any, unless a function says otherwise; accounts.lock (spinlock, IRQ)
 * protects the table and what accounts hold, and is a leaf.
 * Tests: selftests/smc/accounts.py, orphans.py, hslimit.py
 */
#define pr_fmt(fmt) "smc: " fmt

#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/once.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <net/ipv6.h>
#include "account.h"
#include "net.h"

static struct {
	spinlock_t lock;	/* heads; smc_account.used */
	u32 seed;
	unsigned long size;	/* of heads, a power of two */
	struct hlist_head *heads;
} accounts = {
	.lock = __SPIN_LOCK_UNLOCKED(accounts.lock),
};

int smc_account_host_limit[SMC_ACCT_KINDS];
int smc_account_user_limit[SMC_ACCT_KINDS];

/* Limits of a network above a peer; handshakes have another limit there. */
static const int no_limit[SMC_ACCT_KINDS] = {
	[0 ... SMC_ACCT_KINDS - 1] = SMC_ACCT_MAX,
};

static struct smc_account host = {
	.refs = REFCOUNT_INIT(1),
	.limit = smc_account_host_limit,
	.stat = SMC_STAT_HOST_LIMIT,
};

/*
 * The limit of an account for a resource that other accounts want, too: half of
 * the room above, and less as that room fills, 4 * left^3 / room^2.  With a
 * quarter left this is a sixteenth of the room.  Near the end it is one: the
 * last ones are for accounts that hold few.  A single account gets half, and it
 * takes a hundred accounts to use all.  With a fixed part of what is left, such
 * as a third, two dozen accounts could use all.
 */
static int fair_share(int room, int used)
{
	u64 left = max(room - used, 0);
	u64 most = DIV_ROUND_UP(room, 2);

	if (!left)
		return 1;
	/* in this order no product is too large */
	return max(min(4 * left * left / room * left / room, most), 1ULL);
}

/* An account that handshakes alone are limited for. */
static bool is_network(const struct smc_account *acct)
{
	return acct->limit == no_limit;
}

/* Does a peer's limit shrink as its namespace fills?  So do all of handshakes. */
static bool shrinks(enum smc_acct_kind kind)
{
	return kind == SMC_ACCT_GROUPS || kind == SMC_ACCT_ORPHANS;
}

static int limit_of(const struct smc_account *acct, enum smc_acct_kind kind)
{
	const struct smc_account *up = acct->up, *space = acct->space;
	int limit;

	lockdep_assert_held(&accounts.lock);
	if (space && kind >= SMC_ACCT_CLIENTS)
		return fair_share(limit_of(up, kind), up->used[kind]);
	limit = acct->limit ?
		READ_ONCE(acct->limit[min(kind, SMC_ACCT_HANDSHAKES)]) :
		DIV_ROUND_UP(limit_of(up, kind), 2);
	if (space && shrinks(kind) && !is_network(acct))
		limit = min(limit, fair_share(limit_of(space, kind),
					      space->used[kind]));
	return limit;
}

/* The account that has no room for @n more, this or one above; or NULL. */
static struct smc_account *full(struct smc_account *acct,
				enum smc_acct_kind kind, int n)
{
	lockdep_assert_held(&accounts.lock);
	while (acct && acct->used[kind] <= limit_of(acct, kind) - n)
		acct = acct->up;
	return acct;
}

static void add(struct smc_account *acct, enum smc_acct_kind kind, int n)
{
	lockdep_assert_held(&accounts.lock);
	for (; acct; acct = acct->up)
		WRITE_ONCE(acct->used[kind], acct->used[kind] + n);
}

/**
 * smc_account_try_charge() - take something, if there is room for it
 * @acct: account, or NULL: nothing is charged
 * @kind: of what
 * @n: how much: KiB of rings, or how many of the others
 * @fail: NULL, or the account, this or one above, that has no room; NULL is
 *	stored if all have
 *
 * Return: true if it is charged.
 */
bool smc_account_try_charge(struct smc_account *acct, enum smc_acct_kind kind,
			    int n, struct smc_account **fail)
{
	struct smc_account *none;
	unsigned long flags;

	spin_lock_irqsave(&accounts.lock, flags);
	none = full(acct, kind, n);
	if (!none)
		add(acct, kind, n);
	spin_unlock_irqrestore(&accounts.lock, flags);
	if (fail)
		*fail = none;
	return !none;
}

/**
 * smc_account_uncharge() - give it back
 * @acct: account, or NULL
 * @kind: of what
 * @n: as for smc_account_try_charge()
 */
void smc_account_uncharge(struct smc_account *acct, enum smc_acct_kind kind,
			  int n)
{
	unsigned long flags;

	spin_lock_irqsave(&accounts.lock, flags);
	add(acct, kind, -n);
	spin_unlock_irqrestore(&accounts.lock, flags);
}

/**
 * smc_account_has_room() - could one be charged now?
 * @acct: account
 * @kind: of what
 */
bool smc_account_has_room(struct smc_account *acct, enum smc_acct_kind kind)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&accounts.lock, flags);
	ok = !full(acct, kind, 1);
	spin_unlock_irqrestore(&accounts.lock, flags);
	return ok;
}

/**
 * smc_account_room() - how many more could an account hold, whatever those above
 * @acct: account
 * @kind: of what
 *
 * Return: in the unit of smc_account_try_charge(); less than 0 if it holds more
 * than it may: the limit has become lower.
 */
int smc_account_room(struct smc_account *acct, enum smc_acct_kind kind)
{
	unsigned long flags;
	int room;

	spin_lock_irqsave(&accounts.lock, flags);
	room = limit_of(acct, kind) - acct->used[kind];
	spin_unlock_irqrestore(&accounts.lock, flags);
	return room;
}

/**
 * smc_account_is_below() - is what one account holds held by another?
 * @acct: this one
 * @above: the other one, which may be the same
 */
bool smc_account_is_below(const struct smc_account *acct,
			  const struct smc_account *above)
{
	while (acct && acct != above)
		acct = acct->up;
	return acct;
}

static void init_lists(struct smc_account *acct)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(acct->idle); i++)
		INIT_LIST_HEAD(&acct->idle[i]);
}

static struct smc_account *account_alloc(struct smc_account *up,
					 const int *limit, enum smc_stat stat,
					 gfp_t gfp)
{
	struct smc_account *acct = kzalloc(sizeof(*acct), gfp | __GFP_ACCOUNT);

	if (!acct)
		return NULL;
	refcount_set(&acct->refs, 1);
	init_lists(acct);
	acct->up = smc_account_get(up);
	acct->limit = limit;
	acct->stat = stat;
	return acct;
}

static bool same(const struct smc_account *a, const struct smc_account *b)
{
	return a->space == b->space && a->bits == b->bits &&
	       ipv6_addr_equal(&a->id, &b->id);
}

/*
 * The account that @key describes, with a reference.  If there is none, @new is
 * added to the table and NULL is returned.
 */
static struct smc_account *find_or_add(const struct smc_account *key,
				       struct smc_account *new)
{
	struct smc_account *acct;
	struct hlist_head *head;
	unsigned long flags;
	u32 hash;

	get_random_once(&accounts.seed, sizeof(accounts.seed));
	hash = __ipv6_addr_jhash(&key->id, accounts.seed) ^
	       hash_ptr(key->space, 32);
	head = &accounts.heads[hash & (accounts.size - 1)];
	spin_lock_irqsave(&accounts.lock, flags);
	hlist_for_each_entry(acct, head, node)
		if (same(acct, key))
			break;
	if (acct)
		refcount_inc(&acct->refs);
	else if (new)
		hlist_add_head(&new->node, head);
	spin_unlock_irqrestore(&accounts.lock, flags);
	return acct;
}

/* As account_alloc(), unless another task has added one for @key meanwhile. */
static struct smc_account *make(const struct smc_account *key,
				struct smc_account *up, const int *limit,
				enum smc_stat stat, gfp_t gfp)
{
	struct smc_account *acct, *new;

	new = account_alloc(up, limit, stat, gfp);
	if (!new)
		return NULL;
	new->space = key->space;
	new->id = key->id;
	new->bits = key->bits;
	acct = find_or_add(key, new);
	if (!acct)
		return new;
	smc_account_put(new);
	return acct;
}

/*
 * The account of the network of @bits bits that @addr is in.  It is below @up,
 * whose reference is dropped.  Returns NULL if @up is NULL.
 */
static struct smc_account *account_below(struct smc_net *sn,
					 struct smc_account *up,
					 const struct in6_addr *addr, u8 bits,
					 const int *limit, gfp_t gfp)
{
	struct smc_account key = { .space = sn->account, .bits = bits };
	struct smc_account *acct = NULL;

	if (!up)
		return NULL;
	ipv6_addr_prefix(&key.id, addr, bits);
	/* the address itself has been looked for */
	if (bits < 128)
		acct = find_or_add(&key, NULL);
	if (!acct)
		acct = make(&key, up, limit, SMC_STAT_PEER_LIMIT, gfp);
	smc_account_put(up);
	return acct;
}

/**
 * smc_account_peer() - the account of an address
 * @sn: namespace
 * @addr: a peer's address, v4-mapped for IPv4
 * @gfp: how memory may be had
 *
 * Context: any, by @gfp.
 * Return: account with a reference, or NULL: no memory.
 */
struct smc_account *smc_account_peer(struct smc_net *sn,
				     const struct in6_addr *addr, gfp_t gfp)
{
	struct smc_account key = {
		.space = sn->account, .id = *addr, .bits = 128,
	};
	struct smc_account *acct = find_or_add(&key, NULL);
	u8 net = ipv6_addr_v4mapped_loopback(addr) ? 96 + 8 : 96 + 24;

	if (acct)
		return acct;
	acct = smc_account_get(sn->account);
	if (ipv6_addr_v4mapped(addr)) {
		acct = account_below(sn, acct, addr, net, no_limit, gfp);
		return account_below(sn, acct, addr, 128, sn->peer_limit, gfp);
	}
	acct = account_below(sn, acct, addr, 48, no_limit, gfp);
	acct = account_below(sn, acct, addr, 64, sn->peer_limit, gfp);
	return account_below(sn, acct, addr, 128, NULL, gfp);
}

/**
 * smc_account_user() - the account of a user, in all namespaces
 * @uid: the user
 *
 * Context: process.
 * Return: account with a reference, or NULL: no memory.
 */
struct smc_account *smc_account_user(kuid_t uid)
{
	struct smc_account key = {};

	key.id.s6_addr32[0] = (__force __be32)__kuid_val(uid);
	return find_or_add(&key, NULL) ?:
	       make(&key, NULL, smc_account_user_limit, SMC_STAT_USER_LIMIT,
		    GFP_KERNEL);
}

/**
 * smc_account_user_at() - the account of a user with one peer
 * @user: account of the user
 * @peer: account of an address, in any namespace
 *
 * Its limit is half of the user's, so that no peer uses all of that.  By
 * default this is less than a peer's limit, so that no user uses all of a
 * peer's.
 *
 * Context: process.
 * Return: account below @user, with a reference, or NULL: no memory.
 */
struct smc_account *smc_account_user_at(struct smc_account *user,
					const struct smc_account *peer)
{
	u8 bits = ipv6_addr_v4mapped(&peer->id) ? 128 : 64;
	struct smc_account key = { .space = user, .bits = bits };

	ipv6_addr_prefix(&key.id, &peer->id, bits);
	return find_or_add(&key, NULL) ?:
	       make(&key, user, NULL, SMC_STAT_USER_LIMIT, GFP_KERNEL);
}

/**
 * smc_account_get() - take another reference
 * @acct: account the caller has a reference of, or NULL
 *
 * Return: @acct.
 */
struct smc_account *smc_account_get(struct smc_account *acct)
{
	if (acct)
		refcount_inc(&acct->refs);
	return acct;
}

/* Drop a reference; after the last one nothing finds the account. */
static bool last_ref(struct smc_account *acct)
{
	unsigned long flags;
	bool last;

	if (refcount_dec_not_one(&acct->refs))
		return false;
	/* as refcount_dec_and_lock_irqsave(), which sparse does not follow */
	spin_lock_irqsave(&accounts.lock, flags);
	last = refcount_dec_and_test(&acct->refs);
	if (last)
		hlist_del_init(&acct->node);
	spin_unlock_irqrestore(&accounts.lock, flags);
	return last;
}

/* Tests look for this line in the kernel's log. */
static void check_empty(const struct smc_account *acct)
{
	enum smc_acct_kind kind;

	for (kind = 0; kind < SMC_ACCT_KINDS; kind++)
		if (acct->used[kind])
			pr_warn("unequal: %d is left in account %d\n",
				acct->used[kind], kind);
}

/**
 * smc_account_put() - drop a reference
 * @acct: account, or NULL
 */
void smc_account_put(struct smc_account *acct)
{
	struct smc_account *up;

	for (; acct && last_ref(acct); acct = up) {
		up = acct->up;
		check_empty(acct);
		kfree(acct);
	}
}

/**
 * smc_account_init() - the limits of the host and of users, by the memory
 *
 * Rings take a quarter of it.  A group has receive buffers of 128 or 512 KiB:
 * there may be one for four megabytes.  A connection has up to four accounts for
 * itself, and 32 KiB of rings: on a host of up to 128 GiB a list of the table has
 * eight on average when the limit is reached.
 *
 * Context: process, before the first namespace.
 * Return: 0 or -ENOMEM.
 */
int smc_account_init(void)
{
	unsigned long pages = nr_free_buffer_pages();
	int *limit = smc_account_host_limit;

	accounts.size = roundup_pow_of_two(clamp(pages >> (18 - PAGE_SHIFT),
						 1024UL, 1UL << 19));
	accounts.heads = kvcalloc(accounts.size, sizeof(*accounts.heads),
				  GFP_KERNEL);
	if (!accounts.heads)
		return -ENOMEM;
	init_lists(&host);
	limit[SMC_ACCT_RINGS] = min(pages << (PAGE_SHIFT - 10) >> 2,
				    (unsigned long)SMC_ACCT_MAX);
	limit[SMC_ACCT_GROUPS] = clamp(pages >> (22 - PAGE_SHIFT), 512UL,
				       65536UL);
	limit[SMC_ACCT_ENDING] = 512;
	limit[SMC_ACCT_ORPHANS] = 65536;
	limit[SMC_ACCT_HANDSHAKES] = 16384;
	smc_account_user_limit[SMC_ACCT_RINGS] = limit[SMC_ACCT_RINGS] / 2;
	/* half of a namespace's: most users are in one */
	smc_account_user_limit[SMC_ACCT_ORPHANS] = 8192;
	return 0;
}

/**
 * smc_account_exit() - nothing is charged any more
 *
 * Context: process, after the last namespace.
 */
void smc_account_exit(void)
{
	check_empty(&host);
	kvfree(accounts.heads);
}

/**
 * smc_account_net_init() - account and limits of a new namespace
 * @sn: its state
 *
 * No namespace gets all of the host by default, and no peer all of that.
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int smc_account_net_init(struct smc_net *sn)
{
	const int *limit = smc_account_host_limit;
	int rings, groups;

	sn->account = account_alloc(&host, sn->limit, SMC_STAT_NET_LIMIT,
				    GFP_KERNEL);
	if (!sn->account)
		return -ENOMEM;
	/* an administrator may be changing them */
	rings = READ_ONCE(limit[SMC_ACCT_RINGS]);
	groups = READ_ONCE(limit[SMC_ACCT_GROUPS]);
	sn->limit[SMC_ACCT_RINGS] = rings / 4 * 3;
	sn->limit[SMC_ACCT_GROUPS] = groups / 4 * 3;
	sn->limit[SMC_ACCT_ENDING] = 256;
	sn->limit[SMC_ACCT_ORPHANS] = 16384;
	sn->limit[SMC_ACCT_HANDSHAKES] = 1024;
	sn->peer_limit[SMC_ACCT_RINGS] = rings / 2;
	sn->peer_limit[SMC_ACCT_GROUPS] = groups / 4;
	sn->peer_limit[SMC_ACCT_ENDING] = 64;
	sn->peer_limit[SMC_ACCT_ORPHANS] = 8192;
	return 0;
}

/**
 * smc_account_net_exit() - the namespace goes: nothing is charged to it any more
 * @sn: its state
 *
 * Context: process.
 */
void smc_account_net_exit(struct smc_net *sn)
{
	smc_account_put(sn->account);
	sn->account = NULL;
}
