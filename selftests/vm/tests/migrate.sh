# SPDX-License-Identifier: GPL-2.0
# A listener's children in the middle of the handshake, and requests, that go to
# another listener when theirs goes: selftests/smc/migrate.py.
# guests: 1
# timeout: 300
# rdma: none
# when: 1/2 debug
s=/lab/selftests/smc
g A "modprobe -a tun ib_uverbs rdma_rxe
	ip tuntap add dev clc0 mode tap && ip address add 10.99.0.1/24 dev clc0 &&
	ip link set clc0 up && rdma link add clcrxe type rxe netdev clc0 &&
	sysctl -q net.ipv4.tcp_migrate_req=1 \
		net.smc.handshake_timeout_ms=\$((2000 * \${SMC_TEST_SCALE:-1})) || exit
	$s/migrate.py ${MIGRATE_CASES:-}
	rc=\$?
	sysctl -q net.ipv4.tcp_migrate_req=0
	exit \$rc"
