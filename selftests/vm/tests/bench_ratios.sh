# SPDX-License-Identifier: GPL-2.0
# Messages, streams and connections of ours take no more instructions than at
# best so far, in relation to TCP and to the kernel's own SMC in the same boot:
# vm/bench.best has the ratios, and 3 % more fails.
# when: 2/4 6.12
# kernels: 6.12
# guests: 1
# timeout: 600
# cpus: 1
# icount: sleep=off
# rdma: lo
vm=$(dirname "$0")
ROWS=short
WAYS='tcp smcd smcr own-smcr'
. "$vm/bench-inner.sh"
python3 "$vm/bench-report.py" ratios "$table" "$vm/bench.best" ||
	fail "ratios of bench.best"
