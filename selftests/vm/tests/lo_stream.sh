# SPDX-License-Identifier: GPL-2.0
# The stream checker on one host: every connection SMC-D, SHA-256 equal.
# SMC_SEED: of what is sent.
# when: 2/4 6.12; 7/8 debug
# guests: 1
# timeout: 300
# shows: SMC-D
# rdma: none
s=/lab/selftests/smc
seed=${SMC_SEED:-0}
note "SMC_SEED=$seed"

# run CONNECTIONS ARGUMENTS...
run() {
	n=$1
	shift
	note "stream -n $*"
	g A "set -e; $s/smcstat.sh mark; $s/stream -b $*
		$s/smcstat.sh expect HsClientSmcd=$n HsServerSmcd=$n HsClientTcp=0 \
			HsServerTcp=0 HsClientErr=0 HsServerErr=0 ConnAborted=0 \
			TxBytes\>1000" || fail "stream $*"
}

# no handshake is too late on a busy host
g A 'sysctl -q net.core.wmem_max=4194304 net.core.rmem_max=4194304 \
	net.smc.handshake_timeout_ms=20000'
for mode in poll epoll block; do
	run 64 -n 64 -m $mode -k ipproto -S mix -R mix -l 128K -i $((seed + 1)) 127.0.0.1 0
done
run 64 -n 64 -m epoll -k afsmc -l 64K -i $((seed + 2)) 127.0.0.1 0
run 16 -n 16 -m block -k ipproto -i $((seed + 3)) ::1 0
run 16 -n 16 -m poll -k afsmc -i $((seed + 4)) ::1 0
for size in 16K 64K 256K 1M; do
	run 8 -n 8 -k ipproto -S $size -R $size -l 512K -i $((seed + 5)) 127.0.0.1 0
	run 8 -n 8 -m block -k ipproto -S 16K -R $size -l 512K -i $((seed + 6)) 127.0.0.1 0
done
run 1 -n 1 -e -l 16M -k ipproto -i $((seed + 7)) 127.0.0.1 0
# many short ones, and every order of close
run 400 -n 8 -r 50 -l 300 -k ipproto -i $((seed + 8)) 127.0.0.1 0
for closer in shutdown client server; do
	run 64 -n 64 -x $closer -l 20K -k ipproto -m block -i $((seed + 9)) \
		127.0.0.1 0
done
