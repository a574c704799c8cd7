/* SPDX-License-Identifier: GPL-2.0 */
/* A kprobe that has another function called instead. */
#ifndef INSTEAD_H
#define INSTEAD_H

#include <linux/kprobes.h>

/* Its post_handler: an optimized probe could not change where the call goes. */
static void not_optimized(struct kprobe *kp, struct pt_regs *regs,
			  unsigned long flags)
{
}

/* What its pre_handler returns to have @to called with the same arguments. */
static inline int call_instead(struct pt_regs *regs, void *to)
{
	regs->ip = (unsigned long)to;
	return 1;
}

#endif
