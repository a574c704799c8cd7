# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# modes.sh - tests that run in every mode of a socket, or with random data:
# sourced by tests after test-lib.sh.
#
#   in_modes NAME ARGUMENTS...  sockmodes.sh in guest A; what does not pass is
#                               remembered under NAME
#   in_modes_end                fails if there is any
#   repeats N                   what repeats(N) of lib/wait.h is in guest A
#   $settings                   more of its environment, NAME=VALUE ...
#
# SMC_MODES, SMC_ROTATE (sockmodes.sh explains them) and SMC_SEED, where random
# data begins, are in the environment of the guests.

s=/lab/selftests/smc
_this=$(basename "$1" .sh)
settings=
_bad=
_ran=
note "the same again: SMC_SEED=${SMC_SEED:-} SMC_MODES='${SMC_MODES:-all}'" \
	"SMC_ROTATE=${SMC_ROTATE:-0} make vm TEST=$_this K=$LAB_K"

in_modes() {
	_name=$1
	shift
	_args=
	for _a; do
		_args="$_args '$_a'"
	done
	# whatever the tests ask for is in Debian's kernel
	_skips=
	[ "$LAB_K" != 6.12 ] || _skips=SMC_SKIPS=none
	# an emulated guest beside busy neighbours is slow: no deadline here
	_rc=0
	g A "sysctl -q net.smc.handshake_timeout_ms=20000
		$settings $_skips $s/sockmodes.sh $_args" || _rc=$?
	case $_rc in
	0) _ran=1 ;;
	# none of the modes asked for is one of these
	4) ;;
	*) _bad="$_bad $_name" ;;
	esac
}

repeats() {
	_scale=$(g A 'echo "${SMC_TEST_SCALE:-1}"')
	_count=$1
	[ "$_scale" -le 1 ] || _count=$(($1 / (2 * _scale)))
	echo $((_count > 0 ? _count : 1))
}

in_modes_end() {
	[ -z "$_bad" ] || fail "$_this:$_bad"
	[ -n "$_ran" ] || skip "$_this has no mode ${SMC_MODES:-}"
}
