/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The handshake: a TCP connection becomes an SMC connection, or plain TCP with
 * a reason, or fails.
 *
 * A work item runs its steps (engine.c).  The socket's lock protects the TCP
 * connection: under it the handshake reads, writes and reports its outcome, and
 * smc_hs_stop() takes the connection from it.
 *
 * Context: steps run in process context on sn->hs_wq and hold no lock.
 */
#ifndef SMC_HS_H
#define SMC_HS_H

#include <linux/workqueue.h>
#include <linux/timer.h>
#include <linux/socket.h>
#include "core/conn.h"
#include "net.h"

/* What finds the socket owned by a system call is tried again after this. */
#define SMC_RETRY_DELAY	msecs_to_jiffies(20)

enum smc_hs_outcome {
	SMC_HS_SMC,	/* connection attached; data may flow */
	SMC_HS_TCP,	/* plain TCP, reason and diagnosis tell why */
	SMC_HS_ERR,	/* the connection failed; sk_err is TCP's */
};

/**
 * struct smc_hs_result - how a handshake ended
 * @outcome: see there
 * @conn: SMC_HS_SMC: the connection; the handshake's reference passes to the
 *	owner
 * @holds_back: SMC_HS_TCP: the bytes at the head of the stream may be a late
 *	Proposal or Decline.  Until events->revealed() the stream is treated as
 *	if it had no byte and no end: no EPOLLIN, SIOCINQ 0, -EAGAIN; readers
 *	must not sleep inside TCP.  Writing is allowed, and so is what the
 *	program's own shutdown() shows while there is no byte
 * @reason: own code (SMC_REASON_PEERDECL if the peer declined for a reason of
 *	its own)
 * @peer_diagnosis: code from a received Decline
 */
struct smc_hs_result {
	enum smc_hs_outcome outcome;
	struct smc_conn *conn;
	bool holds_back;
	enum smc_reason reason;
	u32 peer_diagnosis;
};

struct request_sock;
struct smc_hs;

/**
 * struct smc_hs_events - the socket that wants the handshake
 * @done: called once, unless smc_hs_stop() came first.  The socket's spinlock
 *	is held, and it is not owned
 * @revealed: nothing is held back any more (@holds_back above); there may be
 *	bytes to read or the end of the stream: wake up readers.  Called after
 *	done(), unless smc_hs_stop() came first; locks as for @done
 * @release: the last reference is dropped.  Any context
 */
struct smc_hs_events {
	void (*done)(void *arg, const struct smc_hs_result *res);
	void (*revealed)(void *arg);
	void (*release)(void *arg);
};

/**
 * struct smc_hs_setup - parameters of a handshake
 * @events: callbacks
 * @sk: the socket; referenced until the handshake is freed
 * @sn: namespace state
 * @arg: for @events; its reference passes
 * @memcg: cgroup the rings are charged to, or NULL; the handshake takes a
 *	reference of its own
 * @snd_len: wanted send ring, bytes
 * @rcv_len: wanted receive ring, bytes
 * @role: client or server
 * @queue_len: server: children in the listener's queue, this one included
 * @queue_max: server: the listener's backlog; the queue has one place more
 * @refuse: server: decline for this reason, whatever the client proposes
 * @connects: the socket's connect() waits for the outcome.  It is a server all
 *	the same if two SYNs have crossed
 * @addr: client: where connect() goes, for connecting again; as for
 *	smc_hs_want()
 * @window_clamp: client: TCP_WINDOW_CLAMP before connect()
 */
struct smc_hs_setup {
	const struct smc_hs_events *events;
	struct sock *sk;
	struct smc_net *sn;
	void *arg;
	struct mem_cgroup *memcg;
	u32 snd_len;
	u32 rcv_len;
	enum smc_role role;
	u32 queue_len;
	u32 queue_max;
	enum smc_reason refuse;
	bool connects;
	struct sockaddr_in6 addr;
	u32 window_clamp;
};

/* synopt.c */
int smc_synopt_init(void);
void smc_synopt_exit(void);
bool smc_synopt_works(void);
void smc_synopt_offer(struct sock *sk);
void smc_synopt_answer(struct sock *sk);
void smc_synopt_off(struct sock *sk);
bool smc_synopt_answers(const struct sock *sk);
bool smc_synopt_peer_has(const struct sock *sk);
bool smc_synopt_crossed(const struct sock *sk);
bool smc_synopt_req_has(const struct request_sock *req, struct sock *child);

/* client.c */
bool smc_hs_agreed(const struct sock *sk);

/* engine.c */
struct smc_hs *smc_hs_new(const struct smc_hs_setup *setup,
			  struct smc_conn *conn, gfp_t gfp);
void smc_hs_put(struct smc_hs *hs);
void smc_hs_start(struct smc_hs *hs);
void smc_hs_wake(struct smc_hs *hs);
bool smc_hs_stop(struct smc_hs *hs);
void smc_hs_unlocked(struct smc_hs *hs);
enum smc_reason smc_hs_want(const struct sock *sk,
			    const struct sockaddr_in6 *addr);
int smc_hs_net_init(struct smc_net *sn);
void smc_hs_net_exit(struct smc_net *sn);

/* tcp.c */
int smc_hs_tcp_init(void);
void smc_hs_tcp_exit(void);
bool smc_hs_tcp_closed(const struct sock *sk);
bool smc_hs_tcp_at_urgent(const struct sock *sk);
u32 smc_hs_tcp_readable(const struct sock *sk);
int smc_hs_tcp_peek(struct sock *sk, void *buf, size_t len);
void smc_hs_tcp_reset(struct sock *sk);

#endif /* SMC_HS_H */
