#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# kernel-debug-inside.sh - the part of kernel-debug.sh that runs in the root:
# /mnt/k is the build directory, /mnt/vm this one.
#
# Half of what a program took on this kernel was checkers that check each other
# and stacks walked to their ends, both changed here: no access of the module to
# memory is checked less, and no lock of it.
set -eu

# What neither calls the module nor is called by it: its compiler checks nothing
# there, which takes less of the compiling, and of each program that starts
elsewhere="arch/x86/events block crypto drivers/acpi drivers/pnp drivers/tty fs/9p
	fs/erofs fs/iomap fs/netfs fs/overlayfs lib/crypto net/9p"

# KASAN looks at what the other checkers do with memory of their own; the kernel
# does not do that for lockdep from 6.15 on
unchecked=
for o in lockdep debugobjects smp_processor_id trace_preemptirq unwind_frame extable
do
	unchecked="$unchecked KASAN_SANITIZE_$o.o=n UBSAN_SANITIZE_$o.o=n"
done

# change FILE FROM TO: exactly one line of the kernel's source
change() {
	[ "$(grep -c "$2" "$1")" = 1 ] || { echo "not one line in $1: $2"; exit 1; }
	sed -i "s/$2/$3/" "$1"
}

cd /mnt/k
tar xf /usr/src/linux-source-6.12.tar.xz --strip-components=1
for d in $elsewhere; do
	find "$d" -name Makefile -exec \
		sed -i '1i KASAN_SANITIZE := n\nUBSAN_SANITIZE := n' {} +
done
# callers of an allocation that are kept, of 24 that there are on average; four
# of them are KASAN's own
change mm/kasan/kasan.h 'KASAN_STACK_DEPTH 64' 'KASAN_STACK_DEPTH 12'
# each lock passes four tracepoints that are off, and asked four times for RCU
change include/linux/tracepoint.h 'IS_ENABLED(CONFIG_LOCKDEP) && (cond)' 0
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
# shellcheck disable=SC2086
make -j"$(nproc)" $unchecked bzImage modules
make INSTALL_MOD_PATH=/mnt/k/installed modules_install
# what external modules need stays, objects go
find . -path ./installed -prune -o \( -name '*.o' -o -name '.*.cmd' \) \
	! -path './scripts/*' ! -path './tools/objtool/*' \
	-print0 | xargs -0 rm -f
