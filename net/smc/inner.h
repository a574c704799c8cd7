/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The inner TCP socket: create, connect, watch, close.
 *
 * Knows struct socket and nothing of SMC's own socket; used by the handshake
 * and by the socket layer.  No function pointer of the inner socket is ever
 * replaced: who wants to know what happens adds an entry to its wait queue.
 */
#ifndef SMC_INNER_H
#define SMC_INNER_H

#include <linux/net.h>
#include <linux/wait.h>
#include <net/sock.h>

/**
 * struct smc_inner - an inner TCP socket and our entry in its wait queue
 * @sock: the socket, released once by smc_inner_release()
 * @sk: its sock, referenced by us until smc_inner_put()
 * @wait: our wait-queue entry
 * @hs_sent: bytes of the handshake on the connection, not the program's
 * @hs_rcvd: the same of the peer's
 * @wake: called from the wait queue with interrupts possibly off; @key 0 means
 *	"anything".  Must not sleep nor take a socket lock.
 */
struct smc_inner {
	struct socket *sock;
	struct sock *sk;
	wait_queue_entry_t wait;
	u32 hs_sent;
	u32 hs_rcvd;
	void (*wake)(struct smc_inner *inner, __poll_t key);
};

/* kern=0 socket in @net; adds the wait entry.  0 or -errno.  Process. */
int smc_inner_create(struct smc_inner *inner, struct net *net, int family,
		     void (*wake)(struct smc_inner *inner, __poll_t key));
/*
 * Take one connection from a listening inner socket without waiting.
 * -EAGAIN: none there.  The child belongs to @uid, not to the worker that
 * takes it, and its buffers are charged as the listener's.  Resets what must
 * not be inherited (SO_RCVLOWAT).
 */
int smc_inner_accept(struct smc_inner *child, struct smc_inner *listener,
		     kuid_t uid,
		     void (*wake)(struct smc_inner *inner, __poll_t key));
/* Ask the LSM what it asks at a TCP socket's bind() or connect().  Process. */
int smc_inner_permission(struct smc_inner *inner, bool is_bind,
			 const struct sockaddr *addr, int len);
/* SO_COOKIE of the inner socket. */
u64 smc_inner_cookie(const struct smc_inner *inner);
/* Does a listening inner socket have a connection to be taken?  Lockless. */
bool smc_inner_acceptable(const struct smc_inner *inner);
/*
 * Let the inner socket borrow the program's file: TCP wants one for splice,
 * SIGURG and netfilter's owner match.  No reference; smc_inner_release() or
 * smc_inner_lend(inner, NULL) takes it back while the file still exists.
 */
void smc_inner_lend(struct smc_inner *inner, struct file *file);
void smc_inner_no_linger(struct smc_inner *inner);
/* Remove the wait entry and release the socket.  Idempotent.  Process. */
void smc_inner_release(struct smc_inner *inner);
/* Drop the sock reference: only from the owner's destructor. */
void smc_inner_put(struct smc_inner *inner);

/* TCP connection established (also CLOSE_WAIT: FIN came with the data). */
bool smc_inner_established(const struct smc_inner *inner);
/* Local address into @name (sockaddr_in or sockaddr_in6), locked.  Length. */
int smc_inner_name(const struct smc_inner *inner, struct sockaddr_in6 *name);
/* Bytes that can be read now; lockless. */
u32 smc_inner_readable(const struct smc_inner *inner);
/* Anything at all to read, be it an urgent byte or FIN; lockless. */
bool smc_inner_queued(const struct smc_inner *inner);
bool smc_inner_at_urgent(const struct smc_inner *inner);
/* Peer has sent FIN or RST. */
bool smc_inner_closed(const struct smc_inner *inner);
/* These with the lock of the inner socket held, see inner.c. */
int smc_inner_peek(struct smc_inner *inner, void *buf, size_t len);
int smc_inner_recv(struct smc_inner *inner, void *buf, size_t len);
int smc_inner_send(struct smc_inner *inner, const void *buf, size_t len);
int smc_inner_connect_locked(struct smc_inner *inner, struct sockaddr *addr,
			     int len);
int smc_inner_disconnect_locked(struct smc_inner *inner);

int smc_inner_disconnect(struct smc_inner *inner);
void smc_inner_offer(struct smc_inner *inner, bool on);
/* Reset the connection; the socket keeps its names.  Process. */
void smc_inner_abort(struct smc_inner *inner);
/* sk_err of the inner socket, moved out. */
int smc_inner_take_error(struct smc_inner *inner);
/* Smoothed round-trip time in ms, 0 if unknown. */
u32 smc_inner_notsent_lowat(const struct smc_inner *inner);
u32 smc_inner_rtt_ms(const struct smc_inner *inner);

#endif /* SMC_INNER_H */
