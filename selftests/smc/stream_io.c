// SPDX-License-Identifier: GPL-2.0
/*
 * The two directions of one connection of the stream checker: what to send
 * next, and whether what was received is right.  stream.c describes the format.
 */
#include "stream.h"

#include <sys/uio.h>

#define STREAM_MAGIC	0x534d4331
#define CALL_MAX	(1U << 20)	/* longest single send */
#define POOL_PERIOD	1048573		/* prime */
#define HDR_LEN		sizeof(struct header)

static uint8_t *pool;
static uint64_t pool_seed;

struct stream_config stream_config = {
	.payload_max = 256 << 10, .close_order = CLOSE_MIX,
};

atomic_ulong progress;
atomic_ullong sent_bytes, recv_bytes;

uint64_t conn_random(unsigned int id, unsigned int what)
{
	uint64_t s = pool_seed ^ (uint64_t)id << 32 ^ what;

	return random64(&s);
}

void pool_make(uint64_t seed)
{
	uint64_t s = seed, v;
	size_t i;

	pool_seed = seed;
	pool = malloc(POOL_PERIOD + CALL_MAX + 8);
	if (!pool)
		die("out of memory");
	for (i = 0; i < POOL_PERIOD; i += 8) {
		v = random64(&s);
		memcpy(pool + i, &v, 8);
	}
	for (i = 0; i < CALL_MAX; i++)
		pool[POOL_PERIOD + i] = pool[i];
}

/* 1 to max, each power of two equally likely */
static uint32_t log_uniform(uint64_t *rng, uint32_t max)
{
	uint32_t bits = 32 - __builtin_clz(max);
	uint32_t top = 1U << random64(rng) % bits;
	uint32_t v = top + random64(rng) % top;

	return v < max ? v : max;
}

uint64_t tx_end(const struct conn *c)
{
	return HDR_LEN + c->tx_hdr.len + DIGEST_LEN;
}

uint64_t rx_end(const struct conn *c)
{
	return HDR_LEN + c->rx_len + DIGEST_LEN;
}

bool tx_done(const struct conn *c)
{
	return c->tx_pos == tx_end(c);
}

void conn_init(struct conn *c, unsigned int id, bool server)
{
	const struct stream_config *cfg = &stream_config;
	int fd = c->fd;

	memset(c, 0, sizeof(*c));
	c->fd = fd;
	c->id = id;
	c->is_server = server;
	c->tx_rng = conn_random(id, 10 + server);
	c->rx_rng = conn_random(id, 20 + server);
	c->tx_hdr.magic = STREAM_MAGIC;
	c->tx_hdr.id = id;
	c->tx_hdr.start = random64(&c->tx_rng) % POOL_PERIOD;
	c->tx_hdr.len = cfg->payload_exact ? cfg->payload_max :
			1 + random64(&c->tx_rng) % cfg->payload_max;
	if (!server) {
		c->closer = cfg->close_order == CLOSE_MIX ? id % 3 : cfg->close_order;
		c->tx_hdr.closer = c->closer;
	}
	sha256_init(&c->tx_sha);
	sha256_init(&c->rx_sha);
}

/* what to send now: at most the rest of this call's random size */
static size_t tx_span(struct conn *c, const uint8_t **p)
{
	uint64_t pos = c->tx_pos, left;

	if (pos < HDR_LEN) {
		*p = (uint8_t *)&c->tx_hdr + pos;
		return HDR_LEN - pos;
	}
	pos -= HDR_LEN;
	if (pos < c->tx_hdr.len) {
		left = c->tx_hdr.len - pos;
		if (!c->tx_call)
			c->tx_call = log_uniform(&c->tx_rng, CALL_MAX);
		*p = pool + (c->tx_hdr.start + pos) % POOL_PERIOD;
		return left < c->tx_call ? left : c->tx_call;
	}
	pos -= c->tx_hdr.len;
	if (!c->tx_sealed)
		sha256_end(&c->tx_sha, c->tx_digest);
	c->tx_sealed = true;
	*p = c->tx_digest + pos;
	return DIGEST_LEN - pos;
}

static ssize_t tx_call(struct conn *c, const uint8_t *p, size_t len)
{
	unsigned int how = random64(&c->tx_rng) % 8;
	struct iovec iov[3];
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 3 };
	size_t third = len / 3;

	if (how < 2) {
		iov[0].iov_base = (void *)p;
		iov[0].iov_len = third;
		iov[1].iov_base = (void *)(p + third);
		iov[1].iov_len = third;
		iov[2].iov_base = (void *)(p + 2 * third);
		iov[2].iov_len = len - 2 * third;
		return sendmsg(c->fd, &msg, MSG_NOSIGNAL);
	}
	/* never on the last bytes: nothing would push them */
	if (how == 2 && c->tx_pos + len < tx_end(c))
		return send(c->fd, p, len, MSG_NOSIGNAL | MSG_MORE);
	if (how == 3)
		return write(c->fd, p, len);
	return send(c->fd, p, len, MSG_NOSIGNAL);
}

/* sends until done or would block; -1 with *why and errno */
int tx_some(struct conn *c, const char **why)
{
	const uint8_t *p;
	size_t len;
	ssize_t n;

	while (!tx_done(c)) {
		len = tx_span(c, &p);
		errno = 0;
		n = tx_call(c, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0 || (size_t)n > len) {
			*why = n < 0 ? "send" : "send returned nonsense";
			return -1;
		}
		if (c->tx_pos >= HDR_LEN &&
		    c->tx_pos < HDR_LEN + c->tx_hdr.len) {
			sha256_add(&c->tx_sha, p, n);
			c->tx_call -= n;
		}
		c->tx_pos += n;
		atomic_fetch_add(&sent_bytes, n);
		atomic_fetch_add(&progress, 1);
	}
	return 0;
}

