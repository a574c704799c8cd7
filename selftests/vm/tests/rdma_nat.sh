# SPDX-License-Identifier: GPL-2.0
# A router between two hosts translates addresses of TCP connections, of one end or
# of both: SMC-R where RDMA packets pass as they are, TCP where they do not, or where
# there is no route back.  Two namespaces as in rdma_netns.
# when: 1/2 7.2
# kernels: 7.2
# guests: 1
# timeout: 240
# rdma: none
. "$(dirname "$0")/hosts.sh"

# routed: a third namespace between them, r, whose addresses end in 9
routed() {
	# shellcheck disable=SC2016
	hosts 'ip netns add r
		ip netns exec r sysctl -q net.ipv4.ip_forward=1 \
			net.ipv6.conf.all.forwarding=1
		for i in 1 2; do
			ip -n n$i link add eth0 type veth peer name n$i netns r
			ip -n r address add 10.98.$i.9/24 dev n$i
			ip -n r address add fd98:$i::9/64 dev n$i nodad
			ip -n r link set n$i up
		done' '10.98.$i.$i/24' 'fd98:$i::$i/64'
	g A 'for i in 1 2; do
			ip -n n$i route add default via 10.98.$i.9
			ip -n n$i route add default via fd98:$i::9
		done' || fail 'routes'
}

not_routed() {
	no_hosts
	g A 'ip netns delete r'
}

# nat RULES
nat() {
	g A "ip netns exec r nft flush ruleset
		ip netns exec r nft -f - <<-END
			table inet t {
				chain f {
					type filter hook forward priority 0;
					ct state invalid drop;
				}
				$1
			}
		END" || fail "rules: $1"
}

# to_n2 WHAT ADDRESS OF_CLIENT OF_SERVER: with each kind of address
to_n2() {
	talk "$1" "10.98.$2" "$3" "$4"
	talk "$1, v4-mapped" "::ffff:10.98.$2" "$3" "$4"
	talk "$1, IPv6" "fd98:${2%.*}::${2#*.}" "$3" "$4"
}

post='type nat hook postrouting priority 100; oif n2'
snat="chain a { $post meta l4proto tcp masquerade to :20000-20100; }"
dnat="chain b {
	type nat hook prerouting priority -100;
	ip daddr 10.98.1.9 meta l4proto tcp dnat ip to 10.98.2.2;
	ip6 daddr fd98:1::9 meta l4proto tcp dnat ip6 to fd98:2::2;
}"

routed
nat "$snat"
g A 'ip -n n2 route delete default; ip -6 -n n2 route delete default'
to_n2 'translated, and no route back' 2.2 "$tcp" "$stcp"
equal 12 "$(fell_back A server NOROUTE 'ip netns exec n2')" 'NOROUTE'
not_routed

routed
g A 'for i in 1 2; do
	ip netns exec n$i sysctl -q net.smc.handshake_timeout_ms=3000; done'
nat "chain a { $post masquerade; }"
to_n2 'RDMA packets are translated, too' 2.2 "$tcp" "$stcp"
not_routed

routed
nat "$snat"
to_n2 'address of the client' 2.2 "$smc" "$ssmc"
nat "$dnat"
to_n2 'address of the server' 1.9 "$smc" "$ssmc"
# the server knows the client by that address, and the client not the server
nat "$snat
	$dnat"
to_n2 'both addresses, with a group of another' 1.9 "$tcp LgrCreated=0" "$stcp"
not_routed

routed
nat "$snat
	$dnat"
to_n2 'both addresses' 1.9 "$smc" "$ssmc"
not_routed
