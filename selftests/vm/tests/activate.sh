# SPDX-License-Identifier: GPL-2.0
# Programs that no library can be put in front of, here a static one, move their
# data by SMC where the kernel turns their sockets: smc_run --cgroup and --all,
# with rules; not outside, and not after --off.  Linux 6.1 says why it cannot.
# kernels: 6.1 6.12 7.2
# guests: 1
# timeout: 300
# rdma: none
# shows: activation by BPF or the reason
# when: 3/4 6.12
s=/lab/selftests/smc
run=/lab/tools/smc_run
cg=/sys/fs/cgroup

# talks NAME WHERE COUNTERS [ADDRESS PORT [PROGRAM]]: the static program, moved
# to a cgroup; what happened to its two sockets
talks() {
	g A "$s/smcstat.sh mark
		echo \$\$ >$cg$2/cgroup.procs || exit
		${6:-$s/static_tcp} ${4:-127.0.0.1} ${5:-9900} 100000 ||
			exit
		$s/smcstat.sh expect $3" || fail "$1"
}

# says TEXT OPTION...: smc_run fails with 125 and this sentence
says() {
	text=$1
	shift
	rc=0
	said=$(g A "$run $* 2>&1") || rc=$?
	echo "$said"
	equal 125 $rc "smc_run $*"
	case $said in
	*"$text"*) ;;
	*) fail "smc_run $*: does not say '$text'" ;;
	esac
}

# rules: from standard input
rules() { cat >"$LAB_RUN/results/rules.conf"; }

attached() {
	got=$(g A "$run --status") || fail '--status'
	echo "$got"
	equal "$1" "$(echo "$got" | sed 's/: [0-9]* sockets/: N sockets/')" \
		'--status'
}

g A "readelf -l $s/static_tcp >/tmp/out && ! grep -q INTERP /tmp/out" ||
	fail 'static_tcp is not static'
smcd='HsClientSmcd=1 HsServerSmcd=1 HsClientTcp=0 HsServerTcp=0 TxBytes\>199999'
tcp='HsClientSmcd=0 HsServerSmcd=0 HsClientTcp=0 HsServerTcp=0'
g A "sysctl -q net.smc.transports=smcd net.smc.handshake_timeout_ms=20000
	mkdir -p $cg/in/below $cg/out"

if [ "$LAB_K" = 6.1 ]; then
	says 'came with Linux 6.6; use smc_run COMMAND' --cgroup $cg/in
	says 'came with Linux 6.6; use smc_run COMMAND' --all
	talks 'plain TCP' /in "$tcp"
	g A "$run --off" || fail '--off'
	attached ''
	exit 0
fi

talks 'before' /in "$tcp"
# what smc_run does elsewhere does nothing here
talks 'the library' /in "$tcp" '' '' "$run $s/static_tcp"

# --- a cgroup

g A "$run -d --cgroup $cg/in" || fail "--cgroup $cg/in"
attached "cgroup $cg/in: N sockets"
talks 'in the cgroup' /in "$smcd"
talks 'in one below' /in/below "$smcd"
talks 'IPv6' /in "$smcd" ::1
talks 'outside' /out "$tcp"
talks 'in the root' '' "$tcp"
equal "cgroup $cg/in: 6 sockets" "$(g A "$run --status")" 'sockets turned'
# a dynamic program, too; nothing but sockets of TCP and MPTCP is changed
g A "echo \$\$ >$cg/in/cgroup.procs; python3 -c '
import socket as s
def opens(*a):
    with s.socket(*a) as sock:
        return sock.getsockopt(286, 256) == 0
def is_ours(*a):
    try:
        return opens(*a)
    except OSError:
        return False
assert is_ours(s.AF_INET, s.SOCK_STREAM) and is_ours(s.AF_INET6, s.SOCK_STREAM)
assert is_ours(s.AF_INET, s.SOCK_STREAM | s.SOCK_NONBLOCK, s.IPPROTO_TCP)
assert is_ours(s.AF_INET, s.SOCK_STREAM, 262)
for a in ((s.AF_INET, s.SOCK_DGRAM), (s.AF_UNIX, s.SOCK_STREAM),
          (s.AF_INET, s.SOCK_RAW, 6), (s.AF_INET, s.SOCK_DGRAM, 17)):
    s.socket(*a).close()
    assert not is_ours(*a), a
'" || fail 'which sockets are turned'

# the module stays as long as it is asked for: TCP's sockets never fail
g A 'module.sh unload' && fail 'the module went away'
g A 'module.sh load ours; lsmod | grep smc'
talks 'after rmmod' /in "$smcd"

