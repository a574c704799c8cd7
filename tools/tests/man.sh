#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# man.sh - every program has a manual page, which mandoc has nothing to say
# against, and which mentions every option of the usage text and every object;
# the tables of the pages have every reason and every counter of the headers, and
# af_smc(7) every difference from TCP that is documented
cd "$(dirname "$0")/.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0

good() { passed=$((passed + 1)); }

bad() {
	failed=$((failed + 1))
	echo "FAIL $*"
}

if ! command -v mandoc >"$tmp/null"; then
	echo 'mandoc is not installed'
	echo 'man: 0 passed, 1 failed'
	exit 1
fi

for page in man/*.[78]; do
	if mandoc -T lint -W warning "$page" >"$tmp/lint" 2>&1; then
		good
	else
		bad "$page"
		cat "$tmp/lint"
	fi
done

# The compiler expands the lists, which is not how tables.sh reads them.
expand() {
	grep -v '^#include' "$1" >"$tmp/list.h"
	shift
	{
		echo '#include "list.h"'
		printf '%s\n' "$@"
	} >"$tmp/list.c"
	"${CC:-cc}" -E -P "$tmp/list.c" | grep -o 'MARK[^;]*' |
		sed 's/^MARK(//; s/)$//; s/" "//g; s/ | / /; s/"//g'
}

text_of() { mandoc -T utf8 -O width=1000 "$1" | sed 's/.\x08//g' | tr -s ' '; }

# in_page PAGE WHAT LEAST: each line of the list is in the page
in_page() {
	text_of "$1" >"$tmp/text"
	while read -r name text; do
		# the text may stand in the next line
		tr -s ' \n' ' ' <"$tmp/text" | grep -qF -e "$name $text" ||
			echo "$name $text"
	done <"$tmp/list" >"$tmp/missing"
	if [ "$(wc -l <"$tmp/list")" -lt "$3" ]; then
		bad "the compiler finds no list of $2"
	elif [ -s "$tmp/missing" ]; then
		bad "$1 lacks $2: $(cat "$tmp/missing")"
	else
		good
	fi
}

expand ../include/uapi/linux/smc_reason.h \
	'#define ONE(s, code, label, sentence, h, e) MARK(code | sentence);' \
	'SMC_REASON_LIST(ONE)' >"$tmp/list"
in_page man/smcss.8 reasons 40
expand ../net/smc/stats.h '#define ONE(s, name, text) MARK(name | text);' \
	'SMC_STAT_LIST(ONE) SMC_TECH_LIST(ONE)' >"$tmp/list"
in_page man/af_smc.7 counters 60

# six, and no more
sed -n 's/^[0-9]*\. \*\([^*]*\)\.\*.*/\1/p' \
	../Documentation/networking/smc/deviations.rst >"$tmp/list"
in_page man/af_smc.7 deviations 6
[ "$(wc -l <"$tmp/list")" -le 6 ] || bad "there are more than six deviations"

# Pages refer to pages there are.
for page in man/*.[78]; do
	sed -n 's/^\.Xr \([a-z_]*smc[a-z_]*\) \([0-9]\).*/\1.\2/p' "$page"
done | sort -u | while read -r other; do
	[ -f "man/$other" ] || echo "$other"
done >"$tmp/missing"
if [ -s "$tmp/missing" ]; then
	bad "there is no page $(paste -sd' ' "$tmp/missing")"
else
	good
fi

for program in "$@"; do
	page=man/$program.8
	if [ ! -f "$page" ]; then
		bad "$program has no manual page"
		continue
	fi
	mandoc -T ascii "$page" | sed 's/.\x08//g' >"$tmp/text"
	"./$program" -h >"$tmp/usage" 2>&1
	# "  -x", "  -x, --long", "  -x, -Y, --long"
	sed -n 's/^  \(-[A-Za-z]\)[, ].*/\1/p' "$tmp/usage" >"$tmp/options"
	sed -n 's/^  -.*\(--[a-z][A-Za-z-]*\).*/\1/p' "$tmp/usage" \
		>>"$tmp/options"
	# "  object   what it is"
	sed -n 's/^  \([a-z][a-z]*\)   .*/\1/p' "$tmp/usage" >>"$tmp/options"
	[ -s "$tmp/options" ] || bad "$program -h mentions no option"
	while read -r option; do
		grep -qE -e "(^|[^A-Za-z-])$option" "$tmp/text" ||
			echo "$option"
	done <"$tmp/options" >"$tmp/missing"
	if [ -s "$tmp/missing" ]; then
		bad "$page does not mention: $(paste -sd' ' "$tmp/missing")"
	else
		good
	fi
done

echo "man: $passed passed, $failed failed"
[ $failed -eq 0 ]
