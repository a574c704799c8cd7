# SPDX-License-Identifier: GPL-2.0
# No wake-up is lost in random messages, whatever way a side waits, with a 1 kHz
# signal on both: selftests/smc/wakeups.c.  A million messages with LONG=1.
# when: 1/2 6.12; 8/8 debug
# guests: 1
# timeout: 300
# rdma: lo
. "$(dirname "$0")/modes.sh"
settings=WAKEUPS=${LONG:+1000000}
in_modes wakeups -w =2 -p 0 mode_wakeups.sh
in_modes_end
