# SPDX-License-Identifier: GPL-2.0
# A peer that does not answer by RDMA any more while data are in flight: until the
# link ends, no call waits for it (selftests/smc/silent.py).
# when: 4/4 6.12; 5/8 debug, takes a minute or two there
# guests: 2
# waits: yes
# timeout: 180
s=/lab/selftests/smc
for x in A B; do
	g $x "sysctl -q net.smc.handshake_timeout_ms=20000; $s/smcstat.sh mark"
done
g B "exec $s/tcpecho -s -k ipproto -n 100 0.0.0.0 7910 >/tmp/echo.out 2>&1" &
spid=$!
g B "exec $s/tcpecho -s -k tcp -n 100 0.0.0.0 7911 >/tmp/echo1.out 2>&1" &
tpid=$!
listening B 7910
listening B 7911
g A "rm -f /tmp/silent*; exec $s/silent.py 10.9.0.2 7910 /tmp/silent" &
pid=$!
wait_for 60 A 'test -e /tmp/silent.ready'
g B 'nft add table inet lab
	nft add chain inet lab input "{ type filter hook input priority 0; }"
	nft add rule inet lab input udp dport 4791 drop'
g A 'touch /tmp/silent'
rc=0
wait $pid || rc=$?
g B 'nft delete table inet lab'
[ $rc = 0 ] || fail 'calls that wait'
# the other end finds out by itself
wait_for 60 B "$s/smcstat.sh expect LgrLost=1"
kill $spid $tpid
