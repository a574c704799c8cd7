/* SPDX-License-Identifier: GPL-2.0 */
/* TCP_INFO with the counters of bytes.  Tested by its users. */
#ifndef SMC_SELFTEST_TCPINFO_H
#define SMC_SELFTEST_TCPINFO_H

#include "util.h"

/* the kernel's, as far as this asks; libc's ends before bytes_acked */
struct info {
	uint8_t state, fill[7];
	uint32_t rto, ato, snd_mss, rcv_mss, unacked, sacked, lost, retrans,
		 fackets, last_data_sent, last_ack_sent, last_data_recv,
		 last_ack_recv, pmtu, rcv_ssthresh, rtt, rttvar, snd_ssthresh,
		 snd_cwnd, advmss, reordering, rcv_rtt, rcv_space,
		 total_retrans;
	uint64_t pacing_rate, max_pacing_rate, bytes_acked, bytes_received;
	uint32_t segs_out, segs_in, notsent_bytes, min_rtt, data_segs_in,
		 data_segs_out;
	uint64_t delivery_rate, busy_time, rwnd_limited, sndbuf_limited;
	uint32_t delivered, delivered_ce;
	uint64_t bytes_sent;
};

struct info info_of(int fd);

#endif /* SMC_SELFTEST_TCPINFO_H */
