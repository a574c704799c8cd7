# SPDX-License-Identifier: GPL-2.0
# Connections of every outcome, several at a time: selftests/smc/mixed.py.
# 10,000 with LONG=1.
# kernels: 6.12 debug kcsan
# when: 2/8 debug
# guests: 1
# timeout: 240
# cpus: 2
# rdma: lo
n=1000
[ -z "${LONG:-}" ] || n=10000
g A "/lab/selftests/smc/mixed.py ${MIXED:-$n}"
g A 'sysctl -q net.smc.transports="smcd smcr"'
