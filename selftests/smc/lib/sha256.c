// SPDX-License-Identifier: GPL-2.0
/* SHA-256 (FIPS 180-4), small and incremental, for the stream checker. */
#include "sha256.h"

#include <string.h>

static const uint32_t sha256_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t sha256_ror(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

/* one round; the roles of the eight variables move on by one each time */
#define SHA256_ROUND(a, b, c, d, e, f, g, h, i)	do {			\
	t1 = h + (sha256_ror(e, 6) ^ sha256_ror(e, 11) ^		\
		  sha256_ror(e, 25)) + (g ^ (e & (f ^ g))) +		\
	     sha256_k[i] + w[i];					\
	t2 = (sha256_ror(a, 2) ^ sha256_ror(a, 13) ^			\
	      sha256_ror(a, 22)) + ((a & b) | (c & (a | b)));		\
	d += t1;							\
	h = t1 + t2;							\
} while (0)

static void sha256_block(struct sha256 *ctx, const uint8_t *p)
{
	uint32_t w[64], t1, t2, *s = ctx->state;
	uint32_t a = s[0], b = s[1], c = s[2], d = s[3];
	uint32_t e = s[4], f = s[5], g = s[6], h = s[7];
	int i;

	for (i = 0; i < 16; i++)
		w[i] = (uint32_t)p[4 * i] << 24 | p[4 * i + 1] << 16 |
		       p[4 * i + 2] << 8 | p[4 * i + 3];
	for (; i < 64; i++) {
		t1 = w[i - 2];
		t2 = w[i - 15];
		w[i] = (sha256_ror(t1, 17) ^ sha256_ror(t1, 19) ^ t1 >> 10) +
		       w[i - 7] +
		       (sha256_ror(t2, 7) ^ sha256_ror(t2, 18) ^ t2 >> 3) +
		       w[i - 16];
	}
	for (i = 0; i < 64; i += 8) {
		SHA256_ROUND(a, b, c, d, e, f, g, h, i);
		SHA256_ROUND(h, a, b, c, d, e, f, g, i + 1);
		SHA256_ROUND(g, h, a, b, c, d, e, f, i + 2);
		SHA256_ROUND(f, g, h, a, b, c, d, e, i + 3);
		SHA256_ROUND(e, f, g, h, a, b, c, d, i + 4);
		SHA256_ROUND(d, e, f, g, h, a, b, c, i + 5);
		SHA256_ROUND(c, d, e, f, g, h, a, b, i + 6);
		SHA256_ROUND(b, c, d, e, f, g, h, a, i + 7);
	}
	s[0] += a;
	s[1] += b;
	s[2] += c;
	s[3] += d;
	s[4] += e;
	s[5] += f;
	s[6] += g;
	s[7] += h;
}

void sha256_init(struct sha256 *c)
{
	static const uint32_t start[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};

	memcpy(c->state, start, sizeof(start));
	c->len = 0;
}

void sha256_add(struct sha256 *c, const void *data, size_t len)
{
	size_t have = c->len % 64, n;
	const uint8_t *p = data;

	c->len += len;
	if (have) {
		n = len < 64 - have ? len : 64 - have;
		memcpy(c->block + have, p, n);
		p += n;
		len -= n;
		if (have + n < 64)
			return;
		sha256_block(c, c->block);
	}
	for (; len >= 64; p += 64, len -= 64)
		sha256_block(c, p);
	memcpy(c->block, p, len);
}

void sha256_end(struct sha256 *c, uint8_t out[32])
{
	uint64_t bits = c->len * 8;
	uint8_t pad[72] = { 0x80 };
	size_t n = (c->len % 64 < 56 ? 56 : 120) - c->len % 64;
	int i;

	for (i = 0; i < 8; i++)
		pad[n + i] = bits >> (56 - 8 * i);
	sha256_add(c, pad, n + 8);
	for (i = 0; i < 32; i++)
		out[i] = c->state[i / 4] >> (24 - 8 * (i % 4));
}

bool sha256_selftest(void)
{
	static const uint8_t want[32] = {
		0x24, 0x8d, 0x6a, 0x61, 0xd2, 0x06, 0x38, 0xb8,
		0xe5, 0xc0, 0x26, 0x93, 0x0c, 0x3e, 0x60, 0x39,
		0xa3, 0x3c, 0xe4, 0x59, 0x64, 0xff, 0x21, 0x67,
		0xf6, 0xec, 0xed, 0xd4, 0x19, 0xdb, 0x06, 0xc1,
	};
	static const char msg[] =
		"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	struct sha256 c;
	uint8_t out[32];

	sha256_init(&c);
	sha256_add(&c, msg, 11);
	sha256_add(&c, msg + 11, sizeof(msg) - 1 - 11);
	sha256_end(&c, out);
	return !memcmp(out, want, sizeof(want));
}
