#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# own-lo.sh - build (or find in the cache) the kernel's own SMC with its shared
# memory on one host, which Debian's kernel is configured without, and print the
# directory of smc.ko and smc_diag.ko.
#
# Of the linux-source package, for the kernel of the root; only measured against.
set -eu
. "$(dirname "$0")/lib.sh"

root=$(sh "$vm_dir/root.sh" $lab_suite)
out=$cache/own-lo-$(hash_of "$vm_dir/own-lo.sh" -- "$root")

build() {
	say "building the kernel's own SMC in $out"
	rm -rf "$out"
	mkdir -p "$out"
	# shellcheck disable=SC2016
	in_root "$root" --bind "$out:/mnt/out" -- sh -euc '
		mkdir /tmp/src
		cd /tmp/src
		tar -xf /usr/src/linux-source-*.tar.xz --strip-components=1 \
			--wildcards "*/net/smc/*"
		make -s -j"$(nproc)" -C /lib/modules/*/build M=/tmp/src/net/smc \
			CONFIG_SMC_LO=y KCFLAGS=-DCONFIG_SMC_LO=1 modules
		for ko in smc smc_diag; do
			strip -g -o /mnt/out/$ko.ko net/smc/$ko.ko
		done' >"$out.log" 2>&1 ||
		{ tail -30 "$out.log" >&2; die "the kernel's own SMC: $out.log"; }
	touch "$out.ok"
}

exec 9>"$cache/.lock-own-lo"
flock 9
[ -e "$out.ok" ] || build
echo "$out"
