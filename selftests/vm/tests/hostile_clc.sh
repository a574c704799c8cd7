# SPDX-License-Identifier: GPL-2.0
# Hostile lengths, offsets and counts in CLC messages: refused and counted or
# plain TCP, never anything else, and a good connection works all the while.
# status: unproven
# guests: 1
# timeout: 420
# rdma: none
s=/lab/selftests/smc
g A "$s/hostile_clc.sh ${HOSTILE_N:-150}"
