/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters: one list makes the enum, the names in /proc/net/smc_stat and the
 * table in the documentation.  Per cpu, per network namespace.
 */
#ifndef SMC_STATS_H
#define SMC_STATS_H

#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <linux/percpu.h>
#include "reason.h"

/* X(symbol, name, one line) */
#define SMC_STAT_LIST(X)						\
	X(SOCK_CREATED, "SockCreated", "sockets created")		\
	X(SOCK_DESTROYED, "SockDestroyed", "sockets destroyed")		\
	X(LGR_CREATED, "LgrCreated", "link groups created")		\
	X(LGR_DESTROYED, "LgrDestroyed", "link groups destroyed")	\
	X(LINK_CREATED, "LinkCreated", "RDMA links created")		\
	X(LINK_DESTROYED, "LinkDestroyed", "RDMA links destroyed")	\
	X(LINK_DOWN_RETRY, "LinkDownRetry", "links ended: the device gave up repeating a message") \
	X(LINK_DOWN_STUCK, "LinkDownStuck", "links ended: the peer's device took no message") \
	X(LINK_DOWN_TEST, "LinkDownTest", "links ended: TEST LINK taken, not answered") \
	X(LINK_DOWN_DETACH, "LinkDownDetach", "links ended: the last of a connection not taken") \
	X(LINK_DOWN_REG, "LinkDownReg", "links ended: a buffer was not registered in time") \
	X(LINK_DOWN_KEYS, "LinkDownKeys", "links ended: DELETE RKEY not answered") \
	X(LINK_DOWN_SEND, "LinkDownSend", "links ended: a message or a write failed") \
	X(LINK_DOWN_QUEUE, "LinkDownQueue", "links ended: the device stopped the queue pair") \
	X(LINK_DOWN_POST, "LinkDownPost", "links ended: the device refused a work request") \
	X(LINK_DOWN_GID, "LinkDownGid", "links ended: the port lost the address") \
	X(LINK_DOWN_FATAL, "LinkDownFatal", "links ended: the device failed altogether") \
	X(LINK_DOWN_PEER, "LinkDownPeer", "links ended: by the peer")	\
	X(LINK_DOWN_REMOVED, "LinkDownRemoved", "links ended: the device was removed") \
	X(LINK_DOWN_SETUP, "LinkDownSetup", "links ended: the first handshake came to nothing") \
	X(LINK_DOWN_IDLE, "LinkDownIdle", "links ended: idle, or the namespace went") \
	X(LINK_UNDRAINED, "LinkUndrained", "links whose queue pairs the device did not drain") \
	X(BUF_CREATED, "BufCreated", "ring buffers allocated")		\
	X(BUF_DESTROYED, "BufDestroyed", "ring buffers freed")		\
	X(BUF_REUSED, "BufReused", "ring buffers taken from a pool")	\
	X(CONN_CREATED, "ConnCreated", "connections that joined a group")	\
	X(CONN_DESTROYED, "ConnDestroyed", "connections that left a group")	\
	X(HS_STARTED, "HsStarted", "handshakes started")		\
	X(HS_ENDED, "HsEnded", "handshakes ended")			\
	X(HS_CLNT_SMCR, "HsClientSmcr", "client handshakes that ended in SMC-R") \
	X(HS_SRV_SMCR, "HsServerSmcr", "server handshakes that ended in SMC-R") \
	X(HS_CLNT_SMCD, "HsClientSmcd", "client handshakes that ended in SMC-D") \
	X(HS_SRV_SMCD, "HsServerSmcd", "server handshakes that ended in SMC-D") \
	X(HS_CLNT_TCP, "HsClientTcp", "connects that ended as plain TCP") \
	X(HS_SRV_TCP, "HsServerTcp", "accepts that ended as plain TCP")	\
	X(HS_CLNT_ERR, "HsClientErr", "client handshakes that failed")	\
	X(HS_SRV_ERR, "HsServerErr", "server handshakes that failed")	\
	X(HS_RECONNECT, "HsReconnect", "clients that connected again without the option") \
	X(HS_REMEMBERED, "HsRemembered", "connects to remembered peers, plain TCP") \
	X(HS_NO_LINK, "HsNoLink", "handshakes without SMC-R: no link could be confirmed lately") \
	X(HS_LIMIT, "HsLimit", "handshakes refused by a limit")		\
	X(PEER_LIMIT, "PeerLimit", "groups, rings and orphans refused: the peer has its share") \
	X(USER_LIMIT, "UserLimit", "rings and orphans refused: the user has its share") \
	X(NET_LIMIT, "NetLimit", "groups, rings and orphans refused: the namespace has its share") \
	X(HOST_LIMIT, "HostLimit", "groups, rings and orphans refused: the host has no more") \
	X(CLC_MALFORMED, "ClcMalformed", "CLC messages refused")	\
	X(LLC_MALFORMED, "LlcMalformed", "LLC messages refused")	\
	X(LLC_DROPPED, "LlcDropped", "LLC messages dropped (queue full, wrong state)") \
	X(CDC_MALFORMED, "CdcMalformed", "CDC messages refused")	\
	X(CDC_UNKNOWN, "CdcUnknown", "CDC messages, or immediate data, for no connection") \
	X(CDC_OLD, "CdcOld", "CDC messages older than the last")	\
	X(CDC_FORGED, "CdcForged", "connections aborted by an impossible cursor or length") \
	X(TX_BYTES, "TxBytes", "bytes moved into peers' rings")		\
	X(RX_BYTES, "RxBytes", "bytes that arrived in own rings")	\
	X(TX_PUSHES, "TxPushes", "pushes that carried data")		\
	X(TX_CDC, "TxCdc", "CDC messages sent, or what took their place")	\
	X(RX_CDC, "RxCdc", "CDC messages received, or what took their place") \
	X(TX_IMM, "TxImm", "of those sent: immediate data of a write")	\
	X(RX_IMM, "RxImm", "of those received: immediate data of a write") \
	X(TX_BUSY, "TxBusy", "pushes that had to wait for a send slot")	\
	X(TX_CORKED, "TxCorked",					\
	  "small pushes that waited for earlier ones to arrive")	\
	X(TX_WINDOW, "TxWindow", "times bytes waited for the peer's window")	\
	X(LGR_LOST, "LgrLost", "link groups that died")			\
	X(CONN_ABORTED, "ConnAborted", "connections aborted")		\
	X(ORPHAN_ABORTED, "OrphanAborted", "closed sockets aborted with data: late, or too many") \
	X(WR_POSTED, "WrPosted", "RDMA work requests posted")		\
	X(WR_COMPLETED, "WrCompleted", "RDMA work requests completed")	\
	X(TX_CALLS, "TxCalls", "send calls on SMC connections")		\
	X(RX_CALLS, "RxCalls", "receive calls on SMC connections")

