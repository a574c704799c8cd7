#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# fallback_server.sh - an odd client connects to our server: the program is
# given a TCP connection with every byte right when there is one to give, and
# none when the peer ended it or broke the protocol.  After each row a plain
# client is served.
. "$(dirname "$0")/lib.sh"

SLACK=$((${SLACK:-1500} * ${SMC_TEST_SCALE:-1}))
port=7200

deadline() { sysctl -q net.smc.handshake_timeout_ms="$1"; }

# try NAME GREET ACCEPTED LIMIT_MS REASON COUNTERS STEPS...
# GREET: -g when the server speaks first, or -.  ACCEPTED: 1 when the program
# is to get the odd connection.  REASON: why that is TCP, or - if it is nothing.
try() {
	local name=$1 g=$2 accepted=$3 limit=$4 reason=$5 want=$6 ms
	shift 6
	[ "$g" = -g ] || g=

	start_row "server: $name"
	port=$((port + 1))
	# shellcheck disable=SC2086
	tcpecho -s $g -k ipproto -n $((accepted + 1)) 0.0.0.0 $port \
		>"$tmp/server.out" 2>&1 &
	server=$!
	wait_listen $port
	# shellcheck disable=SC2086
	peer $g -b 20000 client $port "$@"
	peer_done 60 || bad "the peer complains"
	ms=$(sed -n 's/.*connection with option: .*(\([0-9]*\) ms)$/\1/p' \
		"$tmp/peer.out")
	[ "${ms:-999999}" -le $((limit + SLACK)) ] || bad "took ${ms:-?} ms"
	# shellcheck disable=SC2086
	timeout $((60 * ${SMC_TEST_SCALE:-1})) tcpecho -c $g -b 1000 127.0.0.1 $port \
		>"$tmp/plain.out" 2>&1 || bad "plain TCP fails afterwards"
	kill_after 20 $server
	[ "$(grep -c accepted "$tmp/server.out")" = $((accepted + 1)) ] ||
		bad "the program did not get $accepted + 1 connections"
	# shellcheck disable=SC2086
	counters $want HsServerSmcr=0 HsServerSmcd=0
	# the plain client's
	set -- server:PEER_NO_SMC=1
	[ "$reason" = - ] || set -- "$@" "server:$reason=1"
	reasons "$@"
	end_row
}

# the server ends by itself when it had all its connections
kill_after() {
	local end=$((SECONDS + $1 * ${SMC_TEST_SCALE:-1}))

	while kill -0 "$2" 2>/dev/null; do
		if [ $SECONDS -ge $end ]; then
			bad "the server still waits for connections"
			kill "$2"
		fi
		sleep 0.05
	done
	wait "$2" 2>/dev/null
}

tcp="HsServerTcp=2 HsServerErr=0"
err="HsServerTcp=1 HsServerErr=1"
# the server's half of a link, which came to nothing
half="LinkCreated=1 LinkDestroyed=1 LinkDownSetup=1"

# those of the loop, and those after it
plan $((10 * $(wc -w <<<"$speakers") + 10))
tap_up rdma
# A host that is slow is not to reach the deadline but where the row is about it.
before=$(sysctl -n net.smc.handshake_timeout_ms)
deadline 20000
for g in $speakers; do
	first="client speaks first"
	[ $g = - ] || first="server speaks first"
	try "declines at once, $first" $g 1 0 PEERDECL "$tcp" send:decline app
	try "declines instead of Confirm, $first" $g 1 0 PEERDECL "$tcp" \
		send:proposal recv:accept send:decline app
	# 120: the first letter of the UEID
	try "offers nothing we have, $first" $g 1 0 NOUEID "$tcp" \
		send-mut:proposal:120=58 recv:decline app
	try "resets, $first" $g 0 0 - "HsServerTcp=1" rst
	try "proposes, then resets, $first" $g 0 0 - "HsServerTcp=1" \
		send:proposal rst
	deadline 2000
	try "falls silent after our Accept, $first" $g 0 6000 - "$err $half" \
		send:proposal recv:accept expect-end:9
	deadline 20000
	try "confirms garbage, $first" $g 0 2000 - "$err $half" \
		send:proposal recv:accept send:garbage expect-end:5
	try "confirms with a false length, $first" $g 0 2000 - \
		"$err ClcMalformed=1" \
		send:proposal recv:accept send-mut:confirm:5=0040 expect-end:5
	try "proposes with a false count, $first" $g 0 2000 - \
		"$err ClcMalformed=1" send-mut:proposal:80=09 expect-end:5
	# the path is not to be remembered: fallback_rdma has that
	sysctl -q net.smc.fallback_memory_s=0
	deadline 2000
	try "confirms but has no link, $first" $g 1 4000 TIMEOUT_CL \
		"$tcp $half" \
		send:proposal recv:accept send:confirm recv:decline app
	deadline 20000
	sysctl -q net.smc.fallback_memory_s=60
done
# 100: the address in the GID.  Ours, and the broadcast address of the subnet
try "proposes our RDMA port" - 1 0 BADPORT "$tcp ClcMalformed=1" \
	send-mut:proposal:100=0a630001 recv:decline app
try "proposes a port that is no host's" - 1 0 BADPORT "$tcp ClcMalformed=1" \
	send-mut:proposal:100=0a6300ff recv:decline app
try "option without SMC, client speaks first" - 1 0 NOTCLC "$tcp" app
try "first bytes are three of an eye catcher, then others" - 1 2000 NOTCLC \
	"$tcp" send:hex:e2d4c3 wait:0.5 send:text:hello \
	expect:e2d4c368656c6c6f fin expect-end
try "Proposal in two pieces" - 1 3000 PEERDECL "$tcp" \
	send-split:proposal:20:0.5 recv:accept send:decline app
# an Accept of 700 bytes, of which the server takes the first 652 at once
try "a long message that is wrong, without its end" - 0 0 - \
	"$err ClcMalformed=1" send-mut:accept-r:5=02bc \
	send:hex:"$(printf '00%.0s' {1..520})" expect-end:5
# Nothing has to be done before the deadline: it may be early.
deadline 1000
try "option without SMC, server speaks first" -g 1 1000 SILENT "$tcp" app
try "option without SMC, first bytes late" - 1 3000 SILENT "$tcp" wait:2 app
try "first bytes are an eye catcher, then nothing of CLC" - 1 2000 SILENT \
	"$tcp" send:hex:e2d4c3d9 wait:1.5 send:text:hello \
	expect:e2d4c3d968656c6c6f fin expect-end
try "Proposal after the deadline" - 1 3000 SILENT "$tcp" \
	wait:2 send:proposal recv:decline app
deadline "$before"
finish
