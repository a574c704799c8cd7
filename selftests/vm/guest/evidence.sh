#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# evidence.sh - what this guest knows of its RDMA links, for the log of a test
#		that failed: before the module is unloaded
# evidence.sh on - have the links' changes of state traced from now on
#
# Traces of link states (if they are on), the counters of /proc/net/smc_stat
# that tell of links and the transport, those of the RDMA devices, the end of
# the kernel's log.  Counters that are 0 are left out.
trace=/sys/kernel/tracing

if [ "${1:-}" = on ]; then
	mountpoint -q $trace || mount -t tracefs tracefs $trace
	# not the names of commands: that patches the scheduler
	echo 0 >$trace/options/record-cmd
	echo 1 >$trace/events/smc/smc_link_state/enable
	exit
fi

host=$(uname -n)
say() { sed "s/^/$host: /"; }

if [ "$(cat $trace/events/smc/smc_link_state/enable 2>/dev/null)" = 1 ]; then
	grep smc_link_state: $trace/trace | tail -n 40 | say
fi
grep -E '^(Link|Lgr|Llc|Wr|Cdc|TxBusy|TxCdc|RxCdc|Conn|Orphan)' \
	/proc/net/smc_stat 2>/dev/null | awk '$2 != 0' | say
for f in /sys/class/infiniband/*/ports/*/hw_counters/*; do
	[ ! -r "$f" ] || echo "${f#/sys/class/infiniband/} $(cat "$f")"
done | awk '$2 != 0 && $1 !~ /lifespan$/' | say
dmesg | tail -n 20 | say
exit 0
