# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# lib.sh - sourced by the shell tests of this directory (bash).  They run on
# any host with the module loaded, as root.  TAP: after "plan N" each row is one
# "ok" or "not ok" line; the exit code says whether all were there and ok.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/rotate.sh"
export PATH=$here:$here/../../tools:$PATH
tmp=$(mktemp -d /tmp/smctest.XXXXXX)
# this directory may be read-only; only root may write where its code is
export PYTHONPYCACHEPREFIX=$tmp/.pycache
# Which side speaks first: the client (-), the server (-g).  With QUICK=1 it
# is always the client, and where modes are rotated (sockmodes.sh) one of them.
speakers='- -g'
if [ -n "${QUICK:-}" ]; then
	speakers=-
elif [ "${SMC_MODES:-}" = rotate ]; then
	[ "$(turn_of 2 "$0")" = 0 ] && speakers=- || speakers=-g
fi
# the odd peer's TAP device, our address on it and the peer's
export SMC_TAP=${SMC_TAP:-clc0}
export SMC_TAP_V4=${SMC_TAP_V4:-10.99.0.1} SMC_PEER_V4=${SMC_PEER_V4:-10.99.0.2}
failed=0
rows=0
planned=0
row=
peer_pid=

cleanup() {
	[ -n "${finished:-}" ] || echo "Bail out! ended in row '$row'"
	# shellcheck disable=SC2046
	kill $(jobs -p) 2>/dev/null
	wait 2>/dev/null
	ip link delete "$SMC_TAP" 2>/dev/null
	rm -rf "$tmp"
	# the end of a script is no success
	[ -n "${finished:-}" ] || exit 1
}
trap cleanup EXIT

# plan ROWS: how many there will be
plan() {
	planned=$1
	echo "TAP version 13"
	echo "1..$1"
}

# The row's first complaint makes it "not ok"; later ones are shown too.
bad() {
	row_bad=1
	echo "# $row: $*"
}

start_row() {
	row=$1
	row_bad=
	row_start=${EPOCHREALTIME/[.,]/}
	rm -f "$tmp"/*
	# smcstat.sh mark, in one process
	cp /proc/net/smc_stat "$tmp/stat"
	reasons_now >"$tmp/reasons"
}

end_row() {
	local ms=$(((${EPOCHREALTIME/[.,]/} - row_start) / 1000))

	rows=$((rows + 1))
	if [ -n "$row_bad" ]; then
		failed=$((failed + 1))
		echo "not ok $rows $row ($ms ms)"
		sed 's/^/#   /' "$tmp"/*.out 2>/dev/null
		smcstat.sh show "$tmp/stat" | sed 's/^/#   /'
	else
		echo "ok $rows $row ($ms ms)"
	fi
}

finish() {
	finished=1
	[ $failed = 0 ] || echo "# $failed rows failed"
	[ $rows = $planned ] || echo "# $rows of $planned rows were run"
	exit $((failed > 0 || rows != planned || rows == 0))
}

# counters since start_row; what ends with the row may still be on its way
counters() {
	local end=$((SECONDS + 10 * ${SMC_TEST_SCALE:-1}))

	until smcstat.sh expect -f "$tmp/stat" "$@" >"$tmp/counters.out"; do
		[ $SECONDS -lt $end ] ||
			{ bad "$(head -n 3 "$tmp/counters.out")"; return; }
		sleep 0.1
	done
}

# reasons_now [COMMAND]: COMMAND as for wait_listen
# shellcheck disable=SC2120
reasons_now() {
	"$@" smc_stats -P | sed -n 's/^smc_fallback_reasons_total{side="\([a-z]*\)",.*reason="\([A-Z0-9_]*\)"} /\1:\2 /p'
}

# reasons SIDE:REASON=N...: why connections became TCP since start_row, and
# nothing else
reasons() {
	local got

	got=$(reasons_now | awk -v before="$tmp/reasons" -v wants="$*" '
		BEGIN {
			while ((getline <before) > 0)
				old[$1] = $2
			n = split(wants, w, " ")
			for (i = 1; i <= n; i++)
				missing[w[i]] = 1
		}
		$2 != old[$1] {
			now = $1 "=" $2 - old[$1]
			all = all " " now
			if (!(now in missing))
				wrong = 1
			delete missing[now]
		}
		END {
			for (i in missing)
				wrong = 1
			print (wrong ? "wrong" : "right") all
		}')
	case $got in right*) ;; *) bad "reasons: '$got', wanted '$*'" ;; esac
}

# Until what a program does first: in an emulated guest, on a host with other work,
# Python alone has taken half a minute to start.
BEGINS=$((120 * ${SMC_TEST_SCALE:-1}))

wait_file() {
	local end=$((SECONDS + BEGINS))

	until [ -e "$1" ]; do
		[ $SECONDS -lt $end ] || { bad "no $1"; return 1; }
		sleep 0.05
	done
}

# wait_listen PORT [COMMAND...]: COMMAND runs the one after it in another
# network namespace.  Without ss, which takes half a second to start in an
# emulated guest.
wait_listen() {
	local end=$((SECONDS + BEGINS)) hex

	printf -v hex %04X "$1"
	until "${@:2}" grep -Eqs ":$hex 0+:0000 0A " /proc/net/tcp{,6}; do
		[ $SECONDS -lt $end ] || { bad "no listener $1"; return 1; }
		sleep 0.05
	done
}

# The odd peer's TAP device, with an RDMA port so that SMC is really offered
tap_up() {
	local i

	modprobe tun 2>/dev/null
	ip tuntap add dev "$SMC_TAP" mode tap
	ip address add "$SMC_TAP_V4/24" dev "$SMC_TAP"
	ip link set "$SMC_TAP" up
	[ "${1:-}" != rdma ] ||
		{ modprobe -a ib_uverbs rdma_rxe 2>/dev/null
		  rdma link add "rxe$SMC_TAP" type rxe netdev "$SMC_TAP"; }
}

# peer ARGUMENTS...: have clcpeer.py do this.  One process serves all rows, as
# Python is slow to start in an emulated guest, and so is the RDMA port of the
# device to become active.
peer() {
	if [ -z "$peer_pid" ]; then
		coproc PEER { exec clcpeer.py serve 0; }
		peer_pid=$PEER_PID
	fi
	{ printf '%s' "$tmp/peer.out"; printf '\t%s' -r "$tmp/ready" "$@"; echo; } \
		>&"${PEER[1]}"
}

peer_kill() {
	kill "$peer_pid"
	wait "$peer_pid" 2>/dev/null
	peer_pid=
}

# peer_done SECONDS: it is done within this time; was it content?
peer_done() {
	local rc=

	read -r -t $(($1 * ${SMC_TEST_SCALE:-1})) rc <&"${PEER[0]}" || peer_kill
	[ "$rc" = 0 ]
}

# peer_end CONNECTIONS OPTION PLAIN: it ended well, after just so many
peer_end() {
	peer_done 120 || bad "the peer complains"
	grep -q "connections=$1 option=$2 plain=$3 bad=0" "$tmp/peer.out" ||
		bad "connections are not $1, option $2, plain $3"
}

# why TEXT: smcss gives this reason for a connection that is open now
why() {
	smcss >"$tmp/smcss.out" 2>&1
	grep -q -i -e "$1" "$tmp/smcss.out" ||
		bad "smcss does not say '$1'"
}
