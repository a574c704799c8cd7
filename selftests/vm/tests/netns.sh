# SPDX-License-Identifier: GPL-2.0
# Network namespaces: SMC-D between two of them, each with its own sockets,
# counters and settings, and deleting one with live connections.
# when: 2/2 6.12; 1/8 debug; long kcsan, takes minutes
# guests: 1
# timeout: 240
# rdma: none
g A /lab/selftests/smc/netns.sh
