#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# hostile_clc.sh [N [STREAMS]] - N mutated Proposals and Confirms to our server, N
# mutated Accepts to our client, several at a time, as some of them are answered
# at a deadline only; every tenth connection to the server is honest, the program
# at the client must be served every time, and so many honest streams (honest.py)
# go on undisturbed.  SMC_SEED: what is mutated, and how.
. "$(dirname "$0")/lib.sh"
n=${1:-150}
streams=${2:-2}
seed=${SMC_SEED:-1}
jobs=4
# a kernel that is slow because it checks a lot has one processor
[ "${SMC_TEST_SCALE:-1}" = 1 ] || jobs=2
# milliseconds of a client: the deadlines, and its turn at the peer
most=$((12000 * ${SMC_TEST_SCALE:-1}))
# of that many, most wait for a deadline, the others for the one peer
[ "$n" -lt 1000 ] || jobs=16 most=$((most * 4))

# honest streams that last throughout
honest_up() {
	honest.py 127.0.0.1 $streams "$tmp/hold" >"$tmp/honest.out" 2>&1 &
	honest=$!
	wait_file "$tmp/hold.there"
}

honest_down() {
	: >"$tmp/hold"
	wait $honest || bad "an honest stream failed"
}

plan 2
echo "# SMC_SEED=$seed"
tap_up rdma
sysctl -q net.smc.fallback_memory_s=0

start_row "hostile: $n mutated Proposals and Confirms"
honest_up
# the program may be given those that turned out to be TCP
tcpecho -s -k ipproto -n 1000000 "$SMC_TAP_V4" 7501 >"$tmp/server.out" 2>&1 &
server=$!
wait_listen 7501
peer -s $seed -n $n -j $jobs fuzz-client 7501
peer_done $((300 + n)) || bad "the peer complains"
grep outcomes "$tmp/peer.out"
kill $server || bad "the server has ended by itself"
wait $server 2>/dev/null
honest_down
counters "ClcMalformed>$((n / 15))" "HsServerErr>$((n / 15))" "HsServerTcp>$((n / 10 - 1))" \
	HsServerSmcr=0 HsClientErr=0
end_row

start_row "hostile: $n mutated Accepts"
honest_up
peer -s $seed -e "$tmp/stop" fuzz-server 7502
wait_file "$tmp/ready"
pids=
for i in $(seq $jobs); do
	tcpecho -c -n $(((n + jobs - i) / jobs)) -k ipproto -b 200 \
		-t $most "$SMC_PEER_V4" 7502 \
		>"$tmp/client$i.out" 2>&1 &
	pids="$pids $!"
done
i=0
for pid in $pids; do
	i=$((i + 1))
	wait "$pid" || bad "a connection failed: $(tail -n 1 "$tmp/client$i.out")"
done
: >"$tmp/stop"
peer_done 60 || bad "the peer complains"
honest_down
counters "ClcMalformed>$((n / 15))" "HsReconnect>$((n / 15))" HsClientErr=0 HsClientSmcr=0
end_row
sysctl -q net.smc.fallback_memory_s=60
finish
