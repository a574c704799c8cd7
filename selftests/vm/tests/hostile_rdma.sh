# SPDX-License-Identifier: GPL-2.0
# A peer that breaks the rules on an RDMA link: selftests/smc/hostile_rdma.py
# says what is tried.  Then with 50 honest streams of this host beside: 100,000
# forged CDC and 20,000 LLC messages with LONG=1.
# when: 4/8 6.12; 1/8 debug
# guests: 1
# timeout: 180
# cpus: 2
# rdma: none
g A "modprobe -a tun ib_uverbs rdma_rxe
	sysctl -q net.smc.handshake_timeout_ms=20000 net.smc.fallback_memory_s=0 \
		net.smc.conns_per_queue=0
	mountpoint -q /sys/kernel/tracing || mount -t tracefs t /sys/kernel/tracing
	ip tuntap add dev clc0 mode tap && ip address add 10.99.0.1/24 dev clc0 &&
	ip link set clc0 up && rdma link add clcrxe type rxe netdev clc0 &&
	HOSTILE_LONG=${LONG:-} /lab/selftests/smc/hostile_rdma.py ${HOSTILE_CASES:-}"
[ -n "${HOSTILE_CASES:-}" ] ||
	g A "sysctl -q net.smc.transports=smcr
		HOSTILE_STREAMS=50 HOSTILE_LONG=${LONG:-} \
			/lab/selftests/smc/hostile_rdma.py random queue_full" || fail "beside"
