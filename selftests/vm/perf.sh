#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf.sh [TEST...] - measurements in virtual time (tests with "icount: yes";
# latency by default).  Prints the table and keeps it, with the commit it
# belongs to, in the file perf.txt of the cache.
set -eu
. "$(dirname "$0")/lib.sh"

[ $# -gt 0 ] || set -- latency
rc=0
out=$(sh "$vm_dir/run.sh" "$@") || rc=$?
echo "$out"
run=$(echo "$out" | sed -n 's/.*logs in //p')
for t; do
	[ -e "$run/results/$t.txt" ] || continue
	{
		echo "== $t, $(git -C "$tree" describe --always --dirty \
			2>/dev/null || echo unknown), $(date -u +%F)"
		cat "$run/results/$t.txt"
	} | tee -a "$cache/perf.txt"
done
exit $rc
