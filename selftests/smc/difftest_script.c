// SPDX-License-Identifier: GPL-2.0
/*
 * Scripts of the differential tester: their text.
 *
 * A script is a list of calls on sockets that are named by one letter: c and
 * s are a connected pair from the start, l, a, b and d do not exist until
 * "new" or "accept" makes them.  One line a call:
 *
 *	NAME SOCKET [OTHER SOCKET] [NUMBER [NUMBER]] [WORD...]
 */
#include "difftest.h"

const int ring_sizes[NUM_RINGS] = { 16384, 32768, 65536 };

const struct op_info op_info[OP_COUNT] = {
	[OP_SEND] = { "send", 1, 1 },		/* bytes */
	[OP_RECV] = { "recv", 1, 1 },		/* bytes */
	[OP_XFER] = { "xfer", 1, 2 },		/* bytes, of each call */
	[OP_FILL] = { "fill", 1, 0 },
	[OP_DRAIN] = { "drain", 1, 0 },
	[OP_POLL] = { "poll", 1, 0 },
	[OP_INQ] = { "inq", 1, 0 },
	[OP_OUTQ] = { "outq", 1, 0 },
	[OP_ATMARK] = { "atmark", 1, 0 },
	[OP_SHUT] = { "shutdown", 1, 1 },	/* how */
	[OP_CLOSE] = { "close", 1, 0 },
	[OP_LINGER] = { "linger", 1, 2 },	/* on, seconds */
	[OP_LOWAT] = { "rcvlowat", 1, 1 },
	[OP_RCVTIMEO] = { "rcvtimeo", 1, 1 },	/* ms */
	[OP_SNDTIMEO] = { "sndtimeo", 1, 1 },	/* ms */
	[OP_OOBINLINE] = { "oobinline", 1, 1 },
	[OP_CORK] = { "cork", 1, 1 },
	[OP_SOERR] = { "soerror", 1, 0 },
	[OP_SOCKNAME] = { "sockname", 1, 0 },
	[OP_PEERNAME] = { "peername", 1, 0 },
	[OP_NEW] = { "new", 1, 0 },
	[OP_BIND] = { "bind", 1, 0 },
	[OP_LISTEN] = { "listen", 1, 1 },	/* backlog */
	[OP_CONNECT] = { "connect", 2, 0 },	/* to the name of the other */
	[OP_UNCONNECT] = { "unconnect", 1, 0 },
	[OP_ACCEPT] = { "accept", 2, 0 },	/* listener, new socket */
};

const struct flag_word flag_words[NUM_FLAG_WORDS] = {
	{ "peek", MSG_PEEK }, { "trunc", MSG_TRUNC },
	{ "waitall", MSG_WAITALL }, { "oob", MSG_OOB },
	{ "dontwait", MSG_DONTWAIT }, { "more", MSG_MORE },
	{ "nosignal", MSG_NOSIGNAL }, { "errqueue", MSG_ERRQUEUE },
};

void op_print(FILE *f, const struct op *op)
{
	const struct op_info *info = &op_info[op->code];
	unsigned int i;

	fputs(info->name, f);
	for (i = 0; i < info->slots; i++)
		fprintf(f, " %c", SLOT_NAMES[op->slot[i]]);
	for (i = 0; i < info->nums; i++)
		fprintf(f, " %d", op->num[i]);
	for (i = 0; i < NUM_FLAG_WORDS; i++)
		if (op->flags & flag_words[i].flag)
			fprintf(f, " %s", flag_words[i].word);
	if (op->iov > 1)
		fprintf(f, " iov=%d", op->iov);
	if (op->hole >= 0)
		fprintf(f, " hole=%d", op->hole);
}

void script_print(FILE *f, const struct script *sc)
{
	int i;

	fprintf(f, "ring %d\n", sc->ring);
	for (i = 0; i < sc->n; i++) {
		op_print(f, &sc->op[i]);
		fputc('\n', f);
	}
}

static void op_word(struct op *op, const char *word, const char *line)
{
	unsigned int i;

	if (!strncmp(word, "iov=", 4)) {
		op->iov = atoi(word + 4);
		return;
	}
	if (!strncmp(word, "hole=", 5)) {
		op->hole = atoi(word + 5);
		return;
	}
	for (i = 0; i < NUM_FLAG_WORDS; i++)
		if (!strcmp(word, flag_words[i].word)) {
			op->flags |= flag_words[i].flag;
			return;
		}
	errno = 0;
	die("'%s' in '%s' is not understood", word, line);
}

static void op_parse(struct op *op, const char *line)
{
	int slots = 0, nums = 0, code;
	const struct op_info *info;
	char *word, *save, *copy;

	memset(op, 0, sizeof(*op));
	op->hole = -1;
	copy = strdup(line);
	word = strtok_r(copy, " \t\n", &save);
	for (code = 0; code < OP_COUNT; code++)
		if (!strcmp(word, op_info[code].name))
			break;
	if (code == OP_COUNT)
		die("no call is named '%s'", word);
	op->code = code;
	info = &op_info[code];
	while ((word = strtok_r(NULL, " \t\n", &save))) {
		if (slots < info->slots && strchr(SLOT_NAMES, *word))
			op->slot[slots++] = strchr(SLOT_NAMES, *word) -
					    SLOT_NAMES;
		else if (nums < info->nums)
			op->num[nums++] = atoi(word);
		else
			op_word(op, word, line);
	}
	if (slots < info->slots || nums < info->nums)
		die("something is missing in '%s'", line);
	free(copy);
}

void script_read(struct script *sc, const char *path)
{
	FILE *f = fopen(path, "r");
	char line[256];

	if (!f)
		die("%s", path);
	errno = 0;
	memset(sc, 0, sizeof(*sc));
	sc->ring = ring_sizes[0];
	while (fgets(line, sizeof(line), f)) {
		if (*line == '#' || *line == '\n')
			continue;
		if (sscanf(line, "ring %d", &sc->ring) == 1)
			continue;
		if (sc->n == MAX_OPS)
			die("%s: more than %d calls", path, MAX_OPS);
		op_parse(&sc->op[sc->n++], line);
	}
	fclose(f);
}
