#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# smcstat.sh - what the counters of /proc/net/smc_stat did since a mark
#
#   smcstat.sh mark [FILE]           remember all of them
#   smcstat.sh show [FILE]           those that changed since, NAME DIFFERENCE
#   smcstat.sh expect [-f FILE] NAME=N 'NAME>N' 'NAME<N' ...
#                                    compare the differences; names what is
#                                    wrong and exits 1
set -u
file=/tmp/smcstat.mark

difference() {
	awk 'NR == FNR { old[$1] = $2; next }
	     { print $1, $2 - old[$1] }' "$file" /proc/net/smc_stat
}

cmd=${1:-}
shift
[ "${1:-}" != -f ] || { file=$2; shift 2; }
case $cmd in
mark)
	cp /proc/net/smc_stat "${1:-$file}" ;;
show)
	file=${1:-$file}
	difference | awk '$2 != 0' ;;
expect)
	[ $# -gt 0 ] || { echo "nothing is expected"; exit 2; }
	difference | awk -v wants="$*" '
	{ v[$1] = $2 }
	END {
		n = split(wants, w, " ")
		for (i = 1; i <= n; i++) {
			match(w[i], /[=<>]/)
			name = substr(w[i], 1, RSTART - 1)
			op = substr(w[i], RSTART, 1)
			want = substr(w[i], RSTART + 1) + 0
			if (!(name in v)) {
				print "no counter " name
				bad = 1
			} else if (op == "=" && v[name] != want ||
				   op == ">" && v[name] <= want ||
				   op == "<" && v[name] >= want) {
				print "counter " name " grew by " v[name] \
				      ", wanted " op " " want
				bad = 1
			}
		}
		exit bad
	}' || { echo "changed:"; difference |
		awk '$2 != 0 { printf "  %s %d\n", $1, $2 }'
		# since the module was loaded, for the reader
		smc_stats -P 2>/dev/null | grep ^smc_fallback_reasons
		exit 1; } ;;
*)
	sed -n '/^# smcstat/,/^set/{/^set/d; s/^# \?//; p}' "$0"
	exit 2 ;;
esac
