// SPDX-License-Identifier: GPL-2.0
/*
 * The host's identity in CLC messages: host name, peer ID.
 *
 * The peer ID names one instance of an operating system (RFC 7609 section 4.1,
 * appendix A.2).  Each network namespace counts as one: namespaces may share a
 * port, and a peer that looks for a group by peer ID and GID must not find a
 * group of another namespace.
 *
 * It is two random bytes and, in the initial namespace, the MAC address of the
 * first active RDMA port that a handshake meets.  Until then it is all zero.
 * Once known it stays, also if the port goes away.  Other namespaces have a
 * random address from the start.
 *
 * Context: any; one spinlock, a leaf.
 * Tests: selftests/vm/tests/rdma_pods.sh, hostile_smcd.sh
 */
#include <linux/random.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/etherdevice.h>
#include <linux/utsname.h>
#include "net.h"
#include "peer_id.h"

static DEFINE_SPINLOCK(lock);	/* smc_net.peer_id of all namespaces */

static bool is_known(const struct smc_net *sn)
{
	return !is_zero_ether_addr(sn->peer_id + 2);
}

/**
 * smc_peer_id_net_init() - choose the random part of the peer ID
 * @sn: namespace state
 *
 * Context: process, before any handshake.
 */
void smc_peer_id_net_init(struct smc_net *sn)
{
	get_random_bytes(sn->peer_id, 2);
	if (!net_eq(sn->net, &init_net))
		eth_random_addr(sn->peer_id + 2);
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
	/* modules have no lock against sethostname(); the last byte stays 0 */
	data_race(strscpy(name, host, SMC_HOSTNAME_LEN + 1));
}

/**
 * smc_peer_id_learn_mac() - an RDMA port is in use: complete the peer ID
 * @sn: namespace state
 * @mac: its MAC address; only the first one that is not zero counts
 */
void smc_peer_id_learn_mac(struct smc_net *sn, const u8 mac[SMC_MAC_LEN])
{
	spin_lock_bh(&lock);
	if (!is_known(sn))
		memcpy(sn->peer_id + 2, mac, SMC_MAC_LEN);
	spin_unlock_bh(&lock);
}

/**
 * smc_peer_id_get() - the peer ID of a namespace
 * @sn: its state
 * @id: filled; zero as long as it is not known
 */
void smc_peer_id_get(const struct smc_net *sn, u8 id[SMC_PEER_ID_LEN])
{
	spin_lock_bh(&lock);
	if (is_known(sn))
		memcpy(id, sn->peer_id, SMC_PEER_ID_LEN);
	else
		memset(id, 0, SMC_PEER_ID_LEN);
	spin_unlock_bh(&lock);
}
