/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The socket a program sees: a TCP socket with a context of ours.
 *
 * AF_SMC, and IPPROTO_SMC in AF_INET and AF_INET6, make a struct sock of TCP
 * whose sk_prot is TCP's own all the time.  Ours are sock->ops, icsk_ulp_ops
 * and icsk_ulp_data (the context, struct smc_sock), three callbacks from
 * connect() on, and one of a listener.  Fallback puts all of them back: what is
 * left is a TCP socket in every respect.
 *
 * Locks:
 *   the socket's lock	the phase, the pointer @hs, everything of TCP.  System
 *			calls own it; callbacks and workers have its spinlock
 *			and find it not owned, or come back later
 *   conn->tx_mutex, conn->rx_mutex
 *			one writer of prod_pos, one of read_pos.  User memory is
 *			touched with one of these held and nothing else, so a
 *			parked page stops only callers of the same direction.
 *			As with TCP's lock, a signal does not end their wait,
 *			except one that kills.  Never held while waiting for the
 *			peer.
 *   state_lock		state, shutdown and st_flags of the connection, and the
 *			pointer @conn; spinlock, BH; leaf
 *   accept_mutex	one program at a time takes a child of a listener
 * Order: accept_mutex -> the socket's lock -> TCP's lock of its accept queue,
 * conn->rx_lock, conn->tx_lock, state_lock; rx_mutex / tx_mutex ->
 * conn->rx_lock, conn->tx_lock, state_lock.
 *
 * References: a context is found under RCU, which keeps its memory a context,
 * but not this socket's (lifetime.rst).  TCP's socket has one until it is
 * plain or destroyed, each call that sleeps one while it lasts, the handshake,
 * the connection, queued work and an armed timer have one each.  Whatever has a
 * reference of the context for longer than a call has one of the sock, too.
 */
#ifndef SMC_SOCK_H
#define SMC_SOCK_H

#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/smc_diag.h>
#include <linux/wait.h>
#include <net/inet_connection_sock.h>
#include <net/inet_sock.h>
#include <net/tcp.h>
#include "core/conn.h"
#include "handshake/hs.h"
#include "net.h"
#include "state.h"

/* The phases of a socket: see phase.c. */
enum smc_phase {
	SMC_PHASE_INIT,		/* neither connected nor connecting */
	SMC_PHASE_HS,		/* the handshake has the TCP connection */
	SMC_PHASE_SMC,
	SMC_PHASE_LATE,		/* TCP, and what has come is held back */
	SMC_PHASE_TCP,		/* TCP's; a context left only pins the module */
	SMC_PHASE_DEAD,		/* closed, or TCP has destroyed the socket */
	SMC_PHASES,
};

/* What serves a data call. */
enum smc_data_rule {
	SMC_DATA_REFUSE,	/* there is no connection */
	SMC_DATA_WAIT,		/* it waits for the outcome */
	SMC_DATA_CONN,
	SMC_DATA_TCP,
};

/**
 * struct smc_phase_rules - what calls do with a socket in a phase
 * @data: enum smc_data_rule: of READ, WRITE
 * @poll_hides: of the events that TCP has
 * @attempt: a handshake has TCP's connection, of which nothing is shown
 * @idle: the next connect() or listen() decides
 * @ours: options mean what SMC makes of them
 * @tells: the program hears what TCP has to say
 */
struct smc_phase_rules {
	u8 data[2];
	__poll_t poll_hides;
	bool attempt;
	bool idle;
	bool ours;
	bool tells;
};

extern const struct smc_phase_rules smc_phase_rules[SMC_PHASES];

