// SPDX-License-Identifier: GPL-2.0
/*
 * The four ways to ask for a socket of ours, and how one begins and ends.
 *
 *	socket(AF_SMC, SOCK_STREAM, 0)			inner TCP over IPv4
 *	socket(AF_SMC, SOCK_STREAM, 1)			inner TCP over IPv6
 *	socket(AF_INET, SOCK_STREAM, IPPROTO_SMC)	the same, but the core
 *	socket(AF_INET6, SOCK_STREAM, IPPROTO_SMC)	makes an inet socket
 *
 * All are the same object and have the same operations.  For IPPROTO_SMC the
 * core allocates the object and calls proto->init; if that fails, or a cgroup
 * program refuses the socket afterwards, it calls proto->destroy and unhash
 * and never ops->release.
 *
 * Context: process, no locks; the destructor runs in softirq, after an RCU
 * grace period (SOCK_RCU_FREE: the core finds connections under RCU).
 * Tests: selftests/smc.
 */
#include <linux/cgroup.h>
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/workqueue.h>
#include <net/inet_common.h>
#include <net/ipv6.h>
#include <net/protocol.h>

#include "sock.h"
#include "stats.h"

/* Protocols of AF_SMC; never in a uapi header, programs use the numbers. */
#define SMCPROTO_SMC	0
#define SMCPROTO_SMC6	1

/* IPPROTO_SMC sockets nest their inner ones, which are AF_INET too. */
static struct lock_class_key inet_slock_key[2], inet_lock_key[2];

static void set_lock_class(struct sock *sk)
{
	if (sk->sk_family == AF_INET)
		sock_lock_init_class_and_name(sk, "slock-AF_INET-SMC",
					      &inet_slock_key[0],
					      "sk_lock-AF_INET-SMC",
					      &inet_lock_key[0]);
	else
		sock_lock_init_class_and_name(sk, "slock-AF_INET6-SMC",
					      &inet_slock_key[1],
					      "sk_lock-AF_INET6-SMC",
					      &inet_lock_key[1]);
}

/* Last reference gone and a grace period over; softirq. */
static void sock_destruct(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);
	struct smc_net *sn = smc_sock_net(smc);

	spin_lock_bh(&sn->socks_lock);
	hlist_del_init(&smc->node);
	spin_unlock_bh(&sn->socks_lock);
	smc_stats_inc(sn, SMC_STAT_SOCK_DESTROYED);
	smc_inner_put(&smc->inner);
	/* not earlier: the worker of a child may still be about to tell it */
	if (smc->listener)
		sock_put(&smc->listener->sk);
	/* the core complains about any other number */
	sk->sk_state = TCP_CLOSE;
	smc->core_destruct(sk);
}

static void accept_work(struct work_struct *work);

/* Everything but the inner socket.  The memory is zeroed, the sock set up. */
static void sock_setup(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);
	struct smc_net *sn = smc_net(sock_net(sk));

	smc->mode = &smc_mode_init;
	mutex_init(&smc->listen_mutex);
	spin_lock_init(&smc->state_lock);
	spin_lock_init(&smc->accept_lock);
	INIT_LIST_HEAD(&smc->accept_node);
	INIT_LIST_HEAD(&smc->accept_q);
	INIT_LIST_HEAD(&smc->children);
	INIT_WORK(&smc->work, smc_sock_work);
	INIT_DELAYED_WORK(&smc->accept_work, accept_work);
	timer_setup(&smc->timer, smc_listen_timer, 0);

	smc->sn = sn;
	smc->hs_owner = &smc_sock_hs_owner;

	sk->sk_type = SOCK_STREAM;
	sk->sk_state = SMC_INIT;
	sk->sk_sndbuf = 2 * READ_ONCE(sn->wmem);
	sk->sk_rcvbuf = 2 * READ_ONCE(sn->rmem);
	sock_set_flag(sk, SOCK_RCU_FREE);
	smc->core_destruct = sk->sk_destruct;
	if (sk->sk_family == AF_SMC)
		smc->core_destruct = inet_sock_destruct;
	sk->sk_destruct = sock_destruct;

	smc_stats_inc(sn, SMC_STAT_SOCK_CREATED);
}

/* Setup for a socket of a program, which has an inner one from the start. */
static int sock_open(struct sock *sk, int inner_family)
{
	struct smc_sock *smc = smc_sk(sk);
	int rc;

	sock_setup(sk);
#ifdef CONFIG_MEMCG
	smc->memcg = sk->sk_memcg;
#endif
	/* SOL_SOCKET options come to our setsockopt first */
	set_bit(SOCK_CUSTOM_SOCKOPT, &sk->sk_socket->flags);
	/* io_uring's: what we copy may be written again at once */
	set_bit(SOCK_SUPPORT_ZC, &sk->sk_socket->flags);
	rc = smc_inner_create(&smc->inner, sock_net(sk), inner_family,
			      smc_sock_inner_wake);
	if (rc)
		return rc;
	smc_sock_take_cookie(smc);
	smc_sock_list(smc);
	return 0;
}

