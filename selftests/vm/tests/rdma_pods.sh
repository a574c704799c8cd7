# SPDX-License-Identifier: GPL-2.0
# Containers use the host's port where it lends it and their packets leave by it:
# veth, routed or into a bridge, macvlan, VXLAN.  What RDMA packets have of the TCP
# connection and of the route: traffic class and MTU.
# when: 1/8 6.12; long debug, takes minutes
# guests: 2
# timeout: 900
s=/lab/selftests/smc
port=9200

# numbered COMMANDS GUEST: $n is its number, 1 or 2, $o the other's; "pod" runs
# a command in the container
numbered() {
	case $2 in A) n=1 o=2 ;; B) n=2 o=1 ;; esac
	g $2 "set -e; n=$n; o=$o; pod() { ip netns exec pod \"\$@\"; }; $1"
}

# both COMMANDS: in both guests at once
both() { in_both numbered "$1" || fail "$1"; }

# serving GUEST PREFIX: the server listens there
serving() {
	wait_for 60 "$1" "$2 grep -Eqs ':$(printf %04X $port) 0+:0000 0A ' \
		/proc/net/tcp /proc/net/tcp6"
}

# stream WHERE_A WHERE_B ADDRESS COUNTERS: two connections from A to B; WHERE: ""
# or "pod"; the counters are A's
stream() {
	port=$((port + 1))
	a=${1:+ip netns exec $1} b=${2:+ip netns exec $2}
	g A "$a $s/smcstat.sh mark"
	g B "$b $s/stream -s -k ipproto -n 2 -l 200K $3 $port" &
	pid=$!
	serving B "$b"
	g A "$a $s/stream -c -k ipproto -n 2 -l 200K $3 $port" ||
		fail "$what: client"
	wait $pid || fail "$what: server"
	g A "$a $s/smcstat.sh expect $4 LgrLost=0" || fail "$what: counters"
}

expect() {
	what=$1
	note "$1"
	shift
	stream "$@"
}

tcp="HsClientTcp=2 HsClientSmcr=0"
smc="HsClientTcp=0 HsClientSmcr=2"
new="$smc LgrCreated=1"

# settings of a new namespace
set_up='pod sysctl -q net.smc.handshake_timeout_ms=20000 net.smc.transports=smcr
	pod ip link set lo up'
both 'sysctl -q net.smc.handshake_timeout_ms=20000 net.smc.transports=smcr
	sysctl -q net.smc.lend_ports=1
	sysctl -q net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1'

# pair: a pod behind a routed veth pair, with IPv4 and IPv6
pair='ip netns add pod
	ip link add pod9 type veth peer name eth0 netns pod
	ip address add 10.60.$n.1/24 dev pod9
	ip address add fd60:$n::1/64 dev pod9 nodad
	ip link set pod9 up
	'"$set_up"'
	pod ip address add 10.60.$n.2/24 dev eth0
	pod ip address add fd60:$n::2/64 dev eth0 nodad
	pod ip link set eth0 up
	pod ip route add default via 10.60.$n.1
	pod ip route add default via fd60:$n::1
	ip route add 10.60.$o.0/24 via 10.9.0.$o
	ip route add fd60:$o::/64 via fd09::$o'
unpair='ip netns delete pod
	ip route del 10.60.$o.0/24
	ip route del fd60:$o::/64'

both 'rdma system set netns exclusive'
both "$pair"
expect 'the host shares its devices with none' pod pod 10.60.2.2 "$tcp"
expect 'and has them itself' '' '' 10.9.0.2 "$new"
expect 'over IPv6, too' '' '' fd09::2 "$new"
both "$unpair"
both 'for i in $(seq 100); do rdma system set netns shared && break; sleep 0.1; done
	module.sh rdma none; module.sh rdma rxe'

both "$pair
	sysctl -q net.smc.lend_ports=0"
expect 'the host lends no port' pod pod 10.60.2.2 "$tcp"
both 'sysctl -q net.smc.lend_ports=1 net.smc.transports=smcd'
expect 'nor with SMC-R switched off' pod pod 10.60.2.2 "$tcp"
both 'sysctl -q net.smc.transports=smcr'
expect 'veth, routed' pod pod 10.60.2.2 "$new"
expect 'the same group again' pod pod 10.60.2.2 "$smc LgrCreated=0"
expect 'veth, IPv6' pod pod fd60:2::2 "$smc"
expect 'a host and a container' '' pod 10.60.2.2 "$new"
expect 'a container and a host' pod '' 10.9.0.2 "$new"
both 'pod sysctl -q net.smc.transports=smcd'
expect 'switched off in the container' pod pod 10.60.2.2 "$tcp"
both 'pod sysctl -q net.smc.transports=smcr'

