# SPDX-License-Identifier: GPL-2.0
# A waiter is told when its connection is taken away, and no call waits for an
# event that does not come, on SMC-D, SMC-R and fallback: sockwait.c.
# when: 1/4 6.12; 5/16 debug
# guests: 1
# cpus: 2
# timeout: 300
# rdma: lo
. "$(dirname "$0")/modes.sh"
# Two cases of each of four variants connect one socket repeats(240) + 1 times.
# One that has become TCP's counts once: there another case has repeats(600).
rounds=$(repeats 240)
in_modes sockwait -w ">$((8 * rounds))" sockwait
in_modes_end
