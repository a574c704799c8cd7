// SPDX-License-Identifier: GPL-2.0
/*
 * Answers from a file instead of the kernel, for tests.
 *
 * SMC_TOOLS_REPLAY names a file of netlink messages one after the other, as
 * tools/tests/pack.py makes them.  nlmsg_pid says which family answered
 * (REPLAY_*), nlmsg_seq which command was asked; a request gets all messages
 * that fit, in their order.  A family of which nothing is recorded does not
 * exist.  If SMC_TOOLS_SENT names a file, each request is added to it as a
 * line: family, do or dump, command, attributes in hexadecimal.
 *
 * Programs with more rights than their user ignore both variables.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "genl.h"
#include "replay.h"

#define MAX_SIZE	(1 << 20)

/**
 * replay_active() - do answers come from a file?
 */
bool replay_active(void)
{
	return secure_getenv("SMC_TOOLS_REPLAY");
}

static unsigned int steps;

/**
 * replay_step() - time passes: from now on, the next one of each list counts
 */
void replay_step(void)
{
	steps++;
}

/**
 * replay_steps() - how often time has passed
 */
unsigned int replay_steps(void)
{
	return steps;
}

/**
 * replay_pick() - what a variable of the environment says at this time
 * @name: its name; its value is a list with colons between, the last one of
 *	which stays
 *
 * Return: text, which stays until replay_step() and a call after that; NULL if
 * there is no such variable.
 */
const char *replay_pick(const char *name)
{
	const char *text = secure_getenv(name), *next;
	static char part[PATH_MAX];
	unsigned int i;

	if (!text)
		return NULL;
	for (i = 0; i < steps; i++) {
		next = strchr(text, ':');
		if (!next)
			break;
		text = next + 1;
	}
	snprintf(part, sizeof(part), "%.*s", (int)strcspn(text, ":"), text);
	return part;
}

/* The whole file; the caller frees it. */
static char *load(size_t *len)
{
	const char *path = replay_pick("SMC_TOOLS_REPLAY");
	FILE *f = fopen(path, "rb");
	char *data;

	if (!f) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return NULL;
	}
	data = malloc(MAX_SIZE);
	if (data)
		*len = fread(data, 1, MAX_SIZE, f);
	fclose(f);
	return data;
}

static void note_request(const char *family, const char *what, int cmd,
			 const void *attrs, size_t len)
{
	const char *path = secure_getenv("SMC_TOOLS_SENT");
	const unsigned char *p = attrs;
	FILE *f = path ? fopen(path, "a") : NULL;
	size_t i;

	if (!f)
		return;
	fprintf(f, "%s %s %d ", family, what, cmd);
	for (i = 0; i < len; i++)
		fprintf(f, "%02x", p[i]);
	fputc('\n', f);
	fclose(f);
}

static int play(const char *data, size_t len, unsigned int family_id, int cmd,
		replay_fn fn, void *arg)
{
	int rc = -EPROTONOSUPPORT;
	size_t step;

	for (; len >= sizeof(struct nlmsghdr); data += step, len -= step) {
		const struct nlmsghdr *nlh = (const void *)data;

		step = NLMSG_ALIGN(nlh->nlmsg_len);
		if (nlh->nlmsg_len < sizeof(*nlh) || step > len)
			break;
		if (nlh->nlmsg_pid != family_id)
			continue;
		if (rc == -EPROTONOSUPPORT)
			rc = 0;
		if (nlh->nlmsg_seq != (unsigned int)cmd)
			continue;
		rc = fn(nlh, arg);
		if (rc)
			break;
	}
	return rc;
}

/**
 * replay_request() - answer a request from the file
 * @family: name of the family
 * @what: "do" or "dump"
 * @cmd: command
 * @attrs: attributes of the request
 * @len: length of @attrs in bytes
 * @fn: called for each message; a result other than 0 ends the answer
 * @arg: handed to @fn
 *
 * Return: 0, what @fn returned, or a negative errno of which -EPROTONOSUPPORT
 * means that nothing of this family is recorded.
 */
int replay_request(const char *family, const char *what, int cmd,
		   const void *attrs, size_t len, replay_fn fn, void *arg)
{
	unsigned int family_id = REPLAY_SMC_GEN;
	size_t size = 0;
	char *data;
	int rc;

	if (!strcmp(family, SMCR_GENL_FAMILY_NAME))
		family_id = REPLAY_PNETID;
	else if (!strcmp(family, REPLAY_DIAG_NAME))
		family_id = REPLAY_DIAG;
	note_request(family, what, cmd, attrs, len);
	data = load(&size);
	if (!data)
		return -EIO;
	rc = play(data, size, family_id, cmd, fn, arg);
	free(data);
	return rc;
}
