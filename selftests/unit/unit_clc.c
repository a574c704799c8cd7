// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of net/smc/wire/clc.c: what messages mean, and what is refused.
 */
#include "unit_clc.h"

/* The vector @name with the byte at @at set to @val must be refused. */
static void refused(const char *name, size_t at, u8 val)
{
	const struct golden *v = vector(name);
	struct smc_clc_msg msg;
	u8 *p = exact(v->bytes, v->len);

	assert_in_range(at, 0, v->len - 1);
	p[at] = val;
	if (decode(p, v->len, &msg) != -EPROTO)
		fail_msg("%s: byte %zu = %02x accepted", name, at, val);
	free(p);
}

static void accepted(const char *name, size_t at, u8 val)
{
	const struct golden *v = vector(name);
	u8 *p = exact(v->bytes, v->len);

	p[at] = val;
	if (!oracle(p, v->len))
		fail_msg("%s: byte %zu = %02x refused", name, at, val);
	free(p);
}

static void eid(u8 *p, const char *text)
{
	memset(p, ' ', SMC_EID_LEN);
	memcpy(p, text, strlen(text));
}

static void assert_eid(const u8 *p, const char *text)
{
	u8 want[SMC_EID_LEN];

	eid(want, text);
	assert_memory_equal(p, want, SMC_EID_LEN);
}

/* The bytes of a golden vector, with zeros for what the struct does not keep. */
static const u8 *kept(const struct golden *v)
{
	static const struct {
		const char *name;
		size_t at, len;
	} dropped[] = {
		{ "shape:proposal-v1-both", 40, 10 },	/* of an ISM device */
		{ "shape:proposal-v2-only-v1-offered", 40, 10 },
		{ "shape:proposal-v2-d-only", 184, 32 },	/* system EID */
		{ "shape:decline-v2-out-of-sync", 24, 16 },	/* more words */
	};
	static u8 bytes[SMC_CLC_MAX_LEN];
	size_t i;

	memcpy(bytes, v->bytes, v->len);
	for (i = 0; i < ARRAY_SIZE(dropped); i++)
		if (!strcmp(v->name, dropped[i].name))
			memset(bytes + dropped[i].at, 0, dropped[i].len);
	return bytes;
}

static void decode__golden_is_canonical(void **state)
{
	u8 buf[SMC_CLC_MAX_LEN];
	struct smc_clc_msg msg;
	size_t i;

	for (i = 0; i < n_vectors; i++) {
		const struct golden *v = &vectors[i];

		if (decode(v->bytes, v->len, &msg))
			fail_msg("%s refused", v->name);
		if (smc_clc_encode(buf, sizeof(buf), &msg) != (ssize_t)v->len ||
		    memcmp(buf, kept(v), v->len))
			fail_msg("%s: other bytes", v->name);
	}
}

static void decode__proposal_example(void **state)
{
	static const u8 peer_id[] = { 0x5a, 0x17, 2, 0, 0, 0xaa, 0, 1 };
	const struct smc_clc_proposal *prop;
	const struct smc_clc_v2ext *v2;
	struct smc_clc_msg msg;

	decode_ok("example:proposal-v2", &msg);
	prop = &msg.proposal;
	v2 = &prop->v2;
	assert_int_equal(msg.type, SMC_CLC_PROPOSAL);
	assert_int_equal(msg.version, 2);
	assert_int_equal(prop->offer_v1, SMC_OFFER_R);
	assert_int_equal(prop->offer_v2, SMC_OFFER_BOTH);
	assert_memory_equal(prop->peer_id, peer_id, 8);
	assert_int_equal(prop->gid[0], 0xfe);
	assert_int_equal(prop->gid[15], 0x01);
	assert_memory_equal(prop->mac, peer_id + 2, 6);
	assert_int_equal(prop->v4_net, 0xc0a80a00);
	assert_int_equal(prop->v4_len, 24);
	assert_int_equal(prop->n_v6, 0);
	assert_int_equal(v2->release, 1);
	assert_false(v2->seid_valid);
	assert_int_equal(v2->max_conns, 255);
	assert_int_equal(v2->max_links, 2);
	assert_int_equal(v2->feature_mask, SMC_FEATURE_EMU_ISM);
	assert_int_equal(v2->gid[12], 192);
	assert_int_equal(v2->gid[15], 1);
	assert_int_equal(v2->n_eids, 1);
	assert_eid(v2->eids[0], "SMCV2-DEMO-UEID");
	assert_true(v2->has_d);
	assert_int_equal(v2->n_ism, 2);
	assert_true(v2->ism[0].gid == 0x1122334455667788);
	assert_int_equal(v2->ism[0].chid, SMC_CHID_LOOPBACK);
	assert_true(v2->ism[1].gid == 0x99aabbccddeeff00);
	assert_int_equal(v2->ism[1].chid, SMC_CHID_LOOPBACK);
}

