// SPDX-License-Identifier: GPL-2.0
/*
 * insmod slowlgr.ko - handshakes hear late that their link group is ACTIVE
 *
 * Needs the module smc.  Written to "pause", 1 has the worker that makes the next
 * group ACTIVE sleep before it calls the first handshake that waits for that,
 * until 0 is written.  "paused", read only, is 1 then, and 2 when all have been
 * called.
 */
#define pr_fmt(fmt) "slowlgr: " fmt

#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/wait_bit.h>

#include "instead.h"

static bool pause;
static unsigned int paused;
module_param(paused, uint, 0400);

static bool armed;

static int pause_set(const char *val, const struct kernel_param *kp)
{
	int rc = param_set_bool(val, kp);

	if (rc)
		return rc;
	if (pause)
		WRITE_ONCE(paused, 0);
	smp_store_release(&armed, pause);
	wake_up_var(&pause);
	return 0;
}

static const struct kernel_param_ops pause_ops = { .set = pause_set };
module_param_cb(pause, &pause_ops, &pause, 0200);

static struct kprobe settle_probe;

/* In place of smc_lgr_settle() */
static void slow_settle(void *lgr, unsigned int why)
{
	void (*settle)(void *lgr, unsigned int why) =
		(void *)settle_probe.addr;

	wait_var_event(&pause, !READ_ONCE(pause));
	settle(lgr, why);
	WRITE_ONCE(paused, 2);
	wake_up_var(&paused);
}

static int before_settle(struct kprobe *kp, struct pt_regs *regs)
{
	/* the reason for which the group is dead; 0: it is ACTIVE */
	if ((unsigned int)regs_get_kernel_argument(regs, 1) ||
	    !READ_ONCE(armed) || !xchg(&armed, false))
		return 0;
	WRITE_ONCE(paused, 1);
	return call_instead(regs, slow_settle);
}

static struct kprobe settle_probe = {
	.symbol_name	= "smc_lgr_settle",
	.pre_handler	= before_settle,
	.post_handler	= not_optimized,
};

static int __init slowlgr_init(void)
{
	return register_kprobe(&settle_probe);
}

static void __exit slowlgr_exit(void)
{
	WRITE_ONCE(pause, false);
	wake_up_var(&pause);
	unregister_kprobe(&settle_probe);
	wait_var_event(&paused, READ_ONCE(paused) != 1);
	/* the worker may be on its way out of slow_settle() */
	synchronize_rcu_tasks();
}

module_init(slowlgr_init);
module_exit(slowlgr_exit);

MODULE_DESCRIPTION("Pauses where a link group has become ACTIVE");
MODULE_LICENSE("GPL");
