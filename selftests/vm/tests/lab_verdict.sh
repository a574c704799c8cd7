# SPDX-License-Identifier: GPL-2.0
# The laboratory itself: the verdict finds what it is there to find.
# guests: 1
# module: none
# rdma: none

complains() {
	_out=$(g A "/lab/selftests/vm/verdict.sh $1" 2>&1) &&
		fail "no complaint about $1"
	echo "$_out" | grep -q "$2" || fail "wrong complaint about $1: $_out"
}

g A /lab/selftests/vm/verdict.sh lab_verdict || fail "complaint about nothing"

# a warning in the log, and only since the test began
g A 'echo "lab: begin warn" >/dev/kmsg
	echo "WARNING: CPU: 0 PID: 1 at selftest" >/dev/kmsg'
complains warn 'WARNING: CPU: 0'
g A 'echo "lab: begin lab_verdict" >/dev/kmsg'
g A /lab/selftests/vm/verdict.sh lab_verdict || fail "an old line counted"

# a command's exit code and output are its own
rc=0
out=$(g A 'echo to stdout; echo to stderr >&2; exit 7') || rc=$?
equal 7 $rc "exit code"
equal "to stdout
to stderr" "$out" "output"

# a process that outlives its command ends with the test
g A 'setsid sleep 1000 >/dev/null 2>&1 &'
wait_for 20 A 'pgrep -x sleep'
g A /lab/selftests/vm/verdict.sh lab_verdict || fail "complaint about sleep"
g A 'pgrep -x sleep' >/dev/null && fail "the process is still there"

# killing the g ends the command
g A 'exec sleep 2000' &
wait_for 20 A 'pgrep -x sleep'
kill $!
wait_for 20 A '! pgrep -x sleep'
