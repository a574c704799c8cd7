# SPDX-License-Identifier: GPL-2.0
# The table of networks acts: the route of these connections leaves by a
# tunnel, which no RDMA port stands on.  Without rows they are TCP, with rows on
# both hosts SMC-R, by the port's name or by that of its network device.
# when: 2/2 6.12; 3/8 debug
# guests: 2
# timeout: 300
s=/lab/selftests/smc
port=9100

# expect WHAT COUNTERS: one stream through the tunnel
expect() {
	port=$((port + 1))
	note "$1"
	for x in A B; do g $x "$s/smcstat.sh mark"; done
	g B "$s/stream -s -k ipproto -n 2 -l 20K 10.50.0.2 $port" &
	pid=$!
	listening B $port
	g A "$s/stream -c -k ipproto -n 2 -l 20K 10.50.0.2 $port" ||
		fail "client: $1"
	wait $pid || fail "server: $1"
	g A "$s/smcstat.sh expect $2" || fail "counters: $1"
}

# rows COMMAND: the same in both guests
rows() {
	for x in A B; do
		g $x "set -e; $s/genetlink.py flush; $1" || fail "rows in $x: $1"
	done
}

# Of user space: every kernel has that.
tunnel() {
	g "$1" "set -e
		modprobe -q tun || [ -e /dev/net/tun ]
		ip tuntap add dev tun9 mode tun
		ip address add $4 peer $5 dev tun9
		ip link set tun9 up
		setsid socat TUN,tun-name=tun9,iff-no-pi \
			UDP4-DATAGRAM:$3:4789,bind=:4789 </dev/null >/dev/null 2>&1 &
		sysctl -q net.smc.handshake_timeout_ms=20000 net.smc.transports=smcr"
}

tunnel A 10.9.0.1 10.9.0.2 10.50.0.1 10.50.0.2 || fail "tunnel in A"
tunnel B 10.9.0.2 10.9.0.1 10.50.0.2 10.50.0.1 || fail "tunnel in B"
tcp="HsClientTcp=2 HsClientSmcr=0"
smc="HsClientTcp=0 HsClientSmcr=2"
add="$s/genetlink.py add"

expect "no rows" "$tcp"
rows "$add NETA tun9; $add NETB - rxe0"
expect "another network" "$tcp"
rows "$add NETA tun9 rxe0 2"
expect "another port" "$tcp"
rows "$add NETA tun9 rxe0"
expect "the port's name" "$smc"
rows "$add NETA tun9; $add neta eth0"
expect "the name of the port's network device" "$smc"
rows "$add NETC tun9"
expect "no port has that network" "$tcp"
rows "pkill -x socat; ip link delete tun9
	sysctl -q net.smc.handshake_timeout_ms=2000 net.smc.transports='smcd smcr'"
