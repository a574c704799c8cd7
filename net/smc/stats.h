/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters: one list makes the enum, the names in /proc/net/smc_stat and the
 * table in the documentation.  Per cpu, per network namespace; host-wide
 * object counters of devices count in the initial namespace.
 */
#ifndef SMC_STATS_H
#define SMC_STATS_H

#include <linux/types.h>
#include <linux/percpu.h>

/* X(symbol, name, one line) */
#define SMC_STAT_LIST(X)						\
	X(SOCK_CREATED, "SockCreated", "sockets created")		\
	X(SOCK_DESTROYED, "SockDestroyed", "sockets destroyed")		\
	X(LGR_CREATED, "LgrCreated", "link groups created")		\
	X(LGR_DESTROYED, "LgrDestroyed", "link groups destroyed")	\
	X(LINK_CREATED, "LinkCreated", "RDMA links created")		\
	X(LINK_DESTROYED, "LinkDestroyed", "RDMA links destroyed")	\
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
	X(HS_REMEMBERED, "HsRemembered", "connects made plain TCP by the memory of spoilt peers") \
	X(HS_LIMIT, "HsLimit", "handshakes refused by a limit")		\
	X(CLC_MALFORMED, "ClcMalformed", "CLC messages refused")	\
	X(LLC_MALFORMED, "LlcMalformed", "LLC messages refused")	\
	X(LLC_DROPPED, "LlcDropped", "LLC messages dropped (queue full, wrong state)") \
	X(CDC_MALFORMED, "CdcMalformed", "CDC messages refused")	\
	X(CDC_UNKNOWN, "CdcUnknown", "CDC messages for no connection")	\
	X(CDC_OLD, "CdcOld", "CDC messages older than the last")	\
	X(CDC_FORGED, "CdcForged", "connections aborted by an impossible cursor") \
	X(TX_BYTES, "TxBytes", "bytes moved into peers' rings")		\
	X(RX_BYTES, "RxBytes", "bytes that arrived in own rings")	\
	X(TX_PUSHES, "TxPushes", "pushes that carried data")		\
	X(TX_CDC, "TxCdc", "CDC messages sent")				\
	X(RX_CDC, "RxCdc", "CDC messages received")			\
	X(TX_BUSY, "TxBusy", "pushes that had to wait for a send slot")	\
	X(TX_WINDOW, "TxWindow", "pushes that stopped at the peer's window") \
	X(LGR_LOST, "LgrLost", "link groups that died")			\
	X(CONN_ABORTED, "ConnAborted", "connections aborted")		\
	X(ORPHAN_ABORTED, "OrphanAborted", "closed sockets that could not deliver in time") \
	X(WR_POSTED, "WrPosted", "RDMA work requests posted")		\
	X(WR_COMPLETED, "WrCompleted", "RDMA work requests completed")	\
	X(TX_MSGS, "TxCalls", "send calls on SMC connections")		\
	X(RX_MSGS, "RxCalls", "receive calls on SMC connections")

#define SMC_STAT_ENUM(sym, name, text)	SMC_STAT_##sym,
enum smc_stat {
	SMC_STAT_LIST(SMC_STAT_ENUM)
	SMC_STAT_NUM
};

struct smc_stats {
	u64 val[SMC_STAT_NUM];
};

struct smc_net;
struct net;

/* smc_stats_inc(sn, SMC_STAT_x), smc_stats_add(sn, SMC_STAT_x, n): any context */
#define smc_stats_add(sn, stat, n) \
	this_cpu_add((sn)->stats->val[(stat)], (n))
#define smc_stats_inc(sn, stat)	smc_stats_add(sn, stat, 1)

int smc_stats_net_init(struct smc_net *sn);
void smc_stats_net_exit(struct smc_net *sn);
u64 smc_stats_read(const struct smc_net *sn, enum smc_stat stat);

#endif /* SMC_STATS_H */
