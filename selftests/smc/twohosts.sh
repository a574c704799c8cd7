#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# twohosts.sh plain|smc stream|pingpong|tcpecho - the program between this host
# and another one, over IPv4 and IPv6: the other one serves, and with stream
# this one does, too.  With "smc" the sockets are ours at both ends (TCP's at the
# other one if it has no smc module), and smcss says what they became and why.
#
# Environment: NETIF (ours), LOCAL_V4 and REMOTE_V4, LOCAL_V6 and REMOTE_V6,
# REMOTE_TYPE and REMOTE_ARGS: ssh and [USER@]HOST, or netns and the name of a
# network namespace.  SMC_WANT (smcr, smcd, tcp): what connections have to be;
# not set: it may be any of them.
#
# Over ssh the program is copied to a directory of its own there, which is
# removed in the end.  PORT is the first port used, each row takes the next one.
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
export PATH="$here:$here/../../tools:$PATH"
form=$1 prog=$2
limit=300	# seconds that a program may take at most
tries=$(awk "BEGIN { print int(600 * ${SMC_TEST_SCALE:-1}) }")
port=${PORT:-$((20000 + $$ % 10000))}
tmp=$(mktemp -d /tmp/smctest.XXXXXX)
remote_dir='' count=0 failed=0
local_dir=$tmp

bail() {
	echo "Bail out! $*"
	exit 1
}

skip() {
	echo "1..0 # SKIP $*"
	exit 4
}

# on local|remote COMMANDS
on() {
	case $1-$REMOTE_TYPE in
	local-*) sh -c "$2" ;;
	remote-ssh) ssh -q -o BatchMode=yes -- "$REMOTE_ARGS" "$2" ;;
	remote-netns) ip netns exec "$REMOTE_ARGS" sh -c "$2" ;;
	esac
}

dir_of() { [ "$1" = local ] && echo "$local_dir" || echo "$remote_dir"; }
other() { [ "$1" = local ] && echo remote || echo local; }

# end_of SIDE: what still runs of a failed row
end_of() {
	on "$1" "cd '$(dir_of "$1")' && for p in server client; do
		[ ! -e \$p.pid ] || kill \$(cat \$p.pid) 2>/dev/null; done; :"
}

