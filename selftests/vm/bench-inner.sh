# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# bench-inner.sh - the part of bench.sh that runs while the guest lives, after
# test-lib.sh.  Lines of results/bench.txt: WAY PATTERN SIZE CONNS VALUE
s=/lab/selftests/smc
table=$LAB_RUN/results/bench.txt

rows() {
	if [ "$ROWS" = short ]; then
		printf '%s\n' 'latency 64 1' 'latency 32768 1' 'stream 1024 1' \
			'stream 131072 1' 'rate 64 16' 'setup 64 1' \
			'memory 64 256'
		return
	fi
	for size in 1 64 1024 4096 16384 32768 65536 131072 1048576; do
		echo "latency $size 1"
	done
	for size in 1 64 1024 4096 16384 65536 131072 1048576; do
		echo "stream $size 1"
	done
	for conns in 1 4 16 64; do
		echo "rate 64 $conns"
	done
	for conns in 4 16 64; do
		echo "stream 16384 $conns"
	done
	echo "setup 64 1"
	echo "memory 64 256"
}

# way NAME KIND: measure all rows; the kernel's own uses the rings of connections
# that are gone again, so what one needs is not seen
way() {
	case $1 in
	own-*) rows | grep -v '^memory' ;;
	*) rows ;;
	esac >"$LAB_RUN/rows"
	while read -r row; do
		line=$(g A "$s/bench $2 $row" </dev/null) || fail "$1: $row"
		echo "$1 ${line#* }" >>"$table"
	done <"$LAB_RUN/rows"
	note "$1: measured"
}

# smc_way NAME MODE: the same of IPPROTO_SMC, if a connection of now has that
smc_way() {
	pingpong_held ipproto 1
	want_mode "$2"
	way "$1" ipproto
}

: >"$table"
g A 'uname -r' >"$LAB_RUN/results/kernel"
# no TIME_WAIT: where ports are taken connect() looks for one that is not
g A 'sysctl -q net.ipv4.tcp_max_tw_buckets=0; module.sh rdma lo
	module.sh load ours'
way tcp tcp
way unix unix

g A 'sysctl -q net.smc.transports=smcd'
smc_way smcd SMCD
g A 'sysctl -q net.smc.transports=smcr'
smc_way smcr SMCR
g A 'sysctl -q net.smc.transports='
way fallback ipproto

upstream_on_lo
smc_way own-smcr SMCR
