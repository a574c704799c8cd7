# SPDX-License-Identifier: GPL-2.0
# The module writes the SYN option itself: selftests/smc/synopt.py.  One case for
# that of the kernel, too, if it has one.
# when: 4/4 6.12; 7/8 debug
# kernels: 6.1 6.12 7.2 debug
# guests: 1
# timeout: 300
# rdma: none
option=/sys/module/smc/parameters/syn_option
[ "$(g A "cat $option")" != kernel ] ||
	g A '/lab/selftests/smc/synopt.py crossing'
# what the module finds out as it is loaded does not depend on settings for programs
g A 'sysctl -q net.ipv6.bindv6only=1
	rmmod smc_diag; rmmod smc; insmod /lab/smc.ko syn_option=own
	insmod /lab/smc_diag.ko
	sysctl -q net.ipv6.bindv6only=0'
equal own "$(g A "cat $option")" 'SYN option'
g A "/lab/selftests/smc/synopt.py ${SYNOPT_CASES:-}"
