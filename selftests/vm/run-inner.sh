#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# run-inner.sh KEY - the part of run.sh that runs while the guests live: takes
# tests with this key from the plan until there is none.
# One line a test to $LAB_RESULTS: "ok|fail|skip NAME SECONDS".
# Stops with 77 when the guests are no longer fit for the next test.
set -u
. "$(dirname "$0")/lib.sh"
. "$vm_dir/plan.sh"

nth() { shift "$1"; echo "$1"; }

# on_guests COMMAND...: the same in every guest at once; $x is the guest
on_guests() {
	pids=
	for x in $LAB_GUESTS; do "$@" "$x" & pids="$pids $!"; done
	status=0
	for p in $pids; do wait "$p" || status=1; done
	return $status
}

# needs GUEST LINE DEFAULT: what the test's head wants there; one word serves both
needs() {
	case $1 in A) i=1 ;; *) i=2 ;; esac
	words=$(header "$file" "$2" "$3")
	# shellcheck disable=SC2086
	nth $i $words $words
}

begin() {
	g "$1" "@verdict begin $name $(needs "$1" module ours) \
		$(needs "$1" rdma rxe)"
}

# what the guests know, before the verdict unloads the module
evidence() { g "$1" /lab/selftests/vm/guest/evidence.sh; }

# A scan for leaks takes the debug kernel longer than many a test: once a boot,
# after the last test, and after each that failed.
verdict() {
	g "$1" "@verdict end $name '$(header "$file" dmesg)' $leaks"
}

# Of all tests since the boot: the last one to be copied has everything.  A guest
# that had the kernel's own module has counted nothing.
copy_counts() {
	[ "$(needs "$1" module ours)" = ours ] || return 0
	g "$1" 'sh /lab/selftests/vm/guest/gcov.sh'
}

# time_limit: of this test in seconds, and not beyond the deadline
time_limit() {
	# half of it again: three guests may share two cores
	limit=$(($(header "$file" timeout 120) * $(scale_of "$LAB_K") * 3 / 2))
	[ -z "${LONG:-}" ] || limit=$((limit * 10))
	# of all modes instead of one
	[ "${SMC_MODES:-all}" = rotate ] || limit=$((limit * 3))
	[ -n "${SMC_DEADLINE:-}" ] || return 0
	left=$((SMC_DEADLINE - $(date +%s)))
	[ $limit -le $left ] || limit=$((left > 0 ? left : 1))
}

body() {
	time_limit
	timeout -k 10 "$limit" sh -eu -c '. "$0"; . "$1"' \
		"$vm_dir/test-lib.sh" "$file"
	rc=$?
	# 137: it did not end when asked to
	case $rc in 124 | 137) echo "FAIL: not done after $limit s" ;; esac
	return $rc
}

one() {
	file=$1
	name=$(basename "$file" .sh)
	log=$LAB_RUN/../$name.log
	start=$(date +%s)
	fit=1
	{
		if on_guests begin; then body; rc=$?; else
			echo "FAIL: not begun"
			rc=1
		fi
		case $rc in 0 | 4) ;; *) on_guests evidence ;; esac
		next=$(plan_take "$LAB_PLAN" "$key")
		leaks=now
		[ "$rc" -ne 0 ] || [ -z "$next" ] || leaks=later
		case " $(header "$file" unfit) " in
		*" $LAB_K "*) fit= ;;
		*) on_guests verdict || { fit=; [ "$rc" -ne 0 ] || rc=1; } ;;
		esac
		[ -z "${SMC_GCOV:-}" ] || on_guests copy_counts || rc=1
	} >"$log" 2>&1
	# what it would have undone at its end, a sysctl for example, is not undone
	case $rc in 0 | 4) ;; *) fit= ;; esac
	took=$(($(date +%s) - start))
	case $rc in
	0) result=ok ;;
	4) result=skip ;;
	*) result=fail ;;
	esac
	printf '%-4s %-34s %4d s\n' $result "$name" $took
	[ $result = ok ] || tail -n 40 "$log" | sed 's/^/     | /'
	echo "$result $name $took" >>"$LAB_RESULTS"
}

key=$1
next=$(plan_take "$LAB_PLAN" "$key")
: >"$LAB_RUN/served"
while [ -n "$next" ]; do
	one "$next"
	[ -n "$fit" ] && continue
	[ -z "$next" ] || plan_return "$LAB_PLAN" "$key" "$next"
	exit 77
done
exit 0
