// SPDX-License-Identifier: GPL-2.0
/*
 * A CLC message that comes after the connection was given to the program.
 *
 * A server whose client stays silent up to the deadline cannot tell a
 * client whose SYN-ACK lost its option on the way, and which waits for the
 * server to speak, from one that is slow.  It gives the program a TCP
 * connection and keeps watching: if the first bytes that come are a complete
 * and valid Proposal, they are taken away and answered with a Decline before
 * the program sees anything; all other bytes are left alone.  If the program
 * has sent something already, there is no place for a Decline any more, and
 * the connection is reset.
 *
 * In the same way a Decline that crossed our own is taken away.
 *
 * While this goes on the socket layer shows no bytes (struct smc_hs_result).
 * The beginning of a message is held back for one handshake deadline.
 *
 * Context: from a step, between smc_hs_lock() and smc_hs_unlock(): BH disabled.
 * Test: selftests/smc/fallback*.sh
 */
#include <linux/tcp.h>
#include <net/tcp.h>
#include "priv.h"
#include "reason.h"

/* Send a Decline, unless the program has written to the stream. */
static bool late_decline(struct smc_hs *hs, u8 *buf, struct smc_clc_msg *msg)
{
	enum smc_reason why = test_bit(SMC_HS_LIMITED, &hs->bits) ?
			      SMC_REASON_HSLIMIT : SMC_REASON_LATECLC;
	u8 version = msg->version;
	ssize_t len;

	if (tcp_sk(hs->setup.sk)->write_seq != hs->write_seq)
		return false;
	memset(msg, 0, sizeof(*msg));
	msg->type = SMC_CLC_DECLINE;
	msg->version = version;
	msg->decline.os = version > 1 ? SMC_OS_LINUX : 0;
	msg->decline.diagnosis = smc_reason_wire(why);
	smc_peer_id_get(hs->setup.sn, msg->decline.peer_id);
	len = smc_clc_encode(buf, SMC_CLC_MAX_LEN, msg);
	return len >= 0 && !smc_hs_tcp_send(hs->setup.sk, buf, len);
}

/* A complete message is at the head: is it the one to take away? */
static bool take_message(struct smc_hs *hs, u8 *buf, size_t len,
			 struct smc_clc_msg *msg)
{
	bool crossing = test_bit(SMC_HS_LATE_DECLINE, &hs->bits);

	if (smc_clc_decode(buf, len, msg))
		return false;
	if (msg->type == SMC_CLC_DECLINE)
		return smc_hs_tcp_recv(hs->setup.sk, buf, len) == len;
	if (crossing || msg->type != SMC_CLC_PROPOSAL)
		return false;
	if (smc_hs_tcp_recv(hs->setup.sk, buf, len) != len)
		return false;
	if (!late_decline(hs, buf, msg))
		smc_hs_tcp_reset(hs->setup.sk);
	return true;
}

/* Peek at the unread bytes.  True: none has to be held back any more. */
static bool examine(struct smc_hs *hs, u8 *buf, struct smc_clc_msg *msg)
{
	struct sock *sk = hs->setup.sk;
	bool ended;
	ssize_t total;
	int n;

	ended = smc_hs_tcp_closed(sk);
	n = smc_hs_tcp_peek(sk, buf, SMC_CLC_MAX_LEN);
	if (n < 0)
		return true;
	if (!n && smc_hs_tcp_at_urgent(sk))
		return true;
	if (!n) {
		smc_hs_need(hs, 1);
		return ended;
	}
	if (!hs->first_at)
		hs->first_at = jiffies ?: 1;
	total = smc_clc_peek(buf, n);
	if (total < 0 ? total != -EAGAIN : total > SMC_CLC_MAX_LEN)
		return true;
	if (total > 0 && n >= total) {
		take_message(hs, buf, total, msg);
		return true;
	}
	smc_hs_need(hs, n + 1);
	return ended;
}

/**
 * smc_hs_late() - look at the first bytes of a connection that is TCP's
 * @hs: handshake in state SMC_HS_LATE
 * @buf: scratch, SMC_CLC_MAX_LEN bytes
 * @msg: scratch
 *
 * Return: true if nothing has to be held back any more.
 */
bool smc_hs_late(struct smc_hs *hs, u8 *buf, struct smc_clc_msg *msg)
{
	unsigned long until;

	lockdep_assert_held(&hs->setup.sk->sk_lock.slock);
	if (examine(hs, buf, msg))
		return true;
	if (!hs->first_at)
		return false;
	until = hs->first_at + msecs_to_jiffies(hs->span_ms);
	if (time_after_eq(jiffies, until))
		return true;
	smc_hs_set_deadline(hs, until);
	return false;
}
