# SPDX-License-Identifier: GPL-2.0
# A client that has offered SMC sends urgent data in place of a message:
# selftests/smc/urgent.py.
# guests: 1
# rdma: none
# when: 2/4 debug
g A 'modprobe tun && /lab/selftests/smc/urgent.py'
