#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# matrix.sh RESULTS - a table of what was seen to work on which kernel
#
# RESULTS has a line "ok|fail|skip TEST SECONDS KERNEL" for each guest test that
# ran (run.sh).  What a test shows is in its head, "# shows:".  A field is "ok" if
# all tests that show it passed there, and "-" if none ran.  Each released kernel
# must have the first rows: what is missing there has failed.  The other rows, and
# the debug kernel, take turns.
# Ends in "N passed, N failed".
set -eu
results=$1
tests=$(dirname "$0")/../../selftests/vm/tests

# lines "RESULT KERNEL WHAT"
while read -r result test _ kernel; do
	[ -e "$tests/$test.sh" ] || continue
	echo "$result $kernel all that ran"
	sed -n 's/^# shows: *//p; /^$/q' "$tests/$test.sh" | tr ',' '\n' |
		sed "s/^ */$result $kernel /"
done <"$results" | awk '
	BEGIN {
		cols = split("6.1 6.12 7.2 debug", col, " ")
		rows = split("all that ran,SMC-D,SMC-R,fallback,SYN option",
			     row, ",")
		for (r = 1; r <= rows; r++)
			must[row[r]] = seen[row[r]] = 1
	}
	{
		what = $0
		sub(/^[^ ]* [^ ]* /, "", what)
		if (!(what in seen)) {
			seen[what] = 1
			row[++rows] = what
		}
		if ($1 == "fail")
			state[what, $2] = "FAIL"
		else if ($1 == "ok" && state[what, $2] == "")
			state[what, $2] = "ok"
	}
	END {
		printf "%-36s", ""
		for (c = 1; c <= cols; c++)
			printf " %6s", col[c]
		print ""
		for (r = 1; r <= rows; r++) {
			printf "%-36s", row[r]
			for (c = 1; c <= cols; c++) {
				is = state[row[r], col[c]]
				printf " %6s", is == "" ? "-" : is
				if (col[c] == "debug")
					continue
				if (is == "ok")
					passed++
				else if (is != "" || row[r] in must)
					failed++
			}
			print ""
		}
		printf "%d passed, %d failed\n", passed, failed
		exit failed > 0
	}'
