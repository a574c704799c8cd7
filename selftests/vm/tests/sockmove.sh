# SPDX-License-Identifier: GPL-2.0
# splice, tee, sendfile, vectors and io_uring on sockets of ours, over both
# transports and after fallback: selftests/smc/sockmove.c and sockuring.c.
# guests: 1
# timeout: 900
# rdma: lo
s=/lab/selftests/smc
bad=

# in_mode TRANSPORTS ADDRESS COUNTERS
in_mode() {
	for prog in sockmove sockuring; do
		note "$prog: '$1'"
		g A "sysctl -q net.smc.transports='$1'
			$s/smcstat.sh mark; SMC_HOST=$2 $s/$prog" ||
			bad="$bad $prog:$1"
		# each test makes a connection for each of two kinds
		g A "$s/smcstat.sh expect '$3'" || bad="$bad counters:$1"
	done
}

in_mode smcd 127.0.0.1 'HsClientSmcd>25 HsServerSmcd>25 HsClientTcp=0'
in_mode smcr 10.9.0.1 'HsClientSmcr>25 HsServerSmcr>25 HsClientTcp=0'
in_mode '' 127.0.0.1 'HsClientTcp>25 HsClientSmcd=0'
g A "sysctl -q net.smc.transports='smcd smcr'"
[ -z "$bad" ] || fail "$bad"
