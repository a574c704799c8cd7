# SPDX-License-Identifier: GPL-2.0
# TCP over IPv6 and the GIDs of SMC-R: IPv4's where a port has them, IPv6's where
# there is no IPv4, also through a gateway; and plain TCP where the two ends have
# none of one family.  RDMA packets have the traffic class of TCP over IPv6 and are
# no larger than its route allows.  Their route is one by the device of the GIDs.
# when: 2/2 6.12; 4/8 debug
# guests: 2
# mtu: 9000
# timeout: 300
s=/lab/selftests/smc
t=/lab/tools
seed=${SMC_SEED:-0}
note "SMC_SEED=$seed"
port=9800

# stream CLIENT SERVER TO COUNTERS_CLIENT COUNTERS_SERVER: four connections
stream() {
	port=$((port + 1))
	for x in A B; do g $x "$s/smcstat.sh mark"; done
	g "$2" "exec $s/stream -s -k ipproto -n 4 -l 64K -i $seed :: $port" &
	pid=$!
	listening "$2" $port
	g "$1" "$s/stream -c -k ipproto -n 4 -l 64K -i $seed $3 $port" ||
		fail "client"
	wait $pid || fail "server"
	g "$1" "$s/smcstat.sh expect $4" || fail "counters of the client"
	g "$2" "$s/smcstat.sh expect $5" || fail "counters of the server"
}

