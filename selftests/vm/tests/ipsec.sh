# SPDX-License-Identifier: GPL-2.0
# IPsec policies of the host and MACsec force plain TCP: selftests/smc/ipsec.sh.
# when: 2/2 6.12; 3/4 debug; long kcsan, a minute for what has no threads
# guests: 1
# rdma: none
g A 'modprobe -a xfrm_user esp4' ||
	fail "no IPsec here"
# Debian's kernels have MACsec and devices of IPsec
case $LAB_K in debug | kcsan) all= ;; *) all=1 ;; esac
g A "IPSEC_ALL=$all /lab/selftests/smc/ipsec.sh" || fail "ipsec"
