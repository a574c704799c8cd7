/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The socket a program sees: AF_SMC, and IPPROTO_SMC in AF_INET/AF_INET6.
 *
 * One file descriptor, one socket object for life.  What a call does is chosen
 * by smc->mode, one of four const tables; fallback sets smc->mode to the TCP
 * table and nothing else.
 *
 * Locks:
 *   lock_sock(sk)	bind, listen, connect, accept, shutdown, options
 *   conn->tx_mutex, conn->rx_mutex
 *			one writer of prod_pos, one of read_pos.  User memory is
 *			touched with one of these held and nothing else, so a
 *			parked page stops only callers of the same direction,
 *			and those wait interruptibly.  Never held while waiting
 *			for the peer.
 *   state_lock		the pointer @conn; state, shutdown and st_flags of a
 *			connection; sk_state and sk_shutdown of one that has none;
 *			spinlock, BH; leaf
 *   listen_mutex	the end of listening against the worker that accepts
 *   accept_lock	a listener's lists of children; spinlock; then TCP's lock of
 *			its queue
 *   the inner socket's lock
 *			the TCP connection while a handshake runs, and its
 *			outcome: see hs_tcp.c
 * Order: lock_sock -> rx_mutex / tx_mutex, the inner socket's lock ->
 * conn->tx_lock, state_lock.
 *
 * References: the file's, which close() hands on (an orphan lives on it until
 * smc_sock_free()); one for each queued work, armed timer, handshake and
 * connection object; a child in a listener's list has one of the list's.
 */
#ifndef SMC_SOCK_H
#define SMC_SOCK_H

#include <linux/ipv6.h>
#include <linux/mutex.h>
#include <net/inet_sock.h>
#include "conn.h"
#include "hs.h"
#include "inner.h"
#include "net.h"
#include "state.h"

struct smc_mode;

/* smc->bits */
enum smc_sock_bits {
	SMC_SK_CONNECTING,	/* connect() issued, outcome open */
	SMC_SK_CONNECTED,	/* a first connect() after success returns 0 */
	SMC_SK_NOSMC,		/* never offer SMC on this socket (Fast Open..) */
	SMC_SK_PLAIN,		/* nor on this one: SMC_PLAIN_TCP */
	SMC_SK_CORK,		/* TCP_CORK is set (the inner has it in mode TCP) */
	SMC_SK_LIMIT_HS,	/* SOL_SMC option, kept for programs that ask */
	SMC_SK_FAILED,		/* connect() failed: poll shows it as TCP does */
	SMC_SK_DISCONNECTING,	/* shut down then: only AF_UNSPEC helps */
	SMC_SK_RELEASED,	/* close() has begun; lock_sock */
	SMC_SK_ORPHAN,		/* counted in smc_net.orphan_count */
	SMC_SK_FREED,		/* smc_sock_free() has run */
	SMC_SK_INQ,		/* TCP_INQ is set */
	SMC_SK_DEFERRED,	/* a child that waits for its first data */
	SMC_SK_WORK_READY,	/* work: it need not wait any more */
	SMC_SK_WORK_TCP_SHUT_WR, /* work: shut the inner socket down */
	SMC_SK_WORK_TCP_SHUT,
	SMC_SK_WORK_TCP_ABORT,	/* work: reset the inner connection */
	SMC_SK_WORK_PEER_GONE,	/* work: the inner connection was reset */
	SMC_SK_WORK_FREE,	/* work: last step of an orphan */
};

