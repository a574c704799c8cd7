# SPDX-License-Identifier: GPL-2.0
# Loading and unloading: refused while a socket is open or a call of one goes on,
# done at once after the last, as often as one likes, also with an idle link group.
# when: 1/2 6.12; 2/4 debug
# guests: 1
# timeout: 300
# rdma: lo
s=/lab/selftests/smc
case $LAB_K in debug | kcsan) n=3 ;; *) n=10 ;; esac
rounds=${MODULE_ROUNDS:-$n}

busy() {
	g A 'rmmod smc_diag; rmmod smc 2>/tmp/rmmod.err' &&
		fail "rmmod with $1 succeeded"
	g A 'grep -q "in use" /tmp/rmmod.err' || fail "rmmod with $1: not EBUSY"
	g A 'insmod /lab/smc_diag.ko'
}

g A "rm -f /tmp/hold*; exec $s/stream -b -k ipproto -n 4 -H /tmp/hold 127.0.0.1 0" &
pid=$!
wait_for 60 A 'test -e /tmp/hold.client'
busy "open connections"
g A 'touch /tmp/hold'
wait $pid || fail "the stream"

g A "exec $s/tcpecho -s -k afsmc 127.0.0.1 7600" &
pid=$!
wait_for 30 A "$s/peercfg.py socks | grep -q LISTEN"
busy "a listener"
kill $pid
wait $pid || :

g A "rm -f /tmp/held; $s/smcstat.sh mark; exec $s/heldcall /tmp/held" &
pid=$!
wait_for 60 A 'test -e /tmp/held'
g A "$s/smcstat.sh expect HsClientSmcd=1" || fail "no SMC-D"
# what the call holds, and smc_diag; then time for the call to hold nothing
wait_for 60 A '[ $(cat /sys/module/smc/refcnt) -le 2 ]'
g A 'sleep ${SMC_TEST_SCALE:-1}'
busy "an ioctl() that waits for memory"
g A 'rm /tmp/held'
wait $pid || fail "the ioctl()"

trace=/sys/kernel/tracing
for i in $(seq $rounds); do
	g A "set -e
		trap '[ \$? = 0 ] || { $s/smcstat.sh show
			tail -n 200 $trace/trace; }' EXIT
		# not the names of commands: that patches the scheduler
		echo 0 >$trace/options/record-cmd
		echo 1 >$trace/events/smc/enable
		# no handshake is too late on a busy host
		sysctl -q net.smc.handshake_timeout_ms=20000
		for t in smcd smcr; do
			sysctl -q net.smc.transports=\$t
			$s/smcstat.sh mark
			$s/stream -b -k ipproto -n 4 -l 20K -i $i 10.9.0.1 0
			case \$t in
			smcd) $s/smcstat.sh expect HsClientSmcd=4 ;;
			smcr) $s/smcstat.sh expect HsClientSmcr=4 ;;
			esac
		done
		# connections end a moment after their programs; smc_diag is left
		looks=0
		until [ \$(cat /sys/module/smc/refcnt) -le 1 ]; do
			looks=\$((looks + 1))
			[ \$looks -lt \$((300 * \${SMC_TEST_SCALE:-1})) ]
			sleep 0.1
		done
		t0=\$(date +%s%N)
		rmmod smc_diag
		rmmod smc
		ms=\$(((\$(date +%s%N) - t0) / 1000000))
		test \$ms -lt \$((5000 * \${SMC_TEST_SCALE:-1})) ||
			{ echo rmmod took \$ms ms; exit 1; }
		insmod /lab/smc.ko
		insmod /lab/smc_diag.ko" || fail "round $i"
done
