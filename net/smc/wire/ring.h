/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Byte rings with free-running 64-bit positions.  PURE: no kernel services.
 *
 * A position counts every byte that ever went through a ring and never wraps.
 * Where a byte lies (the offset) is its position modulo the size of the ring;
 * wrap and count of RFC 7609 exist only on the wire.  Fill level, free space
 * and window are always the difference of two positions and are never stored.
 * The size of a ring need not be a power of two.
 *
 * Context: any; no locks, no allocation.  Tests: selftests/unit/unit_ring.c.
 */
#ifndef SMC_RING_H
#define SMC_RING_H

#include <linux/types.h>

struct smc_cursor;			/* wire/cdc.h: u16 wrap, u32 count */

/* The most pieces of a copy between two rings, see smc_ring_plan(). */
#define SMC_RING_SEGS		3

/**
 * struct smc_ring_seg - one contiguous piece of a copy between two rings
 * @src_off: offset of the first byte in the source ring
 * @dst_off: offset of the first byte in the destination ring
 * @len: bytes, never 0 in a plan that was returned
 */
struct smc_ring_seg {
	u32 src_off;
	u32 dst_off;
	u32 len;
};

/**
 * struct smc_ring_span - where a stretch of the stream lies in one ring
 * @off: offset of each piece
 * @len: bytes in each piece; @len[1] is 0 unless the stretch wraps
 */
struct smc_ring_span {
	u32 off[2];
	u32 len[2];
};

/**
 * smc_ring_offset() - where the byte at a position lies
 * @size: size of the ring in bytes, not 0
 * @pos: position
 *
 * All rings of today have a power of two as size; a mask is cheaper there than
 * a 64-bit division.
 */
static inline u32 smc_ring_offset(u32 size, u64 pos)
{
	if (!(size & (size - 1)))
		return (u32)pos & (size - 1);
	return (u32)(pos % size);
}

/**
 * smc_ring_wraps() - how often the ring had been filled up to a position
 * @size: size of the ring in bytes, not 0
 * @pos: position
 *
 * By a shift or a division, as smc_ring_offset().
 */
static inline u64 smc_ring_wraps(u32 size, u64 pos)
{
	if (!(size & (size - 1)))
		return pos >> __builtin_ctz(size);
	return pos / size;
}

/**
 * smc_ring_span() - find a stretch of the stream in a ring
 * @size: size of the ring in bytes, not 0
 * @pos: position of the first byte
 * @len: bytes, at most @size
 * @span: result; at most two pieces, the second one starts at offset 0
 *
 * Context: any.
 */
static inline void smc_ring_span(u32 size, u64 pos, u32 len,
				 struct smc_ring_span *span)
{
	u32 off = smc_ring_offset(size, pos);
	u32 room = size - off;

	span->off[0] = off;
	span->len[0] = len < room ? len : room;
	span->off[1] = 0;
	span->len[1] = len - span->len[0];
}

/**
 * smc_ring_whole() - does a stretch of the stream lie in a ring in one piece?
 * @size: size of the ring in bytes, not 0
 * @pos: position of the first byte
 * @len: bytes, at most @size
 *
 * Context: any.
 */
static inline bool smc_ring_whole(u32 size, u64 pos, u32 len)
{
	return len <= size - smc_ring_offset(size, pos);
}

int smc_ring_plan(u32 src_size, u32 dst_size, u64 pos, u32 len,
		  struct smc_ring_seg seg[SMC_RING_SEGS]);
void smc_cursor_put(u32 size, u64 pos, struct smc_cursor *cur);
int smc_cursor_get(u32 size, u64 prev, u64 limit,
		   const struct smc_cursor *cur, u64 *pos);

#endif /* SMC_RING_H */
