# SPDX-License-Identifier: GPL-2.0
# Which port serves a route that leaves by a VLAN, a bond, a VLAN on a bond or a
# veth pair: the port below it, or the one in its network by the table; and the
# VLAN is the route's.  The link has the service level that a VLAN gives packets of
# the socket's priority.
# when: 3/4 6.12; long debug, takes minutes there
# guests: 2
# timeout: 900
s=/lab/selftests/smc
t=/lab/tools
port=9300

# group NETDEV VLAN GUEST: that of the connection
group() {
	wait_for 60 $3 "$s/tooljson.py 'any(r[\"conns\"] for r in rows)' \
		$t/smcr -j linkgroup"
	g $3 "$s/tooljson.py '[r[\"vlan\"] for r in rows if
				r[\"conns\"]] == [$2]' \
			$t/smcr -j linkgroup &&
		$s/tooljson.py '[r[\"netdev\"] for r in rows if
				r[\"conns\"]] == [\"$1\"]' \
			$t/smcr -j linkgroup link-show"
}

# held NETDEV VLAN ADDRESS-OF-B: a connection is on a link group of these, while
# it lasts; those that were used before are there, too
held() {
	port=$((port + 1))
	g B "smc_run socat TCP4-LISTEN:$port,reuseaddr PIPE" &
	pid=$!
	listening B $port
	g A "smc_run socat TCP4:$3:$port EXEC:'sleep 1000'" &
	hold=$!
	in_both group "$1" "$2" || fail "$what: link group"
	kill $hold
	wait $hold $pid || :
}

# expect WHAT ADDRESS-OF-B COUNTERS [NETDEV VLAN]: one stream there, and where
# its link group is
expect() {
	what=$1
	port=$((port + 1))
	note "$1"
	g A "$s/smcstat.sh mark"
	g B "$s/stream -s -k ipproto -n 2 -l 20K $2 $port" &
	pid=$!
	listening B $port
	g A "$s/stream -c -k ipproto -n 2 -l 20K $2 $port" ||
		fail "client: $1"
	wait $pid || fail "server: $1"
	g A "$s/smcstat.sh expect $3" || fail "counters: $1"
	[ -z "${4:-}" ] || held "$4" "$5" "$2"
}

# numbered COMMANDS GUEST: $n is its number, 1 or 2, $o the other's
numbered() {
	case $2 in A) n=1 o=2 ;; B) n=2 o=1 ;; esac
	g $2 "set -e; n=$n; o=$o; $1"
}

# both COMMANDS: in both guests at once
both() { in_both numbered "$1" || fail "$1"; }

tcp="HsClientTcp=2 HsClientSmcr=0"
smc="HsClientTcp=0 HsClientSmcr=2"
add="$s/genetlink.py add"

both 'sysctl -q net.smc.handshake_timeout_ms=20000 net.smc.transports=smcr
	ip link add link eth0 name eth0.5 type vlan id 3005
	ip address add 10.51.0.$n/24 dev eth0.5
	ip link set eth0.5 up'
expect 'a VLAN on the port' 10.51.0.2 "$smc" eth0.5 3005

