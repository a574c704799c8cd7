// SPDX-License-Identifier: GPL-2.0
/*
 * The handshake's messages, in and out.
 *
 * Nothing is read beyond the message that is expected.  A message is peeked at
 * until it is complete; what is longer than the buffer is thrown away as it
 * comes.  So every byte that is not part of the handshake stays for the
 * program.
 *
 * Context: process, from a step, no lock held.
 * Test: selftests/smc/fallback*.sh
 */
#include <linux/jiffies.h>
#include <linux/tcp.h>
#include "priv.h"
#include "reason.h"

/* The stream has ended before a message was complete. */
static enum smc_reason gone(const struct smc_hs *hs)
{
	return test_bit(SMC_HS_SPOKE, &hs->bits) ? SMC_REASON_LOSTPEER :
						     SMC_REASON_HSRESET;
}

/* Have a step queued at @want bytes; a reason if they cannot come. */
static enum smc_reason await_bytes(struct smc_hs *hs, u32 want,
				   bool *ready)
{
	smc_hs_need(hs, want);
	/* Bytes that came before smc_hs_need() have queued no step. */
	*ready = smc_hs_tcp_readable(hs->setup.sk) >= want;
	if (*ready)
		return SMC_REASON_OK;
	if (smc_hs_tcp_closed(hs->setup.sk)) {
		/* Data and FIN may have come between the two looks. */
		*ready = smc_hs_tcp_readable(hs->setup.sk) >= want;
		return *ready ? SMC_REASON_OK : gone(hs);
	}
	return SMC_REASON_OK;
}

/* Throw away what is readable of the rest of a long message. */
static enum smc_reason drain_tcp(struct smc_hs *hs)
{
	u8 junk[64];
	bool ready;
	int rc;

	/* Now: bytes that come after the last look queue a step. */
	smc_hs_need(hs, 1);
	/* Bounded by @drain, which was at most 65535. */
	while (hs->drain) {
		rc = smc_hs_read(hs, smc_hs_tcp_recv, junk,
				 min_t(u32, hs->drain, sizeof(junk)));
		if (rc <= 0)
			return await_bytes(hs, 1, &ready);
		hs->drain -= rc;
	}
	return SMC_REASON_OK;
}

/* What begins at the head of the stream? */
static enum smc_reason frame(struct smc_hs *hs, ssize_t *total)
{
	u8 head[SMC_CLC_HDR_LEN];
	enum smc_reason why;
	int n, last = -1;
	bool ready;

	for (;;) {
		n = smc_hs_read(hs, smc_hs_tcp_peek, head, sizeof(head));
		if (n == -EAGAIN) {
			*total = n;
			return SMC_REASON_OK;
		}
		if (n < 0)
			return gone(hs);
		/*
		 * Urgent data: counted as readable, but not peeked.  A FIN
		 * counts as a byte for a moment, but not under the lock.
		 */
		if ((!n && smc_hs_tcp_at_urgent(hs->setup.sk)) ||
		    (n == last && smc_hs_tcp_readable(hs->setup.sk) > n))
			return SMC_REASON_NOTCLC;
		last = n;
		if (n && !hs->first_at)
			hs->first_at = jiffies ?: 1;
		*total = n ? smc_clc_peek(head, n) : -EAGAIN;
		if (*total != -EAGAIN)
			break;
		why = await_bytes(hs, n + 1, &ready);
		if (why != SMC_REASON_OK || !ready)
			return why;
	}
	/* Four bytes may be an eye catcher by chance, but not a header. */
	if (*total < 0)
		return *total == -ENOMSG || !test_bit(SMC_HS_SPOKE, &hs->bits) ?
		       SMC_REASON_NOTCLC : SMC_REASON_MALFORMED;
	set_bit(SMC_HS_SPOKE, &hs->bits);
	return SMC_REASON_OK;
}

/*
 * Take the next message off the stream if it is complete: @got, and it is in
 * data->msg; but a Decline is a reason.
 */
static enum smc_reason next_msg(struct smc_hs *hs, bool *got)
{
	struct smc_hs_data *data = hs->data;
	enum smc_reason why;
	ssize_t total;
	u32 want;
	bool ready;
	int rc;

