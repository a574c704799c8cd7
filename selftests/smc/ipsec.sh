#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ipsec.sh - a policy of the host (ip xfrm) between two namespaces, or MACsec: what
# they protect is plain TCP, never SMC; without them, SMC-D.
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

# protect NETNS HERE THERE SPI_OUT SPI_IN: ESP in both directions, required
protect() {
	local src dst spi dir

	while read -r src dst spi dir; do
		ip -n "$1" xfrm state add src "$src" dst "$dst" proto esp \
			spi "$spi" mode transport enc 'ecb(cipher_null)' '' \
			auth 'hmac(sha1)' 0x0123456789abcdef0123456789abcdef01234567
		ip -n "$1" xfrm policy add src "$src" dst "$dst" dir "$dir" \
			tmpl src "$src" dst "$dst" proto esp mode transport
	done <<-EOF
		$2 $3 $4 out
		$3 $2 $5 in
	EOF
}

# one_row WHAT ADDRESS WANTED...: one connection n1 to n2 and what it became
one_row() {
	local to=$2

	start_row "ipsec: $1"
	shift 2
	in1 smcstat.sh mark "$tmp/n1"
	in2 tcpecho -s -k ipproto "$to" 7800 >"$tmp/server.out" 2>&1 &
	server=$!
	wait_listen 7800 in2 || return
	timeout 60 ip netns exec n1 tcpecho -c -k ipproto -b 20000 "$to" \
		7800 >"$tmp/client.out" 2>&1 || bad "client: $(cat "$tmp/client.out")"
	wait $server || bad "server: $(cat "$tmp/server.out")"
	in1 smcstat.sh expect -f "$tmp/n1" "$@" >"$tmp/out" ||
		bad "$(head -n 2 "$tmp/out")"
	end_row
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

has_macsec=
modprobe -q macsec && has_macsec=1 || echo "# no MACsec here"
plan $((4 + ${has_macsec:-0} * 2))
one_row "no policy" 10.98.0.2 HsClientSmcd=1 HsClientTcp=0
protect n1 10.98.0.1 10.98.0.2 1 2
protect n2 10.98.0.2 10.98.0.1 2 1
one_row "ESP required" 10.98.0.2 HsClientSmcd=0 HsClientTcp=1
start_row "ipsec: the bytes went through ESP"
in1 ip -s xfrm state | grep -q '[1-9][0-9]*(packets)' || bad "no packet did"
end_row
for i in 1 2; do
	ip -n n$i xfrm policy flush
	ip -n n$i xfrm state flush
done
one_row "flushed" 10.98.0.2 HsClientSmcd=1 HsClientTcp=0
if [ -n "$has_macsec" ]; then
	macsec n1 1 2
	macsec n2 2 1
	one_row "a device above MACsec" 10.97.0.2 HsClientSmcd=0 HsClientTcp=1
	one_row "the device below MACsec" 10.98.0.2 HsClientSmcd=1 HsClientTcp=0
fi
finish
