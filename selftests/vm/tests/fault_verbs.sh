# SPDX-License-Identifier: GPL-2.0
# RDMA verbs fail: a module of the tests (planted/badverbs.c) stands between SMC
# and soft-RoCE.  Of every verb each call in the life of a connection fails, one
# after the other: selftests/smc/badverbs.py.  The links are as those over an adapter;
# in link_down they are soft-RoCE's.
# kernels: 6.12 debug kcsan
# when: 2/4 6.12; 11/16 debug; long kcsan, takes minutes
# guests: 1
# timeout: 240
# rdma: lo
s=/lab/selftests/smc
# a device keeps its completion queues, and none would be made
g A 'rdma link delete rxe0 && rdma link add rxe0 type rxe netdev lo' ||
	fail "a new device"
g A "insmod /lab/queues.ko dev=rxe0 adapter=1 || exit
	insmod /lab/badverbs.ko dev=rxe0 || exit
	$s/badverbs.py ${VERBS_CASES:-}
	rc=\$?
	rmmod badverbs queues || exit
	exit \$rc" || fail "sweep"
g A 'sysctl -q net.smc.transports="smcd smcr"'
