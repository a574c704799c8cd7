# SPDX-License-Identifier: GPL-2.0
# Two hosts that could use SMC-R, were it not for ...: the program gets TCP,
# every byte right, in time, and smcss says why.
# when: 3/4 6.12; long debug, takes minutes there
# guests: 2
# timeout: 900
s=/lab/selftests/smc
port=9700
DEADLINE=2000 SLACK=4000

# drop_roce GUEST [MATCH]: no RoCE packet (that matches) gets in there
drop_roce() {
	x=$1
	shift
	g "$x" "nft add table inet lab
		nft add chain inet lab input \
			'{ type filter hook input priority 0; }'
		nft add rule inet lab input udp dport 4791 $* counter drop"
}

pass_roce() { g "$1" 'nft delete table inet lab'; }

# start NAME GREET SERVER_KIND LIMIT_MS: connect; the client holds then
start() {
	port=$((port + 1))
	note "$1 ${2:+(server speaks first)}"
	for x in A B; do g $x "rm -f /tmp/hold*; $s/smcstat.sh mark"; done
	g B "$s/tcpecho -s $2 -k $3 0.0.0.0 $port" &
	spid=$!
	listening B $port
	g A "$s/tcpecho -c $2 -k ipproto -b 100000 \
		-t \$(($4 + $SLACK * \${SMC_TEST_SCALE:-1})) \
		-H /tmp/hold 10.9.0.2 $port" &
	cpid=$!
}

# finish NAME: the bytes
finish() {
	g A 'touch /tmp/hold'
	wait $cpid || fail "$1: client"
	wait $spid || fail "$1: server"
}

# try NAME SERVER_KIND CLIENT_WHY CLIENT_COUNTERS SERVER_COUNTERS LIMIT_MS
try() {
	# where the deadline is not what ends it, a slow host may take its time
	[ "$6" != 0 ] || each 'sysctl -q net.smc.handshake_timeout_ms=20000'
	for greet in $greets; do
		[ $greet != no ] || greet=
		start "$1" "$greet" "$2" "$6"
		wait_for 60 A 'test -e /tmp/hold.client'
		g A smcss >"$LAB_RUN/smcss"
		grep -q -i "$3" "$LAB_RUN/smcss" ||
			fail "$1: smcss: $(cat "$LAB_RUN/smcss")"
		finish "$1"
		g A "$s/smcstat.sh expect $4" || fail "$1: client counters"
		[ "$2" = tcp ] || g B "$s/smcstat.sh expect $5" ||
			fail "$1: server counters"
	done
	each 'sysctl -q net.smc.handshake_timeout_ms=2000'
}

# RoCE does not pass, and once the link is being confirmed no byte of the stream
# either: both sides give up, and when their Declines cross at last neither
# program may get to see the other side's.
cross() {
	for greet in $greets; do
		[ $greet != no ] || greet=
		drop_roce B
		start "both decline" "$greet" ipproto 60000
		wait_for 60 B 'nft list chain inet lab input | grep -q "packets [1-9]"'
		for x in A B; do
			g $x "nft add table inet cross
				nft add chain inet cross input \
					'{ type filter hook input priority 0; }'
				nft add rule inet cross input tcp sport $port \
					meta length gt 60 counter drop
				nft add rule inet cross input tcp dport $port \
					meta length gt 60 counter drop"
		done
		for x in A B; do
			wait_for 60 $x 'smcss | grep -q "not confirmed in time"'
		done
		# each has sent one that the other has not seen
		for x in A B; do
			g $x 'nft list chain inet cross input |
				grep -q "packets [1-9]"' ||
				fail "both decline: nothing was sent to $x"
			g $x 'nft delete table inet cross'
		done
		pass_roce B
		finish "both decline"
		g A "$s/smcstat.sh expect $tcp" ||
			fail "both decline: client counters"
		g B "$s/smcstat.sh expect $stcp" ||
			fail "both decline: server counters"
	done
}

# which side speaks first does not matter to the checks of the debug kernel
case $LAB_K-${SMC_MODES:-all}-$(turn_of 2 greets) in
debug-* | *-rotate-0) greets=no ;;
*-rotate-1) greets=-g ;;
*) greets="no -g" ;;
esac
tcp="HsClientTcp=1 HsClientSmcr=0 HsClientErr=0"
stcp="HsServerTcp=1 HsServerSmcr=0 HsServerErr=0"
smc="HsClientSmcr=1 HsClientTcp=0"
ssmc="HsServerSmcr=1 HsServerTcp=0"

each() { for x in A B; do g $x "$1"; done; }
each 'sysctl -q net.smc.fallback_memory_s=0'
try "all is well" ipproto SMCR "$smc" "$ssmc" 0
try "server without SMC" tcp "did not offer SMC" "$tcp" "" 0

