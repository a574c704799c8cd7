# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# interop.sh - both directions of interoperation, sourced by tests/interop_*.sh
# with $client, $server (guests), $addr and $addr6 (the server's).  Ours is in A, the
# kernel's own in B, where a helper sets UEID and PNET rows.
s=/lab/selftests/smc
seed=${SMC_SEED:-0}
note "SMC_SEED=$seed"
port=9500
case $client in A) role=Client ;; B) role=Server ;; esac
declined=0
# Copied byte by byte under KASAN: minutes, which find nothing more.
case $LAB_K in debug | kcsan) big=4M ;; *) big=64M ;; esac

g B "$s/peercfg.py ueid add SMCV2-DEFAULT-UEID
	$s/peercfg.py pnet add LABNET eth0 rxe0 1" >/dev/null ||
	fail "cannot configure the kernel's own SMC"
# An emulated guest is slow: no deadline here.
g A 'sysctl -q net.smc.handshake_timeout_ms=20000'

# declines: how many times the peer has declined, of connections of ours
declines() {
	g A smc_stats -P |
		awk '/^smc_fallback_reasons/ && /PEERDECL/ { n = $NF }
			/^smc_fallback_reasons/ && !/PEERDECL/ { bad = $0 }
			END { print n + 0, bad }'
}

# stream smcr|tcp CONNECTIONS ARGUMENTS...: from $client to $to, where the server
# listens on $on; TCP because the kernel's own declines
stream() {
	how=$1 n=$2
	shift 2
	port=$((port + 1))
	note "stream $* ${on:-0.0.0.0} ${to:-$addr}"
	g A "$s/smcstat.sh mark"
	g $server "$s/stream -s -k ipproto $* ${on:-0.0.0.0} $port" &
	pid=$!
	listening $server $port
	g $client "$s/stream -c -k ipproto $* ${to:-$addr} $port" ||
		fail "client: $*"
	wait $pid || fail "server: $*"
	case $how in
	smcr) want="Hs${role}Smcr=$n Hs${role}Tcp=0" ;;
	tcp) want="Hs${role}Smcr=0 Hs${role}Tcp=$n" declined=$((declined + n)) ;;
	esac
	g A "$s/smcstat.sh expect $want Hs${role}Err=0 HsReconnect=0 \
		ConnAborted=0 TxImm=0 RxImm=0" || fail "counters at ours: $want"
	equal "$declined " "$(declines)" 'peer declined'
}

# Held open, both sides must call it SMC-R: the kernel's own in its sock_diag.
held() {
	port=$((port + 1))
	g $server "rm -f /tmp/hold*
		$s/stream -s -k ipproto -n 3 -l 10K -H /tmp/hold 0.0.0.0 $port" &
	spid=$!
	listening $server $port
	g $client "rm -f /tmp/hold*
		$s/stream -c -k ipproto -n 3 -l 10K -H /tmp/hold $addr $port" &
	cpid=$!
	wait_for 60 $client 'test -e /tmp/hold.client'
	wait_for 60 $server 'test -e /tmp/hold.server'
	theirs=$(g B "$s/peercfg.py socks")
	note "the kernel's own sock_diag:" "$theirs"
	equal 3 "$(echo "$theirs" | grep -c '^ACTIVE SMCR')" \
		"SMC-R connections in the kernel's own sock_diag"
	mine=$(g A smcss)
	note "smcss here:" "$mine"
	equal 3 "$(echo "$mine" | grep -c 'ACTIVE.*SMCR')" "SMCR in smcss"
	# and our tool reads the kernel's own
	equal 3 "$(g B smcss | grep -c 'ACTIVE.*SMCR')" "SMCR in smcss at theirs"
	for x in A B; do g $x 'touch /tmp/hold'; done
	wait $cpid || fail "held: client"
	wait $spid || fail "held: server"
}

held
stream smcr 16 -n 16 -l 64K -i $((seed + 1))
stream smcr 8 -n 8 -m block -l 256K -S 64K -R 64K -i $((seed + 2))
for closer in shutdown client server; do
	stream smcr 8 -n 8 -x $closer -l 20K -i $((seed + 3))
done
# many short ones, a few at a time
stream smcr 80 -n 8 -r 10 -l 300 -i $((seed + 4))
# the same amount each way at once
stream smcr 1 -n 1 -e -l $big -i $((seed + 5))
# families: every kind of address, to a listener of both families.  The kernel's
# own has no SMC over IPv6 here, nor in a client's socket of that family: TCP.
families() {
	on=::
	for to in $addr ::ffff:$addr $addr6; do
		case $client,$to in
		*,fd09::* | B,::ffff:*) how=tcp ;;
		*) how=smcr ;;
		esac
		stream $how 4 -n 4 -l 20K -i $((seed + 6))
	done
}

families
# and to one of IPv6 alone
on=$addr6 to=$addr6
stream tcp 4 -n 4 -e -l 1M -i $((seed + 7))
# the option of the module, where the kernel has one
if [ "$(g A 'cat /sys/module/smc/parameters/syn_option')" = kernel ]; then
	g A 'rmmod smc_diag; rmmod smc; insmod /lab/smc.ko syn_option=own
		insmod /lab/smc_diag.ko
		sysctl -q net.smc.handshake_timeout_ms=20000'
	declined=0
	families
fi
