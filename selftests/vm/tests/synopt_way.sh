# SPDX-License-Identifier: GPL-2.0
# The SYN option that the module writes, seen on its way: judged by tshark, in a
# VLAN, behind NAT, among options of every length: selftests/smc/synopt_way.py;
# removed by a router, and sent back.  Not on 6.1: the tshark of Debian 12 takes a
# checksum that the adapter has to finish for a wrong one.
# when: 3/4 6.12; 7/8 debug
# kernels: 6.12 7.2 debug
# guests: 1
# timeout: 300
# rdma: none
s=/lab/selftests/smc
g A 'rmmod smc_diag; rmmod smc; insmod /lab/smc.ko syn_option=own
	insmod /lab/smc_diag.ko'
equal own "$(g A 'cat /sys/module/smc/parameters/syn_option')" 'SYN option'
g A "$s/synopt_way.py ${SYNOPT_CASES:-}"
# a router that removes the option, and a peer that sends back what it gets
g A "QUICK=1 SLACK=4000 $s/fallback_strip.sh"
g A "QUICK=1 SLACK=4000 ONLY='echoes what it gets' $s/fallback_client.sh"
