// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options.
 *
 * The level decides, and nothing but the level:
 *
 *	SOL_SMC		ours
 *	SOL_SOCKET	set on the inner socket and on ours (the core answers
 *			getsockopt() from ours), except the few that would
 *			disturb the handshake and wait for fallback
 *	SOL_TCP		the inner socket, after what they mean for SMC
 *	all others	the inner socket
 *
 * Options that promise something SMC cannot keep (Fast Open, MD5, AO, ULP,
 * REPAIR, IPsec policies) make the socket plain TCP before it connects, if TCP
 * accepts them; on an SMC connection they are refused with the errno of a
 * kernel that does not have them.  A listener goes on answering the offers of
 * SYNs (the child of a SYN that was answered could not be told from others), and
 * the handshake declines.
 *
 * Context: process, no lock of ours: the inner setsockopt() may take the
 * rtnl lock.  Tests: selftests/smc.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/tcp.h>
#include <linux/sockptr.h>
#include <linux/smc.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "sock.h"

/* Seconds for which TCP_DEFER_ACCEPT may wait; TCP has a limit, too. */
#define DEFER_MAX	65535

/* Ring sizes: a power of two from here (size code 0). */
#define RING_MIN	16384U

static int get_int(sockptr_t optval, unsigned int optlen, int *val)
{
	if (optlen < sizeof(int))
		return -EINVAL;
	return copy_from_sockptr(val, optval, sizeof(int)) ? -EFAULT : 0;
}

/**
 * smc_sockopt_to_tcp() - hand over what was kept from the inner socket
 * @smc: socket that becomes plain TCP
 *
 * Context: process, the inner socket's lock is held.
 */
void smc_sockopt_to_tcp(struct smc_sock *smc)
{
	struct socket *sock = smc->inner.sock;
	int lowat = READ_ONCE(smc->sk.sk_rcvlowat);
	int off = READ_ONCE(smc->sk.sk_peek_off);
	struct sock *tcp = smc->inner.sk;

	sock_owned_by_me(tcp);
	if (lowat != 1)
		sock->ops->set_rcvlowat(tcp, lowat);
	if (off >= 0)
		sock->ops->set_peek_off(tcp, off);
	/* as TCP_CORK does before there are data */
	if (test_bit(SMC_SK_CORK, &smc->bits))
		tcp_sk(tcp)->nonagle |= TCP_NAGLE_CORK;
}

static u32 ring_size(int buf)
{
	u32 len = clamp(buf / 2, (int)RING_MIN, 1 << 29);

	return roundup_pow_of_two(len);
}

/**
 * smc_sock_ring_sizes() - choose the rings by SO_SNDBUF and SO_RCVBUF
 * @smc: socket before its handshake
 * @snd: send ring, bytes
 * @rcv: receive ring, bytes
 *
 * The option values count double, as usual.
 */
void smc_sock_ring_sizes(const struct smc_sock *smc, u32 *snd, u32 *rcv)
{
	*snd = ring_size(READ_ONCE(smc->sk.sk_sndbuf));
	*rcv = ring_size(READ_ONCE(smc->sk.sk_rcvbuf));
}

static bool in_mode_tcp(const struct smc_sock *smc)
{
	return smc_sock_mode(smc) == SMC_MODE_TCP;
}

/* Means something only where packets are. */
static bool for_inner_only(int optname)
{
	switch (optname) {
	case SO_ATTACH_FILTER:
	case SO_ATTACH_BPF:
	case SO_DETACH_FILTER:
	case SO_LOCK_FILTER:
	case SO_ATTACH_REUSEPORT_CBPF:
	case SO_ATTACH_REUSEPORT_EBPF:
	case SO_DETACH_REUSEPORT_BPF:
#ifdef SO_DEVMEM_DONTNEED
	case SO_DEVMEM_DONTNEED:
#endif
		return true;
	default:
		return false;
	}
}

/* An option of keepalive or TCP_USER_TIMEOUT has changed. */
static void look_at_peer(struct smc_sock *smc)
{
	struct smc_conn *conn = smc_sock_conn_get(smc);

	if (!conn)
		return;
	smc_watch_start(conn);
	smc_conn_put(conn);
}

