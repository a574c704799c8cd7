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
table=$LAB_RUN/latency.txt

# measure NAME KIND: $ns is the median of pingpong
measure() {
	pingpong_held "$2" 2000
	ns=$(sed -n 's/.*median=\([0-9]*\).*/\1/p' "$LAB_RUN/pingpong")
	note "$1: $(cat "$LAB_RUN/pingpong")"
	echo "$1 $ns" >>"$table"
}

: >"$table"
measure tcp tcp
tcp=$ns

upstream_on_lo
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
