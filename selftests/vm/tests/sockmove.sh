# SPDX-License-Identifier: GPL-2.0
# splice, tee, sendfile, vectors and io_uring on sockets of ours, over both
# transports and after fallback: selftests/smc/sockmove.c and sockuring.c.
# status: unproven debug
# guests: 1
# timeout: 400
# rdma: lo
s=/lab/selftests/smc

# in_mode TRANSPORTS ADDRESS COUNTERS
in_mode() {
	for prog in sockmove sockuring; do
		note "$prog: '$1'"
		g A "sysctl -q net.smc.transports='$1'
			$s/smcstat.sh mark; SMC_HOST=$2 $s/$prog" ||
			fail "$prog over '$1'"
		# most tests make one connection, for each of two kinds
		g A "$s/smcstat.sh expect $3"
	done
}

in_mode smcd 127.0.0.1 'HsClientSmcd>25 HsServerSmcd>25 HsClientTcp=0'
in_mode smcr 10.9.0.1 'HsClientSmcr>25 HsServerSmcr>25 HsClientTcp=0'
in_mode '' 127.0.0.1 'HsClientTcp>25 HsClientSmcd=0'
g A "sysctl -q net.smc.transports='smcd smcr'"
