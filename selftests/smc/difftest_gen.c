// SPDX-License-Identifier: GPL-2.0
/*
 * The generator of the differential tester: a script is made from a seed.  It
 * prefers calls that mean something, and has no model of its own; what a call
 * means is known to the executor, which has one.
 */
#include "difftest.h"

static uint64_t rnd_state;

static uint32_t rnd(uint32_t below)
{
	return (uint32_t)(random64(&rnd_state) >> 32) % below;
}

static bool one_in(int n)
{
	return !rnd(n);
}

/* what fits: the executor's limit for what may be on the way is 6000 */
static int gen_size(void)
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

static void gen_memory(struct op *op)
{
	if (one_in(4))
		op->iov = 2 + rnd(6);
	if (one_in(8) && op->num[0])
		op->hole = rnd(op->num[0]);
}

static void gen_send(struct op *op)
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

static void gen_recv(struct op *op)
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
static void gen_xfer(struct op *op, int ring)
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

static enum op_code gen_code(bool data)
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

static void gen_op(struct op *op, bool data, int ring)
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
void script_make(struct script *sc, unsigned int seed)
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
