#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# owner.sh - what a firewall knows about a connection's packets: the user and
# the control group of the program, the mark it set; and whose a connection is
# that waits for accept().  TCP first: what is seen there is wanted of ours.
set -u
host=${SMC_HOST:-127.0.0.1}
group=/sys/fs/cgroup/smcowner
count=0
failed=0

cleanup() {
	nft delete table inet smcowner 2>/dev/null
	rmdir $group 2>/dev/null
}
trap cleanup EXIT

# Both ends as user 1234 in a group of their own, with mark 77: connect, speak
# both ways, close.
talk='
import os, socket, sys
proto, host = int(sys.argv[1]), sys.argv[2]
open(sys.argv[3] + "/cgroup.procs", "w").write("0")
def made():
    os.seteuid(1234)    # a file belongs to the user that opens it
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, proto)
    os.seteuid(0)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, 77)
    return s
server, client = made(), made()
os.seteuid(1234)
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind((host, 7733)); server.listen()
client.connect((host, 7733))
rows = [line.split() for line in open("/proc/net/tcp")]
row, = [r for r in rows if r[1].endswith(":1E35") and r[3] == "01"]
print("waits_for_accept: user", row[7], "inode", row[9])
child, _ = server.accept()
for a, b in (client, child), (child, client):
    a.sendall(b"x" * 1000)
    assert len(b.recv(1000, socket.MSG_WAITALL)) == 1000
client.close(); assert child.recv(1) == b""; child.close()
'

# the counters of one connection, "NAME 1" if it counted a packet
counted() {
	nft delete table inet smcowner 2>/dev/null
	nft -f - <<-END || exit 1
	table inet smcowner {
		counter to_all { }
		counter to_user { }
		counter to_group { }
		counter to_mark { }
		counter from_user { }
		counter from_group { }
		counter others { }
		chain out {
			type filter hook output priority 0
			tcp dport 7733 counter name to_all
			tcp dport 7733 meta skuid 1234 counter name to_user
			tcp dport 7733 socket cgroupv2 level 1 "smcowner" counter name to_group
			tcp dport 7733 meta mark 77 counter name to_mark
			tcp sport 7733 meta skuid 1234 counter name from_user
			tcp sport 7733 socket cgroupv2 level 1 "smcowner" counter name from_group
			tcp dport 7733 meta skuid != 1234 counter name others
		}
	}
	END
	timeout $((60 * ${SMC_TEST_SCALE:-1})) \
		python3 -c "$talk" "$1" "$host" $group || exit 1
	nft -j list counters table inet smcowner | python3 -c '
import json, sys
for x in json.load(sys.stdin)["nftables"]:
    if "counter" in x:
        print(x["counter"]["name"], int(x["counter"]["packets"] > 0))'
}

# verdict WHAT COMMAND...: one line
verdict() {
	local what=$1

	shift
	count=$((count + 1))
	if "$@"; then
		echo "ok $count $what"
	else
		echo "not ok $count $what"
		failed=1
	fi
}

wanted='to_all to_user to_group to_mark from_user from_group'
echo "TAP version 13"
echo "1..$(($(wc -w <<<"$wanted") + 1))"
mkdir -p $group
tcp=$(counted 6) || { echo "Bail out! TCP"; exit 1; }
echo "# TCP:" $tcp
for want in $wanted; do
	verdict "TCP: $want" grep -q "^$want 1" <<<"$tcp"
done
ours=$(counted 256) || { echo "Bail out! ours"; exit 1; }
echo "# ours:" $ours
verdict "owner: the same packets are matched" [ "$ours" = "$tcp" ]
exit $failed
