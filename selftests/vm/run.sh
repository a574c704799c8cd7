#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [-k K] [-n 1|2] [-a] [-s] [TEST...] - run tests of selftests/vm/tests
# (all proven ones by default) on kernel K and count them in the last line.
#   -n 1|2  only tests for so many guests    -s  skip the build
#   -a      the unproven ones too
#
# A test says in its head what it needs (all lines optional):
#   # guests: 1|2             default 1
#   # kernels: any|6.12|debug default any
#   # timeout: SECONDS        default 120, four times that on debug,
#   #                         ten times with LONG=1
#   # module: ours|upstream|none [the same for B]     default ours
#   # rdma: rxe|siw|lo|none [the same for B]          default rxe
#   # mtu: N                  of eth0, default 1500
#   # status: unproven [debug] has not passed yet [on that kernel]; run by name
#   #                         or with -a, and never counted without that
#   # long: K...              takes so long on these kernels that it is left
#   #                         to .ci/run (6.12: FULL=1) and to "make check-long"
#   #                         (LONG=1, which also makes some tests longer);
#                         "rare": on all of them, and to LONG=1 alone
#   # icount: yes             virtual time counts instructions, one CPU
#   # append: WORD            more of the kernel's command line
#   # dmesg: REGEX            lines it means to provoke
# Tests with the same needs share one boot; after one that leaves the guests
# unfit the rest get a fresh one.  LANES=2: two thirds of the tests for one guest
# run in a second laboratory beside the first.  A skipped test fails when SMC_EXPECT_ALL=1
# or CI is set.  SMC_RESULTS=FILE: result lines are appended there too.
set -eu
. "$(dirname "$0")/lib.sh"

k=${K:-6.12} only='' build=1 all=''
while getopts ak:n:s o; do
	case $o in
	k) k=$OPTARG ;;
	n) only=$OPTARG ;;
	s) build= ;;
	a) all=1 ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))

if [ $# = 0 ]; then set -- "$vm_dir"/tests/*.sh; else all=1; fi
run=$(new_run)
: >"$run/results.txt"

# "guests mtu icount append file" for each test that is to run here
for t; do
	case $t in */*) ;; *) t=$vm_dir/tests/${t%.sh}.sh ;; esac
	[ -e "$t" ] || die "no test $t"
	n=$(header "$t" guests 1)
	[ -z "$only" ] || [ "$only" = "$n" ] || continue
	case " $(header "$t" kernels any) " in
	*" any "* | *" $k "*) ;;
	*) continue ;;
	esac
	case "$all $(header "$t" status proven)" in
	"1 "* | " proven") ;;
	" unproven $k" | " unproven")
		echo "# left out, unproven on $k: $(basename "$t" .sh)" >&2
		continue ;;
	esac
	case "$all${LONG:-}${FULL:-}| $(header "$t" long) " in
	"|"*" $k "*)
		echo "# takes long, left out on $k: $(basename "$t" .sh)" >&2
		continue ;;
	esac
	case "$all${LONG:-}| $(header "$t" long) " in
	"|"*" rare "*)
		echo "# for check-long, left out: $(basename "$t" .sh)" >&2
		continue ;;
	esac
	echo "$n $(header "$t" mtu 1500) $(header "$t" icount no)" \
		"$(header "$t" append no) $t"
done >"$run/plan"

stage_tree "$k" "$run" "$build"
export LAB_K="$k"

# emulator_failed BEFORE: did the last of the results since then fail because a
# CPU of the emulator ran into the breakpoint of code that another one was
# patching?  A flaw of QEMU's TCG that hardware does not have, and nothing a
# module could cause.  Each test runs once more for that, and it is said.
emulator_failed() {
	grep -qs 'Oops: int3' "$run"/console-?.log || return 1
	last=$(tail -n "+$(($1 + 1))" "$run/results.txt" |
		sed -n '$s/^fail \([^ ]*\) .*/\1/p')
	[ -n "$last" ] && ! grep -qsx "$last" "$run/int3" || return 1
	echo "$last" >>"$run/int3"
	sed -i '$d' "$run/results.txt"
	echo "# the emulator failed (Oops: int3 in $run): once more $last"
}

