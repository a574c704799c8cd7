// SPDX-License-Identifier: GPL-2.0
/*
 * Reading of /sys and /proc, and of what a program says of the system.
 *
 * For tests, SMC_TOOLS_ROOT is a directory that takes the place of the root;
 * programs with more rights than their user ignore it (replay.c).
 *
 * Tests: tools/tests/tools.sh.
 */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replay.h"
#include "sysfs.h"

#define PATH_LEN	4096

static void full_path(char *path, const char *format, va_list args)
{
	const char *root = replay_pick("SMC_TOOLS_ROOT");
	int len;

	len = snprintf(path, PATH_LEN, "%s", root ? root : "");
	if (len < PATH_LEN)
		vsnprintf(path + len, PATH_LEN - len, format, args);
}

/**
 * sysfs_open() - open a file for reading
 * @path: absolute path
 *
 * Return: the file, or NULL with errno set.
 */
FILE *sysfs_open(const char *path)
{
	const char *root = replay_pick("SMC_TOOLS_ROOT");
	char full[PATH_LEN];

	snprintf(full, sizeof(full), "%s%s", root ? root : "", path);
	return fopen(full, "re");
}

/**
 * sysfs_inode() - number of the inode of a file or directory
 * @path: absolute path
 *
 * sysfs gives each directory that it makes a new number.
 *
 * Return: the number, or 0 if there is no such file.
 */
uint64_t sysfs_inode(const char *path)
{
	const char *root = replay_pick("SMC_TOOLS_ROOT");
	char full[PATH_LEN];
	struct stat st;

	snprintf(full, sizeof(full), "%s%s", root ? root : "", path);
	return stat(full, &st) ? 0 : st.st_ino;
}

static void read_line(char *text, FILE *f)
{
	size_t len;

	if (!fgets(text, SYSFS_TEXT, f))
		text[0] = 0;
	for (len = strlen(text); len; len--)
		if (text[len - 1] != '\n' && text[len - 1] != ' ')
			break;
	text[len] = 0;
}

/**
 * sysfs_read() - first line of a file, without the blanks at its end
 * @text: SYSFS_TEXT bytes; "" if there is no such file
 * @format: absolute path, as for printf(), then its arguments
 *
 * Return: was there something to read?
 */
bool sysfs_read(char *text, const char *format, ...)
{
	char path[PATH_LEN];
	va_list args;
	FILE *f;

	va_start(args, format);
	full_path(path, format, args);
	va_end(args);
	text[0] = 0;
	f = fopen(path, "re");
	if (!f)
		return false;
	read_line(text, f);
	fclose(f);
	return *text;
}

/**
 * sysfs_run() - first line of what a program of the system prints
 * @text: SYSFS_TEXT bytes; "" if there is no such program, or it fails
 * @command: for the shell; begins with an absolute path
 *
 * Return: was there something to read?
 */
bool sysfs_run(char *text, const char *command)
{
	const char *root = replay_pick("SMC_TOOLS_ROOT");
	char full[PATH_LEN];
	FILE *f;

	text[0] = 0;
	snprintf(full, sizeof(full), "%s%s 2>/dev/null", root ? root : "",
		 command);
	f = popen(full, "re");
	if (!f)
		return false;
	read_line(text, f);
	if (pclose(f))
		text[0] = 0;
	return *text;
}

/**
 * sysfs_link() - last component of what a symbolic link points to
 * @text: SYSFS_TEXT bytes; "" if there is no such link
 * @format: absolute path, as for printf(), then its arguments
 *
 * Return: is it a symbolic link?
 */
bool sysfs_link(char *text, const char *format, ...)
{
	char path[PATH_LEN], target[PATH_LEN];
	const char *last;
	va_list args;
	ssize_t len;

	va_start(args, format);
	full_path(path, format, args);
	va_end(args);
	text[0] = 0;
	len = readlink(path, target, sizeof(target) - 1);
	if (len <= 0)
		return false;
	target[len] = 0;
	last = strrchr(target, '/');
	snprintf(text, SYSFS_TEXT, "%.*s", SYSFS_TEXT - 1,
		 last ? last + 1 : target);
	return true;
}

static int visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/**
 * sysfs_each() - call a function for each entry of a directory, sorted
 * @fn: the function
 * @arg: for @fn
 * @format: absolute path, as for printf(), then its arguments
 *
 * Return: how many entries; 0 also if there is no such directory.
 */
int sysfs_each(sysfs_fn fn, void *arg, const char *format, ...)
{
	struct dirent **list;
	char path[PATH_LEN];
	va_list args;
	int i, num;

	va_start(args, format);
	full_path(path, format, args);
	va_end(args);
	num = scandir(path, &list, visible, alphasort);
	if (num < 0)
		return 0;
	for (i = 0; i < num; i++) {
		if (fn)
			fn(list[i]->d_name, arg);
		free(list[i]);
	}
	free(list);
	return num;
}
