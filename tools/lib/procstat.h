/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of /proc/net/smc_stat.
 */
#ifndef TOOLS_PROCSTAT_H
#define TOOLS_PROCSTAT_H

#include <stdint.h>

#define PROCSTAT_FILE	"/proc/net/smc_stat"
#define PROCSTAT_MAX	256

/**
 * struct procstat - a line of the file
 * @name: its name
 * @value: its value
 */
struct procstat {
	char name[40];
	uint64_t value;
};

int procstat_read(struct procstat *c);

#endif /* TOOLS_PROCSTAT_H */
