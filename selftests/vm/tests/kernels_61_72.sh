# SPDX-License-Identifier: GPL-2.0
# This module on the oldest kernel and on the newest: SMC-R in both roles, with each
# kind of address; the kernel's SYN option in B and the module's in A, then in both.
# kernels: 7.2
# guests: 2
# peer: 6.1
# mtu: 9000
# timeout: 300
# shows: SMC-R
. "$(dirname "$0")/far.sh"
