# SPDX-License-Identifier: GPL-2.0
# The tools against two live hosts with connections over SMC-R, SMC-D and TCP:
# what they show is what was set up.
# when: 2/2 6.12; 8/8 debug
# guests: 2
# timeout: 300
s=/lab/selftests/smc
t=/lab/tools

# json GUEST EXPRESSION COMMAND: the tool's JSON in "rows"
json() {
	g "$1" "cd $t && $s/tooljson.py '$2' ./$3" || fail "$1: $3"
}

for x in A B; do
	g $x 'sysctl -q net.smc.handshake_timeout_ms=20000'
done

# smc_chk makes the connections it judges
g B "$t/smc_chk -S -d" &
listening B 37373
json A 'rows[0]["mode"] == "SMC-R"' 'smc_chk -j 10.9.0.2'
g A "$t/smc_chk -d 10.9.0.2 >/tmp/out && cat /tmp/out &&
	grep -qx 'Success, using SMC-R' /tmp/out" || fail 'smc_chk and SMC-R'
g A "$t/smc_chk -S -j >/tmp/served" &
listening A 37373
json A 'rows[0]["mode"] == "SMC-D"' 'smc_chk -j -l localhost'
# the server goes on, and has said it
wait_for 60 A 'grep -q SMC-D /tmp/served'
g B 'cd / && python3 -m http.server 8000 >/tmp/http 2>&1' &
listening B 8000
refused 1 A "$t/smc_chk -l 10.9.0.2:8000"
json A 'rows[0]["reason"]["label"] == "PEER_NO_SMC"' 'smc_chk -j 10.9.0.2:8000'
refused 1 A "$t/smc_chk -l 10.9.0.2:9"

# three connections over RDMA, held open
g B "rm -f /tmp/hold*
	$s/stream -s -k ipproto -n 3 -l 10K -H /tmp/hold 0.0.0.0 9700" &
spid=$!
listening B 9700
g A "rm -f /tmp/hold*
	$s/stream -c -k ipproto -n 3 -l 10K -H /tmp/hold 10.9.0.2 9700" &
cpid=$!
wait_for 60 A 'test -e /tmp/hold.client'
wait_for 60 B 'test -e /tmp/hold.server'

json A 'sum(r["conns"] for r in rows if r["role"] == "CLNT") == 3' \
	'smcr -j linkgroup'
json B 'sum(r["conns"] for r in rows if r["role"] == "SERV") == 3' \
	'smcr -j linkgroup'
json A 'sum(r["conns"] for r in rows) == 3 and
	all(r["state"] == "LINK_ACTIVE" and r["ibdev"] == "rxe0" and
	    r["netdev"] == "eth0" for r in rows)' \
	'smcr -j linkgroup link-show netdev eth0'
json A 'rows == []' 'smcr -j linkgroup link-show ibdev none'
json A '[r["ibdev"] for r in rows if r["active"]] == ["rxe0"]' 'smcr -j device'
gids() { # GUEST KEY: GIDs of the links
	g "$1" "$t/smcr -j linkgroup link-show | python3 -c '
import json, sys
print(*sorted({r[\"$2\"] for r in json.load(sys.stdin)}))'"
}
same "$(gids A gid)" "$(gids B peer_gid)" 'GIDs at both ends'
equal 3 "$(g A smcss | grep -c '^ACTIVE.*SMCR')" 'connections in smcss'
json A 'rows[0]["connections"]["client_v1"] +
	rows[0]["connections"]["client_v2"] >= 5' 'smcr -j stats'
json A '[r["label"] for r in rows[0]["fallback_reasons"]] == ["PEER_NO_SMC"]' \
	'smcr -j stats'
json A 'rows[0]["connections"]["client_v1"] +
	rows[0]["connections"]["client_v2"] >= 1' 'smcd -j stats'
g A "$t/smc_stats -P >/tmp/out &&
	grep -q '^smc_fallback_reasons_total.*PEER_NO_SMC\"} 2\$' /tmp/out" ||
	fail 'smc_stats and the reasons'
# another namespace has none of it
g A "ip netns add toolns && ip netns exec toolns \
	$s/tooljson.py 'rows == []' $t/smcr -j linkgroup &&
	ip netns del toolns" || fail 'namespace'

for x in A B; do g $x 'touch /tmp/hold'; done
wait $cpid || fail 'client'
wait $spid || fail 'server'

# what can be changed, and what may not
g A "$t/smcr ueid add RACK.7" || fail 'ueid add'
json A '{"ueid": "RACK.7"} in rows' 'smcr -j ueid'
refused 2 A "$t/smcr ueid add RACK.7"
refused 2 A "$t/smcr ueid add no_underscore"
g A "$t/smcr ueid del RACK.7" || fail 'ueid del'
refused 2 A "$t/smcr ueid del RACK.7"
refused 2 A "$t/smcd seid enable"
g A "$t/smc_pnet -a net1 -I eth0" || fail 'pnet add'
json A 'rows == [{"pnetid": "NET1", "netdev": "eth0"}]' 'smc_pnet -j'
refused 1 A "$t/smc_pnet -a net2 -I eth0"
refused 1 A "$t/smc_pnet -a net-1 -I lo"
refused 1 A "$t/smc_pnet -d none"
g A "$t/smc_pnet -f" || fail 'pnet flush'
json A 'rows == []' 'smc_pnet -j'
user='setpriv --reuid 1000 --clear-groups'
refused 2 A "$user $t/smcr ueid add X"
refused 1 A "$user $t/smc_pnet -f"
g A "$user $t/smcr ueid && $user $t/smc_pnet" || fail 'rights'
