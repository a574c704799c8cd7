# SPDX-License-Identifier: GPL-2.0
# Two namespaces of one host with a soft-RoCE port each: SMC-R between them where
# the kernel's soft-RoCE knows namespaces, with GIDs of both families, plain TCP
# where it does not, or where RDMA devices are of one namespace alone.
# kernels: 6.12 7.2
# when: 2/2 6.12, nothing moves by RDMA there
# guests: 1
# rdma: none
s=/lab/selftests/smc
t=/lab/tools
port=9700
case $LAB_K in
7.2) knows=1 ;;
*) knows='' ;;
esac

g A 'modprobe -a ib_uverbs rdma_rxe veth'

# hosts: two of them, n1 and n2
hosts() {
	g A 'set -e
		for i in 1 2; do ip netns add n$i; done
		ip -n n1 link add eth0 type veth peer name eth0 netns n2
		for i in 1 2; do
			ip -n n$i link set lo up
			ip -n n$i address add 10.97.0.$i/24 dev eth0
			ip -n n$i address add fd97::$i/64 dev eth0 nodad
			ip -n n$i link set eth0 up
			ip netns exec n$i rdma link add rxe$i type rxe netdev eth0
			ip netns exec n$i sysctl -q net.smc.transports=smcr \
				net.smc.handshake_timeout_ms=20000
		done' || fail 'cannot make two hosts'
}

# The end of either namespace takes both ends of the veth away.  If a link is
# deleted while its network device goes, soft-RoCE of 7.2 drops its socket twice.
no_hosts() {
	g A 'rdma link delete rxe1; rdma link delete rxe2'
	wait_for 30 A '[ -z "$(ls /sys/class/infiniband)" ]'
	g A 'ip netns delete n1; ip netns delete n2'
}

# talk NAME ADDRESS COUNTERS_1 COUNTERS_2: n1 is the client
talk() {
	port=$((port + 1))
	note "$1"
	for i in 1 2; do g A "ip netns exec n$i $s/smcstat.sh mark /tmp/n$i"; done
	g A "exec ip netns exec n2 $s/stream -s -n 4 -k ipproto -l 64K :: $port" &
	pid=$!
	wait_for 60 A "ip netns exec n2 grep -Eqs \
		':$(printf %04X $port) 0+:0000 0A ' /proc/net/tcp6"
	g A "exec ip netns exec n1 $s/stream -c -n 4 -k ipproto -l 64K $2 $port" ||
		fail "client: $1"
	wait $pid || fail "server: $1"
	g A "ip netns exec n1 $s/smcstat.sh expect -f /tmp/n1 $3" ||
		fail "counters of the client: $1"
	g A "ip netns exec n2 $s/smcstat.sh expect -f /tmp/n2 $4" ||
		fail "counters of the server: $1"
}

# gids OWN PEER: those of the youngest link of n1
gids() {
	g A "ip netns exec n1 $s/tooljson.py '(rows[-1][\"gid\"],
		rows[-1][\"peer_gid\"]) == (\"$1\", \"$2\")' \
		$t/smcr -j linkgroup link-show" || fail "GIDs $1 $2"
}

smc='HsClientSmcr=4 HsClientTcp=0'
ssmc='HsServerSmcr=4 HsServerTcp=0'
tcp='HsClientTcp=4 HsClientSmcr=0'
stcp='HsServerTcp=4 HsServerSmcr=0'
v4=0000:0000:0000:0000:0000:ffff:0a61:000
v6=fd97:0000:0000:0000:0000:0000:0000:000

hosts
if [ -n "$knows" ]; then
	talk 'IPv4' ::ffff:10.97.0.2 "$smc" "$ssmc"
	gids ${v4}1 ${v4}2
	talk 'IPv6, IPv4 GIDs' fd97::2 "$smc" "$ssmc"
	gids ${v4}1 ${v4}2
	g A 'for i in 1 2; do ip -n n$i -4 address flush dev eth0; done'
	talk 'IPv6 alone' fd97::2 "$smc" "$ssmc"
	gids ${v6}1 ${v6}2
	# each sees its own device and not the other's
	g A "ip netns exec n1 $s/tooljson.py \
		'[r[\"ibdev\"] for r in rows] == [\"rxe1\"]' \
		$t/smcr -j device show" || fail "devices of n1"
else
	talk 'IPv4' ::ffff:10.97.0.2 "$tcp" "$stcp"
	talk 'IPv6' fd97::2 "$tcp" "$stcp"
fi
no_hosts

# a device is of one namespace, and soft-RoCE's is of the first one for ever
# (EBUSY until the namespaces have ended, which the kernel does later)
wait_for 30 A 'rdma system set netns exclusive'
hosts
talk 'exclusive' ::ffff:10.97.0.2 "$tcp" "$stcp"
no_hosts
wait_for 30 A 'rdma system set netns shared'
