# SPDX-License-Identifier: GPL-2.0
# The SYN option of this module and that of the kernel understand each other: A
# writes its own, B has the kernel's, then its own, too. In both roles, IPv4 and
# IPv6. A server that sends SYN cookies has plain TCP.
# kernels: 6.12
# when: 2/4 6.12
# guests: 2
# rdma: rxe
s=/lab/selftests/smc
g A 'rmmod smc_diag; rmmod smc; insmod /lab/smc.ko syn_option=own
	insmod /lab/smc_diag.ko'
equal own "$(g A 'cat /sys/module/smc/parameters/syn_option')" 'SYN option of A'
equal kernel "$(g B 'cat /sys/module/smc/parameters/syn_option')" 'SYN option of B'
# no handshake is too late on a busy host
patient='sysctl -q net.smc.handshake_timeout_ms=20000'
for x in A B; do g $x "$patient"; done

# roles SERVER CLIENT ADDRESS MODE: eight connections of that mode, to a port that
# no connection is in TIME_WAIT for: TCP sends no cookie to one that takes its place
port=7800
roles() {
	is=$4 not=Tcp
	port=$((port + 1))
	[ $is = Smcr ] || not=Smcr
	g A "$s/smcstat.sh mark"
	g B "$s/smcstat.sh mark"
	g "$1" "$s/stream -s -n 8 -k ipproto -l 64K :: $port" &
	pid=$!
	listening "$1" $port
	g "$2" "$s/stream -c -n 8 -k ipproto -l 64K $3 $port" ||
		fail "$2 to $1 at $3"
	wait $pid || fail "$2 to $1 at $3: listener"
	g "$1" "$s/smcstat.sh expect HsServer$is=8 HsServer$not=0"
	g "$2" "$s/smcstat.sh expect HsClient$is=8 HsClient$not=0"
}

# both_roles MODE MODE: of connections to A, and to B
both_roles() {
	for ip in 10.9.0.2 fd09::2 ::ffff:10.9.0.2; do
		roles B A $ip "$2"
	done
	for ip in 10.9.0.1 fd09::1 ::ffff:10.9.0.1; do
		roles A B $ip "$1"
	done
}

both_roles Smcr Smcr
g A 'sysctl -q net.ipv4.tcp_syncookies=2'
both_roles Tcp Smcr
g A 'sysctl -q net.ipv4.tcp_syncookies=1'
g B 'sysctl -q net.ipv4.tcp_syncookies=2'
both_roles Smcr Tcp
g B 'sysctl -q net.ipv4.tcp_syncookies=1'

g B "module.sh unload; SMC_SYN_OPTION=own module.sh load ours; $patient"
equal own "$(g B 'cat /sys/module/smc/parameters/syn_option')" 'SYN option of B'
both_roles Smcr Smcr
