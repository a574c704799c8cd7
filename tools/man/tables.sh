#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tables.sh PAGE - print a manual page with the tables of the headers in it
# tables.sh -c - print the counters for C: their names, and what they count
#
# The lines "@REASONS@" and "@COUNTERS@" of PAGE become the lists of
# include/uapi/linux/smc_reason.h and net/smc/stats.h.  A list with too few
# lines is an error: then the header is no longer laid out as this script thinks.
set -eu
page=$1
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)

one_line() { tr '\n\t\\' '   ' <"$1" | tr -s ' '; }

reasons() {
	one_line "$top/include/uapi/linux/smc_reason.h" | grep -o \
	    'X([A-Z0-9_]*, 0x[0-9a-f]*, "[^"]*", "[^"]*", "[^"]*", [A-Z0-9]*)' |
		sed 's/^X([A-Z0-9_]*, \(0x[0-9a-f]*\), "[^"]*", "\([^"]*\)".*/\1   \2/'
}

counters() {
	one_line "$top/net/smc/stats.h" |
		grep -o 'X([A-Z0-9_]*, "[^"]*", "[^"]*")' |
		sed "s/^X([A-Z0-9_]*, \(\"[^\"]*\"\), \(\"[^\"]*\"\))/$1/"
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
reasons >"$tmp/reasons"
counters '.It Li \1\n\2' | tr -d '"' >"$tmp/counters"
for list in reasons:40 counters:60; do
	[ "$(wc -l <"$tmp/${list%:*}")" -ge "${list#*:}" ] ||
		{ echo "$page: no list of ${list%:*}" >&2; exit 1; }
done
if [ "$page" = -c ]; then
	echo '/* SPDX-License-Identifier: GPL-2.0 */'
	counters '{ \1, \2 },'
	exit
fi
sed -e "/^@REASONS@\$/{r $tmp/reasons
d
}" -e "/^@COUNTERS@\$/{r $tmp/counters
d
}" "$page"
