#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# deadline.sh - a check that takes too long ends, and what it has not reached has
# failed: check.sh and run.sh over stages and guests that hang
cd "$(dirname "$0")/../.." || exit 1
top=$PWD
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0
unset K CI LONG LANES SMC_DEADLINE SMC_EXPECT_ALL SMC_RESULTS SMC_MODES
export SMC_LAB_CACHE="$tmp/cache"

# equal WHAT IS SHOULD
equal() {
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL $1: '$2', not '$3'"
	fi
}

# stub FILE: the text on standard input, in the tree of stages that do nothing
stub() {
	mkdir -p "$tmp/tree/$(dirname "$1")"
	cat >"$tmp/tree/$1"
}

for f in tools/dev/check.sh tools/dev/budget.sh selftests/smc/rotate.sh \
	selftests/vm/run.sh selftests/vm/plan.sh; do
	stub "$f" <"$top/$f"
done
says_two='echo "2 passed, 0 failed"'
echo : | stub tools/dev/setup.sh
echo "$says_two" | stub tools/dev/static.sh
# the number is looked for among all processes
hang="sleep 120.$$"
printf 'all:\n\t@%s\n' "$hang; $says_two" | stub selftests/unit/Makefile
printf 'check:\n\t@%s\n' "$says_two" | stub tools/Makefile
printf 'gate:\n\t@%s\n' "$says_two" | stub selftests/fuzz/Makefile
git -C "$tmp/tree" init -q
git -C "$tmp/tree" -c user.name=t -c user.email=t@localhost commit -q \
	--allow-empty -m stages

# run.sh by a clock of its own, over guests that pass every test, and a test that
# takes until $THEN
mkdir "$tmp/bin"
printf '#!/bin/sh\ncat %s\n' "$tmp/now" >"$tmp/bin/date"
chmod +x "$tmp/bin/date"
{
	cat "$top/selftests/vm/lib.sh"
	cat <<-'END'
	stage_tree() { :; }
	lab_up() {
		while t=$(plan_take "$run/plan" "$LAB_KEY"); do
			echo "ok $(basename "$t" .sh) 1" >>"$run/results.txt"
			: >"$2/served"
			echo "$THEN" >"$NOW"
		done
	}
	END
} | stub selftests/vm/lib.sh
sed -i 's/(lab_up /(LAB_KEY="$*" lab_up /' "$tmp/tree/selftests/vm/run.sh"
for t in first second third; do
	printf '# A test.\n# guests: 1\n' | stub "selftests/vm/tests/$t.sh"
done

# guests THEN: from time 1000, with the deadline at 2000
guests() {
	echo 1000 >"$tmp/now"
	THEN=$1 NOW=$tmp/now PATH=$tmp/bin:$PATH LANES=1 SMC_DEADLINE=2000 \
		sh "$tmp/tree/selftests/vm/run.sh" -s >"$tmp/out" 2>&1
	rc=$?
	last=$(tail -n 1 "$tmp/out")
}

guests 1999
equal "run.sh in time" "$rc $last" "0 3 passed, 0 failed, 0 skipped"
guests 2000
equal "run.sh too late" "$rc $last" "1 1 passed, 2 failed, 0 skipped"
equal "tests not reached" "$(grep -c 'not reached in time' "$tmp/out")" 2

# check.sh keeps 30 seconds for its end: the first stage hangs and has some two.
# Those behind it have a second each: too little on a busy host, they may fail.
BUDGET=32 sh "$tmp/tree/tools/dev/check.sh" check >"$tmp/out" 2>&1
equal "check.sh" "$? $(tail -n 1 "$tmp/out" | sed -E 's/[0-9]+ p/N p/; s/[1-9][0-9]* f/N f/')" \
	"1 N passed, N failed, 0 skipped"
equal "stages" "$(grep -c '^  [a-z0-9.-]*: .* failed, [0-9]* s$' "$tmp/out")" 6
equal "the stage that hangs" "$(grep '^  unit: ' "$tmp/out" | cut -d, -f1,2)" \
	"  unit: 0 passed, 1 failed"
# shellcheck disable=SC2009
equal "what hangs has ended" "$(ps -eo args | grep -cxF "$hang")" 0

echo "deadline: $passed passed, $failed failed"
[ $failed = 0 ]
