/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of one network namespace, found by net_generic (net->smc exists only
 * on kernels built with CONFIG_SMC).
 */
#ifndef SMC_NET_H
#define SMC_NET_H

#include <linux/types.h>
#include <linux/list.h>
#include <linux/rbtree_types.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include "account.h"
#include "stats.h"
#include "wire/clc.h"

struct ctl_table_header;
struct workqueue_struct;
struct smc_hs_cache;

/* Bits of smc_net.transports. */
#define SMC_USE_SMCR	0x01
#define SMC_USE_SMCD	0x02

#define SMC_LGR_HEADS	256
#define SMC_ROW_LISTS	256

/**
 * struct smc_net - per-namespace state
 * @net: the namespace; no reference, our exit hook runs before it dies
 * @stats: per-cpu counters
 * @sysctl_hdr: net.smc
 * @transports: SMC_USE_* bits (sysctl transports)
 * @lend_ports: may other namespaces use RoCE ports of network devices of this
 *	one? (smc_net_lends())
 * @handshake_timeout_ms: floor of the handshake deadline
 * @fallback_memory_s: how long what failed with a peer is remembered
 * @orphan_timeout_s: how long data of a closed socket waits for a peer that
 *	takes nothing
 * @account: what the namespace holds
 * @limit: what it may hold, by enum smc_acct_kind
 * @peer_limit: the same for each peer
 * @wmem: default send ring, bytes
 * @rmem: default receive ring, bytes
 * @autocork: unsent bytes from which on a write does not wait for earlier ones
 * @max_conns: connections per group, SMC_MIN_CONNS..SMC_MAX_CONNS
 * @conns_per_queue: of a server's group, before it has another one made; 0: never
 * @testlink_s: link supervision interval in seconds, 0 = off
 * @limit_hs: sysctl limit_smc_hs; this one and the next two are set and read
 *	back, and have no effect
 * @buf_type: sysctl smcr_buf_type
 * @max_links: sysctl smcr_max_links_per_lgr
 * @begun: the next four have been made (smc_net_begin())
 * @hs_wq: steps of handshakes
 * @end_wq: ends of sockets, connections and idle groups; apart from @hs_wq, so
 *	that neither delays the other
 * @tell_wq: tells connections that their group has ended: nothing waits in it
 * @kill_wq: ends of links, which wait for the peer's goodbye and the device
 * @node: in the list of all namespaces (lgr.c)
 * @lgr_lock: protects @lgrs, @lgr_heads, @lgr_peers, @lgr_seq
 * @lgrs: all groups of the namespace, by smc_lgr.seq
 * @lgr_heads: those with a place, by what a look-up has; the last list has those
 *	without links
 * @lgr_peers: those of servers that are not closed, by the peer's address
 *	(lgr_walk.c)
 * @lgr_seed: hash seed of @lgr_heads and @lgr_peers
 * @lgr_last_id: smc_lgr.id of the newest
 * @lgr_seq: smc_lgr.seq of the newest
 * @lgr_count: groups not yet freed (dead ones included)
 * @socks_lock: protects @socks, @socks_count, @past
 * @socks: struct smc_row of all our sockets, by number (rows.c)
 * @socks_count: how many there have been
 * @past: rows of connections that fell back
 * @pnet: table of physical networks (pnet.c)
 * @pnet_num: its length
 * @peer_id: of this host, told to peers (handshake/peer_id.c)
 * @hs_cache: what failed with which peer (handshake/cache.c)
 */
struct smc_net {
	struct net *net;
	struct smc_stats __percpu *stats;
	struct ctl_table_header *sysctl_hdr;
	unsigned int transports;
	int lend_ports;
	unsigned int handshake_timeout_ms;
	unsigned int fallback_memory_s;
	unsigned int orphan_timeout_s;
	struct smc_account *account;
	int limit[SMC_ACCT_KINDS];
	int peer_limit[SMC_ACCT_KINDS];
	int wmem;
	int rmem;
	unsigned int autocork;
	unsigned int max_conns;
	unsigned int conns_per_queue;
	unsigned int testlink_s;
	int limit_hs;
	unsigned int buf_type;
	int max_links;

	bool begun;
	struct workqueue_struct *hs_wq;
	struct workqueue_struct *end_wq;
	struct workqueue_struct *tell_wq;
	struct workqueue_struct *kill_wq;

	struct list_head node;
	spinlock_t lgr_lock;
	struct rb_root lgrs;
	struct hlist_head lgr_heads[SMC_LGR_HEADS + 1];
	struct hlist_head lgr_peers[SMC_LGR_HEADS];
	u32 lgr_seed;
	atomic_t lgr_last_id;
	u64 lgr_seq;
	atomic_t lgr_count;

	spinlock_t socks_lock;
	struct hlist_head socks[SMC_ROW_LISTS];
	u64 socks_count;
	struct list_head past;

	struct list_head pnet;
	unsigned int pnet_num;

	u8 peer_id[SMC_PEER_ID_LEN] __aligned(2);
	struct smc_hs_cache *hs_cache;
};

/* Set by register_pernet_subsys() in main.c. */
extern unsigned int smc_net_id;

int smc_net_begin(struct smc_net *sn);

/* Our state of a namespace that is alive, never NULL; any context. */
static inline struct smc_net *smc_net(const struct net *net)
{
	return net_generic(net, smc_net_id);
}

/* May other namespaces use the RoCE ports of this one?  Any context. */
static inline bool smc_net_lends(const struct net *net)
{
	const struct smc_net *sn = smc_net(net);

	return READ_ONCE(sn->lend_ports) &&
	       READ_ONCE(sn->transports) & SMC_USE_SMCR;
}

#endif /* SMC_NET_H */
