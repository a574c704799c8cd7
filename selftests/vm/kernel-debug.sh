#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# kernel-debug.sh - build (or find in the cache) the debug kernel and print
# the path of its build directory: bzImage, modules installed under
# lib/modules, and the tree that external modules are built against.
#
# Debian's linux-source package, compiled inside the trixie root with
# debug.config.  Its name is the hash of its recipe (debug.config,
# kernel-debug-inside.sh) and the package version.  Uses all cores: about 20 minutes on two.
set -eu
. "$(dirname "$0")/lib.sh"

root=$(sh "$vm_dir/root.sh" trixie)
version=$(chroot "$root" dpkg-query -W -f '${Version}' linux-source-6.12)
hash=$(hash_of "$vm_dir/kernel-debug-inside.sh" "$vm_dir/debug.config" -- "$version")
out=$cache/kernel-debug-$hash

build() {
	say "building the debug kernel in $out (log: $out.log)"
	rm -rf "$out"
	mkdir -p "$out"
	in_root "$root" --bind "$out:/mnt/k" --bind "$vm_dir:/mnt/vm:ro" -- \
		sh /mnt/vm/kernel-debug-inside.sh >"$out.log" 2>&1 ||
		{ tail -30 "$out.log" >&2; die "debug kernel: $out.log"; }
	touch "$out.ok"
}

if [ ! -e "$out.ok" ]; then
	exec 9>"$cache/.lock-kernel-debug"
	flock 9
	[ -e "$out.ok" ] || build
fi
echo "$out"
