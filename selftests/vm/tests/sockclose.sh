# SPDX-License-Identifier: GPL-2.0
# No accepted byte is lost or repeated, whatever ends the writer: faults,
# close(), exit(), SIGKILL, time-outs.  selftests/smc/sockclose.c, on TCP and on
# sockets of ours over both transports and after fallback.
# when: 4/8 6.12; 13/16 debug
# guests: 1
# timeout: 450
# rdma: lo
. "$(dirname "$0")/modes.sh"
g A 'sysctl -q net.core.wmem_max=4194304 net.core.rmem_max=4194304 \
	net.core.somaxconn=4096 net.ipv4.tcp_max_orphans=100000 \
	net.smc.host_max_ring_kbytes=400000 net.smc.max_ring_kbytes=400000 \
	net.smc.max_ring_kbytes_per_peer=400000'
in_modes sockclose -m 'reference smcd smcr tcp declined' -w '>1000' -p 0 \
	mode_sockclose.sh
in_modes_end
