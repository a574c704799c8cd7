# SPDX-License-Identifier: GPL-2.0
# net.smc.*: names, defaults, ranges, one directory for each namespace; and
# /proc/net/smc_stat.  Nonsense is refused with EINVAL and changes nothing.
# when: 2/4 debug; long kcsan, a minute for what has no threads
# guests: 1
# rdma: none

g A '
set -u
bad=0
fail() { echo "FAIL: $*"; bad=1; }
dir=/proc/sys/net/smc
names="autocorking_size conns_per_queue fallback_memory_s handshake_timeout_ms
lend_ports limit_smc_hs max_groups max_groups_per_peer max_handshakes max_orphans max_orphans_per_peer
max_ring_kbytes max_ring_kbytes_per_peer orphan_timeout_s rmem smcr_buf_type
smcr_max_conns_per_lgr smcr_max_links_per_lgr smcr_testlink_time transports wmem"
# the first namespace has those of the host, too
host="host_max_groups host_max_handshakes host_max_orphans
host_max_orphans_per_user host_max_ring_kbytes host_max_ring_kbytes_per_user"
[ "$(ls $dir | sort | xargs)" = \
	"$(echo $names $host | xargs -n 1 | sort | xargs)" ] ||
	fail "names: $(ls $dir | xargs)"
[ "$(unshare -n ls $dir | sort | xargs)" = "$(echo $names)" ] ||
	fail "names: $(unshare -n ls $dir | xargs)"

# is NAME VALUE; ok NAME VALUE [READS-AS]; no NAME VALUE
is() { [ "$(cat $dir/$1)" = "$2" ] || fail "$1 is $(cat $dir/$1), not $2"; }
ok() {
	echo "$2" >$dir/$1 || fail "$1 refuses $2"
	is "$1" "${3-$2}"
}
no() {
	before=$(cat $dir/$1)
	if out=$( { echo "$2" >$dir/$1; } 2>&1); then fail "$1 takes \"$2\""; fi
	case $out in *"Invalid argument"*) ;; *) fail "$1: $out" ;; esac
	is "$1" "$before"
}

is transports "smcd smcr"; is handshake_timeout_ms 2000
is fallback_memory_s 60; is orphan_timeout_s 120
is max_orphans 16384; is host_max_orphans 65536
is max_handshakes 1024; is host_max_handshakes 16384
is max_orphans_per_peer 8192; is host_max_orphans_per_user 8192
# those by the memory: a user, a peer, a namespace and the host in this order
most=$(awk "/^MemTotal/ { print \$2 }" /proc/meminfo)
[ $(cat $dir/max_ring_kbytes_per_peer) -lt $(cat $dir/max_ring_kbytes) ] &&
	[ $(cat $dir/max_ring_kbytes) -lt $(cat $dir/host_max_ring_kbytes) ] &&
	[ $(cat $dir/host_max_ring_kbytes) -le $((most / 4)) ] &&
	[ $(cat $dir/host_max_ring_kbytes) -gt $((most / 8)) ] ||
	fail "ring_kbytes: $(cd $dir && cat *ring_kbytes* | xargs) of $most"
is host_max_ring_kbytes_per_user $(($(cat $dir/host_max_ring_kbytes) / 2))
[ $(cat $dir/max_groups_per_peer) -lt $(cat $dir/max_groups) ] &&
	[ $(cat $dir/max_groups) -lt $(cat $dir/host_max_groups) ] ||
	fail "groups: $(cd $dir && cat *groups* | xargs)"
is wmem 65536; is rmem 65536; is smcr_max_conns_per_lgr 255
is smcr_max_links_per_lgr 2; is smcr_testlink_time 30; is limit_smc_hs 0
is conns_per_queue 32; is autocorking_size 65536; is smcr_buf_type 0; is lend_ports 0

ok transports smcr; ok transports smcd; ok transports ""
ok transports "smcr smcd" "smcd smcr"; ok transports smcr,smcd "smcd smcr"
no transports tcp; no transports "smcr bogus"; no transports smcdsmcr
no transports "smcr$(printf "%80s" smcd)"
for x in "handshake_timeout_ms 100 60000" "fallback_memory_s 0 86400" \
	 "orphan_timeout_s 1 86400" "max_orphans 0 1073741823" "wmem 16384 1073741823" \
	 "rmem 16384 1073741823" "smcr_max_conns_per_lgr 16 255" \
	 "conns_per_queue 0 255" \
	 "smcr_max_links_per_lgr 1 2" "limit_smc_hs 0 1" "lend_ports 0 1" \
	 "host_max_orphans 0 1073741823" "max_groups 0 1073741823" \
	 "max_orphans_per_peer 0 1073741823" \
	 "host_max_orphans_per_user 0 1073741823" \
	 "max_handshakes 0 1073741823" "host_max_handshakes 0 1073741823" \
	 "max_groups_per_peer 0 1073741823" "max_ring_kbytes 0 1073741823" \
	 "max_ring_kbytes_per_peer 0 1073741823" "host_max_groups 0 1073741823" \
	 "host_max_ring_kbytes 0 1073741823" \
	 "host_max_ring_kbytes_per_user 0 1073741823"; do
	set -- $x
	ok $1 $2; ok $1 $3; no $1 $(($2 - 1)); no $1 $(($3 + 1)); no $1 x
done
ok smcr_buf_type 2; no smcr_buf_type 3; ok smcr_testlink_time 0
no smcr_testlink_time -1; ok autocorking_size 0

# a new namespace begins with the defaults and keeps its settings to itself
out=$(unshare -n sh -c "cat $dir/wmem; echo 20000 >$dir/wmem; cat $dir/wmem
	wc -l </proc/net/smc_stat" | xargs)
set -- $out
[ "$1 $2" = "65536 20000" ] || fail "namespace: $out"
is wmem 1073741823

# root of a container lowers its limits, and raises none
out=$(unshare -Urn sh -c "cd $dir; for n in max_*; do
	old=\$(cat \$n)
	{ echo \$((old + 1)) >\$n; } 2>/dev/null && echo \$n is raised
	echo \$((old - 1)) >\$n && [ \$(cat \$n) = \$((old - 1)) ] || echo \$n stays
	{ echo \$old >\$n; } 2>/dev/null && echo \$n is raised again
	done; echo 1000 >handshake_timeout_ms; cat handshake_timeout_ms" 2>&1)
[ "$out" = 1000 ] || fail "container: $out"

# nor does it have root outside do that, in a file that it has opened
out=$(unshare -n sh -c "cd $dir && echo 100 >max_orphans && exec 3>max_orphans &&
	nsenter -n -t 1 sh -c \"echo 1000 >&3\"; cat max_orphans" 2>&1)
case $out in
*error*100) ;;
*) fail "a file of a container: $out" ;;
esac

# one line for each counter, a name and a number
[ "$3" = "$(wc -l </proc/net/smc_stat)" ] || fail "smc_stat: $out"
[ "$3" -gt 30 ] || fail "smc_stat has $3 lines"
! grep -Ev "^[A-Z][A-Za-z0-9]+ *	[0-9]+$" /proc/net/smc_stat || fail "smc_stat"
exit $bad
'
