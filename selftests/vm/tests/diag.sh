# SPDX-License-Identifier: GPL-2.0
# sock_diag: selftests/smc/diag.py and destroy.py say what is tried.
# when: 1/2 6.12; 4/4 debug, programs start slowly there
# guests: 1
# timeout: 300
# rdma: lo
g A "modprobe tun && sysctl -q net.smc.handshake_timeout_ms=20000 &&
	/lab/selftests/smc/diag.py && /lab/selftests/smc/destroy.py"
