/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private to rdma/: the link, its queues and its memory.
 *
 * A group has one link, embedded in the group object: its memory is valid for a
 * late push, which tests link->dead under post_lock before it posts.  Its queue
 * pairs are drained and destroyed before anything else of it is given back.
 *
 * Locks, outer to inner:
 *   mem_mutex    rings and their memory regions: making, retiring, freeing;
 *		  held across allocations, so neither the LLC actor nor the clock
 *		  takes it; a link may end under it (lgr_lock)
 *   retire_lock  retired rings: the LLC actor takes them out one by one, the
 *		  end of the link takes all (spinlock; leaf)
 *   post_lock    everything posted; state, dead, the slot ring, the waiting
 *		  connections, registrations (spinlock, BH; taken under
 *		  conn->tx_lock)
 *   llc_lock     received LLC messages (spinlock, BH; leaf)
 * post_lock is not held when the core is called.
 */
#ifndef SMC_RDMA_H
#define SMC_RDMA_H

#include <linux/if_ether.h>
#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "core/xport.h"
#include "core/lgr.h"
#include "core/conn.h"
#include "core/buf.h"
#include "net.h"

/*
 * Send slots: less than the receives of a peer, as a message without a receive
 * stops the whole link for a moment.  The Linux kernel's own implementation has
 * at least 48; RFC 7609 does not say how many.  A slot is free when the peer's
 * device has the message: a peer whose CPU is late can lack receives all the
 * same, and the device sends again (QP_RNR_FOREVER).
 */
#define SMC_RDMA_TX_LLC		4	/* of them for LLC, flush_locked() */
#define SMC_RDMA_TX_SLOTS	36
#define SMC_RDMA_TX_SIGNAL	((SMC_RDMA_TX_SLOTS - SMC_RDMA_TX_LLC) / 4)
#define SMC_RDMA_TX_STRIDE	64	/* bytes of message memory for a slot */
#define SMC_RDMA_SLOT_WRS	(SMC_RING_SEGS + 1)
/* the marker of ib_drain_sq(), and some to spare */
#define SMC_RDMA_SQ_EXTRA	4
#define SMC_RDMA_SQ_DEPTH \
	(SMC_RDMA_TX_SLOTS * SMC_RDMA_SLOT_WRS + SMC_RDMA_SQ_EXTRA)

/* Of the queue pair for registrations: a REG_MR and the marker. */
#define SMC_RDMA_REG_DEPTH	2

/* Receives: more than a peer can have in flight, and some not yet handled. */
#define SMC_RDMA_RX_DEPTH	256
#define SMC_RDMA_RX_MIN		64	/* every device that is used has more */
#define SMC_RDMA_RX_BATCH	16	/* re-posted together */
#define SMC_RDMA_RX_SMALL	512	/* one link: no long messages */
#define SMC_RDMA_RX_LARGE	4224	/* ADD LINK with 255 keys */
#define SMC_RDMA_RX_READ	2048	/* of that; DELETE RKEY with 255 has 1028 */

#define SMC_RDMA_LLC_QUEUE	64	/* received and not yet handled */
#define SMC_RDMA_LLC_TURN	16	/* handled before others get their turn */

/* Waits, in milliseconds (RFC 7609 appendix C.5; the kernel's values). */
#define SMC_RDMA_CONFIRM_CLNT_MS	4000U	/* at least */
#define SMC_RDMA_CONFIRM_SERV_MS	2000U	/* at least */
#define SMC_RDMA_LLC_MS			2000
/* No send completes: no connection joins.  A device sends again after 1 s. */
#define SMC_RDMA_STALLED_MS		3000
/* No progress; or too many keys to revoke without an answer */
#define SMC_RDMA_STUCK_MS		10000
/* Messages are received, but no send completes */
#define SMC_RDMA_UNSENT_MS		30000
/* The end of a connection whose ring the peer uses for another one */
#define SMC_RDMA_MOVED_MS		10000
/* A connection's last messages; as the default of orphan_timeout_s */
#define SMC_RDMA_DETACH_MS		120000
/* Interval of watch_work(); the limits above are counted in such looks */
#define SMC_RDMA_LOOK_MS		SMC_DETACH_LOOK_MS
#define SMC_RDMA_LOOKS(ms)		((ms) / SMC_RDMA_LOOK_MS)
#define SMC_RDMA_GOODBYE_MS		1000	/* last messages of a group */

