# SPDX-License-Identifier: GPL-2.0
# Every allocation that a call makes below the module fails in turn: the call
# works or says so, and what comes after it works: selftests/smc/failnth.c.
# when: 4/8 debug
# guests: 1
# kernels: debug
# timeout: 90
# rdma: none
g A /lab/selftests/smc/failnth calls
