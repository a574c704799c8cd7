# SPDX-License-Identifier: GPL-2.0
# A client that has offered SMC sends urgent data in place of a message:
# selftests/smc/urgent.py.  One CPU: there it decides what runs before a worker.
# guests: 1
# cpus: 1
# rdma: none
g A 'modprobe tun && insmod /lab/pauses.ko && /lab/selftests/smc/urgent.py'
