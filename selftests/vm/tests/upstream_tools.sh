# SPDX-License-Identifier: GPL-2.0
# Our tools and the kernel's own SMC: they set it up, and what they show of live
# connections over SMC-R is what was set up, the same at both ends.  7.2 has no SMC
# of its own; that of 6.1 has no IPPROTO_SMC, and its connect() times out between
# two ports of its soft-RoCE.
# when: 3/4 6.12; long debug, takes minutes there
# kernels: 6.12 debug kcsan
# guests: 2
# timeout: 600
# module: upstream
s=/lab/selftests/smc
t=/lab/tools

# json GUEST EXPRESSION COMMAND: the tool's JSON in "rows"
json() {
	g "$1" "cd $t && $s/tooljson.py '$2' ./$3" || fail "$1: $3"
}

# value GUEST EXPRESSION COMMAND: print the expression
value() {
	g "$1" "$t/$3 | python3 -c 'import json, sys
rows = json.load(sys.stdin)
print($2)'"
}

# hold KIND-OF-SERVER CONNECTIONS PORT: streams that stay until released
hold() {
	g B "rm -f /tmp/hold*
		$s/stream -s -k $1 -n $2 -l 10K -H /tmp/hold 0.0.0.0 $3" &
	spid=$!
	listening B "$3"
	g A "rm -f /tmp/hold*
		$s/stream -c -k ipproto -n $2 -l 10K -H /tmp/hold 10.9.0.2 $3" \
		>"$LAB_RUN/client.txt" &
	cpid=$!
	wait_for 60 A 'test -e /tmp/hold.client'
	wait_for 60 B 'test -e /tmp/hold.server'
}

release() {
	for x in A B; do g $x 'touch /tmp/hold'; done
	wait $cpid || fail 'client'
	wait $spid || fail 'server'
}

# small letters on purpose: the kernel's own does not fold those of a name to
# be deleted
set_up() {
	x=$1
	g $x "$t/smcr ueid add LAB.1 && $t/smc_pnet -a labnet -I eth0 -D rxe0" ||
		fail "setting up $x"
	json $x 'rows == [{"ueid": "LAB.1"}]' 'smcr -j ueid'
	json $x 'rows == [{"pnetid": "LABNET", "netdev": "eth0"},
		{"pnetid": "LABNET", "ibdev": "rxe0", "ibport": 1}]' 'smc_pnet -j'
	json $x '[(r["netdev"], r["ibdev"], r["ibport"], r["pnetid"],
		   r["active"], r["links"], r["critical"]) for r in rows] ==
		[("eth0", "rxe0", 1, "LABNET", True, 0, False)]' 'smcr -j device'
	json $x 'rows[0]["hostname"] == "'$x'" and rows[0]["version"] == 2 and
		rows[0]["smcr_v2"] and not rows[0]["ism"]' 'smcr -j info'
	json $x 'rows == []' 'smcr -j linkgroup'
	json $x 'rows == []' 'smcd -j device'
}

in_both set_up || fail 'setting up'
refused 2 A "$t/smcr ueid add LAB.1"
refused 2 A "$t/smcr ueid del LAB.2"
refused 2 A "$t/smcd seid enable"
refused 1 A "$t/smc_pnet -a other -I eth0"
refused 1 A "$t/smc_pnet -d none"
g A "$t/smc_rnics >/tmp/out && grep -q 'virt.*\*LABNET *eth0' /tmp/out" ||
	fail 'smc_rnics'

hold ipproto 3 9700

shown() {
	x=$1
	case $x in A) role=CLNT peer=B ;; B) role=SERV peer=A ;; esac
	json $x '[(r["role"], r["type"], r["vlan"], r["conns"], r["pnetid"],
		   r["version"], r["peer_host"], r["eid"], r["direct"])
		  for r in rows] == [("'$role'", "SINGLE", 0, 3, "LABNET", 2,
		  "'$peer'", "LAB.1", True)]' 'smcr -j linkgroup'
	json $x '[(r["role"], r["conns"], r["state"], r["ibdev"], r["ibport"],
		   r["netdev"]) for r in rows] == [("'$role'", 3, "LINK_ACTIVE",
		  "rxe0", 1, "eth0")]' 'smcr -j linkgroup link-show'
	json $x 'rows[0]["links"] == 1' 'smcr -j device'
	json $x 'rows == []' 'smcd -j linkgroup'
	equal 3 "$(g $x smcss | grep -c '^ACTIVE.* SMCR *$')" "smcss in $x"
	equal 3 "$(g $x smcss -R | grep -c "SMCR $role rxe0  *01  *01 ")" \
		"smcss -R in $x"
	equal 0 "$(g $x smcss -D | grep -c ACTIVE || :)" "smcss -D in $x"
	# inodes are those of the program
	g $x "pid=\$(pgrep -x stream) && for i in \$(smcss | awk '/ACTIVE/ {
		print \$3 + 0 }'); do ls -l /proc/\$pid/fd |
		grep -qF \"socket:[\$i]\" || exit 1; done" || fail "inodes in $x"
}

