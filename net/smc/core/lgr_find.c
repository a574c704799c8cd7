// SPDX-License-Identifier: GPL-2.0
/*
 * The link group of a new connection.
 *
 * Groups with a place for another connection are listed in the heads of the
 * namespace; the rest would make look-ups slow.
 *
 * Locks: sn->lgr_lock (spinlock, BH) protects the heads; inside it lgr->lock, see
 * lgr.h.
 * Tests: selftests/vm/tests (LgrCreated, LgrDestroyed), fallback_rdma.sh
 */
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <net/ipv6.h>
#include "lgr.h"
#include "net.h"

/* Stalled groups that a server's look-up refuses before it gives up */
#define REFUSED_MAX	32

/*
 * Groups of a server with one peer that net.smc.conns_per_queue leads to.  If one
 * cannot be made, the next try is so much later.
 */
#define SPREAD_MAX	16
#define SPREAD_AGAIN	(60 * HZ)

/*
 * May one more connection join?  A client ignores the limits: it has to use the
 * group that the server names, or to decline.
 */
static bool has_place(const struct smc_lgr *lgr)
{
	lockdep_assert_held(&lgr->lock);
	return lgr->role == SMC_CLNT || (!READ_ONCE(lgr->stalled) &&
	       lgr->conns_num < (lgr->max_conns ?: U32_MAX));
}

/*
 * Take a place for one more connection and a reference, if there is one.  The
 * lists have no group that is dead or closed.  A group without another place is
 * listed again by smc_lgr_list().
 */
static bool reserve_place(struct smc_lgr *lgr)
{
	bool ok;

	lockdep_assert_held(&lgr->sn->lgr_lock);
	spin_lock(&lgr->lock);
	ok = has_place(lgr);
	if (ok) {
		if (!lgr->conns_num)
			smc_lgr_set_idle(lgr, false);
		WRITE_ONCE(lgr->conns_num, lgr->conns_num + 1);
		/* under the lock, or smc_lgr_leave() may drop the last one */
		refcount_inc(&lgr->refs);
	}
	if (!has_place(lgr))
		hlist_del_init(&lgr->hash_node);
	spin_unlock(&lgr->lock);
	return ok;
}

/*
 * Is the group for these TCP addresses?  GID and peer id of a handshake are what
 * the peer says, and a confirmed link proves neither: only the host that made
 * the group may use it.  A client refuses a group that it made with another
 * address of the server, so a server compares its own address, too.
 */
static bool same_hosts(const struct smc_lgr *lgr, const struct smc_lgr_key *key)
{
	const struct smc_route *route = key->route;

	if (!smc_xport_has_links(lgr->xport))
		return true;
	if (ipv6_addr_type(&route->daddr) & IPV6_ADDR_LINKLOCAL &&
	    lgr->path.ifindex != key->path->ifindex)
		return false;
	return ipv6_addr_equal(&lgr->peer_addr, &route->daddr) &&
	       (lgr->role == SMC_CLNT ||
		ipv6_addr_equal(&lgr->own_addr, &route->own.addr));
}

/*
 * Where to look for a group.  A server looks by all that the peer says of itself
 * and by its address: however many groups a peer has, those that it gives
 * different names do not slow down a look-up.  A client looks by the peer ID that
 * the server says, and so finds groups that were made with another address, too.
 * Groups without links, few at most, have their own list.
 */
static struct hlist_head *head_of(struct smc_net *sn,
				  const struct smc_xport *xport,
				  enum smc_role role,
				  const struct in6_addr *peer_addr,
				  const u8 *peer_gid, const u8 *peer_id)
{
	u32 hash;

	if (!smc_xport_has_links(xport))
		return &sn->lgr_heads[SMC_LGR_HEADS];
	hash = jhash(peer_id, SMC_PEER_ID_LEN, sn->lgr_seed);
	if (role == SMC_SERV)
		hash = jhash(peer_gid, SMC_GID_LEN,
			     __ipv6_addr_jhash(peer_addr, hash));
	return &sn->lgr_heads[hash % SMC_LGR_HEADS];
}

/**
 * smc_lgr_head_add() - list a group, for look-ups to find
 * @lgr: group, not listed
 *
 * Context: any; the table lock is held.
 */
void smc_lgr_head_add(struct smc_lgr *lgr)
{
	lockdep_assert_held(&lgr->sn->lgr_lock);
	hlist_add_head(&lgr->hash_node,
		       head_of(lgr->sn, lgr->xport, lgr->role, &lgr->peer_addr,
			       lgr->peer_gid, lgr->peer_id));
}

/**
 * smc_lgr_is_unlisted() - had a group no place, and is not listed for that?
 * @lgr: group
 *
 * Context: any; its lock is held.
 */
bool smc_lgr_is_unlisted(const struct smc_lgr *lgr)
{
	lockdep_assert_held(&lgr->lock);
	return hlist_unhashed_lockless(&lgr->hash_node) && !lgr->closed &&
	       lgr->state != SMC_LGR_DEAD;
}

/**
 * smc_lgr_list() - look-ups find the group again if it has a place
 * @lgr: group, published and referenced
 *
 * reserve_place() has taken it out of the list if it had none.
 *
 * Context: any; no lock of a group or of the table is held.
 */
void smc_lgr_list(struct smc_lgr *lgr)
{
	struct smc_net *sn = lgr->sn;

	spin_lock_bh(&sn->lgr_lock);
	spin_lock(&lgr->lock);
	if (smc_lgr_is_unlisted(lgr) && has_place(lgr))
		smc_lgr_head_add(lgr);
	spin_unlock(&lgr->lock);
	spin_unlock_bh(&sn->lgr_lock);
}

