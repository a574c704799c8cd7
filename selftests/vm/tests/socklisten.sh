# SPDX-License-Identifier: GPL-2.0
# listen and accept are TCP's on SMC-D, SMC-R and fallback:
# selftests/smc/socklisten.c.
# guests: 1
# timeout: 900
# rdma: lo
g A 'sysctl -q net.smc.handshake_timeout_ms=20000
	/lab/selftests/smc/sockmodes.sh socklisten' || fail "socklisten"