in_both shown || fail 'of the link group'
json A 'sum(x["client_v2"] for x in [rows[0]["connections"]]) == 3 and
	rows[0]["tx"]["buffer_usage"] == 3 * 65536' 'smcr -j stats'
json B 'rows[0]["connections"]["server_v2"] == 3' 'smcr -j stats'
for pair in 'link_uid peer_uid' 'gid peer_gid'; do
	mine=${pair% *} other=${pair#* }
	for x in "A B" "B A"; do
		same "$(value "${x% *}" "rows[0][\"$mine\"]" \
				'smcr -j linkgroup link-show')" \
			"$(value "${x#* }" "rows[0][\"$other\"]" \
				'smcr -j linkgroup link-show')" \
			"$mine in ${x% *} and $other in ${x#* }"
	done
done
# They move nothing now.  The kernel's own tells no addresses of IPPROTO_SMC.
json A '[(r["mode"], r["peer"]["port"], r["sent_per_s"])
	for r in rows["connections"]] == [("SMC-R", 9700, 0)] * 3' \
	'smctop -j -n 1 -d 0.5'
json A '[(r["mode"], r["conns"]) for r in rows["links"]] == [("SMC-R", 3)]' \
	'smctop -j -n 1 -d 0.5'
g A "cd $t && ./smctop -b -n 1 -d 0.5 -g >/tmp/out &&
	grep -q 'SMC-R.*rxe0' /tmp/out" || fail 'smctop -g'
sent=$(value A 'rows[0]["tx"]["bytes"]' 'smcr -j stats')
# bytes written by all connections, from their cursors
same "$sent" "$(g A smcss -d | awk '/^ACTIVE/ { split($(NF - 2), c, ":")
	print "0x" c[2] }' | while read -r n; do echo $((n)); done |
	awk '{ n += $1 } END { print n }')" 'smcss -d and smcr stats'
equal "smc_bytes_total{transport=\"smcr\",direction=\"tx\"} $sent" \
	"$(g A "$t/smc_stats -P" | grep '^smc_bytes.*smcr.*tx')" 'smc_stats -P'
# its other form reads a file which only our module has
refused 1 A "$t/smc_stats >/tmp/out 2>&1"
g A 'grep -q smc_stat: /tmp/out' || fail 'smc_stats'
release
grep -q " sent $sent," "$LAB_RUN/client.txt" || fail "the client sent $sent"

# a server without SMC
hold tcp 2 9701
equal 2 "$(g A smcss | grep -c '^ACTIVE.* TCP 0x03010000 .*did not offer SMC')" \
	'smcss and the reason'
json A 'rows[0]["fallbacks"]["client"] == 2 and
	[(r["label"], r["count"]) for r in rows[0]["fallback_reasons"]] ==
	[("PEER_NO_SMC", 2)]' 'smcr -j stats'
release

# One that moves something, all the time in one direction or the other.
g B "$s/stream -s -k afsmc -n 1 -l 1G 0.0.0.0 9702" &
spid=$!
listening B 9702
g A "$s/stream -c -k afsmc -n 1 -l 1G 10.9.0.2 9702" >/dev/null &
cpid=$!
wait_for 60 B "$t/smcss | grep -q ':9702 .*SMCR'"
for x in A B; do
	case $x in A) peer=10.9.0.2 ;; B) peer=10.9.0.1 ;; esac
	json $x '[(r["peer"]["address"], r["sent_per_s"] + r["received_per_s"] > 0)
		for r in rows["connections"]] == [("'$peer'", True)]' \
		'smctop -j -n 1 -d 3'
done
kill $cpid $spid
wait $cpid || :
wait $spid || :

# that it is not this module, and what to do about it
g A "$t/smcr info | grep \"^Module:  *the kernel's own\" &&
	$t/smc_chk -s | grep \"^Module  *the kernel's own\" &&
	$t/smcss -i 2>&1 | grep \"^smcss: this is the kernel's own smc; .*dkms\" &&
	$t/smc_run -d true 2>&1 | grep \"^smc_run: this is the kernel's own smc; .*dkms\"" ||
	fail "which module it is"

g B "$t/smc_chk -S" &
listening B 37373
json A 'rows[0]["mode"] == "SMC-R"' 'smc_chk -j 10.9.0.2'

for x in A B; do
	g $x "$t/smcr ueid del LAB.1 && $t/smc_pnet -d labnet" ||
		fail "taking it back in $x"
	json $x 'rows == []' 'smcr -j ueid'
	json $x 'rows == []' 'smc_pnet -j'
done
