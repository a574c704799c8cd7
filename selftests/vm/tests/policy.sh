# SPDX-License-Identifier: GPL-2.0
# The rules of smc_run: each connection is what the first rule that fits it says,
# as smcss shows it, with its data intact.
# when: 2/2 6.12; 1/4 debug; long kcsan, takes minutes
# guests: 1
# timeout: 300
# rdma: none
s=/lab/selftests/smc
t=/lab/tools
# no handshake is too late on a busy host
g A 'sysctl -q net.smc.transports=smcd net.smc.handshake_timeout_ms=20000'

# rules SIDE: from standard input, which /results in the guest has, too
rules() {
	cat >"$LAB_RUN/results/$1.conf"
	g A "$t/smc_run -T -c /results/$1.conf" || fail "$1.conf"
}

# pair NAME PORT CLIENT SERVER [OPTION...]: what smcss says of a connection of
# a client under "smc_run OPTION..." to a server under rules of its own
pair() {
	name=$1 port=$2 want_c=$3 want_s=$4
	shift 4
	g A "rm -f /tmp/hold*
		$t/smc_run -c /results/server.conf $s/stream -s -n 1 -l 10K \
		-H /tmp/hold 0.0.0.0 $port" &
	spid=$!
	listening A "$port"
	g A "$* $s/stream -c -n 1 -l 10K -H /tmp/hold 127.0.0.1 $port" &
	cpid=$!
	wait_for 60 A 'test -e /tmp/hold.client -a -e /tmp/hold.server'
	g A smcss >"$LAB_RUN/results/policy"
	g A 'touch /tmp/hold'
	wait $cpid || fail "$name: client"
	wait $spid || fail "$name: server"
	cat "$LAB_RUN/results/policy"
	equal "$want_c" "$(side 5)" "$name: client"
	equal "$want_s" "$(side 4)" "$name: server"
}

# side COLUMN: mode and code of the socket with the server's port there
side() {
	awk -v c="$1" -v p=":$port$" '$c ~ p { print $7, $8 }' \
		"$LAB_RUN/results/policy" | sed 's/ *$//; s/SMCD .*/SMCD/'
}

rules server </dev/null
apptcp='TCP 0x0a0f0002' peernosmc='TCP 0x03010000'

rules client <<'END'
deny connect 127.0.0.0/8:9801
allow connect port 9800-9802
[stream]
deny connect any
END
smc="$t/smc_run -c /results/client.conf"
pair 'allowed' 9800 SMCD SMCD "$smc"
pair 'denied by address and port' 9801 "$apptcp" "$peernosmc" "$smc"
pair 'allowed by port' 9802 SMCD SMCD "$smc"
pair 'denied by program' 9803 "$apptcp" "$peernosmc" "$smc"
pair 'without rules' 9803 SMCD SMCD "SMC_RUN_CONF= $t/smc_run"
rules client <<'END'
[other]
deny any
END
pair 'rules of another program' 9803 SMCD SMCD "$smc"

# The server decides for all of its clients.
rules server <<'END'
allow listen 0.0.0.0:9810
deny listen any
END
pair 'listener allowed' 9810 SMCD SMCD "$t/smc_run"
pair 'listener denied' 9811 "$peernosmc" "$apptcp" "$t/smc_run"

# With nothing allowed the socket is TCP's, of which smcss knows nothing.
rules server <<'END'
deny any
END
pair 'nothing allowed' 9812 "$peernosmc" '' "$t/smc_run"

# A bad file is no SMC, and no harm.
echo nonsense >"$LAB_RUN/results/server.conf"
pair 'bad file' 9813 "$peernosmc" '' "$t/smc_run"
rc=0
g A "$t/smc_run -T -c /results/server.conf" || rc=$?
equal 125 "$rc" 'smc_run -T'

# A listener that gives SMC up while it answers a client.
g A "$s/lateplain.py" || fail 'lateplain.py'
