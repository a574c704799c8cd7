# SPDX-License-Identifier: GPL-2.0
# All dumps at 10 Hz while connections come and go: selftests/smc/churn.py.
# when: 1/2 6.12; 1/4 debug
# guests: 1
# timeout: 240
# rdma: lo
g A /lab/selftests/smc/churn.py
