#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [-k K] [-n 1|2] [-s] [TEST...] - run tests of selftests/vm/tests (all
# that are meant for kernel K by default) and count them in the last line.
#   -n 1|2  only tests for so many guests    -s  skip the build for K
#
# A test says in its head what it needs (all lines optional):
#   # guests: 1|2             default 1
#   # kernels: any|6.1|6.12|7.2|debug|kcsan   default any
#   # timeout: SECONDS        default 120; scaled as all limits are
#   # module: ours|upstream|none [the same for B]     default ours
#   # rdma: rxe|siw|lo|none [the same for B]          default rxe
#   # mtu: N                  of eth0, default 1500
#   # when: CLAUSE[; CLAUSE...][, WHY]   on kernels K, all by default:
#                           long [K...]  left to "make check-long" (LONG=1), and
#                           WHY it is;
#                           T/N [K...]   with SMC_MODES=rotate the T-th of every
#                           N commits runs it (tools/dev/turns.py)
#   # cpus: N                 of a guest, else as cpus_of() in plan.sh says
#   # waits: yes            most of its time, with its guests idle
#   # icount: sleep=off|sleep=on   time counts instructions: see lab.py
#   # mem: MIB              of a guest, if what its kernel gets is too little
#   # append: WORD            more of the kernel's command line
#   # peer: K                 the kernel of guest B, if it is another
#   # shows: WHAT[, WHAT...]  rows of the table that matrix.sh makes
#   # dmesg: REGEX            lines it means to provoke
#   # unfit: K...             on these kernels it leaves the guests unfit: they
#                             end with it, and no verdict is asked for
# Tests with the same needs share boots; after one that failed or leaves the
# guests unfit the rest get a fresh one.  Guests of one run three at a time, as they
# often wait, on the debug kernel two (LANES=N: N at a time); each takes the test
# that is expected to take longest of those left.  So do pairs that wait, after them;
# the other pairs have the machine to themselves.
#
# SMC_DEADLINE: a time (seconds of the epoch) after which no test begins; one
# that did not run has failed.  A skipped test fails where SMC_EXPECT_ALL=1 or
# CI is set.  SMC_RESULTS=FILE: "ok|fail|skip NAME SECONDS K" is appended there.
set -eu
. "$(dirname "$0")/lib.sh"
. "$vm_dir/plan.sh"

k=${K:-6.12} only='' build=1
while getopts k:n:s o; do
	case $o in
	k) k=$OPTARG ;;
	n) only=$OPTARG ;;
	s) build= ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))

named=$#
[ $# -gt 0 ] || set -- "$vm_dir"/tests/*.sh
run=$(new_run)
: >"$run/results.txt"
plan_make "$k" "$only" "$named" "$@" >"$run/plan"
planned=$(wc -l <"$run/plan")
[ "$planned" -gt 0 ] || die "no test is meant for this"

stage_tree "$k" "$run" "$build"
for p in $(awk '$6 != "no" { print $6 }' "$run/plan" | sort -u); do
	stage_tree "$p" "$run/peer-$p" 1
done
export LAB_K="$k" LAB_PLAN="$run/plan" LAB_RESULTS="$run/results.txt"

# one_boot KEY: boot what the key says, run tests that need it until there is
# none, or the guests are unfit
one_boot() {
	boot=$(mktemp -d "$run/boot-XXX")
	mkdir "$boot/results"
	ln -s ../lab "$boot/lab"
	# shellcheck disable=SC2086
	set -- $1
	more="--mtu $2 --cpus $3"
	[ "$4" = no ] || more="$more --icount=$4"
	[ "$5" = no ] || more="$more --append=$5"
	[ "$6" = no ] || more="$more --peer=$(sh "$vm_dir/boot.sh" "$6"),$run/peer-$6/lab"
	[ "$7" = no ] || more="$more --mem=$7"
	rc=0
	# shellcheck disable=SC2086
	(lab_up "$k" "$boot" "$1" $more -- sh "$vm_dir/run-inner.sh" "$*") ||
		rc=$?
	# guests that served no test: one of them is told so, not run again
	if [ ! -e "$boot/served" ] && t=$(plan_take "$run/plan" "$*"); then
		t=$(basename "$t" .sh)
		echo "fail $t: no guest (exit code $rc), see $boot"
		echo "fail $t 0" >>"$run/results.txt"
	fi
}

# lane GUESTS: boots for so many guests, until the plan has none
lane() {
	while key=$(plan_key "$run/plan" "$1") && ! is_late; do
		one_boot "$key"
	done
}

# lanes GUESTS: as many as there are tests, and not more than $lanes
lanes() {
	left=$(grep -c "^$1 " "$run/plan" || :)
	[ "$left" -le "$lanes" ] || left=$lanes
	beside=
	while [ "$left" -gt 1 ]; do
		lane "$1" &
		beside="$beside $!"
		left=$((left - 1))
	done
	(lane "$1")
	# shellcheck disable=SC2086
	[ -z "$beside" ] || wait $beside || :
	beside=
}

echo "# kernel $k, $planned tests, logs in $run"
case $k in debug | kcsan) lanes=2 ;; *) lanes=3 ;; esac
lanes=${LANES:-$lanes}
beside=
trap '[ -z "$beside" ] || kill $beside 2>/dev/null || :' EXIT
lanes 1
lanes 2-waits
lanes=1
lanes 2
trap - EXIT

while read -r _ _ _ _ _ _ _ t; do
	echo "fail $(basename "$t" .sh): not reached in time"
	echo "fail $(basename "$t" .sh) 0" >>"$run/results.txt"
done <"$run/plan"
plan_remember "$k" "$run/results.txt"
[ -z "${SMC_RESULTS:-}" ] || sed "s/\$/ $k/" "$run/results.txt" >>"$SMC_RESULTS"

count() { grep -c "^$1 " "$run/results.txt" || :; }
passed=$(count ok) failed=$(count fail) skipped=$(count skip)
if [ "${SMC_EXPECT_ALL:-${CI:+1}}" = 1 ] && [ "$skipped" -gt 0 ]; then
	echo "# every test is expected to run here: skipped ones count as failed"
	failed=$((failed + skipped)) skipped=0
fi
lost=$((planned - passed - failed - skipped))
[ $lost = 0 ] || { echo "# $lost tests left no result"; failed=$((failed + lost)); }
# boots in which the emulator crashed before a guest was up (lab.py)
again=$(cat "$run"/boot-*/again 2>/dev/null | wc -l)
[ "$again" != 0 ] || again=
echo "$passed passed, $failed failed, $skipped skipped${again:+, $again repeated}"
[ "$failed" = 0 ]
