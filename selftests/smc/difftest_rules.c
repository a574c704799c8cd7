// SPDX-License-Identifier: GPL-2.0
/*
 * Deviations from TCP that are documented in
 * Documentation/networking/smc/deviations.rst, as the tester knows them.  A
 * script that shows one is not looked at beyond that call: what follows from
 * it would differ, too.
 */
#include "difftest.h"

bool rules_on, rules_rdma;
const struct run *rules_tcp;

static bool is_op(const struct script *sc, int call, enum op_code code)
{
	return call < sc->n && sc->op[call].code == code;
}

/* Has a call of this kind come before?  @num: its first number, -1: any. */
static bool came_before(const struct script *sc, int call, enum op_code code,
			int num, int flags)
{
	int i;

	for (i = 0; i < call && i < sc->n; i++)
		if (sc->op[i].code == code && (sc->op[i].flags & flags) == flags &&
		    (num < 0 || sc->op[i].num[0] == num))
			return true;
	return false;
}

static bool answered(int call, const char *text)
{
	return !strncmp(rules_tcp->trace[call], text, strlen(text));
}

/* Has anything come before that ends a connection? */
static bool end_before(const struct script *sc, int call)
{
	return came_before(sc, call, OP_SHUT, -1, 0) ||
	       came_before(sc, call, OP_CLOSE, -1, 0) ||
	       came_before(sc, call, OP_UNCONNECT, -1, 0);
}

static bool listened_before(const struct script *sc, int call, int slot)
{
	int i;

	for (i = 0; i < call; i++)
		if (is_op(sc, i, OP_LISTEN) && sc->op[i].slot[0] == slot &&
		    answered(i, "0"))
			return true;
	return false;
}

/* Does the call make a connection of this socket?  A refused one is none. */
static bool connects(const struct script *sc, int call, int slot)
{
	const struct op *op = &sc->op[call];

	if (op->code == OP_ACCEPT)
		return op->slot[1] == slot && answered(call, "accepted");
	return op->code == OP_CONNECT && op->slot[0] == slot &&
	       (answered(call, "0") || answered(call, "EINPROGRESS")) &&
	       listened_before(sc, call, op->slot[1]);
}

/*
 * Is the socket one whose connection may be over?  Which one is its peer is not
 * known here, nor whether an end came before accept(): one at any other socket
 * will do.  Its own connect(AF_UNSPEC) leaves a socket like a new one, and
 * nothing is excused on these.
 */
static bool over_before(const struct script *sc, int call, int slot)
{
	bool connected = slot < 2, ended = false;	/* c and s are a pair */
	const struct op *op;
	int i;

	for (i = 0; i < call && i < sc->n; i++) {
		op = &sc->op[i];
		if (answered(i, "-"))
			continue;
		if (connects(sc, i, slot))
			connected = true;
		/* shutdown() has its effect where it says ENOTCONN, too */
		if (op->code == OP_SHUT)
			ended = true;
		if (op->code != OP_CLOSE && op->code != OP_UNCONNECT &&
		    op->code != OP_NEW)
			continue;
		if (op->slot[0] == slot) {
			connected = false;
			ended = ended && op->code == OP_CLOSE;
		} else if (op->code != OP_NEW) {
			ended = true;
		}
	}
	return connected && ended;
}

/*
 * The urgent byte that came too late makes an older one, which was not read,
 * part of the stream: at any call that reads there is a byte more than here, or
 * also those behind it if the call stops at the mark here, and what is behind
 * may be looked at.
 */
