/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that take what printf() takes.
 */
#ifndef TOOLS_FORMAT_H
#define TOOLS_FORMAT_H

#ifndef __printf
#define FORMAT_LIKE(kind, text, first)	format(kind, text, first)
#define __printf(text, first) __attribute__((FORMAT_LIKE(printf, text, first)))
#endif

#endif /* TOOLS_FORMAT_H */
