# SPDX-License-Identifier: GPL-2.0
# Trace events: there under the names the kernel's own SMC gave them, and they
# fire for a connection on one host and for one that falls back to TCP; sender
# and receiver can be joined by token.
# guests: 1
# rdma: none
# when: 2/2 debug

g A '
set -u
bad=0
fail() { echo "FAIL: $*"; bad=1; }
mountpoint -q /sys/kernel/tracing || mount -t tracefs t /sys/kernel/tracing
cd /sys/kernel/tracing
for e in smc_switch_to_fallback smc_tx_sendmsg smc_rx_recvmsg smcr_link_down \
	 smc_state smc_hs_step smc_push smc_rx smc_link_state smc_policy; do
	[ -e events/smc/$e/enable ] || fail "no event $e"
done
echo 0 >tracing_on; echo >trace
# not the names of commands: that patches the scheduler
echo 0 >options/record-cmd
echo 1 >events/smc/enable; echo 1 >tracing_on

# one connection through shared memory, one that may not use it
cat >/tmp/talk.py <<-END
	import socket
	from counters import LO, pair, sysctl
	from sockdiag import fallback
	def talk(look=lambda s: None):
	    client, child = pair(LO)
	    client.sendall(b"x" * 1000)
	    assert len(child.recv(1000, socket.MSG_WAITALL)) == 1000
	    look(client); look(child)
	    client.close(); assert child.recv(1) == b""; child.close()
	# until TCP_USER_TIMEOUT ends it, for want of room
	def silent():
	    client, child = pair(LO)
	    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 500)
	    client.settimeout(None)
	    try:
	        while True: client.send(bytes(65536))
	    except TimeoutError: pass
	    try:
	        while child.recv(65536): pass
	    except ConnectionResetError: pass
	    child.close()
	# no handshake is too late on a busy host
	sysctl("handshake_timeout_ms", 20000)
	talk()
	silent()
	sysctl("transports", "smcr")
	talk(lambda s: print(fallback(s)))
END
PYTHONPATH=/lab/selftests/smc timeout $((60 * ${SMC_TEST_SCALE:-1})) \
	python3 /tmp/talk.py >/tmp/why || fail "talk.py"
echo 0 >tracing_on
has() { grep -Eq "$1" trace || fail "no line $1"; }
# of client and server
[ "$(grep -c "^[1-9]" /tmp/why)" = 2 ] || fail "reasons: $(cat /tmp/why)"
for why in $(cat /tmp/why); do
	has "smc_switch_to_fallback: .* fallback_rsn=$why$"
done
has "smc_switch_to_fallback: sk=[0-9a-f]+ clcsk=[0-9a-f]+ net=[0-9]+ "
has "smc_tx_sendmsg: smc=[0-9a-f]+ net=[0-9]+ len=1000 dev="
has "smc_rx_recvmsg: smc=[0-9a-f]+ net=[0-9]+ len=1000 dev="
has "smc_hs_step: net=[0-9]+ token=[0-9a-f]+ .* role=client .* OK"
has "smc_hs_step: .* role=server "
has "smc_push: net=[0-9]+ token=[0-9a-f]{8} peer=[0-9a-f]{8} len=1000 "
has "smc_rx: net=[0-9]+ token=[0-9a-f]{8} rcvd=1000 "
has "smc_state: net=[0-9]+ token=[0-9a-f]{8} event=close ACTIVE -> .* OK$"
has "smc_state: .* event=killed ACTIVE -> .* PEERSILENT$"
has "smc_state: .* event=peer_abort ACTIVE -> .* PEERABORT$"
tx=$(sed -n "s/.*smc_push:.* peer=\([0-9a-f]*\) len=1000 .*/\1/p" trace | head -1)
has "smc_rx: .* token=$tx rcvd=1000 "
[ $bad = 0 ] || grep -v "^#" trace | head -60
echo 0 >events/smc/enable; echo >trace; echo 1 >tracing_on
exit $bad
'
