// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options: TCP's own, and what they mean for SMC.
 *
 * Options that promise something SMC cannot keep (Fast Open, MD5, AO, REPAIR,
 * IPsec policies) make the socket plain TCP before it connects, if TCP accepts
 * them; on an SMC connection they are refused with the errno of a kernel that
 * does not have them.  A listener goes on answering the offers of SYNs (the
 * child of a SYN that was answered could not be told from others), and the
 * handshake declines.
 *
 * Context: process, no lock.  Tests: selftests/smc.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/tcp.h>
#include <linux/sockptr.h>
#include <linux/smc.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "addr.h"
#include "sock.h"

/* Seconds for which TCP_DEFER_ACCEPT may wait; TCP has a limit, too. */
#define DEFER_MAX	65535

/* A call of setsockopt(). */
struct sockopt_call {
	struct socket *sock;
	int level;
	int optname;
	sockptr_t optval;
	unsigned int optlen;
};

static int get_int(const struct sockopt_call *c, int *val)
{
	if (c->optlen < sizeof(int))
		return -EINVAL;
	return copy_from_sockptr(val, c->optval, sizeof(int)) ? -EFAULT : 0;
}

/* An option of keepalive or TCP_USER_TIMEOUT has changed. */
static void look_at_peer(struct sock *sk)
{
	struct smc_conn *conn = smc_sock_conn(sk);

	if (!conn)
		return;
	smc_keepalive_start(conn);
	smc_conn_put(conn);
}

static int base_set(const struct sockopt_call *c)
{
	return smc_sock_as_tcp(c->sock, setsockopt, c->level, c->optname,
			       c->optval, c->optlen);
}

/* Options that need TCP.  @too_late: errno on SMC; 0: TCP answers. */
static const struct tcp_option {
	int level;
	int optname;
	int too_late;
	bool is_switch;
} tcp_options[] = {
	{ SOL_IPV6, IPV6_ADDRFORM, -EBUSY },
	{ SOL_IP, IP_XFRM_POLICY, -ENOPROTOOPT },
	{ SOL_IP, IP_IPSEC_POLICY, -ENOPROTOOPT },
	{ SOL_IPV6, IPV6_XFRM_POLICY, -ENOPROTOOPT },
	{ SOL_IPV6, IPV6_IPSEC_POLICY, -ENOPROTOOPT },
	{ SOL_TCP, TCP_MD5SIG, -ENOPROTOOPT },
	{ SOL_TCP, TCP_MD5SIG_EXT, -ENOPROTOOPT },
	{ SOL_TCP, TCP_AO_ADD_KEY, -ENOPROTOOPT },
	{ SOL_TCP, TCP_AO_INFO, -ENOPROTOOPT },
	{ SOL_TCP, TCP_REPAIR, -EPERM },
	{ SOL_TCP, TCP_FASTOPEN, 0, .is_switch = true },
	{ SOL_TCP, TCP_FASTOPEN_CONNECT, 0, .is_switch = true },
	{ SOL_TCP, TCP_FASTOPEN_KEY, 0 },
	{ SOL_TCP, TCP_FASTOPEN_NO_COOKIE, 0, .is_switch = true },
};

/* Does an option need TCP?  Its row, or NULL. */
static const struct tcp_option *needs_tcp(const struct sockopt_call *c)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tcp_options); i++)
		if (tcp_options[i].level == c->level &&
		    tcp_options[i].optname == c->optname)
			return &tcp_options[i];
	return NULL;
}

/* TCP has accepted the option: is it being switched off? */
static bool switched_off(const struct sockopt_call *c)
{
	int val;

	return !get_int(c, &val) && !val;
}

/*
 * An option that needs TCP.  The call is counted under the socket lock, against
 * connect(), and before TCP reads user memory, which is done without the lock.
 * Only what TCP has accepted sets SMC_SK_NOSMC, for good: another thread may be
 * setting such an option, too.
 */
static int set_for_tcp(struct smc_sock *smc, const struct sockopt_call *c,
		       const struct tcp_option *opt)
{
	const struct smc_phase_rules *rules;
	struct sock *sk = smc->sk;
	bool smc_now;
	int rc;

	lock_sock(sk);
	rules = smc_sock_rules(smc);
	/* TCP may accept Fast Open when its own connection is over */
	smc_now = rules->ours && !rules->idle && opt->too_late;
	if (!smc_now)
		atomic_inc(&smc->tcp_opts);
	release_sock(sk);
	if (smc_now)
		return opt->too_late;
	rc = base_set(c);
	if (!rc && !(opt->is_switch && switched_off(c)))
		set_bit(SMC_SK_NOSMC, &smc->bits);
	/* the bit is there first: pairs with smc_sock_want() */
	atomic_dec_return_release(&smc->tcp_opts);
	return rc;
}

