// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/smc/wire/ring.c.
 *
 * Rings of 1 to 8 bytes are tested exhaustively: every pair of sizes, every
 * position over several wraps, every length, every cursor.  Larger rings, and
 * positions next to 2^16 and 2^32 wraps, are tested against a model which
 * moves single bytes, with a fixed seed (SMC_UNIT_SEED overrides it).
 */
#include <linux/errno.h>
#include <linux/types.h>

#include "wire/ring.h"
#include "unit.h"
#include "wire/cdc.h"

#define SMALL		8		/* largest size tested exhaustively */

static u64 rnd_below(u64 n)
{
	return rnd() % n;
}

static int seed(void **state)
{
	const char *env = getenv("SMC_UNIT_SEED");

	(void)state;
	rnd_seed(env ? strtoull(env, NULL, 0) : 20260714);
	return 0;
}

/* Every byte of the stream has a value of its own neighbourhood. */
static u8 stream_byte(u64 pos)
{
	return (u8)(pos * 167 + (pos >> 8) * 59 + 13);
}

/* Positions that matter: around 0, 2^16 wraps, 2^32 bytes and wraps. */
static const u64 wraps[] = {
	0, 1, 65534, 65535, 65536, 65537, 131071, 131072,
	0xfffffffeULL, 0xffffffffULL, 0x100000000ULL, 0x123456789abULL,
};

#define N_WRAPS		ARRAY_SIZE(wraps)

static void check_span(u32 size, u64 pos, u32 len)
{
	struct smc_ring_span span;
	u32 i;

	memset(&span, 0xa5, sizeof(span));
	smc_ring_span(size, pos, len, &span);
	assert_int_equal(span.len[0] + span.len[1], len);
	assert_true(span.off[0] < size);
	assert_true(span.len[0] <= size - span.off[0]);
	assert_int_equal(span.off[1], 0);
	assert_true(span.len[1] <= size);
	for (i = 0; i < len; i++) {
		u32 off = i < span.len[0] ? span.off[0] + i : i - span.len[0];

		assert_int_equal(off, (pos + i) % size);
	}
}

static void smc_ring_span__exhaustive(void **state)
{
	u32 size, len;
	size_t w;
	u64 i;

	(void)state;
	for (size = 1; size <= SMALL; size++)
		for (w = 0; w < N_WRAPS; w++)
			for (i = 0; i < 3 * size; i++)
				for (len = 0; len <= size; len++)
					check_span(size, wraps[w] * size + i,
						   len);
}

/* Offset and wraps of random positions */
static void smc_ring_offset__all_sizes(void **state)
{
	u32 size;
	int i;

	(void)state;
	for (size = 1; size <= 5000; size++)
		for (i = 0; i < 20; i++) {
			u64 pos = rnd();

			assert_int_equal(smc_ring_offset(size, pos),
					 pos % size);
			assert_int_equal(smc_ring_wraps(size, pos),
					 pos / size);
		}
	assert_int_equal(smc_ring_offset(1U << 31, 0xffffffffffffffffULL),
			 0x7fffffff);
	assert_int_equal(smc_ring_offset(0xffffffff, 0xfffffffeULL),
			 0xfffffffe);
	assert_int_equal(smc_ring_wraps(1U << 31, 0xffffffffffffffffULL),
			 0x1ffffffffULL);
	assert_int_equal(smc_ring_wraps(0xffffffff, 0x1fffffffdULL), 1);
}

/* Execute a plan on real memory and compare with the stream. */
static void check_plan(u32 src_size, u32 dst_size, u64 pos, u32 len,
		       u8 *src, u8 *dst)
{
	struct smc_ring_seg seg[SMC_RING_SEGS];
	u32 i, done = 0;
	int n, k;

	memset(seg, 0xa5, sizeof(seg));
	memset(src, 0, src_size);
	memset(dst, 0, dst_size);
	for (i = 0; i < len; i++)
		src[(pos + i) % src_size] = stream_byte(pos + i);

	n = smc_ring_plan(src_size, dst_size, pos, len, seg);
	assert_in_range(n, len ? 1 : 0, SMC_RING_SEGS);
	for (k = 0; k < n; k++) {
		assert_int_not_equal(seg[k].len, 0);
		assert_true(seg[k].src_off < src_size);
		assert_true(seg[k].len <= src_size - seg[k].src_off);
		assert_true(seg[k].dst_off < dst_size);
		assert_true(seg[k].len <= dst_size - seg[k].dst_off);
		assert_int_equal(seg[k].src_off, (pos + done) % src_size);
		memcpy(dst + seg[k].dst_off, src + seg[k].src_off, seg[k].len);
		done += seg[k].len;
	}
	assert_int_equal(done, len);
	for (i = 0; i < len; i++)
		assert_int_equal(dst[(pos + i) % dst_size],
				 stream_byte(pos + i));
}