/**
 * struct smc_sock - the socket
 * @sk: must be first: IPPROTO_SMC objects are inet sockets
 * @mode: const table, see mode.h
 * @inner: the inner TCP socket
 * @sn: state of its namespace
 * @memcg: whom its rings are charged to, our own reference; or NULL
 * @hs: the handshake that has the inner connection, or hides bytes of it; RCU,
 *	written with the inner socket's lock
 * @hs_owner: what a handshake calls
 * @name: local address of the attempt to connect that failed
 * @name_len: its length, or 0
 * @conn: the connection of a socket in mode SMC, NULL before and after; RCU,
 *	written under @state_lock
 * @reason: why this is plain TCP, 0 otherwise
 * @peer_diagnosis: code of the Decline received
 * @used_v2: negotiated version, for statistics
 * @bits: enum smc_sock_bits
 * @disconnects: attempts to connect that connect(AF_UNSPEC) and the like have
 *	ended: a sleeper finds another one, or none.  Written with lock_sock()
 * @defer_accept_s: TCP_DEFER_ACCEPT seconds
 * @user_timeout_ms: TCP_USER_TIMEOUT, 0: none
 * @listen_mutex: mode "listen" begins or ends, a worker accepts
 * @state_lock: see above
 * @node: in smc_net.socks, newest first
 * @nr: number of the socket in its namespace
 * @work: sleeping part of state changes; holds a sock reference while queued
 * @timer: child: TCP_DEFER_ACCEPT has waited long enough.  Holds a reference
 *	while armed
 * @core_destruct: what the core set as sk_destruct (IPPROTO_SMC)
 * @listener: child that nobody has accepted: its listener (referenced)
 * @accept_node: in the listener's @children, later @accept_q
 * @accept_q: finished children
 * @children: children in handshake
 * @accept_len: length of @accept_q
 * @hs_pending: length of @children
 * @deferred: how many of @children wait for data only (TCP_DEFER_ACCEPT)
 * @is_deferred: child: it is one of those
 * @accept_lock: protects the six above
 * @taken: listener: connections taken so far; child: how many before it
 * @held: how many of accept_q are in the inner listener's count, and one on
 *	its way there
 * @has_place: child: it is in that count already
 * @accept_work: takes connections from the inner listener
 * @backlog: listen() argument, clamped to somaxconn
 */
struct smc_sock {
	union {
		struct sock sk;
		struct inet_sock inet;
	};
	const struct smc_mode *mode;
	struct smc_inner inner;
	struct smc_net *sn;
	struct mem_cgroup *memcg;
	struct smc_hs __rcu *hs;
	const struct smc_hs_owner *hs_owner;
	struct sockaddr_in6 name;
	int name_len;
	struct smc_conn __rcu *conn;
	u32 reason;
	u32 peer_diagnosis;
	unsigned long bits;
	unsigned int disconnects;
	int defer_accept_s;
	unsigned int user_timeout_ms;
	struct mutex listen_mutex;
	spinlock_t state_lock;
	struct hlist_node node;
	u64 nr;
	struct work_struct work;
	struct timer_list timer;
	void (*core_destruct)(struct sock *sk);

	struct smc_sock *listener;
	struct list_head accept_node;
	struct list_head accept_q;
	struct list_head children;
	unsigned int accept_len;
	unsigned int hs_pending;
	unsigned int deferred;
	bool is_deferred;
	unsigned int held;
	bool has_place;
	u32 taken;
	spinlock_t accept_lock;
	struct delayed_work accept_work;
	int backlog;
};

/* IPPROTO_SMC in AF_INET6: the core expects ipv6_pinfo at the end. */
struct smc6_sock {
	struct smc_sock smc;
	struct ipv6_pinfo inet6;
};

static inline struct smc_sock *smc_sk(const struct sock *sk)
{
	return (struct smc_sock *)sk;
}

static inline struct smc_sock *smc_of_conn(const struct smc_conn *conn)
{
	return smc_sk(conn->sk);
}

/**
 * smc_sock_conn_get() - the connection of a socket, for one call
 * @smc: socket
 *
 * Context: any.
 * Return: connection with a reference; NULL if there is none, or not any more.
 */
