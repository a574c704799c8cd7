/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Link groups: the resources that all connections between two peers share.  A
 * transport without links has one group for all peers.
 *
 * A group is created by the first connection, published in state CONNECTING,
 * becomes ACTIVE when its link is confirmed and DEAD when it is killed.  Without
 * links it is published ACTIVE.
 * References: one per connection, one per handshake waiting for it, one for the
 * linger timer while the group is idle, one for each of its workers.  The table of
 * the namespace holds none: smc_lgr_kill() takes the group out of it first.
 */
#ifndef SMC_LGR_H
#define SMC_LGR_H

#include <linux/mutex.h>
#include <linux/rbtree_types.h>
#include <linux/xarray.h>
#include <linux/workqueue.h>
#include <linux/spinlock.h>
#include "account.h"
#include "xport.h"

struct smc_net;

enum smc_lgr_state {
	SMC_LGR_CONNECTING,
	SMC_LGR_ACTIVE,
	SMC_LGR_DEAD,
};

enum smc_role {
	SMC_CLNT = 0,
	SMC_SERV = 1,
};

/**
 * struct smc_lgr_waiter - a handshake that waits for a group to settle
 * @node: in lgr->waiters while waiting
 * @settled: called once with the outcome (SMC_REASON_OK: the group is ACTIVE);
 *	any context, perhaps under a tx_lock or a spinlock of the transport, so it
 *	must not sleep or push; the waiter is off the list by then
 */
struct smc_lgr_waiter {
	struct list_head node;
	void (*settled)(struct smc_lgr_waiter *w, enum smc_reason why);
};

/**
 * struct smc_lgr_idle - an idle group in the list of one of its accounts
 * @node: in smc_account.idle
 * @lgr: the group
 */
struct smc_lgr_idle {
	struct list_head node;
	struct smc_lgr *lgr;
};

/**
 * struct smc_lgr - a link group
 * @node: in the namespace's table (protected by the table lock)
 * @hash_node: in smc_net.lgr_heads while another connection may join; written
 *	under lgr_lock, and under @lock when the group itself comes or goes
 * @peer_node: of a server: in smc_net.lgr_peers until the group is closed or
 *	dead; the same locks
 * @refs: see above
 * @xport: the transport
 * @sn: the namespace's state; valid until the group's last reference, because
 *	the namespace's exit kills all groups and waits for them
 * @account: the peer's, referenced; the group is charged to it.  NULL without links
 * @state: enum smc_lgr_state, written under @lock
 * @why: reason of death
 * @id: group number, a multiple of 0x100, never 0
 * @seq: grows from group to group in the table
 * @role: SMC_CLNT or SMC_SERV
 * @path: local device, port and GID; the device is let go when the group dies
 * @dev: its name, for traces; written under the lock of names (xport.c)
 * @version: SMC version negotiated by the first contact (1 or 2)
 * @release: SMC release (0 or 1), 0 of version 1
 * @peer_os: OS type from the peer's first-contact extension
 * @direct: no gateway between the RoCE ports
 * @write_imm: both ends take bytes by RDMA WRITE WITH IMMEDIATE, without a CDC;
 *	agreed on first contact, before data can come
 * @max_conns: negotiated limit, 0: none
 * @max_links: negotiated limit
 * @eid: negotiated EID, NUL terminated
 * @peer_host: the peer's host name, NUL terminated
 * @peer_id: the peer's id (server: as in the Proposal)
 * @peer_gid: SMC-R server: the client's GID, from its Proposal
 * @own_addr: own address of the TCP connection that made the group, v4-mapped;
 *	none without links
 * @peer_addr: the peer's, the same
 * @throttled: its maker may have to wait for its rings: others do not wait for the
 *	group
 * @spread_at: server: when it may have another group made beside itself, jiffies;
 *	under the table lock
 * @closed: no connection joins it any more; written under the table lock and
 *	@lock
 * @setup: held across lgr_up, lgr_connect and lgr_confirm, which the handshake
 *	calls; the kill worker takes it to clear @up
 * @up: lgr_up succeeded, lgr_down has not begun; written under @setup
 * @lock: @state, @why, @closed, @waiters, @conns_num.  BH-safe
 * @conns: alert token -> struct smc_conn; read under RCU, written under its own
 *	lock
 * @conns_num: connections that hold a place
 * @stalled: written by the transport: nothing it sends arrives at present; no
 *	connection joins the group
 * @next_token: cyclic allocation of tokens
 * @waiters: handshakes waiting for the end of CONNECTING
 * @linger: ends an idle group
 * @idle: in the lists of its accounts while @is_idle; both of lgr_idle.c
 * @is_idle: ACTIVE, and no connection uses it
 * @gave_way: ended for want of room for another; read by the last reference
 * @tell_work: aborts the connections, then queues @kill_work
 * @kill_work: runs lgr_down
 * @pool: idle buffers by direction; this and the next three under a lock of buf.c
 * @pool_size: what they take of their direction's share
 * @pool_looked: when those were last looked for that no connection can use, jiffies
 * @shed: buffers out of the pool that @shed_work frees
 * @shed_work: holds a reference while queued
 * @alloc: bytes of all buffers, idle ones included, by direction
 * @rcu: frees the group
 */
