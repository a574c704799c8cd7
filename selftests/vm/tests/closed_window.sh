# SPDX-License-Identifier: GPL-2.0
# A peer whose window stays closed during the handshake:
# selftests/smc/closedwindow.py.
# guests: 1
# rdma: none
g A "modprobe -a tun ib_uverbs rdma_rxe
	sysctl -q net.smc.fallback_memory_s=0 \
		net.smc.handshake_timeout_ms=8000
	ip tuntap add dev clc0 mode tap && ip address add 10.99.0.1/24 dev clc0 &&
	ip link set clc0 up && rdma link add clcrxe type rxe netdev clc0 &&
	/lab/selftests/smc/closedwindow.py" || fail 'a closed window delays the end'
