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

# in_both FUNCTION ARGUMENTS...: with A and with B as the last argument, at once
in_both() {
	"$@" A &
	_in_a=$! _rc=0
	("$@" B) || _rc=$?
	wait $_in_a && return $_rc
}

# equal WANTED GOT WHAT
equal() { [ "$1" = "$2" ] || fail "$3: wanted '$1', got '$2'"; }

# shellcheck disable=SC2046
trap 'kill $(jobs -p) 2>/dev/null || :' EXIT
