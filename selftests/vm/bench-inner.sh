# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# bench-inner.sh - the part of bench.sh, and of the test bench_ratios, that runs
# while the guest lives, after test-lib.sh: measures WAYS, with all rows or
# (ROWS=short) a few.  Lines of results/bench.txt: WAY PATTERN SIZE CONNS VALUE
# With ROWS=parts the emulator has bench-plugin.c, and bench-parts.py reads what is
# kept in the directory "spans".
s=/lab/selftests/smc
table=$LAB_RUN/results/bench.txt
spans=$LAB_RUN/spans

# stream SIZE CONNS: five times, and the median counts (benchdata.py).  How often
# its two ends sleep differs from one to the next: over SMC-R one in five of 1 KiB
# takes 3 % longer
stream() {
	for _ in 1 2 3 4 5; do
		echo "stream $1 $2"
	done
}

# memory first: rings of connections that are gone are used again
rows() {
	case $ROWS in
	parts)
		printf '%s\n' 'latency 64 1' 'latency 131072 1' 'stream 1024 1' \
			'stream 131072 1' 'stream 16384 4'
		return ;;
	esac
	echo "memory 64 256"
	case $ROWS in
	short)
		printf '%s\n' 'latency 64 1' 'latency 32768 1' 'rate 64 16' \
			'setup 64 1'
		stream 1024 1
		stream 131072 1
		return ;;
	esac
	for size in 1 64 1024 4096 16384 32768 65536 131072 1048576; do
		echo "latency $size 1"
	done
	for size in 1 64 1024 4096 16384 65536 131072 1048576; do
		stream $size 1
	done
	for conns in 1 4 16 64; do
		echo "rate 64 $conns"
	done
	for conns in 4 16 64; do
		stream 16384 $conns
	done
	echo "setup 64 1"
}

# keep_span WAY PATTERN SIZE CONNS VALUE COUNT: what the plugin has counted in it
keep_span() {
	[ -s "$LAB_RUN/span" ] || fail "$*: nothing of the plugin"
	mv "$LAB_RUN/span" "$spans/$1.$2.$3.$4"
	echo "$*" >>"$spans/list"
}

# keep_map WAY: where modules are, and what the kernel has of soft-RoCE's checksum,
# each symbol with the one that ends it
keep_map() {
	g A 'cat /proc/modules' >"$spans/$1.modules"
	g A "grep -A 1 ' crc32' /proc/kallsyms" >"$spans/$1.symbols"
}

# way NAME KIND [REGEX]: measure all rows, or those that match
way() {
	rows | grep -E "${3:-.}" >"$LAB_RUN/rows"
	while read -r row; do
		line=$(g A "$s/bench $2 $row" </dev/null) || fail "$1: $row"
		line="$1 ${line#* }"
		echo "${line% *}" >>"$table"
		# shellcheck disable=SC2086
		[ "$ROWS" != parts ] || keep_span $line
	done <"$LAB_RUN/rows"
	[ "$ROWS" != parts ] || keep_map "$1"
	note "$1: measured"
}

# smc_way NAME MODE [REGEX]: the same of IPPROTO_SMC, if a connection of now has
# that mode
smc_way() {
	pingpong_held ipproto 1
	want_mode "$2"
	way "$1" ipproto "${3:-}"
}

# option: this module writes the SYN option, by a hook that sees all packets of the
# namespace while it has a listener of ours
option() {
	g A 'module.sh unload; SMC_SYN_OPTION=own module.sh load ours
		sysctl -q net.smc.transports=smcd
		grep -q own /sys/module/smc/parameters/syn_option'
	g A 'python3 -c "
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 256)
s.bind((\"127.0.0.1\", 7999))
s.listen()
time.sleep(100000)" >/dev/null 2>&1 & echo $! >/tmp/listener'
	listening A 7999
	way tcp-option tcp '^(latency 64|stream 16384|setup 64) '
	smc_way smcd-option SMCD '^setup '
	g A 'kill $(cat /tmp/listener); module.sh unload'
}

# perf PROGRAM SIZE: a server and a client of perftest that sleep where they wait;
# the client's line for this size
perf() {
	n=$(((32 << 20) / $2))
	n=$((n < 100 ? 100 : n > 1000 ? 1000 : n))
	g A "$1 -e -F -d rxe0 -s $2 -n $n >/dev/null 2>&1" </dev/null &
	listening A 18515
	g A "$1 -e -F -d rxe0 -s $2 -n $n 127.0.0.1" </dev/null |
		awk -v size="$2" '$1 == size'
	wait $!
}

# verbs: messages and streams without SMC, in nanoseconds of a message and a byte
verbs() {
	rows | grep -E '^(latency|stream) [0-9]+ 1$' >"$LAB_RUN/rows"
	while read -r pattern size _; do
		case $pattern in
		latency) ns=$(perf ib_send_lat "$size" |
			awk '{ print $6 * 1000 }') ;;
		stream) ns=$(perf ib_send_bw "$size" |
			awk '{ print 1e9 / 1048576 / $4 }') ;;
		esac
		[ -n "$ns" ] || fail "verbs: $pattern $size"
		echo "verbs $pattern $size 1 $ns" >>"$table"
	done <"$LAB_RUN/rows"
	note "verbs: measured"
}

# own_lo: the kernel's own with shared memory; what it needs comes with Debian's
own_lo() {
	g A 'module.sh load upstream; module.sh unload; set -e
		insmod /lab/own-lo/smc.ko; insmod /lab/own-lo/smc_diag.ko
		/lab/selftests/smc/peercfg.py ueid add SMCV2-DEFAULT-UEID' \
		>/dev/null
}

: >"$table"
[ "$ROWS" != parts ] || mkdir -p "$spans"
g A 'uname -r' >"$LAB_RUN/results/kernel"
# no TIME_WAIT: where ports are taken connect() looks for one that is not
g A 'sysctl -q net.ipv4.tcp_max_tw_buckets=0; module.sh rdma lo'
for way in $WAYS; do
	case $way in
	tcp | unix) way "$way" "$way" ;;
	smcd | smcr)
		g A "module.sh load ours; sysctl -q net.smc.transports=$way"
		smc_way "$way" "$(echo "$way" | tr '[:lower:]' '[:upper:]')" ;;
	fallback)
		g A 'module.sh load ours; sysctl -q net.smc.transports='
		way fallback ipproto ;;
	option) option ;;
	own-smcr)
		upstream_on_lo
		smc_way own-smcr SMCR ;;
	own-smcd)
		own_lo
		smc_way own-smcd SMCD ;;
	verbs) verbs ;;
	esac
done
