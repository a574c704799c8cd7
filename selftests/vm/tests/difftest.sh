# SPDX-License-Identifier: GPL-2.0
# Random scripts of socket calls give the same answers on TCP and on sockets
# of ours, over both transports and after fallback: selftests/smc/difftest.c.
# The scripts in difftest_cases once showed a difference.
# 2,800 scripts; 60,000 with LONG=1.
# guests: 1
# timeout: 900
# rdma: lo
d="cd /lab/selftests/smc && ./difftest -k ipproto -i 20000 -w 20000"
# KASAN makes a script ten times as long.
case $LAB_K in debug) x= ;; *) x=0 ;; esac
smcd=200$x smcr=30$x fallback=50$x
[ -z "${LONG:-}" ] || smcd=20000 smcr=20000 fallback=20000

# TCP answers a FIN with a reset when it has no room for one more TIME_WAIT.
g A 'sysctl -q net.core.wmem_max=4194304 net.core.rmem_max=4194304 \
	net.ipv4.tcp_max_tw_buckets=1000000'
g A "cd /lab/selftests/smc && ./difftest -k tcp -i 20000 -n 20$x" ||
	fail "TCP against TCP: the tester or the guest is at fault"

g A 'sysctl -q net.smc.transports=smcd'
g A "$d -t smcd -r difftest_cases/*.txt" || fail "cases over SMC-D"
g A "$d -t smcd -n $smcd" || fail "SMC-D"

g A 'sysctl -q net.smc.transports=smcr'
g A "$d -t smcr -a 10.9.0.1 -r difftest_cases/*.txt" || fail "cases over SMC-R"
g A "$d -t smcr -a 10.9.0.1 -s 5000 -n $smcr" || fail "SMC-R"

g A 'sysctl -q net.smc.transports='
g A "$d -t fallback -r difftest_cases/*.txt" || fail "cases after fallback"
g A "$d -t fallback -s 8000 -n $fallback" || fail "fallback"
g A 'sysctl -q net.smc.transports="smcd smcr"'
