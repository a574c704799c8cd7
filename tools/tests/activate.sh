#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Tests of smc_run --cgroup, --all, --off and --status that need nothing of the
# kernel: command lines, what is passed on, rules, and patterns as BPF has them.

cd "$(dirname "$0")/.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0
unset SMC_DEBUG SMC_RUN_CONF

good() { passed=$((passed + 1)); }

bad() {
	failed=$((failed + 1))
	echo "FAIL $*"
}

# says STATUS TEXT COMMAND...: it ends with that, having said that
says() {
	want=$1
	text=$2
	shift 2
	"$@" >"$tmp/out" 2>&1
	got=$?
	if [ $got -eq "$want" ] && grep -qF -e "$text" "$tmp/out"; then
		good
	else
		bad "$*: status $got, not $want: $text"
		cat "$tmp/out"
	fi
}

# A build tree of its own: the kernel seems to have SMC, or not; what would
# attach says how it was started.
for tree in has lacks; do
	mkdir "$tmp/$tree"
	sed "s|/sys/module/smc|$tmp/has|; s|/proc/net/protocols|$tmp/no|" \
		smc_run >"$tmp/$tree/smc_run"
	chmod +x "$tmp/$tree/smc_run"
done
sed -i "s|$tmp/has|$tmp/no|" "$tmp/lacks/smc_run"
cat >"$tmp/has/smc_activate" <<'END'
#!/bin/sh
echo "$# $* (${SMC_RUN_CONF-none}) (${SMC_DEBUG-none})"
exit 7
END
chmod +x "$tmp/has/smc_activate"
run=$tmp/has/smc_run

says 7 '2 on all (none) (none)' "$run" --all
says 7 '3 on cgroup /a b (none) (none)' "$run" --cgroup '/a b'
says 7 '3 on cgroup x=y (none) (1)' "$run" -d --cgroup=x=y
says 7 "4 -f on cgroup x ($tmp/out)" "$run" -c "$tmp/out" --force --cgroup x
cat >"$tmp/own" <<'END'
1:name=systemd:/elsewhere
0::/system.slice/system-a\x2db.slice/a-b@x y.service
END
sed -i "s|^sr_own=.*|sr_own=$tmp/own|; s|^sr_cgroups=.*|sr_cgroups=$tmp/fs|" "$run"
says 7 "3 on cgroup $tmp/fs/system.slice/system-a\\x2db.slice/a-b@x y.service (none)" \
	"$run" --cgroup self
echo 0::/a.service/.control >"$tmp/own"
says 7 "3 off cgroup $tmp/fs/a.service (none)" "$run" --off --cgroup self
echo 0::/ >"$tmp/own"
says 7 "3 on cgroup $tmp/fs/ (none)" "$run" --cgroup=self
mkdir -p "$tmp/fs/unified"
: >"$tmp/fs/unified/cgroup.procs"
says 7 "3 on cgroup $tmp/fs/unified/ (none)" "$run" --cgroup=self
echo 1:name=systemd:/a.service >"$tmp/own"
says 125 'there is no cgroup of version 2' "$run" --cgroup self
says 7 '1 off (none)' "$run" --off
says 7 '3 off cgroup x (none)' "$run" --off --cgroup x
says 7 '2 off all (none)' "$run" --all --off
says 7 '1 status (none)' "$run" --status

says 125 'needs an argument' "$run" --cgroup
says 125 'needs an argument' "$run" --cgroup=
says 125 'only one of them' "$run" --all --cgroup x
says 125 'only one of them' "$run" --cgroup x --cgroup y
says 125 'only one' "$run" --off --status
says 125 'a command (true) does not go with --cgroup' "$run" --cgroup x true
says 125 'a command (true) does not go with --off' "$run" --off true
says 125 '-r does not go with --all' "$run" -r 1M --all
says 125 '-T does not go with --status' "$run" --status -T
says 125 '--all does not go with --status' "$run" --status --all
says 125 '--force does not go with --off' "$run" --off --force
says 125 '--force goes with' "$run" --force true
says 125 'unknown option --alles' "$run" --alles
says 125 'cannot be read' "$run" -c "$tmp/no" --all
# options of a command are the command's
touch "$tmp/has/libsmc-preload.so"
says 0 '--all' "$run" echo --all

mkdir "$tmp/bin"
for tool in modprobe modinfo; do
	printf '#!/bin/sh\nexit 1\n' >"$tmp/bin/$tool"
	chmod +x "$tmp/bin/$tool"
done
PATH=$tmp/bin:$PATH says 125 'nothing was attached' "$tmp/lacks/smc_run" --all
# to end it, no module is needed
says 125 'smc_activate is not beside' "$tmp/lacks/smc_run" --off

# Patterns mean what fnmatch() says.
if ${CC:-cc} -Wall -Wextra ${WERROR:+-Werror} -D_GNU_SOURCE \
	-o "$tmp/call" tests/call_activate.c lib/activate.c; then
	longest=$(printf '%063d' 0)
	says 0 many "$tmp/call" redis-server redis-server 'redis*' redis \
		'*server' redis-server '*' '' "$longest" "$longest" \
		'?*' "$longest" '[[:alpha:]]*' x '' x
	[ "$(wc -l <"$tmp/out")" -eq 1 ] || bad 'patterns'
else
	bad 'call_activate.c'
fi

# --- the loader, where it can be built: no kernel is asked before the rules

if [ -x smc_activate ]; then
	export SMC_RUN_CONF="$tmp/conf"
	says 125 'No such file' ./smc_activate on all
	says 125 'nothing is attached' ./smc_activate on all
	printf '[a]\nallow any\n[b\n' >"$tmp/conf"
	says 125 "conf:3: a heading is '[PROGRAM ...]'" ./smc_activate on all
	says 125 'not used; nothing is attached' ./smc_activate on all
	# mistakes are found wherever they are
	printf '[other]\nallow none\n' >"$tmp/conf"
	says 125 "conf:2: not an address: 'none'" ./smc_activate on all
	printf '[%064d]\n' 0 >"$tmp/conf"
	says 125 'is too long' ./smc_activate on all
	i=0
	while [ $i -lt 65 ]; do
		echo "[program$i same]"
		i=$((i + 1))
	done >"$tmp/conf"
	says 125 "conf:64: too many names of programs: 'program63'" \
		./smc_activate on all
	i=0
	while [ $i -lt 257 ]; do
		echo "deny port $i"
		i=$((i + 1))
	done >"$tmp/conf"
	says 125 'conf:257: too many rules' ./smc_activate on all
	says 125 'no such cgroup' ./smc_activate on cgroup "$tmp"
	says 125 'no such cgroup' ./smc_activate on cgroup no/such
	says 125 'is started by smc_run' ./smc_activate
	says 125 'is started by smc_run' ./smc_activate on cgroup
	says 125 'is started by smc_run' ./smc_activate on all of
	says 125 'is started by smc_run' ./smc_activate status all
fi

echo "activate: $passed passed, $failed failed"
[ $failed -eq 0 ]
