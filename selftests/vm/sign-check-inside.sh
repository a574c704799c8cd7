#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# sign-check-inside.sh - the part of sign-check.sh that runs in the root; the
# modules are in /mnt/out, where the guest's console is written, too
set -eu
export DEBIAN_FRONTEND=noninteractive

apt-get update
apt-get -y install --no-install-recommends ovmf python3-virt-firmware </dev/null
kernel=$(basename /lib/modules/*)
sign=/lib/modules/$kernel/build/scripts/sign-file
cd /tmp

# key NAME SUBJECT: as DKMS makes its own
key() {
	openssl req -new -x509 -nodes -days 36500 -subj "/CN=$2" \
		-newkey rsa:2048 -keyout "$1.key" \
		-addext extendedKeyUsage=codeSigning -outform DER -out "$1.pub"
}
key mok 'DKMS module signing key'
key other 'another key'
openssl x509 -inform DER -in mok.pub -out mok.pem

mkdir -p fs/bin fs/m
cp /bin/busybox fs/bin/
core=$(modinfo -k "$kernel" -n ib_core)
case $core in
*.xz) xz -dc "$core" >fs/m/ib_core.ko ;;
*) cp "$core" fs/m/ ;;
esac
cp /mnt/out/smc.ko fs/m/unsigned.ko
cp /mnt/out/smc.ko fs/m/foreign.ko
cp /mnt/out/smc.ko /mnt/out/smc_diag.ko fs/m/
$sign sha256 other.key other.pub fs/m/foreign.ko
for m in smc smc_diag; do
	$sign sha256 mok.key mok.pub fs/m/$m.ko
done
cat >fs/init <<'END'
#!/bin/busybox sh
b=/bin/busybox
$b mkdir -p /proc /sys
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
[ "$($b cat /sys/module/module/parameters/sig_enforce)" = Y ] ||
	echo "FAIL signatures are not enforced"
$b insmod /m/ib_core.ko || echo "FAIL ib_core"
for m in unsigned foreign; do
	$b insmod /m/$m.ko && echo "FAIL $m loads" || echo "ok $m is refused"
done
for m in smc smc_diag; do
	$b insmod /m/$m.ko && echo "ok signed $m loads" || echo "FAIL signed $m"
done
$b poweroff -f
END
chmod +x fs/init
(cd fs && find . | cpio -o -H newc --quiet) | gzip -1 >initrd

virt-fw-vars -i /usr/share/OVMF/OVMF_VARS_4M.fd -o vars.fd \
	--add-db 605dab50-e046-4300-abb6-3dd810dd8b23 mok.pem
timeout 300 qemu-system-x86_64 -nodefaults -no-user-config -display none \
	-no-reboot -M q35 -m 1024 -accel tcg,thread=multi -cpu max \
	-drive if=pflash,format=raw,readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.fd \
	-drive if=pflash,format=raw,file=vars.fd \
	-kernel "/boot/vmlinuz-$kernel" -initrd initrd \
	-append "console=ttyS0 loglevel=4 module.sig_enforce=1 panic=-1 \
		no_timer_check" \
	-serial file:/mnt/out/console
