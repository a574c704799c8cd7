#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# demo.sh - "make demo": two virtual machines with soft-RoCE, Redis and iperf3
# unmodified, first over TCP, then through smc_run, and a table of what moved
# how.  Builds what is missing; demo-inner.sh is the part between the guests.
#   K=debug  on the debug kernel
set -eu
. "$(dirname "$0")/lib.sh"

k=${K:-6.12}
run=$(new_run)
echo "Building the module and its tools for kernel $k ..."
stage_tree "$k" "$run" 1
echo "Booting two virtual machines (logs in $run) ..."
export LAB_K="$k"
lab_up "$k" "$run" 2 -- sh -eu -c '. "$0"; . "$1"' \
	"$vm_dir/test-lib.sh" "$vm_dir/demo-inner.sh"
