/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses of IPv4 and IPv6 in one form: those of IPv4 are mapped.
 *
 * Context: any.
 */
#ifndef SMC_ADDR_H
#define SMC_ADDR_H

#include <linux/in.h>
#include <linux/in6.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>

/* @sa: AF_INET or AF_INET6 */
static inline void smc_addr_get(struct in6_addr *addr,
				const struct sockaddr *sa)
{
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)sa;
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)sa;

	if (sa->sa_family == AF_INET6)
		*addr = v6->sin6_addr;
	else
		ipv6_addr_set_v4mapped(v4->sin_addr.s_addr, addr);
}

/* The socket's own address */
static inline void smc_addr_own(struct in6_addr *addr, const struct sock *sk)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		*addr = sk->sk_v6_rcv_saddr;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(inet_sk(sk)->inet_rcv_saddr, addr);
}

/* The address of the socket's peer */
static inline void smc_addr_peer(struct in6_addr *addr, const struct sock *sk)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		*addr = sk->sk_v6_daddr;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(inet_sk(sk)->inet_daddr, addr);
}

#endif /* SMC_ADDR_H */
