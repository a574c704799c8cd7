# SPDX-License-Identifier: GPL-2.0
# This module on two hosts of different kernels: SMC-R in both roles, with each
# kind of address, and with either writer of the SYN option.
# kernels: 6.1 7.2
# guests: 2
# peer: 6.12
# mtu: 9000
# timeout: 300
# shows: SMC-R
. "$(dirname "$0")/far.sh"
