#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# package-root.sh clean|build SUITE - make (or find in the cache) a Debian root
# for packages and print its path.
#
# "clean" is the smallest root with apt: packages are installed there.  "build"
# has what debian/control needs to build, and lintian.  Neither is written to
# after it is made: package.sh works in an overlay.
# SMC_LAB_REFRESH=1 makes it anew.
set -eu
. "$(dirname "$0")/lib.sh"

kind=$1 suite=$2
pkgs=
case $kind in
clean) ;;
build)
	pkgs=$(awk '/^Build-Depends/ { on = 1; sub(/^[^:]*:/, "") }
		/^[A-Z]/ { on = 0 }
		on { gsub(/\([^)]*\)|<[^>]*>/, ""); gsub(/[ \t]/, ""); printf "%s", $0 }' \
		"$tree/debian/control")
	pkgs="build-essential,lintian,$pkgs" ;;
*) die "clean or build" ;;
esac
pkgs=$(echo "$pkgs" | sed 's/,,*/,/g; s/^,//; s/,$//')
hash=$(hash_of "$vm_dir/package-root.sh" -- "$suite" "$pkgs")
root=$cache/package-$kind-$suite-$hash

make_root() {
	[ "$(id -u)" = 0 ] || die "making a root needs root"
	sh "$vm_dir/host-setup.sh" >&2
	say "making the $suite root in $root"
	tmp=$root.tmp
	rm -rf "$tmp"
	mmdebstrap --mode=root --variant=apt ${pkgs:+--include="$pkgs"} \
		--aptopt='Acquire::Retries "3"' \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--aptopt='APT::Install-Recommends "false"' \
		--skip=cleanup/apt/lists \
		--customize-hook='rm -f "$1/etc/resolv.conf"' \
		"$suite" "$tmp" >"$root.log" 2>&1 ||
		{ tail -20 "$root.log" >&2; die "mmdebstrap failed: $root.log"; }
	rm -rf "$root"
	mv "$tmp" "$root"
	touch "$root.ok"
}

if [ ! -e "$root.ok" ] || [ -n "${SMC_LAB_REFRESH:-}" ]; then
	exec 9>"$cache/.lock-package-$kind-$suite"
	flock 9
	[ -e "$root.ok" ] && [ -z "${SMC_LAB_REFRESH:-}" ] || make_root
fi
echo "$root"
