# SPDX-License-Identifier: GPL-2.0
# The laboratory itself: the verdict finds what it is there to find.  A module of
# the tests plants one fault after the other (planted/planted.c).
# kernels: 6.12 debug kcsan
# when: 8/8 6.12; 4/8 debug
# guests: 1
# timeout: 300
# unfit: debug kcsan
v=/lab/selftests/vm/verdict.sh

# what the verdict waits for is in vain: seconds that something may take
case $LAB_K in debug | kcsan) patience=15 ;; *) patience=4 ;; esac

# begin, once more: with the module, and the log from here on
begin() { g A '@verdict begin lab_verdict ours rxe' || fail "not begun: $what"; }

clean() { g A "@verdict end lab_verdict '' later" || fail "complaint: $what"; }

# found LEAKS REGEX: the verdict complains about that
found() {
	_out=$(g A "LAB_PATIENCE=$patience $v lab_verdict '' $1" 2>&1) &&
		fail "not found: $what"
	echo "$_out" | grep -q "$2" || fail "found instead of $what: $_out"
	note "$what: $(echo "$_out" | grep -m 1 "$2")"
}

# plant FAULT [PARAMETER...]: by a program of its own, in a new begin
plant() {
	what=$*
	begin
	g A "insmod /lab/planted.ko what=$*" || fail "not planted: $what"
}

pluck() { g A 'rmmod planted' || fail "rmmod planted ($what)"; }

# the control: one connection of each kind, and nothing planted
what=nothing
g A "for t in smcd smcr; do
	sysctl -q net.smc.transports=\$t
	/lab/selftests/smc/stream -b -k ipproto -n 2 -l 20K 10.9.0.1 0 || exit
done"
g A '@verdict end lab_verdict' || fail "complaint about nothing"

# a warning in the log, and only since the test began
what="a warning"
begin
g A 'echo "WARNING: CPU: 0 PID: 1 at selftest" >/dev/kmsg'
found later 'WARNING: CPU: 0'
what="an old warning"
begin
clean

# a command's exit code and output are its own
rc=0
out=$(g A 'echo to stdout; echo to stderr >&2; exit 7') || rc=$?
equal 7 $rc "exit code"
equal "to stdout
to stderr" "$out" "output"

# a process that outlives its command ends with the test
g A 'setsid sleep 1000 >/dev/null 2>&1 &'
wait_for 20 A 'pgrep -x sleep'
what="a process"
clean
g A 'pgrep -x sleep' >/dev/null && fail "the process is still there"

# killing the g ends the command
g A 'exec sleep 2000' &
wait_for 20 A 'pgrep -x sleep'
kill $!
wait_for 20 A '! pgrep -x sleep'

# a queueing discipline and a table of nftables go
what="netem and a table of nftables"
begin
g A 'tc qdisc add dev eth0 root netem delay 1ms; nft add table inet planted'
clean
g A 'tc qdisc show dev eth0 | grep netem || nft list tables | grep planted' &&
	fail "$what: still there"

# what every kernel shows
anywhere() {
	plant counter counter=SockCreated
	found later 'unequal: SockCreated 1 SockDestroyed 0'
	pluck

	# what a group keeps until rmmod is compared by the module, in the log
	plant counter counter=BufCreated
	found later 'smc: unequal: BufCreated 1, BufDestroyed 0'
	pluck

	# a counter that the sources have and the module has not
	what="a counter that vanished"
	begin
	g A "sed 's/SMC_STAT_LIST(X).*/& X(PLANTED, \"Planted\", \"\") \\\\/' \
			/lab/net/smc/stats.h >/tmp/stats.h &&
		mount --bind /tmp/stats.h /lab/net/smc/stats.h"
	found later 'counters have vanished: Planted$'
	g A 'umount /lab/net/smc/stats.h'

	plant qp
	found later 'rxe0 qp 2'
	pluck

	plant module
	found later 'rmmod: .*smc is in use'
	pluck

	plant sock
	found later 'TCP sockets: 0 before, 1 after'
	pluck

	what="net"
	begin
	g A 'ip netns add planted &&
		ip netns exec planted insmod /lab/planted.ko what=net'
	found later 'sockets of network namespaces: .* before'
	pluck

	what="dev"
	begin
	g A 'sysctl -q net.core.netdev_unregister_timeout_secs=1
		ip link add planted0 type dummy && insmod /lab/planted.ko what=dev'
	found later 'unregister_netdevice: waiting for planted0'
	pluck
	wait_for 60 A '! pgrep -x ip'
	g A 'sysctl -q net.core.netdev_unregister_timeout_secs=10'

	# nothing of all that is left
	what="nothing after all"
	begin
	clean
}

# what takes a checker; reports of lockdep and KASAN cannot be taken back
with_checkers() {
	plant leak
	pluck
	found now 'kmemleak:'
	g A 'echo clear >/sys/kernel/debug/kmemleak'

	plant inversion
	pluck
	found later 'possible circular locking dependency'

	# lockdep has stopped looking
	what="lockdep"
	begin
	found later 'lockdep is off'

	# the last, as lockdep stops at any report of KASAN
	plant uaf
	pluck
	found later 'KASAN: slab-use-after-free'
}

# what takes KCSAN; the module is built for it, or it would not be in the report
with_races() {
	plant elsewhere
	pluck
	_out=$(g A "@verdict end lab_verdict '' later") ||
		fail "complaint: $what: $_out"
	echo "$_out" | grep -q 'race_read.*race_write' ||
		fail "not counted: $what: $_out"

	# read by the module's poll(), or by TCP's below it
	plant race
	pluck
	found later 'BUG: KCSAN: data-race in .*race_write'
}

# Each of them is shown once: on these kernels every step takes long.
case $LAB_K in
debug) with_checkers ;;
kcsan) with_races ;;
*) anywhere ;;
esac

# An emulator that crashes before its guest is up: told, counted, booted again.
# One that crashes twice is no guest.
[ "$LAB_K" = 6.12 ] || exit 0
what="an emulator that crashes"
vm=$(dirname "$0")
boot=$(sh "$vm/boot.sh" "$LAB_K")
# crash TIMES: boot a guest of our own, whose emulator crashes so often
crash() {
	own=$LAB_RUN/crash
	rm -rf "$own"
	mkdir "$own"
	echo "$1" >"$own/left"
	cat >"$own/qemu" <<-'EOF'
		#!/bin/sh
		read -r left </mnt/run/left
		[ "$left" != 0 ] || exec qemu-system-x86_64 "$@"
		echo $((left - 1)) >/mnt/run/left
		exec python3 -c 'import ctypes; ctypes.string_at(1)'
	EOF
	chmod +x "$own/qemu"
	rc=0
	python3 "$vm/lab.py" --boot "$boot" --lab "$LAB_RUN/lab" --run "$own" \
		--qemu /mnt/run/qemu -- true || rc=$?
	equal 1 "$(grep -c "^A signal 11" "$own/again")" "boots repeated"
}
crash 1
equal 0 $rc "a guest after a crash"
crash 2
equal 125 $rc "no guest after two crashes"
