# SPDX-License-Identifier: GPL-2.0
# A peer that does not answer by RDMA any more while data are in flight: until the
# link ends, no call waits for it (selftests/smc/silent.py).
# when: 2/2 6.12; 6/8 debug
# guests: 2
# waits: yes
# timeout: 180
s=/lab/selftests/smc
for x in A B; do
	# a link is made again after one that failed
	g $x "sysctl -q net.smc.handshake_timeout_ms=20000 \
		net.smc.fallback_memory_s=0; $s/smcstat.sh mark"
done
g B "exec $s/tcpecho -s -k ipproto -n 10000 0.0.0.0 7910 >/tmp/echo.out 2>&1" &
spid=$!
g B "exec $s/tcpecho -s -k tcp -n 100 0.0.0.0 7911 >/tmp/echo1.out 2>&1" &
tpid=$!
listening B 7910
listening B 7911
g A "exec $s/silent.py 10.9.0.2 7910" || fail 'calls that wait'
# the other end finds out by itself
wait_for 60 B "$s/smcstat.sh expect 'LgrLost>0'"
kill $spid $tpid
