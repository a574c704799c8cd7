# SPDX-License-Identifier: GPL-2.0
# Sockets of ours behave as TCP's, over loopback: selftests/smc/sockapi.c.
# guests: 1
# timeout: 240
# rdma: none
s=/lab/selftests/smc
g A "$s/smcstat.sh mark; $s/sockapi" || fail "sockapi"
# 16: those that ask for TCP (SMC_PLAIN_TCP, Fast Open)
g A "$s/smcstat.sh expect HsClientSmcd\>50 HsServerSmcd\>50 HsClientTcp=16"
