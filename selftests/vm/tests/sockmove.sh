# SPDX-License-Identifier: GPL-2.0
# splice, tee, sendfile, vectors and io_uring on sockets of ours, over both
# transports and after fallback: selftests/smc/sockmove.c and sockuring.c.
# guests: 1
# timeout: 300
# rdma: lo
# when: 3/4 debug
. "$(dirname "$0")/modes.sh"
# each case makes a connection for each of two kinds
for prog in sockmove sockuring; do
	in_modes $prog -m 'reference smcd smcr tcp declined' -w '>25' -p 0 $prog
done
in_modes_end
