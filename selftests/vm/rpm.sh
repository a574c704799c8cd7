#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# rpm.sh - build the RPMs of tools/packaging/smc.spec with Debian's rpmbuild, and
# install, upgrade and remove them in a root with DKMS, where kernels come and go
#
# The packages come to rpm/ in the tree.  What they require has names that
# Debian's rpm knows nothing of (--nodeps); DKMS is Debian's, too, which puts
# modules in updates/dkms and not in extra/, and whose hooks of Debian's kernels call
# it.  Ends in "N passed, N failed".
set -eu
. "$(dirname "$0")/lib.sh"

alone package-rpm
root=$(sh "$vm_dir/package-root.sh" build "$lab_suite")
out=$tree/rpm
rm -rf "$out"
mkdir -p "$out"
log=$cache/package-rpm.log
say "building and installing RPMs: $log"
OUT=$out over "$root" package-rpm sh /mnt/src/selftests/vm/rpm-inside.sh \
	>"$log" 2>&1 || echo "FAIL ends with $?" >>"$log"
grep -a -e '^FAIL' -e '^ok ' "$log" || :
passed=$(grep -ac '^ok ' "$log" || :)
failed=$(grep -ac '^FAIL' "$log" || :)
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
