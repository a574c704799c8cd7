# SPDX-License-Identifier: GPL-2.0
# An RDMA device is removed while a handshake that has chosen it cannot go on:
# selftests/smc/ownedpath.py.
# guests: 1
# timeout: 180
# rdma: none
# when: 1/2 6.12; 4/4 debug
g A "modprobe -a tun ib_uverbs rdma_rxe
	ip tuntap add dev clc0 mode tap && ip address add 10.99.0.1/24 dev clc0 &&
	ip link set clc0 up && rdma link add clcrxe type rxe netdev clc0 &&
	/lab/selftests/smc/ownedpath.py silent" || fail 'a peer delays the removal'
g A "rdma link add clcrxe type rxe netdev clc0 &&
	/lab/selftests/smc/ownedpath.py removed" ||
	fail 'a program delays the removal'
g A 'sysctl -q net.smc.handshake_timeout_ms=2000'
