# SPDX-License-Identifier: GPL-2.0
# poll, epoll, low-water marks, SIGIO, SIGURG, SIGPIPE and urgent data at every
# place of the ring are TCP's.  selftests/smc/sockready.c, on TCP and on sockets
# of ours over both transports and after fallback.
# guests: 1
# timeout: 900
# rdma: lo
s=/lab/selftests/smc

# run MODE TRANSPORTS ADDRESS COUNTERS...
run() {
	note "$1"
	g A "sysctl -q net.smc.transports='$2'; $s/smcstat.sh mark"
	g A "$pos SMC_ADDR=$3 $s/sockready -v ipproto" || fail "$1"
	shift 3
	g A "$s/smcstat.sh expect $*" || fail "counters"
}

# an emulated guest beside busy neighbours is slow: no deadline here
g A 'sysctl -q net.smc.handshake_timeout_ms=20000'
# all places of the ring take the debug kernel half an hour
case $LAB_K in debug) pos=POSITIONS=1000 ;; *) pos='' ;; esac
g A "$pos $s/sockready -v tcp" || fail "TCP: the test is at fault"
run SMC-D smcd 127.0.0.1 'HsClientSmcd\>30' HsClientTcp=0
run fallback '' 127.0.0.1 'HsClientTcp\>30' HsClientSmcd=0
run SMC-R smcr 10.9.0.1 'HsClientSmcr\>30' HsClientTcp=0
g A 'sysctl -q net.smc.transports="smcd smcr"'
