#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest.sh [-n 1|2] [-k K] [-m MTU] [-o OPTION...] [-c CMD | -x SCRIPT] -
# build, boot one or two guests and run CMD in guest A ("b CMD" there runs CMD
# in B), or SCRIPT on the host ("g A CMD", "g B CMD"), or give a prompt in A.
#   -o OPTION   passed to lab.py, e.g. -o --icount=sleep=off -o --accel=kvm
#   -s          skip the build: use what is there
#   -r          raw: no module loaded, no soft-RoCE
# Exit code: that of CMD.  The console logs stay in the directory it names.
set -eu
. "$(dirname "$0")/lib.sh"

n=1 k=6.12 mtu=1500 cmd='' script='' opts='' build=1 raw=''
while getopts n:k:m:o:c:x:sr o; do
	case $o in
	n) n=$OPTARG ;;
	k) k=$OPTARG ;;
	m) mtu=$OPTARG ;;
	o) opts="$opts $OPTARG" ;;
	c) cmd=$OPTARG ;;
	x) script=$OPTARG ;;
	s) build= ;;
	r) raw=1 ;;
	*) exit 2 ;;
	esac
done

run=$(new_run)
stage_tree "$k" "$run" "$build"
export LAB_RAW="$raw" LAB_CMD="$cmd" LAB_SCRIPT="$script"
# shellcheck disable=SC2086
lab_up "$k" "$run" "$n" --mtu "$mtu" $opts -- sh "$vm_dir/guest-run.sh"
