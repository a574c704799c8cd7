// SPDX-License-Identifier: GPL-2.0
/*
 * Which smc.ko is loaded, and which one modprobe would load.
 *
 * The kernel may have a module of the same name.  Ours has a version, the
 * kernel's own has none.  Of the modules that are installed, depmod has written
 * those that modprobe takes to modules.dep; the kernel's own ones are below
 * "kernel/" there.  smc_run does the same in shell.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"
#include "tool.h"

/* A module has the defaults when it is loaded.  --system ignores a later -r. */
#define RELOAD	"rmmod smc_diag smc; modprobe smc; sysctl -r ^net.smc --system; reboot if it is in use"

static char release[SYSFS_TEXT];	/* of the running kernel */

static enum module_origin find_loaded(struct module *m)
{
	if (sysfs_read(m->version, "/sys/module/smc/version"))
		return MODULE_OURS;
	return sysfs_each(NULL, NULL, "/sys/module/smc") ? MODULE_KERNEL :
							   MODULE_NONE;
}

/* "kernel/net/smc/smc.ko.xz: kernel/..." */
static bool is_smc(const char *line)
{
	const char *end = line + strcspn(line, ":");
	const char *name = line;
	const char *slash;

	while ((slash = memchr(name, '/', end - name)))
		name = slash + 1;
	return !strncmp(name, "smc.ko", 6) && strchr(".:", name[6]);
}

static enum module_origin find_installed(void)
{
	enum module_origin found = MODULE_NONE;
	char path[PATH_MAX];
	size_t size = 0;
	char *line = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	f = sysfs_open(path);
	if (!f)
		return MODULE_UNKNOWN;
	while (found == MODULE_NONE && getline(&line, &size, f) > 0)
		if (is_smc(line))
			found = strncmp(line, "kernel/", 7) ? MODULE_OURS :
							      MODULE_KERNEL;
	free(line);
	fclose(f);
	return found;
}

/* What the module needs may be missing in this kernel. */
static bool has_infiniband(void)
{
	static const char want[] = "CONFIG_INFINIBAND=";
	char path[PATH_MAX];
	bool found = false;
	size_t size = 0;
	char *line = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/boot/config-%s", release);
	f = sysfs_open(path);
	if (!f)
		return true;
	while (!found && getline(&line, &size, f) > 0)
		found = !strncmp(line, want, strlen(want));
	free(line);
	fclose(f);
	return found;
}

/* How to have the module built for this kernel, or what to do instead. */
static void build_it(char *text, size_t size)
{
	const char *arch = strrchr(release, '-');

	if (has_infiniband())
		snprintf(text, size,
			 "install its headers (linux-headers-%s or kernel-devel-%s), then dkms autoinstall -k %s, or make clean all install in the source (Linux 6.1, 6.6 and later)",
			 release, release, release);
	else if (strstr(release, "-cloud-"))
		snprintf(text, size,
			 "cloud kernels have no InfiniBand: install linux-image%s and linux-headers%s, and boot it",
			 arch, arch);
	else
		snprintf(text, size,
			 "this kernel has no InfiniBand: boot one that has CONFIG_INFINIBAND");
}

/**
 * module_find() - look which modules there are
 * @m: result
 */
void module_find(struct module *m)
{
	sysfs_read(release, "/proc/sys/kernel/osrelease");
	m->loaded = find_loaded(m);
	m->installed = find_installed();
}

/**
 * module_update() - what to do to have the module that is installed loaded
 * @m: what there is
 *
 * An update does not reload the module.  The kernel and modinfo have a number
 * made of its sources; where there is no modinfo, this is not known.
 *
 * Return: text; NULL if this module is not loaded, or none of other sources is
 * installed.
 */
const char *module_update(const struct module *m)
{
	char loaded[SYSFS_TEXT], installed[SYSFS_TEXT];

	if (m->loaded != MODULE_OURS || m->installed != MODULE_OURS ||
	    !sysfs_read(loaded, "/sys/module/smc/srcversion") ||
	    !sysfs_run(installed, "/sbin/modinfo -F srcversion smc") ||
	    !strcmp(loaded, installed))
		return NULL;
	return RELOAD;
}

/**
 * module_remedy() - what to do to have this module loaded
 * @m: what there is
 *
 * Return: text, valid until the next call; NULL if it is loaded.
 */
const char *module_remedy(const struct module *m)
{
	static char text[3 * SYSFS_TEXT + 200];

	if (m->loaded == MODULE_OURS)
		return NULL;
	if (m->installed == MODULE_KERNEL || m->installed == MODULE_NONE)
		build_it(text, sizeof(text));
	else if (m->loaded == MODULE_KERNEL)
		snprintf(text, sizeof(text), RELOAD);
	else
		snprintf(text, sizeof(text), "modprobe smc");
	return text;
}

/**
 * module_note() - say so if the kernel's own smc is loaded
 */
void module_note(void)
{
	struct module m;

	module_find(&m);
	if (m.loaded == MODULE_KERNEL)
		tool_say("this is the kernel's own smc; for this module: %s",
			 module_remedy(&m));
}

/**
 * module_missing() - say that a module could not be loaded, and what to do
 * @name: the module
 */
void module_missing(const char *name)
{
	const char *update;
	struct module m;

	module_find(&m);
	update = module_update(&m);
	if (update)
		tool_say("the module smc that is loaded is not the one that is installed: %s",
			 update);
	else if (m.loaded == MODULE_NONE && m.installed == MODULE_NONE)
		tool_say("there is no module smc for Linux %s: %s", release,
			 module_remedy(&m));
	else
		tool_say("the kernel module %s is not loaded and could not be loaded (modprobe %s)",
			 name, name);
}