# smcr CLIENT SERVER TO GID_A GID_B FLOW: all by SMC-R, on a link of these GIDs;
# its packets, as tcpdump shows them
smcr() {
	g A 'rm -f /tmp/tcpdump.log'
	# each packet is shown at once: what is in a buffer when tcpdump ends is lost
	g A 'exec tcpdump --immediate-mode -l -nn -t -v -i eth0 udp port 4791 \
		>/tmp/roce 2>/tmp/tcpdump.log' &
	dump=$!
	wait_for 60 A 'grep -q listening /tmp/tcpdump.log'
	stream "$1" "$2" "$3" 'HsClientSmcr=4 HsClientTcp=0' \
		'HsServerSmcr=4 HsServerTcp=0'
	# older links have something to say, too
	wait_for 60 A "[ \$(grep -Ec '$6' /tmp/roce) -ge 10 ]"
	g A 'pkill -INT -x tcpdump'
	wait $dump || fail "tcpdump: $(g A 'cat /tmp/tcpdump.log')"
	g A "$s/tooljson.py '(\"$4\", \"$5\") in
			[(r[\"gid\"], r[\"peer_gid\"]) for r in rows]' \
		$t/smcr -j linkgroup link-show" || fail "no link of $4 and $5"
}

tcp() { stream "$1" "$2" "$3" 'HsClientTcp=4' 'HsServerTcp=4'; }

# narrow: a hop between them takes no more than 1280 bytes, and RDMA packets are
# smaller from then on
narrow() {
	for x in A B; do
		[ $x = A ] && o=2 || o=1
		g $x "ip route add fd09::$o/128 dev eth0 mtu 1280
			nft add table inet lab
			nft add chain inet lab in \
				'{ type filter hook input priority 0; }'
			nft add rule inet lab in udp dport 4791 \
				meta length gt 1280 counter drop" ||
			fail "a narrow route in $x"
	done
	stream A B fd09::2 'HsClientSmcr=4 HsClientTcp=0 LgrCreated=1 LgrLost=0' \
		'HsServerSmcr=4 HsServerTcp=0 LgrCreated=1 LgrLost=0'
	for x in A B; do
		[ $x = A ] && o=2 || o=1
		g $x "nft delete table inet lab; ip route del fd09::$o/128"
	done
}

# echoed OPTION VALUE ADDRESS COUNTERS: one connection from A to B
echoed() {
	port=$((port + 1))
	for x in A B; do g $x "$s/smcstat.sh mark"; done
	g B "exec $s/tcpecho -s -k ipproto :: $port" &
	pid=$!
	listening B $port
	g A "$s/classed.py $1 $2 $3 $port" || fail 'client'
	wait $pid || fail 'server'
	g A "$s/smcstat.sh expect $4" || fail 'counters of the client'
}

# classed: packets of both ends have the class of the connection
classed() {
	for x in A B; do
		g $x "nft add table inet lab
			nft add chain inet lab in \
				'{ type filter hook input priority 0; }'
			nft add rule inet lab in udp dport 4791 \
				ip6 dscp 34 counter" || fail "nft in $x"
	done
	g B 'sysctl -q net.ipv4.tcp_reflect_tos=1'
	echoed tclass $((34 << 2)) fd09::2 'HsClientSmcr=1 LgrCreated=1'
	for x in A B; do
		[ "$(g $x 'nft list chain inet lab in' |
			sed -n 's/.*packets \([0-9]*\).*/\1/p')" -gt 0 ] ||
			fail "no packet of that class in $x"
		g $x 'nft delete table inet lab'
	done
	g B 'sysctl -q net.ipv4.tcp_reflect_tos=0'
}

# elsewhere: to the IPv4 address of the other there is also a better route, by
# another network device, with a gateway that is not there
elsewhere() {
	for x in A B; do
		[ $x = A ] && o=2 || o=1
		g $x "ip link add d0 type dummy
			ip address add 10.77.0.1/24 dev d0
			ip link set d0 up
			ip route add 10.9.0.$o/32 via 10.77.0.9" ||
			fail "no other route in $x"
	done
	smcr A B fd09::2 ${m}1 ${m}2 "$mapped"
	for x in A B; do g $x 'ip link delete d0'; done
}

# in_vrf: the network device of both is in one, to which the client's socket is
# bound; soft-RoCE does not receive there
in_vrf() {
	for x in A B; do
		g $x 'modprobe vrf
			sysctl -q net.ipv4.tcp_l3mdev_accept=1 \
				net.ipv4.udp_l3mdev_accept=1
			ip link add red type vrf table 100
			ip link set red up
			ip link set eth0 master red' || fail "no VRF in $x"
		has_gid $x 0a09:000.
	done
	echoed ifindex "$(g A 'cat /sys/class/net/red/ifindex')" 10.9.0.2 \
		'HsClientTcp=1 LgrCreated=0'
	for x in A B; do
		g $x 'ip link set eth0 nomaster
			ip link delete red
			sysctl -q net.ipv4.tcp_l3mdev_accept=0 \
				net.ipv4.udp_l3mdev_accept=0'
	done
}

gids='/sys/class/infiniband/rxe0/ports/1/gids/*'

# has_gid GUEST END: one that ends so; the port follows its network device a moment later
has_gid() { wait_for 60 $1 "grep -q '$2\$' $gids"; }

no_v4() {
	g $1 'ip -4 address flush dev eth0'
	wait_for 60 $1 "! grep -q ffff:0a09 $gids"
}

v4() {
	case $1 in A) n=1 ;; B) n=2 ;; esac
	g $1 "ip address add 10.9.0.$n/24 dev eth0"
	has_gid $1 0a09:000$n
}

m=0000:0000:0000:0000:0000:ffff:0a09:000
ula=fd09:0000:0000:0000:0000:0000:0000:000
mapped='^ +10\.9\.0\.[12]\.[0-9]* > 10\.9\.0\.[12]\.4791: '
on_link='^IP6 .*hlim 1, .* fd09::[12]\.[0-9]* > fd09::[12]\.4791: '
for x in A B; do g $x 'sysctl -q net.smc.handshake_timeout_ms=20000'; done

note 'both have IPv4: its GIDs'
smcr A B fd09::2 ${m}1 ${m}2 "$mapped"
note 'MTU of the TCP route'
narrow
note 'a client with IPv4, a server without: no GIDs of one family'
no_v4 B
tcp A B fd09::2
note 'a client without IPv4, a server with: that of the client'
smcr B A fd09::1 ${ula}1 ${ula}2 "$on_link"
note 'none has IPv4'
no_v4 A
smcr A B fd09::2 ${ula}1 ${ula}2 "$on_link"

note 'MTU of the route between the ports'
narrow
note 'traffic class'
classed

note 'and a gateway between them'
g A 'ip address add 2001:db8:a::1/64 dev eth0 nodad
	ip route add 2001:db8:b::/64 via fd09::2'
g B 'ip address add 2001:db8:b::2/64 dev eth0 nodad
	ip route add 2001:db8:a::/64 via fd09::1'
has_gid A '2001:.*0001'
has_gid B '2001:.*0002'
far=2001:0db8:000
smcr A B 2001:db8:b::2 ${far}a:0000:0000:0000:0000:0001 \
	${far}b:0000:0000:0000:0000:0002 \
	'^IP6 .*hlim 64, .* 2001:db8:[ab]::[12]\.[0-9]* > 2001:db8:[ab]::[12]\.4791: '
g A 'ip address del 2001:db8:a::1/64 dev eth0
	ip route del 2001:db8:b::/64 via fd09::2'
g B 'ip address del 2001:db8:b::2/64 dev eth0
	ip route del 2001:db8:a::/64 via fd09::1'

note 'IPv4 again'
for x in A B; do v4 $x; done
smcr A B ::ffff:10.9.0.2 ${m}1 ${m}2 "$mapped"
note 'and a better route elsewhere'
elsewhere

note 'in a VRF'
in_vrf
