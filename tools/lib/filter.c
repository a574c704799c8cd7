// SPDX-License-Identifier: GPL-2.0
/*
 * "all", "LG-ID", "netdev NAME", "ibdev NAME" on the command line.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "tool.h"

static int take_id(struct filter *f, const char *text)
{
	unsigned long id;
	char *end;

	errno = 0;
	id = strtoul(text, &end, 16);
	if (errno || *end || end == text || id > UINT32_MAX || *text == '-') {
		tool_say("'%s' is not a link group id (hexadecimal)", text);
		return TOOL_USAGE;
	}
	f->id = id;
	f->have_id = true;
	return TOOL_OK;
}

static int take_dev(struct filter *f, const char *what, const char *name)
{
	if (!name) {
		tool_say("a name must follow '%s'", what);
		return TOOL_USAGE;
	}
	if (tool_matches(what, "netdev"))
		f->netdev = name;
	else
		f->ibdev = name;
	return TOOL_OK;
}

/**
 * filter_parse() - read what to show
 * @f: result
 * @may: FILTER_* bits this command knows
 * @argc: how many arguments
 * @argv: which
 *
 * Return: TOOL_OK or TOOL_USAGE after a message.
 */
int filter_parse(struct filter *f, int may, int argc, char **argv)
{
	int rc = TOOL_OK;

	memset(f, 0, sizeof(*f));
	while (argc && !rc) {
		const char *word = *argv++;

		argc--;
		if (!strcmp(word, "all"))
			continue;
		if (may & FILTER_DEV && (tool_matches(word, "netdev") ||
					 tool_matches(word, "ibdev"))) {
			rc = take_dev(f, word, argc ? *argv : NULL);
			argc--;
			argv++;
		} else if (may & FILTER_ID) {
			rc = take_id(f, word);
		} else {
			rc = tool_no_args(1, argv - 1);
		}
	}
	return rc;
}

/**
 * filter_dev() - is a device among those to show?
 * @f: what to show
 * @netdev: name of its network interface, "" if unknown
 * @ibdev: name of the RDMA device
 */
bool filter_dev(const struct filter *f, const char *netdev, const char *ibdev)
{
	if (f->netdev && strcmp(f->netdev, netdev))
		return false;
	return !f->ibdev || !strcmp(f->ibdev, ibdev);
}
