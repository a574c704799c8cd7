# SPDX-License-Identifier: GPL-2.0
# Socket options on SMC-D, SMC-R and fallback: selftests/smc/sockopts.c, and a
# peer that vanishes is noticed in the time they say.
# status: unproven debug
# long: debug
# guests: 1
# timeout: 900
# rdma: lo
g A 'modprobe xfrm_user; modprobe tls; sysctl -q net.smc.handshake_timeout_ms=20000
	/lab/selftests/smc/sockmodes.sh sockopts' || fail "sockopts"
