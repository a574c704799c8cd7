# SPDX-License-Identifier: GPL-2.0
# The same calls on sockets of ours that fell back to TCP.
# guests: 1
# timeout: 240
# rdma: none
s=/lab/selftests/smc
g A "sysctl -q net.smc.transports=; $s/smcstat.sh mark; $s/sockapi" ||
	fail "sockapi"
g A "$s/smcstat.sh expect HsClientSmcd=0 HsServerSmcd=0 HsClientTcp\>50"
g A "sysctl -q net.smc.transports='smcd smcr'"
