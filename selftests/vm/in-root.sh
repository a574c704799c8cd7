#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# in-root.sh COMMAND... - the inner half of in_root (lib.sh): runs in fresh
# mount and pid namespaces, mounts what a build needs over $ROOT and enters it.
#   ROOT   the root directory;  BINDS  words HOST:INSIDE[:ro]
#   OVER   a directory that takes what is written, with upper, work and merged in
#          it; without, the root itself does
set -eu

mount --make-rprivate /
if [ -n "${OVER:-}" ]; then
	mount -t overlay -o "lowerdir=$ROOT,upperdir=$OVER/upper,workdir=$OVER/work" \
		overlay "$OVER/merged"
	ROOT=$OVER/merged
fi
mount --bind "$ROOT" "$ROOT"
mount -t proc proc "$ROOT/proc"
mount --rbind /dev "$ROOT/dev"
mount -t tmpfs tmpfs "$ROOT/tmp"
mount -t tmpfs tmpfs "$ROOT/mnt"
for b in ${BINDS:-}; do
	from=${b%%:*}
	to=${b#*:}
	case $to in *:ro) ro=1; to=${to%:ro} ;; *) ro= ;; esac
	mkdir -p "$ROOT$to"
	mount --bind "$from" "$ROOT$to"
	[ -z "$ro" ] || mount -o remount,bind,ro "$ROOT$to"
done
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 \
	TERM="${TERM:-dumb}" chroot "$ROOT" "$@"
