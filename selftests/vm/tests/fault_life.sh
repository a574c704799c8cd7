# SPDX-License-Identifier: GPL-2.0
# Every allocation below the module fails in turn while a connection lives, in
# workers and soft interrupts, too: selftests/smc/failnth.c.
# guests: 1
# kernels: debug
# timeout: 90
# rdma: none
# when: 1/2 debug
g A "sysctl -q net.smc.handshake_timeout_ms=2000
	/lab/selftests/smc/failnth life 1"
