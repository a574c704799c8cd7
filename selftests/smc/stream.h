/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two directions of one connection of the stream checker: what to send
 * next, and whether what was received is right.  stream.c describes the format.
 */
#ifndef SMC_SELFTEST_STREAM_H
#define SMC_SELFTEST_STREAM_H

#include "lib/sha256.h"
#include "lib/util.h"

#include <stdatomic.h>

#define READ_MAX	(1U << 18)	/* longest single receive */
#define DIGEST_LEN	32

enum closer { CLOSE_SHUTDOWN, CLOSE_CLIENT, CLOSE_SERVER, CLOSE_MIX };

struct header {
	uint32_t magic;
	uint32_t id;
	uint64_t len;
	uint32_t start;
	uint32_t closer;
};

struct conn {
	int fd;
	unsigned int id;
	enum closer closer;		/* the server learns it */
	bool is_server;
	bool connected, shut, verified, counted, eof, done, tx_sealed;
	/* sending: position in header + payload + digest */
	struct header tx_hdr;
	uint64_t tx_pos, tx_hashed, tx_rng;
	uint32_t tx_call;		/* bytes left of this call's size */
	struct sha256 tx_sha;
	uint8_t tx_digest[DIGEST_LEN];
	int tx_err;
	const char *tx_why;
	/* receiving; rx_len is 0 until the header is complete */
	struct header rx_hdr;
	uint64_t rx_pos, rx_len, rx_rng;
	struct sha256 rx_sha;
	uint8_t rx_digest[DIGEST_LEN];
};

/* what to send, and which side closes */
struct stream_config {
	uint64_t payload_max;
	bool payload_exact;
	enum closer close_order;
};

extern struct stream_config stream_config;
extern atomic_ulong progress;
extern atomic_ullong sent_bytes, recv_bytes;

void pool_make(uint64_t seed);
uint64_t conn_random(unsigned int id, unsigned int what);
void conn_init(struct conn *c, unsigned int id, bool server);
uint64_t tx_end(const struct conn *c);
uint64_t rx_end(const struct conn *c);
bool tx_done(const struct conn *c);
int tx_some(struct conn *c, const char **why);
int rx_some(struct conn *c, uint8_t *buf, bool block, const char **why);

#endif /* SMC_SELFTEST_STREAM_H */
