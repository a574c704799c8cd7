#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# rpm-inside.sh - the part of rpm.sh that runs in the root, whose tree is
# /mnt/src.  Says "ok WHAT" or "FAIL WHAT" for each step.
set -u
version=$(sed -n 's/^smc-version := //p' /mnt/src/Kbuild)
export DEBIAN_FRONTEND=noninteractive INITRD=No

# check WHAT COMMAND...
check() {
	what=$1
	shift
	if "$@"; then echo "ok $what"; else echo "FAIL $what"; fi
}

apt-get update
apt-get -y install --no-install-recommends rpm dkms openssl \
	linux-headers-amd64 </dev/null || exit 1
kernel=$(basename /lib/modules/*)

top=/tmp/rpmbuild
mkdir -p $top/SOURCES /tmp/smc-$version
tar -C /mnt/src -cf - Kbuild Makefile README COPYING Documentation include net \
	tools | tar -C /tmp/smc-$version -xf -
make -s -C /tmp/smc-$version/tools clean
tar -C /tmp -czf $top/SOURCES/smc-$version.tar.gz smc-$version
rpmbuild -bb --nodeps --define "_topdir $top" \
	--define "smc_version $version" /mnt/src/tools/packaging/smc.spec ||
	exit 1
rpms=$(find $top/RPMS -name '*.rpm')
# shellcheck disable=SC2086
cp $rpms /mnt/out/

list() {
	find /etc /lib /usr /var/lib/dkms ! -type d ! -path '*/mok.*' \
		! -path '*/rpm/*' ! -name 'modules.*' ! -name '*.pyc' | sort
}

list >/tmp/before
# shellcheck disable=SC2086
check 'installs' rpm -i --nodeps $rpms
dkms status
check 'DKMS has built it' sh -c 'dkms status smc | grep ": installed"'
check 'it is what loads' \
	[ "$(modinfo -k "$kernel" -F version smc)" = "$version" ]
check 'without a warning' sh -c '! grep -i -e warning -e error "$0"' \
	"/var/lib/dkms/smc/$version/$kernel/x86_64/log/make.log"
check 'the override is for extra/' grep -qx 'override smc \* extra' \
	/usr/lib/depmod.d/smc.conf
check 'smc_run' [ "$(smc_run -v)" = "smc_run $version" ]
check 'smc_run finds its library' test -e \
	"$(sed -n "s/^libdir='\(.*\)'/\1/p" /usr/bin/smc_run)/libsmc-preload.so"
check 'smc_run finds what loads BPF programs' test -x \
	"$(sed -n "s/^libexecdir='\(.*\)'/\1/p" /usr/bin/smc_run)/smc_activate"
check 'smcss' [ "$(smcss -v)" = "smcss $version" ]
# shellcheck disable=SC2086
check 'the same once more' rpm -U --force --nodeps $rpms
check 'it is still there' \
	[ "$(modinfo -k "$kernel" -F version smc)" = "$version" ]
check 'goes' rpm -e smc-dkms smc-tools
list >/tmp/after
check 'nothing is left' diff /tmp/before /tmp/after
