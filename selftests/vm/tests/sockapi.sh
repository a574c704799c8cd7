# SPDX-License-Identifier: GPL-2.0
# Sockets of ours behave as TCP's, over shared memory and after fallback:
# selftests/smc/sockapi.c.
# guests: 1
# timeout: 480
# rdma: none
# when: 4/4 debug
. "$(dirname "$0")/modes.sh"
# 16: those that ask for TCP (SMC_PLAIN_TCP, Fast Open)
in_modes sockapi -m 'reference smcd tcp' -w '>50' -p 16 sockapi
in_modes_end