# The server sees both at one address, and their GIDs are one.
note 'a container whose address is translated to the host'\''s'
g A 'nft add table ip lab
	nft add chain ip lab post "{ type nat hook postrouting priority 100; }"
	nft add rule ip lab post ip saddr 10.60.1.2 masquerade'
expect 'translated' pod '' 10.9.0.2 "$new"
expect 'the host itself' '' '' 10.9.0.2 "$new"
expect 'translated, again' pod '' 10.9.0.2 "$smc LgrCreated=0"
g A 'nft delete table ip lab'

# IPsec of the host is for its containers, too.
sa='src 10.9.0.1 dst 10.9.0.2 proto esp'
tunnel="src 10.60.1.2 dst 10.9.0.2 tmpl $sa mode tunnel"
both "modprobe -q -a xfrm_user esp4 ecb crypto_null sha1_generic || :
	ip xfrm state add $sa spi 0x1001 mode tunnel enc 'ecb(cipher_null)' '' \
		auth 'hmac(sha1)' 0x0123456789012345678901234567890123456789"
g A "ip xfrm policy add dir out $tunnel" || fail 'policy in A'
g B "ip xfrm policy add dir in $tunnel" || fail 'policy in B'
expect 'IPsec of the host' pod '' 10.9.0.2 "$tcp"
both 'ip xfrm policy flush; ip xfrm state flush'
g A "ip xfrm policy add dir out src 192.0.2.1 dst 192.0.2.2 tmpl $sa \
	mode tunnel" || fail 'policy'
expect 'IPsec of the host, maybe after a translation' pod '' 10.9.0.2 "$tcp"
g A 'ip xfrm policy flush'

# has MODULE: in both; Debian's kernels have all that are asked for
has() {
	if g A "modprobe -q $1" && g B "modprobe -q $1"; then
		return 0
	fi
	case $LAB_K in debug | kcsan) ;; *) fail "no module $1" ;; esac
	note "no module $1 here"
	return 1
}

# So is MACsec, and it is for the host itself: its port is below.
if has macsec; then
	key=0123456789abcdef0123456789abcdef
	both 'sci=000000000000000
		ip link add link eth0 name sec9 type macsec sci $sci$n
		ip macsec add sec9 tx sa 0 pn 1 on key 01 '$key'
		ip macsec add sec9 rx sci $sci$o on
		ip macsec add sec9 rx sci $sci$o sa 0 pn 1 on key 01 '$key'
		ip address add 10.62.0.$n/24 dev sec9
		ip link set sec9 up'
	expect 'MACsec' '' '' 10.62.0.2 "$tcp LgrCreated=0"
	both 'ip route replace 10.60.$o.0/24 via 10.62.0.$o'
	expect 'MACsec on the way' pod pod 10.60.2.2 "$tcp LgrCreated=0"
	both 'ip link delete sec9
		ip route add 10.60.$o.0/24 via 10.9.0.$o'
fi

# Two hops of the RDMA packets' way have a smaller MTU than their devices.
drop='nft add table inet lab
	nft add chain inet lab in "{ type filter hook input priority 0; }"
	nft add rule inet lab in udp dport 4791 meta length gt 700 counter drop'
both 'ip route add 10.9.0.$o/32 dev eth0 mtu 700
	'"$drop"
expect 'MTU of the TCP route' '' '' 10.9.0.2 "$new"
both "$unpair
	$pair"
expect 'MTU of the route between the ports' pod pod 10.60.2.2 "$new"
both 'nft delete table inet lab
	ip route del 10.9.0.$o/32'
both "$unpair"

