// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/smc/state.c.
 *
 * Three looks at the table: every cell (state x event x flags) against rules
 * that must hold everywhere; every transition of the specification written
 * down a second time; and a model of two ends joined by a wire, of which every
 * reachable combination is visited: no end may say "closed" before its last
 * byte, and two ends whose programs have let go must always be able to finish.
 */
#include <linux/errno.h>
#include <linux/types.h>

#include "state.h"
#include "unit.h"
#include "wire/cdc.h"

#define REL	SMC_ST_RELEASED
#define PCL	SMC_ST_PEER_CLOSED
#define CLQ	SMC_ST_CLOSE_QUEUED
#define DNQ	SMC_ST_DONE_QUEUED
#define CLS	SMC_ST_CLOSE_SENT

#define SENDS	(SMC_DO_SEND_DONE | SMC_DO_SEND_CLOSED | SMC_DO_SEND_ABORT)

static const enum smc_state all_states[] = {
#define STATE(sym, nr, name)	sym,
	SMC_STATE_LIST(STATE)
#undef STATE
};

#define N_STATES	ARRAY_SIZE(all_states)

static int is_state(int nr)
{
	size_t i;

	for (i = 0; i < N_STATES; i++)
		if ((int)all_states[i] == nr)
			return 1;
	return 0;
}

static void smc_state__numbers_are_abi(void **state)
{
	(void)state;
	assert_int_equal(SMC_ACTIVE, 1);
	assert_int_equal(SMC_INIT, 2);
	assert_int_equal(SMC_CLOSED, 7);
	assert_int_equal(SMC_LISTEN, 10);
	assert_int_equal(SMC_PEERCLOSEWAIT1, 20);
	assert_int_equal(SMC_PEERCLOSEWAIT2, 21);
	assert_int_equal(SMC_APPCLOSEWAIT1, 22);
	assert_int_equal(SMC_APPCLOSEWAIT2, 23);
	assert_int_equal(SMC_APPFINCLOSEWAIT, 24);
	assert_int_equal(SMC_PEERFINCLOSEWAIT, 25);
	assert_int_equal(SMC_PEERABORTWAIT, 26);
	assert_int_equal(SMC_PROCESSABORT, 27);
	assert_int_equal(N_STATES, 12);
}

static void smc_state_name__all(void **state)
{
	int nr;

	(void)state;
	assert_string_equal(smc_state_name(SMC_ACTIVE), "ACTIVE");
	assert_string_equal(smc_state_name(SMC_APPFINCLOSEWAIT),
			    "APPFINCLOSEWAIT");
	assert_string_equal(smc_state_event_name(SMC_EV_SHUT_WR), "shut_wr");
	assert_string_equal(smc_state_event_name(SMC_EV_KILLED), "killed");
	assert_string_equal(smc_state_event_name(SMC_EV_COUNT), "?");
	for (nr = 0; nr < 300; nr++)
		assert_int_equal(strcmp(smc_state_name(nr), "?") != 0,
				 is_state(nr));
}

static void smc_state_next__no_state(void **state)
{
	const struct smc_state_step *step;
	int nr, ev;

	(void)state;
	for (nr = 0; nr < 300; nr++)
		for (ev = 0; ev < SMC_EV_COUNT + 3; ev++) {
			step = smc_state_next(nr, ev, 0);
			assert_non_null(step);
			if (!is_state(nr))
				assert_int_equal(step->actions, 0);
			else if (ev >= SMC_EV_COUNT)
				assert_int_equal(step->next, nr);
		}
}

