#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# build-inside.sh [TARGET...] - the part of build.sh that runs in the root:
# /mnt/src is the tree (read-only), /mnt/out the build directory, /mnt/k the
# debug kernel's if that is the one.  TARGETs: module planted tools selftests
# (all), movable, sparse, clang.
set -eu

kdir=/mnt/k
[ -e $kdir/Makefile ] || kdir=$(echo /lib/modules/*/build)
[ $# -gt 0 ] || set -- module planted tools selftests
jobs=-j$(nproc)

# what was built stays; sources that are no longer in the tree go, also those of
# a folder that is gone (.gitignore lists what a build makes: never copied, never
# deleted; -q: a folder with such files stays, and rsync would say so).  What is
# copied is new from now on, whatever its time in the tree: git may change a file
# while another build runs
rsync -rlpcq --delete-after --exclude='/.git' --filter=':- .gitignore' \
	--filter='R *.[chS]' --filter='R *.sh' --filter='R *.py' \
	--filter='R Makefile' --filter='R Kbuild' --filter='R */' \
	--filter='P *' \
	/mnt/src/ /mnt/out/
cd /mnt/out
find net -name '*.o' | while read -r object; do
	[ -e "${object%.o}.c" ] || rm "$object"
done

# kmodule DIR LOG [VARIABLE=VALUE...]: the modules of DIR's Kbuild.  The compiler's
# warnings are errors, those of objtool and modpost are not, and leave objects: these
# are kept only if nothing was said, or the next build would say nothing.
kmodule() {
	rc=0
	dir=$1 log=$2
	shift 2
	[ -e "$dir/.passed" ] ||
		find "$dir" \( -path /mnt/out/selftests -o -path /mnt/out/tools \) \
			-prune -o -name '*.o' -exec rm {} +
	rm -f "$dir/.passed"
	werror='KCFLAGS=-Werror'
	[ -z "${KEEP_GOING:-}" ] || werror=
	make -s $jobs -C "$kdir" M="$dir" W=1 $werror "$@" modules \
		>"$log" 2>&1 || rc=$?
	grep -v -e '^make' -e 'Skipping BTF' "$log" || :
	grep -qi warning "$log" || touch "$dir/.passed"
	[ $rc = 0 ] || exit $rc
	if [ ! -e "$dir/.passed" ] && [ -z "${KEEP_GOING:-}" ]; then
		echo "$dir: warnings are errors"
		exit 1
	fi
	# guests load these: without debug information, which takes long to read
	mkdir -p .strip
	for ko in "$dir"/*.ko; do
		to=.strip/${ko##*/}
		[ "$to" -nt "$ko" ] || strip -g -o "$to" "$ko"
	done
}

module() {
	[ -e Kbuild ] || { echo "no Kbuild yet: module not built"; return; }
	echo "module: $kdir"
	kmodule /mnt/out .module.log ${SMC_GCOV:+GCOV_PROFILE=y}
}

# What sparse says of the module, which has been built.  The flags are the ones it
# was built with, or all of it is compiled again, here and by the next build.  Not
# C=2: 7.2 has that judged by a script that Debian's headers lack.
sparse() {
	kmodule /mnt/out .sparse.log KBUILD_CHECKSRC=2 \
		${SMC_GCOV:+GCOV_PROFILE=y}
}

# What Debian's kernels say of gcc is not so for clang: what it cannot do, and what
# is asked of objects that gcc made.  Warnings of the kernel's headers are theirs.
clang_is_not_gcc="CONFIG_CC_IS_GCC= CONFIG_CC_IS_CLANG=y
	CONFIG_CLANG_VERSION=190000 CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT=
	CONFIG_CC_NO_STRINGOP_OVERFLOW= CONFIG_FTRACE_MCOUNT_USE_CC=
	CONFIG_CC_IMPLICIT_FALLTHROUGH=-Wimplicit-fallthrough
	CONFIG_UBSAN_BOUNDS_STRICT= CONFIG_UBSAN_ARRAY_BOUNDS=y
	CONFIG_INIT_STACK_ALL_ZERO= CONFIG_RETHUNK= CONFIG_MITIGATION_RETHUNK=
	CONFIG_OBJTOOL= CONFIG_STACK_VALIDATION="

# The module, by clang.  Objects are kept only if nothing was said of any: what was
# is said again by the next build.
by_clang() {
	[ -e .clang-passed ] || find net -name '*.o' -delete
	rm -f .clang-passed
	clang --version | head -n 1
	# shellcheck disable=SC2086
	make -s $jobs -C "$kdir" M=/mnt/out CC=clang W=1 \
		KCFLAGS=-Wno-unknown-warning-option $clang_is_not_gcc modules \
		>.module.log 2>&1 ||
		{ grep -A 9 'error:' .module.log || tail -20 .module.log; exit 1; }
	! grep -A 9 '^\(/mnt/out/\)\{0,1\}net/smc/.*warning:' .module.log || exit 1
	touch .clang-passed
}

# what the verdict of the tests must find
planted() {
	echo "planted"
	kmodule /mnt/out/selftests/vm/planted .module-planted.log
}

# of those, what makes soft-RoCE move between namespaces
movable() {
	echo "movable"
	kmodule /mnt/out/selftests/vm/planted .module-planted.log \
		PLANTED=movable.o
}

# make_in DIR: the program directories build themselves where they are
make_in() {
	[ -e "$1/Makefile" ] || { echo "no $1/Makefile yet"; return; }
	echo "$1"
	make -s $jobs -C "$1" KSELFTEST=/usr/src/kselftest WERROR=1
}

for t; do
	case $t in
	module) module ;;
	planted) planted ;;
	movable) movable ;;
	sparse) sparse ;;
	clang) by_clang ;;
	tools) make_in tools ;;
	selftests) make_in selftests/smc ;;
	*) echo "unknown target $t"; exit 2 ;;
	esac
done
