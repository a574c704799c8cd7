# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# test-lib.sh - what the tests in tests/ have at hand (sourced before them).
#
# A test is a shell script, run on the host while its guests live:
#   g A CMD, g B CMD    run CMD in a guest: output and exit code are CMD's;
#                       in the background (g A CMD & pid=$!) the command ends
#                       when the g is killed, or the test ends
#   $LAB_RUN/results    is /results in both guests
#   /lab                is the built tree in both guests
#   10.9.0.1, fd09::1   is A, 10.9.0.2, fd09::2 is B
# It passes when it ends with 0.

# what the kernel under test is called
: "${LAB_K:?}" "${LAB_RUN:?}"

. "$(dirname "$0")/../smc/rotate.sh"

fail() { echo "FAIL: $*"; exit 1; }
skip() { echo "SKIP: $*"; exit 4; }
note() { echo "# $*"; }

# wait_for SECONDS GUEST CMD: poll CMD in the guest until it succeeds; the limit
# is scaled like all others
wait_for() {
	g "$2" "until { $3; } >/dev/null 2>&1; do
		[ \$SECONDS -lt \$(($1 * \${SMC_TEST_SCALE:-1})) ] || exit 1; sleep 0.1; done" ||
		fail "not within $1 s in $2: $3"
}

# listening GUEST PORT [SECONDS]: wait until something listens there, with
# whatever protocol (AF_SMC listeners show their inner TCP socket).  Without ss,
# which takes half a second to start in an emulated guest.
listening() {
	wait_for "${3:-60}" "$1" "grep -Eqs ':$(printf %04X "$2") 0+:0000 0A ' \
		/proc/net/tcp /proc/net/tcp6"
}

# grew GUEST COUNTER [FILE]: by how much, since smcstat.sh mark [FILE]
grew() {
	g "$1" "/lab/selftests/smc/smcstat.sh show ${3:-}" |
		awk -v n="$2" '$1 == n { v = $2 } END { print v + 0 }'
}

# fell_back GUEST SIDE REASON [COMMAND]: how many connections became TCP for that,
# since the module was loaded; COMMAND runs smc_stats elsewhere (ip netns exec ...)
fell_back() {
	g "$1" "${4:-} smc_stats -P" |
		awk -v side="side=\"$2\"" -v reason="reason=\"$3\"" '
			index($0, side) && index($0, reason) { n = $NF }
			END { print n + 0 }'
}

# pingpong_held KIND ROUNDS: pingpong between two sockets of A; its line is in
# $LAB_RUN/pingpong, and $socks has the sockets while it was connected
pingpong_held() {
	g A 'rm -f /tmp/hold*'
	g A "exec /lab/selftests/smc/pingpong -b -k $1 -n $2 -H /tmp/hold 127.0.0.1 0" \
		>"$LAB_RUN/pingpong" &
	pid=$!
	wait_for 120 A 'test -e /tmp/hold.client'
	socks=$(g A '/lab/selftests/smc/peercfg.py socks' || :)
	g A 'touch /tmp/hold'
	wait $pid || fail "pingpong: $1"
}

# want_mode MODE: both ends must have used that
want_mode() {
	equal 2 "$(echo "$socks" | grep -c "^ACTIVE $1 ")" "$1 sockets: $socks"
}

# upstream_on_lo: the kernel's own SMC in A, over soft-RoCE on lo
upstream_on_lo() {
	g A 'module.sh load upstream'
	g A '/lab/selftests/smc/peercfg.py ueid add SMCV2-DEFAULT-UEID
		/lab/selftests/smc/peercfg.py pnet add LO0 lo rxe0 1' >/dev/null
}

# in_both FUNCTION ARGUMENTS...: with A and with B as the last argument, at once
in_both() {
	"$@" A &
	_in_a=$! _rc=0
	("$@" B) || _rc=$?
	wait $_in_a && return $_rc
}

# equal WANTED GOT WHAT
equal() { [ "$1" = "$2" ] || fail "$3: wanted '$1', got '$2'"; }

# same ONE OTHER WHAT: what two commands have printed.  One that has failed has
# printed nothing, as the other may have.
same() {
	[ "$1" ] || fail "$3: nothing"
	equal "$1" "$2" "$3"
}

# refused STATUS GUEST COMMAND: it ends with this exit status.  One that crashes,
# or is not there, has another.
refused() {
	_rc=0
	g "$2" "$3" || _rc=$?
	equal "$1" "$_rc" "exit status of $3"
}

# ended STATUS PID WHAT: a background command has ended with this exit status.  A
# program with a time limit has another when that is over.
ended() {
	_rc=0
	wait "$2" || _rc=$?
	equal "$1" "$_rc" "exit status, $3"
}

# skips GUEST CASES COMMAND: ends as COMMAND does, a program that runs cases
# (selftests/smc/cases.py).  None but CASES may be skipped.
skips() {
	{
		_rc=0
		g "$1" "$3" || _rc=$?
		echo $_rc >"$LAB_RUN/skips.rc"
	} | tee "$LAB_RUN/skips"
	_rc=$(cat "$LAB_RUN/skips.rc")
	[ "$_rc" = 4 ] || return "$_rc"
	_skipped=$(sed -n 's/^ok [0-9]* \([^ ]*\) # SKIP .*/\1/p' "$LAB_RUN/skips")
	[ "$_skipped" ] || return 4
	for _case in $_skipped; do
		case " $2 " in
		*" $_case "*) ;;
		*) note "$_case may not be skipped here"; return 4 ;;
		esac
	done
}

# by way of a file: in "$(jobs -p)" dash has none of them
# shellcheck disable=SC2046
trap 'jobs -p >"$LAB_RUN/jobs"; kill $(cat "$LAB_RUN/jobs") 2>/dev/null || :' EXIT
