# SPDX-License-Identifier: GPL-2.0
# A peer that vanishes from TCP, or from the way of the data alone, is noticed
# in the time that TCP_USER_TIMEOUT and keepalive say: selftests/smc/sockgone.c.
# What takes another host is in sockgone_far.
# when: 2/2 6.12; long debug kcsan, takes minutes there
# guests: 1
# timeout: 240
. "$(dirname "$0")/modes.sh"
in_modes sockgone sockgone
in_modes_end
