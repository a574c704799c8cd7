#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# sockmodes.sh sockconn|socklisten|sockopts|... [ARGUMENTS...] - run it on
# TCP and then on sockets of ours in each mode: SMC-D, SMC-R (soft-RoCE on lo) and
# fallback.  MODES="smcd smcr" takes those alone, "reference" is TCP, and in
# "declined" SMC is offered and the listener's CLC Decline makes each connection
# TCP.  A test that skips itself fails, but for those that say what they are for.
set -u
dir=$(dirname "$0")
prog=$1
shift
bad=0

# all PROGRAM ARGUMENTS...
all() {
	out=/tmp/$prog.$mode.out
	"$dir/$prog" "$@" >"$out" 2>&1 || bad=1
	grep '^not ok\|Expected\|^# get\|^# set\|^# Totals\|die' "$out"
	grep '^ok.*# SKIP' "$out" | grep -v 'SKIP for SMC-R\|SKIP what is' &&
		bad=1
	grep -q '^# Totals' "$out" || { tail -n 20 "$out"; bad=1; }
}

for mode in ${MODES:-reference smcd smcr tcp}; do
	echo "# $prog: $mode"
	unset SMC_WANT SMC_HOST4 SMC_HOST6 SMC_DECLINE
	want_mode=$mode
	case $mode in
	reference)
		all -v tcp -v tcp6 "$@"
		continue ;;
	smcr)
		transports=smcr
		# a loopback address has no GID
		export SMC_HOST4=10.9.0.1 SMC_HOST6=fd09::1 ;;
	smcd) transports=smcd ;;
	tcp) transports='' ;;
	declined)
		transports=smcd want_mode=tcp
		export SMC_DECLINE=1 ;;
	esac
	sysctl -q "net.smc.transports=$transports"
	"$dir/smcstat.sh" mark
	export SMC_WANT="$want_mode"
	# what comes before a connection is the same in all three
	not=''
	[ $mode = smcd ] || not='-T sweep_fresh -T sweep_listening'
	# shellcheck disable=SC2086
	all -V tcp -V tcp6 $not "$@"
	case $mode in
	smcd) want='HsClientSmcd>7 HsClientSmcr=0' ;;
	smcr) want='HsClientSmcr>7 HsClientSmcd=0' ;;
	tcp) want='HsClientTcp>7 HsClientSmcd=0 HsClientSmcr=0' ;;
	declined) want='HsStarted>7 HsClientTcp>7 HsClientSmcd=0 HsRemembered=0' ;;
	esac
	# shellcheck disable=SC2086
	[ $# -gt 0 ] || "$dir/smcstat.sh" expect $want || bad=1
done
sysctl -q net.smc.transports='smcd smcr'
exit $bad
