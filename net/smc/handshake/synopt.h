/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two implementations of the SYN option (synopt.c chooses one).
 */
#ifndef SMC_SYNOPT_H
#define SMC_SYNOPT_H

#include <linux/types.h>

struct request_sock;
struct sock;

/**
 * struct smc_synopt_ops - an implementation of the SYN option
 * @name: as the module parameter has it
 * @init: get ready; 0 or -errno
 * @exit: no socket uses it any more; requests may
 * @offer: the next SYN has the option; the socket is owned
 * @answer: SYN-ACKs that answer a SYN with the option have it; the socket is
 *	owned
 * @off: undo either.  TCP may be destroying the socket, in any context
 * @answers: has @answer been called for this listener?
 * @peer_has: client, established: had the SYN-ACK the option?
 * @crossed: optional; client, just now established, with @peer_has: was the
 *	peer's option in a SYN that crossed ours, and may ours have been in a
 *	SYN-ACK?
 * @req_has: had the SYN of a request and its SYN-ACK the option?  The child is
 *	a copy of its listener, and locked
 */
struct smc_synopt_ops {
	const char *name;
	int (*init)(void);
	void (*exit)(void);
	void (*offer)(struct sock *sk);
	void (*answer)(struct sock *sk);
	void (*off)(struct sock *sk);
	bool (*answers)(const struct sock *sk);
	bool (*peer_has)(const struct sock *sk);
	bool (*crossed)(const struct sock *sk);
	bool (*req_has)(const struct request_sock *req, struct sock *child);
};

extern const struct smc_synopt_ops smc_synopt_native;
extern const struct smc_synopt_ops smc_synopt_provider;

#endif /* SMC_SYNOPT_H */