/* smc->bits */
enum smc_sock_bits {
	SMC_SK_NEW,		/* made by socket(), and nothing else yet */
	SMC_SK_NOSMC,		/* an option needs TCP (Fast Open..): no SMC */
	SMC_SK_PLAIN,		/* option SMC_PLAIN_TCP: no SMC */
	SMC_SK_DENIED,		/* trace event smc_policy: no SMC */
	SMC_SK_CORK,		/* TCP_CORK is set */
	SMC_SK_LIMIT_HS,	/* SOL_SMC option, kept for programs that ask */
	SMC_SK_DEFERRED,	/* a child that waits for its first data */
	SMC_SK_SERVER,		/* a listener's child */
	SMC_SK_WORK_BEGIN,	/* work: begin the handshake */
	SMC_SK_WORK_FALLBACK,	/* work: a child need not wait for data */
	SMC_SK_WORK_TCP_SHUT_WR, /* work: shut TCP down */
	SMC_SK_WORK_TCP_SHUT,
	SMC_SK_WORK_TCP_ABORT,	/* work: reset the TCP connection */
	SMC_SK_WORK_PEER_GONE,	/* work: TCP was reset */
	SMC_SK_WORK_FREE,	/* work: last step of an orphan */
};

/**
 * struct smc_row - a socket in the list of its namespace
 * @node: in smc_net.socks
 * @nr: number of the socket in its namespace; 0 is none's
 * @sk: the socket; with @past only compared, it may be freed.  In the copy that
 *	smc_sock_walk() passes it is referenced
 * @past: it fell back, there is no context
 * @family: AF_SMC, AF_INET or AF_INET6: what socket() was asked for
 * @reason: why it fell back
 * @peer_diagnosis: code of the Decline received
 * @hash: with @past: of the connection, in TCP's table
 */
struct smc_row {
	struct hlist_node node;
	u64 nr;
	struct sock *sk;
	bool past;
	u16 family;
	u32 reason;
	u32 peer_diagnosis;
	u32 hash;
};

/**
 * struct smc_sock - what is ours of a socket
 * @refs: see above
 * @sk: the socket
 * @sn: state of its namespace
 * @user: account of the user that made the socket or its listener, referenced;
 *	NULL: the user had CAP_IPC_LOCK
 * @orphan: closed: account of the peer that it is charged to, referenced; or NULL
 * @memcg: control group of that program, referenced; or NULL
 * @phase: enum smc_phase
 * @tcp_opts: calls under way that set options which need TCP
 * @bits: enum smc_sock_bits
 * @hs: the handshake, in phase HS and LATE; RCU
 * @conn: the connection, in phase SMC; RCU
 * @err: error of the connection for the program, positive errno; what TCP puts
 *	into sk_err in phase SMC means nothing.  Negative: a call has told of this
 *	one.  Written under @state_lock
 * @lowat: SO_RCVLOWAT of the program while TCP has 1
 * @tcp_err: the last error of TCP in phase SMC, written in the same way
 * @refuse: child, or a client whose SYN has crossed another: why its handshake
 *	is to be declined
 * @addr: client: where connect() goes, for connecting again
 * @window_clamp: client: TCP_WINDOW_CLAMP before connect()
 * @attempts: client: counts attempts; both members above are stored before
 * @defer_accept_s: listener: TCP_DEFER_ACCEPT seconds
 * @listener: child: the listener in whose queue it is, with a reference; found
 *	under RCU, because TCP may move the child to another listener
 * @row: in smc_net.socks
 * @state_lock: see above; what comes before it is cleared by setup()
 * @data_ready: TCP's own callbacks, while ours are in their place
 * @state_change: the same
 * @error_report: the same
 * @accept_mutex: listener: one program at a time takes a child
 * @work: sleeping part of state changes
 * @timer: child: TCP_DEFER_ACCEPT has waited long enough
 */
struct smc_sock {
	refcount_t refs;
	struct sock *sk;
	struct smc_net *sn;
	struct smc_account *user;
	struct smc_account *orphan;
	struct mem_cgroup *memcg;
	u8 phase;
	atomic_t tcp_opts;
	unsigned long bits;
	struct smc_hs __rcu *hs;
	struct smc_conn __rcu *conn;
	int err;
	int lowat;
	int tcp_err;
	u32 refuse;
	struct sockaddr_in6 addr;
	u32 window_clamp;
	u32 attempts;
	int defer_accept_s;
	struct sock *listener;
	struct smc_row row;
	spinlock_t state_lock;
	void (*data_ready)(struct sock *sk);
	void (*state_change)(struct sock *sk);
	void (*error_report)(struct sock *sk);
	struct mutex accept_mutex;
	struct delayed_work work;
	struct timer_list timer;
};