static int inet_smc_init(struct sock *sk)
{
	set_lock_class(sk);
	return sock_open(sk, sk->sk_family);
}

static void proto_destroy(struct sock *sk)
{
	smc_inner_release(&smc_sk(sk)->inner);
}

static void proto_unhash(struct sock *sk)
{
}

#define SMC_PROTO(label, type, start)					\
	{								\
		.name		= label,				\
		.owner		= THIS_MODULE,				\
		.init		= start,				\
		.destroy	= proto_destroy,			\
		.diag_destroy	= smc_sock_destroy,			\
		.unhash		= proto_unhash,				\
		.obj_size	= sizeof(type),				\
		.no_autobind	= true,					\
	}

static struct proto smc_proto = SMC_PROTO("SMC", struct smc_sock, NULL);
static struct proto smc_proto6 = SMC_PROTO("SMC6", struct smc_sock, NULL);
static struct proto inet_smc_proto =
	SMC_PROTO("INET_SMC", struct smc_sock, inet_smc_init);
static struct proto inet6_smc_proto =
	SMC_PROTO("INET6_SMC", struct smc6_sock, inet_smc_init);

static struct proto * const protos[] = {
	&smc_proto, &smc_proto6, &inet_smc_proto, &inet6_smc_proto,
};

static int smc_family_create(struct net *net, struct socket *sock,
			     int protocol, int kern)
{
	bool v6 = protocol == SMCPROTO_SMC6;
	struct sock *sk;
	int rc;

	if (sock->type != SOCK_STREAM)
		return -ESOCKTNOSUPPORT;
	if (protocol != SMCPROTO_SMC && protocol != SMCPROTO_SMC6)
		return -EPROTONOSUPPORT;
	sk = sk_alloc(net, PF_SMC, GFP_KERNEL, v6 ? &smc_proto6 : &smc_proto,
		      kern);
	if (!sk)
		return -ENOBUFS;
	sock->state = SS_UNCONNECTED;
	sock->ops = &smc_sock_ops;
	sock_init_data(sock, sk);
	sk->sk_protocol = protocol;
	rc = sock_open(sk, v6 ? AF_INET6 : AF_INET);
	if (rc)
		sk_common_release(sk);
	return rc;
}

/* What TCP's children get from their listener, too. */
static void inherit(struct sock *sk, struct sock *from)
{
	/* not SOCK_TIMESTAMP, which the core counts; SO_TIMESTAMP shows RCVTSTAMP */
	unsigned long flags = BIT(SOCK_URGINLINE) | BIT(SOCK_KEEPOPEN) |
			      BIT(SOCK_LINGER) | BIT(SOCK_DBG) |
			      BIT(SOCK_LOCALROUTE) | BIT(SOCK_BROADCAST) |
			      BIT(SOCK_RCVTSTAMP) | BIT(SOCK_RCVTSTAMPNS) |
			      BIT(SOCK_TSTAMP_NEW) | BIT(SOCK_RXQ_OVFL) |
			      BIT(SOCK_RCVMARK) | BIT(SOCK_NOFCS) |
			      BIT(SOCK_WIFI_STATUS) |
			      BIT(SOCK_SELECT_ERR_QUEUE);

	sk->sk_flags |= READ_ONCE(from->sk_flags) & flags;
	sk->sk_lingertime = READ_ONCE(from->sk_lingertime);
	sk->sk_rcvtimeo = READ_ONCE(from->sk_rcvtimeo);
	sk->sk_sndtimeo = READ_ONCE(from->sk_sndtimeo);
	sk->sk_rcvlowat = READ_ONCE(from->sk_rcvlowat);
	sk->sk_mark = READ_ONCE(from->sk_mark);
	sk->sk_bound_dev_if = READ_ONCE(from->sk_bound_dev_if);
	sk->sk_reuse = from->sk_reuse;
	sk->sk_reuseport = from->sk_reuseport;
	sk->sk_userlocks = from->sk_userlocks &
			   (SOCK_SNDBUF_LOCK | SOCK_RCVBUF_LOCK);
	sk->sk_sndbuf = READ_ONCE(from->sk_sndbuf);
	sk->sk_rcvbuf = READ_ONCE(from->sk_rcvbuf);
	sk->sk_uid = from->sk_uid;
	sk->sk_peek_off = READ_ONCE(from->sk_peek_off);
	sk->sk_tsflags = READ_ONCE(from->sk_tsflags);
	sk->sk_max_pacing_rate = READ_ONCE(from->sk_max_pacing_rate);
#ifdef CONFIG_NET_RX_BUSY_POLL
	sk->sk_ll_usec = READ_ONCE(from->sk_ll_usec);
#endif
	if (test_bit(SMC_SK_CORK, &smc_sk(from)->bits))
		set_bit(SMC_SK_CORK, &smc_sk(sk)->bits);
	smc_sk(sk)->user_timeout_ms = READ_ONCE(smc_sk(from)->user_timeout_ms);
	if (test_bit(SMC_SK_INQ, &smc_sk(from)->bits))
		set_bit(SMC_SK_INQ, &smc_sk(sk)->bits);
}

