/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private to handshake/.
 */
#ifndef SMC_HS_PRIV_H
#define SMC_HS_PRIV_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include "peer_id.h"
#include "hs.h"
#include "select.h"

struct dst_entry;

/* What a handshake waits for; indexes the role's table of steps. */
enum smc_hs_state {
	SMC_HS_OPEN,		/* client: the Proposal to be sent */
	SMC_HS_PROPOSAL,	/* server: the first message */
	SMC_HS_ACCEPT,		/* client: the answer */
	SMC_HS_GROUP,		/* a group that another handshake sets up */
	SMC_HS_RING,		/* our ring to be registered */
	SMC_HS_CONFIRM,		/* server: the last message */
	SMC_HS_LINK,		/* the first link of our own group */
	SMC_HS_CROSSING,	/* a Decline that may be on its way */
	SMC_HS_REOPEN,		/* client: TCP again, without the option */
	SMC_HS_ATTACHED,	/* nothing, or TCP to take the Confirm */
	SMC_HS_RECONNECTED,	/* client: nothing */
	SMC_HS_LATE,		/* TCP: a late message, to be held back */
	SMC_HS_STATES,
};

/* hs->bits */
enum smc_hs_bits {
	SMC_HS_SPOKE,		/* the peer has sent a CLC message */
	SMC_HS_SENT_ACCEPT,
	SMC_HS_SENT_CONFIRM,
	SMC_HS_FIRST,		/* the group is our own, with its link */
	SMC_HS_HURRIED,		/* the ring has less time than it may need */
	SMC_HS_LIMITED,		/* over a limit: answer with Decline */
	SMC_HS_LATE_DECLINE,	/* late message: a Decline, not a Proposal */
	SMC_HS_REOPENED,	/* client: the second connect() was issued */
};

/**
 * struct smc_hs_data - freed when the handshake has a verdict
 * @buf: message being received
 * @out: message to be sent before the next step
 * @out_len: its length, 0: none
 * @out_mark: bit of hs->bits to be set when it is sent, -1: none
 * @out_until: jiffies; if TCP has not taken it by then, it cannot be sent
 * @msg: decoded message, or message to be encoded
 * @prop: the Proposal, sent or received
 * @path: offer of each transport; without a device there is none
 * @path_id: of @path, kept when a group has taken that over; 0: none
 * @choice: what both sides use
 * @local: what this host can do
 * @route: of @path; no device is held
 * @peer: client: the Accept
 * @direct: no gateway between the RoCE ports
 */
struct smc_hs_data {
	u8 buf[SMC_CLC_MAX_LEN];
	u8 out[SMC_CLC_MAX_LEN];
	size_t out_len;
	int out_mark;
	unsigned long out_until;
	struct smc_clc_msg msg;
	struct smc_clc_proposal prop;
	struct smc_path path[SMC_XPORT_NUM];
	u64 path_id[SMC_XPORT_NUM];
	struct smc_choice choice;
	struct smc_select_local local;
	struct smc_route route;
	struct smc_clc_accept peer;
	bool direct;
};

/**
 * struct smc_hs - a handshake
 * @refs: smc_sock.hs; one until @ended; one for a queued step
 * @rcu: smc_hs_wake() finds a handshake under RCU
 * @setup: constant; the handshake has the TCP connection until @stopped or
 *	done()
 * @ops: of the role
 * @conn: the connection; NULL when it is the socket's, or has left its group:
 *	it cannot join a second one
 * @has_lane: smc_hs_charge_begin() has taken the one of its control group
 * @no_room: its control group has no room, and time is over: no ring, no link
 * @lock: protects @state, @need, @queued, @ended; interrupts off; leaf
 * @work: the next step; has a reference while queued
 * @timer: queues a step at @deadline; deleted before @ended
 * @waiter: in the group's list; removed before @ended
 * @settled: completed by the waiter's callback
 * @account: the peer's, referenced, which is charged; NULL: over its limit, or the
 *	place has been given back
 * @deadline: jiffies; of the state, if @deadline_set
 * @deadline_set: a step is due then
 * @limit: jiffies; of the whole exchange until Accept or Confirm
 * @span_ms: length of the handshake deadline
 * @bits: enum smc_hs_bits
 * @state: enum smc_hs_state
 * @need: readable bytes for which a step is queued
 * @queued: @work is queued
 * @ended: no step is queued any more; beside @queued, as one load reads both
 * @stopped: smc_hs_stop() has been called; written with the socket locked
 * @put_off: a step found the socket owned by a system call, or its control
 *	group without room: another one is needed
 * @verdict: enum smc_hs_verdict
 * @group: an existing group with our reference and place, being waited for
 * @waiting: the group that has @waiter in its list
 * @has_settled: @settled_why is valid
 * @version: for our Declines
 * @why: reason of the outcome
 * @settled_why: outcome reported to @waiter
 * @first_why: server: why the first choice could not be set up
 * @skip: server: variants that could not be set up
 * @peer_diagnosis: from the peer's Decline
 * @tcp_failed: the connection could not be made; sk_err says why
 * @first_at: jiffies when the first byte of the stream was seen, 0: not yet;
 *	for a Decline that may cross ours, of the stream behind the handshake
 * @drain: bytes of a message longer than the buffer, to be thrown away
 * @write_seq: TCP sequence number when the program took over
 * @data: dropped when the handshake has ended
 */