/**
 * struct smc_sock_callbacks - callbacks of a socket with a context (ulp.c)
 * @data_ready: by TCP, locked
 * @state_change: by TCP, locked
 * @error_report: by TCP, locked; by the core without a lock
 * @listener_ready: by TCP: a listener has a child
 * @work: by smc_sock.work
 * @timer: by smc_sock.timer
 */
struct smc_sock_callbacks {
	void (*data_ready)(struct sock *sk);
	void (*state_change)(struct sock *sk);
	void (*error_report)(struct sock *sk);
	void (*listener_ready)(struct sock *sk);
	work_func_t work;
	void (*timer)(struct timer_list *t);
};

extern struct smc_sock_callbacks smc_callbacks;
extern struct tcp_ulp_ops smc_ulp_ops;

/* Has the socket a context of ours?  For a locked one, or as a first look. */
static inline bool smc_sock_has_context(const struct sock *sk)
{
	return READ_ONCE(inet_csk(sk)->icsk_ulp_ops) == &smc_ulp_ops;
}

static inline struct smc_sock *smc_of_conn(const struct smc_conn *conn)
{
	return conn->events_data;
}

/* "Locked": the caller owns it, or has its spinlock and it is not owned. */
static inline void smc_sock_assert_locked(const struct sock *sk)
{
	lockdep_assert(lockdep_sock_is_held(sk));
}

/* The rules of its phase; under the socket's lock they stay. */
static inline const struct smc_phase_rules *
smc_sock_rules(const struct smc_sock *smc)
{
	return &smc_phase_rules[smp_load_acquire(&smc->phase)];
}

int smc_sock_wake_once(struct wait_queue_entry *wait, unsigned int mode,
		       int sync, void *key);
void smc_sock_wake(struct sock *sk, __poll_t key);

/*
 * Sleep once on a socket, unless @cond, which is evaluated once and may sleep.
 * Pairs with skwq_has_sleeper(), called after @cond became true.  A signal ends
 * the sleep.
 */
#define smc_sock_sleep(sk, exclusive, cond, timeo)			\
do {									\
	DEFINE_WAIT_FUNC(__wait, smc_sock_wake_once);			\
	wait_queue_head_t *__wq = sk_sleep(sk);				\
									\
	if (exclusive)							\
		add_wait_queue_exclusive(__wq, &__wait);		\
	else								\
		add_wait_queue(__wq, &__wait);				\
	smp_mb();							\
	if (!(cond))							\
		*(timeo) = wait_woken(&__wait, TASK_INTERRUPTIBLE,	\
				      *(timeo));			\
	finish_wait(__wq, &__wait);					\
} while (0)

/* What diag shows, copied under the right locks. */
struct smc_sock_info {
	u16 family;		/* of the row */
	u8 state;
	u8 mode;		/* SMC_DIAG_MODE_* */
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
	u32 lgr_id;
	u8 role;
	u32 token, sndbuf_size, rmbe_size, peer_rmbe_size;
	struct smc_cursor rx_prod, rx_cons, tx_prod, tx_cons;
	u8 rx_prod_flags, rx_conn_flags, tx_prod_flags, tx_conn_flags;
	struct smc_cursor tx_prep, tx_sent, tx_fin;
	struct smc_xport_info info;
};

/* rows.c; smc_sock_walk() and smc_sock_info() are for smc_diag.ko, too */
void smc_row_add(struct smc_net *sn, struct smc_row *row, struct sock *sk);
void smc_row_del(struct smc_net *sn, struct smc_row *row);
void smc_row_past(struct smc_net *sn, struct smc_row *row);
bool smc_row_reason(const struct smc_row *row, u32 *reason, u32 *peer_diagnosis);
void smc_row_plain_child(struct smc_net *sn, const struct request_sock *req,
			 struct sock *sk, u16 family, u32 reason);
void smc_row_net_init(struct smc_net *sn);
void smc_row_net_exit(struct smc_net *sn);
int smc_sock_walk(struct net *net, u64 from,
		  int (*fn)(const struct smc_row *row, void *arg), void *arg);