static bool one_urgent_more(const struct script *sc, int call, const char *tcp,
			    const char *smc)
{
	int i, urgent = 0;

	for (i = 0; i < call && i < sc->n; i++)
		urgent += sc->op[i].code == OP_SEND &&
			  sc->op[i].flags & MSG_OOB;
	if (urgent < 2 || !came_before(sc, call, OP_SHUT, -1, 0))
		return false;
	if (is_op(sc, call, OP_INQ))
		return atoi(tcp) > atoi(smc);
	if (is_op(sc, call, OP_ATMARK))
		return !strcmp(tcp, "0") && !strcmp(smc, "1");
	if (is_op(sc, call, OP_RECV))
		return *smc >= '0' && *smc <= '9' && atoi(tcp) > atoi(smc);
	return call == sc->n && strstr(tcp, "BAD; in out pri rdhup hup") &&
	       strstr(smc, "; in out rdhup hup");
}

/* POLLPRI of a connection that is over, or recv(MSG_OOB) there */
static bool late_urgent(const struct script *sc, int call, const char *tcp,
			const char *smc)
{
	const char *pri = strstr(tcp, "pri ");
	char text[TRACE_LEN];

	if (!came_before(sc, call, OP_SEND, -1, MSG_OOB))
		return false;
	if (one_urgent_more(sc, call, tcp, smc))
		return true;
	if (is_op(sc, call, OP_ATMARK))
		return came_before(sc, call, OP_SHUT, -1, 0) &&
		       !strcmp(tcp, "1") && !strcmp(smc, "0");
	if (is_op(sc, call, OP_RECV) && sc->op[call].flags & MSG_OOB)
		return end_before(sc, call) && !strcmp(tcp, "ENOTCONN") &&
		       !strcmp(smc, "EINVAL");
	if (!pri || !strstr(tcp, "hup"))
		return false;
	snprintf(text, sizeof(text), "%.*s%s", (int)(pri - tcp), tcp, pri + 4);
	return !strcmp(text, smc);
}

static bool late_bind(const struct script *sc, int call, const char *tcp,
		      const char *smc)
{
	return is_op(sc, call, OP_BIND) && !strcmp(tcp, "0") &&
	       !strcmp(smc, "EINVAL") &&
	       over_before(sc, call, sc->op[call].slot[0]);
}

/* SMC-R only: with shared memory nothing is ever under way */
static bool crossing(const struct script *sc, int call, const char *tcp,
		     const char *smc)
{
	if (!rules_rdma || !strstr(smc, "not settled"))
		return false;
	return came_before(sc, call, OP_UNCONNECT, -1, 0) ||
	       came_before(sc, call, OP_LINGER, 1, 0) ||
	       came_before(sc, call, OP_SHUT, SHUT_RDWR, 0) ||
	       (came_before(sc, call, OP_SHUT, SHUT_RD, 0) &&
		came_before(sc, call, OP_SHUT, SHUT_WR, 0));
}

static const struct rule rules[] = {
	{ "urgent byte without a reader", late_urgent },
	{ "bind after the end", late_bind },
	{ "write that crosses an end", crossing },
	{ NULL, NULL },
};

static int rule_counts[ARRAY_LEN(rules)];

const struct rule *rule_find(const struct script *sc, int call, const char *tcp,
			     const char *smc)
{
	const struct rule *r;

	for (r = rules; rules_on && r->name; r++)
		if (r->explains(sc, call, tcp, smc))
			return r;
	return NULL;
}

void rule_count(const struct rule *r)
{
	rule_counts[r - rules]++;
}

/*
 * A rule explains one script in a hundred.  Where it explains many, something
 * else looks like it: that must not hide behind the list.
 */
static bool rule_too_often(const struct rule *r, int scripts)
{
	int n = rule_counts[r - rules];

	return n > 5 && n > scripts / 20;
}

/* Returns the number of rules that explain too much. */
int rule_report(int scripts)
{
	const struct rule *r;
	int bad = 0;

	for (r = rules; r->name; r++) {
		if (rule_counts[r - rules])
			printf("# deviation '%s': %d scripts\n", r->name,
			       rule_counts[r - rules]);
		if (!rule_too_often(r, scripts))
			continue;
		printf("# deviation '%s' explains too much: more than 1 in 20\n",
		       r->name);
		bad++;
	}
	return bad;
}
