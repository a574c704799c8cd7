// SPDX-License-Identifier: GPL-2.0
/*
 * A CLC message that comes after the connection was given to the program.
 *
 * A server whose client stays silent for the whole deadline cannot tell a
 * client whose SYN-ACK lost its option on the way, and which waits for the
 * server to speak, from one that is slow.  It gives the program a TCP
 * connection and keeps watching: if the first bytes that come are a complete
 * and valid Proposal, they are taken away and answered with a Decline before
 * the program sees anything; all other bytes are left alone.  If the program
 * has sent something already, there is no place for a Decline any more, and
 * the connection is reset.
 *
 * In the same way a Decline is taken away that crossed our own.
 *
 * While this goes on smc_hs_hidden() tells the socket layer to show no bytes.
 * The beginning of a message is held back for one handshake deadline.
 *
 * Context: process, from a step: priv->step is held.
 * Test: selftests/smc/fallback*.sh
 */
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include "hs_priv.h"
#include "reason.h"

static void need(struct smc_hs_priv *priv, u32 bytes)
{
	spin_lock_irq(&priv->hs->lock);
	priv->need = bytes;
	spin_unlock_irq(&priv->hs->lock);
}

/* Send a Decline, unless the program was first. */
static int late_decline(struct smc_hs_priv *priv, u8 *buf,
			struct smc_clc_msg *msg)
{
	struct sock *tcp = priv->hs->inner->sk;
	struct msghdr mh = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct kvec vec = { .iov_base = buf };
	u8 version = msg->version;
	ssize_t len;
	int rc;

	memset(msg, 0, sizeof(*msg));
	msg->type = SMC_CLC_DECLINE;
	msg->version = version;
	msg->decline.os = version > 1 ? SMC_OS_LINUX : 0;
	msg->decline.diagnosis = smc_reason_wire(SMC_REASON_LATECLC);
	smc_host_peer_id(msg->decline.peer_id);
	len = smc_clc_encode(buf, SMC_CLC_MAX_LEN, msg);
	if (len < 0)
		return len;

	vec.iov_len = len;
	iov_iter_kvec(&mh.msg_iter, ITER_SOURCE, &vec, 1, len);
	lock_sock(tcp);
	if (tcp_sk(tcp)->write_seq != priv->write_seq)
		rc = -EBUSY;
	else
		rc = tcp_sendmsg_locked(tcp, &mh, len);
	release_sock(tcp);
	if (rc < 0)
		return rc;
	priv->hs->inner->hs_sent += rc;
	return rc == len ? 0 : -EPIPE;
}

/* A complete message is at the head: is it the one to take away? */
static bool take(struct smc_hs_priv *priv, u8 *buf, size_t len,
		 struct smc_clc_msg *msg)
{
	bool crossing = test_bit(SMC_HS_LATE_DECLINE, &priv->bits);
	enum smc_reason why;

	if (smc_clc_decode(buf, len, msg, &why))
		return false;
	if (msg->type == SMC_CLC_DECLINE)
		return smc_inner_recv(priv->hs->inner, buf, len) == len;
	if (crossing || msg->type != SMC_CLC_PROPOSAL)
		return false;
	if (smc_inner_recv(priv->hs->inner, buf, len) != len)
		return false;
	if (late_decline(priv, buf, msg))
		smc_inner_disconnect(priv->hs->inner);
	return true;
}

/* Peek at what is there.  True: nothing has to be hidden any more. */
static bool examine(struct smc_hs_priv *priv, u8 *buf,
		    struct smc_clc_msg *msg)
{
	struct smc_inner *inner = priv->hs->inner;
	bool ended;
	ssize_t total;
	int n;

	/* Before the bytes: what is readable after the end is all there is. */
	ended = smc_inner_closed(inner) || READ_ONCE(inner->sk->sk_err);
	n = smc_inner_peek(inner, buf, SMC_CLC_MAX_LEN);
	if (n < 0 && n != -EAGAIN)
		return true;
	if (n <= 0) {
		need(priv, 1);
		return ended;
	}
	if (!priv->first_at)
		priv->first_at = jiffies ?: 1;
	total = smc_clc_peek(buf, n);
	if (total < 0 ? total != -EAGAIN : total > SMC_CLC_MAX_LEN)
		return true;
	if (total > 0 && n >= total) {
		take(priv, buf, total, msg);
		return true;
	}
	need(priv, n + 1);
	return ended;
}

/**
 * smc_hs_late() - look at the first bytes of a connection in TCP mode
 * @priv: handshake in state SMC_HS_LATE
 *
 * Return: true if nothing has to be hidden any more.
 */
bool smc_hs_late(struct smc_hs_priv *priv)
{
	struct smc_clc_msg *msg;
	unsigned long until;
	bool end;
	u32 seen;
	u8 *buf;

	buf = kmalloc(SMC_CLC_MAX_LEN, GFP_KERNEL | __GFP_NOFAIL);
	msg = kmalloc(sizeof(*msg), GFP_KERNEL | __GFP_NOFAIL);
	do {
		end = examine(priv, buf, msg);
		seen = READ_ONCE(priv->need);
	} while (!end && smc_inner_readable(priv->hs->inner) >= seen &&
		 !smc_hs_expired(priv));
	kfree(msg);
	kfree(buf);

	if (end || !priv->first_at)
		return end;
	until = priv->first_at + msecs_to_jiffies(priv->span_ms);
	if (time_after_eq(jiffies, until))
		return true;
	priv->deadline = until;
	mod_timer(&priv->timer, until);
	return false;
}
