# SPDX-License-Identifier: GPL-2.0
# Hostile lengths, offsets and counts in CLC messages: refused and counted or
# plain TCP, never anything else, and a good connection works all the while.
# guests: 1
# timeout: 420
# rdma: none
s=/lab/selftests/smc
# a mutated Accept may cost a deadline of a second
case $LAB_K in debug | kcsan) n=30 ;; *) n=60 ;; esac
[ -z "${LONG:-}" ] || n=500
g A "$s/hostile_clc.sh ${HOSTILE_N:-$n}"
