# SPDX-License-Identifier: GPL-2.0
# sock_diag: selftests/smc/diag.py and destroy.py say what is tried.
# when: 1/4 6.12; 5/8 debug
# guests: 1
# timeout: 300
# rdma: lo
s=/lab/selftests/smc
# The planted modules are built for it, and it does not check what may sleep: one
# case needs both.
case $LAB_K in
6.12) pauses=1 left_out='' ;;
*) pauses='' left_out=unborn ;;
esac
[ -z "$pauses" ] || g A 'insmod /lab/pauses.ko' || fail "pauses"
g A 'modprobe tun && sysctl -q net.smc.handshake_timeout_ms=20000'
rc=0
skips A "$left_out" $s/diag.py || rc=$?
g A $s/destroy.py || fail "destroy.py"
[ -z "$pauses" ] || g A 'rmmod pauses' || fail "pauses"
exit $rc