cleanup() {
	end_of local
	if [ -n "$remote_dir" ]; then
		end_of remote
		on remote "rm -rf '$remote_dir'"
	fi
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

deploy() {
	cp "$here/$prog" "$local_dir"
	remote_dir=$(on remote 'mktemp -d /tmp/smctest.XXXXXX') ||
		bail "no command runs on $REMOTE_ARGS ($REMOTE_TYPE)"
	tar -C "$here" -cf - "$prog" | on remote "tar -C '$remote_dir' -xf -" ||
		bail "$prog cannot be copied to $REMOTE_ARGS"
	on remote "'$remote_dir/$prog' -h" >/dev/null 2>&1 ||
		skip "$prog as built here does not run on $REMOTE_ARGS"
}

# program SIDE ROLE ARGUMENTS...: run it there, its output and process id in
# its directory's ROLE.out and ROLE.pid
program() {
	side=$1 role=$2
	shift 2
	on "$side" "cd '$(dir_of "$side")' && echo \$\$ >$role.pid &&
		exec timeout $limit ./$prog $*" >"$tmp/$role.out" 2>&1
}

# until_there SIDE CONDITION: a minute at most
until_there() {
	on "$1" "cd '$(dir_of "$1")'; i=0; until $2; do i=\$((i + 1))
		[ \$i -lt $tries ] || exit 1; sleep 0.1; done" >/dev/null 2>&1
}

kind_of() {
	if [ $form = plain ]; then
		echo tcp
	elif [ "$1" = local ] || on remote \
	     "[ -e /proc/net/smc_stat ] || grep -q '^smc ' /proc/modules"; then
		echo ipproto
	else
		echo tcp
	fi
}

# what: the modes of the connections of this port, and how many of each, as
# "4 SMCR" or "1 TCP 0x03010000 peer did not offer SMC"
what() {
	smcss | awk -v p=":$port\$" '
		$1 != "LISTEN" && $1 != "INIT" && ($4 ~ p || $5 ~ p) {
			mode = $7
			for (i = 8; i <= NF && $7 == "TCP"; i++)
				mode = mode " " $i
			n[mode]++
		}
		END { for (m in n) print n[m], m }'
}

# look: say it, and complain if it is not what is wanted
look() {
	[ $form = smc ] || return 0
	if ! command -v smcss >/dev/null; then
		[ -z "${SMC_WANT:-}" ] || { complain "no smcss"; return; }
		echo "# there is no smcss to say what became of it"
		return
	fi
	what >"$tmp/what" || complain "smcss fails"
	[ -s "$tmp/what" ] || complain "smcss does not show the connection"
	sed 's/^/# smcss: /' "$tmp/what"
	[ -z "${SMC_WANT:-}" ] ||
		! grep -v -i "^[0-9]* $SMC_WANT" "$tmp/what" >/dev/null ||
		complain "it should have been $SMC_WANT"
}

complain() {
	echo "# $*"
	verdict='not ok'
}

# row NAME SERVER_SIDE ADDRESS
row() {
	count=$((count + 1)) port=$((port + 1)) verdict=ok
	serves=$2 calls=$(other "$2")
	case $prog in
	stream) both='-n 8 -l 256K -x client' server='' client='' ;;
	pingpong) both='' server='' client='-n 500' ;;
	tcpecho) both='' server='' client='-b 100000' ;;
	esac
	on "$calls" "cd '$(dir_of "$calls")' && rm -f hold* client.pid"
	program "$serves" server -s -k "$(kind_of "$serves")" $both $server \
		"$3" $port &
	server_job=$!
	until_there "$serves" "grep -qE ':$(printf %04X $port) 0+:0000 0A ' \
		/proc/net/tcp /proc/net/tcp6" ||
		complain "nothing listens on port $port"
	if [ "$verdict" = ok ]; then
		program "$calls" client -c -k "$(kind_of "$calls")" $both \
			$client -H hold "$3" $port &
		client_job=$!
		# it may be there already, or fail
		until_there "$calls" '[ -e hold.client ] || {
			[ -s client.pid ] && ! kill -0 $(cat client.pid); }'
		look
		on "$calls" "touch '$(dir_of "$calls")/hold'"
		wait $client_job || complain "the client failed"
	fi
	[ "$verdict" = ok ] || end_of "$serves"
	wait $server_job || complain "the server failed"
	for role in server client; do
		[ ! -e "$tmp/$role.out" ] || sed "s/^/# /" "$tmp/$role.out"
	done
	echo "$verdict $count $1"
	[ "$verdict" = ok ] || failed=$((failed + 1))
	rm -f "$tmp/server.out" "$tmp/client.out"
}

echo "TAP version 13"
[ -x "$here/$prog" ] || skip "$prog is not built"
families=
for v in 4 6; do
	eval "ours=\${LOCAL_V$v:-} theirs=\${REMOTE_V$v:-}"
	[ -n "$ours" ] && [ -n "$theirs" ] || continue
	ip -o address show dev "$NETIF" 2>/dev/null | grep -qF " $ours/" ||
		skip "$NETIF does not have the address $ours"
	families="$families $v"
done
[ -n "$families" ] || skip "no addresses of both hosts"
deploy
if [ $form = smc ] && [ "$(kind_of remote)" = tcp ]; then
	echo "# $REMOTE_ARGS has no smc module: its end is plain TCP"
fi
case $prog in stream) sides='remote local' ;; *) sides=remote ;; esac
# shellcheck disable=SC2086
echo "1..$(($(set -- $families; echo $#) * $(set -- $sides; echo $#)))"
for v in $families; do
	for side in $sides; do
		case $side in local) kind=LOCAL ;; *) kind=REMOTE ;; esac
		eval "address=\$${kind}_V$v"
		# shellcheck disable=SC2154
		row "$prog.$form.ipv$v.${side}_serves" $side "$address"
	done
done
exit $((failed > 0))
