# SPDX-License-Identifier: GPL-2.0
# Our client to the server of the kernel's own SMC: SMC-R on both sides.
# when: 1/4 6.12; 8/8 debug
# guests: 2
# peer: 6.12
# mtu: 9000
# timeout: 480
# module: ours upstream
# shows: SMC-R, the kernel's own SMC of 6.12
client=A server=B addr=10.9.0.2 addr6=fd09::2
. "$(dirname "$0")/interop.sh"
