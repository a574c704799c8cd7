// SPDX-License-Identifier: GPL-2.0
/*
 * Byte rings with free-running 64-bit positions.  PURE: no kernel services.
 *
 * Everything that turns a position into a place in memory or into a cursor on
 * the wire, and back, is here.  The way back, smc_cursor_get(), is the one
 * gate for cursors a peer sends: what it lets through lies between the last
 * accepted position and the furthest one the peer can honestly have reached,
 * so no arithmetic behind it can leave a ring.
 *
 * Context: any; no locks, no allocation.  Tests: selftests/unit/unit_ring.c.
 */
#include <linux/errno.h>
#include <linux/types.h>

#include "ring.h"
#include "cdc.h"

/**
 * smc_ring_plan() - plan a copy from one ring to another
 * @src_size: size of the source ring in bytes, not 0
 * @dst_size: size of the destination ring in bytes, not 0
 * @pos: position of the first byte, the same in both rings
 * @len: bytes, at most the smaller of the two sizes
 * @seg: result, in the order of the stream
 *
 * Each segment but the last ends where one of the rings ends.  A ring cannot end
 * twice before the last one: its whole size would lie between, and bytes before
 * and behind that, which is more than @len.  So there are at most two segments
 * and the last.
 *
 * Context: any.
 * Return: number of segments filled in, 0 (only if @len is 0) to SMC_RING_SEGS.
 */
int smc_ring_plan(u32 src_size, u32 dst_size, u64 pos, u32 len,
		  struct smc_ring_seg seg[SMC_RING_SEGS])
{
	u32 src_off = smc_ring_offset(src_size, pos);
	u32 dst_off = smc_ring_offset(dst_size, pos);
	int n = 0;

	while (len) {
		u32 piece = len;

		if (piece > src_size - src_off)
			piece = src_size - src_off;
		if (piece > dst_size - dst_off)
			piece = dst_size - dst_off;
		seg[n].src_off = src_off;
		seg[n].dst_off = dst_off;
		seg[n].len = piece;
		n++;

		len -= piece;
		src_off += piece;
		if (src_off == src_size)
			src_off = 0;
		dst_off += piece;
		if (dst_off == dst_size)
			dst_off = 0;
	}
	return n;
}

/**
 * smc_cursor_put() - write a position as a cursor
 * @size: size of the ring the cursor refers to, not 0
 * @pos: position
 * @cur: result; the wrap count keeps its low 16 bits
 *
 * Context: any.  RFC 7609 section 4.5.1.
 */
void smc_cursor_put(u32 size, u64 pos, struct smc_cursor *cur)
{
	cur->wrap = (u16)smc_ring_wraps(size, pos);
	cur->count = smc_ring_offset(size, pos);
}

/**
 * smc_cursor_get() - turn a peer's cursor into a position, or refuse it
 * @size: size of the ring the cursor refers to
 * @prev: last accepted position of this cursor
 * @limit: furthest position the peer can have reached, at most @prev + @size
 * @cur: what the peer sent, any bit pattern
 * @pos: result, untouched if the cursor is refused
 *
 * The window [@prev, @limit] is no longer than the ring, so a cursor in it has
 * the wrap count of @prev or the next one, and stands for one position only; a
 * whole ring of progress at once (next wrap, same count) is legal.
 *
 * Context: any.  RFC 7609 section 4.5.1.
 * Return: 0, or -EPROTO for a cursor that went backwards, overtook @limit or
 * points outside the ring.  The caller aborts the connection.
 */
int smc_cursor_get(u32 size, u64 prev, u64 limit,
		   const struct smc_cursor *cur, u64 *pos)
{
	u64 start, next;

	if (cur->count >= size)			/* also refuses size 0 */
		return -EPROTO;
	/* where this wrap began */
	start = prev - smc_ring_offset(size, prev);
	switch ((u16)(cur->wrap - (u16)smc_ring_wraps(size, prev))) {
	case 0:
		break;
	case 1:
		start += size;
		break;
	default:
		return -EPROTO;
	}
	next = start + cur->count;
	if (next < prev || next > limit)
		return -EPROTO;
	*pos = next;
	return 0;
}
