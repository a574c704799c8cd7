// SPDX-License-Identifier: GPL-2.0
/*
 * Counters at the last "stats reset".
 *
 * The kernel's counters only grow.  "reset" writes them to a file of the user,
 * and what is shown later is the difference.  A file is not considered if it
 * is of another boot, another load of the module or another network namespace,
 * or if one of its numbers is larger than the kernel's.  All users can write to
 * the directory, so only an ordinary file of this user is read or written, and a
 * new one takes the place of the old in one step.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stats.h"
#include "sysfs.h"

#define MAGIC	"smc-stats 2"

static void cache_path(char *path, size_t size)
{
	const char *dir = secure_getenv("TMPDIR");

	snprintf(path, size, "%s/.smcstats.u%u", dir && *dir ? dir : "/tmp",
		 (unsigned int)geteuid());
}

static uint64_t net_inode(void)
{
	struct stat st;

	return stat("/proc/self/ns/net", &st) ? 0 : st.st_ino;
}

/* The line that says where the counters began at 0 */
static void origin(char *line, size_t size)
{
	char boot[SYSFS_TEXT];

	sysfs_read(boot, "/proc/sys/kernel/random/boot_id");
	snprintf(line, size, "%s %" PRIu64 " %" PRIu64 "\n", boot,
		 sysfs_inode("/sys/module/smc"), net_inode());
}

static FILE *open_cache(void)
{
	char path[4096];
	struct stat st;
	FILE *f;
	int fd;

	cache_path(path, sizeof(path));
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
	} else if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
		   st.st_uid != geteuid()) {
		fclose(f);
		f = NULL;
	}
	return f;
}

static bool load_values(FILE *f, uint64_t *v, int num)
{
	int i;

	for (i = 0; i < num; i++)
		if (fscanf(f, "%" SCNu64, &v[i]) != 1)
			return false;
	return true;
}

static bool load(FILE *f, struct stats *old)
{
	char line[256], want[256];

	memset(old, 0, sizeof(*old));
	if (!fgets(line, sizeof(line), f) || strcmp(line, MAGIC "\n"))
		return false;
	origin(want, sizeof(want));
	if (!fgets(line, sizeof(line), f) || strcmp(line, want))
		return false;
	if (!load_values(f, old->smcd, STATS_VALUES) ||
	    !load_values(f, old->smcr, STATS_VALUES) ||
	    !load_values(f, old->hs_err, 2) || !load_values(f, old->fback, 2))
		return false;
	while (old->num < STATS_REASONS) {
		struct stats_reason *r = &old->reasons[old->num];

		if (fscanf(f, "%u %" SCNx32 " %" SCNu64, &r->server, &r->code,
			   &r->count) != 3)
			break;
		old->num++;
	}
	return true;
}

static bool grown(const uint64_t *now, const uint64_t *old)
{
	int i;

	/* what is used of the buffers goes up and down */
	for (i = 0; i < STATS_RX_USAGE; i++)
		if (now[i] < old[i])
			return false;
	return true;
}

static void subtract(uint64_t *now, const uint64_t *old, int num)
{
	int i;

	for (i = 0; i < num; i++)
		now[i] -= old[i];
}

static struct stats_reason *find_reason(struct stats *st,
					const struct stats_reason *like)
{
	unsigned int i;

	for (i = 0; i < st->num; i++)
		if (st->reasons[i].server == like->server &&
		    st->reasons[i].code == like->code)
			return &st->reasons[i];
	return NULL;
}

/* A reason stays in the kernel's list; narrow counts start again at 65536. */
static bool reasons_grown(struct stats *now, const struct stats *old)
{
	const struct stats_reason *r;
	unsigned int i;

	for (i = 0; i < old->num; i++) {
		r = find_reason(now, &old->reasons[i]);
		if (!r || (!r->narrow && r->count < old->reasons[i].count))
			return false;
	}
	return true;
}

static void subtract_reasons(struct stats *now, const struct stats *old)
{
	struct stats_reason *r;
	unsigned int i;

	for (i = 0; i < old->num; i++) {
		r = find_reason(now, &old->reasons[i]);
		r->count -= old->reasons[i].count;
		if (r->narrow)
			r->count &= 0xffff;
	}
}

/**
 * stats_since_reset() - take away what was there at the last reset
 * @st: counters
 */
void stats_since_reset(struct stats *st)
{
	FILE *f = open_cache();
	struct stats old;
	bool good;

	if (!f)
		return;
	good = load(f, &old);
	fclose(f);
	if (!good || !grown(st->smcd, old.smcd) || !grown(st->smcr, old.smcr) ||
	    st->hs_err[0] < old.hs_err[0] || st->hs_err[1] < old.hs_err[1] ||
	    st->fback[0] < old.fback[0] || st->fback[1] < old.fback[1] ||
	    !reasons_grown(st, &old))
		return;
	subtract(st->smcd, old.smcd, STATS_RX_USAGE);
	subtract(st->smcr, old.smcr, STATS_RX_USAGE);
	subtract(st->hs_err, old.hs_err, 2);
	subtract(st->fback, old.fback, 2);
	subtract_reasons(st, &old);
}

static void save_values(FILE *f, const uint64_t *v, int num)
{
	int i;

	for (i = 0; i < num; i++)
		fprintf(f, "%" PRIu64 "%c", v[i], i == num - 1 ? '\n' : ' ');
}

static int save(FILE *f, const struct stats *st)
{
	unsigned int i;
	char line[256];
	int rc = 0;

	origin(line, sizeof(line));
	fprintf(f, MAGIC "\n%s", line);
	save_values(f, st->smcd, STATS_VALUES);
	save_values(f, st->smcr, STATS_VALUES);
	save_values(f, st->hs_err, 2);
	save_values(f, st->fback, 2);
	for (i = 0; i < st->num; i++)
		fprintf(f, "%u %" PRIx32 " %" PRIu64 "\n",
			st->reasons[i].server, st->reasons[i].code,
			st->reasons[i].count);
	if (ferror(f))
		rc = -EIO;
	if (fclose(f))
		rc = -errno;
	return rc;
}

/**
 * stats_save() - make these counters the ones of the last reset
 * @st: counters as the kernel has them
 *
 * Return: 0 or a negative errno.
 */
int stats_save(const struct stats *st)
{
	char path[4096], new[4096 + 8];
	FILE *f;
	int fd, rc;

	cache_path(path, sizeof(path));
	snprintf(new, sizeof(new), "%s.XXXXXX", path);
	fd = mkostemp(new, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	f = fdopen(fd, "w");
	if (!f) {
		close(fd);
		rc = -ENOMEM;
	} else {
		rc = save(f, st);
	}
	if (!rc && rename(new, path))
		rc = -errno;
	if (rc)
		unlink(new);
	return rc;
}
