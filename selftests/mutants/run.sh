#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [NAME...] - do the tests notice?
#
# Each NAME.patch here disables something of the module.  It is applied to a
# copy of the tree, and the guest test that it names ("Test:") has to fail on
# Debian's 6.12.  Without a name all of them, two to five minutes each.  The end
# of each test's output is shown: it should fail for what the patch says
# ("What:").  Ends with "N passed, N failed"; a patch that does not apply, or
# does not build, has failed.  So has one whose test did not run or ran into its
# time limit: that is an error, as a slow or broken laboratory does it too.
set -eu
unset LONG FULL
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
# one place: the laboratory keeps a build for each
copy=${SMC_LAB_CACHE:-$HOME/.cache/smc-lab}/mutant
mkdir -p "$copy"
passed=0 failed=0
if [ $# = 0 ]; then
	for name in "$here"/*.patch; do
		set -- "$@" "$(basename "$name" .patch)"
	done
fi

# no_verdict NAME: says why the failure in $copy/out is not the test's own
no_verdict() {
	log=$(sed -n 's/^# kernel .* logs in //p' "$copy/out")/$1.log
	if grep -q "^fail $1: no guest" "$copy/out"; then
		echo "no guest"
	elif ! grep -q "^fail $1 " "$copy/out"; then
		echo "$1 left no result"
	else
		# run-inner.sh's words; grep finds nothing where the test failed
		grep -m 1 -E '^FAIL: not (begun|done after)' "$log"
	fi
}

# one NAME: true if its test failed by itself; $error says what went wrong
one() {
	error=
	test=$(sed -n 's/^Test: //p' "$here/$1.patch")
	rm -rf "$copy/tree"
	mkdir "$copy/tree"
	(cd "$top" && git ls-files -z | xargs -0 cp -P --parents -t "$copy/tree")
	patch -d "$copy/tree" -p1 -s <"$here/$1.patch" ||
		{ error="does not apply"; return 1; }
	sh "$copy/tree/selftests/vm/build.sh" 6.12 >"$copy/build" 2>&1 ||
		{ cat "$copy/build"; error="does not build"; return 1; }
	! sh "$copy/tree/selftests/vm/run.sh" -s "$test" >"$copy/out" 2>&1 ||
		return 1
	! error=$(no_verdict "$test")
}

for name; do
	what=$(sed -n 's/^What: //p' "$here/$name.patch")
	if one "$name"; then
		echo "ok   $name: $what"
		grep '^ *|' "$copy/out" | tail -n 4
		passed=$((passed + 1))
	else
		if [ -n "$error" ]; then
			echo "error $name: ${error#FAIL: }"
		else
			echo "fail $name: $what, and nobody notices"
		fi
		tail -n 5 "$copy/out" 2>/dev/null || :
		failed=$((failed + 1))
	fi
	: >"$copy/out"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
