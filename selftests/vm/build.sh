#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# build.sh [K] [TARGET...] - build module, tools and guest programs for kernel
# K (6.12 by default, debug, ...) inside its root; print the build directory.
#
# The sources are copied (changed files only) to a build directory in the
# cache, so builds are incremental and the tree stays clean.  A tree that is new
# here begins with a copy of the newest build for this kernel.  Anything the
# compiler or modpost says is an error.  The target "clang" has a build directory
# of its own.
#   KEEP_GOING=1  warnings do not stop the build (for looking at all of them)
#   SMC_GCOV=1    the module counts what is run (debug kernel): a build
#                 directory of its own
set -eu
. "$(dirname "$0")/lib.sh"

k=${1:-6.12}
[ $# -eq 0 ] || shift
# The planted modules stand in for drivers, whose interface is not that of others;
# one is for any.  The programs are the same for all kernels of a root.
programs=
if [ $# -eq 0 ]; then
	case $k,$(suite_of "$k") in
	6.12,*) set -- module planted tools selftests ;;
	*,"$lab_suite") set -- module planted; programs=6.12 ;;
	*) set -- module movable tools selftests ;;
	esac
fi
root=$(sh "$vm_dir/root.sh" "$(suite_of "$k")")
kselftest=$(sh "$vm_dir/root.sh" "$lab_suite")/usr/src/kselftest
case $k in
debug | kcsan) kdir=$(sh "$vm_dir/kernel-debug.sh" "$k") ;;
*) kdir= ;;
esac
out=$(build_dir "$k")
[ "$*" != clang ] || out=${out%-*}-clang-${out##*-}

# the newest build of another tree by the programs of this root that has objects to
# keep (build-inside.sh); no build changes it meanwhile
seed() {
	# shellcheck disable=SC2045
	for _dir in $(ls -td "${out%-*}"-???????? 2>/dev/null); do
		[ "$_dir" -nt "$root.ok" ] || break
		[ -e "$_dir/.passed" ] || continue
		rm -rf "$out.tmp"
		! flock -n "$_dir.lock" cp -a "$_dir" "$out.tmp" || return 0
	done
	mkdir -p "$out.tmp"
}

# take_programs K: those of this tree, up to date, from the build for K
take_programs() {
	_from=$(SMC_GCOV='' sh "$vm_dir/build.sh" "$1" tools selftests)
	mkdir -p "$out/selftests"
	rm -rf "$out/tools" "$out/selftests/smc"
	flock -s "$_from.lock" sh -euc 'cp -a "$1/tools" "$2/"
		cp -a "$1/selftests/smc" "$2/selftests/"' sh "$_from" "$out"
}

mkdir -p "$cache/build"
exec 9>"$out.lock"
flock 9
[ "$out" -nt "$root.ok" ] || rm -rf "$out"
if [ ! -d "$out" ]; then
	seed
	mv "$out.tmp" "$out"
fi
[ -z "$programs" ] || take_programs "$programs"
in_root "$root" --bind "$tree:/mnt/src:ro" --bind "$out:/mnt/out" \
	--bind "$kselftest:/usr/src/kselftest:ro" \
	${kdir:+--bind "$kdir:/mnt/k:ro"} -- \
	env KEEP_GOING="${KEEP_GOING:-}" SMC_GCOV="${SMC_GCOV:-}" \
	sh /mnt/src/selftests/vm/build-inside.sh "$@" >&2
# seed() takes the newest
touch "$out"
echo "$out"
