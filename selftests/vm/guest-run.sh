#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest-run.sh - the part of guest.sh that runs while the guests live.
set -eu

if [ -z "$LAB_RAW" ]; then
	for x in $LAB_GUESTS; do
		g "$x" module.sh rdma rxe
		g "$x" 'test ! -e /lab/smc.ko || module.sh load ours'
	done
fi
if [ -n "$LAB_SCRIPT" ]; then
	exec sh "$LAB_SCRIPT"
elif [ -n "$LAB_CMD" ]; then
	exec g A "$LAB_CMD"
else
	echo "guest A; the tree is /lab; 'b CMD' runs CMD in B, 'b -t bash' is a prompt there; exit ends"
	exec g -t A 'PS1="A:\w# " bash --norc -i'
fi
