# SPDX-License-Identifier: GPL-2.0
# No wake-up is lost in random messages, whatever way a side waits, with a 1 kHz
# signal on both: selftests/smc/wakeups.c.  A million messages with LONG=1.
# guests: 1
# timeout: 900
# rdma: lo
w=/lab/selftests/smc/wakeups
s=/lab/selftests/smc/smcstat.sh
n=10000 rdma=3000
[ -z "${LONG:-}" ] || n=1000000 rdma=1000000

# an emulated guest beside busy neighbours is slow: no deadline here
g A 'sysctl -q net.smc.handshake_timeout_ms=20000'
g A "$w -k tcp -n $n" || fail "TCP: the test is at fault"
g A "$w -k tcp -x 100" && fail "it does not notice a side that hangs"

g A "sysctl -q net.smc.transports=smcd; $s mark
	$w -k ipproto -n $n -s 2 && $w -k afsmc -n $n -s 3 &&
	$s expect HsClientSmcd=2 HsClientTcp=0" || fail "SMC-D"
g A "sysctl -q net.smc.transports=; $s mark
	$w -k ipproto -n $n -s 4 && $s expect HsClientTcp=1" || fail "fallback"
g A "sysctl -q net.smc.transports=smcr; $s mark
	$w -k ipproto -a 10.9.0.1 -n $rdma -s 5 &&
	$s expect HsClientSmcr=1 HsClientTcp=0" || fail "SMC-R"
g A 'sysctl -q net.smc.transports="smcd smcr"'
