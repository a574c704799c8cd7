# SPDX-License-Identifier: GPL-2.0
# 320 listeners that are locked by calls which do not return, with clients: other
# users do not wait for them (selftests/smc/parked.c).
# when: 2/2 6.12; 2/4 debug
# guests: 1
# timeout: 300
# cpus: 1
# icount: sleep=off
# rdma: none
s=/lab/selftests/smc
g A 'sysctl -q net.smc.wmem=16384 net.smc.rmem=16384 \
	net.smc.handshake_timeout_ms=20000'
for kind in tcp afsmc; do
	note "listeners of $kind"
	g A "$s/smcstat.sh mark; $s/parked -k $kind 127.0.0.1 21000" ||
		fail "$kind"
done
g A "$s/smcstat.sh expect HsServerSmcd\>300" || fail 'no SMC-D'

note 'silent clients'
g A 'sysctl -q net.smc.handshake_timeout_ms=2000
	modprobe tun && ip tuntap add dev clc0 mode tap &&
	ip address add 10.99.0.1/24 dev clc0 && ip link set clc0 up'
g A "rm -f /tmp/locked; exec $s/parked -s /tmp/locked 10.99.0.1 22000" &
pid=$!
wait_for 60 A 'test -e /tmp/locked'
g A "cd $s && python3 - <<-END
	import os, time
	from limits import limit
	from minitcp import Net, Reset
	net = Net('clc0', '10.99.0.2', '10.99.0.1')
	conns = [net.connect(22000 + i, True) for i in range(320)]
	print('#', sum(c.option for c in conns), 'silent clients')
	assert all(c.option for c in conns)
	# their deadline
	time.sleep(limit(3))
	os.unlink('/tmp/locked')
	for c in conns:
	    try:
	        c.wait_eof(limit(60))
	    except Reset:
	        pass
	END" || fail 'silent clients'
wait $pid || fail 'parked'
