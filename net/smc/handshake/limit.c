// SPDX-License-Identifier: GPL-2.0
/*
 * The limits of running handshakes, of clients and of servers: as many as the
 * account of the peer's address allows (account.c), and of servers none in the
 * last quarter of a listener's queue.  Connections beyond them do without SMC: a
 * server answers with Decline, a client does not offer it.
 *
 * Context: per function.
 * Test: selftests/smc/hslimit.py
 */
#include <linux/in6.h>
#include "account.h"
#include "addr.h"
#include "priv.h"

static enum smc_acct_kind kind_of(const struct smc_hs *hs)
{
	return hs->setup.role == SMC_CLNT ? SMC_ACCT_CLIENTS : SMC_ACCT_SERVERS;
}

/**
 * smc_hs_room() - could a client's handshake begin now?
 * @sn: namespace state
 * @sa: where it connects to, AF_INET or AF_INET6
 *
 * Context: process.
 */
bool smc_hs_room(struct smc_net *sn, const struct sockaddr *sa)
{
	struct smc_account *acct;
	struct in6_addr addr;
	bool ok;

	/*
	 * A single address may have so many: skip the look-up.  The host's limit
	 * is seen when the handshake begins.
	 */
	if (READ_ONCE(sn->account->used[SMC_ACCT_CLIENTS]) <
	    READ_ONCE(sn->limit[SMC_ACCT_HANDSHAKES]) / 8)
		return true;
	smc_addr_get(&addr, sa);
	acct = smc_account_peer(sn, &addr, GFP_KERNEL);
	ok = acct && smc_account_has_room(acct, SMC_ACCT_CLIENTS);
	smc_account_put(acct);
	return ok;
}

/**
 * smc_hs_crowded() - is the listener's queue more than half full?
 * @hs: handshake; it was when this began
 *
 * Context: any.
 */
bool smc_hs_crowded(const struct smc_hs *hs)
{
	return hs->setup.queue_len > hs->setup.queue_max / 2 + 1;
}

/*
 * Is there no room in the listener's queue for a child that accept() cannot
 * return at once?  With half of it full there is some for clients that confirm
 * soon.  One with a long round trip, for which the deadline is longer, cannot.
 */
static bool fills_queue(const struct smc_hs *hs)
{
	u32 max = hs->setup.queue_max;

	return hs->setup.queue_len > max - max / 4 + 1 ||
	       (smc_hs_crowded(hs) &&
		hs->span_ms > READ_ONCE(hs->setup.sn->handshake_timeout_ms));
}

/* The peer's account with a reference, charged; NULL: there is no room. */
static struct smc_account *charge_peer(const struct smc_hs *hs)
{
	struct smc_account *acct;
	struct in6_addr addr;

	smc_addr_peer(&addr, hs->setup.sk);
	acct = smc_account_peer(hs->setup.sn, &addr, GFP_ATOMIC | __GFP_NOWARN);
	if (acct && smc_account_try_charge(acct, kind_of(hs), 1, NULL))
		return acct;
	smc_account_put(acct);
	return NULL;
}

/**
 * smc_hs_count() - charge a handshake to its peer
 * @hs: handshake that begins, or goes on without a place; its clock runs
 *
 * One too many is not charged: it is to be declined (SMC_HS_LIMITED).
 *
 * Context: process or BH.
 */
void smc_hs_count(struct smc_hs *hs)
{
	if (!fills_queue(hs))
		hs->account = charge_peer(hs);
	if (!hs->account) {
		set_bit(SMC_HS_LIMITED, &hs->bits);
		smc_stats_inc(hs->setup.sn, SMC_STAT_HS_LIMIT);
	}
}

/**
 * smc_hs_uncount() - a handshake needs no place any more
 * @hs: handshake that ends, that connects again without SMC, or that a program
 *	keeps from going on; charged or not
 *
 * Context: process or BH.
 */
void smc_hs_uncount(struct smc_hs *hs)
{
	smc_account_uncharge(hs->account, kind_of(hs), 1);
	smc_account_put(hs->account);
	hs->account = NULL;
}
