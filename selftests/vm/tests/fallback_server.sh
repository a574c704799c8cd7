# SPDX-License-Identifier: GPL-2.0
# An odd client: selftests/smc/fallback_server.sh says what is tried.
# when: 3/4 6.12; long debug kcsan, takes minutes there
# guests: 1
# timeout: 300
# rdma: none
# shows: fallback
# which side speaks first does not matter to the checks of the debug kernel
case $LAB_K in debug | kcsan) quick=1 ;; *) quick= ;; esac
g A "QUICK=$quick SLACK=4000 /lab/selftests/smc/fallback_server.sh"
