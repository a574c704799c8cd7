# SPDX-License-Identifier: GPL-2.0
# Generic netlink: selftests/smc/genl.py says what is tried.
# when: 1/2 6.12; 4/4 debug
# guests: 1
# timeout: 240
# rdma: lo
g A 'sysctl -q net.smc.handshake_timeout_ms=20000 && /lab/selftests/smc/genl.py'