static int set_socket(struct socket *sock, int optname, sockptr_t optval,
		      unsigned int optlen)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	struct sock *sk = sock->sk;
	bool inner = true;
	int rc, val;

	/*
	 * A low-water mark would keep CLC messages from waking anybody, and
	 * the handshake peeks.
	 */
	if (optname == SO_RCVLOWAT || optname == SO_PEEK_OFF)
		inner = in_mode_tcp(smc);
	/* The core refuses these two on our families. */
	if (optname == SO_ZEROCOPY || optname == SO_RESERVE_MEM)
		inner = false;
	if (inner) {
		rc = sock_setsockopt(smc->inner.sock, SOL_SOCKET, optname,
				     optval, optlen);
		if (rc || for_inner_only(optname))
			return rc;
	}
	/* The core refuses this one on families that are not inet. */
	if (optname == SO_REUSEPORT) {
		rc = get_int(optval, optlen, &val);
		if (rc)
			return rc;
		lock_sock(sk);
		sk->sk_reuseport = !!val;
		release_sock(sk);
		return 0;
	}
	rc = sock_setsockopt(sock, SOL_SOCKET, optname, optval, optlen);
	if (!rc && optname == SO_KEEPALIVE)
		look_at_peer(smc);
	return rc;
}

static int inner_set(struct smc_sock *smc, int level, int optname,
		     sockptr_t optval, unsigned int optlen)
{
	struct socket *tcp = smc->inner.sock;

	return tcp->ops->setsockopt(tcp, level, optname, optval, optlen);
}

/* Does it need TCP?  @too_late: errno on SMC, 0: TCP itself refuses it then. */
static bool needs_tcp(int level, int optname, int *too_late)
{
	*too_late = -ENOPROTOOPT;
	if (level == SOL_IP)
		return optname == IP_XFRM_POLICY ||
		       optname == IP_IPSEC_POLICY;
	if (level == SOL_IPV6)
		return optname == IPV6_XFRM_POLICY ||
		       optname == IPV6_IPSEC_POLICY;
	if (level != SOL_TCP)
		return false;
	switch (optname) {
	case TCP_MD5SIG:
	case TCP_MD5SIG_EXT:
	case TCP_AO_ADD_KEY:
	case TCP_AO_INFO:
		return true;
	case TCP_ULP:
		*too_late = -ENOENT;
		return true;
	case TCP_REPAIR:
		*too_late = -EPERM;
		return true;
	case TCP_FASTOPEN:
	case TCP_FASTOPEN_CONNECT:
	case TCP_FASTOPEN_KEY:
	case TCP_FASTOPEN_NO_COOKIE:
		*too_late = 0;
		return true;
	default:
		return false;
	}
}

/* Some of these are switches. */
static bool switched_off(int level, int optname, sockptr_t optval)
{
	int val = 1;

	if (level != SOL_TCP || (optname != TCP_FASTOPEN &&
				 optname != TCP_FASTOPEN_CONNECT &&
				 optname != TCP_FASTOPEN_NO_COOKIE))
		return false;
	return !copy_from_sockptr(&val, optval, sizeof(val)) && !val;
}

/*
 * An option that needs TCP.  The mark comes before TCP sees it: connect() and
 * this look at each other under the lock, and user memory is touched without.
 */
static int set_for_tcp(struct smc_sock *smc, int level, int optname,
		       int too_late, sockptr_t optval, unsigned int optlen)
{
	struct sock *sk = &smc->sk;
	bool marked, smc_now;
	int rc;

	if (in_mode_tcp(smc))
		return inner_set(smc, level, optname, optval, optlen);
	lock_sock(sk);
	/* in this order, see there */
	smc_now = smc_sock_connecting(smc) ||
		  smc_sock_mode(smc) == SMC_MODE_SMC;
	marked = smc_now || test_and_set_bit(SMC_SK_NOSMC, &smc->bits);
	release_sock(sk);
	if (smc_now && too_late)
		return too_late;
	rc = inner_set(smc, level, optname, optval, optlen);
	if (marked)
		return rc;
	if (rc || switched_off(level, optname, optval))
		clear_bit(SMC_SK_NOSMC, &smc->bits);
	return rc;
}

/* SMC_PLAIN_TCP: not once the way of a connection is decided. */
static int set_plain(struct smc_sock *smc, bool on)
{
	bool connecting = smc_sock_connecting(smc);
	const struct smc_mode *mode = smp_load_acquire(&smc->mode);

	if (mode->id == SMC_MODE_TCP && on)
		return 0;
	if (mode->id == SMC_MODE_TCP || mode->id == SMC_MODE_SMC || connecting)
		return -EINVAL;
	if (on) {
		set_bit(SMC_SK_PLAIN, &smc->bits);
		return 0;
	}
	clear_bit(SMC_SK_PLAIN, &smc->bits);
	if (mode->id == SMC_MODE_LISTEN && smc_sock_barred(smc) == SMC_REASON_OK)
		smc_inner_offer(&smc->inner, true);
	return 0;
}

static bool is_plain(const struct smc_sock *smc)
{
	return test_bit(SMC_SK_PLAIN, &smc->bits) ||
	       READ_ONCE(smc->reason) == SMC_REASON_APPTCP;
}

