#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# verdict.sh TEST - ends every test, in each guest (after begin.sh): whatever
# the test found, nothing may be left of it.  Prints one line a complaint;
# exit code 1 if there is any.
#
# In order: the test's processes and its changes to the network go; then,
# within LIMIT seconds, so do all sockets; created equals destroyed in
# /proc/net/smc_stat; rmmod succeeds within 5 s; the RDMA resources are those
# from before; kmemleak, scanned twice, finds nothing; dmesg is clean.  Only
# dmesg counts against a guest that ran the kernel's own smc.
#
#   DMESG_OK=REGEX   lines the test means to provoke
set -u
export PATH=/lab/selftests/vm/guest:/usr/sbin:/usr/bin:/sbin:/bin

LIMIT=30	# seconds for sockets to go: orphans may linger 10
RMMOD_LIMIT=5

BAD='BUG:|KASAN|KFENCE|KCSAN|UBSAN|WARNING:|Oops|RIP:|Call Trace:'
BAD="$BAD|ref_tracker:|unreferenced object|blocked for more than"
BAD="$BAD|possible circular|suspicious RCU|sleeping function|DMA-API"
BAD="$BAD|unregister_netdevice: waiting|CQ overrun|refcount_t:"
BAD="$BAD|Objects remaining|soft lockup|rcu.*stall|ODEBUG:|imbalance"

test=$1
which=$(module.sh which)
bad=0
complain() { bad=1; echo "verdict: $(hostname): $*"; }

# seconds since boot, in hundredths
now() { tr -d . </proc/uptime | cut -d' ' -f1; }

# until_ok SECONDS COMMAND...: poll, fail after SECONDS
until_ok() {
	_end=$(($(now) + $1 * 100))
	shift
	until "$@"; do
		[ "$(now)" -lt $_end ] || return 1
		sleep 0.2
	done
}

# All but init, the agent, and this script's own session
strays() {
	ps -eo pid=,ppid=,sid=,stat=,args= | awk -v sid="$(ps -o sid= -p $$)" '
		$1 != 1 && $1 != 2 && $2 != 2 && $3 != sid + 0 &&
		$4 !~ /^Z/ && !/guest\/agent\.py/ { print $1 }'
}

no_strays() { [ -z "$(strays)" ]; }

end_processes() {
	# shellcheck disable=SC2046
	no_strays || kill -TERM $(strays) 2>/dev/null
	until_ok 2 no_strays && return
	# shellcheck disable=SC2046
	kill -KILL $(strays) 2>/dev/null
	until_ok 20 no_strays || complain "processes that do not die:" \
		"$(ps -o pid=,stat=,wchan=,args= -p "$(strays | paste -sd,)")"
}

restore_network() {
	ip netns list | cut -d' ' -f1 | xargs -r -n1 ip netns delete
	for dev in $(ls /sys/class/net); do
		grep -q -x "$dev" /run/lab/links-before ||
			ip link delete "$dev" 2>/dev/null
	done
	if [ -n "$(nft list ruleset 2>/dev/null)" ]; then nft flush ruleset; fi
	for dev in lo eth0; do
		tc qdisc delete dev $dev root 2>/dev/null
		tc qdisc delete dev $dev clsact 2>/dev/null
		ip link set $dev up 2>/dev/null
	done
	:
}

# sockets of any SMC protocol, orphans included
sockets() {
	awk '/^SMC/ { n += $3 } END { print n + 0 }' /proc/net/protocols
}

no_sockets() { [ "$(sockets)" = 0 ]; }

# pairs of /proc/net/smc_stat that must be equal once no socket is left; link
# groups and what is theirs stay for the next connection, until rmmod
unequal() {
	[ -e /proc/net/smc_stat ] || return 0
	awk '{ v[$1] = $2 }
	function pair(a, b) {
		if (a in v && v[a] != v[b]) print a, v[a], b, v[b]
	}
	END {
		for (n in v) {
			if (n !~ /Created$/) continue
			base = substr(n, 1, length(n) - 7)
			if (base !~ /^(Lgr|Link|Buf)/)
				pair(n, base "Destroyed")
			else if (v[n] < v[base "Destroyed"])
				print n, "is less than what was destroyed"
		}
		pair("HsStarted", "HsEnded")
		pair("WrPosted", "WrCompleted")
	}' /proc/net/smc_stat
}

all_equal() { [ -z "$(unequal)" ]; }

unload() {
	start=$(now)
	out=$(module.sh unload 2>&1) || { complain "rmmod: $out"; return; }
	took=$(($(now) - start))
	[ $took -le $((RMMOD_LIMIT * 100)) ] ||
		complain "rmmod took $((took / 100)) s"
}

same_rdma() {
	rdma-left.sh | cmp -s - /run/lab/rdma-before
}

check_leaks() {
	leak=/sys/kernel/debug/kmemleak
	[ -e $leak ] || return
	echo scan >$leak
	sleep 5.5	# kmemleak reports nothing younger than 5 s
	echo scan >$leak
	if [ -n "$(cat $leak)" ]; then
		complain "kmemleak:"
		head -60 $leak
	fi
}

check_dmesg() {
	dmesg >/run/lab/dmesg
	# from the last beginning of this test; all of it if that is lost
	awk -v mark="lab: begin $test" '
		substr($0, length($0) - length(mark) + 1) == mark { t = "" }
		{ t = t $0 "\n" }
		END { printf "%s", t }' /run/lab/dmesg >/run/lab/dmesg-test
	[ -z "${DMESG_OK:-}" ] || sed -i -E "/$DMESG_OK/d" /run/lab/dmesg-test
	grep -E -q "$BAD" /run/lab/dmesg-test || return 0
	complain "dmesg:"
	grep -E -m1 -A60 "$BAD" /run/lab/dmesg-test
}

end_processes
restore_network
if [ "$which" = ours ]; then
	until_ok $LIMIT no_sockets || complain "$(sockets) sockets left"
	until_ok 10 all_equal || complain "unequal: $(unequal | paste -sd';')"
	cp /proc/net/smc_stat "/results/smc_stat.$test.$(hostname)" 2>/dev/null
	unload
	until_ok 10 same_rdma || complain "rdma resources: before" \
		"'$(paste -sd' ' /run/lab/rdma-before)'" \
		"after '$(rdma-left.sh | paste -sd' ')'"
	check_leaks
elif [ "$which" = upstream ]; then
	until_ok $LIMIT module.sh unload 2>/dev/null ||
		complain "the kernel's own smc does not unload"
fi
check_dmesg
exit $bad