static inline struct smc_conn *smc_sock_conn_get(struct smc_sock *smc)
{
	struct smc_conn *conn;

	rcu_read_lock();
	conn = rcu_dereference(smc->conn);
	if (conn && !smc_conn_tryget(conn))
		conn = NULL;
	rcu_read_unlock();
	return conn;
}

/* Is this (still) the connection of its socket? */
static inline bool smc_conn_is_current(const struct smc_conn *conn)
{
	return rcu_access_pointer(smc_of_conn(conn)->conn) == conn;
}

/* Why this socket must not offer SMC; SMC_REASON_OK: it may. */
static inline enum smc_reason smc_sock_barred(const struct smc_sock *smc)
{
	if (test_bit(SMC_SK_PLAIN, &smc->bits))
		return SMC_REASON_APPTCP;
	if (test_bit(SMC_SK_NOSMC, &smc->bits))
		return SMC_REASON_OPTUNSUPP;
	return SMC_REASON_OK;
}

/*
 * Go by the same name as the inner socket, as long as no other thread knows ours.
 * BPF programs are shown the inner socket; what they learn of it the program
 * finds by SO_COOKIE of its descriptor.
 */
static inline void smc_sock_take_cookie(struct smc_sock *smc)
{
	atomic64_set(&smc->sk.sk_cookie, smc_inner_cookie(&smc->inner));
}

/*
 * Is a connect() under way?  It may end at any moment, and the mode is set
 * before.  To be sure of "neither connected nor connecting" ask here first and
 * look at the mode afterwards.  Any context.
 */
static inline bool smc_sock_connecting(const struct smc_sock *smc)
{
	return test_bit_acquire(SMC_SK_CONNECTING, &smc->bits);
}

static inline struct smc_net *smc_sock_net(const struct smc_sock *smc)
{
	return smc->sn;
}

/* Count for the transport of a connection. */
static inline void smc_conn_count(const struct smc_conn *conn,
				  enum smc_tech tech, u64 num)
{
	smc_tech_add(smc_sock_net(smc_of_conn(conn)), conn->xport->id, tech,
		     num);
}

static inline void smc_conn_count_bytes(const struct smc_conn *conn,
					enum smc_tech tech, enum smc_hist hist,
					int bytes)
{
	smc_conn_count(conn, tech, bytes);
	smc_hist_count(smc_sock_net(smc_of_conn(conn)), conn->xport->id, hist,
		       bytes);
}

enum smc_mode_id {
	SMC_MODE_INIT,
	SMC_MODE_LISTEN,
	SMC_MODE_SMC,
	SMC_MODE_TCP,
};

/**
 * struct smc_mode - behaviour of a socket in one phase of its life
 * @id: which of the four
 * @name: for traces
 * @sendmsg: as in proto_ops
 * @recvmsg: as in proto_ops
 * @poll: as in proto_ops; the caller has registered on our wait queue
 * @ioctl: SIOCINQ and friends; the rest goes to the inner socket
 * @shutdown: @how is checked
 * @splice_read: as in proto_ops
 */
struct smc_mode {
	enum smc_mode_id id;
	const char *name;
	int (*sendmsg)(struct smc_sock *smc, struct msghdr *msg, size_t len);
	int (*recvmsg)(struct smc_sock *smc, struct msghdr *msg, size_t len,
		       int flags);
	__poll_t (*poll)(struct smc_sock *smc, struct file *file,
			 struct poll_table_struct *wait);
	int (*ioctl)(struct smc_sock *smc, unsigned int cmd, unsigned long arg);
	int (*shutdown)(struct smc_sock *smc, int how);
	ssize_t (*splice_read)(struct smc_sock *smc, loff_t *ppos,
			       struct pipe_inode_info *pipe, size_t len,
			       unsigned int flags);
};

/* What was stored before the mode can be seen afterwards.  Any context. */
static inline enum smc_mode_id smc_sock_mode(const struct smc_sock *smc)
{
	return smp_load_acquire(&smc->mode)->id;
}