/*
 * Counters of each transport; in /proc/net/smc_stat with "Smcr" or "Smcd" in
 * front.
 * X(symbol, name, one line)
 */
#define SMC_TECH_LIST(X)						\
	X(CLNT_V1, "ClientV1", "client handshakes that ended in version 1") \
	X(CLNT_V2, "ClientV2", "client handshakes that ended in version 2") \
	X(SRV_V1, "ServerV1", "server handshakes that ended in version 1") \
	X(SRV_V2, "ServerV2", "server handshakes that ended in version 2") \
	X(SPLICE, "Splice", "calls of splice()")			\
	X(CORK, "Cork", "times TCP_CORK was set")			\
	X(NODELAY, "Nodelay", "times TCP_NODELAY was set")		\
	X(URGENT, "Urgent", "urgent bytes sent")			\
	X(RX_BYTES, "BytesRead", "bytes programs have read")		\
	X(TX_BYTES, "BytesWritten", "bytes programs have written")	\
	X(RX_CALLS, "CallsRead", "receive calls")			\
	X(TX_CALLS, "CallsWritten", "send calls")			\
	X(RX_USAGE, "RxBufBytes", "bytes of receive buffers in use now") \
	X(TX_USAGE, "TxBufBytes", "bytes of send buffers in use now")	\
	X(TX_SMALL_PEER, "TxSmallPeer", "sends larger than the peer's buffer") \
	X(TX_SMALL, "TxSmall", "sends larger than the send buffer")	\
	X(TX_FULL_PEER, "TxFullPeer", "times the peer's buffer was full") \
	X(TX_FULL, "TxFull", "times a writer found no room, or NOTSENT_LOWAT") \
	X(TX_REUSED, "TxReused", "send buffers taken from a pool")	\
	X(TX_ALLOC, "TxAllocated", "send buffers allocated")		\
	X(TX_DOWN, "TxDowngraded", "send buffers smaller than wanted")	\
	X(RX_SMALL, "RxSmall", "receives larger than the receive buffer") \
	X(RX_FULL, "RxFull", "receives that found the buffer full or nearly")	\
	X(RX_REUSED, "RxReused", "receive buffers taken from a pool")	\
	X(RX_ALLOC, "RxAllocated", "receive buffers allocated")		\
	X(RX_DOWN, "RxDowngraded", "receive buffers smaller than wanted")