struct smc_hs {
	refcount_t refs;
	struct rcu_head rcu;
	struct smc_hs_setup setup;
	const struct smc_hs_role_ops *ops;
	struct smc_conn *conn;
	spinlock_t lock;	/* see above */
	struct work_struct work;
	struct timer_list timer;
	struct smc_lgr_waiter waiter;
	struct completion settled;
	struct smc_account *account;
	unsigned long deadline;
	bool deadline_set;
	unsigned long limit;
	unsigned int span_ms;
	bool has_lane;
	bool no_room;
	unsigned long bits;
	u8 state;
	u32 need;
	bool queued;
	bool ended;
	bool stopped;
	bool put_off;
	u8 verdict;
	bool has_settled;
	struct smc_lgr *group;
	struct smc_lgr *waiting;
	u8 version;
	enum smc_reason why;
	enum smc_reason settled_why;
	enum smc_reason first_why;
	unsigned int skip;
	u32 peer_diagnosis;
	bool tcp_failed;
	unsigned long first_at;
	u32 drain;
	u32 write_seq;
	struct smc_hs_data *data;
};

/*
 * Minimum; longer with a longer handshake deadline.  Longer than the timers of
 * a transport's confirmation.
 */
#define SMC_HS_LINK_MS		10000U
#define SMC_HS_CONFIRM_MS	6000U
/* Minimum, or half of the deadline: a peer waits 2 s for Accept. */
#define SMC_HS_RING_MS		1000U
#define SMC_HS_CROSSING_MS	1000

enum smc_hs_verdict {
	SMC_HS_V_GO_ON,
	SMC_HS_V_SMC,
	SMC_HS_V_TCP,
	SMC_HS_V_LATE,		/* TCP, and SMC_HS_LATE */
	SMC_HS_V_ERR,
};

/**
 * struct smc_hs_step - the step of a state
 * @name: for the trace
 * @run: SMC_REASON_OK, or the reason for which SMC is not possible; NULL: the
 *	state ends the handshake when no message of ours waits
 * @lost: reason if a message that had to wait could not be sent
 * @opens: the state waits for TCP to be established, not for bytes
 * @charges: rings, or receives, are charged to the program's control group
 * @verdict: SMC_HS_V_GO_ON if there is @run, or what the state ends with
 */
struct smc_hs_step {
	const char *name;
	enum smc_reason (*run)(struct smc_hs *hs);
	enum smc_reason lost;
	bool opens;
	bool charges;
	enum smc_hs_verdict verdict;
};

/**
 * struct smc_hs_role_ops - client or server
 * @steps: by state; none for states of the other role
 * @first: first state
 * @start: optional, for smc_hs_start().  Any context, the socket is locked
 * @conclude: for smc_hs_conclude(); @in_use: the peer may use SMC, and read no
 *	Decline
 * @unsent: the Decline could not be sent: the verdict, or SMC_HS_V_GO_ON and
 *	another state; optional, without it SMC_HS_V_ERR
 * @failed: optional; the program gets an error.  The socket is locked
 * @stat_err: counts SMC_HS_ERR
 * @stat_tcp: counts SMC_HS_TCP
 * @stat_smc: counts SMC_HS_SMC, by transport
 * @tech_v1: counts connections of SMC version 1
 * @tech_v2: of version 2
 */
struct smc_hs_role_ops {
	struct smc_hs_step steps[SMC_HS_STATES];
	enum smc_hs_state first;
	void (*start)(struct smc_hs *hs);
	enum smc_hs_verdict (*conclude)(struct smc_hs *hs,
					enum smc_reason why, bool in_use);
	enum smc_hs_verdict (*unsent)(struct smc_hs *hs);
	void (*failed)(struct smc_hs *hs);
	enum smc_stat stat_err;
	enum smc_stat stat_tcp;
	enum smc_stat stat_smc[SMC_XPORT_NUM];
	enum smc_tech tech_v1;
	enum smc_tech tech_v2;
};

/* wait.c */
void smc_hs_kick(struct smc_hs *hs);
void smc_hs_set_stopped(struct smc_hs *hs);
void smc_hs_kick_locked(struct smc_hs *hs);
void smc_hs_need(struct smc_hs *hs, u32 bytes);
void smc_hs_set_deadline(struct smc_hs *hs, unsigned long deadline);
void smc_hs_enter(struct smc_hs *hs, enum smc_hs_state state,
		  unsigned int ms);
void smc_hs_enter_idle(struct smc_hs *hs, enum smc_hs_state state);
void smc_hs_enter_until(struct smc_hs *hs, enum smc_hs_state state,
			unsigned long deadline);
void smc_hs_start_clock(struct smc_hs *hs);
bool smc_hs_expired(const struct smc_hs *hs);
bool smc_hs_watch_group(struct smc_hs *hs, struct smc_lgr *lgr);
bool smc_hs_settled(struct smc_hs *hs, enum smc_reason *why);
void smc_hs_stop_waiting(struct smc_hs *hs);

