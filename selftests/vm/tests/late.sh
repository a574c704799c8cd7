# SPDX-License-Identifier: GPL-2.0
# What a program sees of a client that has offered SMC and is silent:
# selftests/smc/late.py.  One CPU: there it decides what runs before a worker.
# guests: 1
# cpus: 1
# rdma: none
# when: 2/2 debug
s=/lab/selftests/smc
# two cases need the module pauses, which is not built for all kernels
case $LAB_K in
6.12 | debug | kcsan) pauses=1 left_out='' ;;
*) pauses='' left_out='poll_of_gone_bytes rest_of_long_accept' ;;
esac
[ -z "$pauses" ] || g A 'insmod /lab/pauses.ko' || fail "pauses"
g A 'modprobe tun'
rc=0
skips A "$left_out" $s/late.py || rc=$?
[ -z "$pauses" ] || g A 'rmmod pauses' || fail "pauses"
exit $rc
