#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# coverage.sh [-n | TEST...] - how much of net/smc the tests reach: lines and
# branches of each file, and the functions that are never called.
#
# Runs the unit tests and guest tests (all that are meant for the debug kernel
# by default, those left to check-long among them; none with -n) with gcov's
# counters.  What earlier runs with SMC_GCOV=1 of the same net/smc and include
# have counted, and is still in the cache, is added: SMC_GCOV=1 make check-long
# SHARD=4/13, for example.
set -eu
cd "$(dirname "$0")/../.."
top=$PWD
vm_dir=$top/selftests/vm
# lab FUNCTION ARGUMENT...: call a function of the laboratory's lib.sh
lab() { sh -euc '. "$0"; "$@"' "$vm_dir/lib.sh" "$@"; }
cache=${SMC_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/smc-lab}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

# sources DIRECTORY: what its module was made from
sources() {
	(cd "$1" && find net include -name '*.[ch]' | LC_ALL=C sort |
		xargs cat | sha256sum)
}

echo "# unit tests" >&2
make -s -C selftests/unit O="$tmp/unit" SAN=--coverage >"$tmp/unit.log" 2>&1 ||
	{ cat "$tmp/unit.log" >&2; exit 1; }
python3 tools/dev/coverage.py count "$tmp/unit" "$tmp/unit" >"$tmp/unit.json"

# a test that is named runs whatever its "when:" says
[ $# -gt 0 ] || set -- "$vm_dir"/tests/*.sh
# a test that fails has reached something, too
[ "${1:-}" = -n ] || SMC_GCOV=1 SMC_RESULTS="$tmp/results" \
	sh "$vm_dir/run.sh" -k debug "$@" >&2 ||
	echo "# not passed:" "$(awk '$1 != "ok" { print $2 }' "$tmp/results")" >&2

root=$(sh "$vm_dir/root.sh" trixie)
ours=$(sources .)
n=0
for counts in "$cache"/runs/*/*/results/gcov; do
	[ -d "$counts" ] || continue
	made=$(realpath "$counts/../../lab")
	[ "$(sources "$made")" = "$ours" ] || continue
	n=$((n + 1))
	lab in_root "$root" --bind "$made:/mnt/notes:ro" \
		--bind "$counts:/mnt/counts:ro" --bind "$top/tools/dev:/mnt/dev:ro" \
		-- sh -c 'exec python3 /mnt/dev/coverage.py count /mnt/notes \
			/mnt/counts/*' >"$tmp/$n.json"
done
echo "# the unit tests and $n boots" >&2
python3 tools/dev/coverage.py table "$tmp"/*.json
