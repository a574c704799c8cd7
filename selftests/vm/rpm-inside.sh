#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# rpm-inside.sh - the part of rpm.sh that runs in the root, whose tree is
# /mnt/src.  Says "ok WHAT" or "FAIL WHAT" for each step.
set -u
version=$(sed -n 's/^smc-version := //p' /mnt/src/Kbuild)
next=$version.1
export DEBIAN_FRONTEND=noninteractive INITRD=No

# check WHAT COMMAND...
check() {
	what=$1
	shift
	if "$@"; then echo "ok $what"; else echo "FAIL $what"; fi
}

# apt ARGUMENT...: what fails here leaves nothing to look at
apt() { apt-get -y -o APT::Keep-Downloaded-Packages=true "$@" </dev/null || exit 1; }

# kernel install|purge VERSION
kernel() { apt "$1" --no-install-recommends "linux-image-$2" "linux-headers-$2"; }

top=/tmp/rpmbuild

# build VERSION RELEASE: packages, named in /tmp/VERSION-RELEASE
build() {
	src=/tmp/smc-$1
	mkdir -p $top/SOURCES "$src"
	tar -C /mnt/src -cf - Kbuild Makefile README COPYING Documentation \
		include net tools | tar -C "$src" -xf -
	sed -i "s/^smc-version := .*/smc-version := $1/" "$src/Kbuild"
	sed -i "s/^\(Release:.*\)1/\1$2/" "$src/tools/packaging/smc.spec"
	make -s -C "$src/tools" clean
	tar -C /tmp -czf "$top/SOURCES/smc-$1.tar.gz" "smc-$1"
	rpmbuild -bb --nodeps --define "_topdir $top" \
		--define "smc_version $1" "$src/tools/packaging/smc.spec" ||
		exit 1
	find $top/RPMS -name "smc-*-$1-$2.*.rpm" >"/tmp/$1-$2"
	rm -r "$src"
}

# packages OPTION VERSION RELEASE
packages() { xargs rpm --nodeps "$1" <"/tmp/$2-$3"; }

# built VERSION KERNEL: DKMS has, and it is what loads there
built() {
	check "$2: DKMS has built $1" \
		sh -c 'dkms status smc -k "$1" | grep "^smc/$0, .*: installed"' \
		"$1" "$2"
	for m in smc smc_diag; do
		check "$2: $m $1 is what loads" \
			[ "$(modinfo -k "$2" -F version $m)" = "$1" ]
	done
	check "$2: without a warning" sh -c '! grep -i -e warning -e error "$0"' \
		"/var/lib/dkms/smc/$1/$2/x86_64/log/make.log"
}

list() {
	find /etc /lib /usr /var/lib/dkms ! -type d ! -path '*/mok.*' \
		! -path '*/rpm/*' ! -name 'modules.*' ! -name '*.pyc' | sort
}

apt update
sh /mnt/src/selftests/vm/deb-kernels.sh >/tmp/kernels || exit 1
old=$(head -n 1 /tmp/kernels)
new=$(tail -n 1 /tmp/kernels)
echo "== kernels $old and $new"
apt install --no-install-recommends rpm dkms openssl
kernel install "$old"
kernel install "$new"
build "$version" 1
xargs -I{} cp {} /mnt/out/ <"/tmp/$version-1"
build "$version" 2
build "$next" 1

list >/tmp/before
kernel purge "$new"
check 'installs' packages -i "$version" 1
built "$version" "$old"
check 'the override is for extra/' grep -qx 'override smc \* extra' \
	/usr/lib/depmod.d/smc.conf
check 'smc_run' [ "$(smc_run -v)" = "smc_run $version" ]
check 'smc_run finds its library' test -e \
	"$(sed -n "s/^sr_libdir='\(.*\)'/\1/p" /usr/bin/smc_run)/libsmc-preload.so"
check 'smc_run finds what loads BPF programs' test -x \
	"$(sed -n "s/^sr_libexecdir='\(.*\)'/\1/p" /usr/bin/smc_run)/smc_activate"
named=$(rpm -ql smc-tools | grep 'examples/redis.*\.conf$' |
	xargs grep -oh '/usr[^ ]*\.so' | sort -u)
check 'the drop-in names the library' test -e "$named"
check 'smcss' [ "$(smcss -v)" = "smcss $version" ]

kernel install "$new"
built "$version" "$new"
built "$version" "$old"
kernel purge "$old"
check "$old leaves nothing in DKMS" test ! -e "/var/lib/dkms/smc/$version/$old"
kernel install "$old"
built "$version" "$old"

# other sources of a similar name are not a version of this
mkdir /usr/src/smc-notes
check 'a higher release' packages -U "$version" 2
built "$version" "$old"
built "$version" "$new"
check 'a higher version' packages -U "$next" 1
check 'no source of the older version' test ! -e "/usr/src/smc-$version"
check 'nothing of it in DKMS' test ! -e "/var/lib/dkms/smc/$version"
built "$next" "$old"
built "$next" "$new"
check 'smc_run of that' [ "$(smc_run -v)" = "smc_run $next" ]

rmdir /usr/src/smc-notes
check 'goes' rpm -e smc-dkms smc-tools
list >/tmp/after
check 'nothing is left' diff /tmp/before /tmp/after
