/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The handshake: turns an inner TCP connection into a bound SMC connection, or
 * into plain TCP with a reason, or into an error.
 *
 * A handshake is a few straight-line steps run by a work item.  Nothing waits
 * in it: the wait queue of the inner socket, the settling of a link group and
 * one deadline timer queue the next step.  A step returns enum smc_reason;
 * only the top function (hs_io.c) decides between decline, TCP and error.
 *
 * Context: steps run in process context on smc_hs_wq and hold no lock.
 */
#ifndef SMC_HS_H
#define SMC_HS_H

#include <linux/workqueue.h>
#include <linux/timer.h>
#include <linux/socket.h>
#include "inner.h"
#include "conn.h"
#include "net.h"

enum smc_hs_outcome {
	SMC_HS_SMC,	/* connection bound; data may flow */
	SMC_HS_TCP,	/* plain TCP, reason and diagnosis tell why */
	SMC_HS_ERR,	/* the connection failed with an errno */
};

/**
 * struct smc_hs_result - how a handshake ended
 * @outcome: see there
 * @reason: own code (SMC_REASON_PEERDECL if the peer declined and nothing here
 *	led it to)
 * @peer_diagnosis: code from a received Decline
 * @err: positive errno for SMC_HS_ERR
 */
struct smc_hs_result {
	enum smc_hs_outcome outcome;
	enum smc_reason reason;
	u32 peer_diagnosis;
	int err;
};

struct smc_hs;

/**
 * struct smc_hs_owner - the socket that wants the handshake
 * @get: reference for a queued step; false: being freed
 * @put: drop it (may free the socket: nothing is touched afterwards)
 * @done: called exactly once, process context, no lock held, unless
 *	smc_hs_cancel() came first
 * @revealed: optional; smc_hs_hidden() has become 0 for ever, possibly with
 *	bytes to read or the end of the stream: wake up readers.  After done(),
 *	process context, no lock held; never after smc_hs_cancel() has returned,
 *	but perhaps while it runs
 */
struct smc_hs_owner {
	bool (*get)(struct smc_hs *hs);
	void (*put)(struct smc_hs *hs);
	void (*done)(struct smc_hs *hs, const struct smc_hs_result *res);
	void (*revealed)(struct smc_hs *hs);
};

struct smc_hs_priv;

/**
 * struct smc_hs - a handshake, embedded in the socket
 * @owner: callbacks
 * @sn: namespace state
 * @inner: the TCP connection
 * @conn: the connection to bind (initialised, no group yet)
 * @memcg: whom its rings are charged to, the owner's reference; or NULL
 * @snd_len: wanted send ring, bytes
 * @rcv_len: wanted receive ring, bytes
 * @role: client or server
 * @refuse: server: decline for this reason, whatever the client proposes
 * @addr: client: where connect() goes, for connecting again
 * @addr_len: its length
 * @name: client: local address of the attempt that failed
 * @name_len: its length
 * @priv: everything else; allocated by start, freed after done
 * @lock: protects @priv against smc_hs_wake() and smc_hs_cancel();
 *	initialised by the owner when the socket is made
 */
struct smc_hs {
	const struct smc_hs_owner *owner;
	struct smc_net *sn;
	struct smc_inner *inner;
	struct smc_conn *conn;
	struct mem_cgroup *memcg;
	u32 snd_len;
	u32 rcv_len;
	enum smc_role role;
	enum smc_reason refuse;
	struct sockaddr_storage addr;
	int addr_len;
	struct sockaddr_in6 name;
	int name_len;
	struct smc_hs_priv *priv;
	spinlock_t lock;	/* priv */
};

/*
 * Should connect() to this address offer SMC at all?  SMC_REASON_OK: offer;
 * otherwise why not (policy, negative cache): then the caller uses plain TCP.
 */
enum smc_reason smc_hs_want(struct smc_net *sn, const struct sockaddr *addr);

/* SYN option on the inner socket (synopt_native.c). */
void smc_synopt_offer(struct sock *tcp);	/* before connect or listen */
void smc_synopt_withdraw(struct sock *tcp);
bool smc_synopt_peer_has(const struct sock *tcp); /* established: both did */

/*
 * Start the client side.  The inner connect has been issued without waiting
 * (or is established); hs->addr is set.  -ENOMEM, or 0 and done() will come.
 * Context: process, may hold the outer socket lock; done() is never called
 * from within.
 */
int smc_hs_connect(struct smc_hs *hs);
/* Start the server side for an accepted child whose SYN had the option. */
int smc_hs_accept(struct smc_hs *hs);
/* From the inner socket's wake callback: interrupts off, any lock. */
void smc_hs_wake(struct smc_hs *hs, __poll_t key);
/*
 * The program closed the socket, or the socket is going away.  Waits for a step
 * that is running now (steps never wait for the peer), but not for done(), so
 * locks that done() takes may be held.  Returns true if the handshake was still
 * running: done() will not be called, and the connection has left its group.
 * False: done() has been called, or another thread is calling it.  Must be
 * called before the inner socket is released, also in TCP mode (a late message
 * may still be awaited).  Process context.
 */
bool smc_hs_cancel(struct smc_hs *hs);
/*
 * TCP mode: bytes at the head of the stream the program must not see yet,
 * because they may be a late Proposal or Decline.  0: nothing is hidden, now
 * and for ever, pass everything to TCP (a single load).  Otherwise (U32_MAX)
 * treat the stream as if it had no byte and no end: no EPOLLIN, SIOCINQ 0,
 * -EAGAIN, and blocking readers sleep until owner->revealed(); they must not
 * sleep inside TCP.  Writing is free.  Any context.
 */
u32 smc_hs_hidden(struct smc_hs *hs);

int smc_hs_init(void);
void smc_hs_exit(void);
int smc_hs_net_init(struct smc_net *sn);
void smc_hs_net_exit(struct smc_net *sn);

#endif /* SMC_HS_H */