static void check_cell(enum smc_state s, enum smc_state_event ev,
		       unsigned int flags)
{
	const struct smc_state_step *step = smc_state_next(s, ev, flags);
	unsigned int act = step->actions;

	assert_true(is_state(step->next));
	assert_int_equal(act & ~SMC_DO_ALL, 0);

	/* nothing leaves CLOSED, nothing comes back to INIT */
	if (s == SMC_CLOSED)
		assert_int_equal(step->next, SMC_CLOSED);
	if (step->next == SMC_INIT || step->next == SMC_LISTEN)
		assert_int_equal(s == step->next || s == SMC_INIT, 1);
	/* the end is announced exactly on the way into CLOSED, and on close */
	if (s != SMC_CLOSED)
		assert_int_equal(!!(act & SMC_DO_FREE),
				 step->next == SMC_CLOSED);
	else
		assert_int_equal(!!(act & SMC_DO_FREE), ev == SMC_EV_CLOSE ||
				 ev == SMC_EV_CLOSE_ABORT);
	/* a close is never both orderly and an abort */
	assert_false((act & SMC_DO_SEND_CLOSED) && (act & SMC_DO_SEND_ABORT));
	assert_false((act & SMC_DO_TCP_ABORT) && (act & SMC_DO_TCP_SHUT));
	/* a flush delays done or closed, never an abort */
	if (act & SMC_DO_FLUSH) {
		assert_true(act & (SMC_DO_SEND_DONE | SMC_DO_SEND_CLOSED));
		assert_false(act & SMC_DO_SEND_ABORT);
	}
	/* after closed or abort only an abort may follow */
	if ((flags & (CLS | CLQ | DNQ)) == CLS && s >= SMC_PEERCLOSEWAIT1 &&
	    s != SMC_APPCLOSEWAIT1 && s != SMC_APPCLOSEWAIT2)
		assert_false(act & SMC_DO_SEND_CLOSED);
	/* whoever sleeps must learn that the state changed */
	if (step->next != s && ev != SMC_EV_LISTEN)
		assert_true(act & SMC_DO_WAKE);
	if (act & (SMC_DO_ERR_RESET | SMC_DO_ERR_ABORTED | SMC_DO_RCV_EOF))
		assert_true(act & SMC_DO_WAKE);
	/* an unexpected end is an error for the program */
	if (ev == SMC_EV_PEER_ABORT && step->next != s &&
	    s != SMC_PEERABORTWAIT)
		assert_true(act & SMC_DO_ERR_RESET);
	if (ev == SMC_EV_KILLED && step->next != s && s != SMC_INIT)
		assert_true(act & SMC_DO_ERR_ABORTED);
	if (ev == SMC_EV_PEER_DONE || ev == SMC_EV_PEER_CLOSED)
		assert_false(act & (SMC_DO_ERR_RESET | SMC_DO_ERR_ABORTED));
}

static void smc_state_next__every_cell(void **state)
{
	unsigned int flags;
	size_t i;
	int ev;

	(void)state;
	for (i = 0; i < N_STATES; i++)
		for (ev = 0; ev < SMC_EV_COUNT; ev++)
			for (flags = 0; flags <= SMC_ST_ALL; flags++)
				check_cell(all_states[i], ev, flags);
}

/* RFC 7609 section 4.6 once more, as a list. */
#define DONE	SMC_DO_SEND_DONE
#define CLOSED	SMC_DO_SEND_CLOSED
#define ABRT	SMC_DO_SEND_ABORT
#define FL	SMC_DO_FLUSH

