# SPDX-License-Identifier: GPL-2.0
# listen, accept and Fast Open are TCP's on SMC-D, SMC-R and fallback:
# selftests/smc/socklisten.c.
# when: 3/4 6.12; 2/4 debug
# guests: 1
# timeout: 300
# rdma: lo
. "$(dirname "$0")/modes.sh"
# Each of four variants has 67 connections accepted, and connects 86 times at
# most: one that never is what the mode says is missed.
in_modes socklisten -m 'reference smcd smcr tcp declined' -w '>264' socklisten
in_modes_end
