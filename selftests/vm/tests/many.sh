# SPDX-License-Identifier: GPL-2.0
# 10,000 connections over shared memory: smcss lists their 20,000 ends within four
# times what ss needs for as many TCP sockets, and in 50 MB.
# when: 6/8 6.12
# guests: 1
# kernels: 6.12
# cpus: 1
# icount: sleep=off
# timeout: 600
# rdma: none
g A "sysctl -q net.smc.handshake_timeout_ms=20000 &&
	sysctl -q net.smc.host_max_ring_kbytes=400000 \
		net.smc.max_ring_kbytes=400000 \
		net.smc.max_ring_kbytes_per_peer=400000 &&
	/lab/selftests/smc/many.py rows 10000"
