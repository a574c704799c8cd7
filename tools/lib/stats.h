/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of SMC_NETLINK_GET_STATS and GET_FBACK_STATS.
 */
#ifndef TOOLS_STATS_H
#define TOOLS_STATS_H

#include <stdbool.h>
#include <stdint.h>

#define STATS_SIZES	9	/* 8K 16K .. 1024K and larger */
#define STATS_RINGS	7	/* SMC_NLA_STATS_RMB_* */
#define STATS_REASONS	128

enum {				/* values of a transport, in order */
	STATS_TX_BUF,
	STATS_RX_BUF	= STATS_TX_BUF + STATS_SIZES,
	STATS_TX_REQ	= STATS_RX_BUF + STATS_SIZES,
	STATS_RX_REQ	= STATS_TX_REQ + STATS_SIZES,
	STATS_TX_RING	= STATS_RX_REQ + STATS_SIZES,
	STATS_RX_RING	= STATS_TX_RING + STATS_RINGS,
	STATS_CLNT_V1	= STATS_RX_RING + STATS_RINGS,
	STATS_CLNT_V2,
	STATS_SRV_V1,
	STATS_SRV_V2,
	STATS_SENDPAGE,
	STATS_SPLICE,
	STATS_CORK,
	STATS_NODELAY,
	STATS_URGENT,
	STATS_RX_BYTES,
	STATS_TX_BYTES,
	STATS_RX_CNT,
	STATS_TX_CNT,
	STATS_RX_USAGE,
	STATS_TX_USAGE,
	STATS_VALUES
};

enum {				/* of a ring, in order */
	RING_SMALL_PEER,
	RING_SMALL,
	RING_FULL_PEER,
	RING_FULL,
	RING_REUSE,
	RING_ALLOC,
	RING_DOWNGRADE,
};

enum {
	STATS_CLIENT,
	STATS_SERVER,
};

/**
 * struct stats_reason - how often a reason led to TCP
 * @server: 1 on servers, 0 on clients
 * @code: of smc_reason.h
 * @count: how often
 * @narrow: @count has 16 bits only
 */
struct stats_reason {
	unsigned int server;
	uint32_t code;
	uint64_t count;
	bool narrow;
};

/**
 * struct stats - all counters
 * @smcd: values of SMC-D
 * @smcr: values of SMC-R
 * @hs_err: handshakes that failed, clients and servers
 * @fback: connections that became TCP, clients and servers
 * @num: how many reasons
 * @reasons: the reasons
 */
struct stats {
	uint64_t smcd[STATS_VALUES];
	uint64_t smcr[STATS_VALUES];
	uint64_t hs_err[2];
	uint64_t fback[2];
	unsigned int num;
	struct stats_reason reasons[STATS_REASONS];
};

int stats_read(struct stats *st);
void stats_since_reset(struct stats *st);
int stats_save(const struct stats *st);

void stats_print(const struct stats *st, bool smcr);
void stats_json(const struct stats *st, bool smcr);
void stats_flat(const struct stats *st, bool smcr);

#endif /* TOOLS_STATS_H */
