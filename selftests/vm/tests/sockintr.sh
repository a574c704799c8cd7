# SPDX-License-Identifier: GPL-2.0
# Signals at every call that waits, also in each step of a handshake, on SMC-D,
# SMC-R and fallback: sockintr.c.  The module badverbs keeps a link from being
# made.
# when: 4/4 6.12; 5/8 debug
# guests: 1
# timeout: 450
# rdma: lo
. "$(dirname "$0")/modes.sh"
case $LAB_K in
6.12 | debug | kcsan)
	# a device keeps its completion queues, and none would be made
	g A 'rdma link delete rxe0 && rdma link add rxe0 type rxe netdev lo &&
		insmod /lab/badverbs.ko dev=rxe0' || fail "badverbs" ;;
esac
in_modes sockintr sockintr
g A '! grep -q "^badverbs " /proc/modules || rmmod badverbs' || fail "badverbs"
in_modes_end