static void smc_ring_plan__exhaustive(void **state)
{
	u8 src[SMALL], dst[SMALL];
	u32 ss, ds, len;
	u64 pos;

	(void)state;
	for (ss = 1; ss <= SMALL; ss++)
		for (ds = 1; ds <= SMALL; ds++)
			for (pos = 0; pos < 2 * ss * ds; pos++)
				for (len = 0; len <= (ss < ds ? ss : ds); len++)
					check_plan(ss, ds, pos, len, src, dst);
}

static void smc_ring_plan__reaches_most(void **state)
{
	struct smc_ring_seg seg[SMC_RING_SEGS];

	(void)state;
	/* 5 bytes from 5: 0..2 fit both, source wraps at 8, target at 7 */
	assert_int_equal(smc_ring_plan(8, 7, 5, 5, seg), SMC_RING_SEGS);
	assert_int_equal(seg[0].src_off, 5);
	assert_int_equal(seg[0].dst_off, 5);
	assert_int_equal(seg[0].len, 2);
	assert_int_equal(seg[1].src_off, 7);
	assert_int_equal(seg[1].dst_off, 0);
	assert_int_equal(seg[1].len, 1);
	assert_int_equal(seg[2].src_off, 0);
	assert_int_equal(seg[2].dst_off, 1);
	assert_int_equal(seg[2].len, 2);
}

static void smc_ring_plan__equal_sizes_need_two(void **state)
{
	struct smc_ring_seg seg[SMC_RING_SEGS];
	u32 len;
	u64 pos;

	(void)state;
	for (pos = 0; pos < 16; pos++)
		for (len = 0; len <= 8; len++)
			assert_true(smc_ring_plan(8, 8, pos, len, seg) <= 2);
}

static u32 rnd_size(void)
{
	switch (rnd_below(4)) {
	case 0:
		return 16384U << rnd_below(4);
	case 1:				/* no power of two */
		return (16384U << rnd_below(4)) - 32;
	case 2:
		return 1 + rnd_below(64);
	default:
		return 1 + rnd_below(70000);
	}
}

static void smc_ring_plan__random_sizes(void **state)
{
	u8 *src = malloc(1 << 18), *dst = malloc(1 << 18);
	int i;

	(void)state;
	assert_non_null(src);
	assert_non_null(dst);
	for (i = 0; i < 2000; i++) {
		u32 ss = rnd_size(), ds = rnd_size();
		u32 most = ss < ds ? ss : ds;
		u64 pos = rnd() >> rnd_below(64);

		if (pos > ~0ULL - most)
			pos -= most;
		check_plan(ss, ds, pos, rnd_below((u64)most + 1), src, dst);
	}
	free(src);
	free(dst);
}

static void smc_cursor_put__exhaustive(void **state)
{
	struct smc_cursor cur;
	u16 wrap;
	u32 size, count;
	u64 pos;

	(void)state;
	for (size = 1; size <= SMALL; size++) {
		wrap = 0;
		count = 0;
		/* count like a peer does: one byte at a time, past 2^16 */
		for (pos = 0; pos < 65540ULL * size; pos++) {
			smc_cursor_put(size, pos, &cur);
			if (cur.wrap != wrap || cur.count != count)
				fail_msg("size %u pos %llu: %u:%u not %u:%u",
					 size, (unsigned long long)pos,
					 cur.wrap, cur.count, wrap, count);
			if (++count == size) {
				count = 0;
				wrap++;
			}
		}
	}
}

/* Every cursor the peer could send against every window of a small ring. */
static void check_window(u32 size, u64 prev, u64 limit)
{
	static const u16 far[] = { 0x8000, 0x7fff, 0xfff0 };
	struct smc_cursor cur, want;
	int hits = 0;
	int d;
	u32 k;

	for (d = -4; d <= 4 + (int)ARRAY_SIZE(far); d++) {
		for (k = 0; k < size + 4; k++) {
			u64 pos = 0xdeadULL;
			u64 legal = ~0ULL;
			u64 p;
			int rc;

			cur.wrap = (u16)(prev / size) +
				   (u16)(d > 4 ? far[d - 5] : d);
			cur.count = k < size + 2 ? k : 0U - (k - size - 1);
			for (p = prev; p <= limit; p++) {
				smc_cursor_put(size, p, &want);
				if (want.wrap == cur.wrap &&
				    want.count == cur.count)
					legal = p;
			}
			rc = smc_cursor_get(size, prev, limit, &cur, &pos);
			if (legal == ~0ULL) {
				assert_int_equal(rc, -EPROTO);
				assert_int_equal(pos, 0xdead);
			} else {
				assert_int_equal(rc, 0);
				assert_int_equal(pos, legal);
				hits++;
			}
		}
	}
	assert_int_equal(hits, limit - prev + 1);
}