g A 'sysctl -q net.smc.transports='
try "switched off at the client" ipproto "switched off\|did not offer" \
	"$tcp" "$stcp" 0
g A 'sysctl -q net.smc.transports="smcd smcr"'

g A 'rdma link delete rxe0'
try "no RDMA device at the client" ipproto "no RDMA port\|no SMC device" \
	"$tcp" "$stcp" 0
g A 'rdma link add rxe0 type rxe netdev eth0'
wait_for 30 A "$s/genetlink.py active rxe0"
try "the device again" ipproto SMCR "$smc" "$ssmc" 0

g B 'rdma link delete rxe0'
try "no RDMA device at the server" ipproto "peer declined" "$tcp" "$stcp" 0
g B 'rdma link add rxe0 type rxe netdev eth0'
wait_for 30 B "$s/genetlink.py active rxe0"

# RoCE does not pass: the link cannot be confirmed
drop_roce B
try "RoCE is blocked" ipproto "not confirmed in time\|peer declined" \
	"$tcp" "$stcp" 6000
pass_roce B

each 'sysctl -q net.smc.handshake_timeout_ms=6000'
cross
each 'sysctl -q net.smc.handshake_timeout_ms=2000'

# Only the adapters' acknowledgements (BTH opcode 17) do not come back: the
# server has the client's answer and begins to use SMC, the client cannot know
# that.  What a connection that it gives up was told is not the next one's, and
# the server hears that the link is no more.  (There is no group yet.)
note "the server has given up what the client gives up"
g A 'sysctl -q net.smc.handshake_timeout_ms=5000'
drop_roce A @th,64,8 0x11
for x in A B; do g $x "$s/smcstat.sh mark"; done
g B "$s/tcpecho -s -x -n 2 -k ipproto 0.0.0.0 9800" &
spid=$!
listening B 9800
g A "$s/tcpecho -c -k ipproto -b 100000 10.9.0.2 9800" ||
	fail "no acknowledgements: client"
wait $spid || fail "no acknowledgements: server"
g A "$s/smcstat.sh expect HsClientTcp=1 HsReconnect=1" ||
	fail "no acknowledgements: client counters"
g B "$s/smcstat.sh expect HsServerSmcr=1" ||
	fail "no acknowledgements: server counters"
pass_roce A
g A 'sysctl -q net.smc.handshake_timeout_ms=2000'
try "RoCE passes again" ipproto SMCR "$smc" "$ssmc" 0

g A "$s/peercfg.py ueid del SMCV2-DEFAULT-UEID
	$s/peercfg.py ueid add OTHER.UEID" >/dev/null
try "different UEIDs" ipproto "share no EID\|peer declined" "$tcp" "$stcp" 0
g A "$s/peercfg.py ueid del OTHER.UEID
	$s/peercfg.py ueid add SMCV2-DEFAULT-UEID" >/dev/null
try "the same UEID again" ipproto SMCR "$smc" "$ssmc" 0

# stuck NAME SIDE MATCH: RoCE packets that match do not arrive at A any more,
# under a group that has something to send.  The next connection does not join
# the group that SIDE sees stalled: it is plain TCP in time, and the server is
# not taken for one without SMC.
stalled='smcr linkgroup link-show | grep -q LINK_INACTIVE'
stuck() {
	port=$((port + 1))
	note "$1"
	g A 'rm -f /tmp/hold*; sysctl -q net.smc.handshake_timeout_ms=5000'
	g B "$s/tcpecho -s -k ipproto -n 2 0.0.0.0 $port" &
	spid=$!
	listening B $port
	g A "$s/tcpecho -c -k ipproto -H /tmp/hold 10.9.0.2 $port" 2>/dev/null &
	lost=$!
	wait_for 60 A 'test -e /tmp/hold.client'
	drop_roce A "$3"
	g A 'touch /tmp/hold'
	wait_for 60 "$2" "$stalled"
	g A "$s/smcstat.sh mark"
	g A "$s/tcpecho -c -k ipproto -b 100000 10.9.0.2 $port" ||
		fail "$1: client"
	g A "$s/smcstat.sh expect $tcp HsReconnect=0" ||
		fail "$1: client counters"
	pass_roce A
	wait $spid || fail "$1: server"
	g A 'sysctl -q net.smc.handshake_timeout_ms=2000'
	wait $lost || :
	for x in A B; do wait_for 60 $x "! $stalled"; done
	try "it is not stuck any more" ipproto SMCR "$smc" "$ssmc" 0
}

stuck "the link is stuck at the server" B ""
stuck "the link is stuck at the client" A "@th,64,8 0x11"

other() { case $1 in A) echo B ;; *) echo A ;; esac; }