struct smc_rdma_link;

/**
 * struct smc_rdma_stall - for how long a link has made no progress
 * @tail: its tx_tail at the last look
 * @rx: its rx_count then
 * @quiet: looks since something was sent or received
 * @unsent: looks since something was sent
 *
 * Counted in looks and not in time: this host may be a guest that does not run
 * for a while, and handles completions only when it runs again.
 */
struct smc_rdma_stall {
	u64 tail;
	u32 rx;
	u32 quiet;
	u32 unsent;
};

/**
 * struct smc_rdma_port - a port of an RDMA device; fields are read without lock
 * @active: as the RDMA core means it, and it has the default P_Key
 * @max_mtu: as a CLC MTU code
 * @gids: entries of the GID table up to the last one that has ever had a GID; the
 *	RDMA core gives out the first free one, and most tables are nearly empty
 */
struct smc_rdma_port {
	bool active;
	u8 max_mtu;
	int gids;
};

/* as rdma_for_each_port(); smc_path.port and smc_rdma_dev.ports end at U8_MAX */
#define smc_rdma_for_each_port(ibdev, port)				\
	for ((port) = rdma_start_port(ibdev);				\
	     (port) <= min_t(u32, rdma_end_port(ibdev), U8_MAX);	\
	     (port)++)

/**
 * struct smc_rdma_dev - an RDMA device
 * @dev: what the core sees
 * @ibdev: the device; valid until the client's remove() returns
 * @wq: for works of it and of its links: some wait for the driver, which may be
 *	slow, and no other device has to wait for these
 * @events: port and GID changes
 * @ports: what the driver last said, by number
 * @ports_work: asks the driver
 * @ups: how often a port came up
 * @cq_mutex: one thread at a time takes a completion queue: each that finds none
 *	with room makes one for every vector, for the life of the device
 * @no_rings: a ring was refused for good; read and set without lock
 */
struct smc_rdma_dev {
	struct smc_dev dev;
	struct ib_device *ibdev;
	struct workqueue_struct *wq;
	struct ib_event_handler events;
	struct smc_rdma_port ports[U8_MAX + 1];
	struct delayed_work ports_work;
	atomic_t ups;
	struct mutex cq_mutex;
	bool no_rings;
};

/**
 * struct smc_rdma_conn - a connection's private area
 * @conn: back pointer; NULL: not in use
 * @bound: the next two are valid
 * @peer_rkey: key of the peer's ring
 * @peer_addr: address of the peer's ring, for that key
 * @busy: slots in flight and up-calls running; at 0 a detaching connection is
 *	detached
 * @retired: slots that completed and whose up-call has not ended
 * @burst: pushes since @burst_rcvd changed
 * @burst_rcvd: rcvd_pos at the last push
 * @signalled: signalled slots in flight
 * @corked: to be queued in link->waiting when a slot completes
 * @quiet_len: bytes pushed since the last signalled slot
 * @done_pos: end position of the newest slot that completed
 * @turn: kick_first() is running: it need not queue in link->waiting
 * @detaching: smc_conn_detached() is to be called
 * @revoked: the peer has deleted its key, or uses the ring for another
 *	connection: no data is written
 * @moved: looks since the peer used the ring for another connection, and this
 *	one has not ended; 0: it has ended, or the peer did not do that
 * @wait_node: in link->waiting
 * @done_node: in the list of a running completion handler
 *
 * @stall: of a detaching connection; used by its release work only, as @looks
 * @looks: how often it was looked at
 *
 * link->post_lock protects @busy to @done_node.
 */
struct smc_rdma_conn {
	struct smc_conn *conn;
	bool bound;
	u32 peer_rkey;
	u64 peer_addr;
	u32 busy;
	u32 retired;
	u32 burst;
	u64 burst_rcvd;
	u32 signalled;
	bool corked;
	u32 quiet_len;
	u64 done_pos;
	bool turn;
	bool detaching;
	bool revoked;
	u8 moved;
	struct list_head wait_node;
	struct list_head done_node;
	struct smc_rdma_stall stall;
	unsigned int looks;
};

