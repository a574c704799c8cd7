# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# far.sh - this module on two hosts, sourced by tests/kernels_*.sh: all
# connections are SMC-R, in both roles, with each kind of address and each writer
# of the SYN option.
s=/lab/selftests/smc
seed=${SMC_SEED:-0}
note "SMC_SEED=$seed"
port=9600

# stream CLIENT SERVER ON TO ARGUMENTS...: eight connections, all by SMC-R
stream() {
	client=$1 server=$2 on=$3 to=$4
	shift 4
	port=$((port + 1))
	note "$client to $server, $to"
	for x in A B; do g $x "$s/smcstat.sh mark"; done
	g "$server" "$s/stream -s -n 8 $* $on $port" &
	pid=$!
	listening "$server" $port
	g "$client" "$s/stream -c -n 8 $* $to $port" || fail "client: $*"
	wait $pid || fail "server: $*"
	g "$client" "$s/smcstat.sh expect HsClientSmcr=8 HsClientTcp=0 \
		ConnAborted=0" || fail "counters of the client: $*"
	g "$server" "$s/smcstat.sh expect HsServerSmcr=8 HsServerTcp=0 \
		ConnAborted=0" || fail "counters of the server: $*"
}

# both: all kinds of addresses in both directions
both() {
	for kind in ipproto afsmc; do
		stream A B 0.0.0.0 10.9.0.2 -k $kind -l 64K -i $seed
		stream B A 0.0.0.0 10.9.0.1 -k $kind -l 64K -i $seed
		stream A B fd09::2 fd09::2 -k $kind -l 64K -i $seed
		stream B A :: fd09::1 -k $kind -l 64K -i $seed
	done
	stream A B :: ::ffff:10.9.0.2 -k ipproto -l 64K -i $seed
	stream B A :: ::ffff:10.9.0.1 -k ipproto -l 64K -i $seed
	stream B A :: 10.9.0.1 -k ipproto -l 64K -i $seed
}

# own GUEST: there the module writes the option itself
own() {
	g $1 'module.sh unload; SMC_SYN_OPTION=own module.sh load ours
		sysctl -q net.smc.handshake_timeout_ms=20000'
	equal own "$(g $1 'cat /sys/module/smc/parameters/syn_option')" \
		"SYN option of $1"
}

for x in A B; do g $x 'sysctl -q net.smc.handshake_timeout_ms=20000'; done
both
stream A B :: fd09::2 -k ipproto -e -l 4M -i $seed
own B
both
