#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# rdma-left.sh - what is in use on the RDMA devices.  A pooled completion
# queue belongs to ib_core and stays with the device: it counts only while
# somebody uses it.  A device made anew has another index, the same name.
rdma resource show 2>/dev/null | sed 's/^[0-9]*: //; s/ cq [0-9]*//'
rdma resource show cq 2>/dev/null | grep -v ' users 0 '
exit 0
