#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# netns.sh - SMC-D between network namespaces of one host; what belongs to a
# namespace stays in it; a namespace goes although connections are open.
# SMC_SEED: of what is sent.
. "$(dirname "$0")/lib.sh"
trap 'ip netns delete n1 2>/dev/null; ip netns delete n2 2>/dev/null; cleanup' EXIT

pair_up() {
	printf 'netns add %s\n' n1 n2 | ip -batch -
	ip -n n1 link add eth0 type veth peer name eth0 netns n2
	for i in 1 2; do
		ip -n n$i -batch - <<-END
			link set lo up
			address add 10.97.0.$i/24 dev eth0
			address add fd97::$i/64 dev eth0 nodad
			link set eth0 up
		END
		# no handshake is too late on a busy host
		ip netns exec n$i sysctl -q net.smc.handshake_timeout_ms=20000
	done
}

in1() { ip netns exec n1 "$@"; }
in2() { ip netns exec n2 "$@"; }

# stream_between ADDRESS ARGUMENTS...
stream_between() {
	local addr=$1
	shift
	in2 stream -s -k ipproto "$@" "$addr" 7700 >"$tmp/server.out" 2>&1 &
	server=$!
	wait_listen 7700 in2 || return
	in1 stream -c -k ipproto "$@" "$addr" 7700 >"$tmp/client.out" 2>&1 &
	client=$!
}

# smcd_in NETNS N: so many sockets use SMC-D
smcd_in() {
	local n

	n=$(ip netns exec "$1" smcss | grep -c SMCD)
	[ "$n" = "$2" ] || bad "smcss in $1 has $n with SMC-D, not $2"
}

stream_end() {
	wait $client || bad "client failed"
	wait $server || bad "server failed"
}

# in_counters NETNS FILE WANTS...
in_counters() {
	local n=$1 f=$2
	shift 2
	ip netns exec "$n" smcstat.sh expect -f "$f" "$@" >"$tmp/$n.out" ||
		bad "$n: $(head -n 2 "$tmp/$n.out")"
}

mark() {
	in1 smcstat.sh mark "$tmp/n1"
	in2 smcstat.sh mark "$tmp/n2"
}

seed=${SMC_SEED:-0}
plan 5
echo "# SMC_SEED=$seed"
pair_up
for addr in 10.97.0.2 fd97::2; do
	start_row "netns: SMC-D between two, $addr"
	mark
	stream_between $addr -n 16 -l 64K -H "$tmp/hold"
	wait_file "$tmp/hold.client"
	smcd_in n1 16
	smcd_in n2 16
	[ "$(smcss -a | grep -c SMCD)" = 0 ] || bad "smcss outside sees them"
	: >"$tmp/hold"
	stream_end
	in_counters n1 "$tmp/n1" HsClientSmcd=16 HsServerSmcd=0
	in_counters n2 "$tmp/n2" HsClientSmcd=0 HsServerSmcd=16
	counters SockCreated=0 HsClientSmcd=0
	end_row
done

start_row "netns: settings are of one"
mark
in1 sysctl -q net.smc.transports=
stream_between 10.97.0.2 -n 4 -l 20K
stream_end
in_counters n1 "$tmp/n1" HsClientTcp=4 HsClientSmcd=0
in_counters n2 "$tmp/n2" HsServerTcp=4 HsServerSmcd=0
in2 sysctl net.smc.transports | grep -q smcd || bad "changed in n2 too"
in1 sysctl -q net.smc.transports='smcd smcr'
end_row

start_row "netns: deleted with open connections"
stream_between 10.97.0.2 -n 8 -l 20K -H "$tmp/hold"
wait_file "$tmp/hold.client"
wait_file "$tmp/hold.server"
smcd_in n1 8
smcd_in n2 8
ip netns delete n1
ip netns delete n2
: >"$tmp/hold"
stream_end
end_row

start_row "netns: made and deleted, with connections each time"
for i in $(seq 10); do
	pair_up
	mark
	stream_between 10.97.0.2 -n 2 -l 5K -i $((seed + i))
	stream_end
	in_counters n1 "$tmp/n1" HsClientSmcd=2
	in_counters n2 "$tmp/n2" HsServerSmcd=2
	printf 'netns delete %s\n' n1 n2 | ip -batch -
done
end_row
finish
