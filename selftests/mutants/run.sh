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
# does not build, has failed.
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

# one NAME: true if its test failed, and not for want of a module
one() {
	test=$(sed -n 's/^Test: //p' "$here/$1.patch")
	rm -rf "$copy/tree"
	mkdir "$copy/tree"
	(cd "$top" && git ls-files -z | xargs -0 cp -P --parents -t "$copy/tree")
	patch -d "$copy/tree" -p1 -s <"$here/$1.patch" || return 1
	sh "$copy/tree/selftests/vm/build.sh" 6.12 >"$copy/build" 2>&1 ||
		{ cat "$copy/build"; return 1; }
	! sh "$copy/tree/selftests/vm/run.sh" -s "$test" >"$copy/out" 2>&1 &&
		grep -q "^fail $test " "$copy/out"
}

for name; do
	what=$(sed -n 's/^What: //p' "$here/$name.patch")
	if one "$name"; then
		echo "ok   $name: $what"
		grep '^ *|' "$copy/out" | tail -n 4
		passed=$((passed + 1))
	else
		echo "fail $name: $what, and nobody notices"
		tail -n 5 "$copy/out" 2>/dev/null || :
		failed=$((failed + 1))
	fi
	: >"$copy/out"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
