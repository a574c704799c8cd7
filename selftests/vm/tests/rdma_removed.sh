# SPDX-License-Identifier: GPL-2.0
# The RDMA device goes away at any moment of a handshake: the program works
# over TCP or over SMC-R, no byte is lost, and a connection that had its link
# ends with an error, never with silence.  Each link has one cause.
# when: 4/4 6.12; 2/4 debug
# guests: 2
# timeout: 420
s=/lab/selftests/smc
port=9800
case $LAB_K in debug | kcsan) n=2 ;; *) n=12 ;; esac
rounds=${REMOVE_ROUNDS:-$n}

again() {
	g $1 'rdma link show rxe0/1 >/dev/null 2>&1 ||
		rdma link add rxe0 type rxe netdev eth0'
	wait_for 30 $1 "$s/genetlink.py active rxe0"
}

# one_cause GUEST: each link that is gone ended for one of the reasons counted
one_cause() {
	wait_for 30 $1 "awk '/^LinkDown/ { down += \$2 }
		/^LinkDestroyed/ { links = \$2 }
		END { exit links != down }' /proc/net/smc_stat"
}

# a link is made again after one that failed
for x in A B; do g $x 'sysctl -q net.smc.fallback_memory_s=0'; done

# During handshakes: connections come one after another while the device goes.
# One may end with an error: the one that was SMC-R when it went.  It is counted
# as aborted there, and its error says so.  In half of the rounds the time runs
# from the first connection that has a link.
links=0
for i in $(seq $rounds); do
	port=$((port + 1))
	case $((i % 2)) in 0) side=A ;; *) side=B ;; esac
	case $((i / 2 % 2)) in
	0) begun=true ;;
	*) begun="$s/smcstat.sh show | grep -q '^Hs.*Smcr '" ;;
	esac
	again A
	again B
	for x in A B; do g $x "$s/smcstat.sh mark; : >/tmp/err"; done
	g B "$s/tcpecho -s -k ipproto -n 20 0.0.0.0 $port >/tmp/server.out" &
	spid=$!
	listening B $port
	g $side "until { $begun; } ||
			[ \$SECONDS -ge \$((30 * \${SMC_TEST_SCALE:-1})) ]
		do sleep 0.02; done
		sleep 0.$((i * 37 % 100 + 10)); rdma link delete rxe0" &
	rpid=$!
	g A "ok=0 bad=0
		for n in \$(seq 20); do
			if timeout \$((20 * \${SMC_TEST_SCALE:-1})) \
				$s/tcpecho -c -k ipproto -b 3000 \
				-t \$((12000 * \${SMC_TEST_SCALE:-1})) \
				10.9.0.2 $port >>/tmp/out 2>>/tmp/err
			then ok=\$((ok + 1)); else
				rc=\$?
				bad=\$((bad + 1))
				[ \$rc != 124 ] || { echo hung; exit 1; }
			fi
		done
		echo \$bad >/tmp/bad
		echo \$ok worked, \$bad ended with an error
		$s/smcstat.sh show | tr '\n' ' '
		cat /tmp/err
		! grep -v -e 'Software caused connection abort' \
			-e 'Connection reset by peer' \
			-e 'shutdown: .* not connected' /tmp/err" ||
		fail "round $i, device of $side"
	wait $rpid || fail "rdma link delete"
	bad=$(g A 'cat /tmp/bad')
	made=$(grew A LinkCreated)
	links=$((links + made))
	[ "$begun" = true ] || [ "$made" -gt 0 ] || fail "round $i: no link"
	aborted=$(grew $side ConnAborted)
	# they come one at a time
	[ "$bad" -le 1 ] && [ "$bad" -le "$aborted" ] ||
		fail "round $i: $bad ended with an error, $aborted aborted"
	kill $spid 2>/dev/null || :
	wait $spid || :
	# and TCP from then on
	g A "$s/smcstat.sh expect HsClientErr=0" || fail "round $i, handshakes"
	for x in A B; do one_cause $x; done
done
note "$links links in $rounds rounds"

# Open connections when the device goes: an error on both sides, soon.  They have
# to be SMC-R, and by one link: none may be late on a busy host.
for x in A B; do g $x 'sysctl -q net.smc.handshake_timeout_ms=20000'; done
again A
again B
port=$((port + 1))
for x in A B; do g $x "rm -f /tmp/hold*; $s/smcstat.sh mark"; done
g B "$s/stream -s -k ipproto -n 4 -H /tmp/hold 0.0.0.0 $port" &
spid=$!
listening B $port
g A "$s/stream -c -k ipproto -n 4 -H /tmp/hold 10.9.0.2 $port" &
cpid=$!
wait_for 60 A 'test -e /tmp/hold.client'
wait_for 60 B 'test -e /tmp/hold.server'
g A 'cd /sys/kernel/tracing && echo 0 >options/record-cmd && echo >trace &&
	echo 1 >events/smc/smc_state/enable' || fail "trace"
g A 'rdma link delete rxe0'
for x in A B; do g $x 'touch /tmp/hold'; done
# an error ends stream with 1, its watchdog with 3
ended 1 $cpid "the client sees an error"
ended 1 $spid "the server sees an error"
# the programs hear of it first
wait_for 60 A "$s/smcstat.sh expect LinkDownRemoved=1"
wait_for 60 B "$s/smcstat.sh expect LinkDownPeer=1 LgrLost=1"
equal 4 "$(g A 'cd /sys/kernel/tracing && echo 0 >events/smc/smc_state/enable
	grep -c " smc_state: .* event=killed .* DEVGONE$" trace')" "DEVGONE"
for x in A B; do one_cause $x; done
again A
g A "$s/smcstat.sh mark"
port=$((port + 1))
g B "$s/tcpecho -s -k ipproto 0.0.0.0 $port" &
spid=$!
listening B $port
g A "$s/tcpecho -c -k ipproto 10.9.0.2 $port" || fail "after all"
wait $spid || fail "after all"
g A "$s/smcstat.sh expect HsClientSmcr=1"
