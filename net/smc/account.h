/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Accounts: what a peer, a user, a namespace and the host hold, and may hold.
 */
#ifndef SMC_ACCOUNT_H
#define SMC_ACCOUNT_H

#include <linux/in6.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include "stats.h"

struct smc_net;

/*
 * Memory regions are bounded by the rings, queue pairs by the groups.  Groups
 * without links are not charged.
 */
enum smc_acct_kind {
	SMC_ACCT_RINGS,		/* KiB of rings, idle and retired ones included */
	SMC_ACCT_GROUPS,
	SMC_ACCT_ENDING,	/* groups that gave way to others; no setting */
	SMC_ACCT_ORPHANS,	/* closed sockets that wait for their peers */
	SMC_ACCT_CLIENTS,	/* handshakes */
	SMC_ACCT_SERVERS,
	SMC_ACCT_KINDS
};

/* The limit of a namespace, or of the host, for each of the two */
#define SMC_ACCT_HANDSHAKES	SMC_ACCT_CLIENTS

/* The largest limit. */
#define SMC_ACCT_MAX	(INT_MAX / 2)

/* The longest chain of accounts: address, two networks, namespace, host. */
#define SMC_ACCT_DEPTH	5

/**
 * struct smc_account - what one holder holds
 * @node: in the table of peers and users
 * @refs: see account.c
 * @up: what is held here is held there, too; a reference, or NULL
 * @space: of a peer: the account of its namespace, which is above; of a user at a
 *	peer: the user's
 * @id: address of a host or a network, or a user's number
 * @bits: length of the network's prefix; IPv4 addresses are mapped
 * @limit: by kind; NULL: half of the limit above
 * @stat: counter of what was refused
 * @used: by kind; under accounts.lock
 * @idle: groups that no connection uses, by our role (core/lgr_idle.c)
 * @idle_num: how many, of both roles
 */
struct smc_account {
	struct hlist_node node;
	refcount_t refs;
	struct smc_account *up;
	const struct smc_account *space;
	struct in6_addr id;
	u8 bits;
	const int *limit;
	enum smc_stat stat;
	int used[SMC_ACCT_KINDS];
	struct list_head idle[2];
	int idle_num;
};

extern int smc_account_host_limit[SMC_ACCT_KINDS];
extern int smc_account_user_limit[SMC_ACCT_KINDS];

bool smc_account_try_charge(struct smc_account *acct, enum smc_acct_kind kind,
			    int n, struct smc_account **fail);
void smc_account_uncharge(struct smc_account *acct, enum smc_acct_kind kind,
			  int n);
bool smc_account_has_room(struct smc_account *acct, enum smc_acct_kind kind);
int smc_account_room(struct smc_account *acct, enum smc_acct_kind kind);
bool smc_account_is_below(const struct smc_account *acct,
			  const struct smc_account *above);

struct smc_account *smc_account_peer(struct smc_net *sn,
				     const struct in6_addr *addr, gfp_t gfp);
struct smc_account *smc_account_user(kuid_t uid);
struct smc_account *smc_account_user_at(struct smc_account *user,
					const struct smc_account *peer);
struct smc_account *smc_account_get(struct smc_account *acct);
void smc_account_put(struct smc_account *acct);

int smc_account_init(void);
void smc_account_exit(void);
int smc_account_net_init(struct smc_net *sn);
void smc_account_net_exit(struct smc_net *sn);

#endif /* SMC_ACCOUNT_H */
