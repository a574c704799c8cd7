# SPDX-License-Identifier: GPL-2.0
# Generic netlink: selftests/smc/genl.py says what is tried.
# when: 7/8 debug, programs start slowly there
# guests: 1
# timeout: 240
# rdma: lo
g A /lab/selftests/smc/genl.py
