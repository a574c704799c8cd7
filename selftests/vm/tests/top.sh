# SPDX-License-Identifier: GPL-2.0
# What smcss and smctop tell of live connections: selftests/smc/top.py says what
# is compared, over shared memory and over RDMA.
# kernels: 6.12
# guests: 1
# timeout: 300
# rdma: lo
# when: 1/2 6.12
s=/lab/selftests/smc

g A 'sysctl -q net.smc.handshake_timeout_ms=20000'
g A "TOP_MODE=SMC-D $s/top.py" || fail 'SMC-D'
g A 'sysctl -q net.smc.transports=smcr'
g A "TOP_MODE=SMC-R TOP_ADDRESS=10.9.0.1 $s/top.py" || fail 'SMC-R'