# level PRIORITY SL: of the queue pair in A, as soft-RoCE, which does not use it,
# gets it; the first socket there makes the link.  It is after struct
# ib_global_route, 32 bytes, in struct rdma_ah_attr.
level() {
	note "priority $1, service level $2"
	port=$((port + 1))
	both "ip link add link eth0 name eth0.6 type vlan id 6 \
			egress-qos-map 5:3 4:2
		ip address add 10.52.$1.\$n/24 dev eth0.6
		ip link set eth0.6 up"
	g A "set -e; cd /sys/kernel/tracing; $s/smcstat.sh mark
		echo 'p:lab/sl rdma_rxe:rxe_init_av sl=+32(\$arg1):u8' \
			>>kprobe_events
		: >trace; echo 1 >events/lab/sl/enable" || fail 'kprobe event'
	g B "$s/tcpecho -s -k ipproto 10.52.$1.2 $port" &
	pid=$!
	listening B $port
	g A "$s/classed.py priority $1 10.52.$1.2 $port" ||
		fail "client: priority $1"
	wait $pid || fail "server: priority $1"
	g A "$s/smcstat.sh expect HsClientSmcr=1 LgrCreated=1" ||
		fail "counters: priority $1"
	got=$(g A 'cd /sys/kernel/tracing; echo 0 >events/lab/sl/enable
		sed -n "s/.* sl=//p" trace; echo -:lab/sl >>kprobe_events')
	equal "$2" "$(echo "$got" | sort -u)" "service level of priority $1"
	both 'ip link delete eth0.6'
}

level 5 3
level 4 2
level 0 0

# Another network between the guests, on which no port stands.
# socat ends when something comes while its device is down: it begins last.
tap='ip tuntap add dev tap9 mode tap; ip link set tap9 mtu 1400'
carry='ip link set tap9 up
	setsid socat TUN,tun-name=tap9,tun-type=tap,iff-no-pi \
		UDP4-DATAGRAM:10.9.0.$o:4789,bind=:4789 </dev/null \
		>/dev/null 2>&1 &'
both 'modprobe -q tun || [ -e /dev/net/tun ]
	'"$tap"'
	ip link add bond9 type bond mode active-backup miimon 100
	ip link set tap9 master bond9
	ip link set bond9 up
	ip link add link bond9 name bond9.7 type vlan id 7
	ip link set bond9.7 up
	ip address add 10.57.0.$n/24 dev bond9
	ip address add 10.58.0.$n/24 dev bond9.7
	'"$carry"
wait_for 60 A 'ping -c 1 -W 3 10.58.0.2'
expect 'a bond, no rows' 10.57.0.2 "$tcp"
both "$add NETA tap9; $add NETA - rxe0"
expect 'a bond, row of the device below' 10.57.0.2 "$smc" eth0 0
expect 'a VLAN on it that the port is not in' 10.58.0.2 "$tcp"
both 'ip link add link eth0 name eth0.7 type vlan id 7
	ip address add 10.59.0.$n/24 dev eth0.7
	ip link set eth0.7 up'
expect 'a VLAN on it that the port is in' 10.58.0.2 "$smc" eth0.7 7
both "$add NETC bond9.7"
expect 'its own row comes first' 10.58.0.2 "$tcp"

# A veth pair stands on nothing, whatever its other end is plugged into.
both 'pkill -x socat
	ip link delete bond9
	ip link delete tap9
	'"$tap"'
	ip link add br9 type bridge
	ip link set br9 up
	ip link add veth9 type veth peer name veth9br
	ip link set veth9 mtu 1400
	ip link set veth9br mtu 1400
	ip link set veth9br master br9
	ip link set veth9br up
	ip link set veth9 up
	ip link set tap9 master br9
	ip address add 10.56.0.$n/24 dev veth9
	'"$carry"
wait_for 60 A 'ping -c 1 -W 3 10.56.0.2'
expect 'a veth pair into a bridge whose port has a row' 10.56.0.2 "$tcp"
both "$add NETA veth9"
expect 'a veth pair, its own row' 10.56.0.2 "$smc" eth0 0
both 'ip address add 10.54.0.$n/24 dev br9'
expect 'a bridge, row of the device below' 10.54.0.2 "$smc" eth0 0
both "$s/genetlink.py flush
	pkill -x socat
	ip link delete veth9; ip link delete br9
	ip link delete eth0.5; ip link delete eth0.7"

# A port on a bond, without any table.
both 'rdma link delete rxe0
	ip link add bond8 type bond mode active-backup
	ip link set eth0 down
	ip link set eth0 master bond8
	ip link set bond8 up
	rdma link add rxe8 type rxe netdev bond8
	ip link add link bond8 name bond8.3 type vlan id 3
	ip link set bond8.3 up
	ip address add 10.55.0.$n/24 dev bond8
	ip address add 10.53.0.$n/24 dev bond8.3'
wait_for 60 A 'ping -c 1 -W 3 10.53.0.2'
expect 'a bond with a port' 10.55.0.2 "$smc" bond8 0
expect 'a VLAN on a bond with a port' 10.53.0.2 "$smc" bond8.3 3
both 'rdma link delete rxe8
	ip link delete bond8.3; ip link delete bond8
	ip link set eth0 up
	ip address add fd09::$n/64 dev eth0 nodad
	module.sh rdma rxe'
