# SPDX-License-Identifier: GPL-2.0
# What ss shows of sockets of ours, and of those that fell back with and without
# kTLS: selftests/smc/ssview.py.
# guests: 1
# rdma: none
# when: 2/2 debug
g A 'modprobe tls' || fail 'no kTLS'
g A 'sysctl -q net.smc.handshake_timeout_ms=20000 && /lab/selftests/smc/ssview.py'
