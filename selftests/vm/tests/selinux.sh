# SPDX-License-Identifier: GPL-2.0
# SELinux asks of our sockets what it asks of TCP's, and its answer counts:
# selftests/smc/selinux.py, with the policy selinux.cil.
# guests: 1
# kernels: 6.12
# timeout: 240
# rdma: none
# append: lsm=selinux
s=/lab/selftests/smc
g A "sysctl -q kernel.printk_ratelimit=0 net.smc.handshake_timeout_ms=20000
	$s/smcstat.sh mark; $s/selinux.py" || fail "selinux"
# what was allowed is SMC: no label keeps the workers from it
g A "$s/smcstat.sh expect HsClientSmcd\>8 HsServerSmcd\>8 HsClientTcp=0"
