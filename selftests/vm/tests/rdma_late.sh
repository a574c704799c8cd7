# SPDX-License-Identifier: GPL-2.0
# A link ends while soft-RoCE is receiving a packet: selftests/smc/latepacket.py.
# when: 4/4 debug
# kernels: 6.12 debug
# guests: 1
# cpus: 2
# rdma: lo
g A 'modprobe -a tun ib_uverbs rdma_rxe
	sysctl -q net.smc.handshake_timeout_ms=20000 \
		net.smc.fallback_memory_s=0 || exit
	ip tuntap add dev clc0 mode tap && ip address add 10.99.0.1/24 dev clc0 &&
	ip link set clc0 up && rdma link add clcrxe type rxe netdev clc0 &&
	insmod /lab/slowrxe.ko && insmod /lab/badverbs.ko dev=rxe0 || exit
	/lab/selftests/smc/latepacket.py
	rc=$?
	rmmod badverbs slowrxe || exit
	exit $rc' || fail 'packets'
g A 'sysctl -q net.smc.transports="smcd smcr" net.smc.fallback_memory_s=60
	sysctl -q net.smc.handshake_timeout_ms=2000'
