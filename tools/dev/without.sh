#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# without.sh BUILD-DIRECTORY WORD - does the module compile for a kernel that
# lacks the options which have WORD in their names?
#
# Compiles each object with its command, but as if the configuration had none of
# them; runs where that ran.  What the compiler says of the kernel's own headers
# alone, which are of a kernel that has them, does not count.
set -eu
kdir=${KDIR:-$(echo /lib/modules/*/build)}
lacks=$(mktemp)
trap 'rm -f "$lacks"*' EXIT
sed -n "s/^#define \(CONFIG_[A-Z0-9_]*$2[A-Z0-9_]*\) .*/#undef \1/p" \
	"$kdir/include/generated/autoconf.h" >"$lacks"
[ -s "$lacks" ] || { echo "$2: there is no such option"; exit 1; }

cd "$1"
find net -name '.*.o.cmd' | sort | while read -r f; do
	sed -n 's/^\(saved\)\?cmd_[^ ]* := \(.* -c -o .*\.c\)\b.*/\2/p' "$f"
done | sed -e 's/-Wp,-MMD,[^ ]*//' -e 's/ -c -o [^ ]*/ -fsyntax-only/' \
	-e "s,-include [^ ]*/kconfig\.h,& -include $lacks," >"$lacks.commands"
[ -s "$lacks.commands" ] || { echo "no commands in $1/net"; exit 1; }
# run from where kbuild ran them, as in headers.sh
grep -q -e " -I$1/" "$lacks.commands" && cd "$kdir"
xargs -d '\n' -P "$(nproc)" -n 1 sh -c <"$lacks.commands" 2>&1 |
	grep -E -B 1 -A 1 "^($1/)?net/smc/" && exit 1
exit 0