static void smc_cursor_get__exhaustive(void **state)
{
	u32 size, room;
	size_t w;
	u64 i;

	(void)state;
	for (size = 1; size <= SMALL; size++)
		for (w = 0; w < N_WRAPS; w++)
			for (i = 0; i < 2 * size; i++)
				for (room = 0; room <= size; room++) {
					u64 prev = wraps[w] * size + i;

					check_window(size, prev, prev + room);
				}
}

static void smc_cursor_get__whole_ring_at_once(void **state)
{
	struct smc_cursor cur = { .wrap = 1, .count = 0 };
	u64 pos = 0;

	(void)state;
	assert_int_equal(smc_cursor_get(16384, 0, 16384, &cur, &pos), 0);
	assert_int_equal(pos, 16384);
	/* the same cursor is too far when a byte was not yet read */
	assert_int_equal(smc_cursor_get(16384, 0, 16383, &cur, &pos), -EPROTO);
	/* and too far by a whole ring is not mistaken for no progress */
	cur.wrap = 2;
	assert_int_equal(smc_cursor_get(16384, 0, 16384, &cur, &pos), -EPROTO);
}

static void smc_cursor_get__wrap_overflow(void **state)
{
	u64 prev = 65535ULL * 16384 + 16000;
	struct smc_cursor cur = { .wrap = 0, .count = 10 };
	u64 pos = 0;

	(void)state;
	assert_int_equal(smc_cursor_get(16384, prev, prev + 16384, &cur, &pos),
			 0);
	assert_int_equal(pos, 65536ULL * 16384 + 10);
}

static void smc_cursor_get__forged(void **state)
{
	static const struct smc_cursor evil[] = {
		{ 0, 65536 }, { 0, 65537 }, { 0, 0x80000000 },
		{ 0, 0xffffffff }, { 2, 0 }, { 2, 4095 }, { 3, 100 },
		{ 0xffff, 65535 }, { 0xffff, 0 }, { 0x8000, 100 }, { 0, 99 },
		{ 1, 101 }, { 1, 65535 },
	};
	u64 pos = 77;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(evil); i++)
		assert_int_equal(smc_cursor_get(65536, 100, 65636, &evil[i],
						&pos), -EPROTO);
	assert_int_equal(pos, 77);
	assert_int_equal(smc_cursor_get(0, 0, 0, &evil[0], &pos), -EPROTO);
	assert_int_equal(smc_cursor_get(65536, 100, 99, &(struct smc_cursor)
					{ 0, 100 }, &pos), -EPROTO);
}

/*
 * Property: whatever sequence of cursors a peer sends, honest or not, the
 * space derived from the accepted ones stays within 0..size.
 */
static void smc_cursor_get__property(void **state)
{
	int round, i;

	(void)state;
	for (round = 0; round < 200; round++) {
		u32 size = rnd_size();
		u64 rcvd = (rnd() >> 20) * (u64)(round & 1);
		u64 read = rcvd;

		for (i = 0; i < 5000; i++) {
			u64 limit = read + size, old = rcvd, pos = rcvd;
			struct smc_cursor cur;
			bool honest;
			int rc;

			honest = rnd_below(3);
			smc_cursor_put(size, rcvd + rnd_below(limit - rcvd + 1),
				       &cur);
			if (!honest) {
				if (rnd_below(2))
					cur.wrap += rnd_below(2) ? rnd() :
						    rnd_below(5) - 2;
				if (rnd_below(2))
					cur.count = rnd_below(2) ? rnd() :
						    cur.count + rnd_below(5) -
						    2;
			}
			rc = smc_cursor_get(size, rcvd, limit, &cur, &pos);
			if (honest)
				assert_int_equal(rc, 0);
			if (rc) {
				assert_int_equal(pos, old);
				continue;
			}
			assert_true(pos >= old && pos <= limit);
			assert_int_equal(pos % size, cur.count);
			assert_int_equal((u16)(pos / size), cur.wrap);
			rcvd = pos;
			assert_true(rcvd - read <= size);
			read += rnd_below(rcvd - read + 1);
		}
	}
}

/*
 * The whole way of a stream: program -> send ring -> plan -> receive ring ->
 * span -> program, cursors carried over the wire, random amounts at each step,
 * every byte compared.
 */
struct pipe_model {
	u32 snd_size, rcv_size;
	u8 *snd, *rcv;
	u64 prod, sent, peer_read;	/* the sender knows */
	u64 rcvd, read;			/* the receiver knows */
};

