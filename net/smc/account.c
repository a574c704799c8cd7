// SPDX-License-Identifier: GPL-2.0
/*
 * Accounts: what a peer, a user, a namespace and the host hold, and may hold.
 *
 *   peer -> namespace -> host        user
 *
 * What a peer holds is held by its namespace and by the host as well.  It is
 * charged to all of them or to none.  Then the connection is plain TCP, and the
 * counter of the account that has no room says whose limit it was.  A peer is an
 * IPv4 address or an IPv6 network of 64 bits, in a namespace.
 *
 * A user is charged for the rings that its connections use, on the whole host.
 *
 * References: a peer's and a user's account has one of each group, ring and
 * socket that is charged to it, and ends with the last.  A ring of shared memory
 * may outlive its namespace, so that of a namespace is counted, too.
 *
 * Context: any, unless a function says otherwise; table.lock (spinlock, IRQ)
 * protects the table and what accounts hold, and is a leaf.
 * Test: selftests/smc/accounts.py
 */
#define pr_fmt(fmt) "smc: " fmt

#include <linux/hash.h>
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

#define TABLE_BITS	8

static struct {
	spinlock_t lock;	/* heads; smc_account.used */
	u32 seed;
	struct hlist_head heads[1 << TABLE_BITS];
} table = {
	.lock = __SPIN_LOCK_UNLOCKED(table.lock),
};

int smc_account_host_limit[SMC_ACCT_KINDS];
int smc_account_user_limit[SMC_ACCT_KINDS];

static struct smc_account host = {
	.refs = REFCOUNT_INIT(1),
	.limit = smc_account_host_limit,
	.stat = SMC_STAT_HOST_LIMIT,
};

/* The account that has no room for @n more, this or one above; or NULL. */
static struct smc_account *full(struct smc_account *acct,
				enum smc_acct_kind kind, int n)
{
	lockdep_assert_held(&table.lock);
	while (acct && acct->used[kind] <= READ_ONCE(acct->limit[kind]) - n)
		acct = acct->up;
	return acct;
}

static void add(struct smc_account *acct, enum smc_acct_kind kind, int n)
{
	lockdep_assert_held(&table.lock);
	for (; acct; acct = acct->up)
		WRITE_ONCE(acct->used[kind], acct->used[kind] + n);
}

/**
 * smc_account_charge() - take something, if there is room for it
 * @acct: account, or NULL: nothing is charged
 * @kind: of what
 * @n: how much
 *
 * Return: NULL, or the account, this or one above, that has no room.  Then
 * nothing is charged.
 */
struct smc_account *smc_account_charge(struct smc_account *acct,
				       enum smc_acct_kind kind, int n)
{
	struct smc_account *none;
	unsigned long flags;

	spin_lock_irqsave(&table.lock, flags);
	none = full(acct, kind, n);
	if (!none)
		add(acct, kind, n);
	spin_unlock_irqrestore(&table.lock, flags);
	return none;
}

/**
 * smc_account_uncharge() - give it back
 * @acct: account, or NULL
 * @kind: of what
 * @n: how much
 */
void smc_account_uncharge(struct smc_account *acct, enum smc_acct_kind kind,
			  int n)
{
	unsigned long flags;

	spin_lock_irqsave(&table.lock, flags);
	add(acct, kind, -n);
	spin_unlock_irqrestore(&table.lock, flags);
}

/**
 * smc_account_within() - is what one account holds held by another?
 * @acct: this one
 * @above: the other one, which may be the same
 */
bool smc_account_within(const struct smc_account *acct,
			const struct smc_account *above)
{
	while (acct && acct != above)
		acct = acct->up;
	return acct;
}

static struct smc_account *alloc(struct smc_account *up, const int *limit,
				 enum smc_stat stat)
{
	struct smc_account *acct = kzalloc(sizeof(*acct), GFP_KERNEL);

	if (!acct)
		return NULL;
	refcount_set(&acct->refs, 1);
	acct->up = up ? smc_account_get(up) : NULL;
	acct->limit = limit;
	acct->stat = stat;
	return acct;
}

static struct hlist_head *head_of(const struct smc_account *up,
				  const struct in6_addr *id)
{
	get_random_once(&table.seed, sizeof(table.seed));
	return &table.heads[(__ipv6_addr_jhash(id, table.seed) ^
			     hash_ptr(up, TABLE_BITS)) % (1 << TABLE_BITS)];
}

static struct smc_account *find(const struct hlist_head *head,
				const struct smc_account *up,
				const struct in6_addr *id)
{
	struct smc_account *acct;

	lockdep_assert_held(&table.lock);
	hlist_for_each_entry(acct, head, node)
		if (acct->up == up && ipv6_addr_equal(&acct->id, id))
			return acct;
	return NULL;
}

