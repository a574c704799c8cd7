# SPDX-License-Identifier: GPL-2.0
# Every 20th allocation below the module fails in turn, each of them with LONG=1,
# while a link is made, lives with a connection and ends, in workers and soft
# interrupts, too: selftests/smc/failnth.c.  The kernel shows a stack when soft-RoCE
# gets no memory for a queue.
# when: 6/8 debug
# guests: 1
# kernels: debug
# timeout: 300
# rdma: lo
# dmesg: Call Trace:
every=20
[ -z "${LONG:-}" ] || every=1
g A "sysctl -q net.smc.handshake_timeout_ms=2000 net.smc.transports=smcr \\
		net.smc.fallback_memory_s=0 || exit
	insmod /lab/badverbs.ko dev=rxe0 || exit
	/lab/selftests/smc/failnth links ${FAULT_EVERY:-$every}
	rc=\$?
	rmmod badverbs || exit
	exit \$rc" || fail "links"
g A 'sysctl -q net.smc.transports="smcd smcr" net.smc.fallback_memory_s=60'
