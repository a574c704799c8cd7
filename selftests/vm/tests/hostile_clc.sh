# SPDX-License-Identifier: GPL-2.0
# Hostile lengths, offsets and counts in CLC messages: refused and counted or
# plain TCP, never anything else, and good connections work all the while; 20,000
# handshakes with LONG=1.
# when: 3/4 6.12; 1/4 debug
# guests: 1
# timeout: 420
# cpus: 2
# rdma: none
s=/lab/selftests/smc
# a mutated Accept may cost a deadline of a second
case $LAB_K in debug | kcsan) n=30 ;; *) n=60 ;; esac
streams=2
# each tenth of those to our server is honest
[ -z "${LONG:-}" ] || n=10600 streams=50
g A "$s/hostile_clc.sh ${HOSTILE_N:-$n} $streams"
