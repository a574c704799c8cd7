// SPDX-License-Identifier: GPL-2.0
/*
 * The host's user-defined EIDs.
 *
 * At most SMC_MAX_UEIDS of them, for all network namespaces.  The first is
 * there from the start, so that two hosts need no configuration to use SMC
 * version 2.  Each is 32 characters, filled up with blanks; the first is a
 * capital letter or a digit, others may also be a dot or a hyphen.
 *
 * Context: any; one spinlock, a leaf.
 * Test: selftests/smc/genl.py
 */
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/errno.h>
#include <linux/ctype.h>
#include "ueid.h"

static struct {
	spinlock_t lock;	/* protects the rest */
	int num;
	u8 eids[SMC_MAX_UEIDS][SMC_EID_LEN];
} ueids = {
	.lock = __SPIN_LOCK_UNLOCKED(ueids.lock),
};

static const char default_eid[] = "SMCV2-DEFAULT-UEID";

/**
 * smc_ueid_init() - put the default UEID into the table
 *
 * Context: process, once, before any handshake.
 * Return: 0.
 */
int smc_ueid_init(void)
{
	memset(ueids.eids[0], ' ', SMC_EID_LEN);
	memcpy(ueids.eids[0], default_eid, strlen(default_eid));
	ueids.num = 1;
	return 0;
}

static bool valid(const u8 *eid)
{
	int len = SMC_EID_LEN;
	int i;

	while (len && eid[len - 1] == ' ')
		len--;
	if (!len)
		return false;
	for (i = 0; i < len; i++) {
		if (isascii(eid[i]) && (isupper(eid[i]) || isdigit(eid[i])))
			continue;
		if (!i || (eid[i] != '.' && eid[i] != '-'))
			return false;
	}
	return true;
}

static int ueid_find(const u8 *eid)
{
	int i;

	lockdep_assert_held(&ueids.lock);
	/* the second bound: FORTIFY_SOURCE may warn about an unrolled loop */
	for (i = 0; i < ueids.num && i < SMC_MAX_UEIDS; i++)
		if (!memcmp(ueids.eids[i], eid, SMC_EID_LEN))
			return i;
	return -ENOENT;
}

/**
 * smc_ueid_list() - copy the UEIDs in the order they were added
 * @eids: room for @max of them
 * @max: how many
 *
 * Return: how many were copied.
 */
int smc_ueid_list(u8 eids[][SMC_EID_LEN], int max)
{
	int num;

	spin_lock_bh(&ueids.lock);
	num = min(ueids.num, max);
	memcpy(eids, ueids.eids, num * SMC_EID_LEN);
	spin_unlock_bh(&ueids.lock);
	return num;
}

/**
 * smc_ueid_add() - add a UEID
 * @eid: 32 bytes, filled up with blanks
 *
 * Return: 0, -EINVAL (syntax), -EEXIST or -ENOSPC.
 */
int smc_ueid_add(const u8 *eid)
{
	int rc = 0;

	if (!valid(eid))
		return -EINVAL;
	spin_lock_bh(&ueids.lock);
	if (ueid_find(eid) >= 0)
		rc = -EEXIST;
	else if (ueids.num == SMC_MAX_UEIDS)
		rc = -ENOSPC;
	else
		memcpy(ueids.eids[ueids.num++], eid, SMC_EID_LEN);
	spin_unlock_bh(&ueids.lock);
	return rc;
}

/**
 * smc_ueid_remove() - remove a UEID; link groups that use it stay
 * @eid: 32 bytes
 *
 * Return: 0 or -ENOENT.
 */
int smc_ueid_remove(const u8 *eid)
{
	int i;

	spin_lock_bh(&ueids.lock);
	i = ueid_find(eid);
	if (i >= 0) {
		ueids.num--;
		memmove(ueids.eids + i, ueids.eids + i + 1,
			(ueids.num - i) * SMC_EID_LEN);
	}
	spin_unlock_bh(&ueids.lock);
	return i < 0 ? i : 0;
}

/**
 * smc_ueid_flush() - remove all UEIDs: no SMC version 2 any more
 */
void smc_ueid_flush(void)
{
	spin_lock_bh(&ueids.lock);
	ueids.num = 0;
	spin_unlock_bh(&ueids.lock);
}
