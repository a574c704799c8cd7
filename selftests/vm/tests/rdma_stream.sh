# SPDX-License-Identifier: GPL-2.0
# The stream checker between two hosts: every connection SMC-R, SHA-256 equal,
# the bytes by RDMA and only CLC messages on TCP, most of them without a CDC.
# guests: 2
# mtu: 9000
# timeout: 420
# shows: SMC-R
# when: 1/4 6.12; 1/4 debug
. "$(dirname "$0")/wire.sh"
s=/lab/selftests/smc
port=9000

# run CONNECTIONS ARGUMENTS...
run() {
	n=$1
	shift
	port=$((port + 1))
	note "stream $*"
	for x in A B; do g $x "$s/smcstat.sh mark"; done
	g B "$s/stream -s $* 0.0.0.0 $port" &
	pid=$!
	listening B $port
	g A "$s/stream -c $* 10.9.0.2 $port" || fail "client: stream $*"
	wait $pid || fail "server: stream $*"
	g A "$s/smcstat.sh expect HsClientSmcr=$n HsClientTcp=0 HsClientErr=0 \
		ConnAborted=0 LgrLost=0 TxBytes\>1000 TxImm\>0 RxImm\>0" ||
		fail "client counters"
	g B "$s/smcstat.sh expect HsServerSmcr=$n HsServerTcp=0 HsServerErr=0 \
		ConnAborted=0 LgrLost=0 TxBytes\>1000 TxImm\>0 RxImm\>0" ||
		fail "server counters"
}

for x in A B; do
	# an emulated guest beside busy neighbours is slow: no deadline here
	g $x '/lab/selftests/vm/guest/evidence.sh on
		sysctl -q net.core.wmem_max=4194304 net.core.rmem_max=4194304 \
		net.smc.handshake_timeout_ms=20000'
done
wire_start
# a packet takes the debug kernel milliseconds
case $LAB_K in debug | kcsan) many=16 long=1M ;; *) many=64 long=8M ;; esac
for mode in poll epoll block; do
	run $many -n $many -m $mode -k ipproto -S mix -R mix -l 64K
done
run 16 -n 16 -k afsmc -l 64K -i 2
for size in 16K 1M; do
	run 4 -n 4 -k ipproto -S $size -R $size -l 512K -i 5
done
run 4 -n 4 -m block -k ipproto -S 1M -R 16K -l 512K -i 6
run 1 -n 1 -e -l $long -k ipproto -i 7
run 80 -n 8 -r 10 -l 300 -k ipproto -i 8
for closer in shutdown client server; do
	run 16 -n 16 -x $closer -l 20K -k ipproto -m block -i 9
done
wire_stop
wire_only_clc
