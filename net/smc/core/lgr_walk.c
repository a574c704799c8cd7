// SPDX-License-Identifier: GPL-2.0
/*
 * Link groups: looking at those of a namespace, oldest first, or at those of a
 * server with one peer.
 *
 * Locks: sn->lgr_lock (spinlock, BH) protects the table.
 * Tests: selftests/smc/genl.py, selftests/vm/tests/fallback_rdma.sh
 */
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <net/ipv6.h>
#include "lgr.h"
#include "net.h"

/* Groups that are looked at in one hold of lgr_lock. */
#define WALK_MAX	512

/**
 * smc_lgr_peer_head() - the list of a server's groups with a peer
 * @sn: namespace
 * @peer_addr: as in the group
 *
 * Context: any.
 * Return: list; has groups of other peers, too.
 */
struct hlist_head *smc_lgr_peer_head(struct smc_net *sn,
				     const struct in6_addr *peer_addr)
{
	u32 hash = __ipv6_addr_jhash(peer_addr, sn->lgr_seed);

	return &sn->lgr_peers[hash % SMC_LGR_HEADS];
}

static struct smc_lgr *group_of(struct rb_node *node)
{
	return rb_entry_safe(node, struct smc_lgr, node);
}

static struct smc_lgr *next_group(const struct smc_lgr *lgr)
{
	lockdep_assert_held(&lgr->sn->lgr_lock);
	return group_of(rb_next(&lgr->node));
}

/* The oldest group that is newer than @seq, or NULL. */
static struct smc_lgr *first_group_after(const struct smc_net *sn, u64 seq)
{
	struct rb_node *node = sn->lgrs.rb_node;
	struct smc_lgr *found = NULL;

	lockdep_assert_held(&sn->lgr_lock);
	while (node) {
		if (group_of(node)->seq > seq) {
			found = group_of(node);
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

/**
 * smc_lgr_walk() - call a function for groups of a namespace, oldest first
 * @sn: namespace
 * @seq: of the last group that is left out; 0: none
 * @fn: called under the table lock.  If it returns != 0 the walk ends, and @fn
 *	may have taken the group out of the table
 * @arg: for @fn
 *
 * Any program may walk as often as it likes (netlink), and handshakes need the
 * lock: it is dropped now and then.
 *
 * Context: process.
 * Return: what @fn returned last, or 0.
 */
int smc_lgr_walk(struct smc_net *sn, u64 seq,
		 int (*fn)(struct smc_lgr *lgr, void *arg), void *arg)
{
	struct smc_lgr *lgr;
	int left, rc = 0;

	do {
		cond_resched();
		left = WALK_MAX;
		spin_lock_bh(&sn->lgr_lock);
		for (lgr = first_group_after(sn, seq); lgr && left--;
		     lgr = next_group(lgr)) {
			seq = lgr->seq;
			rc = fn(lgr, arg);
			if (rc)
				break;
		}
		spin_unlock_bh(&sn->lgr_lock);
	} while (lgr && !rc);
	return rc;
}

/**
 * smc_lgr_walk_peer() - call a function for groups of a server with a peer
 * @sn: namespace
 * @peer_addr: as in the group
 * @fn: called under the table lock; != 0 ends the walk.  Groups of other peers
 *	may come, too
 * @arg: for @fn
 *
 * The groups of other hosts do not make it slow.  A peer may have thousands, and
 * the place in a list is lost when the lock is dropped: only the newest WALK_MAX
 * of the list are looked at.
 *
 * Context: any.
 * Return: what @fn returned last, or 0.
 */
int smc_lgr_walk_peer(struct smc_net *sn, const struct in6_addr *peer_addr,
		      int (*fn)(struct smc_lgr *lgr, void *arg), void *arg)
{
	int left = WALK_MAX, rc = 0;
	struct smc_lgr *lgr;

	spin_lock_bh(&sn->lgr_lock);
	hlist_for_each_entry(lgr, smc_lgr_peer_head(sn, peer_addr),
			     peer_node) {
		rc = fn(lgr, arg);
		if (rc || !--left)
			break;
	}
	spin_unlock_bh(&sn->lgr_lock);
	return rc;
}
