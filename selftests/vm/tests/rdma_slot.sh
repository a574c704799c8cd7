# SPDX-License-Identifier: GPL-2.0
# A GID, its network device or MAC address is another when the link is made:
# selftests/smc/gidslot.py.
# when: 1/4 debug
# guests: 1
# rdma: none
g A "modprobe -a tun ib_uverbs rdma_rxe macvlan
	ip tuntap add dev clc0 mode tap && ip address add 10.99.0.1/24 dev clc0 &&
	ip link set clc0 up && rdma link add clcrxe type rxe netdev clc0 &&
	/lab/selftests/smc/gidslot.py" || fail 'another namespace has the GID'
g A 'sysctl -q net.smc.handshake_timeout_ms=2000'
