# SPDX-License-Identifier: GPL-2.0
# What a program sees of a client that has offered SMC and is silent:
# selftests/smc/late.py.  One CPU: there it decides what runs before a worker.
# guests: 1
# cpus: 1
# rdma: none
# when: 2/2 debug
g A 'modprobe tun && insmod /lab/pauses.ko || exit
	/lab/selftests/smc/late.py
	rc=$?
	rmmod pauses || exit
	exit $rc'
