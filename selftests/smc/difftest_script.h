/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scripts of the differential tester: what a script is, its text, and how one
 * is made from a seed.
 *
 * A script is a list of calls on sockets that are named by one letter: c and
 * s are a connected pair from the start, l, a, b and d do not exist until
 * "new" or "accept" makes them.  One line a call:
 *
 *	NAME SOCKET [OTHER SOCKET] [NUMBER [NUMBER]] [WORD...]
 *
 * The generator prefers calls that mean something (it has no model of its
 * own; what a call means is known to the executor, which has one).
 */
#ifndef SMC_DIFFTEST_SCRIPT_H
#define SMC_DIFFTEST_SCRIPT_H

#include "util.h"

#define MAX_OPS		40
#define NUM_SLOTS	6
#define SLOT_NAMES	"cslabd"

/* sizes of rings asked for; the first one is the smallest there is */
static const int ring_sizes[] = { 16384, 32768, 65536 };

enum op_code {
	OP_SEND, OP_RECV, OP_XFER, OP_FILL, OP_DRAIN, OP_POLL, OP_INQ, OP_OUTQ,
	OP_ATMARK, OP_SHUT, OP_CLOSE, OP_LINGER, OP_LOWAT, OP_RCVTIMEO,
	OP_SNDTIMEO, OP_OOBINLINE, OP_CORK, OP_SOERR, OP_SOCKNAME, OP_PEERNAME,
	OP_NEW, OP_BIND, OP_LISTEN, OP_CONNECT, OP_UNCONNECT, OP_ACCEPT,
	OP_COUNT
};

static const struct op_info {
	const char *name;
	int slots, nums;
} op_info[OP_COUNT] = {
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

static const struct {
	const char *word;
	int flag;
} flag_words[] = {
	{ "peek", MSG_PEEK }, { "trunc", MSG_TRUNC },
	{ "waitall", MSG_WAITALL }, { "oob", MSG_OOB },
	{ "dontwait", MSG_DONTWAIT }, { "more", MSG_MORE },
	{ "nosignal", MSG_NOSIGNAL }, { "errqueue", MSG_ERRQUEUE },
};

/**
 * struct op - one call
 * @code: which
 * @slot: sockets it is about
 * @num: numbers
 * @flags: MSG_* for send and recv; MSG_DONTWAIT for connect and accept
 * @iov: pieces of the buffer
 * @hole: bytes before the unreadable memory, -1: none
 */
struct op {
	enum op_code code;
	int slot[2], num[2];
	int flags, iov, hole;
};

struct script {
	unsigned int seed;
	int ring, n;
	struct op op[MAX_OPS];
};

/* -- text -- */

static inline void op_print(FILE *f, const struct op *op)
{
	const struct op_info *info = &op_info[op->code];
	unsigned int i;

	fputs(info->name, f);
	for (i = 0; i < info->slots; i++)
		fprintf(f, " %c", SLOT_NAMES[op->slot[i]]);
	for (i = 0; i < info->nums; i++)
		fprintf(f, " %d", op->num[i]);
	for (i = 0; i < sizeof(flag_words) / sizeof(*flag_words); i++)
		if (op->flags & flag_words[i].flag)
			fprintf(f, " %s", flag_words[i].word);
	if (op->iov > 1)
		fprintf(f, " iov=%d", op->iov);
	if (op->hole >= 0)
		fprintf(f, " hole=%d", op->hole);
}

static inline void script_print(FILE *f, const struct script *sc)
{
	int i;

	fprintf(f, "ring %d\n", sc->ring);
	for (i = 0; i < sc->n; i++) {
		op_print(f, &sc->op[i]);
		fputc('\n', f);
	}
}

static inline void op_word(struct op *op, const char *word, const char *line)
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
	for (i = 0; i < sizeof(flag_words) / sizeof(*flag_words); i++)
		if (!strcmp(word, flag_words[i].word)) {
			op->flags |= flag_words[i].flag;
			return;
		}
	errno = 0;
	die("'%s' in '%s' is not understood", word, line);
}

static inline void op_parse(struct op *op, const char *line)
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

static inline void script_read(struct script *sc, const char *path)
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

/* -- generator -- */

static uint64_t rnd_state;

