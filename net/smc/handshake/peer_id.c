// SPDX-License-Identifier: GPL-2.0
/*
 * The host's identity in CLC messages: host name, peer ID.
 *
 * The peer ID names one instance of an operating system: two random bytes
 * chosen when the module is loaded, then the MAC address of the first active
 * RDMA port that a handshake meets.  Until then it is all zero.  Once known it
 * stays, also if the port goes away (RFC 7609 section 4.1, appendix A.2).
 *
 * Context: any; one spinlock, a leaf.
 */
#include <linux/random.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/etherdevice.h>
#include <linux/utsname.h>
#include <net/net_namespace.h>
#include "peer_id.h"

static struct {
	spinlock_t lock;	/* protects the rest */
	bool known;
	u8 id[SMC_PEER_ID_LEN];
} host = {
	.lock = __SPIN_LOCK_UNLOCKED(host.lock),
};

/**
 * smc_peer_id_init() - choose the random part of the peer ID
 *
 * Context: process, once, before any handshake.
 */
void smc_peer_id_init(void)
{
	get_random_bytes(host.id, 2);
}

/**
 * smc_peer_id_hostname() - the name that peers are told
 * @net: network namespace of the connection
 * @name: filled, NUL terminated, cut to SMC_HOSTNAME_LEN characters
 *
 * The host's name is told in the initial namespace only: a container's peers
 * are not to learn where it runs, and a network namespace has no name of its own.
 */
void smc_peer_id_hostname(const struct net *net,
			  char name[SMC_HOSTNAME_LEN + 1])
{
	const char *host = "";

	if (net_eq(net, &init_net))
		host = init_utsname()->nodename;
	strscpy(name, host, SMC_HOSTNAME_LEN + 1);
}

/**
 * smc_peer_id_learn_mac() - an RDMA port is in use: complete the peer ID
 * @mac: its MAC address; only the first one that is not zero counts
 */
void smc_peer_id_learn_mac(const u8 mac[SMC_MAC_LEN])
{
	if (is_zero_ether_addr(mac))
		return;
	spin_lock_bh(&host.lock);
	if (!host.known) {
		memcpy(host.id + 2, mac, SMC_MAC_LEN);
		host.known = true;
	}
	spin_unlock_bh(&host.lock);
}

/**
 * smc_peer_id_get() - this host's peer ID
 * @id: filled; zero as long as no RDMA port has been in use
 */
void smc_peer_id_get(u8 id[SMC_PEER_ID_LEN])
{
	spin_lock_bh(&host.lock);
	if (host.known)
		memcpy(id, host.id, SMC_PEER_ID_LEN);
	else
		memset(id, 0, SMC_PEER_ID_LEN);
	spin_unlock_bh(&host.lock);
}
