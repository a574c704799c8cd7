// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz target of net/smc/wire/tcpopt.c: any option block can be searched,
 * added to and stripped.
 */
#include "oracle.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 *copy;

	if (size > SMC_TCPOPT_BLOCK_MAX)
		return -1;
	copy = malloc(size ? size : 1);
	if (!copy)
		abort();
	memcpy(copy, data, size);
	oracle_tcpopt(copy, size);
	free(copy);
	return 0;
}