# from CLIENT ADDRESS CLIENT_COUNTERS: a connection of this guest to the other
# one, by that address; no group is lost
from() {
	port=$((port + 1))
	server=$(other "$1")
	each "sysctl -q net.smc.handshake_timeout_ms=20000; $s/smcstat.sh mark"
	g "$server" "$s/tcpecho -s -k ipproto 0.0.0.0 $port" &
	spid=$!
	listening "$server" $port
	g "$1" "$s/tcpecho -c -k ipproto -b 100000 $2 $port" ||
		fail "from $1 to $2: client"
	wait $spid || fail "from $1 to $2: server"
	g "$1" "$s/smcstat.sh expect $3 LgrLost=0" ||
		fail "from $1 to $2: client counters"
	g "$server" "$s/smcstat.sh expect LgrLost=0" ||
		fail "from $1 to $2: server counters"
	each 'sysctl -q net.smc.handshake_timeout_ms=2000'
}

# A group is for the addresses that it was made with: the client cannot know that
# another one is the same host's.
note "a server with two addresses"
g B 'ip address add 10.9.0.22/24 dev eth0'
from A 10.9.0.2 "$smc LgrCreated=0"
from A 10.9.0.22 "$smc LgrCreated=1"
from A 10.9.0.22 "$smc LgrCreated=0"
note "an address that is translated"
g A 'nft add table ip lab
	nft add chain ip lab out "{ type nat hook output priority -100; }"
	nft add rule ip lab out ip daddr 10.9.0.33 dnat to 10.9.0.2'
n=$(fell_back A client OTHERHOST)
from A 10.9.0.33 "$tcp LgrCreated=0"
equal $((n + 1)) "$(fell_back A client OTHERHOST)" "OTHERHOST"
g A 'nft delete table ip lab'
g B 'ip address del 10.9.0.22/24 dev eth0'
from A 10.9.0.2 "$smc LgrCreated=0"

# blocked NAME: the one connection that has to wait; what it waited for, both
# ends know then
blocked() {
	drop_roce B
	try "$1" ipproto "not confirmed in time\|peer declined" \
		"$tcp HsNoLink=0 LinkCreated=1" "$stcp HsNoLink=0 LinkCreated=1" 6000
}

# fresh GUEST...: a new device: the next connection needs a link, and all that was
# remembered of the old device's is forgotten
fresh() {
	for x; do
		g $x 'rdma link delete rxe0
			rdma link add rxe0 type rxe netdev eth0'
		wait_for 30 $x "$s/genetlink.py active rxe0"
	done
}

memory() { g "$1" "sysctl -q net.smc.fallback_memory_s=$2"; }

greets=no
known="RDMA link to this peer failed"
none="LinkCreated=0"
fresh A B
each 'sysctl -q net.smc.fallback_memory_s=600'
blocked "RoCE is blocked, which is remembered"
# it does not offer SMC-R: the server has nothing to decide
try "no other connection waits" ipproto "$known" \
	"$tcp HsNoLink=1 $none" "$stcp HsNoLink=0 $none" 0
memory B 0
try "the client knows" ipproto "$known" \
	"$tcp HsNoLink=1 $none" "$stcp HsNoLink=0 $none" 0
memory B 600
memory A 0
try "the server knows" ipproto "peer declined" \
	"$tcp HsNoLink=0 $none" "$stcp HsNoLink=1 $none" 0
memory A 600
pass_roce B
try "it is still remembered" ipproto "$known" \
	"$tcp HsNoLink=1 $none" "$stcp HsNoLink=0 $none" 0
note "of this address of the peer's alone"
g B 'ip address add 10.9.0.22/24 dev eth0'
from A 10.9.0.22 "$smc HsNoLink=0"
from A 10.9.0.2 "$tcp HsNoLink=1"
g B 'ip address del 10.9.0.22/24 dev eth0'
note "a link in the other direction shows that RoCE passes"
from B 10.9.0.1 "$smc HsNoLink=0"
try "both ends have forgotten" ipproto SMCR "$smc HsNoLink=0" \
	"$ssmc HsNoLink=0" 0

fresh A B
memory B 0
blocked "RoCE is blocked, which the client remembers"
pass_roce B
try "the client knows" ipproto "$known" "$tcp HsNoLink=1" "$stcp HsNoLink=0" 0
fresh A
try "another device is not the one that failed" ipproto SMCR \
	"$smc HsNoLink=0" "$ssmc HsNoLink=0" 0

fresh A B
memory A 1
blocked "RoCE is blocked, which is remembered for a second"
pass_roce B
port=$((port + 1))
g B "exec $s/tcpecho -s -k ipproto -n 1000 0.0.0.0 $port" &
spid=$!
listening B $port
wait_for 60 A "$s/smcstat.sh mark &&
	$s/tcpecho -c -k ipproto -b 1000 10.9.0.2 $port &&
	$s/smcstat.sh expect HsClientSmcr=1"
kill $spid
each 'sysctl -q net.smc.fallback_memory_s=60'
