# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# wire.sh - what was on the wire between the guests: sourced by tests after
# test-lib.sh.  Seen by guest A on eth0, IPv4.
#
#   wire_start          begin to watch
#   wire_stop           the numbers: $wire_clc and $wire_data (TCP segments
#                       that carry CLC, and other payload), $wire_roce_bytes
#                       (both directions, headers included)
#   wire_only_clc       fail unless TCP carried CLC and nothing else, and RDMA
#                       traffic flowed

# payload, and not an SMC eye catcher (SMCR or SMCD) at its start
_payload='tcp and (ip[2:2] - ((ip[0] & 0xf) << 2) - ((tcp[12] & 0xf0) >> 2) != 0)'
_eye='(tcp[((tcp[12] & 0xf0) >> 2):4] = 0xe2d4c3d9 or tcp[((tcp[12] & 0xf0) >> 2):4] = 0xe2d4c3c4)'

wire_start() {
	g A 'rm -f /tmp/tcpdump.log
		nft add table inet wire
		nft add chain inet wire in "{ type filter hook input priority 0; }"
		nft add chain inet wire out "{ type filter hook output priority 0; }"
		nft add rule inet wire in udp dport 4791 counter
		nft add rule inet wire out udp dport 4791 counter'
	g A "exec tcpdump -i eth0 -B 8192 -s 128 -U -w /results/wire.pcap '$_payload' \
		2>/tmp/tcpdump.log" &
	wire_pid=$!
	wait_for 30 A 'grep -q listening /tmp/tcpdump.log'
}

wire_stop() {
	g A 'pkill -INT tcpdump; while pgrep -x tcpdump; do sleep 0.1; done' \
		>/dev/null
	wait $wire_pid || :
	# what it did not see may have been data
	g A 'grep -q "^0 packets dropped by kernel" /tmp/tcpdump.log' ||
		fail "tcpdump dropped packets: $(g A 'cat /tmp/tcpdump.log')"
	wire_clc=$(g A "tcpdump -n -r /results/wire.pcap '$_eye' 2>/dev/null | wc -l")
	wire_data=$(g A "tcpdump -n -r /results/wire.pcap 'not $_eye' 2>/dev/null | wc -l")
	wire_roce_bytes=$(g A 'nft list table inet wire' |
		awk '/4791/ { for (i = 1; i < NF; i++)
				if ($i == "bytes") n += $(i + 1) }
		     END { print n + 0 }')
	g A 'nft delete table inet wire'
	note "wire: $wire_clc TCP segments with CLC, $wire_data with other" \
		"payload, $wire_roce_bytes bytes of RoCE"
}

wire_only_clc() {
	[ "$wire_clc" -gt 0 ] || fail "no CLC message was seen"
	[ "$wire_data" = 0 ] || fail "TCP carried data: $(g A "tcpdump -n -c 5 \
		-X -r /results/wire.pcap 'not $_eye' 2>/dev/null")"
	[ "$wire_roce_bytes" -gt 100000 ] || fail "no RDMA traffic"
}
