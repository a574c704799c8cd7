// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of net/smc/handshake/select.c: which RDMA ports a peer may name.
 */
#include <arpa/inet.h>
#include "unit_hs.h"

/* fe80::1 */
static const u8 gid_own_v1[SMC_GID_LEN] = { 0xfe, 0x80, [15] = 1 };
static const u8 mac_own[SMC_MAC_LEN] = { 0x52, 0x54, 0, 9, 9, 1 };
static const u8 mac_peer[SMC_MAC_LEN] = { 0x52, 0x54, 0, 9, 9, 2 };
static const u8 no_mac[SMC_MAC_LEN];

static struct smc_clc_msg msg;

static int two_hosts(void **state)
{
	two_ports();
	memcpy(local.gid_v1, gid_own_v1, SMC_GID_LEN);
	memcpy(local.mac, mac_own, SMC_MAC_LEN);
	prop.offer_v2 = SMC_OFFER_R;
	memcpy(prop.mac, mac_peer, SMC_MAC_LEN);
	return 0;
}

static void gets(enum smc_reason want)
{
	assert_int_equal(smc_select(&local, &prop, 0, &choice), want);
}

static void accept_r(u8 version)
{
	memset(&msg, 0, sizeof(msg));
	msg.type = SMC_CLC_ACCEPT;
	msg.version = version;
	msg.accept.mode = SMC_CLC_MODE_R;
	msg.accept.first_contact = true;
	memcpy(msg.accept.r.gid, version > 1 ? gid_peer : gid_peer_v1,
	       SMC_GID_LEN);
	memcpy(msg.accept.r.mac, mac_peer, SMC_MAC_LEN);
	if (version > 1)
		memcpy(msg.accept.eid, eid, SMC_EID_LEN);
}

static void accepts(enum smc_reason want)
{
	assert_int_equal(smc_select_accept(&local, &prop, &msg, &choice), want);
}

static void confirms(enum smc_reason want)
{
	assert_int_equal(smc_select_confirm(&local, &prop, &choice, true, &msg),
			 want);
}

/* What server and client make of the peer's port. */
static void port_is(u8 version, const u8 *gid, const u8 *mac, bool good)
{
	enum smc_reason want = good ? SMC_REASON_OK : SMC_REASON_BADPORT;

	prop.offer_v1 = version > 1 ? SMC_OFFER_NONE : SMC_OFFER_R;
	prop.offer_v2 = version > 1 ? SMC_OFFER_R : SMC_OFFER_NONE;
	memcpy(version > 1 ? prop.v2.gid : prop.gid, gid, SMC_GID_LEN);
	memcpy(prop.mac, mac, SMC_MAC_LEN);
	gets(want);
	accept_r(version);
	memcpy(msg.accept.r.gid, gid, SMC_GID_LEN);
	memcpy(msg.accept.r.mac, mac, SMC_MAC_LEN);
	accepts(want);
	/* a group that there is has such a port or not */
	msg.accept.first_contact = false;
	accepts(SMC_REASON_OK);
}

static void gid_is(u8 version, const char *gid, bool good)
{
	u8 bytes[SMC_GID_LEN];

	assert_int_equal(inet_pton(AF_INET6, gid, bytes), 1);
	port_is(version, bytes, mac_peer, good);
}

static void port__gid(void **state)
{
	static const char * const bad[] = {
		"::ffff:0.0.0.0", "::ffff:0.0.0.1", "::ffff:127.0.0.1",
		"::ffff:127.255.255.255", "::ffff:224.0.0.1",
		"::ffff:239.255.255.255", "::ffff:255.255.255.255",
		"::", "::1", "ff02::1",
	};
	static const char * const good[] = {
		"::ffff:1.0.0.0", "::ffff:126.255.255.255", "::ffff:128.0.0.1",
		"::ffff:223.255.255.255", "::ffff:240.0.0.1",
		"::ffff:255.255.255.254",
	};
	unsigned int i, version;

	for (version = 1; version <= 2; version++) {
		for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
			gid_is(version, bad[i], false);
		for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
			gid_is(version, good[i], true);
	}
	gid_is(1, "fe80::2", true);
	gid_is(1, "fd00::2", true);
	gid_is(1, "::2", false);
	/* version 2: of the family of our own */
	gid_is(2, "fe80::2", false);
	gid_is(2, "fd00::2", false);
}

/* Our own is an IPv6 address. */
static void port__gid_v6(void **state)
{
	static const char * const bad[] = {
		"::", "::1", "::2", "::10.9.0.2", "::ffff:10.9.0.2",
		"::ffff:0:2", "::ff:ffff:ffff", "fe00::2", "fe80::2",
		"fec0::2", "feff::2", "ff02::1", "ff0e::2", "fd09::1",
	};
	static const char * const good[] = {
		"fd09::2", "fdff::1", "2001:db8::2", "0:0:0:0:1::",
		"64:ff9b::10.9.0.2", "::1:0:0:1",
	};
	unsigned int i;

	assert_int_equal(inet_pton(AF_INET6, "fd09::1", local.gid), 1);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		gid_is(2, bad[i], false);
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		gid_is(2, good[i], true);
	/* no matter for version 1 */
	gid_is(1, "::ffff:10.9.0.2", true);
	local.same_host = true;
	gid_is(2, "fd09::1", true);
	gid_is(2, "::1", false);
}

static void port__ours(void **state)
{
	port_is(2, gid_own, mac_peer, false);
	port_is(1, gid_own_v1, mac_peer, false);
	/* the other version's port is not looked at */
	port_is(1, gid_own, mac_peer, true);
	local.same_host = true;
	port_is(2, gid_own, mac_own, true);
	port_is(1, gid_own_v1, mac_own, true);
	gid_is(2, "::ffff:127.0.0.1", true);
	gid_is(2, "::ffff:224.0.0.1", false);
}

static void port__mac(void **state)
{
	static const u8 broadcast[SMC_MAC_LEN] = { [0 ... 5] = 0xff };
	static const u8 multicast[SMC_MAC_LEN] = { 0x01, 0, 0x5e, 0, 0, 1 };
	unsigned int version;

	for (version = 1; version <= 2; version++) {
		const u8 *gid = version > 1 ? gid_peer : gid_peer_v1;

		two_hosts(NULL);
		port_is(version, gid, broadcast, false);
		port_is(version, gid, multicast, false);
		/* that of a peer behind a gateway, or on the same IPVLAN port */
		port_is(version, gid, mac_own, true);
		port_is(version, gid, no_mac, version > 1);
		/* a device without such addresses */
		memset(local.mac, 0, SMC_MAC_LEN);
		port_is(version, gid, no_mac, true);
	}
}

/* A Proposal of version 2 may be without: then the Confirm's is used. */
static void port__mac_of_confirm(void **state)
{
	memset(prop.mac, 0, SMC_MAC_LEN);
	gets(SMC_REASON_OK);
	accept_r(2);
	accepts(SMC_REASON_OK);
	confirms(SMC_REASON_OK);
	memset(msg.accept.r.mac, 0xff, SMC_MAC_LEN);
	confirms(SMC_REASON_BADPORT);
	memcpy(prop.mac, mac_peer, SMC_MAC_LEN);
	confirms(SMC_REASON_OK);
	/* version 1 has no other */
	prop.offer_v2 = SMC_OFFER_NONE;
	memset(prop.mac, 0, SMC_MAC_LEN);
	gets(SMC_REASON_BADPORT);
}

#define test(f)	cmocka_unit_test_setup(f, two_hosts)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(port__gid),
		test(port__gid_v6),
		test(port__ours),
		test(port__mac),
		test(port__mac_of_confirm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
