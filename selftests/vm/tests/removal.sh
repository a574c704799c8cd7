# SPDX-License-Identifier: GPL-2.0
# RDMA device, network device, namespace, process and module go in random order
# under load, addresses and MTUs change, a port flaps: selftests/smc/removal.py.
# 200 of these with LONG=1, 60 on the debug kernel, where each takes 20 s.
# kernels: 6.12 debug
# when: 3/4 6.12; 7/8 debug
# guests: 1
# timeout: 300
# rdma: lo
n=11
case ${LONG:+$LAB_K} in
'') ;;
debug) n=60 ;;
*) n=200 ;;
esac
g A "/lab/selftests/smc/removal.py ${REMOVALS:-$n}"
