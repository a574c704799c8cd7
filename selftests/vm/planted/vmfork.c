// SPDX-License-Identifier: GPL-2.0
/*
 * insmod vmfork.ko - this machine goes on from a snapshot
 *
 * What a hypervisor tells the kernel by a new generation ID (the driver is built
 * in, and its function not for modules).
 */
#define pr_fmt(fmt) "vmfork: " fmt

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/random.h>

static int __init vmfork_init(void)
{
	struct kprobe kp = { .symbol_name = "add_vmfork_randomness" };
	void (*forked)(const void *id, size_t len);
	u8 id[16];
	int rc;

	rc = register_kprobe(&kp);
	if (rc)
		return rc;
	forked = (void *)kp.addr;
	unregister_kprobe(&kp);
	get_random_bytes(id, sizeof(id));
	forked(id, sizeof(id));
	return 0;
}

static void __exit vmfork_exit(void)
{
}

module_init(vmfork_init);
module_exit(vmfork_exit);
MODULE_DESCRIPTION("A machine that goes on from a snapshot");
MODULE_LICENSE("GPL");
