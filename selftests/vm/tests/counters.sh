# SPDX-License-Identifier: GPL-2.0
# What the counters of /proc/net/smc_stat count: selftests/smc/counters.py.
# when: long debug kcsan, its case "limit" is too slow there
# guests: 1
# rdma: lo
g A 'sysctl -q net.smc.handshake_timeout_ms=20000 net.core.somaxconn=4096 &&
	/lab/selftests/smc/counters.py'
g A 'sysctl -q net.smc.transports="smcd smcr"'
