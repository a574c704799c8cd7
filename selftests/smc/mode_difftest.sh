#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# mode_difftest.sh - difftest in one mode of sockmodes.sh: the scripts that once
# showed a difference, then SCRIPTS random ones from the seed SMC_SEED on.
# Without SCRIPTS the mode smcd has most of them, with QUICK=1 a tenth.
set -eu
cd "$(dirname "$0")"
seed=${SMC_SEED:-1}

# each mode has scripts of its own
case $SMC_MODE in
reference) kind='' n=200 ;;
smcd) kind=smcd n=2000 ;;
smcr) kind=smcr n=300 seed=$((seed + 4999)) ;;
tcp) kind=fallback n=500 seed=$((seed + 7999)) ;;
declined) kind=fallback n=300 seed=$((seed + 8999)) ;;
esac
[ -z "${QUICK:-}" ] || n=$((n / 10))
n=${SCRIPTS:-$n}
echo "seeds $seed to $((seed + n - 1))"
if [ "$SMC_MODE" = reference ]; then
	# TCP against TCP
	exec ./difftest -k tcp -i 20000 -s "$seed" -n "$n"
fi
set -- -k ipproto -i 20000 -w 20000 -t $kind -a "$SMC_HOST"
./difftest "$@" -r difftest_cases/*.txt
./difftest "$@" -s "$seed" -n "$n"
