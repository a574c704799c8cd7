#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# kernel-debug-inside.sh - the part of kernel-debug.sh that runs in the root:
# /mnt/k is the build directory, /mnt/vm this one.
set -eu

cd /mnt/k
tar xf /usr/src/linux-source-6.12.tar.xz --strip-components=1
grep '^CONFIG' /mnt/vm/debug.config >lab.config
make KCONFIG_ALLCONFIG=lab.config allnoconfig
# an option that silently did not take is a checker that never ran
bad=
while IFS='=' read -r name value; do
	case $value in
	n) grep -q "^$name=" .config && bad="$bad $name" ;;
	*) grep -q "^$name=$value\$" .config || bad="$bad $name" ;;
	esac
done <lab.config
[ -z "$bad" ] || { echo "options that did not take effect:$bad"; exit 1; }
echo -lab-debug >localversion-lab
make -j"$(nproc)" bzImage modules
make INSTALL_MOD_PATH=/mnt/k/installed modules_install
# what external modules need stays, objects go
find . -path ./installed -prune -o \( -name '*.o' -o -name '.*.cmd' \) \
	! -path './scripts/*' ! -path './tools/objtool/*' \
	-print0 | xargs -0 rm -f
