/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mark.h - what a program tells the emulator that it runs in
 *
 * An x86 NOP of 8 bytes has a displacement that means nothing to the processor.
 * These two mean to vm/bench-plugin.c that instructions are counted from here,
 * or up to here.
 */
#ifndef MARK_H
#define MARK_H

#define MARK_NOP	"\x0f\x1f\x84"	/* and a byte 0 */
#define MARK_BEGIN	0x42434d53
#define MARK_END	0x45434d53

#ifdef __x86_64__
#define MARK(which)						\
	asm volatile(".byte 0x0f, 0x1f, 0x84, 0; .long %c0"	\
		     : : "i" (which) : "memory")
#else
#define MARK(which)	((void)(which))
#endif

#endif
