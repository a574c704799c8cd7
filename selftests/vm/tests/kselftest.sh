# SPDX-License-Identifier: GPL-2.0
# What "make kselftest" runs on a real host: suites in namespaces of their own,
# suites that change the host only where that is allowed, a second host (here a
# namespace), reasons for what is skipped, and a failure that is told.
# when: 8/8 6.12
# guests: 1
# kernels: 6.12
# timeout: 600
# rdma: lo
out=$LAB_RUN/kselftest.out
second='NETIF=kself0 LOCAL_V4=10.77.0.1 REMOTE_V4=10.77.0.2
	LOCAL_V6=fd77::1 REMOTE_V6=fd77::2 REMOTE_TYPE=netns REMOTE_ARGS=peer0'

# run EXIT_CODE ENVIRONMENT SUITE...
run() {
	want=$1 env=$2
	shift 2
	rc=0
	note "$env $*"
	g A "cd / && env $(echo $env) sh /lab/selftests/kselftest.sh $*" \
		>"$out" 2>&1 || rc=$?
	cat "$out"
	equal "$want" "$rc" "exit code of $*"
}

says() { grep -q "$1" "$out" || fail "no line '$1'"; }

g A 'ip netns add peer0 &&
	ip link add kself0 type veth peer name eth0 netns peer0 &&
	ip address add 10.77.0.1/24 dev kself0 &&
	ip address add fd77::1/64 dev kself0 nodad &&
	ip link set kself0 up &&
	ip -n peer0 link set lo up &&
	ip -n peer0 address add 10.77.0.2/24 dev eth0 &&
	ip -n peer0 address add fd77::2/64 dev eth0 nodad &&
	ip -n peer0 link set eth0 up &&
	sysctl -q net.smc.handshake_timeout_ms=20000 &&
	ip netns exec peer0 sysctl -q net.smc.handshake_timeout_ms=20000' ||
	fail "the second host"

run 0 "$second SMC_WANT=smcd" sockmove.smcd sockmove.smcr sockmove.tcp \
	lateplain genl twohosts_stream "'twohosts_*.smc'"
says '^1\.\.9$'
says '^ok 1 selftests: smc: sockmove.smcd$'
says '^ok 2 selftests: smc: sockmove.tcp$'
says '^ok 3 selftests: smc: sockmove.smcr # SKIP changes this host'
says '^ok 4 selftests: smc: lateplain.own$'
says '^ok 5 selftests: smc: genl.host # SKIP changes this host'
says '^# # smcss: 8 SMCD$'
says '^# ok 4 stream.smc.ipv6.local_serves$'
says '^ok 9 selftests: smc: twohosts_tcpecho.smc$'
equal '7 passed, 0 failed, 2 skipped' "$(tail -n 1 "$out")" 'last line'
equal 'smcd smcr' "$(g A 'sysctl -n net.smc.transports')" 'transports of the host'
equal peer0 "$(g A 'ls /run/netns')" 'namespaces of the host'

# what became of a connection is compared
run 1 "$second SMC_WANT=smcr" twohosts_tcpecho.smc
says '^# # it should have been smcr$'
says '^not ok 1 selftests: smc: twohosts_tcpecho.smc # exit=1$'
g A 'ip netns exec peer0 sysctl -q net.smc.transports='
run 0 "$second SMC_WANT=tcp" twohosts_tcpecho.smc
says '^# # smcss: 1 TCP 0x'
g A 'ip netns exec peer0 sysctl -q net.smc.transports="smcd smcr"'

# ssh, as far as it can be shown without one: how it is called, and the copy
cat >"$LAB_RUN/results/ssh" <<'END'
#!/bin/sh
[ "$1 $2 $3 $4 $5" = '-q -o BatchMode=yes -- me@peer0' ] || exit 255
shift 5
exec ip netns exec peer0 sh -c "$*"
END
g A 'mkdir -p /tmp/bin && cp /results/ssh /tmp/bin && chmod +x /tmp/bin/ssh'
run 0 "$second REMOTE_TYPE=ssh REMOTE_ARGS=me@peer0 SMC_WANT=smcd
	PATH=/tmp/bin:/usr/sbin:/usr/bin" twohosts_pingpong.smc
equal '' "$(g A 'ls -d /tmp/smctest* 2>/dev/null || :')" 'files that are left'

# over RDMA the host's own settings have to change
run 0 'SMC_DESTRUCTIVE=1 NETIF=lo LOCAL_V4=10.9.0.1 LOCAL_V6=fd09::1' \
	sockmove.smcr
says '^ok 1 selftests: smc: sockmove.smcr$'
equal 'smcd smcr' "$(g A 'sysctl -n net.smc.transports')" 'transports after that'

# without the module: the references run, the rest is skipped
wait_for 60 A 'module.sh unload'
run 0 '' sockmove twohosts_stream
says '^ok 1 selftests: smc: sockmove.reference$'
says '^ok 2 selftests: smc: sockmove.smcd # SKIP the smc module is not loaded$'
says '^ok 6 selftests: smc: twohosts_stream.plain # SKIP no second host'
equal '1 passed, 0 failed, 6 skipped' "$(tail -n 1 "$out")" 'last line'
run 4 '' sockmove.smcd
run 0 SMC_DESTRUCTIVE=1 sockmove.smcd
says '^# the smc module has been unloaded$'
g A 'module.sh load ours'