static void decode__proposal_v1(void **state)
{
	const struct smc_clc_proposal *prop;
	struct smc_clc_msg msg;

	decode_ok("shape:proposal-v1-r-ipv6", &msg);
	prop = &msg.proposal;
	assert_int_equal(msg.version, 1);
	assert_int_equal(prop->offer_v1, SMC_OFFER_R);
	assert_int_equal(prop->offer_v2, SMC_OFFER_NONE);
	assert_false(prop->has_ism);
	assert_int_equal(prop->n_v6, 2);
	assert_int_equal(prop->v6[0].addr[0], 0x20);
	assert_int_equal(prop->v6[0].len, 64);
	assert_int_equal(prop->v6[1].addr[7], 2);
	assert_int_equal(prop->v6[1].len, 48);

	decode_ok("shape:proposal-v1-both", &msg);
	assert_int_equal(prop->offer_v1, SMC_OFFER_BOTH);
	assert_true(prop->has_ism);
}

static void decode__proposal_seid(void **state)
{
	struct smc_clc_msg msg;

	decode_ok("shape:proposal-v2-d-only", &msg);
	assert_int_equal(msg.proposal.offer_v1, SMC_OFFER_NONE);
	assert_int_equal(msg.proposal.offer_v2, SMC_OFFER_D);
	assert_true(msg.proposal.v2.seid_valid);
	assert_eid(msg.proposal.v2.eids[1], "UEID-B");
}

static void decode__accept_example(void **state)
{
	const struct smc_clc_accept *acc;
	struct smc_clc_msg msg;

	decode_ok("example:accept-r-v2", &msg);
	acc = &msg.accept;
	assert_int_equal(msg.type, SMC_CLC_ACCEPT);
	assert_int_equal(msg.version, 2);
	assert_int_equal(acc->mode, SMC_CLC_MODE_R);
	assert_true(acc->first_contact);
	assert_int_equal(acc->r.peer_id[0], 0x91);
	assert_int_equal(acc->r.gid[15], 2);
	assert_int_equal(acc->r.mac[3], 0xbb);
	assert_int_equal(acc->r.qpn, 18);
	assert_int_equal(acc->r.rkey, 0x1a2b);
	assert_int_equal(acc->r.index, 1);
	assert_int_equal(acc->r.token, 42);
	assert_int_equal(acc->r.size_code, 2);
	assert_int_equal(acc->r.mtu, 3);
	assert_true(acc->r.addr == 0x123400000);
	assert_int_equal(acc->r.psn, 0x7c01f3);
	assert_eid(acc->eid, "SMCV2-DEMO-UEID");
	assert_true(acc->fce.direct);
	assert_int_equal(acc->fce.os, SMC_OS_LINUX);
	assert_int_equal(acc->fce.release, 1);
	assert_string_equal(acc->fce.hostname, "server1");
	assert_int_equal(acc->fce.max_conns, 255);
	assert_int_equal(acc->fce.max_links, 2);
	assert_int_equal(acc->fce.feature_mask, 1);
	assert_int_equal(acc->n_gids, 0);
}

static void decode__confirm_gids(void **state)
{
	struct smc_clc_msg msg;

	decode_ok("two-ports@0.080549:confirm", &msg);
	assert_int_equal(msg.type, SMC_CLC_CONFIRM);
	assert_string_equal(msg.accept.fce.hostname, "vm2");
	assert_int_equal(msg.accept.n_gids, 2);
	assert_memory_equal(msg.accept.gids[0], msg.accept.r.gid, SMC_GID_LEN);
	assert_int_equal(msg.accept.gids[1][15], 12);
}

