#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# deb-check.sh [SUITE...] - install the packages of deb/SUITE in a clean root,
# change the kernel, purge them, and see that nothing stays
#
# Builds them first unless they are of these sources (deb.sh).  Needs a mirror of
# Debian; what was fetched once is kept in the cache.  Ends in "N passed, N failed".
set -eu
. "$(dirname "$0")/lib.sh"
[ $# -gt 0 ] || set -- bookworm trixie forky

alone package-check
passed=0 failed=0
for suite; do
	sh "$vm_dir/deb.sh" -c "$suite" >&2
	root=$(sh "$vm_dir/package-root.sh" clean "$suite")
	log=$cache/package-check-$suite.log
	say "packages of $suite: $log"
	over "$root" "package-check-$suite" \
		sh /mnt/src/selftests/vm/deb-check-inside.sh "$suite" \
		>"$log" 2>&1 || echo "FAIL $suite ends with $?" >>"$log"
	grep -a -e '^FAIL' -e '^ok ' "$log" | sed "s/^/$suite: /"
	n=$(grep -ac '^ok ' "$log") || :
	passed=$((passed + n))
	n=$(grep -ac '^FAIL' "$log") || :
	failed=$((failed + n))
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