# one_boot GUESTS MTU ICOUNT APPEND: boot, and run what the plan has for that
one_boot() {
	awk -v key="$*" '$1 " " $2 " " $3 " " $4 == key { print $5 }' \
		"$run/plan" >"$run/todo"
	again=
	while [ -s "$run/todo" ]; do
		before=$(wc -l <"$run/results.txt")
		more=
		[ "$3" = no ] || more=--icount
		[ "$4" = no ] || more="$more --append=$4"
		rc=0
		# shellcheck disable=SC2046,SC2086
		lab_up "$k" "$run" -n "$1" --mtu "$2" $more -- \
			sh "$vm_dir/run-inner.sh" $(cat "$run/todo") || rc=$?
		int3=
		! emulator_failed "$before" || int3=.int3
		for c in "$run"/console-?.log; do
			[ ! -e "$c" ] || mv "$c" "$c.$before$again$int3"
		done
		count=$(($(wc -l <"$run/results.txt") - before))
		# a boot that served no test would be tried for ever; once more
		# is fair, as nothing of ours has run yet, but it is said
		if [ $count = 0 ] && [ -n "$int3" ]; then
			:
		elif [ $count = 0 ] && [ -z "$again" ]; then
			echo "# no guest (exit code $rc): booting once more"
			again=.again
		elif [ $count = 0 ]; then
			read -r t <"$run/todo"
			echo "fail $(basename "$t" .sh) 0" >>"$run/results.txt"
			echo "fail $(basename "$t" .sh): no guest (exit code $rc)"
			count=1
		fi
		[ $count = 0 ] || sed -i "1,${count}d" "$run/todo"
	done
}

# lane DIRECTORY: everything in its plan
lane() {
	run=$1
	cut -d' ' -f1-4 "$run/plan" | sort -u >"$run/boots"
	while read -r n mtu icount append <&3; do
		one_boot "$n" "$mtu" "$icount" "$append"
	done 3<"$run/boots"
}

planned=$(wc -l <"$run/plan")
echo "# kernel $k, $planned tests, logs in $run"
lab_lock
if [ "${LANES:-1}" = 2 ]; then
	second=$run/lane2
	mkdir -p "$second/results"
	ln -s ../lab "$second/lab"
	: >"$second/results.txt"
	awk -v second="$second/plan" '
		/^1 1500 no/ && ++n % 3 { print >second; next } { print }
		' "$run/plan" >"$run/plan.1"
	touch "$second/plan"
	mv "$run/plan.1" "$run/plan"
	(lane "$second") >"$second/out" 2>&1 &
	beside=$!
	trap 'kill $beside 2>/dev/null || :' EXIT
fi
(lane "$run")
if [ "${LANES:-1}" = 2 ]; then
	wait $beside || :
	trap - EXIT
	cat "$second/out"
	cat "$second/results.txt" >>"$run/results.txt"
fi

[ -z "${SMC_RESULTS:-}" ] || sed "s/\$/ $k/" "$run/results.txt" >>"$SMC_RESULTS"
count() { grep -c "^$1 " "$run/results.txt" || :; }
passed=$(count ok) failed=$(count fail) skipped=$(count skip)
if [ "${SMC_EXPECT_ALL:-${CI:+1}}" = 1 ] && [ "$skipped" -gt 0 ]; then
	echo "# every test is expected to run here: skipped ones count as failed"
	failed=$((failed + skipped)) skipped=0
fi
[ $((passed + failed + skipped)) -gt 0 ] || die "no test was run"
lost=$((planned - passed - failed - skipped))
[ $lost = 0 ] || { echo "# $lost tests left no result"; failed=$((failed + lost)); }
echo "$passed passed, $failed failed${skipped:+, $skipped skipped}"
[ "$failed" = 0 ]