/* Take a reference of the account, or put @new into the table. */
static struct smc_account *find_or_add(struct smc_account *up,
				       const struct in6_addr *id,
				       struct smc_account *new)
{
	struct hlist_head *head = head_of(up, id);
	struct smc_account *acct;

	spin_lock_irq(&table.lock);
	acct = find(head, up, id);
	if (acct)
		refcount_inc(&acct->refs);
	else if (new)
		hlist_add_head(&new->node, head);
	spin_unlock_irq(&table.lock);
	return acct;
}

/* The account of @id below @up, with a reference; NULL: no memory. */
static struct smc_account *find_or_make(struct smc_account *up,
					const struct in6_addr *id,
					const int *limit, enum smc_stat stat)
{
	struct smc_account *acct, *new;

	acct = find_or_add(up, id, NULL);
	if (acct)
		return acct;
	new = alloc(up, limit, stat);
	if (!new)
		return NULL;
	new->id = *id;
	acct = find_or_add(up, id, new);
	if (!acct)
		return new;
	smc_account_put(new);
	return acct;
}

/**
 * smc_account_peer_id() - which peer has an address?
 * @addr: address, v4-mapped for IPv4
 * @id: the same for all addresses of a peer
 *
 * A host of IPv6 has as many addresses of its network as it likes.
 */
void smc_account_peer_id(const struct in6_addr *addr, struct in6_addr *id)
{
	if (ipv6_addr_v4mapped(addr))
		*id = *addr;
	else
		ipv6_addr_prefix(id, addr, 64);
}

/**
 * smc_account_peer() - the account of a peer
 * @sn: namespace
 * @addr: its address, v4-mapped for IPv4
 *
 * Context: process.
 * Return: account with a reference, or NULL: no memory.
 */
struct smc_account *smc_account_peer(struct smc_net *sn,
				     const struct in6_addr *addr)
{
	struct in6_addr id;

	smc_account_peer_id(addr, &id);
	return find_or_make(sn->account, &id, sn->peer_limit,
			    SMC_STAT_PEER_LIMIT);
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
	struct in6_addr id = {};

	id.s6_addr32[0] = (__force __be32)__kuid_val(uid);
	return find_or_make(NULL, &id, smc_account_user_limit,
			    SMC_STAT_USER_LIMIT);
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
	spin_lock_irqsave(&table.lock, flags);
	last = refcount_dec_and_test(&acct->refs);
	if (last)
		hlist_del_init(&acct->node);
	spin_unlock_irqrestore(&table.lock, flags);
	return last;
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
		kfree(acct);
	}
}

/**
 * smc_account_init() - the limits of the host and of users, by the memory
 *
 * Rings take a quarter of it.  A group has receive buffers of 128 KiB to 2 MiB:
 * there may be one for four megabytes.
 */
void smc_account_init(void)
{
	unsigned long pages = nr_free_buffer_pages();
	int *limit = smc_account_host_limit;

	limit[SMC_ACCT_RINGS] = min(pages << (PAGE_SHIFT - 10) >> 2,
				    (unsigned long)SMC_ACCT_MAX);
	limit[SMC_ACCT_GROUPS] = clamp(pages >> (22 - PAGE_SHIFT), 512UL,
				       65536UL);
	limit[SMC_ACCT_ORPHANS] = 65536;
	smc_account_user_limit[SMC_ACCT_RINGS] = limit[SMC_ACCT_RINGS] / 2;
}

/**
 * smc_account_exit() - nothing is charged any more
 *
 * Context: process, after the last namespace.
 */
void smc_account_exit(void)
{
	enum smc_acct_kind kind;

	for (kind = 0; kind < SMC_ACCT_KINDS; kind++)
		if (host.used[kind])
			pr_warn("unequal: %d is left in account %d\n",
				host.used[kind], kind);
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

	sn->account = alloc(&host, sn->limit, SMC_STAT_NET_LIMIT);
	if (!sn->account)
		return -ENOMEM;
	sn->limit[SMC_ACCT_RINGS] = limit[SMC_ACCT_RINGS] / 4 * 3;
	sn->limit[SMC_ACCT_GROUPS] = limit[SMC_ACCT_GROUPS] / 4 * 3;
	sn->limit[SMC_ACCT_ORPHANS] = 16384;
	sn->peer_limit[SMC_ACCT_RINGS] = limit[SMC_ACCT_RINGS] / 2;
	sn->peer_limit[SMC_ACCT_GROUPS] = limit[SMC_ACCT_GROUPS] / 4;
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