# again: nothing doubles
g A "$run --cgroup in" || fail '--cgroup in'
attached "cgroup $cg/in: N sockets"
talks 'attached again' /in "$smcd"

# other cgroups; one that goes away harms nothing, and is forgotten later
g A "$run --cgroup $cg/out && mkdir $cg/gone && $run --cgroup=gone &&
	rmdir $cg/gone" || fail 'a cgroup that goes away'
talks 'another cgroup' /out "$smcd"
g A "$run --status | grep '^cgroup $cg/gone (gone)'" || fail 'gone'
g A "mkdir $cg/gone && $run --off --cgroup $cg/out" || fail '--off of one'
attached "cgroup $cg/in: N sockets"
talks 'a new cgroup of that name' /gone "$tcp"
talks 'off' /out "$tcp"
talks 'still on' /in "$smcd"
g A "$run --cgroup $cg/in && rmdir $cg/gone"
attached "cgroup $cg/in: N sockets"
g A "$run --off && $run --off" || fail '--off'
attached ''
talks 'all off' /in "$tcp"

# its own cgroup, as commands of a unit of systemd are in it
g A "mkdir $cg/in/.control && echo \$\$ >$cg/in/.control/cgroup.procs &&
	$run --cgroup self" || fail '--cgroup self'
attached "cgroup $cg/in: N sockets"
talks 'its own cgroup' /in "$smcd"
g A "echo \$\$ >$cg/in/below/cgroup.procs && $run --cgroup self &&
	$run --status | grep '^cgroup $cg/in/below: ' &&
	$run --off --cgroup self" || fail '--off --cgroup self'
attached "cgroup $cg/in: N sockets"
g A "$run --off" || fail '--off'

# where two overlap the one that was turned on last counts
g A "$run --cgroup in && $run --all" || fail '--cgroup and --all'
talks 'both' /in "$smcd"
equal "all programs: 2 sockets;cgroup $cg/in: 0 sockets" \
	"$(g A "$run --status" | sort | paste -sd ';')" 'which of them counts'
g A "$run --off" || fail '--off'

# self GROUP [OPTION]: --cgroup self where the group is the root of all that is seen
self() {
	g A "echo \$\$ >$cg/$1/cgroup.procs && unshare -C -m sh -c '
		mount -t cgroup2 cgroup2 $cg && $run ${2:-} --cgroup self'" ||
		fail "${2:-on} in a namespace of $1"
}

# two that have one name for their group
self in
self out
self out --off
talks 'the other one' /in "$smcd"
talks 'itself' /out "$tcp"
g A "$run --off" || fail '--off'

# --- all, and rules

rules <<'END'
deny connect 127.0.0.0/8:9901
deny listen port 9902-9903
deny ::1
[static_t* nonesuch]
deny listen 127.0.0.1:9904
[other]
deny port 9900
END
g A "$run --all -c /results/rules.conf" || fail '--all'
attached 'all programs: N sockets, 5 rules of /results/rules.conf'
talks 'no rule' /out "$smcd"
refused='HsClientSmcd=0 HsServerSmcd=0 HsClientTcp=1 HsServerTcp=1'
talks 'connect denied' /out "$refused" 127.0.0.1 9901
talks 'listen denied' /in "$refused" 127.0.0.1 9903
talks 'allowed behind a range' /in "$smcd" 127.0.0.2 9904
talks 'denied to the program' /in "$refused" 127.0.0.1 9904
talks 'IPv6 denied' /in "$refused" ::1
talks 'IPv4 in IPv6' /in "$refused" ::ffff:127.0.0.1 9901
g A "cp $s/static_tcp /tmp/other"
talks 'another program' /in "$refused" 127.0.0.1 9900 /tmp/other
talks 'rules of the first' /in "$smcd" 127.0.0.1 9904 /tmp/other

# a program to which nothing is allowed has TCP's sockets; a script's name
# counts, and its interpreter's
rules <<'END'
[static_tcp script.sh]
deny connect any
deny listen any
allow any
END
g A "$run --all -c /results/rules.conf" || fail '--all'
attached 'all programs: N sockets, 3 rules of /results/rules.conf'
talks 'nothing allowed' /in "$tcp"
talks 'another program' /in "$smcd" 127.0.0.1 9900 /tmp/other
g A "cat >/tmp/script.sh <<-END
		#!/usr/bin/python3
		import socket
		try:
		    socket.socket().getsockopt(286, 256)
		    print('smc')
		except OSError:
		    print('tcp')
	END
	cp /tmp/script.sh /tmp/script2.sh; chmod +x /tmp/script*.sh"