static const struct expect {
	enum smc_state from;
	enum smc_state_event ev;
	unsigned int flags;
	enum smc_state to;
	unsigned int sends;		/* FLUSH and sends, exactly */
} expected[] = {
	{ SMC_INIT, SMC_EV_LISTEN, 0, SMC_LISTEN, 0 },
	{ SMC_INIT, SMC_EV_ESTABLISHED, 0, SMC_ACTIVE, 0 },
	{ SMC_INIT, SMC_EV_CLOSE, REL, SMC_CLOSED, 0 },
	{ SMC_INIT, SMC_EV_PEER_DONE, 0, SMC_APPCLOSEWAIT1, 0 },
	{ SMC_INIT, SMC_EV_PEER_CLOSED, 0, SMC_APPCLOSEWAIT1, 0 },
	{ SMC_INIT, SMC_EV_PEER_ABORT, 0, SMC_PROCESSABORT, 0 },
	{ SMC_INIT, SMC_EV_SHUT_WR, 0, SMC_INIT, 0 },
	{ SMC_LISTEN, SMC_EV_CLOSE, REL, SMC_CLOSED, 0 },
	{ SMC_LISTEN, SMC_EV_KILLED, 0, SMC_LISTEN, 0 },
	{ SMC_ACTIVE, SMC_EV_SHUT_WR, 0, SMC_PEERCLOSEWAIT1, FL | DONE },
	{ SMC_ACTIVE, SMC_EV_CLOSE, 0, SMC_PEERCLOSEWAIT1, FL | CLOSED },
	{ SMC_ACTIVE, SMC_EV_CLOSE, REL, SMC_PEERCLOSEWAIT1, FL | CLOSED },
	{ SMC_ACTIVE, SMC_EV_CLOSE_ABORT, REL, SMC_PEERCLOSEWAIT1, ABRT },
	{ SMC_ACTIVE, SMC_EV_PEER_DONE, 0, SMC_APPCLOSEWAIT1, 0 },
	{ SMC_ACTIVE, SMC_EV_PEER_CLOSED, 0, SMC_APPCLOSEWAIT1, 0 },
	{ SMC_ACTIVE, SMC_EV_PEER_ABORT, 0, SMC_PROCESSABORT, 0 },
	{ SMC_ACTIVE, SMC_EV_ESTABLISHED, 0, SMC_ACTIVE, 0 },
	{ SMC_ACTIVE, SMC_EV_KILLED, 0, SMC_CLOSED, ABRT },
	{ SMC_PEERCLOSEWAIT1, SMC_EV_CLOSE, REL, SMC_PEERCLOSEWAIT1,
	  FL | CLOSED },
	{ SMC_PEERCLOSEWAIT1, SMC_EV_CLOSE, REL | CLS, SMC_PEERCLOSEWAIT1, 0 },
	{ SMC_PEERCLOSEWAIT1, SMC_EV_CLOSE, REL | CLQ, SMC_PEERCLOSEWAIT1, 0 },
	{ SMC_PEERCLOSEWAIT1, SMC_EV_CLOSE_ABORT, REL | CLQ,
	  SMC_PEERCLOSEWAIT1, ABRT },
	{ SMC_PEERCLOSEWAIT1, SMC_EV_CLOSE_ABORT, REL | CLS,
	  SMC_PEERCLOSEWAIT1, ABRT },
	{ SMC_PEERCLOSEWAIT1, SMC_EV_PEER_DONE, 0, SMC_PEERCLOSEWAIT2, 0 },
	{ SMC_PEERCLOSEWAIT1, SMC_EV_PEER_CLOSED, REL | CLS, SMC_CLOSED, 0 },
	{ SMC_PEERCLOSEWAIT1, SMC_EV_PEER_CLOSED, REL | CLQ, SMC_CLOSED,
	  ABRT },
	{ SMC_PEERCLOSEWAIT1, SMC_EV_PEER_CLOSED, 0, SMC_APPFINCLOSEWAIT, 0 },
	{ SMC_PEERCLOSEWAIT1, SMC_EV_PEER_CLOSED, CLS, SMC_APPFINCLOSEWAIT,
	  0 },
	{ SMC_PEERCLOSEWAIT1, SMC_EV_PEER_ABORT, 0, SMC_PROCESSABORT, 0 },
	{ SMC_PEERCLOSEWAIT1, SMC_EV_PEER_ABORT, REL | CLS, SMC_CLOSED, 0 },
	{ SMC_PEERCLOSEWAIT1, SMC_EV_PEER_ABORT, REL | CLQ, SMC_CLOSED, ABRT },
	{ SMC_PEERCLOSEWAIT1, SMC_EV_FLUSHED, DNQ, SMC_PEERCLOSEWAIT1, DONE },
	{ SMC_PEERCLOSEWAIT1, SMC_EV_FLUSHED, REL | CLQ, SMC_PEERCLOSEWAIT1,
	  CLOSED },
	{ SMC_PEERCLOSEWAIT1, SMC_EV_FLUSHED, DNQ | CLQ, SMC_PEERCLOSEWAIT1,
	  DONE | CLOSED },
	{ SMC_PEERCLOSEWAIT1, SMC_EV_FLUSHED, 0, SMC_PEERCLOSEWAIT1, 0 },
	{ SMC_PEERCLOSEWAIT1, SMC_EV_TIMEOUT, REL | CLQ, SMC_CLOSED, ABRT },
	{ SMC_PEERCLOSEWAIT1, SMC_EV_TIMEOUT, REL | CLS, SMC_CLOSED, ABRT },
	{ SMC_PEERCLOSEWAIT2, SMC_EV_PEER_DONE, 0, SMC_PEERCLOSEWAIT2, 0 },
	{ SMC_PEERCLOSEWAIT2, SMC_EV_CLOSE, REL, SMC_PEERCLOSEWAIT2,
	  FL | CLOSED },
	{ SMC_PEERCLOSEWAIT2, SMC_EV_PEER_CLOSED, REL | CLS, SMC_CLOSED, 0 },
	{ SMC_PEERCLOSEWAIT2, SMC_EV_PEER_CLOSED, 0, SMC_APPFINCLOSEWAIT, 0 },
	{ SMC_PEERCLOSEWAIT2, SMC_EV_PEER_ABORT, 0, SMC_PROCESSABORT, 0 },
	{ SMC_PEERCLOSEWAIT2, SMC_EV_PEER_ABORT, CLS, SMC_CLOSED, 0 },
	{ SMC_APPCLOSEWAIT1, SMC_EV_SHUT_WR, 0, SMC_APPCLOSEWAIT2, FL | DONE },
	{ SMC_APPCLOSEWAIT1, SMC_EV_SHUT_WR, PCL, SMC_APPCLOSEWAIT2, DONE },
	{ SMC_APPCLOSEWAIT1, SMC_EV_CLOSE, REL, SMC_PEERFINCLOSEWAIT,
	  FL | CLOSED },
	{ SMC_APPCLOSEWAIT1, SMC_EV_CLOSE, REL | PCL, SMC_CLOSED, CLOSED },
	{ SMC_APPCLOSEWAIT1, SMC_EV_CLOSE_ABORT, REL, SMC_PEERFINCLOSEWAIT,
	  ABRT },
	{ SMC_APPCLOSEWAIT1, SMC_EV_CLOSE_ABORT, REL | PCL, SMC_CLOSED, ABRT },
	{ SMC_APPCLOSEWAIT1, SMC_EV_PEER_DONE, 0, SMC_APPCLOSEWAIT1, 0 },
	{ SMC_APPCLOSEWAIT1, SMC_EV_PEER_CLOSED, 0, SMC_APPCLOSEWAIT1, 0 },
	{ SMC_APPCLOSEWAIT1, SMC_EV_PEER_ABORT, 0, SMC_PROCESSABORT, 0 },
	{ SMC_APPCLOSEWAIT1, SMC_EV_ESTABLISHED, 0, SMC_APPCLOSEWAIT1, 0 },
	{ SMC_APPCLOSEWAIT2, SMC_EV_CLOSE, REL, SMC_PEERFINCLOSEWAIT,
	  FL | CLOSED },
	{ SMC_APPCLOSEWAIT2, SMC_EV_CLOSE, REL | PCL, SMC_CLOSED, CLOSED },
	{ SMC_APPCLOSEWAIT2, SMC_EV_PEER_CLOSED, 0, SMC_APPCLOSEWAIT2, 0 },
	{ SMC_APPCLOSEWAIT2, SMC_EV_PEER_ABORT, 0, SMC_CLOSED, ABRT },
	{ SMC_APPFINCLOSEWAIT, SMC_EV_CLOSE, REL, SMC_CLOSED, CLOSED },
	{ SMC_APPFINCLOSEWAIT, SMC_EV_CLOSE, REL | CLS, SMC_CLOSED, 0 },
	{ SMC_APPFINCLOSEWAIT, SMC_EV_CLOSE_ABORT, REL, SMC_CLOSED, ABRT },
	{ SMC_APPFINCLOSEWAIT, SMC_EV_CLOSE_ABORT, REL | CLS, SMC_CLOSED, 0 },
	{ SMC_APPFINCLOSEWAIT, SMC_EV_PEER_ABORT, 0, SMC_PROCESSABORT, 0 },
	{ SMC_PEERFINCLOSEWAIT, SMC_EV_PEER_CLOSED, REL | CLS, SMC_CLOSED, 0 },
	{ SMC_PEERFINCLOSEWAIT, SMC_EV_PEER_CLOSED, REL | CLQ, SMC_CLOSED,
	  ABRT },
	{ SMC_PEERFINCLOSEWAIT, SMC_EV_PEER_ABORT, REL | CLS, SMC_CLOSED, 0 },
	{ SMC_PEERFINCLOSEWAIT, SMC_EV_CLOSE, REL | CLQ, SMC_PEERFINCLOSEWAIT,
	  0 },
	{ SMC_PEERFINCLOSEWAIT, SMC_EV_CLOSE_ABORT, REL | CLQ,
	  SMC_PEERFINCLOSEWAIT, ABRT },
	{ SMC_PEERFINCLOSEWAIT, SMC_EV_CLOSE_ABORT, REL | CLS,
	  SMC_PEERFINCLOSEWAIT, 0 },
	{ SMC_PEERFINCLOSEWAIT, SMC_EV_FLUSHED, REL | CLQ,
	  SMC_PEERFINCLOSEWAIT, CLOSED },
	{ SMC_PEERABORTWAIT, SMC_EV_CLOSE, REL, SMC_CLOSED, 0 },
	{ SMC_PEERABORTWAIT, SMC_EV_PEER_ABORT, 0, SMC_CLOSED, 0 },
	{ SMC_PROCESSABORT, SMC_EV_CLOSE, REL, SMC_CLOSED, ABRT },
	{ SMC_PROCESSABORT, SMC_EV_PEER_CLOSED, 0, SMC_PROCESSABORT, 0 },
	{ SMC_PROCESSABORT, SMC_EV_KILLED, 0, SMC_CLOSED, ABRT },
	{ SMC_CLOSED, SMC_EV_CLOSE, REL, SMC_CLOSED, 0 },
	{ SMC_CLOSED, SMC_EV_KILLED, 0, SMC_CLOSED, 0 },
};