/* info.c */
void smc_sock_info(const struct smc_row *row,
		   struct smc_sock_info *si);

/* phase.c */
void smc_sock_set_phase(struct smc_sock *smc, enum smc_phase phase);

/* context.c */
int smc_sock_attach(struct sock *sk, unsigned long bits);
struct smc_sock *smc_sock_attach_child(struct sock *sk,
				       const struct smc_sock *from, gfp_t gfp);
void smc_sock_detach(struct smc_sock *smc);
struct smc_sock *smc_sock_get(struct sock *sk);
void smc_sock_start_timer(struct smc_sock *smc, unsigned long expires);
void smc_sock_stop_timer(struct smc_sock *smc);
struct smc_sock *smc_sock_locked(const struct sock *sk);
void smc_sock_begin_locked(struct smc_sock *smc);
void smc_sock_set_class(struct sock *sk);
void smc_sock_begin(struct smc_sock *smc);
void smc_sock_hold(struct smc_sock *smc);
void smc_sock_put(struct smc_sock *smc);
void smc_sock_reset(struct smc_sock *smc);
void smc_sock_hook(struct smc_sock *smc);
void smc_sock_take_lowat(struct smc_sock *smc);
void smc_sock_unhook(struct smc_sock *smc);
void smc_sock_hook_listener(struct smc_sock *smc);
void smc_sock_cork_tcp(struct smc_sock *smc);
void smc_sock_fallback(struct smc_sock *smc);
void smc_sock_end(struct smc_sock *smc);
const struct proto_ops *smc_sock_base(const struct sock *sk);
extern const struct proto_ops *smc_base6;
extern void (*smc_core_ready)(struct sock *sk);
void smc_tcp_call_begin(void);
void smc_tcp_call_end(void);
int smc_context_init(void);
void smc_context_exit(void);

/*
 * Make a call for a socket that may have no context, or lose it meanwhile, and
 * with it the module's pin.  If the module is going the socket has TCP's
 * operations by now: the system call is begun anew.  smc_context_exit() waits
 * for the instructions that follow module_put().  For smc.ko only.
 */
#define smc_sock_pinned(call)						\
({									\
	typeof(call) __rc;						\
									\
	if (try_module_get(THIS_MODULE)) {				\
		__rc = (call);						\
		module_put(THIS_MODULE);				\
	} else {							\
		__rc = restart_syscall();				\
	}								\
	__rc;								\
})

