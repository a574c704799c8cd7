#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# gcov.sh - copy to /results what gcov has counted since the boot, also in
# modules that are gone by now: tools/dev/coverage.sh says of what.
set -eu
from=/sys/kernel/debug/gcov/mnt/out
read -r boot </proc/sys/kernel/random/boot_id
mkdir -p "/results/gcov/$boot"
cp -rT "$from" "/results/gcov/$boot"