static bool lgr_matches(const struct smc_lgr *lgr,
			const struct smc_lgr_key *key)
{
	const struct smc_xport *xport = key->xport;

	if (lgr->xport != xport || lgr->role != key->role ||
	    lgr->path.vlan_id != key->path->vlan_id ||
	    READ_ONCE(lgr->throttled))
		return false;
	if (!smc_xport_has_links(xport))
		return !memcmp(lgr->eid, key->eid, SMC_EID_LEN);
	return xport->lgr_match(lgr, key->path, key->prop, key->acc);
}

/* Rather one that nothing has to wait for, then the one with fewer connections. */
static bool is_better(const struct smc_lgr *lgr, const struct smc_lgr *than)
{
	bool active = READ_ONCE(lgr->state) == SMC_LGR_ACTIVE;

	if (active != (READ_ONCE(than->state) == SMC_LGR_ACTIVE))
		return active;
	return READ_ONCE(lgr->conns_num) < READ_ONCE(than->conns_num);
}

static struct hlist_head *head_of_key(struct smc_net *sn,
				      const struct smc_lgr_key *key)
{
	return head_of(sn, key->xport, key->role, &key->route->daddr,
		       key->peer_gid, key->peer_id);
}

/* The best of the groups that match, or of the first SPREAD_MAX. */
static struct smc_lgr *best_locked(struct smc_net *sn,
				   const struct smc_lgr_key *key,
				   struct smc_lgr_seen *seen)
{
	struct smc_lgr *lgr, *best = NULL;

	lockdep_assert_held(&sn->lgr_lock);
	*seen = (struct smc_lgr_seen) {};
	hlist_for_each_entry(lgr, head_of_key(sn, key), hash_node) {
		if (!lgr_matches(lgr, key))
			continue;
		if (!same_hosts(lgr, key)) {
			seen->others = true;
			continue;
		}
		if (READ_ONCE(lgr->state) == SMC_LGR_CONNECTING)
			seen->connecting = true;
		if (!best || is_better(lgr, best))
			best = lgr;
		if (++seen->groups == SPREAD_MAX)
			break;
	}
	return best;
}

/**
 * smc_lgr_find_locked() - smc_lgr_find() with the table lock held
 * @sn: namespace
 * @key: what it has to match
 * @seen: filled in, but for "crowded"
 *
 * What has no place for another connection is not listed, but a peer may have
 * thousands of groups that have just begun to stall: after REFUSED_MAX of them a
 * new group is due.
 *
 * Context: any.
 * Return: as smc_lgr_find().
 */
struct smc_lgr *smc_lgr_find_locked(struct smc_net *sn,
				    const struct smc_lgr_key *key,
				    struct smc_lgr_seen *seen)
{
	struct smc_lgr *lgr;
	int refused;

	for (refused = 0; refused < REFUSED_MAX; refused++) {
		lgr = best_locked(sn, key, seen);
		/* one that is refused is not listed any more */
		if (!lgr || reserve_place(lgr))
			return lgr;
	}
	return NULL;
}

/*
 * A connection has been given a place: should it rather make a group?  The
 * completions of a queue pair keep one CPU busy, that of the completion vector.
 */
static bool is_crowded(const struct smc_lgr *lgr,
		       const struct smc_lgr_seen *seen)
{
	unsigned int most = READ_ONCE(lgr->sn->conns_per_queue);

	lockdep_assert_held(&lgr->sn->lgr_lock);
	return most && READ_ONCE(lgr->conns_num) > most &&
	       lgr->role == SMC_SERV && smc_xport_has_links(lgr->xport) &&
	       !seen->connecting && seen->groups < SPREAD_MAX &&
	       seen->groups < lgr->path.dev->queues &&
	       time_after_eq(jiffies, lgr->spread_at);
}

/* Another group is being made: none of those that match asks for one again soon. */
static void spread_later(struct smc_net *sn, const struct smc_lgr_key *key)
{
	struct smc_lgr *lgr;

	lockdep_assert_held(&sn->lgr_lock);
	hlist_for_each_entry(lgr, head_of_key(sn, key), hash_node) {
		if (lgr_matches(lgr, key) && same_hosts(lgr, key))
			lgr->spread_at = jiffies + SPREAD_AGAIN;
	}
}

/**
 * smc_lgr_find() - find the group for a new connection
 * @sn: namespace
 * @key: what it has to match
 * @seen: filled in: what else there is
 *
 * A server may use any group with the peer that has room and is not stalled.  A
 * client must use the one that the server names, even if it is full, or decline.
 *
 * Context: process.
 * Return: the group, CONNECTING or ACTIVE, with a reference and a place in it,
 * which smc_conn_join() takes over or smc_lgr_leave() gives back; or NULL.
 */
struct smc_lgr *smc_lgr_find(struct smc_net *sn, const struct smc_lgr_key *key,
			     struct smc_lgr_seen *seen)
{
	struct smc_lgr *lgr;

	spin_lock_bh(&sn->lgr_lock);
	lgr = smc_lgr_find_locked(sn, key, seen);
	seen->crowded = lgr && is_crowded(lgr, seen);
	if (seen->crowded)
		spread_later(sn, key);
	spin_unlock_bh(&sn->lgr_lock);
	return lgr;
}
