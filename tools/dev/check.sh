#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# check.sh check|long|ci - run the stages of a check and add up their verdicts
#
#   check  tests of the pure files and of the tools, static checks, guest
#          tests on Debian's kernel
#   ci     check with the tests that take long, then the guest tests again on
#          the debug kernel
#   long   unit tests, fuzzing for FUZZ_S seconds a target (60), static checks,
#          selftests/mutants, guest tests on both kernels three times over
#
# Starts from nothing installed.  Every stage ends in a line "N passed, N
# failed"; one that exits with an error without naming a failure, or says
# nothing, counts as one failure.  The last line is the sum of all.
set -u
cd "$(dirname "$0")/../.." || exit 1
case ${1:-} in
check | ci | long) ;;
*) sed -n '4,15s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
begun=$(date +%s)
passed=0 failed=0 skipped=0 report=

# number WORD: the number before it in the last verdict of the stage
number() {
	sed -n "s/.*[^0-9]*\b\([0-9][0-9]*\) $1.*/\1/p" "$tmp/verdict"
}

# stage NAME COMMAND...
stage() {
	name=$1
	shift
	start=$(date +%s)
	echo "== $name: $*"
	{ "$@" 2>&1; echo $? >"$tmp/rc"; } | tee "$tmp/out"
	grep -aE '^([A-Za-z_-]+: )?[0-9]+ passed, [0-9]+ failed' "$tmp/out" |
		tail -1 >"$tmp/verdict"
	p=$(number passed) f=$(number failed) s=$(number skipped)
	: "${p:=0}" "${f:=0}" "${s:=0}"
	if [ "$f" = 0 ] && [ "$(cat "$tmp/rc")" != 0 ]; then
		echo "$name: failed without a verdict"
		f=1
	elif [ "$f" = 0 ] && [ "$p" = 0 ]; then
		echo "$name: ran no test"
		f=1
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	report="$report
  $name: $p passed, $f failed, $(($(date +%s) - start)) s"
}

unit() { make -s -C selftests/unit; }
tools() { make -s -C tools check; }
# guests KERNEL [FULL]
guests() { LANES=${LANES:-2} FULL=${2:-} sh selftests/vm/run.sh -k "$1"; }

fuzz() {
	bad=0 good=0
	for t in clc llc cdc tcpopt; do
		if make -s fuzz FUZZ=$t T="${FUZZ_S:-60}"; then
			good=$((good + 1))
		else
			bad=$((bad + 1))
		fi
	done
	echo "$good passed, $bad failed"
	[ $bad = 0 ]
}

sh tools/dev/setup.sh "$1" || { echo "setup failed"; echo "0 passed, 1 failed"; exit 1; }

stage unit unit
stage tools tools
[ "$1" != long ] || stage fuzz fuzz
stage static sh tools/dev/static.sh
stage guests-6.12 guests 6.12 "$([ "$1" != ci ] || echo 1)"
case $1 in
ci) stage guests-debug guests debug ;;
long)
	stage mutants sh selftests/mutants/run.sh
	export LONG=1
	for round in 1 2 3; do
		stage "guests-debug-$round" guests debug
		stage "guests-6.12-$round" guests 6.12
	done
	;;
esac

echo "== $1, $(($(date +%s) - begun)) s$report"
echo "$passed passed, $failed failed$([ $skipped = 0 ] || echo ", $skipped skipped")"
[ $failed = 0 ]
