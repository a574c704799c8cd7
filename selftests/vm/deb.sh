#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# deb.sh [SUITE...] - build the Debian packages, each in a clean root
#
# Without arguments for bookworm, trixie and forky.  The packages, and what
# lintian has to say, come to deb/SUITE in the tree; its warnings are errors.  The
# version is that of debian/changelog with the suite's number, so that they are
# newer on the next Debian.
set -eu
. "$(dirname "$0")/lib.sh"
[ $# -gt 0 ] || set -- bookworm trixie forky

version=$(sed -n 's/^smc-version := //p' "$tree/Kbuild")
changed=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$tree/debian/changelog")
[ "${changed%%-*}" = "$version" ] ||
	die "debian/changelog is of $changed, Kbuild of $version"

for suite; do
	case $suite in
	bookworm) number=12 ;;
	trixie) number=13 ;;
	forky) number=14 ;;
	*) die "unknown suite $suite" ;;
	esac
	root=$(sh "$vm_dir/package-root.sh" build "$suite")
	out=$tree/deb/$suite
	rm -rf "$out"
	mkdir -p "$out"
	(cd "$tree" && git ls-files -co --exclude-standard) |
		grep -v -e '^selftests/' -e '^\.' | while read -r f; do
			[ ! -f "$tree/$f" ] || echo "$f"
		done >"$out/files"
	say "building packages for $suite"
	# shellcheck disable=SC2016
	in_root "$root" --bind "$tree:/mnt/src:ro" --bind "$out:/mnt/out" -- \
		sh -euc '
		mkdir -p /tmp/build/smc
		tar -C /mnt/src -cf - -T /mnt/out/files | tar -C /tmp/build/smc -xf -
		cd /tmp/build/smc
		sed -i "1s/(\(.*\))/(\1+deb$0)/" debian/changelog
		dpkg-buildpackage -b -us -uc
		cp ../*.deb ../*.changes ../*.buildinfo /mnt/out/
		lintian --allow-root --fail-on error,warning \
			/mnt/out/*.changes >/mnt/out/lintian 2>&1 ||
			{ cat /mnt/out/lintian; exit 1; }
		' "$number" >"$out/log" 2>&1 ||
		{ tail -40 "$out/log" >&2; die "$suite: see $out/log"; }
	rm "$out/files"
	ls "$out"/*.deb
done
