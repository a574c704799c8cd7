# SPDX-License-Identifier: GPL-2.0
# More handshakes than there may be, which do not end: others are not affected,
# and close() takes no time (selftests/smc/hslimit.py).
# when: 2/8 6.12; long debug kcsan, takes minutes there
# guests: 1
# timeout: 240
# rdma: none
g A /lab/selftests/smc/hslimit.py
