// SPDX-License-Identifier: GPL-2.0
/*
 * insmod planted.ko what=FAULT - does one thing wrong, for lab_verdict.sh
 *
 * The verdict has to find it.  rmmod takes back what can be taken back.
 *
 *   leak       memory that nothing points to
 *   uaf        a read of freed memory
 *   inversion  two locks taken in both orders
 *   module     a reference of the module smc
 *   net        a reference of the network namespace of insmod
 *   dev        a reference of the network device "planted0"
 *   sock       a reference of a closed TCP socket
 *   counter    one more of counter=NAME in the initial namespace
 *   qp         a queue pair on the RDMA device "rxe0"
 *   race       what poll() on one of our sockets reads, written without a mark
 *   elsewhere  a data race that has nothing to do with the module
 */
#define pr_fmt(fmt) "planted: " fmt

#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <rdma/ib_verbs.h>
#include "../../../net/smc/net.h"

#define PROTO_SMC	256		/* IPPROTO_SMC, where headers lack it */
#define EXPORTED	"smc_sock_walk"	/* a symbol of smc.ko */

static char *what = "";
module_param(what, charp, 0444);
static char *counter = "";
module_param(counter, charp, 0444);

/* What is held; at most one of them. */
static struct {
	void *symbol;
	struct net *net;
	struct net_device *dev;
	struct sock *sk;
	bool probed;
	struct {
		struct ib_device *dev;
		struct ib_pd *pd;
		struct ib_cq *cq;
		struct ib_qp *qp;
	} ib;
} held;

static int plant_leak(void)
{
	/* kmemleak misses one whose address is still on a stack somewhere */
	for (int i = 0; i < 32; i++)
		if (!kmalloc(512, GFP_KERNEL))
			return -ENOMEM;
	return 0;
}

static int plant_uaf(void)
{
	u8 *p = kzalloc(64, GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	kfree(p);
	OPTIMIZER_HIDE_VAR(p);
	pr_info("read %u\n", READ_ONCE(*p));
	return 0;
}

static DEFINE_SPINLOCK(lock_a);
static DEFINE_SPINLOCK(lock_b);

static int plant_inversion(void)
{
	spin_lock(&lock_a);
	spin_lock(&lock_b);
	spin_unlock(&lock_b);
	spin_unlock(&lock_a);
	spin_lock(&lock_b);
	spin_lock(&lock_a);
	spin_unlock(&lock_a);
	spin_unlock(&lock_b);
	return 0;
}

static int new_socket(int protocol, struct socket **sock)
{
	return sock_create_kern(&init_net, AF_INET, SOCK_STREAM, protocol, sock);
}

static int plant_module(void)
{
	held.symbol = __symbol_get(EXPORTED);
	return held.symbol ? 0 : -ENOENT;
}

static int plant_net(void)
{
	held.net = get_net(current->nsproxy->net_ns);
	return 0;
}

static int plant_dev(void)
{
	held.dev = dev_get_by_name(&init_net, "planted0");
	return held.dev ? 0 : -ENODEV;
}

static int plant_sock(void)
{
	struct socket *sock;
	int rc = new_socket(IPPROTO_TCP, &sock);

	if (rc)
		return rc;
	held.sk = sock->sk;
	sock_hold(held.sk);
	sock_release(sock);
	return 0;
}

#define STAT_NAME(sym, name, text)	name,
static const char * const stat_names[SMC_STAT_NUM] = {
	SMC_STAT_LIST(STAT_NAME)
};

static atomic_t counted = ATOMIC_INIT(0);
static int stat_index;

/* The first sum of the counters has one more. */
static int before_sum(struct kprobe *kp, struct pt_regs *regs)
{
	struct smc_net *sn = (void *)regs_get_kernel_argument(regs, 0);

	if (net_eq(sn->net, &init_net) && !atomic_xchg(&counted, 1))
		this_cpu_inc(sn->stats->val[stat_index]);
	return 0;
}

static struct kprobe sum_probe = {
	.symbol_name	= "smc_stats_sum",
	.pre_handler	= before_sum,
};

static int plant_counter(void)
{
	stat_index = match_string(stat_names, SMC_STAT_NUM, counter);
	if (stat_index < 0)
		return stat_index;
	held.probed = !register_kprobe(&sum_probe);
	return held.probed ? 0 : -ENOENT;
}

static void remove_qp(void)
{
	if (!IS_ERR_OR_NULL(held.ib.qp))
		ib_destroy_qp(held.ib.qp);
	if (!IS_ERR_OR_NULL(held.ib.cq))
		ib_free_cq(held.ib.cq);
	if (!IS_ERR_OR_NULL(held.ib.pd))
		ib_dealloc_pd(held.ib.pd);
	if (held.ib.dev)
		ib_device_put(held.ib.dev);
}

static int plant_qp(void)
{
	struct ib_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IB_QPT_RC,
	};

	held.ib.dev = ib_device_get_by_name("rxe0", RDMA_DRIVER_UNKNOWN);
	if (!held.ib.dev)
		return -ENODEV;
	held.ib.pd = ib_alloc_pd(held.ib.dev, 0);
	held.ib.cq = ib_alloc_cq(held.ib.dev, NULL, 4, 0, IB_POLL_DIRECT);
	if (IS_ERR(held.ib.pd) || IS_ERR(held.ib.cq))
		return -ENOMEM;
	attr.send_cq = held.ib.cq;
	attr.recv_cq = held.ib.cq;
	held.ib.qp = ib_create_qp(held.ib.pd, &attr);
	return PTR_ERR_OR_ZERO(held.ib.qp);
}

