#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# mode_sockclose.sh - sockclose in one mode of sockmodes.sh.  The limit for the
# end of a process with many sockets follows from what TCP takes for it.
set -eu
cd "$(dirname "$0")"
s=net.smc
no_orphans='-T orphan_gives_up -T orphan_with_a_slow_reader -T orphan_too_many'
no_orphans="$no_orphans -T orphan_aborted"
# of a process that is killed; a slow kernel (wait.h) takes minutes for so many
many=10000
[ "${SMC_TEST_SCALE:-1}" = 1 ] || many=1000
num=$many orphans='-t orphan_with_a_slow_reader' few=1 lost=
known=/tmp/sockclose.tcp

case $SMC_MODE in
reference)
	# orphans of plain TCP give up by rules of their own
	# shellcheck disable=SC2086
	SOCKETS=$num CLOSE_MS=100000 exec ./sockclose $no_orphans -v tcp ;;
smcd) orphans="$orphans -t orphan_gives_up" lost=OrphanAborted=0 ;;
# more is written than the peer's ring takes
smcr) orphans="$orphans -t orphan_gives_up" num=1000 few=2
	lost='OrphanAborted=2' ;;
tcp) few=0 ;;
declined) few=0 num=1000 ;;
esac

# with_setting NAME=VALUE COMMAND...
with_setting() {
	old=$s.${1%=*}=$(sysctl -n "$s.${1%=*}")
	sysctl -q "$s.$1"
	shift
	rc=0
	"$@" || rc=$?
	sysctl -q "$old"
	return $rc
}

[ -e $known ] || SOCKETS=$many CLOSE_MS=100000 ./sockclose \
	-r pair.tcp.many_sockets_of_a_killed_process >$known 2>&1 ||
	{ cat $known; rm $known; echo "TCP: the test is at fault"; exit 1; }
tcp_ms=$(sed -n 's/.* sockets: 0*\([0-9]*\)\.\([0-9]*\) s.*/\1\2/p' $known |
	sed 's/^0*\(.\)/\1/')
# That of all takes 2 s at most, on a machine where TCP's takes none.
limit=$((2000 + 3 * tcp_ms))
[ "$SMC_MODE" != declined ] || limit=$((2 * limit))
echo "TCP takes $tcp_ms ms, the limit is $limit ms"
# shellcheck disable=SC2086
SOCKETS=$num CLOSE_MS=$limit ./sockclose $no_orphans -v ipproto

./smcstat.sh mark /tmp/sockclose.orphans
# a reader that is slow must not be slower than that
orphan_s=$((5 * ${SMC_TEST_SCALE:-1}))
# shellcheck disable=SC2086
with_setting orphan_timeout_s=$orphan_s env ORPHAN_S=$orphan_s \
	./sockclose -V tcp $orphans
if [ $few != 0 ]; then
	with_setting max_orphans=0 env NO_ORPHANS=$few ./sockclose -V tcp \
		-t orphan_too_many
	# with orphan_timeout_s as it is
	./sockclose -V tcp -t orphan_aborted
fi
# plain TCP's orphans are TCP's
[ -z "$lost" ] || ./smcstat.sh expect -f /tmp/sockclose.orphans "$lost"
