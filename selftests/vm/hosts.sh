# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# hosts.sh - two network namespaces of A, n1 and n2, as two hosts with a soft-RoCE
# port each; sourced by tests/rdma_netns.sh and rdma_nat.sh
s=/lab/selftests/smc
t=/lab/tools
port=9700
smc='HsClientSmcr=4 HsClientTcp=0'
ssmc='HsServerSmcr=4 HsServerTcp=0'
tcp='HsClientTcp=4 HsClientSmcr=0'
stcp='HsServerTcp=4 HsServerSmcr=0'

g A 'modprobe -a ib_uverbs rdma_rxe veth'

# hosts LINK ADDRESS ADDRESS: n1 and n2, with an eth0 each by the commands LINK; in
# these and in the addresses, which have a prefix, $i is 1 and 2
hosts() {
	g A "set -e
		for i in 1 2; do ip netns add n\$i; done
		$1
		for i in 1 2; do
			ip -n n\$i link set lo up
			ip -n n\$i address add $2 dev eth0
			ip -n n\$i address add $3 dev eth0 nodad
			ip -n n\$i link set eth0 up
			ip netns exec n\$i rdma link add rxe\$i type rxe netdev eth0
			ip netns exec n\$i sysctl -q net.smc.transports=smcr \\
				net.smc.handshake_timeout_ms=20000 \\
				net.smc.fallback_memory_s=0
		done" || fail 'cannot make two hosts'
}

no_devices() { wait_for 30 A '[ -z "$(ls /sys/class/infiniband)" ]'; }

# The end of either namespace takes both ends of the veth away.  If a link is
# deleted while its network device goes, soft-RoCE of 7.2 drops its socket twice.
no_hosts() {
	g A 'rdma link delete rxe1; rdma link delete rxe2'
	no_devices
	g A 'ip netns delete n1; ip netns delete n2'
}

# serve N, connect N ADDRESS [-H FILE]: four connections, to the listener in n$1,
# and from n$1
serve() {
	n=$1
	shift
	port=$((port + 1))
	g A "exec ip netns exec n$n $s/stream -s -n 4 -k ipproto -l 64K $* :: $port" &
	pid=$!
	wait_for 60 A "ip netns exec n$n grep -Eqs \
		':$(printf %04X $port) 0+:0000 0A ' /proc/net/tcp6"
}

connect() {
	n=$1 to=$2
	shift 2
	g A "exec ip netns exec n$n $s/stream -c -n 4 -k ipproto -l 64K $* $to $port"
}

mark() {
	for i in 1 2; do g A "ip netns exec n$i $s/smcstat.sh mark /tmp/n$i"; done
}

# counted N COUNTERS WHAT
counted() {
	g A "ip netns exec n$1 $s/smcstat.sh expect -f /tmp/n$1 $2" || fail "n$1: $3"
}

# talk NAME ADDRESS OF_CLIENT OF_SERVER: counters; the other one is the client
talk() {
	note "$1"
	case $2 in
	*1) server=1 client=2 ;;
	*) server=2 client=1 ;;
	esac
	mark
	serve $server
	connect $client "$2" || fail "client: $1"
	wait $pid || fail "server: $1"
	counted $client "$3" "$1"
	counted $server "$4" "$1"
}

# gids OWN PEER: those of the youngest link of n1
gids() {
	g A "ip netns exec n1 $s/tooljson.py '(rows[-1][\"gid\"],
		rows[-1][\"peer_gid\"]) == (\"$1\", \"$2\")' \
		$t/smcr -j linkgroup link-show" || fail "GIDs $1 $2"
}
