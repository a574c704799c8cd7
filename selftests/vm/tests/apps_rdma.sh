# SPDX-License-Identifier: GPL-2.0
# Unmodified programs between two hosts: all of their connections are SMC-R,
# their bytes go by RDMA, and TCP segments carry nothing but CLC messages.
# when: 3/4 6.12; long debug, takes minutes there
# guests: 2
# mtu: 9000
# timeout: 420
cli=A srv=B addr=10.9.0.2
. "$(dirname "$0")/apps.sh"
. "$(dirname "$0")/wire.sh"

check() {
	g A "$smc/smcstat.sh expect HsClientSmcr\>0 HsClientTcp=0 \
		HsClientErr=0 HsClientSmcd=0 TxBytes\>100" ||
		fail "$1: not SMC-R at the client"
	g B "$smc/smcstat.sh expect HsServerSmcr\>0 HsServerTcp=0 \
		HsServerErr=0 HsServerSmcd=0 TxBytes\>1000" ||
		fail "$1: not SMC-R at the server"
}

# an emulated guest beside busy neighbours is slow: no deadline here
for x in A B; do g $x 'sysctl -q net.smc.handshake_timeout_ms=20000'; done
# the others differ from these only in what apps_lo has seen on that kernel
case $LAB_K in debug | kcsan) APPS="redis nginx rsync" ;; esac
wire_start
each_app check
wire_stop
wire_only_clc
