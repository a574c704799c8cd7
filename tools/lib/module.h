/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which smc.ko is loaded, and which one modprobe would load.
 */
#ifndef TOOLS_MODULE_H
#define TOOLS_MODULE_H

#include "sysfs.h"

enum module_origin {
	MODULE_UNKNOWN,		/* no list of modules, as in a container */
	MODULE_NONE,
	MODULE_KERNEL,		/* the kernel's own */
	MODULE_OURS,
};

/**
 * struct module - what there is for the running kernel
 * @loaded: what is loaded now; what is built into the kernel is not seen
 * @installed: what modprobe would load
 * @version: of what is loaded, "" if that is not ours
 */
struct module {
	enum module_origin loaded;
	enum module_origin installed;
	char version[SYSFS_TEXT];
};

void module_find(struct module *m);
const char *module_update(const struct module *m);
const char *module_remedy(const struct module *m);
void module_note(void);
void module_missing(const char *name);

#endif /* TOOLS_MODULE_H */