	*got = false;
	if (!hs->drain) {
		why = frame(hs, &total);
		if (why != SMC_REASON_OK || total < 0)
			return why;
		want = min_t(ssize_t, total, sizeof(data->buf));
		why = await_bytes(hs, want, &ready);
		if (why != SMC_REASON_OK || !ready)
			return why;
		rc = smc_hs_read(hs, smc_hs_tcp_recv, data->buf, want);
		if (rc == -EAGAIN)
			return SMC_REASON_OK;
		/* a FIN has counted as the last byte, as in frame() */
		if (rc >= 0 && rc < want && smc_hs_tcp_closed(hs->setup.sk))
			return gone(hs);
		if (rc != want)
			return SMC_REASON_MALFORMED;
		if (smc_clc_decode(data->buf, want, &data->msg))
			return SMC_REASON_MALFORMED;
		hs->drain = total - want;
	}
	why = drain_tcp(hs);
	if (why != SMC_REASON_OK || hs->drain)
		return why;
	smc_hs_need(hs, 1);
	if (data->msg.type != SMC_CLC_DECLINE) {
		*got = true;
		return SMC_REASON_OK;
	}
	hs->peer_diagnosis = data->msg.decline.diagnosis;
	/* a group that this handshake has made ends with it */
	if (data->msg.decline.out_of_sync && hs->conn && hs->conn->lgr)
		smc_lgr_close(hs->conn->lgr);
	return SMC_REASON_PEERDECL;
}

/**
 * smc_hs_await() - take the one message that may come now
 * @hs: handshake
 * @type: SMC_CLC_ACCEPT, ...
 * @late: what it means that the deadline passes without it
 * @got: true if it is in data->msg
 *
 * A long message of another type is wrong when it begins: its head has been
 * taken, and if the rest does not come the stream is of no use.
 *
 * Return: SMC_REASON_OK (got or not); @late; WRONGMSG; SMC_REASON_PEERDECL for
 * a Decline; NOTCLC with every byte left where it was; HSRESET or
 * LOSTPEER if the stream has ended (before or after the peer's first message);
 * MALFORMED.
 */
enum smc_reason smc_hs_await(struct smc_hs *hs, u8 type,
			     enum smc_reason late, bool *got)
{
	enum smc_reason why = next_msg(hs, got);

	if (why != SMC_REASON_OK)
		return why;
	if ((*got || hs->drain) && hs->data->msg.type != type)
		return SMC_REASON_WRONGMSG;
	/* put_off: a system call owned the socket, look again. */
	return !*got && smc_hs_expired(hs) && !READ_ONCE(hs->put_off) ?
	       late : SMC_REASON_OK;
}

/**
 * smc_hs_look() - while something else is awaited: has the peer declined?
 * @hs: handshake
 *
 * Return: as smc_hs_await(); WRONGMSG for any message but a Decline, which is
 * never long.
 */
enum smc_reason smc_hs_look(struct smc_hs *hs)
{
	enum smc_reason why;
	bool got;

	why = next_msg(hs, &got);
	if (why == SMC_REASON_OK && (got || hs->drain))
		why = SMC_REASON_WRONGMSG;
	return why;
}

/**
 * smc_hs_write() - encode and send data->msg
 * @hs: handshake
 * @mark: bit of hs->bits to be set once it was sent, -1: none
 *
 * Return: 0: it is sent, or will be before the next step; or -errno.
 */
int smc_hs_write(struct smc_hs *hs, int mark)
{
	struct smc_hs_data *data = hs->data;
	ssize_t len;
	int rc;

	len = smc_clc_encode(data->out, sizeof(data->out), &data->msg);
	if (len < 0)
		return len;
	data->out_len = len;
	data->out_mark = mark;
	data->out_until = jiffies + msecs_to_jiffies(hs->span_ms);
	rc = smc_hs_flush(hs);
	/* run() or finish() sends it before anything else */
	return rc == -EAGAIN ? 0 : rc;
}

/**
 * smc_hs_write_decline() - send a Decline
 * @hs: handshake
 * @why: own reason
 *
 * Return: as smc_hs_write().
 */
int smc_hs_write_decline(struct smc_hs *hs, enum smc_reason why)
{
	struct smc_clc_msg *msg = &hs->data->msg;

	memset(msg, 0, sizeof(*msg));
	msg->type = SMC_CLC_DECLINE;
	msg->version = hs->version;
	msg->decline.out_of_sync = why == SMC_REASON_SYNCERR;
	msg->decline.os = hs->version > 1 ? SMC_OS_LINUX : 0;
	msg->decline.diagnosis = smc_reason_wire(why);
	if (hs->data->choice.mode != SMC_CLC_MODE_D)
		smc_peer_id_get(hs->setup.sn, msg->decline.peer_id);
	return smc_hs_write(hs, -1);
}
