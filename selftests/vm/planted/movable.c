// SPDX-License-Identifier: GPL-2.0
/*
 * insmod movable.ko - "rdma dev set rxe0 netns NAME" works for soft-RoCE
 *
 * The RDMA core moves a device to another network namespace if its driver can
 * take it from the programs that have it open.  Soft-RoCE says that it cannot.
 * This says it does, for which no program may have the device open.
 */
#define pr_fmt(fmt) "movable: " fmt

#include <linux/module.h>
#include <rdma/ib_verbs.h>

static void disassociate_ucontext(struct ib_ucontext *context)
{
	pr_err("a program has the device open\n");
}

static int movable_add(struct ib_device *ibdev)
{
	if (ibdev->ops.driver_id != RDMA_DRIVER_RXE ||
	    ibdev->ops.disassociate_ucontext)
		return -EOPNOTSUPP;
	ibdev->ops.disassociate_ucontext = disassociate_ucontext;
	return 0;
}

static void movable_remove(struct ib_device *ibdev, void *data)
{
	ibdev->ops.disassociate_ucontext = NULL;
}

static struct ib_client client = {
	.name = "movable",
	.add = movable_add,
	.remove = movable_remove,
};

static int __init movable_init(void)
{
	return ib_register_client(&client);
}

static void __exit movable_exit(void)
{
	ib_unregister_client(&client);
}

module_init(movable_init);
module_exit(movable_exit);

MODULE_DESCRIPTION("Makes soft-RoCE move between network namespaces");
MODULE_LICENSE("GPL");
