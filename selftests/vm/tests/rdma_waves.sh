# SPDX-License-Identifier: GPL-2.0
# The connections of a full group end together, and so do the next ones, on a
# long path (100 ms there and back, more on a slow host): more rings wait for the
# answer to DELETE RKEY than new ones are made beside, but the peer answers.  No
# connection and no link is lost, and the link goes on to serve.
# guests: 2
# mtu: 9000
# timeout: 1800
# kernels: 6.12
# when: long, ten minutes on a path of 100 ms
s=/lab/selftests/smc
port=9600
rtt_ms=100
n=250			# a group takes 255
limit=255		# RETIRED_MAX of net/smc/transport/rdma/mem.c

# start HOLD ARGUMENTS...: connections that stay open once all is verified
start() {
	hold=$1
	shift
	port=$((port + 1))
	for x in A B; do g $x "$s/smcstat.sh mark; rm -f $hold*"; done
	g B "$s/stream -s -H $hold -m poll -k ipproto $* 0.0.0.0 $port" &
	spid=$!
	listening B $port
	g A "$s/stream -c -H $hold -m poll -k ipproto $* 10.9.0.2 $port" &
	cpid=$!
	wait_for 150 A "test -e $hold.client"
	wait_for 150 B "test -e $hold.server"
}

# finish SERVER-PID CLIENT-PID HOLD
finish() {
	for x in A B; do g $x "touch $3"; done
	wait "$2" || fail "client, $3"
	wait "$1" || fail "server, $3"
}

# all_smcr CONNECTIONS GROUPS: since the last mark
all_smcr() {
	for x in A:Client B:Server; do
		role=${x#*:}
		g ${x%:*} "$s/smcstat.sh expect Hs${role}Smcr=$1 Hs${role}Tcp=0 \
			Hs${role}Err=0 ConnAborted=0 LgrLost=0 LgrCreated=$2" ||
			fail "$role's counters"
	done
}

# path: as long as rtt_ms says from now on
path() {
	for x in A B; do
		g $x "tc qdisc replace dev eth0 root netem \
			delay $((rtt_ms / 2))ms limit 10000"
	done
}

for x in A B; do
	g $x "sysctl -q net.smc.handshake_timeout_ms=60000 net.smc.conns_per_queue=0
		$s/smcstat.sh mark /tmp/first"
done
path

note "first wave"
since=$(date +%s%N)
start /tmp/wave1 -n $n -l 1K -S 16K -R 16K -i 1
all_smcr $n 1
# Until the second wave has ended, which takes two or three times as long as the
# first has taken to come, fewer than 250 answers may arrive.
took_ms=$((($(date +%s%N) - since) / 1000000))
[ $((took_ms / 80)) -le $rtt_ms ] || rtt_ms=$((took_ms / 80))
note "$took_ms ms, so the path has $rtt_ms ms there and back"
path
since=$(date +%s%N)
finish $spid $cpid /tmp/wave1
for x in A B; do
	wait_for 60 $x "$s/smcstat.sh expect -f /tmp/first ConnDestroyed=$n"
done

# All come into the group that the first wave has left, and need new rings.
note "second wave"
start /tmp/wave2 -n $n -l 1K -S 32K -R 32K -i 2
all_smcr $n 0
finish $spid $cpid /tmp/wave2
for x in A B; do
	wait_for 60 $x "$s/smcstat.sh expect -f /tmp/first \
		ConnDestroyed=$((2 * n))"
done
passed_ms=$((($(date +%s%N) - since) / 1000000))

# Did that ask for more than the limit?  One of two rings that were freed had a
# key, and an answer takes a round trip at least.
for x in A B; do
	freed=$(grew $x BufDestroyed /tmp/first)
	waiting=$((freed / 2 - passed_ms / rtt_ms - 1))
	note "$x: $freed rings freed in $passed_ms ms: $waiting wait at least"
	[ $waiting -gt $limit ] ||
		fail "$x: too slow for more than $limit at once"
done

# No ring of that size is idle: TCP, or SMC-R as soon as there is room again.
note "four connections meanwhile"
start /tmp/meanwhile -n 4 -l 64K -S 128K -R 128K -i 3
for x in A:Client B:Server; do
	g ${x%:*} "$s/smcstat.sh show | grep ^Hs${x#*:} || :"
	g ${x%:*} "$s/smcstat.sh expect Hs${x#*:}Err=0 ConnAborted=0 \
		LgrLost=0 LgrCreated=0" || fail "counters, meanwhile"
done
finish $spid $cpid /tmp/meanwhile

# Long enough for a link that was given up to be noticed, and for the keys.
g A "sleep \$((2 * $n * $rtt_ms / 1000 + 12 * \${SMC_TEST_SCALE:-1}))"
note "afterwards"
start /tmp/after -n 64 -l 64K -S 64K -R 64K -i 4
all_smcr 64 0
finish $spid $cpid /tmp/after
for x in A B; do
	g $x "$s/smcstat.sh expect -f /tmp/first LgrLost=0 ConnAborted=0" ||
		fail "$x's counters at the end"
	g $x 'tc qdisc replace dev eth0 root pfifo_fast'
done
