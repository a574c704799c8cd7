# SPDX-License-Identifier: GPL-2.0
# Two namespaces of one host with a soft-RoCE port each: SMC-R between them where
# the kernel's soft-RoCE knows namespaces, with GIDs of both families, plain TCP
# where it does not. The same where an RDMA device is of one namespace alone: SMC-R
# if the ports are, TCP if they are the host's.
# kernels: 6.12 7.2
# guests: 1
# timeout: 240
# rdma: none
. "$(dirname "$0")/hosts.sh"
case $LAB_K in
7.2) knows=1 ;;
*) knows='' ;;
esac
v4=0000:0000:0000:0000:0000:ffff:0a61:000
v6=fd97:0000:0000:0000:0000:0000:0000:000

two() {
	# shellcheck disable=SC2016
	hosts 'ip -n n1 link add eth0 type veth peer name eth0 netns n2' \
		'10.97.0.$i/24' 'fd97::$i/64'
}

# devices WHERE NAMES: those that are seen there
devices() {
	g A "$1 $s/tooljson.py '[r[\"ibdev\"] for r in rows] == [$2]' \
		$t/smcr -j device show" || fail "devices, $1: not $2"
}

two
if [ -n "$knows" ]; then
	talk 'IPv4' ::ffff:10.97.0.2 "$smc" "$ssmc"
	gids ${v4}1 ${v4}2
	talk 'IPv6, IPv4 GIDs' fd97::2 "$smc" "$ssmc"
	gids ${v4}1 ${v4}2
	g A 'for i in 1 2; do ip -n n$i -4 address flush dev eth0; done'
	talk 'IPv6 alone' fd97::2 "$smc" "$ssmc"
	gids ${v6}1 ${v6}2
	# each sees its own device and not the other's
	devices 'ip netns exec n1' '"rxe1"'
else
	talk 'IPv4' ::ffff:10.97.0.2 "$tcp" "$stcp"
	talk 'IPv6' fd97::2 "$tcp" "$stcp"
fi
no_hosts

# A device is of one namespace, and soft-RoCE's is of the first one
# (EBUSY until the namespaces have ended, which the kernel does later)
wait_for 30 A 'rdma system set netns exclusive'
two
talk 'exclusive' ::ffff:10.97.0.2 "$tcp" "$stcp"
devices 'ip netns exec n1' ''

# open_streams: held from n1 to n2; $pid and $cpid
open_streams() {
	g A 'rm -f /tmp/hold*'
	mark
	serve 2 -H /tmp/hold
	connect 1 ::ffff:10.97.0.2 -H /tmp/hold &
	cpid=$!
	wait_for 60 A 'test -e /tmp/hold.client'
	wait_for 60 A 'test -e /tmp/hold.server'
}

# sockets WHERE N
sockets() {
	equal $2 "$(g A "$1 $t/smcss | grep -c SMCR")" "sockets, $1"
}

if [ -n "$knows" ]; then
	g A 'insmod /lab/movable.ko'
	g A 'rdma dev set rxe1 netns n1' || fail 'rxe1 to n1'
	talk 'n2 has none' ::ffff:10.97.0.2 "$tcp" "$stcp"
	talk 'n2 has none, to n1' ::ffff:10.97.0.1 "$tcp" "$stcp"
	g A 'rdma dev set rxe2 netns n2' || fail 'rxe2 to n2'
	talk 'each its own' ::ffff:10.97.0.2 "$smc" "$ssmc"
	gids ${v4}1 ${v4}2
	talk 'each its own, to n1' ::ffff:10.97.0.1 "$smc" "$ssmc"
	talk 'each its own, IPv6' fd97::2 "$smc" "$ssmc"
	for i in 1 2; do devices "ip netns exec n$i" "\"rxe$i\""; done
	devices '' ''

	note 'a device goes to the host, with open connections'
	open_streams
	for i in 1 2; do sockets "ip netns exec n$i" 4; done
	sockets '' 0
	g A 'ip netns exec n1 rdma dev set rxe1 netns /proc/1/ns/net' ||
		fail 'rxe1 to the host'
	g A 'touch /tmp/hold'
	# an error ends stream with 1, its watchdog with 3
	ended 1 $cpid 'the client sees an error'
	ended 1 $pid 'the server sees an error'
	devices '' '"rxe1"'
	counted 1 "'LinkDownRemoved>0'" 'links'
	counted 2 "'LinkDownPeer>0'" 'links'
	talk 'n1 has none' ::ffff:10.97.0.2 "$tcp" "$stcp"
	g A 'rdma dev set rxe1 netns n1' || fail 'rxe1 to n1 again'
	talk 'n1 has it again' ::ffff:10.97.0.2 "$smc" "$ssmc"
	talk 'n1 has it again, to n1' ::ffff:10.97.0.1 "$smc" "$ssmc"

	note 'the namespaces are deleted, with open connections and the devices'
	open_streams
	g A 'ip netns delete n1; ip netns delete n2; touch /tmp/hold'
	wait $cpid || fail 'the client'
	wait $pid || fail 'the server'
	no_devices
	wait_for 30 A 'rmmod movable'
else
	no_hosts
fi
wait_for 30 A 'rdma system set netns shared'
