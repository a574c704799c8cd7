# SPDX-License-Identifier: GPL-2.0
# What a TCP connection costs more where a socket was ours, in instructions and
# bytes, against plain TCP in the same boot: selftests/smc/cost.c.
# when: 1/4 6.12
# kernels: 6.12
# guests: 1
# timeout: 300
# cpus: 1
# icount: sleep=off
# rdma: none
s=/lab/selftests/smc
table=$LAB_RUN/results/cost.txt

# no TIME_WAIT: where ports are taken connect() looks for one that is not
g A 'sysctl -q net.ipv4.tcp_max_tw_buckets=0'
: >"$table"
for what in message connect memory; do
	g A "$s/cost $what" >>"$table" || fail "$what"
done
cat "$table"

# at_most WHAT LIMIT WAY...: of column 4, the ratio or the difference
at_most() {
	what=$1 most=$2
	shift 2
	for way; do
		awk -v what="$what" -v way="$way" -v most="$most" '
			$1 == what && $2 == way { n++; bad = $4 > most }
			END { exit bad || n != 1 }' "$table" ||
			fail "$what: $way is more than $most"
	done
}

# Nothing of ours is left in what fell back.  A client that knows nothing of SMC
# costs what it costs TCP, and a row for sock_diag (1.1 percent by a count of
# instructions).  A client of ours has a context until it has fallen back (2.8
# percent), and with AF_SMC two struct socket for a moment (6.5).
at_most connect 1.02 listener-ipproto listener-afsmc
at_most connect 1.03 client-ipproto
at_most connect 1.07 client-afsmc
at_most message 1.01 tcp-again client-ipproto client-afsmc listener-ipproto \
	listener-afsmc declined
# bytes of a connection: 96 for sock_diag at each end that was ours
at_most memory 256 client-ipproto client-afsmc listener-ipproto listener-afsmc
at_most memory 512 declined
