#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [--shard K/N] [--budget SECONDS] [NAME...] - do the tests notice?
# run.sh --check [NAME...] - could they?  Changes and runs nothing.
#
# Each NAME.patch here disables something of the module.  It is applied to a
# copy of the tree, and the guest test that it names ("Test:") has to fail on
# Debian's 6.12, or on the kernel that it names ("Kernel:", one of run.sh -k):
# debug for what lockdep or KASAN sees, kcsan for a data race, which has to be
# reported.  Each such test runs there without a mutant first: one that fails
# then shows nothing.  Without a name all of them, two to five minutes each (on
# another kernel more), those of one test together and two at a time; --shard
# takes the Kth of N parts of these, --budget begins none after so many seconds.
# SMC_SEED makes the order of the tests, so that what is not begun is not the
# same each time.  The end of each test's output is shown: it should fail for
# what the patch says ("What:").
#
# Ends with "N passed, N failed", and ", N skipped" for those whose test fails
# without them.  A patch that does not apply, or does not build, has failed, and so
# has one that was not begun in time.  So has one whose test did not run or ran
# into its time limit: that is an error, as a slow or broken laboratory does it
# too.
set -eu
unset LONG FULL
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
# one place for each lane: the laboratory keeps a build for each
place=${SMC_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/smc-lab}/mutant
shard=1/1 budget='' check=0
while [ $# -gt 0 ]; do
	case $1 in
	--shard) shard=$2; shift ;;
	--budget) budget=$2; shift ;;
	--check) check=1 ;;
	-*) sed -n '4,5s/^# //p' "$0" >&2; exit 2 ;;
	*) break ;;
	esac
	shift
