#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# root.sh [SUITE] - make (or find in the cache) the Debian root of SUITE
# (trixie by default) and print its path.
#
# A root holds the kernel, its headers, compilers and every program the tests
# run; that of trixie also QEMU and the kernel's source.  It is never written to
# after it is made: guests mount it read-only under an overlay, builds write to
# bind mounts.  Its name is the hash of this recipe; SMC_LAB_REFRESH=1 makes it
# anew (newer packages, same recipe).
set -eu
. "$(dirname "$0")/lib.sh"

suite=${1:-trixie}
rest='/^# --- only/,$d'
[ "$suite" != trixie ] || rest=
pkgs=$(sed "$rest; s/#.*//" "$vm_dir/packages" | tr -s '\n ' ',,' |
	sed 's/^,//; s/,$//')
hash=$(hash_of "$vm_dir/root.sh" -- "$suite" "$pkgs")
root=$cache/root-$suite-$hash

# The kernel's kselftest harness, laid out as in the kernel tree so that
# lib.mk finds its neighbours; builds in other roots use that of trixie.
kselftest='chroot "$1" sh -c "mkdir -p /usr/src/kselftest &&
	[ ! -e /usr/src/linux-source-*.tar.xz ] ||
	tar -C /usr/src/kselftest --strip-components=1 --wildcards \
		-xf /usr/src/linux-source-*.tar.xz \
		\"*/tools/testing/selftests/kselftest*\" \
		\"*/tools/testing/selftests/lib.mk\" \
		\"*/tools/testing/selftests/net/lib.sh\" \
		\"*/scripts/subarch.include\""'

make_root() {
	[ "$(id -u)" = 0 ] || die "making a root needs root"
	sh "$vm_dir/host-setup.sh" >&2
	say "making the $suite root in $root (a few minutes)"
	tmp=$root.tmp
	rm -rf "$tmp"
	# A mirror that is a snapshot has an old date, and the signature of it.
	# Guests boot with an initramfs of ours: keep Debian's hooks from making
	# one.  Services never start in a chroot, nor in a guest (no init).
	INITRD=No mmdebstrap --mode=root --variant=apt \
		--include="$pkgs" \
		--aptopt='Acquire::Retries "3"' \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--setup-hook='mkdir -p "$1/etc/initramfs-tools/conf.d"' \
		--setup-hook='echo update_initramfs=no >"$1/etc/initramfs-tools/update-initramfs.conf"' \
		--dpkgopt=force-confold \
		--customize-hook='rm -f "$1"/boot/initrd* "$1"/etc/resolv.conf' \
		--customize-hook='echo lab >"$1/etc/hostname"' \
		--customize-hook='mkdir -p "$1/lab" "$1/results"' \
		--customize-hook="$kselftest" \
		"$suite" "$tmp" >"$root.log" 2>&1 ||
		{ tail -20 "$root.log" >&2; die "mmdebstrap failed: $root.log"; }
	rm -rf "$root"
	mv "$tmp" "$root"
	touch "$root.ok"
}

if [ ! -e "$root.ok" ] || [ -n "${SMC_LAB_REFRESH:-}" ]; then
	exec 9>"$cache/.lock-root-$suite"
	flock 9
	[ -e "$root.ok" ] && [ -z "${SMC_LAB_REFRESH:-}" ] || make_root
fi
echo "$root"
