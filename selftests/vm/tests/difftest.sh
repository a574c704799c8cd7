# SPDX-License-Identifier: GPL-2.0
# Random scripts of socket calls give the same answers on TCP and on sockets
# of ours, over both transports and after fallback: selftests/smc/difftest.c.
# The scripts in difftest_cases once showed a difference.
# 3,300 scripts; 20,000 in each mode with LONG=1.
# guests: 1
# timeout: 300
# rdma: lo
# when: 1/2 6.12; 3/4 debug
. "$(dirname "$0")/modes.sh"
# KASAN makes a script ten times as long.
case $LAB_K in debug | kcsan) settings=QUICK=1 ;; esac
settings="$settings SCRIPTS=${LONG:+20000}"
# TCP answers a FIN with a reset when it has no room for one more TIME_WAIT.
g A 'sysctl -q net.core.wmem_max=4194304 net.core.rmem_max=4194304 \
	net.ipv4.tcp_max_tw_buckets=1000000'
# What TCP has not acknowledged yet it keeps apart from what comes next.  A read
# that passes an urgent byte into a bad buffer forgets it then, else it does not:
# acknowledge at once.
g A 'ip -4 route show table local type local | while read -r route; do
	ip route change table local $route quickack 1 || exit; done'
in_modes difftest -m 'reference smcd smcr tcp declined' mode_difftest.sh
in_modes_end
