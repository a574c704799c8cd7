#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# layer-list.sh [check|write] - the layers and their files, as Kbuild has them
#
# Without an argument the list is printed.  "check" compares it with the one
# between the comments "layers begin" and "layers end" of overview.rst (part of
# "make check-static"), "write" puts it there.
set -eu
cd "$(dirname "$0")/../.."
doc=Documentation/networking/smc/overview.rst

list() {
	awk '
	# Print words in lines of at most 80 columns
	function print_words(first, indent, text,	word, n, i, line) {
		n = split(text, word, " ")
		line = first
		for (i = 1; i <= n; i++) {
			if (length(line) + 1 + length(word[i]) > 80) {
				print line
				line = indent
			}
			line = line " " word[i]
		}
		print line
	}
	function flush() {
		if (files == "")
			return
		print_words(" ", "   ", title)
		print_words("   ", "   ", files)
		files = ""
	}
	/^# (layer [0-9]|leaves|control plane|module):/ {
		flush()
		title = substr($0, 3)
		if ($2 == "layer")
			title = substr($3, 1, 1) substr(title, 9)
	}
	/^(smc|smc_diag)-y / {
		for (i = 3; i <= NF; i++) {
			sub(/^net\/smc\//, "", $i)
			sub(/\.o$/, "", $i)
			files = files " " $i
		}
	}
	END { flush() }
	' Kbuild
}

case ${1:-} in
'')
	list
	;;
check)
	found=$(sed -n '/^\.\. layers begin$/,/^\.\. layers end$/{
		/^\.\. /d; /^::$/d; /^$/d; p
	}' "$doc")
	[ "$found" = "$(list)" ] || {
		echo "$doc: not the layers of Kbuild: sh tools/dev/layer-list.sh write"
		exit 1
	}
	;;
write)
	for mark in begin end; do
		grep -qx "\.\. layers $mark" "$doc" || {
			echo "$doc: no comment \".. layers $mark\""
			exit 1
		}
	done
	new=$(mktemp)
	trap 'rm -f "$new"' EXIT
	{
		sed '/^\.\. layers begin$/q' "$doc"
		printf '\n::\n\n'
		list
		echo
		sed -n '/^\.\. layers end$/,$p' "$doc"
	} >"$new"
	cat "$new" >"$doc"
	;;
*)
	echo "layer-list.sh [check|write]"
	exit 2
	;;
esac