static int set_cork(struct smc_sock *smc, sockptr_t optval,
		    unsigned int optlen)
{
	struct smc_conn *conn;
	int rc, val;

	rc = get_int(optval, optlen, &val);
	if (rc)
		return rc;
	if (val)
		set_bit(SMC_SK_CORK, &smc->bits);
	else
		clear_bit(SMC_SK_CORK, &smc->bits);
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
	/* an explicit push, as TCP has it, of a corked socket too */
	smc_tx_uncork(conn);
	smc_conn_put(conn);
}

static int set_tcp(struct smc_sock *smc, int optname, sockptr_t optval,
		   unsigned int optlen)
{
	int rc, val;

	if (optname == TCP_CORK && !in_mode_tcp(smc))
		return set_cork(smc, optval, optlen);
	rc = inner_set(smc, SOL_TCP, optname, optval, optlen);
	if (rc)
		return rc;
	switch (optname) {
	case TCP_NODELAY:
		if (!get_int(optval, optlen, &val) && val)
			set_nodelay(smc);
		break;
	case TCP_DEFER_ACCEPT:
		if (!get_int(optval, optlen, &val))
			WRITE_ONCE(smc->defer_accept_s,
				   clamp(val, 0, DEFER_MAX));
		break;
	case TCP_INQ:
		if (!get_int(optval, optlen, &val) && val)
			set_bit(SMC_SK_INQ, &smc->bits);
		else
			clear_bit(SMC_SK_INQ, &smc->bits);
		break;
	case TCP_USER_TIMEOUT:
		if (!get_int(optval, optlen, &val))
			WRITE_ONCE(smc->user_timeout_ms, max(val, 0));
		fallthrough;
	case TCP_KEEPIDLE:
	case TCP_KEEPINTVL:
	case TCP_KEEPCNT:
		look_at_peer(smc);
		break;
	}
	return 0;
}

static int set_smc(struct smc_sock *smc, int optname, sockptr_t optval,
		   unsigned int optlen)
{
	int rc, val;

	if (optname != SMC_LIMIT_HS && optname != SMC_PLAIN_TCP)
		return -EOPNOTSUPP;
	rc = get_int(optval, optlen, &val);
	if (rc)
		return rc;
	if (optname == SMC_PLAIN_TCP)
		return set_plain(smc, val);
	if (val)
		set_bit(SMC_SK_LIMIT_HS, &smc->bits);
	else
		clear_bit(SMC_SK_LIMIT_HS, &smc->bits);
	return 0;
}

int smc_sock_setsockopt(struct socket *sock, int level, int optname,
			sockptr_t optval, unsigned int optlen)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	int too_late;

	if (level == SOL_SOCKET)
		return set_socket(sock, optname, optval, optlen);
	if (level == SOL_SMC)
		return set_smc(smc, optname, optval, optlen);
	if (needs_tcp(level, optname, &too_late))
		return set_for_tcp(smc, level, optname, too_late, optval,
				   optlen);
	if (level == SOL_TCP)
		return set_tcp(smc, optname, optval, optlen);
	return inner_set(smc, level, optname, optval, optlen);
}

static int put_int(int val, char __user *optval, int __user *optlen)
{
	int len;

	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	len = min_t(int, len, sizeof(val));
	if (put_user(len, optlen) || copy_to_user(optval, &val, len))
		return -EFAULT;
	return 0;
}

int smc_sock_getsockopt(struct socket *sock, int level, int optname,
			char __user *optval, int __user *optlen)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	struct socket *tcp = smc->inner.sock;

	if (level == SOL_SMC) {
		if (optname == SMC_PLAIN_TCP)
			return put_int(is_plain(smc), optval, optlen);
		if (optname != SMC_LIMIT_HS)
			return -EOPNOTSUPP;
		return put_int(test_bit(SMC_SK_LIMIT_HS, &smc->bits), optval,
			       optlen);
	}
	if (level == SOL_TCP && optname == TCP_CORK && !in_mode_tcp(smc))
		return put_int(test_bit(SMC_SK_CORK, &smc->bits), optval,
			       optlen);
	if (level == SOL_TCP && optname == TCP_INFO && in_mode_tcp(smc) &&
	    (smc->inner.hs_sent || smc->inner.hs_rcvd))
		return smc_sock_tcp_info(smc, optval, optlen);
	if (level == SOL_TCP && smc_sock_mode(smc) == SMC_MODE_SMC) {
		if (optname == TCP_INFO)
			return smc_sock_tcp_info(smc, optval, optlen);
		/* no mapping of ours can be TCP's */
		if (optname == TCP_ZEROCOPY_RECEIVE)
			return -EINVAL;
	}
	return tcp->ops->getsockopt(tcp, level, optname, optval, optlen);
}