# marked WHAT OPTION DSCP TO COUNTERS OF_A OF_B: packets with the class arrived
# there: 0 or +
marked() {
	what=$1
	note "$1"
	port=$((port + 1))
	both "nft add table inet lab
		nft add chain inet lab in '{ type filter hook input priority 0; }'
		nft add rule inet lab in udp dport 4791 ip dscp $3 counter"
	g A "$s/smcstat.sh mark"
	g B "$s/tcpecho -s -k ipproto :: $port" &
	pid=$!
	serving B ''
	g A "$s/classed.py $2 $(($3 << 2)) $4 $port" || fail "$1: client"
	wait $pid || fail "$1: server"
	g A "$s/smcstat.sh expect $5" || fail "$1: counters"
	for x in A B; do
		[ $x = A ] && want=$6 || want=$7
		got=$(g $x 'nft list chain inet lab in' |
			sed -n 's/.*packets \([0-9]*\).*/\1/p')
		case $want$got in
		0[1-9]* | +0) fail "$1: $got packets with the class in $x" ;;
		esac
	done
	both 'nft delete table inet lab'
}
one="HsClientTcp=0 HsClientSmcr=1"
expect 'no class' '' '' 10.9.0.2 "$smc"
expect 'no class, IPv6' '' '' fd09::2 "$smc"
marked 'the server has no class and names the group' tos 46 10.9.0.2 \
	"$one LgrCreated=0" 0 0
marked 'the same over IPv6' tclass 34 fd09::2 "$one LgrCreated=0" 0 0
g B 'sysctl -q net.ipv4.tcp_reflect_tos=1'
marked 'the server has that class, too' tos 46 10.9.0.2 "$one LgrCreated=1" + +
marked 'and again' tos 46 10.9.0.2 "$one LgrCreated=0" + +
marked 'v4-mapped' tos 46 ::ffff:10.9.0.2 "$one LgrCreated=0" + +
marked 'IPv6' tclass 34 fd09::2 "$one LgrCreated=1" + +
marked 'IPv6, and again' tclass 34 fd09::2 "$one LgrCreated=0" + +
g B 'sysctl -q net.ipv4.tcp_reflect_tos=0'

# A bridge with the gateway on it; the container at B has a macvlan device.
both 'ip netns add pod; '"$set_up"
g A 'ip link add br9 type bridge && ip link set br9 up &&
	ip address add 10.60.1.1/24 dev br9 &&
	ip link add pod9 type veth peer name eth0 netns pod &&
	ip link set pod9 master br9 && ip link set pod9 up &&
	ip -n pod address add 10.60.1.2/24 dev eth0 &&
	ip -n pod link set eth0 up &&
	ip -n pod route add default via 10.60.1.1' || fail 'bridge in A'
g B 'ip link add mac9 link eth0 type macvlan mode bridge &&
	ip link set mac9 netns pod && ip -n pod link set mac9 name eth0 &&
	ip -n pod address add 10.9.0.12/24 dev eth0 &&
	ip -n pod link set eth0 up &&
	ip -n pod route add 10.60.1.0/24 via 10.9.0.1' || fail 'macvlan in B'
expect 'a bridge, and macvlan' pod pod 10.9.0.12 "$new"
both 'ip netns delete pod'
g A 'ip link delete br9'

# A tunnel that stands on no device.
if has vxlan; then
	both "$pair"'
		ip link add vx9 type vxlan id 9 remote 10.9.0.$o dstport 4789
		ip address add 10.61.0.$n/24 dev vx9
		ip link set vx9 up
		ip route replace 10.60.$o.0/24 via 10.61.0.$o'
	expect 'VXLAN' pod pod 10.60.2.2 "$new"
	g A "ip xfrm policy add dir out src 192.0.2.1 dst 192.0.2.2 tmpl $sa \
		mode tunnel" || fail 'policy'
	expect 'IPsec may protect the tunnel' pod pod 10.60.2.2 "$tcp"
	g A 'ip xfrm policy flush'
	both "$unpair
		ip link delete vx9"

	# a bridge that forwards by itself may filter VLANs
	both 'ip netns add pod; '"$set_up"'
		ip link add br9 type bridge
		ip link add vx9 type vxlan id 9 remote 10.9.0.$o dstport 4789 dev eth0
		ip link add pod9 type veth peer name eth0 netns pod
		for x in vx9 pod9; do
			ip link set $x master br9
			ip link set $x up
		done
		ip link set br9 up
		pod ip address add 10.61.0.$n/24 dev eth0
		pod ip link set eth0 up'
	expect 'VXLAN on a bridge' pod pod 10.61.0.2 "$tcp"
	both 'ip netns delete pod
		ip link delete br9
		ip link delete vx9'
fi
both 'sysctl -q net.smc.handshake_timeout_ms=2000 net.smc.transports="smcd smcr"
	sysctl -q net.smc.lend_ports=0
	sysctl -q net.ipv4.ip_forward=0 net.ipv6.conf.all.forwarding=0'
