// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of /proc/net/smc_stat, a file of this module: the kernel's own smc
 * does not have it.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "procstat.h"
#include "sysfs.h"

/**
 * procstat_read() - read all of them
 * @c: result, PROCSTAT_MAX of them
 *
 * Return: how many, or a negative errno.
 */
int procstat_read(struct procstat *c)
{
	FILE *f = sysfs_open(PROCSTAT_FILE);
	int num = 0;

	if (!f)
		return -errno;
	while (num < PROCSTAT_MAX &&
	       fscanf(f, "%39s %" SCNu64, c[num].name, &c[num].value) == 2)
		num++;
	fclose(f);
	return num;
}
