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
# programs that may have TCP sockets alone would be left with none
g A 'echo 1 >/sys/fs/selinux/enforce
	/lab/tools/smc_run --all 2>&1 | grep "SELinux may forbid" &&
	[ -z "$(/lab/tools/smc_run --status)" ] &&
	/lab/tools/smc_run --force --all && /lab/tools/smc_run --off
	rc=$?; echo 0 >/sys/fs/selinux/enforce; exit $rc' || fail 'smc_run --all'