static void smc_state_next__specification(void **state)
{
	const struct smc_state_step *step;
	const struct expect *e;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		e = &expected[i];
		step = smc_state_next(e->from, e->ev, e->flags);
		if (step->next != e->to ||
		    (step->actions & (SENDS | FL)) != e->sends)
			fail_msg("%s + %s (flags %#x): %s %#x, not %s %#x",
				 smc_state_name(e->from),
				 smc_state_event_name(e->ev), e->flags,
				 smc_state_name(step->next),
				 step->actions & (SENDS | FL),
				 smc_state_name(e->to), e->sends);
	}
}

static void smc_state_next__tcp_follows(void **state)
{
	const struct smc_state_step *step;

	(void)state;
	step = smc_state_next(SMC_ACTIVE, SMC_EV_SHUT_WR, 0);
	assert_true(step->actions & SMC_DO_TCP_SHUT_WR);
	step = smc_state_next(SMC_ACTIVE, SMC_EV_CLOSE, REL);
	assert_true(step->actions & SMC_DO_TCP_SHUT);
	step = smc_state_next(SMC_APPCLOSEWAIT1, SMC_EV_SHUT_WR, 0);
	assert_true(step->actions & SMC_DO_TCP_SHUT_WR);
	step = smc_state_next(SMC_ACTIVE, SMC_EV_KILLED, 0);
	assert_true(step->actions & SMC_DO_TCP_ABORT);
	step = smc_state_next(SMC_LISTEN, SMC_EV_CLOSE, REL);
	assert_true(step->actions & SMC_DO_DROP_CHILDREN);
}