#define SMC_TECH_ENUM(sym, name, text)	SMC_TECH_##sym,
enum smc_tech {
	SMC_TECH_LIST(SMC_TECH_ENUM)
	SMC_TECH_NUM
};

/* Histograms of each transport; in netlink only. */
enum smc_hist {
	SMC_HIST_TX_BUF,	/* send buffers, by size */
	SMC_HIST_RX_BUF,
	SMC_HIST_TX_CALL,	/* bytes of calls that moved any */
	SMC_HIST_RX_CALL,
	SMC_HIST_NUM
};

/* Up to 8 KiB, 16, .. 1024, and more. */
#define SMC_HIST_BUCKETS	9

/* Transports, by enum smc_xport_id. */
#define SMC_STATS_XPORTS	2

#define SMC_STAT_ENUM(sym, name, text)	SMC_STAT_##sym,
enum smc_stat {
	SMC_STAT_LIST(SMC_STAT_ENUM)
	SMC_STAT_NUM
};

/**
 * struct smc_tech_stats - of one transport and cpu
 * @val: enum smc_tech
 * @hist: enum smc_hist
 */
struct smc_tech_stats {
	u64 val[SMC_TECH_NUM];
	u64 hist[SMC_HIST_NUM][SMC_HIST_BUCKETS];
};

/**
 * struct smc_stats - of one cpu
 * @val: enum smc_stat
 * @tech: by transport
 * @fallback: connections that went on as TCP, by role (client, server) and
 *	smc_reason_index()
 */
struct smc_stats {
	u64 val[SMC_STAT_NUM];
	struct smc_tech_stats tech[SMC_STATS_XPORTS];
	u64 fallback[2][SMC_REASON_NUM];
};

struct smc_net;

/* @stat is SMC_STAT_x; any context. */
#define smc_stats_add(sn, stat, n) \
	this_cpu_add((sn)->stats->val[(stat)], (n))
#define smc_stats_inc(sn, stat)	smc_stats_add(sn, stat, 1)

/* The same for one transport, of which smc_tech() has the counters. */
#define smc_tech(sn, xport_id)	(&(sn)->stats->tech[(xport_id)])
#define smc_tech_add(tech, stat, n) \
	this_cpu_add((tech)->val[(stat)], (n))
#define smc_tech_inc(tech, stat) smc_tech_add(tech, stat, 1)

/**
 * smc_hist_count() - one more in a histogram
 * @tech: by smc_tech()
 * @hist: which histogram
 * @bytes: its size, not 0
 *
 * Context: any.
 */
static inline void smc_hist_count(struct smc_tech_stats __percpu *tech,
				  enum smc_hist hist, u32 bytes)
{
	unsigned int i = fls((bytes - 1) / 8192);

	this_cpu_inc(tech->hist[hist][min(i, SMC_HIST_BUCKETS - 1U)]);
}

void smc_stats_fallback(struct smc_net *sn, bool server, u32 reason);

int smc_stats_net_init(struct smc_net *sn);
void smc_stats_net_exit(struct smc_net *sn);
struct smc_stats *smc_stats_sum(const struct smc_net *sn);

#endif /* SMC_STATS_H */