/* tcp.c */
int smc_hs_lock(struct smc_hs *hs);
void smc_hs_unlock(struct smc_hs *hs);
int smc_hs_tcp_recv(struct sock *sk, void *buf, size_t len);
int smc_hs_tcp_send(struct sock *sk, const void *buf, size_t len);
int smc_hs_read(struct smc_hs *hs,
		int (*how)(struct sock *sk, void *buf, size_t len),
		void *buf, size_t len);
int smc_hs_flush(struct smc_hs *hs);
int smc_hs_tcp_up(struct smc_hs *hs, int *err);
int smc_hs_connect_again(struct smc_hs *hs);

/* msg.c */
enum smc_reason smc_hs_await(struct smc_hs *hs, u8 type,
			     enum smc_reason late, bool *got);
enum smc_reason smc_hs_look(struct smc_hs *hs);
int smc_hs_write(struct smc_hs *hs, int mark);
int smc_hs_write_decline(struct smc_hs *hs, enum smc_reason why);

/* group.c */
enum smc_reason smc_hs_find_paths(struct smc_hs *hs);
enum smc_reason smc_hs_check_way(const struct smc_hs *hs, bool *direct);
struct smc_lgr_key smc_hs_group_key(const struct smc_hs *hs);
bool smc_hs_first_contact(const struct smc_hs *hs);
void smc_hs_paths_drop(struct smc_hs *hs);
enum smc_reason smc_hs_errno_reason(int err, enum smc_reason other);
enum smc_reason smc_hs_make_group(struct smc_hs *hs,
				  const struct smc_lgr_key *key, bool needed,
				  struct smc_lgr **lgr);
bool smc_hs_await_group(struct smc_hs *hs, struct smc_lgr *lgr,
			unsigned long until);
enum smc_reason smc_hs_join_group(struct smc_hs *hs,
				  struct smc_lgr *lgr);
void smc_hs_group_learn(const struct smc_hs *hs, struct smc_lgr *lgr,
			const struct smc_clc_fce *fce);
enum smc_reason smc_hs_fill_accept(struct smc_hs *hs, u8 type, bool *filled);
enum smc_reason smc_hs_connect_group(struct smc_hs *hs,
				     const struct smc_clc_proposal *prop,
				     const struct smc_clc_accept *peer);
enum smc_reason smc_hs_confirm_link(struct smc_hs *hs);
enum smc_reason smc_hs_step_link(struct smc_hs *hs);
void smc_hs_drop_group(struct smc_hs *hs, enum smc_reason why);
void smc_hs_drop_conn(struct smc_hs *hs);

/* outcome.c */
enum smc_hs_verdict smc_hs_conclude(struct smc_hs *hs,
				    enum smc_reason why);
bool smc_hs_incompatible(enum smc_reason why);
enum smc_reason smc_hs_step_crossing(struct smc_hs *hs);
void smc_hs_count_end(struct smc_hs *hs, enum smc_hs_outcome outcome);
void smc_hs_set_result(const struct smc_hs *hs, enum smc_hs_verdict v,
		       struct smc_hs_result *res);

/* client.c, server.c */
extern const struct smc_hs_role_ops smc_hs_client;
extern const struct smc_hs_role_ops smc_hs_server;

/* late.c */
bool smc_hs_late(struct smc_hs *hs, u8 *buf, struct smc_clc_msg *msg);

/* cache.c */
void smc_hs_remember(const struct sock *sk, const struct sockaddr_in6 *addr);
bool smc_hs_remembered(struct smc_net *sn, const struct sock *sk,
		       const struct sockaddr_in6 *addr);
void smc_hs_path_remember(struct smc_hs *hs);
bool smc_hs_path_remembered(const struct smc_hs *hs, u64 id);
void smc_hs_path_works(const struct smc_hs *hs);
int smc_hs_cache_net_init(struct smc_net *sn);
void smc_hs_cache_net_exit(struct smc_net *sn);

/* charge.c */
bool smc_hs_charge_begin(struct smc_hs *hs);
void smc_hs_charge_end(struct smc_hs *hs);
bool smc_hs_may_charge(const struct smc_hs *hs);

/* limit.c */
bool smc_hs_room(struct smc_net *sn, const struct sockaddr *sa);
bool smc_hs_crowded(const struct smc_hs *hs);
void smc_hs_count(struct smc_hs *hs);
void smc_hs_uncount(struct smc_hs *hs);

/* egress.c */
void smc_route_follow(struct smc_route *route, const struct dst_entry *dst);

/* route.c */
int smc_route_get(struct sock *tcp, struct smc_route *route);
void smc_route_put(struct smc_route *route);
void smc_route_prefixes(const struct smc_route *route,
			struct smc_prefixes *pfx);
enum smc_reason smc_route_direct(struct net *net, int ifindex,
				 const struct smc_select_local *local,
				 const u8 gid[SMC_GID_LEN], bool *direct);

#endif /* SMC_HS_PRIV_H */
