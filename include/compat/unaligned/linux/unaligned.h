/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Moved here from <asm/unaligned.h> in v6.12 (commit 5f60d5f6bbc1); the commit
 * was backported to some older kernels.
 */
#include <asm/unaligned.h>
