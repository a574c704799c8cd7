#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# kernel-debug.sh [debug|kcsan] - build (or find in the cache) the debug kernel,
# or the one that looks for data races, and print the path of its build
# directory: bzImage, modules installed under lib/modules, and the tree that
# external modules are built against.
#
# Debian's linux-source package, compiled inside the trixie root with
# debug.config, of which kcsan.config replaces some lines.  Its name is the hash
# of its recipe (the configuration, kernel-debug-inside.sh) and the package
# version.  Uses all cores: about 20 minutes on two.
set -eu
. "$(dirname "$0")/lib.sh"

variant=${1:-debug}
more=
[ "$variant" = debug ] || more=$vm_dir/$variant.config
root=$(sh "$vm_dir/root.sh" trixie)
version=$(chroot "$root" dpkg-query -W -f '${Version}' linux-source-6.12)
# shellcheck disable=SC2086
hash=$(hash_of "$vm_dir/kernel-debug-inside.sh" "$vm_dir/debug.config" $more -- \
	"$version")
out=$cache/kernel-$variant-$hash

# the later of two lines for an option holds
recipe() {
	rm -rf "$out.recipe"
	mkdir "$out.recipe"
	cp "$vm_dir/kernel-debug-inside.sh" "$out.recipe/"
	# shellcheck disable=SC2086
	awk -F= '/^CONFIG/ { line[$1] = $0 }
		END { for (name in line) print line[name] }' \
		"$vm_dir/debug.config" $more | sort >"$out.recipe/debug.config"
}

build() {
	say "building the $variant kernel in $out (log: $out.log)"
	rm -rf "$out"
	mkdir -p "$out"
	recipe
	in_root "$root" --bind "$out:/mnt/k" --bind "$out.recipe:/mnt/vm:ro" -- \
		sh /mnt/vm/kernel-debug-inside.sh >"$out.log" 2>&1 ||
		{ tail -30 "$out.log" >&2; die "$variant kernel: $out.log"; }
	touch "$out.ok"
}

if [ ! -e "$out.ok" ]; then
	exec 9>"$cache/.lock-kernel-debug"
	flock 9
	[ -e "$out.ok" ] || build
fi
echo "$out"
