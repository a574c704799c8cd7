# SPDX-License-Identifier: GPL-2.0
# What a connection leaves in a ring is in no ring of another one: of another
# user, namespace or peer, by SMC-R and SMC-D.  planted/canary.c looks at the
# memory of each; selftests/smc/canary.py makes the connections.  The kernel does
# not clear memory by itself here.
# when: 1/2 6.12; 2/4 debug
# kernels: 6.12 debug kcsan
# guests: 1
# rdma: lo
# append: init_on_alloc=0
g A 'insmod /lab/canary.ko || exit
	/lab/selftests/smc/canary.py
	rc=$?
	rmmod canary || exit
	exit $rc' || fail "rings"
g A 'sysctl -q net.smc.transports="smcd smcr"'
