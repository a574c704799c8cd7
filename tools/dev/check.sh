#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# check.sh check|ci|long - run the stages of a check and add up their verdicts
#
#   check  tests of the pure files and of the tools, 20 s of each fuzzer, static
#          checks, guest tests on Debian's kernel, or on K=6.1, 7.2 or debug
#   ci     check, then the most important tests on other kernels, then the guest
#          tests on the debug kernel
#   long   shard SHARD=K/13 of what takes long, within BUDGET=80m: shards.sh
#
# Starts from nothing installed.  Every stage ends in a line "N passed, N
# failed, N skipped"; one that exits with an error without naming a failure, or
# says nothing, counts as one failure.  The last line is the sum of all, and is
# printed before BUDGET (80m) is over: what was not reached until then has failed.
# It says how many boots were repeated, if any were (run.sh).
#
# What does not fit into one run is rotated by the commit: SMC_ROTATE, the
# number of commits, chooses modes, SMC_SEED, the commit's name, what is random.
# Both are printed, and those in the environment are obeyed.
set -u
cd "$(dirname "$0")/../.." || exit 1
case ${1:-} in
check | ci | long) ;;
*) sed -n '4,22s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
. tools/dev/budget.sh
. selftests/smc/rotate.sh

tmp=$(mktemp -d)
made=
trap '[ ! -e "$tmp/making" ] || kill -- "-$made" 2>/dev/null; rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
begun=$(date +%s)
cache=${SMC_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/smc-lab}
mkdir -p "$cache"
budget_set "${BUDGET:-80m}"
passed=0 failed=0 skipped=0 repeated=0 report=
export SMC_RESULTS="${SMC_RESULTS:-$tmp/results}"

# git is not there before
sh tools/dev/setup.sh || { echo "setup failed"; echo "0 passed, 1 failed"; exit 1; }
git ls-files >/dev/null ||
	{ echo "git has no list of the files"; echo "0 passed, 1 failed"; exit 1; }

id=$(git rev-parse HEAD | cut -c1-7)
: "${SMC_SEED:=$((0x$id))}"
: "${SMC_ROTATE:=$(git rev-list --count HEAD)}"
: "${SMC_MODES:=rotate}"
export SMC_SEED SMC_ROTATE SMC_MODES
# static.sh has another kernel in turn where none is chosen
k=${K:-6.12}
if [ "$k" = 6.12 ] && [ "$1" != check ]; then unset K; else export K="$k"; fi
echo "== commit $id: SMC_SEED=$SMC_SEED SMC_ROTATE=$SMC_ROTATE"

# What a first run makes takes half an hour: it is made at times when a CPU is
# idle.  A stage that needs it waits for it, and makes it if this has failed.
if [ "$k" = 6.12 ] && [ "$1" != long ]; then
	# another group may have its number when it has ended
	: >"$tmp/making"
	others=
	[ "$1" = check ] || others="6.1 7.2 debug"
	# shellcheck disable=SC2016
	setsid chrt --idle 0 sh -c '
		for k in 6.12 $1; do
			sh selftests/vm/boot.sh $k
		done
		rm "$2"
	' - "$others" "$tmp/making" >/dev/null 2>&1 &
	made=$!
fi

# number WORD: the number before it in the last verdict of the stage
number() {
	sed -n "s/.*[^0-9]*\b\([0-9][0-9]*\) $1.*/\1/p" "$tmp/verdict"
}

# stage NAME COMMAND...: its own deadline is SMC_DEADLINE; it is ended if it
# goes on beyond that
stage() {
	name=$1
	shift
	start=$(date +%s)
	echo "== $name: $*"
	{
		timeout -k 10 "$(budget_left 90)" "$@" 2>&1
		echo $? >"$tmp/rc"
	} | tee "$tmp/out"
	grep -aE '^([A-Za-z_-]+: )?[0-9]+ passed, [0-9]+ failed' "$tmp/out" |
		tail -1 >"$tmp/verdict"
	p=$(number passed) f=$(number failed) s=$(number skipped) r=$(number repeated)
	: "${p:=0}" "${f:=0}" "${s:=0}" "${r:=0}"
	if [ "$f" = 0 ] && [ "$(cat "$tmp/rc")" != 0 ]; then
		echo "$name: failed without a verdict"
		f=1
	elif [ "$f" = 0 ] && [ "$p" = 0 ]; then
		echo "$name: ran no test"
		f=1
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	repeated=$((repeated + r))
	report="$report
  $name: $p passed, $f failed, $(($(date +%s) - start)) s"
	echo "stage $name $(($(date +%s) - start))" >>"$cache/seconds"
}

# guests KERNEL: tests in one guest, then in two
guests() {
	stage "guests-$1-one" sh selftests/vm/run.sh -k "$1" -n 1
	stage "guests-$1-two" sh selftests/vm/run.sh -k "$1" -n 2 -s
}

# some WORD TEST...: where modes are rotated one of them, all otherwise
some() {
	case $SMC_MODES in
	rotate) shift "$(($(turn_of $(($# - 1)) "$1") + 1))"; echo "$1" ;;
	*) shift; echo "$@" ;;
	esac
}

# other KERNEL TEST...: it compiles without a warning, and these tests pass
other() {
	on=$1
	shift
	stage "kernel-$on" sh selftests/vm/run.sh -k "$on" "$@"
}

if [ "$1" = long ]; then
	. tools/dev/shards.sh
	shard "${SHARD:?SHARD=K/13}"
else
	stage unit make -s -C selftests/unit
	stage tools make -s -C tools WERROR=1 check
	stage fuzz make -s -C selftests/fuzz gate T=20
	stage static sh tools/dev/static.sh
	guests "$k"
fi
if [ "$1" = ci ] && [ "$k" = 6.12 ]; then
	# shellcheck disable=SC2046
	other 6.1 kernels $(some 6.1 sockapi activate cgroup_v1) \
		$(some far-6.1 kernels_far interop_client interop_server)
	# shellcheck disable=SC2046
	other 7.2 kernels $(some 7.2 activate rdma_netns kernels_61_72) \
		$(some far-7.2 kernels_far interop_client interop_server)
	guests debug
	stage matrix sh tools/dev/matrix.sh "$SMC_RESULTS"
fi

echo "== $1, $(($(date +%s) - begun)) s$report"
[ "$1" != long ] || [ $failed != 0 ] || shard_passed "$SHARD" "$passed"
[ $repeated != 0 ] || repeated=
echo "$passed passed, $failed failed, $skipped skipped${repeated:+, $repeated repeated}"
[ $failed = 0 ]
