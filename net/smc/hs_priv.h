/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the handshake share with each other and with nobody else.
 */
#ifndef SMC_HS_PRIV_H
#define SMC_HS_PRIV_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include "host.h"
#include "hs.h"
#include "hs_select.h"

/* What a handshake waits for; indexes the table of steps in hs.c. */
enum smc_hs_state {
	SMC_HS_OPEN,		/* client: TCP to be established */
	SMC_HS_PROPOSAL,	/* server: the first message */
	SMC_HS_ACCEPT,		/* client: the answer */
	SMC_HS_GROUP,		/* a group that another handshake sets up */
	SMC_HS_CONFIRM,		/* server: the last message */
	SMC_HS_LINK,		/* the first link of our own group */
	SMC_HS_CROSSING,	/* a Decline that may be on its way */
	SMC_HS_REOPEN,		/* client: TCP again, without the option */
	SMC_HS_BOUND,		/* nothing: SMC may begin */
	SMC_HS_LATE,		/* TCP mode: a message that must be hidden */
	SMC_HS_STATES,
};

/* priv->bits, written under the step mutex */
enum smc_hs_bits {
	SMC_HS_SPOKE,		/* the peer has sent a CLC message */
	SMC_HS_SENT_ACCEPT,
	SMC_HS_SENT_CONFIRM,
	SMC_HS_FIRST,		/* first contact: conn->lgr is our own group */
	SMC_HS_LOOKED,		/* a crossing Decline has been waited for */
	SMC_HS_LIMITED,		/* over a limit: answer with Decline */
	SMC_HS_COUNTED,		/* counted in the namespace */
	SMC_HS_LATE_DECLINE,	/* late message: a Decline, not a Proposal */
};

/**
 * struct smc_hs_data - what is needed until the handshake has ended
 * @buf: message being received or sent
 * @msg: decoded message, or message to be encoded
 * @prop: the Proposal, sent or received
 * @path: what was offered by transport; @has_path tells which are there
 * @choice: what both sides use
 * @local: what this host can do
 * @route: what @path was asked for; the device is not held
 * @peer: client: the Accept
 * @direct: no gateway between the RoCE ports
 */
struct smc_hs_data {
	u8 buf[SMC_CLC_MAX_LEN];
	struct smc_clc_msg msg;
	struct smc_clc_proposal prop;
	struct smc_path path[SMC_XPORT_NUM];
	bool has_path[SMC_XPORT_NUM];
	struct smc_choice choice;
	struct smc_select_local local;
	struct smc_route route;
	struct smc_clc_accept peer;
	bool direct;
};

/**
 * struct smc_hs_priv - the running handshake
 * @hs: the handshake; valid while a step is queued or hs->priv is this
 * @refs: one for hs->priv, one for a queued step, one for smc_hs_cancel()
 * @work: the next step; owns a reference of hs->owner and one of @refs
 * @timer: queues a step at @deadline; synchronously deleted before hs goes
 * @waiter: in the group's list; removed before hs goes
 * @settled: completed by the waiter's callback
 * @step: one step at a time; not held while done() is called
 * @node: in the namespace's table of handshakes by peer address
 * @saddr: the peer's address, for that table
 * @deadline: jiffies; of the state
 * @limit: jiffies; of the whole exchange until Accept or Confirm
 * @span_ms: length of the handshake deadline
 * @bits: enum smc_hs_bits
 * @state: enum smc_hs_state, written under hs->lock
 * @need: readable bytes that are worth a step, written under hs->lock
 * @queued: @work is queued, under hs->lock
 * @cancelled: the owner is gone, under hs->lock
 * @group: an existing group with our reference and place, being waited for
 * @waiting: the group in whose list @waiter is: @group or the connection's
 * @has_settled: @settled_why is valid
 * @version: for our Declines
 * @why: what the handshake will end with after SMC_HS_CROSSING
 * @settled_why: outcome reported to @waiter
 * @first_why: server: why the first choice could not be set up
 * @skip: server: variants that could not be set up
 * @peer_diagnosis: from the peer's Decline
 * @err: positive errno if TCP failed
 * @first_at: jiffies when the first byte of the stream was seen, 0: not yet;
 *	for a Decline that may cross ours, of the stream behind the handshake
 * @drain: bytes of a message longer than the buffer, to be thrown away
 * @write_seq: TCP sequence number when the program took over
 * @data: dropped when the handshake has ended
 */
struct smc_hs_priv {
	struct smc_hs *hs;
	refcount_t refs;
	struct work_struct work;
	struct timer_list timer;
	struct smc_lgr_waiter waiter;
	struct completion settled;
	struct mutex step;	/* one step at a time */
	struct hlist_node node;
	struct in6_addr saddr;
	unsigned long deadline;
	unsigned long limit;
	unsigned int span_ms;
	unsigned long bits;
	u8 state;
	u32 need;
	bool queued;
	bool cancelled;
	bool has_settled;
	struct smc_lgr *group;
	struct smc_lgr *waiting;
	u8 version;
	enum smc_reason why;
	enum smc_reason settled_why;
	enum smc_reason first_why;
	unsigned int skip;
	u32 peer_diagnosis;
	int err;
	unsigned long first_at;
	u32 drain;
	u32 write_seq;
	struct smc_hs_data *data;
};

