#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# deb-kernels.sh - two kernels of the suite of this root, by the name of their
# headers' packages: the newest one and, before it, the one that it replaced or, if
# there is none, its variant for real time
set -eu
newest=$(apt-cache depends linux-headers-amd64 |
	sed -n 's/.*Depends: linux-headers-\([0-9]\)/\1/p')
base=$(echo "$newest" | cut -d. -f1,2)
older=$(apt-cache pkgnames "linux-headers-$base." |
	sed -n 's/^linux-headers-//p' | grep 'amd64$' |
	grep -v -e cloud -e -rt- -e "^$newest\$" | sort -V | tail -n 1)
echo "${older:-${newest%-amd64}-rt-amd64}"
echo "$newest"
