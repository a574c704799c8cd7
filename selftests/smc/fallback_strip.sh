#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# fallback_strip.sh - a router removes the SMC option from the SYN, or from
# the SYN/ACK only (then the server believes in SMC and the client does not):
# plain TCP with every byte right, whichever side speaks first.  The first row
# removes nothing and must be SMC, or the others would prove nothing.
#
# Three network namespaces: client - router - server.
. "$(dirname "$0")/lib.sh"

SLACK=$((${SLACK:-1500} * ${SMC_TEST_SCALE:-1}))
port=7300

netns_up() {
	local n

	for n in c r s; do
		ip netns add $n
		ip -n $n link set lo up
	done
	ip -n c link add eth0 type veth peer name eth0 netns r
	ip -n s link add eth0 type veth peer name eth1 netns r
	ip -n c address add 10.98.1.2/24 dev eth0
	ip -n r address add 10.98.1.1/24 dev eth0
	ip -n r address add 10.98.2.1/24 dev eth1
	ip -n s address add 10.98.2.2/24 dev eth0
	for n in c s; do ip -n $n link set eth0 up; done
	ip -n r link set eth0 up
	ip -n r link set eth1 up
	ip -n c route add default via 10.98.1.1
	ip -n s route add default via 10.98.2.1
	ip netns exec r sysctl -q net.ipv4.ip_forward=1
}

in_c() { ip netns exec c "$@"; }
in_s() { ip netns exec s "$@"; }

# try NAME RULE DEADLINE_MS GREET CLIENT_COUNTERS SERVER_COUNTERS CLIENT_WHY
try() {
	local name=$1 rule=$2 limit=$3 g=$4 server n

	# one that has not to pass is not reached by a host that is slow
	for n in c s; do
		ip netns exec $n sysctl -q net.smc.handshake_timeout_ms=$((limit ?
			limit : 20000))
	done
	[ "$g" = -g ] || g=

	start_row "strip: $name"
	port=$((port + 1))
	ip netns exec r nft flush ruleset
	if [ -n "$rule" ]; then
		ip netns exec r nft -f - <<-END || bad "nft refuses the rule"
			table inet strip {
				chain forward {
					type filter hook forward priority 0;
					tcp flags & (syn | ack) == $rule counter reset tcp option 254
				}
			}
		END
	fi
	in_c smcstat.sh mark "$tmp/c"
	in_s smcstat.sh mark "$tmp/s"
	# shellcheck disable=SC2086
	in_s tcpecho -s $g -k ipproto 10.98.2.2 $port >"$tmp/server.out" 2>&1 &
	server=$!
	wait_listen $port in_s
	# shellcheck disable=SC2086
	in_c tcpecho -c $g -k ipproto -b 50000 -t $((limit + SLACK)) \
		-H "$tmp/hold" 10.98.2.2 $port >"$tmp/client.out" 2>&1 &
	client=$!
	wait_file "$tmp/hold.client"
	in_c smcss -a >"$tmp/smcss-c.out" 2>&1
	in_s smcss -a >"$tmp/smcss-s.out" 2>&1
	grep -q -i -e "$7" "$tmp/smcss-c.out" || bad "smcss does not say '$7'"
	: >"$tmp/hold"
	wait $client || bad "the program failed"
	wait $server || bad "the server failed"
	[ -z "$rule" ] || ip netns exec r nft list ruleset |
		grep -q 'packets [1-9]' || bad "the rule met no packet"
	# shellcheck disable=SC2086
	in_c smcstat.sh expect -f "$tmp/c" $5 || bad "client counters"
	# shellcheck disable=SC2086
	in_s smcstat.sh expect -f "$tmp/s" $6 || bad "server counters"
	end_row
}

trap 'for n in c r s; do ip netns delete $n 2>/dev/null; done; cleanup' EXIT
plan $((3 * $(wc -w <<<"$speakers")))
netns_up
tcp="HsClientTcp=1 HsClientSmcd=0"
stcp="HsServerTcp=1 HsServerSmcd=0"
for g in $speakers; do
	first="client speaks first"
	[ $g = - ] || first="server speaks first"
	# a server that speaks first is given the connection at the deadline
	wait_ms=0
	[ $g = - ] || wait_ms=2000
	try "nothing, $first" "" 0 $g HsClientSmcd=1 HsServerSmcd=1 SMCD
	try "SYN, $first" syn 0 $g "$tcp" "$stcp" "did not offer SMC"
	try "SYN/ACK, $first" "(syn | ack)" $wait_ms $g "$tcp" "$stcp" \
		"did not offer SMC"
done
finish