static void decode__accept_d(void **state)
{
	const struct smc_clc_accept *acc;
	struct smc_clc_msg msg;

	decode_ok("loopback-clc@0.041201:accept", &msg);
	acc = &msg.accept;
	assert_int_equal(acc->mode, SMC_CLC_MODE_D);
	assert_true(acc->d.gid == 0x634cc049664ee45b);
	assert_true(acc->d.token == 0xa5e7e0686cb4a135);
	assert_true(acc->d.gid_ext == 0x07f1c3cedc5c8fa1);
	assert_int_equal(acc->d.index, 0);
	assert_int_equal(acc->d.size_code, 2);
	assert_int_equal(acc->d.link_id[1], 1);
	assert_int_equal(acc->d.chid, SMC_CHID_LOOPBACK);
	assert_eid(acc->eid, "SMCV2-DEFAULT-UEID");
	assert_string_equal(acc->fce.hostname, "vm1");

	decode_ok("shape:accept-d-v1-first", &msg);
	assert_int_equal(msg.version, 1);
	assert_true(acc->d.token == 0x1112131415161718);
	assert_int_equal(acc->d.chid, 0);
}

static void decode__decline(void **state)
{
	struct smc_clc_msg msg;

	decode_ok("two-ports@18.394389:decline", &msg);
	assert_int_equal(msg.type, SMC_CLC_DECLINE);
	assert_int_equal(msg.version, 1);
	assert_int_equal(msg.decline.diagnosis, SMC_REASON_NOSMCDEV);
	assert_false(msg.decline.out_of_sync);
	assert_int_equal(msg.decline.peer_id[0], 0xc9);

	decode_ok("shape:decline-v2-out-of-sync", &msg);
	assert_int_equal(msg.decline.diagnosis, SMC_REASON_SYNCERR);
	assert_true(msg.decline.out_of_sync);
	assert_int_equal(msg.decline.os, SMC_OS_LINUX);

	decode_ok("shape:decline-v1-unknown-code", &msg);
	assert_int_equal(msg.decline.diagnosis, 0xdeadbeef);
}

static void decode__counts(void **state)
{
	/* IPv6 prefixes, prefix lengths */
	refused("shape:proposal-v1-r-ipv6", 40 + 7, 9);
	refused("shape:proposal-v1-r-ipv6", 40 + 7, 1);
	refused("shape:proposal-v1-r-ipv6", 40 + 7, 3);
	refused("shape:proposal-v1-r-ipv6", 40 + 7, 255);
	refused("shape:proposal-v1-r-ipv6", 40 + 4, 33);
	refused("shape:proposal-v1-r-ipv6", 40 + 8 + 16, 129);
	accepted("shape:proposal-v1-r-ipv6", 40 + 8 + 16, 128);
	/* UEIDs, GID/CHID entries */
	refused("example:proposal-v2", 0x58, 0);
	refused("example:proposal-v2", 0x58, 2);
	refused("example:proposal-v2", 0x58, 9);
	refused("example:proposal-v2", 0x58, 255);
	refused("example:proposal-v2", 0x59, 1);
	refused("example:proposal-v2", 0x59, 3);
	refused("example:proposal-v2", 0x59, 9);
	refused("example:proposal-v2", 0x59, 255);
	/* not looked at if SMC-D is not offered */
	accepted("two-ports@0.020822:proposal", 0x51, 255);
	/* GIDs of a Confirm */
	refused("two-ports@0.080549:confirm", 156, 3);
	refused("two-ports@0.080549:confirm", 156, 255);
	accepted("two-ports@0.080549:confirm", 156, 1);
}

/* One entry too many, in a message that is otherwise consistent. */
static void too_many(const char *name, size_t count_at, size_t at,
		     size_t entry_len, u8 max)
{
	const struct golden *v = vector(name);
	u8 have = v->bytes[count_at];
	u8 buf[GOLDEN_MAX];
	struct smc_clc_msg msg;
	size_t len;
	u8 n;

	for (n = have; n <= max + 1; n++) {
		len = v->len + entry_len * (n - have);
		memset(buf, 0, sizeof(buf));
		memcpy(buf, v->bytes, at);
		memcpy(buf + at + entry_len * n,
		       v->bytes + at + entry_len * have,
		       v->len - at - entry_len * have);
		put_len(buf, len);
		buf[count_at] = n;
		if (decode(buf, len, &msg) != (n > max ? -EPROTO : 0))
			fail_msg("%s: count %u", name, n);
	}
}

