# SPDX-License-Identifier: GPL-2.0
# Rings are charged to the control group of the program where that is of version 1,
# which Debian's 6.12 does not have: selftests/smc/cgroups.py.
# kernels: 6.1
# guests: 1
# rdma: lo
# append: cgroup.memory=nosocket
g A 'modprobe -a tun ib_uverbs rdma_rxe
	sysctl -q net.smc.handshake_timeout_ms=20000
	ip tuntap add dev clc0 mode tap && ip address add 10.99.0.1/24 dev clc0 &&
	ip link set clc0 up && rdma link add clcrxe type rxe netdev clc0 &&
	mkdir -p /tmp/memory && mount -t cgroup -o memory none /tmp/memory' ||
	fail "no control groups of version 1"
rc=0
g A 'SMC_CGROUP_V1=/tmp/memory /lab/selftests/smc/cgroups.py cgroup \
	cgroup_of_a_first_contact cgroup_that_is_full' || rc=$?
g A 'umount /tmp/memory'
[ $rc = 0 ] || fail "cgroups.py"
