# SPDX-License-Identifier: GPL-2.0
# connect, bind and names are TCP's on SMC-D, SMC-R and fallback:
# selftests/smc/sockconn.c.
# guests: 1
# timeout: 900
# rdma: lo
g A 'modprobe dummy numdummies=0; modprobe vrf
	sysctl -q net.smc.handshake_timeout_ms=20000
	/lab/selftests/smc/sockmodes.sh sockconn' || fail "sockconn"