static void decode__too_many(void **state)
{
	too_many("shape:proposal-v1-r-ipv6", 47, 48, 17, SMC_CLC_MAX_V6);
	too_many("two-ports@0.020822:proposal", 80, 120, 32, SMC_CLC_MAX_EIDS);
	too_many("example:proposal-v2", 0x59, 0xd0, 10, SMC_CLC_MAX_ISM);
}

/* A Confirm may leave its list of GIDs out. */
static void decode__no_gid_list(void **state)
{
	const struct golden *v = vector("two-ports@0.080549:confirm");
	size_t len = 160;
	struct smc_clc_msg msg;
	u8 *p = exact(v->bytes, len);

	put_len(p, len);
	memcpy(p + len - 4, v->bytes, 4);
	assert_int_equal(decode(p, len, &msg), 0);
	assert_int_equal(msg.accept.n_gids, 0);
	assert_string_equal(msg.accept.fce.hostname, "vm2");
	free(p);
}

/* A version 2 part that begins inside the pointer area, and would fit. */
static void decode__v2_overlap(void **state)
{
	const struct golden *v = vector("two-ports@0.020822:proposal");
	struct smc_clc_msg msg;
	u8 *p = exact(v->bytes, v->len);

	p[51] = 27;
	p[79] = 1;
	assert_int_equal(decode(p, v->len, &msg), -EPROTO);
	free(p);
}

static void decode__offsets(void **state)
{
	refused("two-ports@0.020822:proposal", 39, 41);
	accepted("two-ports@0.020822:proposal", 39, 40);
	refused("example:proposal-v2", 39, 41);
	refused("example:proposal-v2", 39, 39);
	refused("example:proposal-v2", 38, 1);
	refused("example:proposal-v2", 51, 0);
	refused("example:proposal-v2", 51, 173);
	refused("example:proposal-v2", 50, 0xff);
	/* the pointer area is not the version 2 part */
	refused("example:proposal-v2", 51, 27);
	refused("example:proposal-v2", 0x5e, 0x02);
	refused("example:proposal-v2", 0x5e, 0xff);
	refused("example:proposal-v2", 0x5f, 65);
	refused("shape:proposal-v1-r", 39, 41);
	refused("shape:proposal-v1-r", 39, 1);
	refused("shape:proposal-v1-both", 39, 0);
}

/* Without an SMC-D part nothing is offered there, the rest stands. */
static void decode__no_d_part(void **state)
{
	const struct golden *v = vector("example:proposal-v2");
	u8 *p = exact(v->bytes, v->len);
	struct smc_clc_msg msg;

	p[0x5f] = 0;
	assert_int_equal(decode(p, v->len, &msg), 0);
	assert_false(msg.proposal.v2.has_d);
	assert_int_equal(msg.proposal.v2.n_ism, 0);
	assert_int_equal(msg.proposal.v2.n_eids, 1);
	assert_true(oracle(p, v->len));
	free(p);
}

/* An IP area closer than 40 is for version 1 peers that know nothing more. */
static void decode__ip_area_between(void **state)
{
	const struct golden *v = vector("shape:proposal-v1-both");
	size_t len = v->len - 20;
	struct smc_clc_msg msg;
	u8 *p;

	p = exact(v->bytes, len);
	memcpy(p + 60, v->bytes + 80, len - 60);
	put_len(p, len);
	p[39] = 20;
	assert_int_equal(decode(p, len, &msg), 0);
	assert_false(msg.proposal.has_ism);
	assert_int_equal(msg.proposal.v4_net, 0xc0a80a00);
	assert_true(oracle(p, len));
	free(p);
}

