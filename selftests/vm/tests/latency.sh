# SPDX-License-Identifier: GPL-2.0
# One-way latency of 64 bytes on one host, in virtual time that counts
# instructions, so the figures hold on any machine: TCP, the kernel's own SMC
# and ours over soft-RoCE on lo, and ours over shared memory.  Ours must be
# below the kernel's own, measured in the same run, and SMC-D below 8 us.
# kernels: 6.12
# guests: 1
# timeout: 600
# cpus: 1
# icount: sleep=off
# rdma: lo
s=/lab/selftests/smc
table=$LAB_RUN/latency.txt

# measure NAME KIND: runs pingpong, keeps its connection open until it was
# looked at; $ns is the median
measure() {
	g A 'rm -f /tmp/hold*'
	g A "exec $s/pingpong -b -k $2 -n 2000 -H /tmp/hold 127.0.0.1 0" \
		>"$LAB_RUN/pingpong" &
	pid=$!
	wait_for 120 A 'test -e /tmp/hold.client'
	socks=$(g A "$s/peercfg.py socks" || :)
	g A 'touch /tmp/hold'
	wait $pid || fail "pingpong: $1"
	ns=$(sed -n 's/.*median=\([0-9]*\).*/\1/p' "$LAB_RUN/pingpong")
	note "$1: $(cat "$LAB_RUN/pingpong")"
	echo "$1 $ns" >>"$table"
}

# both ends must be what is being measured
want_mode() {
	equal 2 "$(echo "$socks" | grep -c "^ACTIVE $1 ")" "$1 sockets: $socks"
}

: >"$table"
measure tcp tcp
tcp=$ns

g A 'module.sh load upstream'
g A "$s/peercfg.py ueid add SMCV2-DEFAULT-UEID
	$s/peercfg.py pnet add LO0 lo rxe0 1" >/dev/null
measure upstream-smcr ipproto
want_mode SMCR
upstream=$ns

g A 'module.sh load ours'
g A 'sysctl -q net.smc.transports=smcr'
measure smcr ipproto
want_mode SMCR
smcr=$ns

g A 'sysctl -q net.smc.transports="smcd smcr"'
measure smcd ipproto
want_mode SMCD
smcd=$ns

awk -v tcp="$tcp" '{ printf "%-14s %6.1f us  %5.2f of TCP\n", $1, $2 / 1000,
	$2 / tcp }' "$table" | tee "$LAB_RUN/results/latency.txt"
[ "$smcr" -lt "$upstream" ] ||
	fail "SMC-R is not faster than the kernel's own: $smcr, $upstream ns"
[ "$smcd" -lt 8000 ] || fail "SMC-D is not below 8 us: $smcd ns"
