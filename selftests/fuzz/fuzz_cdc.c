// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz target of net/smc/wire/cdc.c: any bytes are refused or go there and back.
 */
#include "oracle.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	oracle_cdc(data, size);
	return 0;
}