static void model_write(struct pipe_model *m)
{
	u32 room = m->snd_size - (m->prod - m->sent);
	u32 i, k, n = rnd_below((u64)room + 1);
	struct smc_ring_span span;
	u64 pos = m->prod;

	smc_ring_span(m->snd_size, m->prod, n, &span);
	for (k = 0; k < 2; k++)
		for (i = 0; i < span.len[k]; i++)
			m->snd[span.off[k] + i] = stream_byte(pos++);
	m->prod += n;
}

static void model_push(struct pipe_model *m)
{
	u32 window = m->rcv_size - (m->sent - m->peer_read);
	u32 n = m->prod - m->sent;
	struct smc_ring_seg seg[SMC_RING_SEGS];
	struct smc_cursor cur;
	int k, segs;

	if (n > window)
		n = window;
	n = rnd_below((u64)n + 1);
	segs = smc_ring_plan(m->snd_size, m->rcv_size, m->sent, n, seg);
	for (k = 0; k < segs; k++)
		memcpy(m->rcv + seg[k].dst_off, m->snd + seg[k].src_off,
		       seg[k].len);
	m->sent += n;
	smc_cursor_put(m->rcv_size, m->sent, &cur);
	assert_int_equal(smc_cursor_get(m->rcv_size, m->rcvd,
					m->read + m->rcv_size, &cur, &m->rcvd),
			 0);
	assert_int_equal(m->rcvd, m->sent);
}

static void model_read(struct pipe_model *m)
{
	u32 i, k, n = rnd_below(m->rcvd - m->read + 1);
	struct smc_ring_span span;
	struct smc_cursor cur;
	u64 pos = m->read;

	smc_ring_span(m->rcv_size, m->read, n, &span);
	for (k = 0; k < 2; k++)
		for (i = 0; i < span.len[k]; i++)
			if (m->rcv[span.off[k] + i] != stream_byte(pos++))
				fail_msg("wrong byte at %llu",
					 (unsigned long long)pos - 1);
	m->read += n;
	smc_cursor_put(m->rcv_size, m->read, &cur);
	assert_int_equal(smc_cursor_get(m->rcv_size, m->peer_read, m->sent,
					&cur, &m->peer_read), 0);
	assert_int_equal(m->peer_read, m->read);
}

static void ring__stream_model(void **state)
{
	int round, i;

	(void)state;
	for (round = 0; round < 60; round++) {
		struct pipe_model m = {
			.snd_size = rnd_size(), .rcv_size = rnd_size(),
		};
		u64 start = round & 1 ? rnd() >> 16 : 0;

		m.prod = start;
		m.sent = start;
		m.peer_read = start;
		m.rcvd = start;
		m.read = start;
		m.snd = malloc(m.snd_size);
		m.rcv = malloc(m.rcv_size);
		assert_non_null(m.snd);
		assert_non_null(m.rcv);
		for (i = 0; i < 300; i++) {
			model_write(&m);
			model_push(&m);
			model_read(&m);
		}
		assert_true(m.read > start);
		free(m.snd);
		free(m.rcv);
	}
}

/* Both rings have it in one piece: then so has the plan, and only then. */
static void smc_ring_whole__as_planned(void **state)
{
	struct smc_ring_seg seg[SMC_RING_SEGS];
	u32 src, dst, len;
	u64 pos;

	(void)state;
	for (src = 1; src <= SMALL; src++)
		for (dst = 1; dst <= SMALL; dst++)
			for (pos = 0; pos < SMALL * SMALL; pos++)
				for (len = 1; len <= src && len <= dst; len++)
					assert_int_equal(
						smc_ring_whole(src, pos, len) &&
						smc_ring_whole(dst, pos, len),
						smc_ring_plan(src, dst, pos,
							      len, seg) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smc_ring_span__exhaustive),
		cmocka_unit_test_setup(smc_ring_offset__all_sizes, seed),
		cmocka_unit_test(smc_ring_plan__exhaustive),
		cmocka_unit_test(smc_ring_plan__reaches_most),
		cmocka_unit_test(smc_ring_plan__equal_sizes_need_two),
		cmocka_unit_test_setup(smc_ring_plan__random_sizes, seed),
		cmocka_unit_test(smc_ring_whole__as_planned),
		cmocka_unit_test(smc_cursor_put__exhaustive),
		cmocka_unit_test(smc_cursor_get__exhaustive),
		cmocka_unit_test(smc_cursor_get__whole_ring_at_once),
		cmocka_unit_test(smc_cursor_get__wrap_overflow),
		cmocka_unit_test(smc_cursor_get__forged),
		cmocka_unit_test_setup(smc_cursor_get__property, seed),
		cmocka_unit_test_setup(ring__stream_model, seed),
	};

	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
