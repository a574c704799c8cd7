#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# headers.sh BUILD-DIRECTORY - can every header be the first one included?
#
# Compiles each alone, with the command that compiled ring.o; runs where that
# ran.  A header that needs another one includes it itself.
set -eu
cd "$1"

command=$(sed -n 's/^\(saved\)\?cmd_.*ring\.o := //p' net/smc/wire/.ring.o.cmd |
	sed -e 's/ ;.*//' -e 's/-Wp,-MMD,[^ ]*//' -e 's/ -c -o .*//')
[ -n "$command" ] || { echo "no command in net/smc/wire/.ring.o.cmd"; exit 1; }
# run from where kbuild ran it: the kernel's headers, from 6.13 on our directory
case $command in
*" -I$1/"*) cd "${KDIR:-$(echo /lib/modules/*/build)}" ;;
esac

one() {
	echo "#include \"$1\"" |
		eval "$command -Werror -fsyntax-only -x c -" 2>&1 ||
		{ echo "$1 does not compile alone"; return 1; }
}

find "$1/net" "$1/include/uapi" -name '*.h' ! -name trace.h | sort |
(
	bad=0
	while read -r header; do
		one "$header" || bad=1
	done
	exit $bad
)
