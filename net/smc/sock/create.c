// SPDX-License-Identifier: GPL-2.0
/*
 * The four ways to ask for a socket of ours.
 *
 *	socket(AF_SMC, SOCK_STREAM, 0)			TCP over IPv4
 *	socket(AF_SMC, SOCK_STREAM, 1)			TCP over IPv6
 *	socket(AF_INET, SOCK_STREAM, IPPROTO_SMC)	the same, but the core
 *	socket(AF_INET6, SOCK_STREAM, IPPROTO_SMC)	makes an inet socket
 *
 * All end with a TCP socket that has a context of ours (context.c).  For
 * IPPROTO_SMC the core allocates it by a proto of ours, which is TCP's but for
 * the name and for init(): that puts TCP's own in its place before anything
 * else can see it.  For AF_SMC a TCP socket is made and its sock moved.
 *
 * Context: process, no locks.  Tests: selftests/smc.
 */
#include <linux/module.h>
#include <linux/smc.h>
#include <net/inet_common.h>
#include <net/ipv6.h>
#include <net/protocol.h>
#include <net/tcp.h>

#include "sock.h"

static struct proto create4 __ro_after_init;
static struct proto create6 __ro_after_init;
/* TCP's over IPv6, or NULL */
static struct proto *base_prot6 __ro_after_init;

static int create_init(struct sock *sk)
{
	struct proto *prot = sk->sk_prot == &create6 ? base_prot6 : &tcp_prot;
	int rc;

	/* SOL_SOCKET options come to our setsockopt first */
	set_bit(SOCK_CUSTOM_SOCKOPT, &sk->sk_socket->flags);
	sk->sk_protocol = IPPROTO_TCP;
	WRITE_ONCE(sk->sk_prot, prot);
	sk->sk_prot_creator = prot;
	rc = prot->init(sk);
	if (!rc)
		rc = smc_sock_attach(sk, BIT(SMC_SK_NEW));
	/* the core has pinned the owner of our proto, and lets go of TCP's */
	__module_get(prot->owner);
	module_put(THIS_MODULE);
	return rc;
}

static struct inet_protosw protosw4 = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_SMC,
	.prot		= &create4,
	.ops		= &smc_sock_ops4,
	.flags		= INET_PROTOSW_ICSK,
};

/*
 * Make @create and @ops from those of a TCP socket: not every kernel exports
 * TCP's operations over IPv6.
 */
static int learn_base(int family, struct proto *create, struct proto_ops *ops)
{
	struct socket *sock;
	int rc;

	rc = sock_create_kern(&init_net, family, SOCK_STREAM, IPPROTO_TCP,
			      &sock);
	/* the core returns -ENFILE without memory; insmod should print this */
	if (rc)
		return rc == -ENFILE ? -ENOMEM : rc;
	smc_core_ready = sock->sk->sk_data_ready;
	smc_sock_make_ops(ops, sock->ops);
	*create = *sock->sk->sk_prot;
	create->init = create_init;
	create->owner = THIS_MODULE;
	if (family == AF_INET6) {
		smc_base6 = sock->ops;
		base_prot6 = sock->sk->sk_prot;
	}
	sock_release(sock);
	return 0;
}

#if IS_ENABLED(CONFIG_IPV6)
static struct inet_protosw protosw6 = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_SMC,
	.prot		= &create6,
	.ops		= &smc_sock_ops6,
	.flags		= INET_PROTOSW_ICSK,
};

static int register6(void)
{
	return smc_base6 ? inet6_register_protosw(&protosw6) : 0;
}

static void unregister6(void)
{
	if (smc_base6)
		inet6_unregister_protosw(&protosw6);
}
#else
static int register6(void)
{
	return 0;
}

static void unregister6(void)
{
}
#endif

/* The sock of a TCP socket becomes that of ours. */
static void move_sock(struct socket *from, struct socket *to,
		      const struct proto_ops *ops)
{
	struct sock *sk = from->sk;
	struct smc_sock *smc;

	smc = smc_sock_get(sk);
	/* sock_diag may be looking at the socket by now */
	WRITE_ONCE(smc->row.family, PF_SMC);
	smc_sock_put(smc);
	write_lock_bh(&sk->sk_callback_lock);
	to->sk = sk;
	to->ops = ops;
	to->state = SS_UNCONNECTED;
	to->flags |= from->flags & BIT(SOCK_SUPPORT_ZC);
	sk_set_socket(sk, to);
	rcu_assign_pointer(sk->sk_wq, &to->wq);
	WRITE_ONCE(sk->sk_uid, SOCK_INODE(to)->i_uid);
	/*
	 * The family is for the LSM, see smc_sock_begin_locked().  A sockmap
	 * would take the socket for no TCP socket: user data keeps it out.
	 */
	rcu_assign_sk_user_data(sk, sk);
	WRITE_ONCE(sk->sk_family, PF_SMC);
	write_unlock_bh(&sk->sk_callback_lock);
	set_bit(SOCK_CUSTOM_SOCKOPT, &to->flags);
	from->sk = NULL;
}

static int smc_family_create(struct net *net, struct socket *sock,
			     int protocol, int kern)
{
	bool v6 = protocol == SMCPROTO_SMC6;
	struct socket *tcp;
	int rc;

	if (sock->type != SOCK_STREAM)
		return -ESOCKTNOSUPPORT;
	if (protocol != SMCPROTO_SMC && protocol != SMCPROTO_SMC6)
		return -EPROTONOSUPPORT;
	if (v6 && !smc_base6)
		return -EAFNOSUPPORT;
	rc = __sock_create(net, v6 ? AF_INET6 : AF_INET, SOCK_STREAM,
			   IPPROTO_TCP, &tcp, kern);
	if (rc)
		return rc;
	rc = smc_sock_attach(tcp->sk, BIT(SMC_SK_NEW));
	if (!rc)
		move_sock(tcp, sock, v6 ? &smc_sock_ops6 : &smc_sock_ops4);
	sock_release(tcp);
	return rc;
}

static const struct net_proto_family smc_family = {
	.family	= PF_SMC,
	.owner	= THIS_MODULE,
	.create	= smc_family_create,
};

/**
 * smc_sock_init() - make our sockets available
 *
 * Programs may come in before it returns.  They pin the module, so only the
 * netlink families, which fail for lack of memory alone, are set up after it.
 *
 * Return: 0 or -errno.
 */
int smc_sock_init(void)
{
	int rc;

	smc_ulp_init();
	rc = smc_context_init();
	if (rc)
		return rc;
	rc = learn_base(AF_INET, &create4, &smc_sock_ops4);
	if (rc)
		goto err_context;
	if (IS_ENABLED(CONFIG_IPV6))
		rc = learn_base(AF_INET6, &create6, &smc_sock_ops6);
	/* IPv6 may be off */
	if (rc && rc != -EAFNOSUPPORT)
		goto err_context;
	rc = sock_register(&smc_family);
	if (rc)
		goto err_context;
	inet_register_protosw(&protosw4);
	rc = register6();
	if (rc)
		goto err_inet;
	return 0;

err_inet:
	inet_unregister_protosw(&protosw4);
	sock_unregister(PF_SMC);
err_context:
	smc_context_exit();
	return rc;
}

/**
 * smc_sock_exit() - undo smc_sock_init()
 *
 * No socket exists any more, because each pins the module.  The last RCU
 * callback may still run.  So may the last work; its namespace waits for that
 * in smc_lgr_net_exit().
 */
void smc_sock_exit(void)
{
	unregister6();
	inet_unregister_protosw(&protosw4);
	sock_unregister(PF_SMC);
	smc_context_exit();
}
