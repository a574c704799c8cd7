# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# bench-inner.sh - the part of bench.sh that runs while the guest lives, after
# test-lib.sh.  Lines of results/bench.txt: WAY PATTERN SIZE CONNS NANOSECONDS
s=/lab/selftests/smc
table=$LAB_RUN/results/bench.txt

rows() {
	if [ "$ROWS" = short ]; then
		printf '%s\n' 'latency 64 1' 'latency 32768 1' 'stream 1024 1' \
			'stream 131072 1' 'rate 64 50' 'setup 64 1'
		return
	fi
	for size in 1 64 1024 4096 16384 32768 65536 131072 1048576; do
		echo "latency $size 1"
	done
	for size in 64 1024 4096 16384 65536 131072 1048576; do
		echo "stream $size 1"
	done
	for conns in 4 16 50; do
		echo "rate 64 $conns"
	done
	for conns in 4 8 16; do
		echo "stream 16384 $conns"
	done
	echo "setup 64 1"
}

# way NAME KIND: measure all rows
way() {
	rows >"$LAB_RUN/rows"
	while read -r row; do
		line=$(g A "$s/bench $2 $row" </dev/null) || fail "$1: $row"
		echo "$1 ${line#* }" >>"$table"
	done <"$LAB_RUN/rows"
	note "$1: measured"
}

# want_mode MODE: a connection of now is what the next way measures
want_mode() {
	g A 'rm -f /tmp/hold*'
	g A "exec $s/pingpong -b -k ipproto -n 1 -H /tmp/hold 127.0.0.1 0" \
		>/dev/null &
	pid=$!
	wait_for 120 A 'test -e /tmp/hold.client'
	socks=$(g A "$s/peercfg.py socks" || :)
	g A 'touch /tmp/hold'
	wait $pid || fail pingpong
	equal 2 "$(echo "$socks" | grep -c "^ACTIVE $1 ")" "$1 sockets: $socks"
}

: >"$table"
# no TIME_WAIT: where ports are taken connect() looks for one that is not
g A 'sysctl -q net.ipv4.tcp_max_tw_buckets=0; module.sh rdma lo
	module.sh load ours'
way tcp tcp
way unix unix

g A 'sysctl -q net.smc.transports=smcd'
want_mode SMCD
way smcd ipproto
g A 'sysctl -q net.smc.transports=smcr'
want_mode SMCR
way smcr ipproto
g A 'sysctl -q net.smc.transports='
way fallback ipproto

g A 'module.sh load upstream'
g A "$s/peercfg.py ueid add SMCV2-DEFAULT-UEID
	$s/peercfg.py pnet add LO0 lo rxe0 1" >/dev/null
want_mode SMCR
way own-smcr ipproto