equal 'tcp smc' "$(g A '/tmp/script.sh; /tmp/script2.sh' | paste -sd' ')" \
	'a script and its name'

# the two sides by their names, as each of them alone makes it TCP
cat >"$LAB_RUN/results/srv" <<'END'
#!/usr/bin/python3
import socket
import sys
l = socket.socket()
l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
l.bind(('127.0.0.1', int(sys.argv[1])))
l.listen()
if sys.argv[2:]:
    l.setsockopt(286, 256, 0)
c, _ = l.accept()
c.sendall(c.recv(1))
END
cat >"$LAB_RUN/results/cli" <<'END'
#!/usr/bin/python3
import socket
import sys
s = socket.socket()
for to in sys.argv[1:]:
    ip, port = to.split(':')
    rc = s.connect_ex((ip, int(port)))
    assert (rc == 0) == (to == sys.argv[-1]), (to, rc)
s.sendall(b'x')
assert s.recv(1) == b'x'
END
g A 'cp /results/srv /results/cli /tmp; chmod +x /tmp/srv /tmp/cli'
rules <<'END'
[srv]
deny listen port 9910
[cli]
deny connect port 9911-9912
END
g A "$run --all -c /results/rules.conf" || fail '--all'

# sides COUNTERS SERVER-ARGUMENTS CLIENT-ARGUMENTS
sides() {
	g A "$s/smcstat.sh mark"
	g A "/tmp/srv $2" &
	pid=$!
	listening A "${2%% *}"
	g A "/tmp/cli $3" || fail "cli $3"
	wait $pid || fail "srv $2"
	g A "$s/smcstat.sh expect $1" || fail "srv $2, cli $3"
}

sides "$refused" 9910 127.0.0.1:9910
# the rule is not the program's option, which it may take back
sides "$refused" '9910 undo' 127.0.0.1:9910
sides "$refused" 9911 127.0.0.1:9911
# asked at each connect(), here first for where no route leads
sides 'HsClientSmcd=1 HsServerSmcd=1' 9913 '10.99.0.1:9912 127.0.0.1:9913'

# what is not whole is said, and made whole
g A 'rm /sys/fs/bpf/smc/all/turn; mkdir /sys/fs/bpf/smc/new'
equal 2 "$(g A "$run --status" | grep -c ': not whole; smc_run --off$')" \
	'not whole'
g A "$run --all -c /results/rules.conf" || fail '--all'
attached 'all programs: N sockets, 2 rules of /results/rules.conf'

# the largest file of rules there can be
{
	i=0
	while [ $i -lt 64 ]; do
		echo "[*x$i*y[a-f]* p$((i / 2))]"
		i=$((i + 1))
		[ $i -lt 42 ] || break
	done
	i=0
	while [ $i -lt 255 ]; do
		echo "deny 10.$i.0.0/16:1000-$((1000 + i))"
		i=$((i + 1))
	done
	echo 'deny listen port 9999'
} | rules
g A "$run -d --all -c /results/rules.conf" || fail 'many rules'
attached 'all programs: N sockets, 256 rules of /results/rules.conf'
talks 'many rules' /in "$smcd"

# a file with a mistake changes nothing
echo nonsense | rules
says 'nothing is attached' -c /results/rules.conf --all
attached 'all programs: N sockets, 256 rules of /results/rules.conf'
g A "$run --off --all" || fail '--off --all'
attached ''
talks 'off' /in "$tcp"

# --- what it cannot do

says 'there is no such cgroup' --cgroup $cg/nonesuch
says 'there is no such cgroup' --cgroup /tmp
said=$(g A "setpriv --reuid 65534 --clear-groups $run --all 2>&1") && fail 'nobody may'
case $said in
*'no permission'*) ;;
*) fail "not root: $said" ;;
esac
# a directory that is another's
g A 'rmdir /sys/fs/bpf/smc && mkdir /sys/fs/bpf/smc && chown 1000 /sys/fs/bpf/smc'
says 'can be changed by others (owner 1000' --all
says 'can be changed by others (owner 1000' --off
g A 'rmdir /sys/fs/bpf/smc && ln -s /tmp /sys/fs/bpf/smc'
says '/sys/fs/bpf/smc: ' --all
g A 'rm /sys/fs/bpf/smc'
# --off means a cgroup where a directory has the name, too
g A "cd /tmp && mkdir -p in && $run --cgroup in && $run --off --cgroup in"
attached ''
# what is off holds the module no longer
g A "$run --cgroup in && $run --off && module.sh unload" || fail 'rmmod'
says 'nothing was attached' --all
attached ''
g A "rmdir $cg/in/below $cg/in/.control $cg/in $cg/out"
