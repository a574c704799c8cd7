#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# boot.sh [K] - make (or find) what a guest with kernel K boots from; print
# its directory, which holds: vmlinuz, initrd, the root as a disk, the directory
# saved, for lab.py, and the links root and emulator (the root whose QEMU boots
# it).  Where the kernel's modules are not those of the root, they are the disk
# modules.
#
# The initramfs is ours: busybox, the modules that reach the root, the script
# guest/initramfs-init, and what runs in a guest before it has the tree.
set -eu
. "$(dirname "$0")/lib.sh"

k=${1:-6.12}
drivers="virtio_pci virtio_net virtio_console virtio_rng virtio_blk erofs 9pnet_virtio
	9p overlay"
files="setup agent.py kcsan.py netlink.py verdict.py"
root=$(sh "$vm_dir/root.sh" "$(suite_of "$k")")
emulator=$(sh "$vm_dir/root.sh" "$lab_suite")
kernel=
case $k in
debug | kcsan) kernel=$(sh "$vm_dir/kernel-debug.sh" "$k") ;;
esac
# shellcheck disable=SC2086
hash=$(cd "$vm_dir/guest" && hash_of ../boot.sh initramfs-init $files -- \
	"$root" "$kernel" "$emulator")
boot=$cache/boot-$k-$hash

make_boot() {
	tmp=$boot.tmp
	rm -rf "$tmp"
	mkdir -p "$tmp/fs/bin" "$tmp/fs/modules" "$tmp/fs/lab" "$tmp/saved"
	ln -s "$root" "$tmp/root"
	ln "$root.disk" "$tmp/disk"
	ln -s "$emulator" "$tmp/emulator"
	cp "$root/bin/busybox" "$tmp/fs/bin/"
	cp "$vm_dir/guest/initramfs-init" "$tmp/fs/init"
	chmod 755 "$tmp/fs/init"
	# shellcheck disable=SC2086
	(cd "$vm_dir/guest" && cp $files "$tmp/fs/lab/")
	if [ -n "$kernel" ]; then
		cp "$kernel/arch/x86/boot/bzImage" "$tmp/vmlinuz"
		disk_of "$kernel/installed/lib/modules" "$tmp/modules"
		: >"$tmp/fs/modules/order"
	else
		cp "$(echo "$root"/boot/vmlinuz-*)" "$tmp/vmlinuz"
		collect_modules
	fi
	(cd "$tmp/fs" && find . | cpio -o -H newc --quiet) |
		gzip -1 >"$tmp/initrd"
	rm -rf "$tmp/fs" "$boot"
	mv "$tmp" "$boot"
	# states of guests are large
	find "$cache" -maxdepth 1 -name "boot-$k-*" -mtime +2 -exec rm -rf {} +
}

# each driver after what it needs, unpacked, in the file "order"
collect_modules() {
	version=$(basename "$(echo "$root"/lib/modules/*)")
	for d in $drivers; do
		chroot "$root" modprobe -S "$version" --show-depends "$d"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
	while read -r ko; do
		name=$(basename "$ko" .xz)
		case $ko in
		*.xz) xz -dc "$root$ko" >"$tmp/fs/modules/$name" ;;
		*) cp "$root$ko" "$tmp/fs/modules/$name" ;;
		esac
		echo "$name"
	done >"$tmp/fs/modules/order"
}

# kernels of one suite share the disk of its root
exec 9>"$cache/.lock-boot-$(suite_of "$k")"
flock 9
# a root that was made anew has a disk and a kernel that are new, too
[ "$root.disk" -nt "$root.ok" ] || disk_of "$root" "$root.disk"
[ "$boot/disk" -ef "$root.disk" ] || make_boot
touch "$boot"
echo "$boot"