/**
 * struct smc_rdma_tx - a send slot: a message and the writes before it, or one
 *	write without a message (smc_push.bare, flush_locked())
 * @cqe: completion of the last of these, and of any that fails
 * @link: the link
 * @xp: the connection, NULL for LLC and flush_locked(); valid while the slot is
 *	in flight
 * @end_pos: send position reached
 * @n_wrs: work requests posted
 * @signalled: of a connection, and a completion is on its way
 */
struct smc_rdma_tx {
	struct ib_cqe cqe;
	struct smc_rdma_link *link;
	struct smc_rdma_conn *xp;
	u64 end_pos;
	u8 n_wrs;
	bool signalled;
};

/**
 * struct smc_rdma_rx - a receive and its buffer
 * @cqe: completion
 * @link: the link
 * @wr: work request, chained with others while it waits to be posted
 * @sge: @data, and link->rx_rest if there is one
 * @data: the buffer
 */
struct smc_rdma_rx {
	struct ib_cqe cqe;
	struct smc_rdma_link *link;
	struct ib_recv_wr wr;
	struct ib_sge sge[2];
	u8 *data;
};

/* Registration of a receive ring */
enum smc_rdma_reg {
	SMC_RDMA_REG_NONE,
	SMC_RDMA_REG_BEGUN,
	SMC_RDMA_REG_DONE,	/* the peer can write */
	SMC_RDMA_REG_FAILED,
};

/**
 * struct smc_rdma_buf - memory of a ring
 * @buf: what the core sees
 * @node: in link->bufs or link->retired until the link is down
 * @dma: address for local access
 * @mapped: @dma is valid
 * @mr: receive ring: memory region, NULL once the link is gone
 * @iova: receive ring: the address the peer uses, random
 * @reg: enum smc_rdma_reg; written under link->post_lock, as the next three,
 *	until @mr is freed
 * @reg_node: in link->regs
 * @reg_conn: its connection until the registration has ended
 * @reg_cqe: completion of the REG_MR
 */
struct smc_rdma_buf {
	struct smc_buf buf;
	struct list_head node;
	u64 dma;
	bool mapped;
	struct ib_mr *mr;
	u64 iova;
	u8 reg;
	struct list_head reg_node;
	struct smc_conn *reg_conn;
	struct ib_cqe reg_cqe;
};

enum smc_rdma_state {
	SMC_RDMA_RESET,		/* queue pair exists, is below RTR */
	SMC_RDMA_RECEIVING,	/* RTR: has to be drained */
	SMC_RDMA_READY,		/* ready to send */
	SMC_RDMA_ACTIVE,	/* CONFIRM LINK done */
};

/* Work for the LLC actor, bits of link->llc_todo. */
enum smc_rdma_todo {
	SMC_RDMA_DO_CONFIRM,	/* send CONFIRM LINK */
	SMC_RDMA_DO_TEST,	/* send TEST LINK */
	SMC_RDMA_DO_RETIRE,	/* send DELETE RKEY for a retired key */
	SMC_RDMA_DO_ACTIVE,	/* the answer to CONFIRM LINK has arrived */
	SMC_RDMA_DO_NUM,
};

/**
 * struct smc_rdma_peer - the peer's end of a link, from its CLC message
 * @gid: its GID
 * @mac: its MAC address
 * @qpn: its queue pair, 0 as long as it is not known
 * @psn: its first packet sequence number
 * @mtu: path MTU, already the minimum of both
 */
struct smc_rdma_peer {
	union ib_gid gid;
	u8 mac[ETH_ALEN];
	u32 qpn;
	u32 psn;
	enum ib_mtu mtu;
};

/**
 * struct smc_bringup - how a queue pair gets connected
 * @way_mtu: the MTU of the route to a GID as a CLC MTU code, 0: it is too small
 * @prepare: create it (RESET); sets link->qp, qpn and psn
 * @connect: INIT, receives posted, RTR towards link->peer, RECEIVING
 * @ready: RTS
 * @reset: RESET, from below RTR: no posted receive completes any more
 * @destroy: destroy the queue pair, drained or reset if the device could do that
 * @loop: connect a queue pair for local operations to itself: RTS
 *
 * RoCE takes everything from the CLC messages and modifies the queue pair
 * itself; a bring-up by rdma_cm (iWARP, InfiniBand) has the same steps.
 * All in process context, 0 or -errno.
 */