static inline uint32_t rnd(uint32_t below)
{
	/* splitmix64 */
	uint64_t z = (rnd_state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return (uint32_t)((z ^ (z >> 31)) >> 32) % below;
}

static inline bool one_in(int n)
{
	return !rnd(n);
}

/* what fits: the executor's limit for what may be on the way is 6000 */
static inline int gen_size(void)
{
	switch (rnd(8)) {
	case 0:
		return rnd(3);
	case 1: case 2: case 3:
		return 1 + rnd(16);
	case 4: case 5:
		return 1 + rnd(300);
	case 6:
		return 1 + rnd(2000);
	default:
		return 1 + rnd(6000);
	}
}

static inline void gen_memory(struct op *op)
{
	if (one_in(4))
		op->iov = 2 + rnd(6);
	if (one_in(8) && op->num[0])
		op->hole = rnd(op->num[0]);
}

static inline void gen_send(struct op *op)
{
	op->num[0] = gen_size();
	gen_memory(op);
	if (one_in(2))
		op->flags |= MSG_DONTWAIT;
	if (one_in(6))
		op->flags |= MSG_MORE;
	if (one_in(8))
		op->flags |= MSG_OOB;
	if (one_in(3))
		op->flags |= MSG_NOSIGNAL;
}

static inline void gen_recv(struct op *op)
{
	op->num[0] = gen_size();
	gen_memory(op);
	if (!one_in(16))
		op->flags |= MSG_DONTWAIT;
	if (one_in(5))
		op->flags |= MSG_PEEK;
	if (one_in(8))
		op->flags |= MSG_TRUNC;
	if (one_in(6))
		op->flags |= MSG_WAITALL;
	if (one_in(10))
		op->flags |= MSG_OOB;
	if (one_in(40))
		op->flags |= MSG_ERRQUEUE;
}

/* bytes that bring the position of a stream near the end of a ring */
static inline void gen_xfer(struct op *op, int ring)
{
	int n = ring * (1 + rnd(3)) - 150 + rnd(300);

	if (one_in(2))
		n = rnd(3 * ring);
	op->num[0] = n;
	op->num[1] = one_in(3) ? 1 + rnd(3000) : 1 + rnd(2 * ring);
	/* thousands of small calls say nothing new */
	if (op->num[1] < op->num[0] / 50)
		op->num[1] = op->num[0] / 50;
	if (one_in(5))
		op->flags |= MSG_MORE;
	if (one_in(8))
		op->iov = 2 + rnd(6);
}

static inline enum op_code gen_code(bool data)
{
	static const unsigned char pair[] = {
		OP_SEND, OP_SEND, OP_SEND, OP_SEND, OP_SEND, OP_SEND, OP_SEND,
		OP_RECV, OP_RECV, OP_RECV, OP_RECV, OP_RECV, OP_RECV, OP_RECV,
		OP_XFER, OP_POLL, OP_POLL, OP_POLL, OP_POLL, OP_INQ, OP_INQ,
		OP_ATMARK, OP_SHUT, OP_SHUT, OP_CLOSE, OP_LOWAT, OP_OOBINLINE,
		OP_SOERR, OP_LINGER, OP_CORK, OP_DRAIN, OP_DRAIN, OP_PEERNAME,
	};
	static const unsigned char rare[] = {
		OP_FILL, OP_OUTQ, OP_RCVTIMEO, OP_SNDTIMEO, OP_UNCONNECT,
		OP_SOCKNAME, OP_LISTEN, OP_CONNECT, OP_ACCEPT, OP_BIND,
	};
	static const unsigned char loose[] = {
		OP_NEW, OP_NEW, OP_NEW, OP_BIND, OP_LISTEN, OP_LISTEN,
		OP_CONNECT, OP_CONNECT, OP_CONNECT, OP_CONNECT, OP_ACCEPT,
		OP_ACCEPT, OP_ACCEPT, OP_UNCONNECT, OP_POLL, OP_POLL, OP_SEND,
		OP_SEND, OP_RECV, OP_RECV, OP_SHUT, OP_CLOSE, OP_SOERR,
		OP_SOCKNAME, OP_PEERNAME, OP_INQ, OP_ATMARK, OP_OUTQ,
		OP_RCVTIMEO,
	};

	if (!data)
		return loose[rnd(sizeof(loose))];
	if (one_in(25))
		return rare[rnd(sizeof(rare))];
	return pair[rnd(sizeof(pair))];
}

static inline void gen_op(struct op *op, bool data, int ring)
{
	memset(op, 0, sizeof(*op));
	op->hole = -1;
	op->code = gen_code(data);
	op->slot[0] = data ? rnd(2) : 2 + rnd(4);
	op->slot[1] = data ? rnd(NUM_SLOTS) : 2 + rnd(4);
	switch (op->code) {
	case OP_SEND:
		gen_send(op);
		break;
	case OP_RECV:
		gen_recv(op);
		break;
	case OP_XFER:
		gen_xfer(op, ring);
		break;
	case OP_SHUT:
		op->num[0] = one_in(30) ? 3 : rnd(3);
		break;
	case OP_LINGER:
		op->num[0] = !one_in(4);
		op->num[1] = one_in(2) ? 0 : 1 + rnd(5);
		break;
	case OP_LOWAT:
		op->num[0] = one_in(3) ? 1 : gen_size() / 2;
		break;
	case OP_RCVTIMEO: case OP_SNDTIMEO:
		op->num[0] = 1 + rnd(3);
		break;
	case OP_OOBINLINE: case OP_CORK:
		op->num[0] = rnd(2);
		break;
	case OP_LISTEN:
		op->num[0] = 4 + rnd(4);
		break;
	case OP_CONNECT: case OP_ACCEPT:
		if (one_in(2))
			op->flags |= MSG_DONTWAIT;
		break;
	default:
		break;
	}
}

/* One script in five is about connect, listen and accept. */
static inline void script_make(struct script *sc, unsigned int seed)
{
	bool data;
	int i;

	memset(sc, 0, sizeof(*sc));
	sc->seed = seed;
	rnd_state = seed;
	rnd(2);
	data = !one_in(5);
	sc->ring = ring_sizes[one_in(6) ? 1 + rnd(2) : 0];
	sc->n = 4 + rnd(MAX_OPS - 4);
	for (i = 0; i < sc->n; i++)
		gen_op(&sc->op[i], data || one_in(20), sc->ring);
	/* begin near the end of a ring, in one direction or in both */
	for (i = 0; data && i < 2; i++) {
		if (one_in(3))
			continue;
		gen_op(&sc->op[i], true, sc->ring);
		memset(&sc->op[i], 0, sizeof(sc->op[i]));
		sc->op[i].hole = -1;
		sc->op[i].code = OP_XFER;
		sc->op[i].slot[0] = i;
		gen_xfer(&sc->op[i], sc->ring);
	}
}

#endif /* SMC_DIFFTEST_SCRIPT_H */
