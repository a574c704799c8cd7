# SPDX-License-Identifier: GPL-2.0
# A peer that says it is on this host and knows another's token gets no ring:
# selftests/smc/hostile_smcd.py says what is tried.
# guests: 1
# rdma: none
# when: 1/2 debug
# the others have no module vmfork, or no VMGENID
case $LAB_K in 6.12) left_out= ;; *) left_out=snapshot ;; esac
skips A "$left_out" 'modprobe tun && sysctl -q \
	net.smc.handshake_timeout_ms=20000 net.smc.fallback_memory_s=0 &&
	/lab/selftests/smc/hostile_smcd.py'
