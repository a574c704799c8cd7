#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# begin.sh TEST MODULE RDMA - before a test, in each guest: the module and the
# RDMA port it asks for, and the numbers verdict.sh compares with.
set -eu

leak=/sys/kernel/debug/kmemleak

/lab/selftests/vm/guest/module.sh rdma "$3"
/lab/selftests/vm/guest/module.sh load none
/lab/selftests/vm/guest/rdma-left.sh >/run/lab/rdma-before
ls /sys/class/net >/run/lab/links-before
# what the kernel and rxe leak by themselves is not the module's
if [ -e $leak ]; then echo clear >$leak; fi
echo "lab: begin $1" >/dev/kmsg
/lab/selftests/vm/guest/module.sh load "$2"