static void decode__header(void **state)
{
	const char *acc = "example:accept-r-v2";
	const struct golden *v = vector(acc);

	refused(acc, 0, 0xe3);
	refused(acc, 3, 0xd8);
	accepted(acc, 3, 0xc4);			/* SMCD at the head */
	accepted(acc, v->len - 1, 0xc4);	/* SMCD at the tail */
	refused(acc, v->len - 1, 0xc3);
	refused(acc, 4, 0);
	refused(acc, 4, 5);
	refused(acc, 6, 0x9f);
	refused(acc, 6, 0xa1);
	refused(acc, 7, 0x08);			/* version 0 */
	refused(acc, 7, 0x18);			/* version 1 has 68 bytes */
	refused(acc, 7, 0x2a);			/* neither R nor D */
	refused(acc, 7, 0x2b);
	accepted(acc, 7, 0x2c);			/* reserved bit */
	accepted(acc, 7, 0xf8);
	/* the trailer of a Decline is not checked */
	accepted("shape:decline-v2", 43, 0);
	refused("shape:decline-v2", 7, 0x10);
	refused("shape:decline-v1-unknown-code", 7, 0x20);
}

static void decode__later_version_is_2(void **state)
{
	const struct golden *v = vector("shape:decline-v2");
	u8 *p = exact(v->bytes, v->len);
	struct smc_clc_msg msg;

	p[7] = 0xf0;
	assert_int_equal(decode(p, v->len, &msg), 0);
	assert_int_equal(msg.version, 2);
	free(p);
}

static void decode__accept_r_values(void **state)
{
	const char *acc = "example:accept-r-v2";

	refused(acc, 40, 0);		/* queue pair 0 */
	refused(acc, 45, 0);		/* index counts from 1 */
	refused(acc, 49, 0);		/* token 0 */
	refused(acc, 50, 0x20);		/* MTU code 0 */
	accepted(acc, 50, 0xff);	/* a later MTU code */
	accepted(acc, 45, 255);
}

/* The end of the RMBE must not wrap around. */
static void decode__accept_r_address(void **state)
{
	const struct golden *v = vector("example:accept-r-v2");
	u8 *p = exact(v->bytes, v->len);
	struct smc_clc_msg msg;

	memset(p + 52, 0xff, 8);
	assert_int_equal(decode(p, v->len, &msg), -EPROTO);
	p[57] = 0xfe;			/* 64 KiB and one byte before the end */
	assert_int_equal(decode(p, v->len, &msg), 0);
	p[45] = 2;
	assert_int_equal(decode(p, v->len, &msg), -EPROTO);
	p[45] = 255;
	p[50] = 0xf5;			/* 255 elements of 512 MiB */
	assert_int_equal(decode(p, v->len, &msg), -EPROTO);
	p[53] = 0;
	assert_int_equal(decode(p, v->len, &msg), 0);
	free(p);
}

static void decode__fce_lengths(void **state)
{
	struct smc_clc_msg msg;
	const struct golden *v;
	u8 *p;

	/* SMC-D: 36 bytes for release 0, 52 from release 1 on */
	decode_ok("shape:accept-d-v2-first-release-0", &msg);
	assert_int_equal(msg.accept.fce.release, 0);
	assert_string_equal(msg.accept.fce.hostname, "vm1");
	refused("shape:accept-d-v2-first-release-0", 74 + 1, 0x21);
	accepted("loopback-clc@0.041201:accept", 74 + 1, 0x20);
	/* SMC-R: always 52 */
	v = vector("shape:accept-r-v2-first-release-0");
	p = exact(v->bytes, v->len - 16);
	put_len(p, v->len - 16);
	memcpy(p + v->len - 20, v->bytes, 4);
	assert_int_equal(decode(p, v->len - 16, &msg), -EPROTO);
	free(p);
	/* first contact announced, no extension */
	refused("two-ports@0.669972:accept", 7, 0x28);
	refused("loopback-clc@0.582056:accept", 7, 0x29);
}

static void decode__longer_is_skipped(void **state)
{
	const struct golden *v = vector("example:accept-r-v2");
	struct smc_clc_msg msg, longer;
	u8 buf[600];
	size_t len;

	decode_ok(v->name, &msg);
	for (len = v->len; len <= sizeof(buf); len += 55) {
		rnd_fill(buf, sizeof(buf));
		memcpy(buf, v->bytes, v->len - 4);
		put_len(buf, len);
		memcpy(buf + len - 4, v->bytes, 4);
		assert_int_equal(decode(buf, len, &longer), 0);
		assert_memory_equal(&msg, &longer, sizeof(msg));
	}
}

