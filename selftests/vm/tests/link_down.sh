# SPDX-License-Identifier: GPL-2.0
# What ends a link, each cause once: it is counted and the program is told:
# selftests/smc/linkdown.py.  The device does it (planted/badverbs.c), or the
# peer, in whose place a program is.
# kernels: 6.12 debug kcsan
# when: 8/8 6.12; 11/16 debug
# guests: 1
# cpus: 2
# timeout: 240
# rdma: none
s=/lab/selftests/smc
g A "modprobe -a tun ib_uverbs rdma_rxe
	sysctl -q net.smc.conns_per_queue=0 net.smc.handshake_timeout_ms=20000 \
		net.smc.fallback_memory_s=0 || exit
	ip tuntap add dev clc0 mode tap && ip address add 10.99.0.1/24 dev clc0 &&
	ip link set clc0 up && rdma link add clcrxe type rxe netdev clc0 &&
	insmod /lab/queues.ko dev=clcrxe && insmod /lab/badverbs.ko dev=clcrxe &&
	insmod /lab/pauses.ko || exit
	mountpoint -q /sys/kernel/tracing || mount -t tracefs t /sys/kernel/tracing
	# not the names of commands: that patches the scheduler
	echo 0 >/sys/kernel/tracing/options/record-cmd
	cd /sys/kernel/tracing/events/smc || exit
	for e in smcr_link_down smc_link_state smc_state; do
		echo 1 >\$e/enable || exit
	done
	$s/linkdown.py ${LINKDOWN_CASES:-} && $s/portgids.py
	rc=\$?
	echo 0 >enable
	rmmod badverbs queues pauses || exit
	exit \$rc" || fail "causes"
g A 'sysctl -q net.smc.smcr_testlink_time=30'
