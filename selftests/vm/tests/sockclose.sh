# SPDX-License-Identifier: GPL-2.0
# No accepted byte is lost or repeated, whatever ends the writer: faults,
# close(), exit(), SIGKILL, time-outs.  selftests/smc/sockclose.c, on TCP and on
# sockets of ours over both transports and after fallback.
# guests: 1
# timeout: 1200
# rdma: lo
s=/lab/selftests/smc

# run MODE TRANSPORTS ADDRESS SOCKETS NO_ORPHANS COUNTERS...
run() {
	note "$1"
	orphan='-t orphan_with_a_slow_reader'
	# plain TCP gives up by rules of its own
	[ -z "$2" ] || orphan="$orphan -t orphan_gives_up"
	g A "sysctl -q net.smc.transports='$2'; $s/smcstat.sh mark"
	g A "SMC_ADDR=$3 SOCKETS=$4 CLOSE_MS=$close_ms $s/sockclose -v ipproto" ||
		fail "$1"
	g A "sysctl -q net.smc.orphan_timeout_s=5
		SMC_ADDR=$3 ORPHAN_S=5 $s/sockclose -V tcp $orphan
		rc=\$?; sysctl -q net.smc.orphan_timeout_s=120; exit \$rc" ||
		fail "$1: orphans"
	g A "sysctl -q net.smc.max_orphans=0
		SMC_ADDR=$3 NO_ORPHANS=$5 $s/sockclose -V tcp -t orphan_too_many
		rc=\$?; sysctl -q net.smc.max_orphans=16384; exit \$rc" ||
		fail "$1: too many orphans"
	shift 5
	g A "$s/smcstat.sh expect $*" || fail "counters"
}

# an emulated guest beside busy neighbours is slow: no deadline here
g A 'sysctl -q net.core.wmem_max=4194304 net.core.rmem_max=4194304 \
	net.core.somaxconn=4096 net.ipv4.tcp_max_orphans=100000 \
	net.smc.handshake_timeout_ms=20000'
g A "SOCKETS=10000 CLOSE_MS=100000 $s/sockclose -v tcp >/tmp/tcp.out 2>&1
	rc=\$?; cat /tmp/tcp.out; exit \$rc" || fail "TCP: the test is at fault"
# The end of 10,000 takes 2 s at most, on a machine where TCP's takes none.
tcp_ms=$(g A 'sed -n "s/.*10000 sockets: \([0-9]*\)\.\([0-9]*\) s.*/\1\2/p" /tmp/tcp.out')
[ -n "$tcp_ms" ] || fail "how long did TCP take?"
close_ms=$((2000 + 3 * $(expr "$tcp_ms" + 0)))
note "TCP takes $tcp_ms ms, the limit is $close_ms ms"
run SMC-D smcd 127.0.0.1 10000 1 'HsClientSmcd\>10000' HsClientTcp=0
run fallback '' 127.0.0.1 10000 0 'HsClientTcp\>10000' HsClientSmcd=0
run SMC-R smcr 10.9.0.1 1000 2 'HsClientSmcr\>1000' HsClientTcp=0
g A 'sysctl -q net.smc.transports="smcd smcr"'
