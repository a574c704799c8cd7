# SPDX-License-Identifier: GPL-2.0
# What every kernel has to do: data by SMC-D where its TCP can offer SMC, plain
# TCP without an offer, and where nothing can offer SMC that is the reason.
# kernels: 6.1 7.2
# guests: 1
# rdma: none

s=/lab/selftests/smc
t=/lab/tools

# stream KIND COUNTERS: eight connections, SHA-256 equal at both ends
stream() {
	g A "set -e; $s/smcstat.sh mark
		$s/stream -b -n 8 -k $1 -S mix -R mix -l 64K 127.0.0.1 0
		$s/smcstat.sh expect $2" || fail "stream of $1: $2"
}

tcp='HsClientTcp=8 HsServerTcp=8 HsClientSmcd=0 HsServerSmcd=0'
smcd='HsClientTcp=0 HsServerTcp=0 HsClientSmcd=8 HsServerSmcd=8'
case $LAB_K in
7.2) writer=none outcome=$tcp ;;
*) writer=kernel outcome=$smcd ;;
esac
equal $writer "$(g A 'cat /sys/module/smc/parameters/syn_option')" 'SYN option'

for kind in ipproto afsmc; do
	stream $kind "$outcome"
	g A 'sysctl -q net.smc.transports='
	stream $kind "$tcp"
	g A 'sysctl -q net.smc.transports="smcd smcr"'
done
[ $writer = none ] || return 0

g A 'dmesg | grep "smc: this kernel is built without CONFIG_SMC"' ||
	fail 'nothing in the log'
g A "$t/smcr info | grep '^SYN option:  *none (all is TCP'" || fail 'smcr info'
g A "$t/smc_chk -s >/tmp/out; cat /tmp/out
	grep -- '-> on this host: boot a kernel that is built with CONFIG_SMC' \
		/tmp/out" || fail 'smc_chk -s'
# the listener says the same
g A "$t/smc_chk -S >/tmp/server" &
listening A 37373
g A "$t/smc_chk -l localhost >/tmp/out; cat /tmp/out
	grep '0x0a0f0010  this host: TCP of this kernel cannot offer SMC' \
		/tmp/out" || fail 'the reason of a client'
wait_for 10 A 'grep 0x0a0f0010 /tmp/server'
