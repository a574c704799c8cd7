#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# man.sh - every program has a manual page, which mandoc has nothing to say
# against, and which mentions every option of the usage text and every object
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
