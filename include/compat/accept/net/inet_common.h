/* SPDX-License-Identifier: GPL-2.0 */
/*
 * v6.10: accept() takes a struct (commit 92ef0fd55ac8); before, two of its
 * members.
 */
#ifndef SMC_COMPAT_INET_COMMON_H
#define SMC_COMPAT_INET_COMMON_H

#include_next <net/inet_common.h>

struct proto_accept_arg {
	int flags;
	bool kern;
};

#define inet_accept(sock, newsock, arg) \
	inet_accept(sock, newsock, (arg)->flags, (arg)->kern)

int smc_sock_accept(struct socket *sock, struct socket *newsock,
		    struct proto_accept_arg *arg);

static inline int smc_compat_accept(struct socket *sock, struct socket *newsock,
				    int flags, bool kern)
{
	struct proto_accept_arg arg = { .flags = flags, .kern = kern };

	return smc_sock_accept(sock, newsock, &arg);
}

#undef SMC_ACCEPT_OP
#define SMC_ACCEPT_OP(function) smc_compat_accept

#endif /* SMC_COMPAT_INET_COMMON_H */
