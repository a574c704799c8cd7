# SPDX-License-Identifier: GPL-2.0
# An odd server: selftests/smc/fallback_client.sh says what is tried.
# when: 2/2 6.12; long debug kcsan, not yet seen to pass there
# guests: 1
# timeout: 300
# rdma: none
# who speaks first has no part in what the debug kernel looks for
case $LAB_K in debug | kcsan) quick=1 ;; *) quick= ;; esac
g A "QUICK=$quick SLACK=4000 /lab/selftests/smc/fallback_client.sh"
