# SPDX-License-Identifier: GPL-2.0
# Socket options on SMC-D, SMC-R and fallback: selftests/smc/sockopts.c; IPsec
# policies of the host force plain TCP.
# guests: 1
# timeout: 1200
# rdma: lo
g A 'modprobe xfrm_user; modprobe tls
	sysctl -q net.smc.handshake_timeout_ms=20000
	/lab/selftests/smc/sockmodes.sh sockopts' || fail "sockopts"
g A 'modprobe -a esp4 ecb crypto_null sha1_generic 2>/dev/null
	/lab/selftests/smc/ipsec.sh' || fail "ipsec"
