# SPDX-License-Identifier: GPL-2.0
# A handshake where the network device has 900 addresses takes a few times as many
# instructions as with one, not as many times: selftests/smc/addresses.py.
# kernels: 6.12
# guests: 1
# timeout: 270
# cpus: 1
# icount: sleep=off
# rdma: lo
# when: 2/2 6.12
g A '/lab/selftests/smc/addresses.py' || fail 'many addresses'
