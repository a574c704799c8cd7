# SPDX-License-Identifier: GPL-2.0
# What every kernel has to do: data by SMC-D with each kind of address, plain
# TCP without an offer, and where nothing can offer SMC that is the reason.
# kernels: 6.1 6.12 7.2
# guests: 1
# rdma: none
# shows: SMC-D, fallback, SYN option

s=/lab/selftests/smc
t=/lab/tools

# stream KIND COUNTERS [ADDRESS]: eight connections, SHA-256 equal at both ends
stream() {
	g A "set -e; $s/smcstat.sh mark
		$s/stream -b -n 8 -k $1 -S mix -R mix -l 64K ${3:-127.0.0.1} 0
		$s/smcstat.sh expect $2" || fail "stream of $1 to ${3:-}: $2"
}

# dual KIND ADDRESS: the same from there to a listener of both families
dual() {
	g A "$s/smcstat.sh mark
		$s/stream -s -n 8 -k $1 -l 64K :: 7700 >/tmp/server" &
	pid=$!
	listening A 7700
	g A "$s/stream -c -n 8 -k $1 -l 64K $2 7700" ||
		fail "$1 from $2 to both families"
	wait $pid || fail "$1 from $2 to both families: listener"
	g A "$s/smcstat.sh expect $smcd"
}

# patient: no handshake is too late on a busy host
patient() { g A 'sysctl -q net.smc.handshake_timeout_ms=20000'; }

load() {
	g A "rmmod smc_diag; rmmod smc; insmod /lab/smc.ko $1
		insmod /lab/smc_diag.ko"
	patient
}

patient

# the tools know which module this is
version=$(g A "sed -n 's/^smc-version := //p' /lab/Kbuild")
g A "$t/smcr info | grep '^Module:  *this one, $version\$' &&
	$t/smc_chk -s | grep '^Module  *this one, version $version\$' &&
	$t/smc_run -d true 2>&1 | grep '^smc_run: module smc $version\$'" ||
	fail 'which module it is'

tcp='HsClientTcp=8 HsServerTcp=8 HsClientSmcd=0 HsServerSmcd=0'
smcd='HsClientTcp=0 HsServerTcp=0 HsClientSmcd=8 HsServerSmcd=8'
case $LAB_K in
7.2) writer=own ;;
*) writer=kernel ;;
esac
equal $writer "$(g A 'cat /sys/module/smc/parameters/syn_option')" 'SYN option'

for kind in ipproto afsmc; do
	for ip in 127.0.0.1 ::1 ::ffff:127.0.0.1; do
		stream $kind "$smcd" $ip
		dual $kind $ip
	done
	g A 'sysctl -q net.smc.transports='
	stream $kind "$tcp"
	g A 'sysctl -q net.smc.transports="smcd smcr"'
done
# a peer that does not offer it, in both roles
for kinds in 'tcp ipproto' 'ipproto tcp'; do
	g A "$s/stream -s -n 8 -k ${kinds% *} -l 64K 127.0.0.1 7701" &
	pid=$!
	listening A 7701
	g A "$s/stream -c -n 8 -k ${kinds#* } -l 64K 127.0.0.1 7701" ||
		fail "plain peer: $kinds"
	wait $pid || fail "plain peer: $kinds: listener"
done

if [ $writer = own ]; then
	g A 'rmmod smc_diag; rmmod smc; insmod /lab/smc.ko syn_option=kernel' &&
		fail 'it has loaded with what is not there'
	g A 'insmod /lab/smc.ko; insmod /lab/smc_diag.ko
		dmesg | grep "smc: TCP of this kernel does not write the SYN"' ||
		fail 'nothing in the log'
	g A "$t/smcr info | grep '^SYN option:  *own (this module'" ||
		fail 'smcr info'
	g A "$t/smc_chk -s | grep 'written by: this module'" ||
		fail 'smc_chk -s'
else
	load syn_option=own
	equal own "$(g A 'cat /sys/module/smc/parameters/syn_option')" 'forced'
	for ip in 127.0.0.1 ::1 ::ffff:127.0.0.1; do
		stream ipproto "$smcd" $ip
		dual ipproto $ip
	done
fi
load syn_option=none
stream ipproto "$tcp"
g A 'dmesg | grep "smc: nothing writes the SYN option"' ||
	fail 'nothing in the log'
g A "$t/smcr info | grep '^SYN option:  *none (all is TCP'" || fail 'smcr info'
g A "$t/smc_chk -s >/tmp/out; cat /tmp/out
	grep -- '-> on this host: load smc.ko without syn_option=none' \
		/tmp/out" || fail 'smc_chk -s'
# the listener says the same
g A "$t/smc_chk -S >/tmp/server" &
listening A 37373
g A "$t/smc_chk -l localhost >/tmp/out; cat /tmp/out
	grep '0x0a0f0010  this host: nothing here writes the TCP option' \
		/tmp/out" || fail 'the reason of a client'
wait_for 10 A 'grep 0x0a0f0010 /tmp/server'