/* Writes on one CPU without a mark what is read on another. */
static struct {
	int *val;
	struct socket *sock;
	int other;
} race;

static int race_write(void *unused)
{
	while (!kthread_should_stop()) {
		*race.val = !*race.val;
		cond_resched();
	}
	return 0;
}

static int race_read(void *unused)
{
	while (!kthread_should_stop()) {
		if (race.sock)
			race.sock->ops->poll(NULL, race.sock, NULL);
		else
			READ_ONCE(*race.val);
		cond_resched();
	}
	return 0;
}

static int run_race(void)
{
	struct task_struct *writer, *reader;

	writer = kthread_run_on_cpu(race_write, NULL, 0, "planted/%u");
	if (IS_ERR(writer))
		return PTR_ERR(writer);
	reader = kthread_run_on_cpu(race_read, NULL, 1, "planted/%u");
	if (!IS_ERR(reader)) {
		msleep(3000);
		kthread_stop(reader);
	}
	kthread_stop(writer);
	return PTR_ERR_OR_ZERO(reader);
}

static int plant_race(void)
{
	int rc = new_socket(PROTO_SMC, &race.sock);

	if (rc)
		return rc;
	race.val = &race.sock->sk->sk_err;
	rc = run_race();
	WRITE_ONCE(*race.val, 0);
	sock_release(race.sock);
	return rc;
}

static int plant_elsewhere(void)
{
	race.val = &race.other;
	return run_race();
}

/* What can be taken back */
static void remove(void)
{
	if (held.symbol)
		__symbol_put(EXPORTED);
	if (held.net)
		put_net(held.net);
	dev_put(held.dev);
	if (held.sk)
		sock_put(held.sk);
	if (held.probed)
		unregister_kprobe(&sum_probe);
	remove_qp();
}

static const struct {
	const char *name;
	int (*plant)(void);
} faults[] = {
	{ "leak",	plant_leak },
	{ "uaf",	plant_uaf },
	{ "inversion",	plant_inversion },
	{ "module",	plant_module },
	{ "net",	plant_net },
	{ "dev",	plant_dev },
	{ "sock",	plant_sock },
	{ "counter",	plant_counter },
	{ "qp",		plant_qp },
	{ "race",	plant_race },
	{ "elsewhere",	plant_elsewhere },
};

static int __init planted_init(void)
{
	int rc = -EINVAL;

	for (int i = 0; i < ARRAY_SIZE(faults); i++)
		if (!strcmp(faults[i].name, what))
			rc = faults[i].plant();
	if (rc)
		remove();
	return rc;
}

static void __exit planted_exit(void)
{
	remove();
}

module_init(planted_init);
module_exit(planted_exit);

MODULE_DESCRIPTION("Faults for the test of the laboratory's verdict");
MODULE_LICENSE("GPL");