/* SMC_PLAIN_TCP: not once the way of a connection is decided. */
static int set_plain(struct smc_sock *smc, bool on)
{
	const struct smc_phase_rules *rules;
	struct sock *sk = smc->sk;
	int rc = 0;

	lock_sock(sk);
	rules = smc_sock_rules(smc);
	if (!rules->idle) {
		rc = on && !rules->ours ? 0 : -EINVAL;
	} else {
		assign_bit(SMC_SK_PLAIN, &smc->bits, on);
		/* never off: a request may have the answer already */
		if (!on && sk->sk_state == TCP_LISTEN &&
		    smc_sock_want(smc) == SMC_REASON_OK)
			smc_synopt_answer(sk);
	}
	release_sock(sk);
	return rc;
}

static int set_cork(struct smc_sock *smc, const struct sockopt_call *c)
{
	struct smc_conn *conn;
	struct sock *sk = smc->sk;
	bool ours;
	int rc, val;

	rc = get_int(c, &val);
	if (rc)
		return rc;
	lock_sock(sk);
	ours = smc_sock_rules(smc)->ours;
	if (ours)
		assign_bit(SMC_SK_CORK, &smc->bits, val);
	release_sock(sk);
	if (!ours)
		return base_set(c);
	conn = smc_sock_conn_get(smc);
	if (!conn)
		return 0;
	if (val)
		smc_conn_count(conn, SMC_TECH_CORK, 1);
	else
		smc_tx_uncork(conn);
	smc_conn_put(conn);
	return 0;
}

static void set_nodelay(struct smc_sock *smc)
{
	struct smc_conn *conn = smc_sock_conn_get(smc);

	if (!conn)
		return;
	smc_conn_count(conn, SMC_TECH_NODELAY, 1);
	/* as TCP: an explicit push, also of a corked socket */
	smc_tx_uncork(conn);
	smc_conn_put(conn);
}

static int set_tcp(struct smc_sock *smc, const struct sockopt_call *c)
{
	int rc, val;

	/* as for an unknown name; TCP would find our ULP (EEXIST) */
	if (c->optname == TCP_ULP && smc_sock_rules(smc)->ours)
		return rcu_access_pointer(smc->conn) ? -ENOENT : -ENOTCONN;
	if (c->optname == TCP_CORK)
		return set_cork(smc, c);
	rc = base_set(c);
	if (rc)
		return rc;
	switch (c->optname) {
	case TCP_NODELAY:
		if (!get_int(c, &val) && val)
			set_nodelay(smc);
		break;
	case TCP_DEFER_ACCEPT:
		if (!get_int(c, &val))
			WRITE_ONCE(smc->defer_accept_s,
				   clamp(val, 0, DEFER_MAX));
		break;
	case TCP_USER_TIMEOUT:
	case TCP_KEEPIDLE:
	case TCP_KEEPINTVL:
	case TCP_KEEPCNT:
		look_at_peer(smc->sk);
		break;
	}
	return 0;
}

static int set_smc(struct smc_sock *smc, const struct sockopt_call *c)
{
	int rc, val;

	if (c->optname != SMC_LIMIT_HS && c->optname != SMC_PLAIN_TCP)
		return -EOPNOTSUPP;
	rc = get_int(c, &val);
	if (rc)
		return rc;
	if (c->optname == SMC_PLAIN_TCP)
		return set_plain(smc, val);
	assign_bit(SMC_SK_LIMIT_HS, &smc->bits, val);
	return 0;
}

static int set_socket(const struct sockopt_call *c)
{
	return sock_setsockopt(c->sock, c->level, c->optname, c->optval,
			       c->optlen);
}

/* Would TCP be in state ESTABLISHED? */
static bool is_established(struct smc_sock *smc)
{
	struct smc_conn *conn = smc_sock_conn_get(smc);
	bool yes;

	if (!conn)
		return inet_sk_state_load(smc->sk) == TCP_ESTABLISHED;
	yes = READ_ONCE(conn->state) == SMC_ACTIVE;
	smc_conn_put(conn);
	return yes;
}

/*
 * IPV6_ADDRFORM of a socket that has begun to connect: TCP's errors, without
 * TCP, which reads the value and the address once more.
 */
static int refuse_addrform(struct smc_sock *smc,
			   const struct smc_phase_rules *rules,
			   const struct sockopt_call *c)
{
	const struct sock *sk = smc->sk;
	struct in6_addr peer;
	int rc, val;

	if (sk->sk_family != AF_INET6)
		return -ENOPROTOOPT;
	rc = get_int(c, &val);
	if (rc)
		return rc;
	if (val != AF_INET)
		return -EINVAL;
	if (rules->attempt || !is_established(smc))
		return -ENOTCONN;
	smc_addr_peer(&peer, sk);
	return ipv6_addr_v4mapped(&peer) ? -EBUSY : -EADDRNOTAVAIL;
}

