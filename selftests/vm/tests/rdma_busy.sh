# SPDX-License-Identifier: GPL-2.0
# Many connections at once over a long path (100 ms there and back, megabytes
# under way): all of them are SMC-R and share one link, though none was there
# when they began, and new rings are registered while the link is busy.
# when: 1/2 6.12; 3/4 debug
# guests: 2
# mtu: 9000
# timeout: 420
s=/lab/selftests/smc
port=9100
# a megabyte takes the debug kernel a second
case $LAB_K in debug | kcsan) ring=256K len=1M ;; *) ring=1M len=4M ;; esac

# burst CONNECTIONS NEW_GROUPS [COUNTER]...
burst() {
	n=$1
	groups=$2
	shift 2
	port=$((port + 1))
	args="-n $n -m poll -k ipproto -S $ring -R $ring -l $len -i $n"
	note "stream $args"
	for x in A B; do g $x "$s/smcstat.sh mark"; done
	g B "$s/stream -s $args 0.0.0.0 $port" &
	pid=$!
	listening B $port
	g A "$s/stream -c $args 10.9.0.2 $port" || fail "client: stream $args"
	wait $pid || fail "server: stream $args"
	for x in A:Client B:Server; do
		role=${x#*:}
		g ${x%:*} "$s/smcstat.sh expect Hs${role}Smcr=$n Hs${role}Tcp=0 \
			Hs${role}Err=0 ConnAborted=0 LgrLost=0 \
			LgrCreated=$groups $*" || fail "$role's counters"
	done
}

for x in A B; do
	g $x '/lab/selftests/vm/guest/evidence.sh on
		sysctl -q net.core.wmem_max=4194304 net.core.rmem_max=4194304 \
		net.smc.handshake_timeout_ms=60000
		tc qdisc replace dev eth0 root netem delay 50ms limit 10000'
done
burst 8 1
# some rings are new
burst 16 0 'BufCreated\>0' 'TxBusy\>0'
for x in A B; do g $x 'tc qdisc replace dev eth0 root pfifo_fast'; done
