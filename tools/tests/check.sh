#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# check.sh PROGRAM... - all tests of the tools that need no SMC in the kernel;
# the last line is "N passed, N failed"
cd "$(dirname "$0")" || exit 1
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
passed=0
failed=0

# number WORD: the number before it in the last line
number() {
	tail -1 "$out" | sed -n "s/.*[^0-9]\([0-9][0-9]*\) $1.*/\1/p"
}

for t in preload activate policy chk kernels packages deadline tools screen man completion zsh; do
	case $t in
	man) sh "./$t.sh" "$@" ;;
	completion) bash "./$t.sh" ;;
	screen | zsh) python3 "./$t.py" ;;
	*) sh "./$t.sh" ;;
	esac >"$out" 2>&1
	rc=$?
	cat "$out"
	p=$(number passed)
	f=$(number failed)
	# a test that ends without a verdict has failed
	if [ -z "$p" ] || [ -z "$f" ] || { [ $rc -ne 0 ] && [ "$f" -eq 0 ]; }; then
		p=0
		f=1
	fi
	passed=$((passed + p))
	failed=$((failed + f))
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
