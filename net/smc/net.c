// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a network namespace: the number by which it is found, which the
 * kernel chooses when main.c registers the set-up and tear-down of namespaces, and
 * its work queues.
 *
 * A work queue has memory for each possible CPU, and most namespaces of a host with
 * containers never have a socket of ours: the queues are made for the first one.
 *
 * Context: per function.
 * Tests: selftests/vm/tests/netns.sh, selftests/smc/steps.py
 */
#include <linux/cache.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include "net.h"

unsigned int smc_net_id __read_mostly;

static DEFINE_MUTEX(begin_lock);	/* the queues of a namespace are being made */

/* True if there is a queue at @wq. */
static bool make_queue(struct workqueue_struct **wq, const char *name)
{
	lockdep_assert_held(&begin_lock);
	if (!*wq)
		*wq = alloc_workqueue("%s", WQ_UNBOUND, 0, name);
	return *wq;
}

/**
 * smc_net_begin() - a socket is going to be ours
 * @sn: its namespace
 *
 * Makes the work queues, once.  Each is destroyed by the part that uses it
 * (smc_hs_net_exit(), smc_lgr_net_exit()).
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int smc_net_begin(struct smc_net *sn)
{
	bool ok;

	/* pairs with the release below */
	if (likely(smp_load_acquire(&sn->begun)))
		return 0;
	mutex_lock(&begin_lock);
	ok = make_queue(&sn->hs_wq, "smc_hs") &&
	     make_queue(&sn->end_wq, "smc_end") &&
	     make_queue(&sn->tell_wq, "smc_tell") &&
	     make_queue(&sn->kill_wq, "smc_kill");
	if (ok)
		smp_store_release(&sn->begun, true);
	mutex_unlock(&begin_lock);
	return ok ? 0 : -ENOMEM;
}
