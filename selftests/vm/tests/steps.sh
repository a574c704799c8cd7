# SPDX-License-Identifier: GPL-2.0
# What one request does where there are many link groups, namespaces or peers
# without a link: selftests/smc/steps.py counts calls.
# when: 2/2 6.12; 8/8 debug
# guests: 1
# timeout: 600
# rdma: none
g A 'modprobe -a tun ib_uverbs rdma_rxe
	sysctl -q net.smc.handshake_timeout_ms=60000
	mountpoint -q /sys/kernel/tracing || mount -t tracefs t /sys/kernel/tracing
	ip tuntap add dev clc0 mode tap && ip address add 10.99.0.1/24 dev clc0 &&
	ip link set clc0 up && rdma link add clcrxe type rxe netdev clc0 &&
	STEPS_LONG='"${LONG:-}"' /lab/selftests/smc/steps.py'
