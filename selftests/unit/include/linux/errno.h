/* SPDX-License-Identifier: GPL-2.0 */
/* Userspace stand-in. glibc's <errno.h> comes here as well. */
#include_next <linux/errno.h>
