# SPDX-License-Identifier: GPL-2.0
# The client of the kernel's own SMC to our server: SMC-R on both sides.
# when: 4/4 6.12; long debug, takes minutes there
# guests: 2
# peer: 6.12
# mtu: 9000
# timeout: 480
# module: ours upstream
# shows: SMC-R, the kernel's own SMC of 6.12
client=B server=A addr=10.9.0.1 addr6=fd09::1
. "$(dirname "$0")/interop.sh"