static const char *rx_header(struct conn *c)
{
	if (c->rx_hdr.magic != STREAM_MAGIC ||
	    c->rx_hdr.start >= POOL_PERIOD || !c->rx_hdr.len)
		return "header received is none of ours";
	c->rx_len = c->rx_hdr.len;
	if (c->is_server && c->rx_hdr.closer < CLOSE_MIX)
		c->closer = c->rx_hdr.closer;
	return NULL;
}

static const char *rx_payload(struct conn *c, const uint8_t *p, size_t n)
{
	static __thread char text[128];
	uint64_t pos = c->rx_pos - HDR_LEN;
	const uint8_t *want = pool + (c->rx_hdr.start + pos) % POOL_PERIOD;
	size_t i;

	sha256_add(&c->rx_sha, p, n);
	if (!memcmp(p, want, n))
		return NULL;
	for (i = 0; p[i] == want[i]; i++)
		;
	snprintf(text, sizeof(text),
		 "payload differs at byte %llu of %llu: 0x%02x, not 0x%02x",
		 (unsigned long long)(pos + i),
		 (unsigned long long)c->rx_len, p[i], want[i]);
	return text;
}

static const char *rx_digest(struct conn *c)
{
	uint8_t want[DIGEST_LEN];

	sha256_end(&c->rx_sha, want);
	if (memcmp(want, c->rx_digest, DIGEST_LEN))
		return "SHA-256 differs";
	c->verified = true;
	return NULL;
}

/* takes n received bytes; NULL or what is wrong with them */
static const char *rx_take(struct conn *c, const uint8_t *p, size_t n)
{
	const char *why = NULL;
	uint64_t pos, room;
	size_t now;

	while (n && !why) {
		pos = c->rx_pos;
		if (pos < HDR_LEN) {
			room = HDR_LEN - pos;
			now = n < room ? n : room;
			memcpy((uint8_t *)&c->rx_hdr + pos, p, now);
			if (now == room)
				why = rx_header(c);
		} else if (pos < HDR_LEN + c->rx_len) {
			room = HDR_LEN + c->rx_len - pos;
			now = n < room ? n : room;
			why = rx_payload(c, p, now);
		} else if (pos < rx_end(c)) {
			room = rx_end(c) - pos;
			now = n < room ? n : room;
			memcpy(c->rx_digest + DIGEST_LEN - room, p, now);
			if (now == room)
				why = rx_digest(c);
		} else {
			return "bytes after the end of the stream";
		}
		c->rx_pos += now;
		p += now;
		n -= now;
	}
	return why;
}

/* peeks, then receives as much, and compares; buf has twice READ_MAX */
static ssize_t rx_peek(struct conn *c, uint8_t *buf, size_t len,
		       const char **why)
{
	uint8_t *copy = buf + READ_MAX;
	ssize_t n, m;

	n = recv(c->fd, copy, len, MSG_PEEK);
	if (n <= 0)
		return n;
	m = recv(c->fd, buf, n, 0);
	if (m < 0 || m > n || memcmp(buf, copy, m)) {
		*why = "MSG_PEEK and recv disagree";
		return m < 0 ? m : 0;
	}
	return m;
}

static ssize_t rx_call(struct conn *c, uint8_t *buf, bool block,
		       const char **why)
{
	size_t len = log_uniform(&c->rx_rng, READ_MAX);
	unsigned int how = random64(&c->rx_rng) % 8;
	struct iovec iov[3] = {
		{ buf, len / 3 },
		{ buf + len / 3, len / 3 },
		{ buf + len / 3 * 2, len - len / 3 * 2 },
	};

	if (how < 2)
		return readv(c->fd, iov, 3);
	if (how == 2)
		return rx_peek(c, buf, len, why);
	if (how == 3 && block && c->rx_len && c->rx_pos < rx_end(c)) {
		ssize_t n;

		if (len > rx_end(c) - c->rx_pos)
			len = rx_end(c) - c->rx_pos;
		n = recv(c->fd, buf, len, MSG_WAITALL);
		if (n > 0 && (size_t)n < len)
			*why = "MSG_WAITALL returned less";
		return n;
	}
	return recv(c->fd, buf, len, 0);
}

/*
 * Receives until would block or end of file; when block, until the digest is
 * checked or, after it, until end of file.  -1 with *why and errno.
 */
int rx_some(struct conn *c, uint8_t *buf, bool block, const char **why)
{
	bool was_verified = c->verified;
	ssize_t n;

	while (!c->eof && !(block && c->verified != was_verified)) {
		errno = 0;
		n = rx_call(c, buf, block, why);
		if (*why)
			return -1;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0) {
			*why = "recv";
			return -1;
		}
		atomic_fetch_add(&progress, 1);
		if (!n) {
			c->eof = true;
			if (!c->verified) {
				*why = "end of file before the end of the stream";
				return -1;
			}
			return 0;
		}
		atomic_fetch_add(&recv_bytes, n);
		*why = rx_take(c, buf, n);
		if (*why)
			return -1;
	}
	return 0;
}
