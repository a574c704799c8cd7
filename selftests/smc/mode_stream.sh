#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# mode_stream.sh - bulk data whose SHA-256 is compared, and small messages, in
# one mode of sockmodes.sh
set -eu
cd "$(dirname "$0")"
case $SMC_MODE in
reference) kind=tcp ;;
*) kind=ipproto ;;
esac
./stream -b -k $kind -n 16 "$SMC_HOST" 0
./pingpong -b -k $kind -n 500 "$SMC_HOST" 0
