# SPDX-License-Identifier: GPL-2.0
# What a peer, a user, a namespace and the host may hold of link groups and
# rings, and what becomes of idle ones: selftests/smc/accounts.py, cgroups.py;
# and of closed sockets: orphans.py.  Groups of many connections: queues.py.  TCP's
# memory is not charged to control groups here, as it is not with cgroup v1: the
# rings are.
# when: 2/4 6.12; 3/16 debug
# guests: 1
# rdma: lo
# append: cgroup.memory=nosocket
g A 'modprobe -a tun ib_uverbs rdma_rxe
	sysctl -q net.smc.handshake_timeout_ms=20000
	ip tuntap add dev clc0 mode tap && ip address add 10.99.0.1/24 dev clc0 &&
	ip link set clc0 up && rdma link add clcrxe type rxe netdev clc0 &&
	/lab/selftests/smc/accounts.py && /lab/selftests/smc/cgroups.py &&
	/lab/selftests/smc/orphans.py && /lab/selftests/smc/queues.py'
