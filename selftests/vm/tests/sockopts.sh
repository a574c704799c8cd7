# SPDX-License-Identifier: GPL-2.0
# Socket options on SMC-D, SMC-R and fallback: selftests/smc/sockopts.c.
# when: 1/2 6.12; 2/4 debug; long kcsan, minutes for what has no threads
# guests: 1
# timeout: 300
# rdma: lo
. "$(dirname "$0")/modes.sh"
g A 'modprobe -a xfrm_user tls' || fail "no IPsec, no kTLS"
in_modes sockopts -m 'reference smcd smcr tcp declined' sockopts
in_modes_end
