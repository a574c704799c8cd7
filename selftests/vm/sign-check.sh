#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# sign-check.sh - modules signed with a key of this host load in a guest with
# module.sig_enforce=1, those without or with another key do not
#
# The guest boots by UEFI firmware in whose list of keys (db) the key is, which is
# where Debian's kernel looks, beside the list of mokutil.  The key is made, and
# the modules are signed, as DKMS does it.  Firmware and the program that writes
# its variables are installed in an overlay of the laboratory's root.  Ends in
# "N passed, N failed".
set -eu
. "$(dirname "$0")/lib.sh"

alone package-sign
root=$(sh "$vm_dir/root.sh" "$lab_suite")
build=$(sh "$vm_dir/build.sh" 6.12 module)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cp "$build/.strip/smc.ko" "$build/.strip/smc_diag.ko" "$out/"
log=$cache/package-sign.log
say "signed modules in a guest: $log"
OUT=$out over "$root" package-sign sh /mnt/src/selftests/vm/sign-check-inside.sh \
	>"$log" 2>&1 || echo "FAIL ends with $?" >>"$log"
[ ! -e "$out/console" ] || cat "$out/console" >>"$log"
grep -a -e '^FAIL' -e '^ok ' "$log" | tr -d '\r' || :
passed=$(grep -ac '^ok ' "$log" || :)
failed=$(grep -ac '^FAIL' "$log" || :)
[ "$passed" = 4 ] || failed=$((failed + 1))
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
