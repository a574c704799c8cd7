# SPDX-License-Identifier: GPL-2.0
# A router between client and server translates the addresses of one or of both:
# the option passes, of the kernel and of the module: selftests/smc/synopt_nat.py.
# when: 1/4 6.12
# kernels: 6.1 6.12 7.2
# guests: 1
# rdma: none
option=/sys/module/smc/parameters/syn_option
g A "/lab/selftests/smc/synopt_nat.py ${SYNOPT_CASES:-}"
[ "$(g A "cat $option")" = kernel ] || return 0
g A 'module.sh unload; SMC_SYN_OPTION=own module.sh load ours'
equal own "$(g A "cat $option")" 'SYN option'
g A "/lab/selftests/smc/synopt_nat.py ${SYNOPT_CASES:-}"
