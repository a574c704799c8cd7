#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ipsec.sh - a policy of the host (ip xfrm) between two namespaces, or MACsec: what
# they protect is plain TCP, never SMC, also of a socket that has no route for a
# while, or a dead one; without them, SMC-D.
. "$(dirname "$0")/lib.sh"
trap 'ip netns delete n1 2>/dev/null; ip netns delete n2 2>/dev/null; cleanup' EXIT

in1() { ip netns exec n1 "$@"; }
in2() { ip netns exec n2 "$@"; }

for i in 1 2; do ip netns add n$i; done
ip -n n1 link add eth0 type veth peer name eth0 netns n2
for i in 1 2; do
	ip -n n$i link set lo up
	ip -n n$i address add 10.98.0.$i/24 dev eth0
	ip -n n$i link set eth0 up
done

# esp NETNS SRC DST SPI: the keys of one direction
esp() {
	ip -n "$1" xfrm state add src "$2" dst "$3" proto esp spi "$4" \
		mode transport enc 'ecb(cipher_null)' '' \
		auth 'hmac(sha1)' 0x0123456789abcdef0123456789abcdef01234567
}

# require NETNS SRC DST DIR: ESP in this direction
require() {
	ip -n "$1" xfrm policy add src "$2" dst "$3" dir "$4" \
		tmpl src "$2" dst "$3" proto esp mode transport
}

# protect NETNS HERE THERE SPI_OUT SPI_IN: ESP in both directions, required
protect() {
	esp "$1" "$2" "$3" "$4"
	require "$1" "$2" "$3" out
	esp "$1" "$3" "$2" "$5"
	require "$1" "$3" "$2" in
}

unprotect() {
	for i in 1 2; do
		ip -n n$i xfrm policy flush
		ip -n n$i xfrm state flush
	done
}

# client COMMAND...: in n1; without it the server would wait for ever
client() {
	timeout $((60 * ${SMC_TEST_SCALE:-1})) ip netns exec n1 "$@" \
		>"$tmp/client.out" 2>&1 && return
	bad "client: $(cat "$tmp/client.out")"
	kill $server
	return 1
}

# became NETNS COUNTERS REASON: one connection did so there since one_row began,
# for this reason if any
became() {
	local got

	"in$1" smcstat.sh expect -f "$tmp/n$1" "$2" >"$tmp/out" ||
		bad "n$1: $(head -n 2 "$tmp/out")"
	got=$(reasons_now "in$1" | grep -vxFf "$tmp/reasons$1" | sed 's/ .*//')
	[ "$got" = "$3" ] || bad "n$1: reason '$got', wanted '$3'"
}

# one_row WHAT ADDRESS [CLIENT SERVER]: one connection n1 to n2 is SMC-D, or TCP's
# for these reasons
one_row() {
	local to=$2 smcd=1 tcp=0 i

	[ -z "${3:-}" ] || { smcd=0; tcp=1; }
	start_row "ipsec: $1"
	for i in 1 2; do
		in$i smcstat.sh mark "$tmp/n$i"
		reasons_now in$i >"$tmp/reasons$i"
	done
	in2 tcpecho -s -k ipproto "$to" 7800 >"$tmp/server.out" 2>&1 &
	server=$!
	wait_listen 7800 in2 || return
	client tcpecho -c -k ipproto -b 20000 "$to" 7800
	wait $server || bad "server: $(cat "$tmp/server.out")"
	became 1 "HsClientSmcd=$smcd HsClientTcp=$tcp" "${3:+client:$3}"
	became 2 "HsServerSmcd=$smcd HsServerTcp=$tcp" "${4:+server:$4}"
	end_row
}

# lost_route ADDRESS: connections of a program that changes IP_TOS all the time,
# which takes its route from the socket until that sends
lost_route() {
	start_row "ipsec: sockets that have lost their route"
	in1 smcstat.sh mark "$tmp/n1"
	in2 tcpecho -s -k ipproto -n 50 "$1" 7801 >"$tmp/server.out" 2>&1 &
	server=$!
	wait_listen 7801 in2 || return
	client python3 - "$1" 7801 50 <<-'EOF'
		import select, socket, sys
		for _ in range(int(sys.argv[3])):
		    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 256)
		    s.setblocking(False)
		    s.connect_ex((sys.argv[1], int(sys.argv[2])))
		    while not select.select([], [s], [], 0)[1]:
		        for i in range(20):
		            s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 16 << i % 2)
		    error = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
		    assert not error, error
		    s.close()
	EOF
	wait $server || bad "server: $(cat "$tmp/server.out")"
	in1 smcstat.sh expect -f "$tmp/n1" HsClientSmcd=0 HsClientTcp=50 \
		>"$tmp/out" || bad "$(head -n 2 "$tmp/out")"
	end_row
}

# wait_state STATE COMMAND...: until a connection with port 7802 is in this state
wait_state() {
	local end=$((SECONDS + 30 * ${SMC_TEST_SCALE:-1}))

	until "${@:2}" ss -Hnt state "$1" '( sport = :7802 or dport = :7802 )' |
		grep -q .; do
		[ $SECONDS -lt $end ] || { bad "no connection is $1"; return 1; }
		sleep 0.05
	done
}

