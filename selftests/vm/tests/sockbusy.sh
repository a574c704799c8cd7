# SPDX-License-Identifier: GPL-2.0
# Calls at the moment when a handshake ends see the socket before or after, on
# SMC-D, SMC-R and fallback: selftests/smc/sockbusy.c.
# guests: 1
# timeout: 900
# rdma: lo
g A 'sysctl -q net.smc.handshake_timeout_ms=20000
	/lab/selftests/smc/sockmodes.sh sockbusy' || fail "sockbusy"