static void smc_state_shut_check__all(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < N_STATES; i++) {
		enum smc_state s = all_states[i];
		int ok = s == SMC_ACTIVE ||
			 (s >= SMC_PEERCLOSEWAIT1 && s <= SMC_APPFINCLOSEWAIT);

		assert_int_equal(smc_state_shut_check(s), ok ? 0 : -ENOTCONN);
	}
}

static void smc_state_send_check__all(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < N_STATES; i++) {
		enum smc_state s = all_states[i];
		int want = -EPIPE;

		if (s == SMC_INIT)
			want = -ENOTCONN;
		else if (s == SMC_ACTIVE || s == SMC_APPCLOSEWAIT1)
			want = 0;
		assert_int_equal(smc_state_send_check(s, 0), want);
	}
	assert_int_equal(smc_state_send_check(SMC_APPCLOSEWAIT1, PCL),
			 -ECONNRESET);
}

/* --- two ends and a wire ------------------------------------------------ */

struct end {
	u8 state;
	u8 flags;			/* SMC_ST_* */
	u8 staged;			/* bytes not yet written to the peer */
	u8 tx;				/* sticky CDC flags sent */
	u8 rx;				/* sticky CDC flags seen */
	u8 over;			/* FREE was asked for */
};

struct world {
	struct end end[2];
};

