# SPDX-License-Identifier: GPL-2.0
# A connection that its listener's CLC Decline made TCP is as one that was TCP
# from the start: the suites of calls, and random scripts, where every
# connection has had the option, a Proposal and a Decline.  More suites with
# LONG=1.
# guests: 1
# timeout: 900
# rdma: none
s=/lab/selftests/smc
bad=

g A 'modprobe dummy numdummies=0; modprobe vrf; modprobe xfrm_user; modprobe tls
	sysctl -q net.smc.handshake_timeout_ms=20000 \
	net.core.wmem_max=4194304 net.core.rmem_max=4194304 \
	net.ipv4.tcp_max_tw_buckets=1000000'

for prog in sockconn socklisten sockopts; do
	g A "MODES=declined $s/sockmodes.sh $prog" || bad="$bad $prog"
done

# counters NAME: each connection was offered, and none became SMC
counters() {
	g A "$s/smcstat.sh expect 'HsStarted>7' 'HsClientTcp>7' HsClientSmcd=0 \
		HsRemembered=0" || bad="$bad counters:$1"
}

# suite PROGRAM ARGUMENTS...
suite() {
	note "$*"
	g A "$s/smcstat.sh mark; SMC_DECLINE=1 SOCKETS=1000 CLOSE_MS=20000 \
		$s/$*" || bad="$bad $1"
	counters "$1"
}

g A 'sysctl -q net.smc.transports=smcd'
suite sockmove
if [ -n "${LONG:-}" ]; then
	suite sockclose -v ipproto
	suite sockready -v ipproto
	suite sockuring
fi

note difftest
d="cd $s && SMC_DECLINE=1 ./difftest -k ipproto -i 20000 -w 20000 -t fallback"
g A "$s/smcstat.sh mark"
g A "$d -r difftest_cases/*.txt" || bad="$bad cases"
g A "$d -s 9000 -n 300" || bad="$bad scripts"
counters difftest
g A "sysctl -q net.smc.transports='smcd smcr'"
[ -z "$bad" ] || fail "$bad"
