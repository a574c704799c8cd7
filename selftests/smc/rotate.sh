# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# rotate.sh - one of several by the number SMC_ROTATE; sourced.

# turn_of N WORD: a number below N, another one for another WORD.  Not SMC_ROTATE
# modulo N: what runs in each T-th of 4 commits would have the same one each time.
turn_of() {
	_r=$(echo "${SMC_ROTATE:-0} $2" | sha256sum | cut -c1-7)
	echo $((0x$_r % $1))
}
