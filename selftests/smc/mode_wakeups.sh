#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# mode_wakeups.sh - wakeups in one mode of sockmodes.sh, with messages that
# follow from SMC_SEED; WAKEUPS is their number (10000), a third over SMC-R
set -eu
cd "$(dirname "$0")"
seed=${SMC_SEED:-2} n=${WAKEUPS:-10000}

case $SMC_MODE in
reference)
	if out=$(./wakeups -k tcp -x 100 2>&1) ||
			! echo "$out" | grep -q 'sleeps though'; then
		echo "$out"
		echo "it does not notice a side that hangs"
		exit 1
	fi
	exec ./wakeups -k tcp -n "$n" -s "$seed" ;;
smcr) n=$((n / 3)) ;;
esac
./wakeups -k ipproto -a "$SMC_HOST" -n "$n" -s "$seed"
./wakeups -k afsmc -a "$SMC_HOST" -n "$n" -s $((seed + 1))
