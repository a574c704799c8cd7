#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# build.sh [K=6.12] [B=NAME] [MAKE-ARGUMENT...] - compile in the laboratory
#
# Builds module (and tools, if "tools" is among the arguments) inside the
# Debian root that has the headers of kernel K, so that the host needs
# neither headers nor the right compiler.  The sources are copied to
# ~/.cache/smc-lab/build-K[-NAME] first; only what changed is compiled again.
# Builds that run at the same time each need a name B of their own.  Prints the
# build directory last, on file descriptor 3 if that is open.
set -eu
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
vm_dir=$top/selftests/vm
# lab FUNCTION ARGUMENT...: call a function of the laboratory's lib.sh
lab() { sh -euc '. "$0"; "$@"' "$vm_dir/lib.sh" "$@"; }
cache=${SMC_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/smc-lab}

K=6.12
B=
args=
for a; do
	case $a in
	K=*) K=${a#K=} ;;
	B=*) B=${a#B=} ;;
	*) args="$args $a" ;;
	esac
done

root=$(sh "$vm_dir/root.sh" "$(lab suite_of "$K")")
build=$cache/build-$K${B:+-$B}
mkdir -p "$build"
binds="--bind $top:/mnt/src:ro --bind $build:/mnt/build"
# the root has one kernel, whose headers these are
kdir=$(cd "$root" && echo lib/modules/*/build)
kdir=/$kdir
case $K in
debug | kcsan)
	kernel=$(sh "$vm_dir/kernel-debug.sh" "$K")
	binds="$binds --bind $kernel:/mnt/k"
	kdir=/mnt/k ;;
esac

# shellcheck disable=SC2016
inside='
	cd /mnt/build
	rsync -rlc --delete --exclude=/.git --exclude="*.o" --exclude="*.cmd" \
		--exclude="*.ko" --exclude="*.mod*" --exclude="*.order" \
		--exclude="*.symvers" --exclude="*.so" --exclude="*.a" \
		--include="/Kbuild" --include="/Makefile" --include="/net/***" \
		--include="/include/***" --include="/tools/***" \
		--exclude="*" /mnt/src/ ./
	exec make -j"$(nproc)" KDIR="$0" "$@"
'
status=0
exec 9>"$build.lock"
flock 9
# shellcheck disable=SC2086
lab in_root "$root" $binds -- sh -euc "$inside" "$kdir" $args >"$build.log" 2>&1 ||
	status=$?
sed 's,/mnt/build/,,g; /[Ee]ntering directory/d; /[Ll]eaving directory/d' \
	"$build.log"
if [ "$status" = 0 ]; then
	{ echo "$build" >&3; } 2>/dev/null || echo "$build"
fi
exit "$status"
