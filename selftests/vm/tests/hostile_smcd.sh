# SPDX-License-Identifier: GPL-2.0
# A peer that says it is on this host and knows another's token gets no ring:
# selftests/smc/hostile_smcd.py says what is tried.
# guests: 1
# rdma: none
# when: 1/2 debug
g A 'modprobe tun && sysctl -q \
	net.smc.handshake_timeout_ms=20000 net.smc.fallback_memory_s=0 &&
	/lab/selftests/smc/hostile_smcd.py'
