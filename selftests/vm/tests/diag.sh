# SPDX-License-Identifier: GPL-2.0
# sock_diag: selftests/smc/diag.py says what is tried.
# guests: 1
# timeout: 240
# rdma: none
g A /lab/selftests/smc/diag.py