struct smc_bringup {
	int (*way_mtu)(const struct smc_rdma_link *link, const u8 *gid);
	int (*prepare)(struct smc_rdma_link *link);
	int (*connect)(struct smc_rdma_link *link);
	int (*ready)(struct smc_rdma_link *link);
	void (*reset)(const struct smc_rdma_link *link);
	void (*destroy)(struct smc_rdma_link *link);
	int (*loop)(struct smc_rdma_link *link, struct ib_qp *qp);
};

/**
 * struct smc_rdma_link - one queue pair and what belongs to it
 * @lgr: the group
 * @bringup: how it is connected
 * @ibdev: the device, valid until lgr_down
 * @wq: the device's, valid as long
 * @gid_index: of the own GID
 * @gid: own GID
 * @link_id: number of the link, from the server
 * @peer_uid: the peer's number of it, from CONFIRM LINK, for netlink
 * @peer: the other end
 * @pd: protection domain, of this link alone
 * @cq: completion queue, for both directions
 * @cq_num: entries of it that are ours
 * @cq_own: the queue is of this link alone
 * @cq_poll: of an own queue, the RDMA core's handler
 * @cq_irq: calls that in an interrupt
 * @qp: NULL before prepare and after destroy
 * @qpn: its number
 * @psn: own first packet sequence number
 * @reg_qp: queue pair for registrations
 * @event_work: ends the link for an event of a queue pair
 * @event_why: the reason, of the newest
 * @confirmed: smc_lgr_changed() has been called
 * @wait: lgr_down() waits here for completions, or for the link to be dead
 *
 * @post_lock: see above
 * @state: enum smc_rdma_state
 * @dead: nothing may be posted any more
 * @inline_ok: messages are copied by ib_post_send()
 * @llc_blocked: the LLC actor waits for a slot
 * @tx: slots
 * @tx_data: their messages
 * @tx_dma: the same for the device
 * @tx_head: slots ever used; the next one is tx_head % SLOTS
 * @tx_tail: slots ever given back
 * @tx_quiet: newest slots in flight without a completion asked for
 * @confirm_end: client: @tx_tail once the answer to CONFIRM LINK has arrived;
 *	0 before it is sent and after that was noticed
 * @test_end: @tx_tail once TEST LINK has arrived; 0 before it is posted
 * @waiting: connections without a slot, first come first served
 * @regs: rings to be registered; the first one is, if @reg_posted
 * @reg_posted: the device has a REG_MR
 * @reg_looks: looks since then
 *
 * @rx: receives
 * @rx_num: how many
 * @rx_size: bytes of each that are read
 * @rx_free: chain of receives to be posted; of lgr_up and lgr_connect, then of
 *	the completion handler alone, as the next two
 * @rx_free_num: its length
 * @rx_posted: receives the device has; lgr_down looks at it
 * @rx_count: receives so far, modulo 2^32
 * @rx_rest: where all receives put what is longer than @rx_size; or NULL
 * @rx_rest_sge: the same for the device; length 0: there is none
 *
 * @mem_mutex: see above
 * @bufs: rings in use or in the group's pool
 * @has_region: a receive ring has had a memory region
 *
 * @retire_lock: see above
 * @retired: receive rings whose key the peer is being told to forget
 * @retire_named: the last DELETE RKEY names the first so many of @retired
 * @retire_again: it is to be repeated
 * @retire_asked: how often it has been sent; 0: it is answered
 * @retire_overdue: answers still to come about the keys before
 * @retire_looks: looks since it was sent, or an answer came
 * @retire_silent: looks since the peer answered, or there were too many keys
 * @retired_num: length of @retired
 *
 * @llc_lock: see above
 * @llc_queue: received messages
 * @llc_num: how many
 * @llc_todo: enum smc_rdma_todo
 * @llc_work: the actor: sends all LLC messages but the goodbye of lgr_down()
 * @watch: confirm timeout, then supervision
 * @stall: of the sends that are awaited (watch only, as the next four)
 * @silent_rx: @rx_count at the last look
 * @silent: looks since something was received
 * @test_sent: TEST LINK is wanted or on its way
 * @test_wait: looks since it arrived at the peer's device
 * @peer_bye: the peer has sent DELETE LINK for the whole group
 * @moved: smc_rdma_conn.moved of some connection may not be 0
 */
