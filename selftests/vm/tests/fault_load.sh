# SPDX-License-Identifier: GPL-2.0
# Allocations fail while the modules are loaded, with a port of soft-RoCE for
# them to find: selftests/smc/failnth.c. One in three; all with LONG=1.
# when: 8/8 debug
# guests: 1
# kernels: debug
# timeout: 90
# rdma: lo

every=3
[ -z "${LONG:-}" ] || every=1
g A "/lab/selftests/smc/failnth init $every /lab/smc.ko /lab/smc_diag.ko"