/*
 * sk_alloc() has taken the control groups of current, a worker, and knows no
 * label for the LSM.  TCP's children have what their listener has.
 */
static void inherit_owner(struct sock *sk, struct sock *from)
{
#ifdef CONFIG_SOCK_CGROUP_DATA
	struct cgroup *own = sock_cgroup_ptr(&sk->sk_cgrp_data);
	struct cgroup *cgrp = sock_cgroup_ptr(&from->sk_cgrp_data);

	cgroup_get(cgrp);
	cgroup_bpf_get(cgrp);
	sk->sk_cgrp_data = from->sk_cgrp_data;
	cgroup_bpf_put(own);
	cgroup_put(own);
#endif
#ifdef CONFIG_MEMCG
	if (from->sk_memcg && !sk->sk_memcg) {
		css_get(&from->sk_memcg->css);
		sk->sk_memcg = from->sk_memcg;
	}
	smc_sk(sk)->memcg = sk->sk_memcg;
#endif
	security_sk_clone(from, sk);
}

/*
 * Make the socket for a connection of a listener.  It has no inner socket and no
 * struct socket, and one reference for the caller.  NULL: no memory.
 */
static struct sock *sock_clone(struct sock *listener)
{
	struct sock *sk;

	sk = sk_alloc(sock_net(listener), listener->sk_family, GFP_KERNEL,
		      listener->sk_prot, 0);
	if (!sk)
		return NULL;
	sock_init_data(NULL, sk);
	sk->sk_protocol = listener->sk_protocol;
	if (sk->sk_family != AF_SMC) {
		set_lock_class(sk);
		sk->sk_destruct = smc_sk(listener)->core_destruct;
	}
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		inet_sk(sk)->pinet6 = &((struct smc6_sock *)sk)->inet6;
#endif
	sock_setup(sk);
	inherit(sk, listener);
	inherit_owner(sk, listener);
	/* until accept() grafts it, for the core's checks at the end */
	sock_set_flag(sk, SOCK_DEAD);
	return sk;
}

static void accept_work(struct work_struct *work)
{
	smc_listen_work(container_of(to_delayed_work(work), struct smc_sock,
				     accept_work), sock_clone);
}

static const struct net_proto_family smc_family = {
	.family	= PF_SMC,
	.owner	= THIS_MODULE,
	.create	= smc_family_create,
};

static struct inet_protosw inet_smc_protosw = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_SMC,
	.prot		= &inet_smc_proto,
	.ops		= &smc_sock_ops,
	.flags		= 0,
};

#if IS_ENABLED(CONFIG_IPV6)
static struct inet_protosw inet6_smc_protosw = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_SMC,
	.prot		= &inet6_smc_proto,
	.ops		= &smc_sock_ops,
	.flags		= 0,
};

static int inet6_register(void)
{
	return inet6_register_protosw(&inet6_smc_protosw);
}

static void inet6_unregister(void)
{
	inet6_unregister_protosw(&inet6_smc_protosw);
}
#else
static int inet6_register(void)
{
	return 0;
}

static void inet6_unregister(void)
{
}
#endif

/**
 * smc_sock_init() - make our sockets available
 *
 * The last step of module init: programs may come in before it returns.
 *
 * Return: 0 or -errno.
 */
int smc_sock_init(void)
{
	int i, rc;

	smc_sock_wq = alloc_workqueue("smc_sock", WQ_UNBOUND, 0);
	if (!smc_sock_wq)
		return -ENOMEM;
#if IS_ENABLED(CONFIG_IPV6)
	inet6_smc_proto.ipv6_pinfo_offset = offsetof(struct smc6_sock, inet6);
#endif
	for (i = 0; i < ARRAY_SIZE(protos); i++) {
		rc = proto_register(protos[i], 1);
		if (rc)
			goto err_protos;
	}
	rc = sock_register(&smc_family);
	if (rc)
		goto err_protos;
	inet_register_protosw(&inet_smc_protosw);
	rc = inet6_register();
	if (rc)
		goto err_inet;
	return 0;

err_inet:
	inet_unregister_protosw(&inet_smc_protosw);
	sock_unregister(PF_SMC);
err_protos:
	while (i--)
		proto_unregister(protos[i]);
	destroy_workqueue(smc_sock_wq);
	return rc;
}

/**
 * smc_sock_exit() - undo smc_sock_init()
 *
 * No socket exists any more (each pins the module); the last work and the last
 * RCU callback may still be running.
 */
void smc_sock_exit(void)
{
	int i;

	inet6_unregister();
	inet_unregister_protosw(&inet_smc_protosw);
	sock_unregister(PF_SMC);
	destroy_workqueue(smc_sock_wq);
	rcu_barrier();
	for (i = ARRAY_SIZE(protos) - 1; i >= 0; i--)
		proto_unregister(protos[i]);
}
