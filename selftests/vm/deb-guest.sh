#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# deb-guest.sh - right after "apt install" of the packages in deb/trixie a program
# under smc_run moves its bytes by SMC: in a guest whose root is the one they were
# installed in, by DKMS and all, as a user without rights
#
# Ends in "N passed, N failed".
set -eu
. "$(dirname "$0")/lib.sh"

lab=$(sh "$vm_dir/root.sh" "$lab_suite")
boot=$(sh "$vm_dir/boot.sh" 6.12)
clean=$(sh "$vm_dir/package-root.sh" clean "$lab_suite")
kernel=$(basename "$(echo "$lab"/lib/modules/*)")
log=$cache/package-guest.log
[ -e "$tree/deb/$lab_suite/lintian" ] || sh "$vm_dir/deb.sh" "$lab_suite" >&2
work=$cache/package-guest
apt=$cache/package-guest-archives
rm -rf "$work"
mkdir -p "$work/upper/etc" "$work/upper/lab" "$work/upper/results" \
	"$work/work" "$work/merged" "$apt/partial" \
	"$work/lab/selftests/vm/guest" "$work/results"
trap 'rm -rf "$work"' EXIT
cp /etc/resolv.conf "$work/upper/etc/"

say "a guest with the packages: $log"
# shellcheck disable=SC2016
OVER=$work in_root "$clean" --bind "$tree/deb/$lab_suite:/mnt/deb:ro" \
	--bind "$apt:/var/cache/apt/archives" -- sh -euc '
	export DEBIAN_FRONTEND=noninteractive INITRD=No
	apt-get update
	apt-get -y install --no-install-recommends busybox-static iproute2 \
		"linux-image-$0" </dev/null
	apt-get -y install --no-install-recommends "linux-headers-$0" \
		/mnt/deb/smc-dkms_*.deb /mnt/deb/smc-tools_*.deb </dev/null
	' "$kernel" >"$log" 2>&1 || die "apt: $log"

# what takes the place of the laboratory's setup
cat >"$work/lab/selftests/vm/guest/setup" <<'END'
#!/bin/sh
exec >/results/out 2>&1
ip link set lo up
mount -t tmpfs -o mode=1777 tmpfs /tmp
cat >/tmp/talk.pl <<'PL'
use IO::Socket::INET;
my $l = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1:7000") or die;
if (!fork) {
	my $c = IO::Socket::INET->new("127.0.0.1:7000") or die;
	print $c "x" x 1000000;
	shutdown $c, 1;
	<$c>;
	exit 0;
}
my $s = $l->accept or die;
my ($n, $b) = 0;
$n += length $b while read $s, $b, 65536;
print "$n bytes\n";
system "smcss";
close $s;
wait;
PL
chmod 644 /tmp/talk.pl
grep -q '^smc ' /proc/modules && echo "FAIL smc is loaded too early"
setpriv --reuid 1000 --regid 1000 --clear-groups \
	smc_run perl /tmp/talk.pl >/tmp/said 2>&1
cat /tmp/said
grep -qx '1000000 bytes' /tmp/said && echo "ok bytes arrive" ||
	echo "FAIL bytes"
grep -q 'SMCD' /tmp/said && echo "ok by SMC-D" || echo "FAIL not by SMC-D"
[ "$(modinfo -F version smc)" = "$(cat /sys/module/smc/version)" ] &&
	echo "ok by this module" || echo "FAIL another module"
grep -E 'SmcdTxBytes|HsClientSmcd' /proc/net/smc_stat
sync
busybox poweroff -f
END
chmod +x "$work/lab/selftests/vm/guest/setup"

share() {
	echo "-virtfs local,path=/mnt/$1,mount_tag=$1,security_model=none,multidevs=remap"
}
# shellcheck disable=SC2046,SC2016
BOOT=$boot LAB=$lab WORK=$work LOWER=$clean DIR=$vm_dir \
unshare --mount sh -euc '
	mount --make-rprivate /
	mount -t overlay -o \
		"lowerdir=$LOWER,upperdir=$WORK/upper,workdir=$WORK/work" \
		overlay "$WORK/merged"
	ROOT=$LAB BINDS="$WORK/merged:/mnt/root $WORK/lab:/mnt/lab \
		$WORK/results:/mnt/results $BOOT:/mnt/boot:ro" \
	exec unshare --mount --pid --fork --kill-child \
		sh "$DIR/in-root.sh" "$@"
	' sh timeout 300 qemu-system-x86_64 -nodefaults -no-user-config \
	-display none -no-reboot -M q35 -m 1024 -accel tcg,thread=multi \
	-cpu max,erms=off,fsrm=off,fsrs=off,fzrm=off \
	-kernel /mnt/boot/vmlinuz -initrd /mnt/boot/initrd \
	-append "console=ttyS0 loglevel=4 panic=-1 lab.name=A" \
	-serial file:/mnt/results/console -device virtio-rng-pci \
	$(share root) $(share lab) $(share results) >>"$log" 2>&1 || :
cat "$work/results/console" "$work/results/out" >>"$log" || :
grep -a -e '^FAIL' -e '^ok ' "$work/results/out" || :
passed=$(grep -ac '^ok ' "$work/results/out" || :)
failed=$(grep -ac '^FAIL' "$work/results/out" || :)
[ "$passed" = 3 ] || failed=$((failed + 1))
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
