# SPDX-License-Identifier: GPL-2.0
# A peer that vanishes from TCP, or from the way of the data alone, is noticed
# in the time that TCP_USER_TIMEOUT and keepalive say: selftests/smc/sockgone.c.
# status: unproven debug
# long: 6.12 debug
# guests: 2
# timeout: 600
s=/lab/selftests/smc
for x in A B; do g $x 'sysctl -q net.smc.handshake_timeout_ms=20000'; done
# what one host can show: SMC-D, fallback
g A "MODES='reference smcd tcp' $s/sockmodes.sh sockgone" || fail "one host"
# and SMC-R to another one
g B "$s/tcpecho -s -k ipproto -n 100 0.0.0.0 7900 >/tmp/echo.out 2>&1" &
listening B 7900
g A "SMC_WANT=smcr SMC_ECHO='10.9.0.2 7900' $s/sockgone -f gone -V tcp \
	-T user_timeout_window -T false_alarm >/tmp/gone.out 2>&1; rc=\$?
	grep '^not ok\|Expected\|SKIP\|Totals' /tmp/gone.out; exit \$rc" ||
	fail "two hosts"