/* Bytes after the message belong to the application. */
static void decode__bytes_after(void **state)
{
	const struct golden *v = vector("example:accept-r-v2");
	struct smc_clc_msg msg, longer;
	u8 buf[200];

	decode_ok(v->name, &msg);
	memset(buf, 0x55, sizeof(buf));
	memcpy(buf, v->bytes, v->len);
	assert_int_equal(decode(buf, sizeof(buf), &longer), 0);
	assert_memory_equal(&msg, &longer, sizeof(msg));
}

/* Longer than the buffer: no trailer to check, the rest was drained. */
static void decode__drained(void **state)
{
	const struct golden *v = vector("two-ports@0.080549:confirm");
	struct smc_clc_msg msg;
	u8 buf[SMC_CLC_MAX_LEN];

	memset(buf, 0x55, sizeof(buf));
	memcpy(buf, v->bytes, v->len - 4);
	put_len(buf, 156 + 4 + 255 * 16 + 4);
	buf[156] = 255;
	assert_int_equal(decode(buf, sizeof(buf), &msg), 0);
	assert_int_equal(msg.accept.n_gids, SMC_CLC_MAX_GIDS);
	assert_int_equal(msg.accept.gids[7][0], 0x55);
	assert_true(oracle(buf, sizeof(buf)));
	/* not the whole buffer: the caller stopped too early */
	assert_int_equal(decode(buf, sizeof(buf) - 1, &msg), -EPROTO);

	/* of fixed length: cannot be that long */
	v = vector("example:proposal-v2");
	memcpy(buf, v->bytes, v->len);
	put_len(buf, 0xffff);
	assert_int_equal(decode(buf, sizeof(buf), &msg), -EPROTO);
	buf[50] = 0x40;			/* an offset into what was drained */
	assert_int_equal(decode(buf, sizeof(buf), &msg), -EPROTO);
	v = vector("shape:decline-v2");
	memcpy(buf, v->bytes, v->len);
	put_len(buf, 0xffff);
	assert_int_equal(decode(buf, sizeof(buf), &msg), -EPROTO);
}

static void decode__hostname(void **state)
{
	const struct golden *v = vector("example:accept-r-v2");
	u8 *p = exact(v->bytes, v->len);
	struct smc_clc_msg msg;
	char *name = msg.accept.fce.hostname;

	memset(p + 108, 'x', SMC_HOSTNAME_LEN);
	assert_int_equal(decode(p, v->len, &msg), 0);
	assert_int_equal(strlen(name), SMC_HOSTNAME_LEN);
	assert_true(oracle(p, v->len));
	p[110] = 0x80;
	assert_int_equal(decode(p, v->len, &msg), 0);
	assert_string_equal(name, "");
	p[110] = '\n';
	assert_int_equal(decode(p, v->len, &msg), 0);
	assert_string_equal(name, "");
	memset(p + 110, 0, SMC_HOSTNAME_LEN - 2);
	assert_int_equal(decode(p, v->len, &msg), 0);
	assert_string_equal(name, "xx");
	memset(p + 108, 0, SMC_HOSTNAME_LEN);
	assert_int_equal(decode(p, v->len, &msg), 0);
	assert_string_equal(name, "");
	memset(p + 108, ' ', SMC_HOSTNAME_LEN);
	assert_int_equal(decode(p, v->len, &msg), 0);
	assert_string_equal(name, "");
	free(p);
}

static void decode__other_bytes(void **state)
{
	struct smc_clc_msg msg;

	assert_int_equal(smc_clc_decode((const u8 *)"GET / HTTP/1.1\r\n", 16,
					&msg), -EPROTO);
}

static void peek__every_prefix(void **state)
{
	size_t i, len;
	u8 *p;

	for (i = 0; i < n_vectors; i++) {
		for (len = 0; len <= vectors[i].len; len++) {
			p = exact(vectors[i].bytes, len);
			assert_int_equal(smc_clc_peek(p, len),
					 len < 8 ? -EAGAIN :
						   (ssize_t)vectors[i].len);
			free(p);
		}
	}
}

