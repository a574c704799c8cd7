# SPDX-License-Identifier: GPL-2.0
# How often workers run to set a connection up, over shared memory and RDMA:
# selftests/smc/workers.py.
# kernels: 6.12
# guests: 1
# timeout: 180
# cpus: 1
# icount: sleep=off
# rdma: lo
s=/lab/selftests/smc
out=$LAB_RUN/results/workers.txt
g A 'mountpoint -q /sys/kernel/tracing || mount -t tracefs t /sys/kernel/tracing'

# runs TRANSPORT LIMIT
runs() {
	g A "sysctl -q net.smc.transports=$1 && $s/smcstat.sh mark" || fail "$1"
	rc=0
	g A "$s/workers.py 20 $2" >"$LAB_RUN/workers" 2>&1 || rc=$?
	sed "s/^/$1 /" "$LAB_RUN/workers" | tee -a "$out"
	g A "$s/smcstat.sh expect HsServerTcp=0 HsServer$3=21" || fail "not $1"
	[ $rc = 0 ] || fail "$1: more than $2 runs to set a connection up"
}

: >"$out"
runs smcd 4 Smcd
runs smcr 6 Smcr