enum {				/* moves of one end */
	MOVE_DELIVER,		/* the peer's CDC flags arrive */
	MOVE_FLUSH,		/* the last staged byte is written */
	MOVE_AUTO,		/* those above need no program */
	MOVE_WRITE = MOVE_AUTO,
	MOVE_SHUT_WR,
	MOVE_SHUT_RDWR,
	MOVE_CLOSE,
	MOVE_CLOSE_UNREAD,
	MOVES
};

#define MAX_WORLDS	(1 << 20)

static struct world *worlds;
static int (*next_world)[2 * MOVE_AUTO];
static int *hash;
static int n_worlds;

static void step_end(struct end *e, enum smc_state_event ev);

static void carry_out(struct end *e, unsigned int act, enum smc_state_event ev)
{
	if (act & SMC_DO_FLUSH) {
		if (act & SMC_DO_SEND_DONE)
			e->flags |= SMC_ST_DONE_QUEUED;
		if (act & SMC_DO_SEND_CLOSED)
			e->flags |= SMC_ST_CLOSE_QUEUED;
		if (!e->staged)
			step_end(e, SMC_EV_FLUSHED);
		return;
	}
	if (!(act & SENDS))
		return;
	/* the promise: done and closed come after the last byte */
	if (act & (SMC_DO_SEND_DONE | SMC_DO_SEND_CLOSED) && e->staged &&
	    !(e->rx & SMC_CDC_CLOSED))
		fail_msg("%s sends %#x on %s with bytes staged",
			 smc_state_name(e->state), act & SENDS,
			 smc_state_event_name(ev));
	if (act & SMC_DO_SEND_DONE)
		e->tx |= SMC_CDC_DONE;
	if (act & SMC_DO_SEND_CLOSED)
		e->tx |= SMC_CDC_CLOSED;
	if (act & SMC_DO_SEND_ABORT)
		e->tx |= SMC_CDC_ABORT;
	e->flags &= ~(SMC_ST_DONE_QUEUED | SMC_ST_CLOSE_QUEUED);
	if (act & (SMC_DO_SEND_CLOSED | SMC_DO_SEND_ABORT))
		e->flags |= SMC_ST_CLOSE_SENT;
}

static void step_end(struct end *e, enum smc_state_event ev)
{
	const struct smc_state_step *step;

	step = smc_state_next(e->state, ev, e->flags);
	e->state = step->next;
	if (step->actions & SMC_DO_FREE)
		e->over = 1;
	carry_out(e, step->actions, ev);
}

static int deliver(struct end *e, const struct end *peer)
{
	u8 fresh = peer->tx & ~e->rx;

	if (!fresh || (e->over && e->flags & SMC_ST_RELEASED))
		return 0;
	e->rx |= fresh;
	if (fresh & SMC_CDC_ABORT) {
		step_end(e, SMC_EV_PEER_ABORT);
	} else if (fresh & SMC_CDC_CLOSED) {
		step_end(e, SMC_EV_PEER_CLOSED);
		e->flags |= SMC_ST_PEER_CLOSED;
	} else {
		step_end(e, SMC_EV_PEER_DONE);
	}
	return 1;
}

/* Return: 1 if the move was possible. */
static int make_move(struct world *w, int who, int move)
{
	struct end *e = &w->end[who];
	int released = e->flags & SMC_ST_RELEASED;

	switch (move) {
	case MOVE_DELIVER:
		return deliver(e, &w->end[!who]);
	case MOVE_FLUSH:
		if (!e->staged)
			return 0;
		e->staged = 0;
		step_end(e, SMC_EV_FLUSHED);
		return 1;
	case MOVE_WRITE:
		if (released || e->staged ||
		    smc_state_send_check(e->state, e->flags))
			return 0;
		e->staged = 1;
		return 1;
	case MOVE_SHUT_WR:
	case MOVE_SHUT_RDWR:
		if (released || smc_state_shut_check(e->state))
			return 0;
		step_end(e, move == MOVE_SHUT_WR ? SMC_EV_SHUT_WR :
						   SMC_EV_CLOSE);
		return 1;
	default:
		if (released)
			return 0;
		e->flags |= SMC_ST_RELEASED;
		step_end(e, move == MOVE_CLOSE ? SMC_EV_CLOSE :
						 SMC_EV_CLOSE_ABORT);
		return 1;
	}
}