/*
 * At least, and long enough for every timer of a transport's confirmation; they
 * grow with the deadline of those who have to do with slow hosts.
 */
#define SMC_HS_LINK_MS		10000U
#define SMC_HS_CONFIRM_MS	6000U
#define SMC_HS_CROSSING_MS	1000

/* How a handshake ends. */
enum smc_hs_verdict {
	SMC_HS_V_GO_ON,
	SMC_HS_V_TCP,
	SMC_HS_V_LATE,		/* TCP, and a message may come that is hidden */
	SMC_HS_V_ERR,
};

/* All of these but smc_hs_kick(): process context, priv->step held. */

/* hs_wait.c */
extern struct workqueue_struct *smc_hs_wq;

void smc_hs_kick(struct smc_hs_priv *priv);
void smc_hs_enter(struct smc_hs_priv *priv, enum smc_hs_state state,
		  unsigned int ms);
void smc_hs_enter_until(struct smc_hs_priv *priv, enum smc_hs_state state,
			unsigned long deadline);
void smc_hs_start_clock(struct smc_hs_priv *priv);
bool smc_hs_expired(const struct smc_hs_priv *priv);
bool smc_hs_wait_settled(struct smc_hs_priv *priv, struct smc_lgr *lgr);
bool smc_hs_settled(struct smc_hs_priv *priv, enum smc_reason *why);
void smc_hs_stop_waiting(struct smc_hs_priv *priv);

/* hs_io.c */
enum smc_reason smc_hs_read(struct smc_hs_priv *priv, bool *got);
enum smc_reason smc_hs_await(struct smc_hs_priv *priv, u8 type,
			     enum smc_reason late, bool *got);
enum smc_reason smc_hs_look(struct smc_hs_priv *priv);
int smc_hs_write(struct smc_hs_priv *priv);
enum smc_hs_verdict smc_hs_conclude(struct smc_hs_priv *priv,
				    enum smc_reason why);
void smc_hs_drop_group(struct smc_hs_priv *priv, enum smc_reason why);
bool smc_hs_secured(const struct sock *tcp);
enum smc_reason smc_hs_offers(struct smc_hs_priv *priv);
void smc_hs_path_drop(struct smc_hs_priv *priv, enum smc_xport_id id);
enum smc_reason smc_hs_errno_reason(int err, enum smc_reason other);
enum smc_reason smc_hs_create_group(struct smc_hs_priv *priv,
				    const u8 *peer_id);
enum smc_reason smc_hs_join_group(struct smc_hs_priv *priv,
				  struct smc_lgr *lgr);
void smc_hs_group_learn(struct smc_lgr *lgr, const struct smc_clc_fce *fce);
int smc_hs_fill_accept(struct smc_hs_priv *priv, u8 type);
enum smc_reason smc_hs_connect_group(struct smc_hs_priv *priv,
				     const struct smc_clc_proposal *prop,
				     const struct smc_clc_accept *peer);
enum smc_reason smc_hs_confirm_link(struct smc_hs_priv *priv);
enum smc_reason smc_hs_step_link(struct smc_hs_priv *priv);

/* hs_client.c */
enum smc_reason smc_hs_step_open(struct smc_hs_priv *priv);
enum smc_reason smc_hs_step_accept(struct smc_hs_priv *priv);
enum smc_reason smc_hs_step_reopen(struct smc_hs_priv *priv);
enum smc_reason smc_hs_client_group(struct smc_hs_priv *priv);

/* hs_server.c */
enum smc_reason smc_hs_step_proposal(struct smc_hs_priv *priv);
enum smc_reason smc_hs_step_confirm(struct smc_hs_priv *priv);
enum smc_reason smc_hs_server_group(struct smc_hs_priv *priv);

/* hs_late.c */
bool smc_hs_late(struct smc_hs_priv *priv);

/* hs_memory.c */
#define SMC_HS_MAX_NET		1024	/* handshakes of a namespace */
#define SMC_HS_MAX_SOURCE	256	/* of them from one address */

void smc_hs_remember(struct smc_net *sn, const struct sockaddr *addr);
bool smc_hs_remembered(struct smc_net *sn, const struct sockaddr *addr);
bool smc_hs_count(struct smc_hs_priv *priv);
void smc_hs_uncount(struct smc_hs_priv *priv);
int smc_hs_memory_net_init(struct smc_net *sn);
void smc_hs_memory_net_exit(struct smc_net *sn);

/* hs_route.c */
int smc_route_get(struct sock *tcp, struct smc_route *route);
void smc_route_put(struct smc_route *route);
void smc_route_prefixes(const struct smc_route *route,
			struct smc_prefixes *pfx);
int smc_route_direct(const struct smc_route *route, const u8 gid[SMC_GID_LEN]);

/* synopt_native.c */
int smc_synopt_init(void);
void smc_synopt_exit(void);
const char *smc_synopt_name(void);

#endif /* SMC_HS_PRIV_H */
