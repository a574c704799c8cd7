# SPDX-License-Identifier: GPL-2.0
# Socket options on SMC-D, SMC-R and fallback: selftests/smc/sockopts.c; IPsec
# policies of the host force plain TCP.
# guests: 1
# timeout: 1200
# rdma: lo
. "$(dirname "$0")/modes.sh"
g A 'modprobe -a xfrm_user tls' || fail "no IPsec, no kTLS"
in_modes sockopts -m 'reference smcd smcr tcp declined' sockopts
g A 'modprobe -a esp4 ecb crypto_null sha1_generic 2>/dev/null
	/lab/selftests/smc/ipsec.sh' || fail "ipsec"
in_modes_end
