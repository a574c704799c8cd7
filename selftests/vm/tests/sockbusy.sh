# SPDX-License-Identifier: GPL-2.0
# Calls at the moment when a handshake ends see the socket before or after, on
# SMC-D, SMC-R and fallback: selftests/smc/sockbusy.c.
# guests: 1
# timeout: 450
# rdma: lo
. "$(dirname "$0")/modes.sh"
in_modes sockbusy sockbusy
in_modes_end
