#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# sockmodes.sh [-m MODES] [-w WANT] [-p N] PROGRAM [ARGUMENTS...]
#
# Run PROGRAM of this directory in each mode a socket of ours can be in:
#
#   reference  plain TCP: if this fails the test itself is at fault
#   smcd       shared memory, on 127.0.0.1
#   smcr       RDMA, on LOCAL_V4 and LOCAL_V6 (10.9.0.1 and fd09::1), which an
#              RDMA port serves: a loopback address has no GID
#   tcp        fallback, SMC is never offered
#   declined   fallback, SMC is offered and the listener's CLC Decline makes
#              each connection TCP
#
#   -m MODES   those that PROGRAM has ("reference smcd smcr tcp")
#   -w WANT    how many connections of a mode are made, as smcstat.sh has it:
#              ">7" without ARGUMENTS, "=2", or "" if nothing is known
#   -p N       so many connections, no more and no less, are TCP in the modes
#              smcd and smcr
#
# The environment chooses among them: SMC_MODES="smcd smcr" takes those alone,
# SMC_MODES=rotate the one whose turn it is (rotate.sh; never the reference), all
# or nothing takes all.  With SMC_SKIPS=ok a test that skips itself is no failure,
# for hosts that lack something; with SMC_SKIPS=none a test fails that asks for what
# is not in this kernel.
#
# A PROGRAM of the kselftest harness runs its variants tcp and tcp6 in the mode
# reference, and all others in the others; a test that skips itself fails, but
# for those that say what they are for, or what is not in this kernel.  A PROGRAM
# whose name ends in .sh does as it likes.  Both get SMC_MODE, SMC_WANT (what a
# connection becomes), SMC_HOST4, SMC_HOST6, SMC_HOST, SMC_ADDR and SMC_DECLINE.
#
# One line "ok" or "not ok" a mode, after a plan; the exit code is 4 when none
# of the modes asked for is one of the program's.
set -u
dir=$(cd "$(dirname "$0")" && pwd)
. "$dir/rotate.sh"
modes='reference smcd smcr tcp' want='>7' pure='' has_want=''
while getopts m:w:p: o; do
	case $o in
	m) modes=$OPTARG ;;
	w) want=$OPTARG has_want=1 ;;
	p) pure=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
prog=$1
shift
# how many connections a part of the tests makes is not known
[ -n "$has_want" ] || [ $# = 0 ] || want=

# chosen: which modes to run
chosen() {
	case ${SMC_MODES:-all} in
	all) echo "$modes" ;;
	rotate)
		set --
		for m in $modes; do
			[ "$m" = reference ] || set -- "$@" "$m"
		done
		set -- "$(turn_of $# "$prog")" "$@"
		shift $(($1 + 1))
		echo "$1" ;;
	*)
		for m in $SMC_MODES; do
			case " $modes " in *" $m "*) echo "$m" ;; esac
		done ;;
	esac
}

# harness ARGUMENTS...: a program of the kselftest harness
harness() {
	out=$tmp/prog.out rc=0
	"$dir/$prog" "$@" >"$out" 2>&1 || rc=1
	grep '^not ok\|Expected\|^# get\|^# set\|^# Totals\|^ok.*# SKIP\|die' \
		"$out"
	[ "${SMC_SKIPS:-}" != ok ] ||
		! grep -q '^# Totals: pass:0 fail:0 .* skip:[1-9]' "$out" || return 4
	if ! grep -q '^# Totals: pass:[1-9]' "$out"; then
		tail -n 20 "$out"
		echo "no test has passed"
		rc=1
	fi
	return $rc
}

# play ARGUMENTS...: the program in this mode
play() {
	case $prog-$mode in
	*.sh-*) "$dir/$prog" "$@" ;;
	*-reference) harness -v tcp -v tcp6 "$@" ;;
	*-smcd) harness -V tcp -V tcp6 "$@" ;;
	# what comes before a connection is the same in all
	*) harness -V tcp -V tcp6 -T sweep_fresh -T sweep_listening "$@" ;;
	esac
}

