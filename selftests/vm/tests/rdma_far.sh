# SPDX-License-Identifier: GPL-2.0
# A path longer (300 ms there and back) than any device waits by default: no
# message is sent again before its acknowledgment can have come.
# when: 4/8 debug
# shows: SMC-R
# guests: 2
# timeout: 120
s=/lab/selftests/smc
counters='/sys/class/infiniband/*/ports/1/hw_counters'

# packets GUEST: requests that the device got twice, and all packets it got
packets() {
	g "$1" "cat $counters/duplicate_request $counters/rcvd_pkts"
}

for x in A B; do
	g $x '/lab/selftests/vm/guest/evidence.sh on
		sysctl -q net.smc.handshake_timeout_ms=20000
		tc qdisc replace dev eth0 root netem delay 150ms limit 10000'
done
before_A=$(packets A)
before_B=$(packets B)
for x in A B; do g $x "$s/smcstat.sh mark"; done
g B "$s/stream -s -n 2 -k ipproto -S 64K -R 64K -l 2M 0.0.0.0 9400" &
pid=$!
listening B 9400
g A "$s/stream -c -n 2 -k ipproto -S 64K -R 64K -l 2M 10.9.0.2 9400" ||
	fail "client"
wait $pid || fail "server"
g A "$s/smcstat.sh expect HsClientSmcr=2 LgrLost=0" || fail "A's counters"
g B "$s/smcstat.sh expect HsServerSmcr=2 LgrLost=0" || fail "B's counters"
for x in A B; do
	eval "before=\$before_$x"
	# shellcheck disable=SC2154,SC2086,SC2046
	set -- $before $(packets $x)
	twice=$(($3 - $1))
	all=$(($4 - $2))
	note "$x: $twice of $all packets came twice"
	# a guest that stands still for a second has all that is on the way sent again:
	# two rings, of thirty
	[ $((twice * 10)) -lt $all ] || fail "$x: $twice of $all came twice"
done
for x in A B; do g $x 'tc qdisc replace dev eth0 root pfifo_fast'; done
