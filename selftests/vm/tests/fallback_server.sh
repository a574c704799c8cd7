# SPDX-License-Identifier: GPL-2.0
# An odd client: selftests/smc/fallback_server.sh says what is tried.
# guests: 1
# timeout: 300
# rdma: none
g A 'SLACK=4000 /lab/selftests/smc/fallback_server.sh'