extern const struct smc_mode smc_mode_init;
extern const struct smc_mode smc_mode_listen;
extern const struct smc_mode smc_mode_smc;
extern const struct smc_mode smc_mode_tcp;

/* What diag shows, copied under the right locks. */
struct smc_sock_snapshot {
	int family;		/* sk_family */
	int protocol;
	u8 state;
	u8 mode;		/* 0 SMC-R, 1 TCP, 2 SMC-D */
	u8 shutdown;
	bool v6;
	__be16 sport;
	__be16 dport;
	struct in6_addr saddr;	/* v4 in word 0 */
	struct in6_addr daddr;
	u32 bound_if;
	kuid_t uid;
	u64 inode;
	u32 reason;
	u32 peer_diagnosis;
	bool has_conn;		/* the rest is valid */
	bool has_lgr;
	u32 lgr_id;
	u8 role;
	u32 token, sndbuf_size, rmbe_size, peer_rmbe_size;
	struct smc_cursor rx_prod, rx_cons, tx_prod, tx_cons;
	u8 rx_prod_flags, rx_conn_flags, tx_prod_flags, tx_conn_flags;
	struct smc_cursor tx_prep, tx_sent, tx_fin;
	struct smc_xport_info info;
};

/*
 * Walk the sockets of @net from the newest to the oldest, or from the first one
 * older than number @from; @fn returns != 0 to stop (the value is returned).  A
 * socket is referenced while @fn runs, no spinlock is held.  Process context.
 * Exported for smc_diag.ko.
 */
int smc_sock_walk(struct net *net, u64 from,
		  int (*fn)(struct sock *sk, u64 nr, void *arg), void *arg);
void smc_sock_snapshot(struct sock *sk, struct smc_sock_snapshot *snap);

/* tx.c */
int smc_tx_sendmsg(struct smc_conn *conn, struct msghdr *msg, size_t len);
void smc_tx_uncork(struct smc_conn *conn);
void smc_tx_writable(struct smc_conn *conn);
bool smc_tx_poll(struct smc_conn *conn);
void smc_tx_nudge(struct smc_conn *conn);

/* rx.c */
int smc_rx_recvmsg(struct smc_conn *conn, struct msghdr *msg, size_t len,
		   int flags);
bool smc_rx_readable(const struct smc_conn *conn);
int smc_rx_set_lowat(struct sock *sk, int val);
ssize_t smc_rx_splice(struct smc_conn *conn, struct pipe_inode_info *pipe,
		      size_t len, bool nonblock);
u32 smc_rx_inq(const struct smc_conn *conn);
bool smc_rx_at_mark(const struct smc_conn *conn);
bool smc_rx_urgent_valid(const struct smc_conn *conn);

/* owner.c */
struct smc_conn *smc_owner_new_conn(struct smc_sock *smc);
void smc_owner_early_flags(struct smc_conn *conn);

/* event.c */
extern struct workqueue_struct *smc_sock_wq;
void smc_conn_event(struct smc_conn *conn, enum smc_state_event ev,
		    unsigned int set, bool upcall);
void smc_sock_queue_work(struct smc_sock *smc, int bit);
void smc_listen_deferred_ready(struct smc_sock *child);
bool smc_close_over(const struct smc_conn *conn);
bool smc_close_shut_both(const struct smc_conn *conn);
bool smc_close_peer_gone(const struct smc_conn *conn);
void smc_close_inner_reset(struct smc_sock *smc);
void smc_close_late(struct smc_conn *conn, bool upcall);
void smc_close_killed(struct smc_conn *conn, int err, enum smc_reason why);
void smc_close_no_reader(struct smc_conn *conn);

/* wait.c */
int smc_sock_wait(struct sock *sk, long *timeo, bool (*done)(struct sock *sk));
struct smc_hs *smc_sock_new_hs(struct smc_sock *smc, enum smc_role role,
			       enum smc_reason refuse,
			       const struct sockaddr *addr, int addr_len);
