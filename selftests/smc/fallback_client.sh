#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# fallback_client.sh - we connect to a peer that answers the SMC option (or
# does not) and then behaves oddly: the program gets a TCP connection with
# every byte right, within the handshake deadline, smcss says why, and when
# our Proposal spoilt the stream the next connection is TCP from the SYN on.
# Each row twice: the client speaks first, the server speaks first.  ONLY=ROW:
# that row alone.
. "$(dirname "$0")/lib.sh"

# protocol limits, and ten times what the exchange itself takes.  Where the deadline
# is not what ends a handshake, a host that stops for so long is not to reach it.
DEADLINE=2000 PATIENCE=20000
SLACK=$((${SLACK:-1500} * ${SMC_TEST_SCALE:-1}))
port=7100

deadline() { sysctl -q net.smc.handshake_timeout_ms="$1"; }

# try NAME SPOILT LIMIT_MS SAYS REASON STEPS...
# SPOILT: yes when we have to connect a second time.  SAYS: words of smcss.
# LIMIT_MS is not 0 where the deadline passes.
# REASON: what is counted, of both attempts unless the first one spoilt it.
try() {
	local name=$1 spoilt=$2 limit=$3 says=$4 reason=$5
	local g n option plain first
	shift 5

	[ "${ONLY:-$name}" = "$name" ] || return 0
	for g in $speakers; do
		first=server
		[ $g != - ] || { g=; first=client; }
		start_row "client: $name, $first speaks first"
		port=$((port + 1))
		deadline $((limit ? DEADLINE : PATIENCE))
		n=2 option=2 plain=0
		[ "$spoilt" = no ] || { n=3; option=1; plain=2; }
		[ "$1" != none ] || { option=0; plain=2; }
		# shellcheck disable=SC2086
		if [ "$1" = none ]; then
			peer $g -n $n -o server $port
		else
			peer $g -n $n server $port "$@"
		fi
		wait_file "$tmp/ready"
		# shellcheck disable=SC2086
		tcpecho -c $g -k ipproto -b 20000 -t $((limit + SLACK)) \
			-H "$tmp/hold" "$SMC_PEER_V4" $port \
			>"$tmp/client.out" 2>&1 &
		client=$!
		wait_client
		[ -n "$row_bad" ] || why "$says"
		: >"$tmp/hold"
		wait $client || bad "the program failed"
		# the second attempt
		limit2=$limit
		[ "$spoilt" = no ] || limit2=0
		# shellcheck disable=SC2086
		tcpecho -c $g -k ipproto -b 20000 -t $((limit2 + SLACK)) \
			"$SMC_PEER_V4" $port >"$tmp/client2.out" 2>&1 ||
			bad "the second attempt failed"
		[ -z "$row_bad" ] || peer_kill
		peer_end $n $option $plain
		counters HsClientTcp=2 HsClientSmcr=0 HsClientErr=0 \
			HsReconnect=$((spoilt_n)) HsRemembered=$((spoilt_n))
		if [ "$spoilt" = no ]; then
			reasons "client:$reason=2"
		else
			reasons "client:$reason=1" client:REMEMBERED=1
		fi
		end_row
	done
}

# the client has exchanged its bytes, or has ended
wait_client() {
	local end=$((SECONDS + 40 * ${SMC_TEST_SCALE:-1}))

	until [ -e "$tmp/hold.client" ]; do
		kill -0 $client 2>/dev/null || { bad "the program ended"; return; }
		[ $SECONDS -lt $end ] || { bad "the program hangs"; return; }
		sleep 0.05
	done
}