static int set_ours(struct smc_sock *smc, const struct sockopt_call *c)
{
	const struct smc_phase_rules *rules = smc_sock_rules(smc);
	const struct tcp_option *opt;
	int rc;

	if (c->level == SOL_SOCKET) {
		rc = set_socket(c);
		if (!rc && c->optname == SO_KEEPALIVE)
			look_at_peer(smc->sk);
		return rc;
	}
	if (c->level == SOL_SMC)
		return set_smc(smc, c);
	/* IPV6_ADDRFORM would replace our operations by TCP's */
	if (c->level == SOL_IPV6 && c->optname == IPV6_ADDRFORM && !rules->idle)
		return refuse_addrform(smc, rules, c);
	opt = rules->ours ? needs_tcp(c) : NULL;
	if (opt)
		return set_for_tcp(smc, c, opt);
	if (c->level == SOL_TCP)
		return set_tcp(smc, c);
	return base_set(c);
}

/**
 * smc_sock_setsockopt() - setsockopt() of a socket of ours
 * @sock: socket
 * @level: SOL_*; SOL_SOCKET comes here, too
 * @optname: option
 * @optval: its value
 * @optlen: length of that
 *
 * Context: process, no lock held.
 * Return: 0 or -errno.
 */
int smc_sock_setsockopt(struct socket *sock, int level, int optname,
			sockptr_t optval, unsigned int optlen)
{
	const struct sockopt_call c = {
		.sock = sock,
		.level = level,
		.optname = optname,
		.optval = optval,
		.optlen = optlen,
	};
	struct smc_sock *smc = smc_sock_get(sock->sk);
	int rc;

	if (!smc)
		return level == SOL_SOCKET ? smc_sock_pinned(set_socket(&c)) :
					     base_set(&c);
	smc_sock_begin(smc);
	rc = set_ours(smc, &c);
	smc_attempt_unlocked(smc);
	smc_sock_put(smc);
	return rc;
}

/* The value of an option, or as much of it as there is room for. */
static int put_value(const void *val, int size, char __user *optval,
		     int __user *optlen)
{
	int len;

	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	len = min(len, size);
	if (put_user(len, optlen) || copy_to_user(optval, val, len))
		return -EFAULT;
	return 0;
}

static int put_bit(const struct smc_sock *smc, int bit, char __user *optval,
		   int __user *optlen)
{
	int val = test_bit(bit, &smc->bits);

	return put_value(&val, sizeof(val), optval, optlen);
}

/* @conn: NULL in phase HS */
static int put_tcp_info(struct sock *sk, struct smc_conn *conn,
			char __user *optval, int __user *optlen)
{
	struct tcp_info info;

	if (conn)
		smc_sock_tcp_info(conn, &info);
	else
		smc_sock_attempt_info(sk, &info);
	return put_value(&info, sizeof(info), optval, optlen);
}

static int get_smc(const struct smc_sock *smc, int optname,
		   char __user *optval, int __user *optlen)
{
	if (optname == SMC_PLAIN_TCP)
		return put_bit(smc, SMC_SK_PLAIN, optval, optlen);
	if (optname != SMC_LIMIT_HS)
		return -EOPNOTSUPP;
	return put_bit(smc, SMC_SK_LIMIT_HS, optval, optlen);
}

/**
 * smc_sock_getsockopt() - getsockopt() of a socket of ours
 * @sock: socket
 * @level: SOL_*, but not SOL_SOCKET, which the core answers
 * @optname: option
 * @optval: for its value
 * @optlen: room there, then the length of the value
 *
 * TCP_ULP is answered here, as TCP does without a ULP: TCP reads icsk_ulp_ops
 * twice, with an access to user memory between, and fallback may clear it then.
 *
 * Context: process, no lock held.
 * Return: 0 or -errno.
 */
int smc_sock_getsockopt(struct socket *sock, int level, int optname,
			char __user *optval, int __user *optlen)
{
	struct smc_conn *conn;
	struct smc_sock *smc;
	int rc;

	smc = smc_sock_get(sock->sk);
	if (!smc)
		return smc_sock_as_tcp(sock, getsockopt, level, optname,
				       optval, optlen);
	smc_sock_begin(smc);
	conn = level == SOL_TCP ? smc_sock_conn_get(smc) : NULL;
	if (level == SOL_SMC)
		rc = get_smc(smc, optname, optval, optlen);
	else if (level == SOL_TCP && optname == TCP_CORK &&
		 smc_sock_rules(smc)->ours)
		rc = put_bit(smc, SMC_SK_CORK, optval, optlen);
	else if (level == SOL_TCP && optname == TCP_ULP)
		rc = put_value("", 0, optval, optlen);
	else if (level == SOL_TCP && optname == TCP_INFO &&
		 (conn || smc_sock_rules(smc)->attempt))
		rc = put_tcp_info(sock->sk, conn, optval, optlen);
	else if (level == SOL_TCP && optname == TCP_ZEROCOPY_RECEIVE)
		rc = -EINVAL;	/* a ring keeps its pages */
	else
		rc = smc_sock_as_tcp(sock, getsockopt, level, optname, optval,
				     optlen);
	if (conn)
		smc_conn_put(conn);
	smc_sock_put(smc);
	return rc;
}
