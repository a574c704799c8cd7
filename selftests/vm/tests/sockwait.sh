# SPDX-License-Identifier: GPL-2.0
# Who waits when a connection is taken away is told, and nobody waits for what
# does not come, on SMC-D, SMC-R and fallback: selftests/smc/sockwait.c.
# when: 2/2 6.12; 3/4 debug, takes minutes
# guests: 1
# cpus: 2
# timeout: 300
# rdma: lo
. "$(dirname "$0")/modes.sh"
in_modes sockwait sockwait
in_modes_end