struct smc_rdma_link {
	struct smc_lgr *lgr;
	const struct smc_bringup *bringup;
	struct ib_device *ibdev;
	struct workqueue_struct *wq;
	u16 gid_index;
	union ib_gid gid;
	u8 link_id;
	u32 peer_uid;
	struct smc_rdma_peer peer;
	struct ib_pd *pd;
	struct ib_cq *cq;
	unsigned int cq_num;
	bool cq_own;
	ib_comp_handler cq_poll;
	struct irq_work cq_irq;
	struct ib_qp *qp;
	u32 qpn;
	u32 psn;
	struct ib_qp *reg_qp;
	struct work_struct event_work;
	enum smc_reason event_why;
	bool confirmed;
	wait_queue_head_t wait;

	spinlock_t post_lock /* see above */ ____cacheline_aligned_in_smp;
	u8 state;
	bool dead;
	bool inline_ok;
	bool llc_blocked;
	struct smc_rdma_tx tx[SMC_RDMA_TX_SLOTS];
	u8 *tx_data;
	u64 tx_dma;
	u64 tx_head;
	u64 tx_tail;
	u32 tx_quiet;
	u64 confirm_end;
	u64 test_end;
	struct list_head waiting;
	struct list_head regs;
	bool reg_posted;
	u32 reg_looks;

	struct smc_rdma_rx *rx ____cacheline_aligned_in_smp;
	u32 rx_num;
	u32 rx_size;
	struct ib_recv_wr *rx_free;
	u32 rx_free_num;
	u32 rx_posted;
	u32 rx_count;
	void *rx_rest;
	struct ib_sge rx_rest_sge;

	struct mutex mem_mutex;	/* see above */
	struct list_head bufs;
	bool has_region;

	spinlock_t retire_lock;	/* see above */
	struct list_head retired;
	u8 retire_named;
	bool retire_again;
	u32 retire_asked;
	u32 retire_overdue;
	u32 retire_looks;
	u32 retire_silent;
	u32 retired_num;

	spinlock_t llc_lock;	/* see above */
	struct list_head llc_queue;
	u32 llc_num;
	unsigned long llc_todo;
	struct work_struct llc_work;
	struct delayed_work watch;
	struct smc_rdma_stall stall;
	u32 silent_rx;
	u32 silent;
	bool test_sent;
	u32 test_wait;
	bool peer_bye;
	bool moved;
};

struct smc_rdma_lgr {
	struct smc_lgr lgr;
	struct smc_rdma_link link;
};

static inline struct smc_rdma_dev *smc_rdma_dev(struct smc_dev *dev)
{
	return container_of(dev, struct smc_rdma_dev, dev);
}

static inline struct smc_rdma_link *smc_rdma_link(struct smc_lgr *lgr)
{
	return &container_of(lgr, struct smc_rdma_lgr, lgr)->link;
}

static inline bool smc_lgr_is_v1(const struct smc_lgr *lgr)
{
	return lgr->version == 1;
}

static inline struct smc_rdma_buf *smc_rdma_buf(struct smc_buf *buf)
{
	return container_of(buf, struct smc_rdma_buf, buf);
}

/* cq.c */
int smc_rdma_cq_get(struct smc_rdma_link *link, unsigned int num);
void smc_rdma_cq_put(struct smc_rdma_link *link);

/* dev.c */
enum smc_reason smc_rdma_find_path(const struct smc_route *route,
				   struct smc_path *path);
bool smc_rdma_fill_dev(struct smc_dev *dev, struct net *net,
		       struct smc_dev_info *info);

/* gid.c */
int smc_rdma_gid_ifindex(const struct ib_gid_attr *attr, const struct net *net);
struct net *smc_rdma_gid_net(struct ib_device *ibdev,
			     const struct smc_path *path, bool v1);
bool smc_rdma_gid_lost(struct ib_device *ibdev, const struct smc_lgr *lgr);
struct net *smc_rdma_path_net(const struct smc_path *path);
bool smc_rdma_gid_is_own(const struct net *net, const u8 *gid);

