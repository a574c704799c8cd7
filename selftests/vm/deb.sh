#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# deb.sh [-c] [SUITE...] - build the Debian packages, each in a clean root
#
# Without arguments for bookworm, trixie and forky.  The packages, and what
# lintian has to say, come to deb/SUITE in the tree; its warnings are errors.  The
# version is that of debian/changelog with the suite's number, so that they are
# newer on the next Debian.  -c: only those that are not made of these sources yet,
# which the file "made-of" in deb/SUITE, written last, says.
set -eu
. "$(dirname "$0")/lib.sh"
changed_only=
[ "${1:-}" != -c ] || { changed_only=1; shift; }
[ $# -gt 0 ] || set -- bookworm trixie forky

alone package-deb
version=$(sed -n 's/^smc-version := //p' "$tree/Kbuild")
changed=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$tree/debian/changelog")
[ "${changed%%-*}" = "$version" ] ||
	die "debian/changelog is of $changed, Kbuild of $version"

# sources: the files that packages are made of
sources() {
	(cd "$tree" && git ls-files -co --exclude-standard) |
		grep -v -e '^selftests/' -e '^\.' | while read -r f; do
			[ ! -f "$tree/$f" ] || echo "$f"
		done
}

# made_of: what the packages of $suite are made of, in one word
made_of() {
	{
		cat "$vm_dir/deb.sh"
		echo "$root"
		sources | tar -C "$tree" --sort=name --mtime=@0 --owner=0 --group=0 \
			-cf - -T -
	} | sha256sum | cut -d' ' -f1
}

for suite; do
	case $suite in
	bookworm) number=12 ;;
	trixie) number=13 ;;
	forky) number=14 ;;
	*) die "unknown suite $suite" ;;
	esac
	root=$(sh "$vm_dir/package-root.sh" build "$suite")
	out=$tree/deb/$suite
	made=$(made_of)
	[ "$changed_only" != 1 ] ||
		[ "$made" != "$(cat "$out/made-of" 2>/dev/null)" ] || continue
	rm -rf "$out"
	mkdir -p "$out"
	sources >"$out/files"
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
	echo "$made" >"$out/made-of"
	ls "$out"/*.deb
done
