# SPDX-License-Identifier: GPL-2.0
# connect, bind and names are TCP's on SMC-D, SMC-R and fallback:
# selftests/smc/sockconn.c.  The module pauses widens moments for it.
# when: 2/2 6.12; 4/4 debug
# guests: 1
# timeout: 300
# rdma: lo
. "$(dirname "$0")/modes.sh"
case $LAB_K in
6.12 | debug | kcsan) g A 'insmod /lab/pauses.ko' || fail "pauses" ;;
esac
g A 'modprobe dummy numdummies=0 && modprobe vrf' || fail "no dummy, no vrf"
in_modes sockconn -m 'reference smcd smcr tcp declined' sockconn
g A '! grep -q "^pauses " /proc/modules || rmmod pauses' || fail "pauses"
in_modes_end
