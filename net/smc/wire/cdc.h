/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CDC messages (RFC 7609 section 4.4 and appendix A.4): the cursors and
 * flags of one connection. PURE: also built in userspace.
 */
#ifndef SMC_WIRE_CDC_H
#define SMC_WIRE_CDC_H

#include <linux/types.h>

#define SMC_CDC_TYPE		0xfe	/* first byte; everything else is LLC */
#define SMC_CDC_LEN		44	/* SMC-R message */
#define SMC_CDC_MIN_LEN		26	/* shortest SMC-R message understood */

/* producer flags */
enum smc_cdc_prod_flags {
	SMC_CDC_WRITE_BLOCKED	= 0x80,	/* sender waits for a window update */
	SMC_CDC_URG_PENDING	= 0x40,	/* urgent byte is on its way */
	SMC_CDC_URG_PRESENT	= 0x20,	/* urgent byte is just before prod */
	SMC_CDC_CONS_REQ	= 0x10,	/* please announce your cons cursor */
	SMC_CDC_FAILOVER	= 0x08,	/* failover validation, no cursors */
};

/* connection state flags; once set they stay set */
enum smc_cdc_conn_flags {
	SMC_CDC_DONE		= 0x80,	/* sender will send no more data */
	SMC_CDC_CLOSED		= 0x40,	/* sender has closed */
	SMC_CDC_ABORT		= 0x20,	/* sender has aborted */
	SMC_CDC_CONN_FLAGS	= 0xe0,	/* the other bits are reserved */
};

/**
 * struct smc_cursor - a ring position as the wire has it
 * @wrap: how often the ring was wrapped, modulo 2^16
 * @count: offset in the ring, 0..size-1 if the peer is honest
 *
 * As hostile as any other peer input: only the ring turns it into a position.
 */
struct smc_cursor {
	u16 wrap;
	u32 count;
};

/**
 * struct smc_cdc - one CDC message
 * @seq: sequence number, first message 1
 * @token: alert token of the receiver
 * @prod: producer cursor, counts in the receiver's ring
 * @cons: consumer cursor, counts in the sender's own ring
 * @prod_flags: enum smc_cdc_prod_flags
 * @conn_flags: enum smc_cdc_conn_flags
 */
struct smc_cdc {
	u16 seq;
	u32 token;
	struct smc_cursor prod;
	struct smc_cursor cons;
	u8 prod_flags;
	u8 conn_flags;
};

/*
 * Immediate data of an RDMA WRITE that takes the place of a CDC message: the
 * bytes written, a producer flag, and nothing else.  Of groups that have agreed
 * on SMC_FEATURE_IMM; their tokens leave room for the flags.
 */
#define SMC_IMM_BLOCKED		0x80000000U	/* SMC_CDC_WRITE_BLOCKED */
#define SMC_IMM_RESERVED	0x40000000U	/* sent as 0, ignored */
#define SMC_TOKEN_MAX		0x3fffffffU

/* The immediate data for the receiver's @token, not above SMC_TOKEN_MAX. */
static inline u32 smc_imm_encode(u32 token, u8 prod_flags)
{
	return token | (prod_flags & SMC_CDC_WRITE_BLOCKED ?
			SMC_IMM_BLOCKED : 0);
}

static inline u32 smc_imm_token(u32 imm)
{
	return imm & SMC_TOKEN_MAX;
}

static inline u8 smc_imm_prod_flags(u32 imm)
{
	return imm & SMC_IMM_BLOCKED ? SMC_CDC_WRITE_BLOCKED : 0;
}

/* Sequence numbers are compared as signed 16-bit distance: is @seq older? */
static inline bool smc_cdc_seq_before(u16 seq, u16 last)
{
	return (s16)(u16)(seq - last) < 0;
}

int smc_cdc_decode(const u8 *p, size_t len, struct smc_cdc *cdc);
void smc_cdc_encode(u8 p[SMC_CDC_LEN], const struct smc_cdc *cdc);

#endif /* SMC_WIRE_CDC_H */
