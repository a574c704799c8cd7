# SPDX-License-Identifier: GPL-2.0
# The TCP connection below an SMC connection ends, or carries bytes that no end
# has sent, and neither program notices: selftests/smc/tcpend.py says what is
# tried.
# when: long, takes half an hour
# guests: 1
# timeout: 2400
# module: ours
# rdma: lo
g A "sysctl -q net.smc.handshake_timeout_ms=20000 &&
	/lab/selftests/smc/tcpend.py ${TCPEND_CASES:-}" || fail "see above"
g A 'sysctl -q net.smc.transports="smcd smcr"'
