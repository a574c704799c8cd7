#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# run.sh PROGRAM...: run cmocka programs and count their tests. A test that
# was planned but not reported (the program died) counts as failed, and so
# does a program that passes all its tests and then fails, as with a leak.
# Ends with "N passed, N failed".

export CMOCKA_MESSAGE_OUTPUT=TAP
pass=0
fail=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

for prog; do
	"$prog" >"$log" 2>&1
	rc=$?
	plan=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$log" | head -n 1)
	good=$(grep -c '^ok ' "$log")
	bad=$((${plan:-1} - good))
	[ "$bad" -eq 0 ] && [ "$rc" -ne 0 ] && bad=1
	[ "$bad" -ge 0 ] || bad=1
	if [ "$bad" -ne 0 ]; then
		echo "--- $prog (exit $rc)"
		cat "$log"
	fi
	printf '%-32s %3d passed, %d failed\n' "${prog##*/}" "$good" "$bad"
	pass=$((pass + good))
	fail=$((fail + bad))
done

echo "unit: $pass passed, $fail failed"
[ "$fail" -eq 0 ] && [ "$pass" -gt 0 ]
