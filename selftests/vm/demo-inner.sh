# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# demo-inner.sh - what demo.sh shows, between two guests that are up: A is the
# client (10.9.0.1), B the server (10.9.0.2).  Sourced after test-lib.sh.
. "$(dirname "$0")/apps.sh"
. "$(dirname "$0")/wire.sh"

begin=$(date +%s)
redis_n=${DEMO_REDIS:-2000}
seconds=${DEMO_SECONDS:-3}

step() { printf '\n[%3d s] %s\n' $(($(date +%s) - begin)) "$*"; }
show() { printf '  %-2s %s\n' "$1" "\$ $2"; g "$1" "$2" | sed 's/^/     /'; }

# measure LABEL KIND: Redis, iperf3 and 64-byte messages with $srv, $cli,
# $addr and $run; appends to the table
measure() {
	label=$1 kind=$2
	serve redis 6379 "redis-server --port 6379 --bind $addr --save '' \
		--protected-mode no"
	g "$cli" "$run redis-cli -h $addr set demo 'data in shared memory'" \
		>/dev/null
	equal 'data in shared memory' \
		"$(g "$cli" "$run redis-cli -h $addr get demo")" "Redis value"
	g "$cli" "$run redis-benchmark -h $addr -t get,set -n $redis_n -c 10 \
		-d 1024 --csv" >"$LAB_RUN/redis.csv" &
	bench=$!
	[ -z "$run" ] || while_running
	wait $bench || fail "redis-benchmark"
	unserve redis-server
	# columns: test, requests per second, average latency, ...
	redis=$(awk -F'"' '$2 == "GET" { printf "%.0f req/s, %.2f ms", $4, $6 }' \
		"$LAB_RUN/redis.csv")
	echo "     Redis GET of 1 KiB, 10 clients: $redis"

	serve iperf3 5201 "iperf3 -s -p 5201"
	g "$cli" "$run iperf3 -c $addr -p 5201 -P 2 -t $seconds -J" \
		>"$LAB_RUN/iperf.json" || fail "iperf3"
	unserve 'iperf3 -s'
	iperf=$(python3 -c 'import json, sys
end = json.load(open(sys.argv[1]))["end"]["sum_received"]
print("%.1f MB/s" % (end["bits_per_second"] / 8e6))' "$LAB_RUN/iperf.json")
	echo "     iperf3, 2 streams: $iperf"

	g "$srv" "exec $smc/pingpong -s -k $kind $addr 7000" &
	server_pid=$!
	listening "$srv" 7000
	latency=$(g "$cli" "$smc/pingpong -c -k $kind -n 500 -w 100 $addr 7000" |
		sed -n 's/.*median=\([0-9]*\).*/\1/p' |
		awk '{ printf "%.0f us", $1 / 1000 }')
	wait "$server_pid" || fail "pingpong"
	echo "     64 bytes one way: $latency"
	printf '%s|%s|%s|%s\n' "$label" "$redis" "$iperf" "$latency" \
		>>"$LAB_RUN/table"
}

# once per transport: what smcss says while Redis is at work.  Taken with one
# command, or the benchmark may be over between looking and showing.
while_running() {
	for x in "$cli" $([ "$srv" = "$cli" ] || echo "$srv"); do
		printf '  %-2s %s\n' "$x" '$ smcss'
		g "$x" 'for i in $(seq 200); do
				smcss >/tmp/smcss; ! grep -q ACTIVE /tmp/smcss || break
			done; head -n 4 /tmp/smcss' | sed 's/^/     /'
	done
}

: >"$LAB_RUN/table"
step "Two machines, a RoCE port each (soft-RoCE on eth0), nothing configured:"
for x in A B; do
	g $x 'module.sh rdma rxe && module.sh load ours'
	show $x 'rdma link show; lsmod | grep "^smc"'
	g $x 'mkdir -p /tmp/app'
done

step "Between the machines over TCP, for comparison"
cli=A srv=B addr=10.9.0.2 run=''
measure "TCP, two hosts" tcp

step "The same programs through smc_run"
run=smc_run
for x in A B; do g $x "$smc/smcstat.sh mark"; done
wire_start >/dev/null
measure "SMC-R, two hosts" ipproto
wire_stop >/dev/null
moved=$(grew A TxBytes)
taken=$(grew A RxBytes)
conns=$(grew A HsClientSmcr)
fell=$(grew A HsClientTcp)

step "On one machine over TCP"
cli=A srv=A addr=127.0.0.1 run=''
measure "TCP, one host" tcp

step "The same through smc_run: shared memory"
run=smc_run
g A "$smc/smcstat.sh mark"
measure "SMC-D, one host" ipproto
lo_moved=$(grew A TxBytes)

step "Result"
{
	echo " |Redis GET 1 KiB|iperf3|64 bytes one way"
	cat "$LAB_RUN/table"
} | awk -F'|' '{ printf "  %-18s %-24s %-12s %s\n", $1, $2, $3, $4 }'
roce=$(awk -v b="$wire_roce_bytes" 'BEGIN { printf "%.1f", b / 1e6 }')
cat <<END

  Connections of the programs between the machines: $conns SMC-R, $fell TCP
  Bytes moved by RDMA WRITE: $moved to B, $taken to A
  RoCE on the wire, headers included: $roce MB
  TCP segments with payload: $wire_clc carried the handshake (CLC), $wire_data anything else
  Bytes moved through shared memory on one machine: $lo_moved

  (Emulated machines, and soft-RoCE does in software, packet by packet, what a
  RoCE adapter does in hardware: the SMC-R row shows that it works, not how
  fast it is.  TCP and SMC-D on one host can be compared.)
END
[ "$conns" -gt 0 ] && [ "$fell" = 0 ] && [ "$wire_data" = 0 ] ||
	fail "not all of it went by RDMA"
[ "$lo_moved" -gt 0 ] || fail "no shared memory"
step "Done"