/* client.c */
bool smc_rdma_port_active(struct smc_rdma_dev *rdev, u32 port);

/* lgr.c */
extern const struct smc_xport smc_rdma_xport;

/* link.c */
void smc_rdma_link_raise(struct smc_rdma_link *link,
			 enum smc_rdma_state state);
void smc_rdma_link_end(struct smc_rdma_link *link, enum smc_reason why);
bool smc_rdma_link_mark_dead(struct smc_rdma_link *link, enum smc_reason why);
void smc_rdma_link_lost(struct smc_rdma_link *link, enum smc_reason why);
void smc_rdma_events_init(struct smc_rdma_link *link);
void smc_rdma_events_exit(struct smc_rdma_link *link);
struct ib_qp *smc_rdma_qp_create(struct smc_rdma_link *link,
				 struct ib_qp_cap *cap);
int smc_rdma_link_ready(struct smc_rdma_link *link);
bool smc_rdma_qp_stop(struct ib_qp *qp);
void smc_rdma_link_stop(struct smc_rdma_link *link);
void smc_rdma_stall_begin(struct smc_rdma_link *link,
			  struct smc_rdma_stall *stall);
bool smc_rdma_stalled(struct smc_rdma_link *link,
		      struct smc_rdma_stall *stall);
void smc_rdma_llc_wake(struct smc_rdma_link *link);
void smc_rdma_llc_do(struct smc_rdma_link *link, enum smc_rdma_todo what);

/* bringup_roce.c */
extern const struct smc_bringup smc_rdma_bringup_roce;

/* mem.c */
int smc_rdma_buf_alloc(struct smc_lgr *lgr, struct smc_buf *buf);
void smc_rdma_buf_free(struct smc_lgr *lgr, struct smc_buf *buf);
void smc_rdma_mem_down(struct smc_rdma_link *link);
u8 smc_rdma_retire_next(struct smc_rdma_link *link, u32 *rkeys, u8 most);
void smc_rdma_retire_sent(struct smc_rdma_link *link, u8 named);
bool smc_rdma_retire_done(struct smc_rdma_link *link);
void smc_rdma_retire_tick(struct smc_rdma_link *link);

/* reg.c */
int smc_rdma_reg_init(struct smc_rdma_link *link);
bool smc_rdma_reg_stop(struct smc_rdma_link *link);
void smc_rdma_reg_flush(struct smc_rdma_link *link);
void smc_rdma_reg_exit(struct smc_rdma_link *link);
int smc_rdma_reg_key(struct smc_rdma_link *link, struct smc_conn *conn,
		     u32 *rkey);
void smc_rdma_reg_tick(struct smc_rdma_link *link);

/* tx.c */
int smc_rdma_tx_init(struct smc_rdma_link *link);
void smc_rdma_tx_exit(struct smc_rdma_link *link);
void smc_rdma_tx_flush(struct smc_rdma_link *link);
void smc_rdma_tx_kick(struct smc_rdma_link *link);
int smc_rdma_push(struct smc_conn *conn, const struct smc_push *p);
void smc_rdma_conn_init(struct smc_conn *conn);
bool smc_rdma_conn_detach(struct smc_conn *conn);
int smc_rdma_tx_llc(struct smc_rdma_link *link, const u8 *msg, u64 *end);
bool smc_rdma_tx_awaited(struct smc_rdma_link *link);

/* rx.c */
void smc_rdma_rx_plan(struct smc_rdma_link *link);
int smc_rdma_rx_init(struct smc_rdma_link *link);
int smc_rdma_rx_post(struct smc_rdma_link *link);
void smc_rdma_rx_exit(struct smc_rdma_link *link);

/* llc.c */
int smc_rdma_lgr_confirm(struct smc_lgr *lgr);
void smc_rdma_llc_init(struct smc_rdma_link *link);
void smc_rdma_llc_exit(struct smc_rdma_link *link);
void smc_rdma_llc_rx(struct smc_rdma_link *link, const u8 *data, u32 len);
void smc_rdma_llc_goodbye(struct smc_rdma_link *link);

#endif /* SMC_RDMA_H */
