# SPDX-License-Identifier: GPL-2.0
# The option removed by a router: selftests/smc/fallback_strip.sh says what is tried.
# when: 1/2 6.12; 4/4 debug; long kcsan, many time limits to wait for
# guests: 1
# timeout: 300
# rdma: none
# shows: fallback
# which side speaks first does not matter to the checks of the debug kernel
case $LAB_K in debug | kcsan) quick=1 ;; *) quick= ;; esac
g A "QUICK=$quick SLACK=4000 /lab/selftests/smc/fallback_strip.sh"