static int world_id(const struct world *w)
{
	u32 h = 2166136261U;
	size_t i;

	for (i = 0; i < sizeof(*w); i++)
		h = (h ^ ((const u8 *)w)[i]) * 16777619U;
	h ^= h >> 15;
	for (;; h++) {
		int *slot = &hash[h & (2 * MAX_WORLDS - 1)];

		if (!*slot) {
			if (n_worlds == MAX_WORLDS)
				fail_msg("more than %d worlds", MAX_WORLDS);
			worlds[n_worlds] = *w;
			*slot = ++n_worlds;
			return n_worlds - 1;
		}
		if (!memcmp(&worlds[*slot - 1], w, sizeof(*w)))
			return *slot - 1;
	}
}

static int world_is_over(const struct world *w)
{
	return w->end[0].over && w->end[1].over &&
	       w->end[0].flags & w->end[1].flags & SMC_ST_RELEASED;
}

static void explore(void)
{
	int id, who, move;

	for (id = 0; id < n_worlds; id++)
		for (who = 0; who < 2; who++)
			for (move = 0; move < MOVES; move++) {
				struct world w = worlds[id];
				int to = -1;

				if (make_move(&w, who, move))
					to = world_id(&w);
				if (move < MOVE_AUTO)
					next_world[id][who * MOVE_AUTO + move] =
						to;
			}
}

/* Mark every world from which deliveries and flushes alone lead to the end. */
static void mark_finishing(u8 *can)
{
	int id, k, changed;

	do {
		changed = 0;
		for (id = n_worlds - 1; id >= 0; id--) {
			if (can[id])
				continue;
			can[id] = world_is_over(&worlds[id]);
			for (k = 0; k < 2 * MOVE_AUTO && !can[id]; k++)
				can[id] = next_world[id][k] >= 0 &&
					  can[next_world[id][k]];
			changed |= can[id];
		}
	} while (changed);
}

static void state__two_ends_always_finish(void **state)
{
	struct world start = { { { .state = SMC_ACTIVE },
				 { .state = SMC_ACTIVE } } };
	u32 seen = 0;
	u8 *can;
	int id;

	(void)state;
	worlds = calloc(MAX_WORLDS, sizeof(*worlds));
	next_world = calloc(MAX_WORLDS, sizeof(*next_world));
	hash = calloc(2 * MAX_WORLDS, sizeof(*hash));
	can = calloc(MAX_WORLDS, 1);
	assert_true(worlds && next_world && hash && can);
	world_id(&start);
	explore();
	mark_finishing(can);
	assert_in_range(n_worlds, 500, MAX_WORLDS - 1);
	for (id = 0; id < n_worlds; id++) {
		const struct end *e = worlds[id].end;

		seen |= 1U << e->state;
		if (e[0].flags & e[1].flags & SMC_ST_RELEASED && !can[id])
			fail_msg("stuck: %s flags %#x tx %#x rx %#x, %s flags %#x tx %#x rx %#x",
				 smc_state_name(e[0].state), e[0].flags,
				 e[0].tx, e[0].rx, smc_state_name(e[1].state),
				 e[1].flags, e[1].tx, e[1].rx);
	}
	/* each state a connection can be in was visited */
	assert_int_equal(seen, 1U << SMC_ACTIVE | 1U << SMC_CLOSED |
			 1U << SMC_PEERCLOSEWAIT1 | 1U << SMC_PEERCLOSEWAIT2 |
			 1U << SMC_APPCLOSEWAIT1 | 1U << SMC_APPCLOSEWAIT2 |
			 1U << SMC_APPFINCLOSEWAIT |
			 1U << SMC_PEERFINCLOSEWAIT | 1U << SMC_PROCESSABORT);
	free(worlds);
	free(next_world);
	free(hash);
	free(can);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smc_state__numbers_are_abi),
		cmocka_unit_test(smc_state_name__all),
		cmocka_unit_test(smc_state_next__no_state),
		cmocka_unit_test(smc_state_next__every_cell),
		cmocka_unit_test(smc_state_next__specification),
		cmocka_unit_test(smc_state_next__tcp_follows),
		cmocka_unit_test(smc_state_shut_check__all),
		cmocka_unit_test(smc_state_send_check__all),
		cmocka_unit_test(state__two_ends_always_finish),
	};

	return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
