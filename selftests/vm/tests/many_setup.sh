# SPDX-License-Identifier: GPL-2.0
# 50,000 connections over shared memory, 100,000 idle ends: the last thousand are
# set up within a fifth more instructions than the first.
# when: long, so many take minutes
# guests: 1
# kernels: 6.12
# cpus: 1
# icount: sleep=off
# mem: 4096
# timeout: 900
# rdma: none
g A "sysctl -q net.smc.handshake_timeout_ms=20000 &&
	sysctl -q net.smc.host_max_ring_kbytes=2000000 \
		net.smc.max_ring_kbytes=2000000 \
		net.smc.max_ring_kbytes_per_peer=2000000 &&
	/lab/selftests/smc/many.py setup 50000"