rows() {
	spoilt_n=0
	try "peer without SMC" no 0 "did not offer SMC" PEER_NO_SMC none
	try "declines instead of Accept" no 0 "peer declined" PEERDECL \
		recv:proposal send:decline app
	try "declines after our Confirm" no 0 "peer declined" PEERDECL \
		recv:proposal send:accept-r recv:confirm send:decline app
	# the path is not to be remembered: fallback_rdma has that
	sysctl -q net.smc.fallback_memory_s=0
	try "no link after our Confirm" no 6000 "not confirmed in time" TIMEOUT_CL \
		recv:proposal send:accept-r recv:confirm recv:decline app
	sysctl -q net.smc.fallback_memory_s=60
	# 28: the address in the GID.  Ours, and the broadcast address
	try "accepts with our RDMA port" no 0 "cannot be its own" BADPORT \
		recv:proposal send-mut:accept-r:28=0a630001 recv:decline app
	try "accepts with a port that is no host's" no 0 "cannot be its own" \
		BADPORT recv:proposal send-mut:accept-r:28=0a6300ff recv:decline app
	# 104: whether the way to us is direct
	try "accepts from behind a gateway" no 0 "gateway to reach us" \
		NOINDIRECT recv:proposal send-mut:accept-r:104=00 recv:decline app
	spoilt_n=1
	try "never speaks" yes $DEADLINE "no CLC message came" SILENT \
		recv:proposal silent
	try "speaks garbage" yes 0 "not a CLC message" NOTCLC \
		recv:proposal send:garbage silent
	try "echoes what it gets" yes 0 "CLC message" WRONGMSG \
		recv:proposal send:proposal silent
	try "resets" yes 0 "reset or closed" HSRESET \
		recv:proposal rst
	try "closes" yes 0 "reset or closed" HSRESET \
		recv:proposal fin
	try "half an Accept, then silence" yes $DEADLINE \
		"no CLC message came" SILENT \
		recv:proposal send:hex:e2d4c3d90200a028 silent
	# every server is offered shared memory; this peer's is another host's
	try "accepts a device of another host" yes 0 "contradicts" MISMATCH \
		recv:proposal send:accept-d silent
}

# restart DOES MALFORMED STEP...: a server that goes in the middle of a handshake,
# with these steps, is not remembered: when it is back, it is offered SMC again.
# What it did wrong is counted once, though connecting again fails, too.
restart() {
	local does=$1 malformed=$2
	shift 2

	start_row "client: a server that $does is restarted"
	port=$((port + 1))
	peer -n 2 server $port recv:proposal unlisten "$@"
	wait_file "$tmp/ready"
	tcpecho -c -k ipproto "$SMC_PEER_V4" $port >"$tmp/client.out" 2>&1 &&
		bad "a connection without a listener"
	grep -q -i refused "$tmp/client.out" || bad "not refused"
	peer_kill
	rm -f "$tmp/ready"
	peer server $port recv:proposal send:decline app
	wait_file "$tmp/ready"
	tcpecho -c -k ipproto "$SMC_PEER_V4" $port >"$tmp/client2.out" 2>&1 ||
		bad "the second attempt failed"
	peer_end 1 1 0
	counters HsClientTcp=1 HsClientErr=1 HsReconnect=1 HsRemembered=0 \
		ClcMalformed="$malformed"
	reasons client:PEERDECL=1
	end_row
}

# A server that has spoken CLC and then resets the connection has been restarted:
# it takes the plain one, and the next connect() offers it SMC again.
lost() {
	local i

	start_row "client: a server that accepts resets, and is back at once"
	port=$((port + 1))
	peer -n 4 server $port recv:proposal send:accept-r recv:confirm rst
	wait_file "$tmp/ready"
	for i in 1 2; do
		tcpecho -c -k ipproto "$SMC_PEER_V4" $port \
			>"$tmp/client$i.out" 2>&1 || bad "attempt $i failed"
	done
	[ -z "$row_bad" ] || peer_kill
	peer_end 4 2 2
	counters HsClientTcp=2 HsClientErr=0 HsReconnect=2 HsRemembered=0
	reasons client:LOSTPEER=2
	end_row
}

# those of rows() for each speaker, restart() and lost()
num_rows=14
[ -z "${ONLY:-}" ] || num_rows=1
plan $((num_rows * $(wc -w <<<"$speakers") + 3 * (num_rows > 1)))
tap_up rdma
before=$(sysctl -n net.smc.handshake_timeout_ms)
sysctl -q net.smc.fallback_memory_s=60
rows
deadline $PATIENCE
if [ -z "${ONLY:-}" ]; then
	restart "resets" 0 rst
	restart "sends another message" 1 send:proposal silent
	# the reset is seen when the link has not come in time
	deadline $DEADLINE
	lost
fi
deadline "$before"
finish