# dead_route ADDRESS: the key is lost between SYN and SYN-ACK, and something asks
# for another one: until that is there TCP has a dead route by the loopback device
dead_route() {
	start_row "ipsec: a key that is lost while TCP connects"
	for i in 1 2; do
		ip netns exec n$i sysctl -q net.smc.handshake_timeout_ms=60000
	done
	in1 smcstat.sh mark "$tmp/n1"
	ip -n n1 xfrm monitor acquire >"$tmp/monitor.out" 2>&1 &
	monitor=$!
	in1 nft -f - <<-'EOF'
		add table inet held
		add chain inet held input { type filter hook input priority 0; }
		add rule inet held input tcp sport 7802 drop
	EOF
	in2 tcpecho -s -k ipproto "$1" 7802 >"$tmp/server.out" 2>&1 &
	server=$!
	wait_listen 7802 in2 || return
	client tcpecho -c -k ipproto -b 20000 "$1" 7802 &
	connecting=$!
	wait_state syn-recv in2 || return
	ip -n n1 xfrm state flush
	in1 nft delete table inet held
	wait_state established in1 || return
	esp n1 10.98.0.1 10.98.0.2 4
	esp n2 10.98.0.1 10.98.0.2 4
	wait $connecting || bad "client: $(cat "$tmp/client.out")"
	wait $server || bad "server: $(cat "$tmp/server.out")"
	kill $monitor
	in1 smcstat.sh expect -f "$tmp/n1" HsClientSmcd=0 HsClientTcp=1 \
		>"$tmp/out" || bad "$(head -n 2 "$tmp/out")"
	for i in 1 2; do
		ip netns exec n$i sysctl -q net.smc.handshake_timeout_ms=2000
	done
	end_row
}

# ipsec_device NETNS HERE THERE ADDRESS: ESP between two hosts, by a device
ipsec_device() {
	ip -n "$1" link add ipsec0 type xfrm dev eth0 if_id 7
	ip -n "$1" address add "$4/24" dev ipsec0
	ip -n "$1" link set ipsec0 up
	for dir in out in; do
		from=$2 to=$3
		[ $dir = out ] || from=$3 to=$2
		ip -n "$1" xfrm state add src "$from" dst "$to" proto esp \
			spi $((${from##*.} + 16)) mode tunnel if_id 7 \
			enc 'ecb(cipher_null)' '' \
			auth 'hmac(sha1)' 0x0123456789abcdef0123456789abcdef01234567
		ip -n "$1" xfrm policy add dir $dir if_id 7 \
			tmpl src "$from" dst "$to" proto esp mode tunnel
	done
}

# macsec NETNS N PEER: MACsec on eth0, and a VLAN on that; keys, as without them
# nothing passes
macsec() {
	local key=0123456789abcdef0123456789abcdef

	ip -n "$1" link add link eth0 name sec0 type macsec sci "000000000000000$2"
	ip -n "$1" macsec add sec0 tx sa 0 pn 1 on key 01 $key
	ip -n "$1" macsec add sec0 rx sci "000000000000000$3" on
	ip -n "$1" macsec add sec0 rx sci "000000000000000$3" sa 0 pn 1 on key 01 $key
	ip -n "$1" link set sec0 up
	ip -n "$1" link add link sec0 name sec0.5 type vlan id 5
	ip -n "$1" address add "10.97.0.$2/24" dev sec0.5
	ip -n "$1" link set sec0.5 up
}

# has MODULE: 1, or nothing where the kernel has none, which fails with IPSEC_ALL=1
has() {
	if modprobe -q "$1"; then
		echo 1
	elif [ -n "${IPSEC_ALL:-}" ]; then
		echo "Bail out! no module $1" >&2
		return 1
	else
		echo "# no module $1 here" >&2
	fi
}

has_macsec=$(has macsec) || exit 1
has_device=$(has xfrm_interface) || exit 1
plan $((7 + ${has_macsec:-0} * 2 + ${has_device:-0}))
one_row "no policy" 10.98.0.2
protect n1 10.98.0.1 10.98.0.2 1 2
protect n2 10.98.0.2 10.98.0.1 2 1
one_row "ESP required" 10.98.0.2 IPSEC PEERDECL
start_row "ipsec: the bytes went through ESP"
in1 ip -s xfrm state | grep -q '[1-9][0-9]*(packets)' || bad "no packet did"
end_row
unprotect
# one direction, so that the server does not decline by itself
esp n1 10.98.0.1 10.98.0.2 3
esp n2 10.98.0.1 10.98.0.2 3
require n1 10.98.0.1 10.98.0.2 out
lost_route 10.98.0.2
dead_route 10.98.0.2
unprotect
one_row "flushed" 10.98.0.2
esp n1 10.98.0.2 10.98.0.1 5
esp n2 10.98.0.2 10.98.0.1 5
require n2 10.98.0.2 10.98.0.1 out
one_row "a policy of the server" 10.98.0.2 PEERDECL IPSEC
unprotect
if [ -n "$has_device" ]; then
	ipsec_device n1 10.98.0.1 10.98.0.2 10.96.0.1
	ipsec_device n2 10.98.0.2 10.98.0.1 10.96.0.2
	one_row "a device of IPsec" 10.96.0.2 IPSEC PEERDECL
	unprotect
fi
if [ -n "$has_macsec" ]; then
	macsec n1 1 2
	macsec n2 2 1
	one_row "a device above MACsec" 10.97.0.2 IPSEC PEERDECL
	one_row "the device below MACsec" 10.98.0.2
fi
finish
