# SPDX-License-Identifier: GPL-2.0
# Calls at the moment when a handshake ends see the socket before or after, on
# SMC-D, SMC-R and fallback, and what becomes TCP's keeps nothing of ours:
# selftests/smc/sockbusy.c and sockplain.c.  The module pauses widens a moment for
# the latter.
# when: 1/2 6.12; 6/8 debug
# guests: 1
# timeout: 450
# rdma: lo
. "$(dirname "$0")/modes.sh"
# each of four variants has 9 * BUSY_ROUNDS connections accepted, and others
rounds=$(repeats 60)
in_modes sockbusy -w ">$((36 * rounds - 1))" sockbusy
case $LAB_K in
6.12 | debug | kcsan) g A 'insmod /lab/pauses.ko' || fail "pauses" ;;
esac
in_modes sockplain -w '>50' sockplain
g A '! grep -q "^pauses " /proc/modules || rmmod pauses' || fail "pauses"
in_modes_end
