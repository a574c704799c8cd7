// SPDX-License-Identifier: GPL-2.0
/*
 * insmod canary.ko - is a ring zero when a connection gets it?
 *
 * It looks at the whole memory of each ring that smc_buf_get() returns, and that
 * smc_buf_put() gets back.  Parameters, read only:
 *
 *   got	rings that connections got
 *   dirty	those that were not zero
 *   carried	rings given back that were not zero: what a ring without zeroing
 *		would hand on
 */
#define pr_fmt(fmt) "canary: " fmt

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/string.h>
#include "../../../net/smc/core/buf.h"

static atomic_t got = ATOMIC_INIT(0);
static atomic_t dirty = ATOMIC_INIT(0);
static atomic_t carried = ATOMIC_INIT(0);

static int count_get(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%d\n", atomic_read(kp->arg));
}

static const struct kernel_param_ops count_ops = { .get = count_get };

module_param_cb(got, &count_ops, &got, 0444);
module_param_cb(dirty, &count_ops, &dirty, 0444);
module_param_cb(carried, &count_ops, &carried, 0444);

static bool is_zero(const struct smc_buf *buf)
{
	return !memchr_inv(buf->cpu, 0, buf->size);
}

static int after_get(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct smc_buf *buf = (void *)regs_return_value(regs);

	if (IS_ERR(buf))
		return 0;
	atomic_inc(&got);
	if (!is_zero(buf) && !atomic_fetch_inc(&dirty))
		pr_info("%s ring of %u bytes is not zero\n",
			buf->dir == SMC_BUF_RCV ? "receive" : "send",
			buf->size);
	return 0;
}

static int before_put(struct kprobe *kp, struct pt_regs *regs)
{
	const struct smc_buf *buf = (void *)regs_get_kernel_argument(regs, 1);

	if (!is_zero(buf))
		atomic_inc(&carried);
	return 0;
}

static struct kretprobe get_probe = {
	.kp.symbol_name	= "smc_buf_get",
	.handler	= after_get,
	.maxactive	= 64,
};

static struct kprobe put_probe = {
	.symbol_name	= "smc_buf_put",
	.pre_handler	= before_put,
};

static int __init canary_init(void)
{
	int rc = register_kretprobe(&get_probe);

	if (rc)
		return rc;
	rc = register_kprobe(&put_probe);
	if (rc)
		unregister_kretprobe(&get_probe);
	return rc;
}

static void __exit canary_exit(void)
{
	unregister_kprobe(&put_probe);
	unregister_kretprobe(&get_probe);
	if (get_probe.nmissed)
		pr_info("%d rings not looked at\n", get_probe.nmissed);
}

module_init(canary_init);
module_exit(canary_exit);

MODULE_DESCRIPTION("Looks at rings that connections get");
MODULE_LICENSE("GPL");