static void peek__not_clc(void **state)
{
	static const u8 almost[] = { 0xe2, 0xd4, 0xc3, 0xd8, 1, 0, 100, 0x20 };
	size_t len;

	assert_int_equal(smc_clc_peek((const u8 *)"G", 1), -ENOMSG);
	for (len = 1; len <= sizeof(almost); len++)
		assert_int_equal(smc_clc_peek(almost, len),
				 len < 4 ? -EAGAIN : -ENOMSG);
}

static void peek__impossible_header(void **state)
{
	u8 p[] = { 0xe2, 0xd4, 0xc3, 0xc4, 4, 0, 28, 0x10 };

	assert_int_equal(smc_clc_peek(p, 8), 28);
	p[6] = 27;
	assert_int_equal(smc_clc_peek(p, 8), -EPROTO);
	assert_int_equal(smc_clc_peek(p, 7), -EPROTO);
	assert_int_equal(smc_clc_peek(p, 6), -EAGAIN);
	p[5] = 0xff;
	p[6] = 0xff;
	assert_int_equal(smc_clc_peek(p, 8), 65535);
	p[7] = 0x0f;
	assert_int_equal(smc_clc_peek(p, 8), -EPROTO);
	p[4] = 0;
	assert_int_equal(smc_clc_peek(p, 5), -EPROTO);
	p[4] = 5;
	assert_int_equal(smc_clc_peek(p, 5), -EPROTO);
}

static void size_code__bounds(void **state)
{
	u8 code;

	assert_int_equal(smc_size_code(0), 0);
	for (code = 0; code <= SMC_SIZE_CODE_MAX; code++) {
		assert_int_equal(smc_size_code(smc_size_from_code(code)), code);
		assert_int_equal(smc_size_code(smc_size_from_code(code) - 1),
				 code);
		if (code < SMC_SIZE_CODE_MAX)
			assert_int_equal(smc_size_code(smc_size_from_code(code) + 1),
					 code + 1);
	}
	assert_int_equal(smc_size_code(0xffffffff), SMC_SIZE_CODE_MAX);
	assert_int_equal(smc_size_from_code(0), 16384);
	assert_int_equal(smc_size_from_code(15), 512 << 20);
}

static void offer_make__matches_has(void **state)
{
	int r, d;

	for (r = 0; r < 2; r++) {
		for (d = 0; d < 2; d++) {
			u8 offer = smc_offer_make(r, d);

			assert_int_equal(smc_offer_has_r(offer), r);
			assert_int_equal(smc_offer_has_d(offer), d);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decode__golden_is_canonical),
		cmocka_unit_test(decode__proposal_example),
		cmocka_unit_test(decode__proposal_v1),
		cmocka_unit_test(decode__proposal_seid),
		cmocka_unit_test(decode__accept_example),
		cmocka_unit_test(decode__confirm_gids),
		cmocka_unit_test(decode__accept_d),
		cmocka_unit_test(decode__decline),
		cmocka_unit_test(decode__counts),
		cmocka_unit_test(decode__too_many),
		cmocka_unit_test(decode__no_gid_list),
		cmocka_unit_test(decode__v2_overlap),
		cmocka_unit_test(decode__offsets),
		cmocka_unit_test(decode__no_d_part),
		cmocka_unit_test(decode__ip_area_between),
		cmocka_unit_test(decode__header),
		cmocka_unit_test(decode__later_version_is_2),
		cmocka_unit_test(decode__accept_r_values),
		cmocka_unit_test(decode__accept_r_address),
		cmocka_unit_test(decode__fce_lengths),
		cmocka_unit_test(decode__longer_is_skipped),
		cmocka_unit_test(decode__bytes_after),
		cmocka_unit_test(decode__drained),
		cmocka_unit_test(decode__hostname),
		cmocka_unit_test(decode__other_bytes),
		cmocka_unit_test(peek__every_prefix),
		cmocka_unit_test(peek__not_clc),
		cmocka_unit_test(peek__impossible_header),
		cmocka_unit_test(size_code__bounds),
		cmocka_unit_test(offer_make__matches_has),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