void smc_sock_start_hs(struct smc_sock *smc, struct smc_hs *hs);
void smc_sock_stop_hs(struct smc_sock *smc, bool late);
bool smc_sock_hides(const struct smc_sock *smc);

/* close.c */
int smc_sock_release(struct socket *sock);
int smc_sock_shutdown(struct socket *sock, int how);
int smc_close_shutdown(struct smc_conn *conn, int how);
void smc_close_disconnect(struct smc_conn *conn);
void smc_sock_dispose(struct smc_sock *smc);
void smc_sock_free(struct smc_sock *smc);
void smc_sock_reset_conn(struct smc_sock *smc, int err);
void smc_sock_work(struct work_struct *work);

/**
 * smc_sock_start_timer() - start a timer that holds a reference while armed
 * @smc: socket, the caller has a reference
 * @timer: one of its timers
 * @expires: in jiffies
 *
 * Not sk_reset_timer(): that takes the reference when the timer may have
 * fired already and have dropped the last one, the caller's.
 *
 * Context: any.
 */
static inline void smc_sock_start_timer(struct smc_sock *smc,
					struct timer_list *timer,
					unsigned long expires)
{
	sock_hold(&smc->sk);
	if (mod_timer(timer, expires))
		__sock_put(&smc->sk);
}

/* orphan.c */
void smc_orphan_end(struct smc_conn *conn);
void smc_orphan_start_timer(struct smc_conn *conn);
void smc_orphan_timer(struct timer_list *t);

/* destroy.c */
int smc_sock_destroy(struct sock *sk, int err);

/* watch.c */
void smc_watch_timer(struct timer_list *t);
void smc_watch_start(struct smc_conn *conn);
void smc_watch_written(struct smc_conn *conn);

/* sockopt.c */
int smc_sock_setsockopt(struct socket *sock, int level, int optname,
			sockptr_t optval, unsigned int optlen);
int smc_sock_getsockopt(struct socket *sock, int level, int optname,
			char __user *optval, int __user *optlen);
void smc_sockopt_to_tcp(struct smc_sock *smc);
void smc_sock_ring_sizes(const struct smc_sock *smc, u32 *snd, u32 *rcv);

/* tcpinfo.c */
int smc_sock_tcp_info(struct smc_sock *smc, char __user *optval,
		      int __user *optlen);

/* sock.c */
extern const struct proto_ops smc_sock_ops;
extern const struct smc_hs_owner smc_sock_hs_owner;
void smc_sock_inner_wake(struct smc_inner *inner, __poll_t key);
void smc_sock_connect_failed(struct smc_sock *smc, int err);

/* mode.c */
void smc_sock_fallback(struct smc_sock *smc, u32 reason, u32 peer_diagnosis);
void smc_sock_fallback_now(struct smc_sock *smc, u32 reason);
int smc_mode_ioctl(struct smc_sock *smc, unsigned int cmd, unsigned long arg);
void smc_mode_move_error(struct smc_sock *smc);

/* listen.c */
int smc_sock_listen(struct socket *sock, int backlog);
int smc_sock_accept(struct socket *sock, struct socket *newsock,
		    struct proto_accept_arg *arg);
void smc_listen_wake(struct smc_sock *smc);
void smc_listen_work(struct smc_sock *smc,
		     struct sock *(*clone)(struct sock *listener));
void smc_listen_timer(struct timer_list *t);
void smc_listen_drop(struct smc_sock *smc);
void smc_listen_child_done(struct smc_sock *child, bool usable);
void smc_listen_child_ready(struct smc_sock *child);
void smc_listen_tcp_ready(struct smc_sock *child);
void smc_listen_gone(struct smc_sock *smc, int err);

/* snapshot.c */
void smc_sock_list(struct smc_sock *smc);

/* family.c */
int smc_sock_init(void);
void smc_sock_exit(void);

#endif /* SMC_SOCK_H */
