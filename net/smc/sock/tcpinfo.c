// SPDX-License-Identifier: GPL-2.0
/*
 * TCP_INFO of an SMC connection: what TCP knows of its connection (times,
 * segment sizes, how it was set up), and over it what only we know: the state
 * and the bytes, which did not go by TCP.
 *
 * Context: process.  Tests: selftests/smc/sockopts.c.
 */
#include <linux/tcp.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "sock.h"

/* The state in which TCP would be. */
static u8 tcp_state(const struct smc_conn *conn)
{
	bool queued = READ_ONCE(conn->st_flags) &
		      (SMC_ST_DONE_QUEUED | SMC_ST_CLOSE_QUEUED);

	if (smc_close_over(conn))
		return TCP_CLOSE;
	switch (READ_ONCE(conn->state)) {
	case SMC_PEERCLOSEWAIT1:
	case SMC_PEERCLOSEWAIT2:
		return queued ? TCP_FIN_WAIT1 : TCP_FIN_WAIT2;
	case SMC_APPCLOSEWAIT1:
		return TCP_CLOSE_WAIT;
	case SMC_APPCLOSEWAIT2:
	case SMC_APPFINCLOSEWAIT:
	case SMC_PEERFINCLOSEWAIT:
		return TCP_LAST_ACK;
	default:
		return TCP_ESTABLISHED;
	}
}

static u32 ago_ms(unsigned long stamp)
{
	return jiffies_to_msecs(jiffies - stamp);
}

/**
 * smc_sock_tcp_info() - TCP_INFO of an SMC connection
 * @conn: connection
 * @info: overwritten
 *
 * Context: process, no lock held.
 */
void smc_sock_tcp_info(struct smc_conn *conn, struct tcp_info *info)
{
	u64 sent, acked, used;

	tcp_get_info(conn->sk, info);
	/* what the peer has may not have been reported yet */
	smc_tx_request_completion(conn);
	sent = READ_ONCE(conn->sent_pos);
	acked = conn->merged ? sent : min(READ_ONCE(conn->done_pos), sent);
	used = sent - min(READ_ONCE(conn->peer_read_pos), sent);

	info->tcpi_state = tcp_state(conn);
	info->tcpi_bytes_sent = sent;
	info->tcpi_bytes_acked = acked;
	info->tcpi_bytes_received = READ_ONCE(conn->rcvd_pos);
	info->tcpi_notsent_bytes = smc_conn_unsent(conn);
	info->tcpi_unacked = DIV_ROUND_UP((u32)(sent - acked),
					  max(info->tcpi_snd_mss, 1U));
	info->tcpi_snd_wnd = conn->peer_size - min(used, conn->peer_size);
	SMC_SET_RCV_WND(info, conn->rcv_size -
			      (u32)max(smc_conn_readable(conn), 0LL));
	info->tcpi_rcv_space = conn->rcv_size;
	info->tcpi_bytes_retrans = 0;
	if (READ_ONCE(conn->tx_stamp))
		info->tcpi_last_data_sent = ago_ms(READ_ONCE(conn->tx_stamp));
	if (READ_ONCE(conn->rx_stamp))
		info->tcpi_last_data_recv = ago_ms(READ_ONCE(conn->rx_stamp));
}

/**
 * smc_sock_attempt_info() - TCP_INFO while connect() goes on
 * @sk: socket in phase HS
 * @info: filled in
 *
 * The TCP connection may be there and carry the handshake, but it is not the
 * program's yet.
 *
 * Context: process, no lock held.
 */
void smc_sock_attempt_info(struct sock *sk, struct tcp_info *info)
{
	tcp_get_info(sk, info);
	if (info->tcpi_state != TCP_CLOSE)
		info->tcpi_state = TCP_SYN_SENT;
	info->tcpi_bytes_sent = 0;
	info->tcpi_bytes_acked = 0;
	info->tcpi_bytes_received = 0;
}
