/* SPDX-License-Identifier: GPL-2.0 */
/* Userspace stand-in: accesses to fields at any address. */
#ifndef UNIT_LINUX_UNALIGNED_H
#define UNIT_LINUX_UNALIGNED_H

#include <linux/types.h>

static inline u16 get_unaligned_be16(const void *ptr)
{
	const u8 *p = ptr;

	return p[0] << 8 | p[1];
}

static inline u32 get_unaligned_be24(const void *ptr)
{
	const u8 *p = ptr;

	return p[0] << 16 | p[1] << 8 | p[2];
}

static inline u32 get_unaligned_be32(const void *ptr)
{
	const u8 *p = ptr;

	return (u32)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

static inline u64 get_unaligned_be64(const void *ptr)
{
	const u8 *p = ptr;

	return (u64)get_unaligned_be32(p) << 32 | get_unaligned_be32(p + 4);
}

static inline void put_unaligned_be16(u16 val, void *ptr)
{
	u8 *p = ptr;

	p[0] = val >> 8;
	p[1] = val;
}

static inline void put_unaligned_be24(u32 val, void *ptr)
{
	u8 *p = ptr;

	p[0] = val >> 16;
	put_unaligned_be16(val, p + 1);
}

static inline void put_unaligned_be32(u32 val, void *ptr)
{
	u8 *p = ptr;

	put_unaligned_be16(val >> 16, p);
	put_unaligned_be16(val, p + 2);
}

static inline void put_unaligned_be64(u64 val, void *ptr)
{
	u8 *p = ptr;

	put_unaligned_be32(val >> 32, p);
	put_unaligned_be32(val, p + 4);
}

#endif /* UNIT_LINUX_UNALIGNED_H */