done
if [ $# = 0 ]; then
	for name in "$here"/*.patch; do
		set -- "$@" "$(basename "$name" .patch)"
	done
fi

# says WORD NAME: what the patch says after "WORD:"
says() { sed -n "s/^$1: //p" "$here/$2.patch"; }

# kernel_of NAME: on which its test has to fail
kernel_of() {
	_k=$(says Kernel "$1")
	echo "${_k:-6.12}"
}

# is_for TEST KERNEL: the test's head does not leave this kernel out
is_for() {
	_k=$(sed -n 's/^# kernels: //p; /^$/q' "$top/selftests/vm/tests/$1.sh")
	case " ${_k:-any} " in *" any "* | *" $2 "*) ;; *) return 1 ;; esac
}

# sound NAME: else $error says what is wrong with the patch
sound() {
	error="no such mutant"
	[ -e "$here/$1.patch" ] || return 1
	error="says nothing after \"What:\""
	[ -n "$(says What "$1")" ] || return 1
	error="\"Test:\" names no test"
	[ -f "$top/selftests/vm/tests/$(says Test "$1").sh" ] || return 1
	error="\"Kernel:\" names no kernel"
	case $(kernel_of "$1") in
	6.1 | 6.12 | 7.2 | debug | kcsan) ;;
	*) return 1 ;;
	esac
	error="its test is not for $(kernel_of "$1")"
	is_for "$(says Test "$1")" "$(kernel_of "$1")" || return 1
	error="does not apply"
	patch -d "$top" -p1 -f -s --dry-run <"$here/$1.patch" >/dev/null 2>&1
}

# no_verdict TEST KERNEL: why the failure in $copy/out is not the test's own
no_verdict() {
	log=$(sed -n 's/^# kernel .* logs in //p' "$copy/out")/$1.log
	if grep -E -m 1 "^fail $1: (no guest|not reached)" "$copy/out"; then
		:
	elif ! grep -q "^fail $1 " "$copy/out"; then
		echo "$1 left no result"
	# run-inner.sh's words
	elif grep -m 1 -E '^FAIL: not (begun|done after)' "$log"; then
		:
	elif [ "$2" = kcsan ] && ! grep -q 'BUG: KCSAN' "$log"; then
		echo "$1 failed without a data race"
	else
		return 1
	fi
}

# renew: make the copy what the tree is; only what differs is written, and only
# that is compiled
renew() {
	mkdir -p "$copy/tree"
	(cd "$top" && git ls-files) | sort >"$copy/files"
	(cd "$copy/tree" && find . ! -type d) | sed 's,^\./,,' | sort |
		comm -13 "$copy/files" - | (cd "$copy/tree" && xargs -r rm -f)
	while read -r f; do
		cmp -s "$top/$f" "$copy/tree/$f" ||
			(cd "$top" && cp -P --parents "$f" "$copy/tree")
	done <"$copy/files"
}

# run_in_copy TEST KERNEL [PATCH]: 0 or 1, as the test; 2 if $error says why
# not.  A race takes two processors: no guest of the other lane beside.
run_in_copy() {
	share=-s
	[ "$2" != kcsan ] || share=-x
	mkdir -p "$copy"
	: >"$copy/out"
	renew
	[ -z "${3:-}" ] || patch -d "$copy/tree" -p1 -s <"$here/$3.patch" ||
		{ error="does not apply"; return 2; }
	sh "$copy/tree/selftests/vm/build.sh" "$2" >"$copy/build" 2>&1 ||
		{ cat "$copy/build"; error="does not build"; return 2; }
	! flock $share -o "$tmp/guests" sh "$copy/tree/selftests/vm/run.sh" \
		-k "$2" -s "$1" >"$copy/out" 2>&1 || return 0
	! error=$(no_verdict "$1" "$2") || return 2
	return 1
}

# count WORD: ok, fail, skip or error, for the last line
count() { echo "$1" >>"$tmp/counts"; }

# counted WORD
counted() { grep -c "^$1" "$tmp/counts" || :; }

# control TEST KERNEL: does it pass without a mutant?  Asked once in a lane.
control() {
	[ "$*" != "$controlled" ] || return "$control_rc"
	controlled=$* control_rc=0
	run_in_copy "$@" || control_rc=$?
	case $control_rc in
	0) echo "ok   control $*"; return 0 ;;
	1) echo "error control $*: fails without a mutant" ;;
	2) echo "error control $*: $error" ;;
	esac
	tail -n 40 "$copy/out"
	count error
	return $control_rc
}

# one NAME: run it and count it
one() {
	what=$(says What "$1") test=$(says Test "$1") rc=0
	run_in_copy "$test" "$(kernel_of "$1")" "$1" || rc=$?
	case $rc in
	0) echo "fail $1: $what, and $test passes" ;;
	1) echo "ok   $1: $what" ;;
	2) echo "error $1: $error" ;;
	esac
	if [ $rc = 1 ]; then
		grep '^ *|' "$copy/out" | tail -n 4 || :
		count ok
	else
		tail -n 5 "$copy/out"
		count fail
	fi
}

# take END: a name from the "head" or the "tail" of the queue
take() {
	# shellcheck disable=SC2016
	flock "$tmp/lock" sh -c '
		name=$("$1" -n 1 "$0")
		[ -n "$name" ] || exit 1
		echo "$name"
		sed -i "/^$name\$/d" "$0"' "$tmp/queue" "$1"
}

# lane END: mutants from there, until the queue is empty.  From both ends, so
# that at most one test has its control in both lanes.
lane() {
	copy=$place-$1 controlled='' control_rc=0
	mkdir -p "$copy"
	while name=$(take "$1"); do
		if [ -n "$end" ] && [ "$(date +%s)" -ge "$end" ]; then
			echo "fail $name: not begun in time"
			count fail
		elif control "$(says Test "$name")" "$(kernel_of "$name")"; then
			one "$name"
		else
			echo "skip $name"
			count skip
		fi >"$copy/said"
		cat "$copy/said"
	done
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
: >"$tmp/counts"
for name; do
	sound "$name" && continue
	echo "error $name: $error"
	count error
done
if [ $check = 1 ] || [ -s "$tmp/counts" ]; then
	failed=$(counted error)
	echo "$((check ? $# - failed : 0)) passed, $failed failed"
	[ "$failed" = 0 ]
	exit
fi

# the copies of the tree are of one run at a time
mkdir -p "${place%/*}"
exec 9>"$place.lock"
flock -n 9 || { echo "waiting for other mutants"; flock 9; }
end=${budget:+$(($(date +%s) + budget))}

# by their tests and kernels, so that each has its control once.  What is in a
# part does not depend on the seed.
for name; do
	echo "$(says Test "$name"):$(kernel_of "$name") $name"
done | sort |
	awk -v k="${shard%/*}" -v n="${shard#*/}" -v all=$# \
		-v seed="${SMC_SEED:-0}" '
		BEGIN { srand(seed) }
		NR <= all * (k - 1) / n || NR > all * k / n { next }
		test != $1 { test = $1; order = rand() }
		{ printf "%.6f %s %s\n", order, $1, $2 }' | sort |
	cut -d' ' -f3 >"$tmp/queue"
planned=$(wc -l <"$tmp/queue")
lane tail &
beside=$!
trap 'kill $beside 2>/dev/null || :; rm -rf "$tmp"' EXIT
lane head &
beside="$beside $!"
# shellcheck disable=SC2086
for pid in $beside; do wait "$pid" || :; done
trap 'rm -rf "$tmp"' EXIT
# a control that fails is an "error" beside the mutants
lost=$((planned - $(counted ok) - $(counted fail) - $(counted skip)))
[ $lost = 0 ] || echo "fail: $lost mutants left no result"
skipped=$(counted skip) failed=$(($(counted '[ef]') + lost))
tail=
[ "$skipped" = 0 ] || tail=", $skipped skipped"
echo "$(counted ok) passed, $failed failed$tail"
[ "$failed" = 0 ]