/* Call TCP's operation @op of a socket, which may sleep. */
#define smc_sock_as_tcp(sock, op, ...)					\
	smc_sock_pinned(smc_sock_base((sock)->sk)->op((sock), ##__VA_ARGS__))

/**
 * smc_sock_tryget() - take a reference, unless the last one has gone
 * @smc: context that a socket had in this RCU read section.  It may be another
 *	socket's by now: look again after this
 *
 * Context: any, in an RCU read section.
 */
static inline bool smc_sock_tryget(struct smc_sock *smc)
{
	if (!refcount_inc_not_zero(&smc->refs))
		return false;
	/* pairs with attach(): what is read after this is not older */
	smp_mb__after_atomic();
	return true;
}

/**
 * smc_sock_conn() - the connection of a socket in phase SMC, for one call
 * @sk: socket
 *
 * What smc_sock_get() and smc_sock_conn_get() would find, with one reference.
 * The context may be another socket's by now, and so its connection.
 *
 * Context: any.
 * Return: connection with a reference, or NULL.
 */
static inline struct smc_conn *smc_sock_conn(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct smc_conn *conn = NULL;
	struct smc_sock *smc;

	rcu_read_lock();
	smc = rcu_dereference(icsk->icsk_ulp_data);
	/* pairs with smc_sock_detach() */
	smp_rmb();
	if (smc_sock_has_context(sk) && smc)
		conn = rcu_dereference(smc->conn);
	if (conn && (conn->sk != sk || !smc_conn_tryget(conn)))
		conn = NULL;
	rcu_read_unlock();
	return conn;
}

bool smc_sock_look_error(struct smc_sock *smc);

/* Is there an error of the connection for the program?  See event.c. */
static inline bool smc_conn_has_error(const struct smc_conn *conn)
{
	return unlikely(READ_ONCE(smc_of_conn(conn)->err)) &&
	       smc_sock_look_error(smc_of_conn(conn));
}

/**
 * smc_sock_conn_get() - the connection of a context, for one call
 * @smc: context
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

/* May this socket offer SMC?  SMC_REASON_OK, or why not; see smc_hs_want(). */
static inline enum smc_reason smc_sock_want(const struct smc_sock *smc)
{
	if (test_bit(SMC_SK_PLAIN, &smc->bits) ||
	    test_bit(SMC_SK_DENIED, &smc->bits))
		return SMC_REASON_APPTCP;
	/* pairs with set_for_tcp() */
	if (atomic_read_acquire(&smc->tcp_opts) ||
	    test_bit(SMC_SK_NOSMC, &smc->bits))
		return SMC_REASON_OPTUNSUPP;
	return smc_synopt_works() ? SMC_REASON_OK : SMC_REASON_NOSYNOPT;
}

/* For the answer to an abort, unless net.smc.orphan_timeout_s is shorter */
#define SMC_ANSWER_S	10U

/* Jiffies for which an orphan waits for a peer that does nothing */
static inline unsigned long smc_orphan_time(const struct smc_conn *conn)
{
	unsigned int s = READ_ONCE(smc_of_conn(conn)->sn->orphan_timeout_s);

	if (test_bit(SMC_CONN_WANT_ABORT, &conn->flags))
		s = min(s, SMC_ANSWER_S);
	return s * (unsigned long)HZ;
}

/* smc_diag_msg.diag_mode: SMC-R or SMC-D */
static inline u8 smc_conn_diag_mode(const struct smc_conn *conn)
{
	return conn->xport->id == SMC_XPORT_D ? SMC_DIAG_MODE_SMCD :
						SMC_DIAG_MODE_SMCR;
}

/* Count for the transport of a connection. */
static inline void smc_conn_count(const struct smc_conn *conn,
				  enum smc_tech tech, u64 num)
{
	smc_tech_add(conn->tech, tech, num);
}

static inline void smc_conn_count_bytes(const struct smc_conn *conn,
					enum smc_tech tech, enum smc_hist hist,
					int bytes)
{
	smc_conn_count(conn, tech, bytes);
	smc_hist_count(conn->tech, hist, bytes);
}

/* tx.c */
int smc_tx_sendmsg(struct smc_conn *conn, struct msghdr *msg, size_t len,
		   long timeo);
void smc_tx_uncork(struct smc_conn *conn);
void smc_tx_writable(struct smc_conn *conn);
bool smc_tx_poll(struct smc_conn *conn);
void smc_tx_request_completion(struct smc_conn *conn);
void smc_tx_want_empty(struct smc_conn *conn);

/* rx.c */
int smc_rx_recvmsg(struct smc_conn *conn, struct msghdr *msg, size_t len,
		   int flags, long timeo);
bool smc_rx_readable(const struct smc_conn *conn);
int smc_rx_set_lowat(struct sock *sk, int val);
ssize_t smc_rx_splice(struct smc_conn *conn, struct pipe_inode_info *pipe,
		      size_t len, long timeo);
u32 smc_rx_inq(const struct smc_conn *conn);
bool smc_rx_at_mark(const struct smc_conn *conn);
bool smc_rx_urgent_valid(const struct smc_conn *conn);

/* conn_events.c */
struct smc_conn *smc_sock_new_conn(struct smc_sock *smc, gfp_t gfp);
void smc_sock_early_flags(struct smc_conn *conn);

/* event.c */
void smc_conn_event(struct smc_conn *conn, enum smc_state_event ev,
		    unsigned int set, bool upcall);
void smc_sock_queue_work(struct smc_sock *smc, int bit);
void smc_sock_kick_work(struct smc_sock *smc, unsigned long delay);
int smc_conn_error(const struct smc_conn *conn);
bool smc_close_over(const struct smc_conn *conn);
bool smc_close_shut_both(const struct smc_conn *conn);
bool smc_close_tcp_failed(const struct smc_sock *smc);
bool smc_close_peer_gone(const struct smc_conn *conn);
void smc_close_tcp_event(struct smc_sock *smc);
void smc_close_unwanted(struct smc_conn *conn, bool upcall);
void smc_close_killed(struct smc_conn *conn, int err, enum smc_reason why,
		      bool upcall);
void smc_close_no_reader(struct smc_conn *conn);

/* attempt.c */
bool smc_attempt_begin(struct smc_sock *smc);
void smc_attempt_event(struct smc_sock *smc);
bool smc_attempt_stop(struct smc_sock *smc);
void smc_attempt_wake(struct smc_sock *smc);
void smc_attempt_unlocked(struct smc_sock *smc);
bool smc_attempt_answers(const struct smc_sock *smc);
int smc_attempt_wait(struct smc_sock *smc, int dir, long *timeo);
void smc_attempt_fallback(struct smc_sock *smc, u32 reason);
void smc_attempt_reveal(struct smc_sock *smc);

/* close.c */
int smc_sock_release(struct socket *sock);
int smc_sock_shutdown(struct socket *sock, int how);
void smc_close_disconnect(struct smc_sock *smc);
void smc_sock_drop_conn(struct smc_sock *smc, struct smc_conn *conn, int err);
void smc_sock_work(struct work_struct *work);
/*
 * smc_diag.ko reads structures of smc.ko.  An update leaves the old smc.ko loaded
 * and has the new smc_diag.ko loaded beside it.  The kernel refuses that by this
 * name, also where symbols have no versions (CONFIG_MODVERSIONS).
 */
#define smc_sock_abort	__PASTE(smc_sock_abort_, SMC_ABI)
int smc_sock_abort(struct sock *sk);

/* orphan.c */
void smc_orphan_end(struct smc_conn *conn);
void smc_orphan_start_timer(struct smc_conn *conn);
void smc_orphan_timer(struct timer_list *t);

/* keepalive.c */
void smc_keepalive_timer(struct timer_list *t);
void smc_keepalive_start(struct smc_conn *conn);
void smc_keepalive_written(struct smc_conn *conn);

/* sockopt.c */
int smc_sock_setsockopt(struct socket *sock, int level, int optname,
			sockptr_t optval, unsigned int optlen);
int smc_sock_getsockopt(struct socket *sock, int level, int optname,
			char __user *optval, int __user *optlen);

/* tcpinfo.c */
void smc_sock_tcp_info(struct smc_conn *conn, struct tcp_info *info);
void smc_sock_attempt_info(struct sock *sk, struct tcp_info *info);

/* policy.c */
void smc_policy_ask(struct smc_sock *smc, const struct sockaddr *peer);

/* connect.c */
int smc_sock_bind(struct socket *sock, struct sockaddr_unsized *uaddr, int len);
int smc_sock_connect(struct socket *sock, struct sockaddr_unsized *uaddr,
		     int len, int flags);

/* ops.c */
extern struct proto_ops smc_sock_ops4;
extern struct proto_ops smc_sock_ops6;
void smc_sock_make_ops(struct proto_ops *ops, const struct proto_ops *base);

/* listen.c */
struct proto_accept_arg;

int smc_sock_listen(struct socket *sock, int backlog);
int smc_sock_accept(struct socket *sock, struct socket *newsock,
		    struct proto_accept_arg *arg);
void smc_listen_end(struct sock *sk);

/* acceptq.c */
bool smc_acceptq_settle(struct sock *sk);
void smc_acceptq_adopt(struct sock *sk);
bool smc_acceptq_forget(struct smc_sock *smc);

/* defer.c */
bool smc_defer_begin(struct smc_sock *smc);
void smc_defer_done(struct smc_sock *smc);
void smc_defer_ready(struct smc_sock *smc);
void smc_defer_event(struct smc_sock *smc);
void smc_defer_timer(struct timer_list *t);

/* ulp.c */
void smc_ulp_init(void);

/* create.c */
int smc_sock_init(void);
void smc_sock_exit(void);

#endif /* SMC_SOCK_H */
