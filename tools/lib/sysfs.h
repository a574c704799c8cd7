/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading of /sys and /proc.
 */
#ifndef TOOLS_SYSFS_H
#define TOOLS_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "format.h"

#define SYSFS_TEXT	128

/* What offers SMC with a SYN: "kernel", or "none" if nothing can */
#define SYSFS_SYN_OPTION	"/sys/module/smc/parameters/syn_option"

typedef void (*sysfs_fn)(const char *name, void *arg);

FILE *sysfs_open(const char *path);
uint64_t sysfs_inode(const char *path);
bool sysfs_read(char *text, const char *format, ...) __printf(2, 3);
bool sysfs_link(char *text, const char *format, ...) __printf(2, 3);
bool sysfs_run(char *text, const char *command);
int sysfs_each(sysfs_fn fn, void *arg, const char *format, ...)
	__printf(3, 4);

#endif /* TOOLS_SYSFS_H */
