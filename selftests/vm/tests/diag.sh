# SPDX-License-Identifier: GPL-2.0
# sock_diag: selftests/smc/diag.py and destroy.py say what is tried.
# when: 1/4 6.12; 5/8 debug
# guests: 1
# timeout: 300
# rdma: lo
# the kernels for which the planted modules are built, without sleep checks
[ "$LAB_K" != 6.12 ] || g A 'insmod /lab/pauses.ko' || fail "pauses"
g A "modprobe tun && sysctl -q net.smc.handshake_timeout_ms=20000 &&
	/lab/selftests/smc/diag.py && /lab/selftests/smc/destroy.py"
[ "$LAB_K" != 6.12 ] || g A 'rmmod pauses' || fail "pauses"
