# SPDX-License-Identifier: GPL-2.0
# An idle link: TEST LINK keeps it as long as the peer answers, ends it with
# its connections when the peer does not, and a goodbye ends it at once.
# when: 2/4 6.12; 2/8 debug
# guests: 2
# waits: yes
# timeout: 240
s=/lab/selftests/smc
port=9900
limit='timeout $((90 * ${SMC_TEST_SCALE:-1}))'

# hold: two idle connections of one link
hold() {
	port=$((port + 1))
	for x in A B; do g $x "rm -f /tmp/hold*; $s/smcstat.sh mark"; done
	g B "exec $limit $s/stream -s -k ipproto -n 2 -l 10K -H /tmp/hold \
		0.0.0.0 $port" &
	spid=$!
	listening B $port
	g A "exec $limit $s/stream -c -k ipproto -n 2 -l 10K -H /tmp/hold \
		10.9.0.2 $port" &
	cpid=$!
	wait_for 60 A 'test -e /tmp/hold.client'
	wait_for 60 B 'test -e /tmp/hold.server'
	g A "$s/smcstat.sh expect HsClientSmcr=2" || fail "not SMC-R"
}

# asks GUEST SECONDS: of silence, before it sends TEST LINK
asks() {
	g "$1" "sysctl -q net.smc.handshake_timeout_ms=20000 \
		net.smc.smcr_testlink_time=$2"
}

# only A asks: a question of B's would be a sign of life, too
asks A 1
asks B 0

note "the peer answers"
hold
g A "$s/smcstat.sh mark"
wait_for 60 A "$s/smcstat.sh expect WrPosted\>4"
g A "$s/smcstat.sh expect LgrLost=0 ConnAborted=0" || fail "lost in A"
g B "$s/smcstat.sh expect LgrLost=0 ConnAborted=0" || fail "lost in B"
for x in A B; do g $x 'touch /tmp/hold'; done
wait $cpid || fail "client"
wait $spid || fail "server"

# the group without connections stays for a while, until one end goes
note "goodbye"
g B "$s/smcstat.sh mark"
# connections end a moment after their programs; smc_diag is left
wait_for 30 A '[ $(cat /sys/module/smc/refcnt) -le 1 ]'
g A 'rmmod smc_diag && rmmod smc && insmod /lab/smc.ko &&
	insmod /lab/smc_diag.ko'
wait_for 30 B "$s/smcstat.sh expect LgrDestroyed=1"

note "the peer does not answer"
asks A 1
hold
g B 'nft add table inet lab
	nft add chain inet lab input "{ type filter hook input priority 0; }"
	nft add rule inet lab input udp dport 4791 drop'
wait_for 60 A "$s/smcstat.sh expect LgrLost=1"
g A 'touch /tmp/hold'
# an error, which ends stream with 1; its watchdog would with 3
ended 1 $cpid "the client sees an error"
g B 'nft delete table inet lab; touch /tmp/hold'
ended 1 $spid "the server sees an error"