struct smc_lgr {
	struct rb_node node;
	struct hlist_node hash_node;
	struct hlist_node peer_node;
	refcount_t refs;
	const struct smc_xport *xport;
	struct smc_net *sn;
	struct smc_account *account;
	u8 state;
	enum smc_reason why;
	u32 id;
	u64 seq;
	enum smc_role role;
	struct smc_path path;
	char dev[SMC_DEV_NAME_LEN];
	u8 version;
	u8 release;
	u8 peer_os;
	bool direct;
	bool write_imm;
	u8 max_conns;
	u8 max_links;
	u8 eid[SMC_EID_LEN + 1];
	char peer_host[SMC_HOSTNAME_LEN + 1];
	u8 peer_id[SMC_PEER_ID_LEN];
	u8 peer_gid[SMC_GID_LEN];
	struct in6_addr own_addr;
	struct in6_addr peer_addr;
	bool throttled;
	bool closed;
	unsigned long spread_at;
	struct mutex setup;
	bool up;

	spinlock_t lock;
	struct xarray conns;
	u32 conns_num;
	bool stalled;
	u32 next_token;
	struct list_head waiters;
	struct delayed_work linger;
	struct smc_lgr_idle idle[SMC_ACCT_DEPTH];
	bool is_idle;
	bool gave_way;
	struct work_struct tell_work;
	struct work_struct kill_work;
	struct list_head pool[SMC_BUF_DIRS];
	unsigned long pool_looked;
	u32 pool_size[SMC_BUF_DIRS];
	struct list_head shed;
	struct work_struct shed_work;
	atomic64_t alloc[SMC_BUF_DIRS];
	struct rcu_head rcu;
};

/**
 * struct smc_lgr_key - the group that a connection needs
 * @xport: transport that was chosen
 * @role: ours
 * @path: ours
 * @route: of the TCP connection
 * @prop: server: the client's Proposal, else NULL
 * @acc: client: the server's Accept, else NULL
 * @peer_id: SMC-R: of either, SMC_PEER_ID_LEN bytes
 * @peer_gid: SMC-R: of either, SMC_GID_LEN bytes
 * @eid: negotiated EID, SMC_EID_LEN bytes
 */
struct smc_lgr_key {
	const struct smc_xport *xport;
	enum smc_role role;
	const struct smc_path *path;
	const struct smc_route *route;
	const struct smc_clc_proposal *prop;
	const struct smc_clc_accept *acc;
	const u8 *peer_id;
	const u8 *peer_gid;
	const u8 *eid;
};

/**
 * struct smc_lgr_seen - what smc_lgr_find() has seen beside the group it returns
 * @groups: that match and are listed
 * @connecting: one of these is being set up
 * @others: client: a group matches that was made with other addresses
 * @crowded: server: the group has more connections than net.smc.conns_per_queue,
 *	and another one would have a completion vector of its own; not said
 *	again for a minute, but for the new one
 */
struct smc_lgr_seen {
	unsigned int groups;
	bool connecting;
	bool others;
	bool crowded;
};

void smc_lgr_close(struct smc_lgr *lgr);
struct smc_lgr *smc_lgr_new(struct smc_net *sn, const struct smc_xport *xport,
			    enum smc_role role, const struct smc_path *path,
			    const struct smc_route *route, u8 version);
int smc_lgr_publish(struct smc_lgr *lgr, const struct smc_lgr_key *key,
		    bool needed, struct smc_lgr **found);
void smc_lgr_leave(struct smc_lgr *lgr);
void smc_lgr_kill(struct smc_lgr *lgr, enum smc_reason why);
void smc_lgr_give_up(struct smc_lgr *lgr, enum smc_reason why);
int smc_lgr_net_init(struct smc_net *sn);
void smc_lgr_net_kill(struct smc_net *sn);
void smc_lgr_net_exit(struct smc_net *sn);

/* lgr_find.c */
struct smc_lgr *smc_lgr_find(struct smc_net *sn, const struct smc_lgr_key *key,
			     struct smc_lgr_seen *seen);
struct smc_lgr *smc_lgr_find_locked(struct smc_net *sn,
				    const struct smc_lgr_key *key,
				    struct smc_lgr_seen *seen);
void smc_lgr_head_add(struct smc_lgr *lgr);
bool smc_lgr_is_unlisted(const struct smc_lgr *lgr);

/* lgr_walk.c */
struct hlist_head *smc_lgr_peer_head(struct smc_net *sn,
				     const struct in6_addr *peer_addr);
int smc_lgr_walk(struct smc_net *sn, u64 seq,
		 int (*fn)(struct smc_lgr *lgr, void *arg), void *arg);
int smc_lgr_walk_peer(struct smc_net *sn, const struct in6_addr *peer_addr,
		      int (*fn)(struct smc_lgr *lgr, void *arg), void *arg);

/* lgr_link.c */
int smc_lgr_up(struct smc_lgr *lgr, struct smc_path *path);
int smc_lgr_connect(struct smc_lgr *lgr, const struct smc_clc_proposal *prop,
		    const struct smc_clc_accept *peer);
int smc_lgr_confirm(struct smc_lgr *lgr);

/* lgr_wait.c */
void smc_lgr_settle(struct smc_lgr *lgr, enum smc_reason why);
bool smc_lgr_add_waiter(struct smc_lgr *lgr, struct smc_lgr_waiter *w);
bool smc_lgr_unwait(struct smc_lgr *lgr, struct smc_lgr_waiter *w);
enum smc_reason smc_lgr_death(struct smc_lgr *lgr);

/* lgr_idle.c */
struct smc_lgr *smc_lgr_oldest_idle(struct smc_lgr *lgr,
				    struct smc_account *full);
void smc_lgr_gave_way(struct smc_lgr *lgr, bool done);
void smc_lgr_set_idle(struct smc_lgr *lgr, bool on);

#endif /* SMC_LGR_H */
