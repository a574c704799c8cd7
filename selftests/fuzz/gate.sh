#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# gate.sh SECONDS TARGET... - fuzz all targets at a time, each for so many seconds
#
# Where they share processors they run for longer: each has SECONDS of a processor.
# A target passes if its program ran for its time and found nothing.  The seed
# is SMC_SEED, a number, or any: it is printed.  What is found, and the output,
# stay in build/.  Ends with "N passed, N failed".
set -u
cd "$(dirname "$0")" || exit 1
export O="${O:-build}"

# one SECONDS TARGET: fuzz it
one() {
	log=$O/gate-$2.log
	mkdir -p "$O/found"
	rm -f "$O/passed-$2"
	if make -s run FUZZ="$2" T="$1" SEED="$seed" >"$log" 2>&1 &&
	   runs=$(sed -n 's/^Done \([0-9]*\) runs in .*/\1/p' "$log") &&
	   [ "${runs:-0}" -gt 0 ]; then
		touch "$O/passed-$2"
		echo "ok   $2: $runs runs"
		return
	fi
	echo "fail $2: see $log"
	grep -a -e 'ERROR: ' -e 'runtime error' -e 'does not hold' "$log"
	sed -n "s,.*Test unit written to ,fail $2: kept as selftests/fuzz/,p" "$log"
	tail -n 5 "$log" | sed 's/^/     | /'
}

seed=${SMC_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
case $seed in '' | *[!0-9]*) echo "SMC_SEED is not a number: $seed"; exit 2 ;; esac
# libFuzzer's has 32 bits, and 0 is "any"
export SMC_SEED="$seed"
seed=$((seed % 4294967295 + 1))

if [ "$1" = one ]; then
	one "$2" "$3"
	exit
fi
seconds=$1
shift
processors=$(nproc)
[ "$processors" -le $# ] || processors=$#
echo "# $seconds s each of $*, SMC_SEED=$SMC_SEED"
rm -f "$O"/passed-*
make -s -j"$processors" || { echo "0 passed, $# failed"; exit 1; }
printf '%s\n' "$@" |
	xargs -n 1 -P $# sh ./gate.sh one $((seconds * $# / processors))
good=0
for t; do [ ! -e "$O/passed-$t" ] || good=$((good + 1)); done
echo "$good passed, $(($# - good)) failed"
[ $good = $# ]
