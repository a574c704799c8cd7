# SPDX-License-Identifier: GPL-2.0
# poll, epoll, low-water marks, SIGIO, SIGURG, SIGPIPE and urgent data at every
# place of the ring are TCP's.  selftests/smc/sockready.c, on TCP and on sockets
# of ours over both transports and after fallback.
# guests: 1
# timeout: 300
# rdma: lo
# when: 4/4 6.12; 4/4 debug
. "$(dirname "$0")/modes.sh"
# all places of the ring take the debug kernel half an hour
case $LAB_K in debug | kcsan) settings=POSITIONS=1000 ;; esac
in_modes sockready -m 'reference smcd smcr tcp declined' -w '>30' -p 0 sockready
in_modes_end
