# SPDX-License-Identifier: GPL-2.0
# Unmodified programs on one host: all of their connections are SMC-D.
# when: 3/4 6.12; long debug kcsan, takes minutes there
# guests: 1
# timeout: 300
# rdma: none
. "$(dirname "$0")/apps.sh"

check() {
	g A "$smc/smcstat.sh expect HsClientSmcd\>0 HsServerSmcd\>0 \
		HsClientTcp=0 HsServerTcp=0 HsClientErr=0 HsServerErr=0 \
		HsClientSmcr=0 TxBytes\>100000" || fail "$1 was not SMC-D"
}

# none is too late on a busy host
g A 'sysctl -q net.smc.handshake_timeout_ms=20000'
each_app check
