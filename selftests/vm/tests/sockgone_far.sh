# SPDX-License-Identifier: GPL-2.0
# As sockgone, with the peer on another host: nothing comes from it any more, or
# nothing by RDMA alone.
# when: 1/4 6.12; 7/8 debug
# guests: 2
# waits: yes
# timeout: 180
s=/lab/selftests/smc
for x in A B; do g $x 'sysctl -q net.smc.handshake_timeout_ms=20000'; done
# 6.1 does not tell the module of SO_KEEPALIVE (deviations.rst)
case $LAB_K in 6.1) first=SMC_KEEPALIVE_FIRST=1 ;; *) first='' ;; esac
# the harness obeys the first filter that fits
g B "$s/tcpecho -s -k ipproto -n 100 0.0.0.0 7900 >/tmp/echo.out 2>&1" &
listening B 7900
g A "sysctl -q net.smc.transports=smcr
	$first SMC_WANT=smcr SMC_HOST4=10.9.0.1 SMC_ECHO='10.9.0.2 7900' \
	$s/sockgone -V tcp \
	-T user_timeout_window -T false_alarm -f gone >/tmp/gone.out 2>&1
	rc=\$?; grep '^not ok\|Expected\|SKIP\|Totals' /tmp/gone.out
	grep -q '^# Totals: pass:[1-9].* skip:0' /tmp/gone.out && exit \$rc" ||
	fail "two hosts"