# expect: what the counters have to say about the mode
expect() {
	no='HsClientSmcd=0 HsServerSmcd=0 HsClientSmcr=0 HsServerSmcr=0'
	# one failed handshake would make all that follow with that port plain TCP
	all='HsRemembered=0'
	case $mode in
	smcd) set -- "HsClientSmcd$want HsServerSmcd$want HsClientSmcr=0 $all" ;;
	smcr) set -- "HsClientSmcr$want HsClientSmcd=0 $all" ;;
	tcp) set -- "HsClientTcp$want HsServerTcp$want $no" ;;
	declined) set -- "HsClientTcp$want HsStarted$want $no $all" ;;
	esac
	case $pure-$mode in
	[0-9]*-smc?) set -- "$1 HsClientTcp=$pure" ;;
	esac
	# shellcheck disable=SC2086
	"$dir/smcstat.sh" expect -f "$tmp/stat" $1
}

# setting: the environment of the mode
setting() {
	unset SMC_WANT SMC_HOST4 SMC_HOST6 SMC_DECLINE
	export SMC_MODE="$mode" SMC_HOST=127.0.0.1 SMC_ADDR=127.0.0.1
	transports=smcd SMC_WANT=$mode
	case $mode in
	reference) unset SMC_WANT; return ;;
	smcd) ;;
	smcr)
		transports=smcr SMC_HOST4=${LOCAL_V4:-10.9.0.1}
		SMC_HOST6=${LOCAL_V6:-fd09::1}
		SMC_HOST=$SMC_HOST4 SMC_ADDR=$SMC_HOST4
		export SMC_HOST4 SMC_HOST6 ;;
	tcp) transports= ;;
	declined) SMC_WANT=tcp; export SMC_DECLINE=1 ;;
	esac
	export SMC_WANT
	sysctl -q "net.smc.transports=$transports"
	"$dir/smcstat.sh" mark "$tmp/stat"
}

for m in ${SMC_MODES:-all} $modes; do
	case $m in
	all | rotate | reference | smcd | smcr | tcp | declined) ;;
	*) echo "Bail out! no mode '$m'"; exit 2 ;;
	esac
done
list=$(chosen)
before=$(sysctl -n net.smc.transports 2>/dev/null)
tmp=$(mktemp -d)
trap 'sysctl -q "net.smc.transports=$before" 2>/dev/null; rm -rf "$tmp"' EXIT
echo "TAP version 13"
# shellcheck disable=SC2086
set -- "$(echo $list)" "$@"
echo "# $prog: ${1:-no mode} (SMC_MODES='${SMC_MODES:-all}', SMC_ROTATE=${SMC_ROTATE:-0})"
list=$1
shift
if [ -z "$list" ]; then
	echo "1..0 # SKIP it has no mode $SMC_MODES"
	exit 4
fi
count=0 bad=0 passed=0
# what may be said where a test skips itself
allowed='SKIP for SMC-R\|SKIP for plain TCP\|SKIP what is in shared memory'
[ "${SMC_SKIPS:-}" = none ] ||
	allowed="$allowed\|SKIP what is not in this kernel"
# shellcheck disable=SC2086
echo "1..$(echo $list | wc -w)"
for mode in $list; do
	count=$((count + 1))
	rm -f "$tmp/rc"
	setting
	{
		rc=0
		play "$@" || rc=$?
		case $rc-$mode in
		0-reference) ;;
		0-*) [ -z "$want" ] || expect || rc=1 ;;
		esac
		echo $rc >"$tmp/rc"
	} 2>&1 | tee "$tmp/out" | sed -u 's/^\(# \)\{0,1\}/# /'
	verdict='not ok' why=
	grep '^ok.*# SKIP' "$tmp/out" | grep -v "$allowed" >"$tmp/skipped"
	case $(cat "$tmp/rc")-${SMC_SKIPS:-no} in
	0-no*) [ -s "$tmp/skipped" ] && why=', a test has skipped itself' ||
		verdict=ok ;;
	0-ok) verdict=ok ;;
	4-ok) verdict=ok why=" # SKIP $(sed -n '1s/.*# SKIP //p' "$tmp/skipped")" ;;
	esac
	echo "$verdict $count $prog.$mode$why"
	case $verdict$why in
	ok) passed=$((passed + 1)) ;;
	'not ok'*) bad=1 ;;
	esac
done
[ $bad$passed != 00 ] || exit 4
exit $bad
