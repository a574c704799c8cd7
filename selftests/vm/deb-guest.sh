#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# deb-guest.sh [SUITE...] - right after "apt install" of the packages in deb/SUITE
# a program under smc_run moves its bytes by SMC, and so does one of Go in the
# group of smc_run --cgroup and after smc_run --all, as users without rights: in a
# guest with the suite's kernel, whose root is the one they were installed in, by
# DKMS and all (packaged/setup)
#
# Ends in "N passed, N failed".
set -eu
. "$(dirname "$0")/lib.sh"
[ $# -gt 0 ] || set -- bookworm trixie forky

# go: the program of Go, static, in $work/upper/lab
go() {
	root=$(sh "$vm_dir/package-root.sh" build "$lab_suite")
	# shellcheck disable=SC2016
	OUT=$work/upper/lab over "$root" package-go sh -euc '
		apt-get update
		apt-get -y install --no-install-recommends golang-go </dev/null
		CGO_ENABLED=0 go build -o /mnt/out/talk \
			/mnt/src/selftests/vm/packaged/talk.go
		' >>"$log" 2>&1 || die "go: $log"
}

# apt SUITE KERNEL: what a user does, in $work/upper
apt() {
	# shellcheck disable=SC2016
	OVER=$work in_root "$clean" --bind "$tree/deb/$1:/mnt/deb:ro" \
		--bind "$archives:/var/cache/apt/archives" -- sh -euc '
		export DEBIAN_FRONTEND=noninteractive INITRD=No
		apt-get update
		apt-get -y install --no-install-recommends busybox-static \
			iproute2 "linux-image-$0" </dev/null
		apt-get -y install --no-install-recommends "linux-headers-$0" \
			/mnt/deb/smc-dkms_*.deb /mnt/deb/smc-tools_*.deb </dev/null
		' "$2" >>"$log" 2>&1 || die "apt: $log"
}

disk() {
	echo "-drive if=none,id=$1,format=raw,readonly=on,file=/mnt/disks/$1" \
		"-device virtio-blk-pci,drive=$1"
}

# guest BOOT: ends when packaged/setup has powered it off
guest() {
	# shellcheck disable=SC2046,SC2016
	BOOT=$1 EMULATOR=$(readlink "$1/emulator") WORK=$work LOWER=$clean \
	unshare --mount sh -euc '
		. "$(dirname "$0")/lib.sh"
		mount --make-rprivate /
		mount -t overlay -o \
			"lowerdir=$LOWER,upperdir=$WORK/upper,workdir=$WORK/work" \
			overlay "$WORK/merged"
		mkdir "$WORK/disks"
		disk_of "$WORK/merged" "$WORK/disks/root"
		ROOT=$EMULATOR BINDS="$WORK/disks:/mnt/disks:ro \
			$WORK/results:/mnt/results $BOOT:/mnt/boot:ro" \
		exec unshare --mount --pid --fork --kill-child \
			sh "$vm_dir/in-root.sh" "$@"
		' "$0" timeout 300 qemu-system-x86_64 -nodefaults -no-user-config \
		-display none -no-reboot -M q35 -m 1024 -accel tcg,thread=multi \
		-cpu max,erms=off,fsrm=off,fsrs=off,fzrm=off \
		-kernel /mnt/boot/vmlinuz -initrd /mnt/boot/initrd \
		-append "console=ttyS0 loglevel=4 panic=-1 no_timer_check lab.name=A" \
		-serial file:/mnt/results/console -device virtio-rng-pci \
		$(disk root) -virtfs \
		"local,path=/mnt/results,mount_tag=results,security_model=none" \
		>>"$log" 2>&1 || :
	cat "$work/results/console" "$work/results/out" >>"$log" || :
}

alone package-guest
work=$cache/package-guest
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
for suite; do
	sh "$vm_dir/deb.sh" -c "$suite" >&2
	case $suite in
	bookworm) k=6.1 steps=4 ;;
	forky) k=7.2 steps=18 ;;
	*) k=6.12 steps=18 ;;
	esac
	boot=$(sh "$vm_dir/boot.sh" $k)
	kernel=$(basename "$(echo "$(readlink "$boot/root")"/lib/modules/*)")
	clean=$(sh "$vm_dir/package-root.sh" clean "$suite")
	archives=$cache/package-guest-$suite-archives
	log=$cache/package-guest-$suite.log
	rm -rf "$work"
	mkdir -p "$work/upper/etc" "$work/upper/lab" "$work/upper/results" \
		"$work/work" "$work/merged" "$archives/partial" "$work/results" \
		"$work/upper/usr/local/lib/lab"
	cp /etc/resolv.conf "$work/upper/etc/"
	cp "$vm_dir/packaged/setup" "$work/upper/usr/local/lib/lab/"
	cp "$vm_dir/packaged/talk.pl" "$work/upper/lab/"
	say "a guest with the packages of $suite: $log"
	: >"$log"
	[ $k = 6.1 ] || go
	apt "$suite" "$kernel"
	guest "$boot"
	grep -a -e '^FAIL' -e '^ok ' "$work/results/out" | sed "s/^/$suite: /"
	n=$(grep -ac '^ok ' "$work/results/out") || :
	passed=$((passed + n))
	[ "$n" = $steps ] || failed=$((failed + 1))
	n=$(grep -ac '^FAIL' "$work/results/out") || :
	failed=$((failed + n))
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
