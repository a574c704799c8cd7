// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz target of net/smc/wire/llc.c: any bytes are refused, or what is decoded of
 * them goes there and back if this end sends it.
 */
#include "oracle.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	oracle_llc(data, size);
	return 0;
}
