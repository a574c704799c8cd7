// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/smc/sock/state.c.
 *
 * Three looks at the table: every cell (state x event x flags) against rules
 * that must hold everywhere; every transition of the specification written
 * down a second time; and a model of two ends joined by a wire, of which every
 * reachable combination is visited: no end may say "closed" before its last
 * byte, and two ends whose programs have let go must always be able to finish.
 */
#include <linux/errno.h>
#include <linux/types.h>

#include "sock/state.h"
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

static const char *state_name(enum smc_state s)
{
	static const char * const names[] = {
#define NAME(sym, nr, name)	\
		[sym] = name,
		SMC_STATE_LIST(NAME)
#undef NAME
	};

	return s < ARRAY_SIZE(names) && names[s] ? names[s] : "?";
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

static void smc_state_event_name__all(void **state)
{
	(void)state;
	assert_string_equal(smc_state_event_name(SMC_EV_SHUT_WR), "shut_wr");
	assert_string_equal(smc_state_event_name(SMC_EV_KILLED), "killed");
	assert_string_equal(smc_state_event_name(SMC_EV_COUNT), "?");
	assert_string_equal(smc_state_event_name(SMC_EV_COUNT + 1), "?");
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

	/* nothing leaves CLOSED, nothing comes to INIT or to unused states */
	if (s == SMC_CLOSED)
		assert_int_equal(step->next, SMC_CLOSED);
	if (step->next == SMC_INIT || step->next == SMC_LISTEN ||
	    step->next == SMC_PEERABORTWAIT)
		assert_int_equal(s, step->next);
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
	/* only what is queued leaves with the last byte, and nothing else */
	if (act & SMC_DO_SENT) {
		assert_true(flags & (DNQ | CLQ));
		assert_false(act & (SENDS | SMC_DO_FLUSH));
	}
	/* after closed or abort only an abort may follow */
	if ((flags & (CLS | CLQ | DNQ)) == CLS && s >= SMC_PEERCLOSEWAIT1 &&
	    s != SMC_APPCLOSEWAIT1 && s != SMC_APPCLOSEWAIT2)
		assert_false(act & SMC_DO_SEND_CLOSED);
	/*
	 * a sleeper must learn that the state changed; connect() and accept()
	 * are woken when the handshake has ended, not before
	 */
	if (step->next != s && ev != SMC_EV_ESTABLISHED)
		assert_true(act & SMC_DO_WAKE);
	if (act & (SMC_DO_ERR_RESET | SMC_DO_ERR_ABORTED | SMC_DO_RCV_EOF))
		assert_true(act & SMC_DO_WAKE);
	/* an unexpected end is an error for the program */
	if (ev == SMC_EV_PEER_ABORT && step->next != s)
		assert_true(act & SMC_DO_ERR_RESET);
	if (ev == SMC_EV_KILLED && step->next != s)
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

/*
 * RFC 7609 section 4.6 once more, all of it, as a list.  Of the rows of a state
 * and an event the first one whose flags are all set holds; without one nothing
 * happens.
 */
#define FL	SMC_DO_FLUSH
#define DONE	SMC_DO_SEND_DONE
#define CLOSED	SMC_DO_SEND_CLOSED
#define ABRT	SMC_DO_SEND_ABORT
#define TCP_WR	SMC_DO_TCP_SHUT_WR
#define TCP	SMC_DO_TCP_SHUT
#define RST	SMC_DO_TCP_ABORT
#define ERST	SMC_DO_ERR_RESET
#define EABT	SMC_DO_ERR_ABORTED
#define FIN	SMC_DO_RCV_EOF
#define WAKE	SMC_DO_WAKE
#define FREE	SMC_DO_FREE
#define SENT	SMC_DO_SENT

#define ROW(from, ev, flags, to, act)					\
	{ SMC_##from, SMC_EV_##ev, flags, SMC_##to, act }
/* what waited for the last byte has gone with it, in the same state */
#define QUEUED(st)							\
	ROW(st, FLUSHED, DNQ, st, SENT | WAKE),				\
	ROW(st, FLUSHED, CLQ, st, SENT | WAKE)
/* the wait of an orphan is over; the path to the peer is gone */
#define ENDS(st)							\
	ROW(st, TIMEOUT, CLS, CLOSED, RST | WAKE | FREE),		\
	ROW(st, TIMEOUT, 0, CLOSED, ABRT | RST | WAKE | FREE),		\
	ROW(st, KILLED, 0, CLOSED,					\
	    ABRT | RST | EABT | FIN | WAKE | FREE)

static const struct expect {
	enum smc_state from;
	enum smc_state_event ev;
	unsigned int flags;
	enum smc_state to;
	unsigned int actions;
} expected[] = {
	ROW(ACTIVE, SHUT_WR, 0, PEERCLOSEWAIT1, FL | DONE | TCP_WR | WAKE),
	ROW(ACTIVE, CLOSE, 0, PEERCLOSEWAIT1, FL | CLOSED | TCP | WAKE),
	ROW(ACTIVE, CLOSE_ABORT, 0, PEERCLOSEWAIT1, ABRT | TCP | WAKE),
	ROW(ACTIVE, PEER_DONE, 0, APPCLOSEWAIT1, FIN | WAKE),
	ROW(ACTIVE, PEER_CLOSED, 0, APPCLOSEWAIT1, FIN | WAKE),
	ROW(ACTIVE, PEER_ABORT, 0, PROCESSABORT, ERST | FIN | WAKE),
	ENDS(ACTIVE),
	ROW(INIT, ESTABLISHED, 0, ACTIVE, 0),
	ROW(CLOSED, CLOSE, 0, CLOSED, FREE),
	ROW(CLOSED, CLOSE_ABORT, 0, CLOSED, FREE),
	ROW(PEERCLOSEWAIT1, CLOSE, CLQ, PEERCLOSEWAIT1, 0),
	ROW(PEERCLOSEWAIT1, CLOSE, CLS, PEERCLOSEWAIT1, 0),
	ROW(PEERCLOSEWAIT1, CLOSE, 0, PEERCLOSEWAIT1, FL | CLOSED | TCP | WAKE),
	ROW(PEERCLOSEWAIT1, CLOSE_ABORT, CLS, PEERCLOSEWAIT1, ABRT),
	ROW(PEERCLOSEWAIT1, CLOSE_ABORT, 0, PEERCLOSEWAIT1, ABRT | TCP | WAKE),
	ROW(PEERCLOSEWAIT1, PEER_DONE, 0, PEERCLOSEWAIT2, FIN | WAKE),
	ROW(PEERCLOSEWAIT1, PEER_CLOSED, REL | CLS, CLOSED, FIN | WAKE | FREE),
	ROW(PEERCLOSEWAIT1, PEER_CLOSED, REL, CLOSED, ABRT | FIN | WAKE | FREE),
	ROW(PEERCLOSEWAIT1, PEER_CLOSED, 0, APPFINCLOSEWAIT, FIN | WAKE),
	ROW(PEERCLOSEWAIT1, PEER_ABORT, CLS, CLOSED, ERST | FIN | WAKE | FREE),
	ROW(PEERCLOSEWAIT1, PEER_ABORT, CLQ, CLOSED,
	    ABRT | ERST | FIN | WAKE | FREE),
	ROW(PEERCLOSEWAIT1, PEER_ABORT, 0, PROCESSABORT, ERST | FIN | WAKE),
	QUEUED(PEERCLOSEWAIT1),
	ENDS(PEERCLOSEWAIT1),
	ROW(PEERCLOSEWAIT2, CLOSE, CLQ, PEERCLOSEWAIT2, 0),
	ROW(PEERCLOSEWAIT2, CLOSE, CLS, PEERCLOSEWAIT2, 0),
	ROW(PEERCLOSEWAIT2, CLOSE, 0, PEERCLOSEWAIT2, FL | CLOSED | TCP | WAKE),
	ROW(PEERCLOSEWAIT2, CLOSE_ABORT, CLS, PEERCLOSEWAIT2, ABRT),
	ROW(PEERCLOSEWAIT2, CLOSE_ABORT, 0, PEERCLOSEWAIT2, ABRT | TCP | WAKE),
	ROW(PEERCLOSEWAIT2, PEER_CLOSED, REL | CLS, CLOSED, FIN | WAKE | FREE),
	ROW(PEERCLOSEWAIT2, PEER_CLOSED, REL, CLOSED, ABRT | FIN | WAKE | FREE),
	ROW(PEERCLOSEWAIT2, PEER_CLOSED, 0, APPFINCLOSEWAIT, FIN | WAKE),
	ROW(PEERCLOSEWAIT2, PEER_ABORT, CLS, CLOSED, ERST | FIN | WAKE | FREE),
	ROW(PEERCLOSEWAIT2, PEER_ABORT, CLQ, CLOSED,
	    ABRT | ERST | FIN | WAKE | FREE),
	ROW(PEERCLOSEWAIT2, PEER_ABORT, 0, PROCESSABORT, ERST | FIN | WAKE),
	QUEUED(PEERCLOSEWAIT2),
	ENDS(PEERCLOSEWAIT2),
	ROW(APPCLOSEWAIT1, SHUT_WR, PCL, APPCLOSEWAIT2, DONE | TCP_WR | WAKE),
	ROW(APPCLOSEWAIT1, SHUT_WR, 0, APPCLOSEWAIT2,
	    FL | DONE | TCP_WR | WAKE),
	ROW(APPCLOSEWAIT1, CLOSE, PCL, CLOSED, CLOSED | TCP | WAKE | FREE),
	ROW(APPCLOSEWAIT1, CLOSE, 0, PEERFINCLOSEWAIT,
	    FL | CLOSED | TCP | WAKE),
	ROW(APPCLOSEWAIT1, CLOSE_ABORT, PCL, CLOSED, ABRT | TCP | WAKE | FREE),
	ROW(APPCLOSEWAIT1, CLOSE_ABORT, 0, PEERFINCLOSEWAIT, ABRT | TCP | WAKE),
	ROW(APPCLOSEWAIT1, PEER_DONE, 0, APPCLOSEWAIT1, FIN | WAKE),
	ROW(APPCLOSEWAIT1, PEER_CLOSED, 0, APPCLOSEWAIT1, FIN | WAKE),
	ROW(APPCLOSEWAIT1, PEER_ABORT, 0, PROCESSABORT, ERST | FIN | WAKE),
	QUEUED(APPCLOSEWAIT1),
	ENDS(APPCLOSEWAIT1),
	ROW(APPCLOSEWAIT2, CLOSE, PCL, CLOSED, CLOSED | TCP | WAKE | FREE),
	ROW(APPCLOSEWAIT2, CLOSE, 0, PEERFINCLOSEWAIT,
	    FL | CLOSED | TCP | WAKE),
	ROW(APPCLOSEWAIT2, CLOSE_ABORT, PCL, CLOSED, ABRT | TCP | WAKE | FREE),
	ROW(APPCLOSEWAIT2, CLOSE_ABORT, 0, PEERFINCLOSEWAIT, ABRT | TCP | WAKE),
	ROW(APPCLOSEWAIT2, PEER_DONE, 0, APPCLOSEWAIT2, FIN | WAKE),
	ROW(APPCLOSEWAIT2, PEER_CLOSED, 0, APPCLOSEWAIT2, FIN | WAKE),
	ROW(APPCLOSEWAIT2, PEER_ABORT, 0, CLOSED,
	    ABRT | ERST | FIN | WAKE | FREE),
	QUEUED(APPCLOSEWAIT2),
	ENDS(APPCLOSEWAIT2),
	ROW(APPFINCLOSEWAIT, CLOSE, CLS, CLOSED, WAKE | FREE),
	ROW(APPFINCLOSEWAIT, CLOSE, 0, CLOSED, CLOSED | TCP | WAKE | FREE),
	ROW(APPFINCLOSEWAIT, CLOSE_ABORT, CLS, CLOSED, WAKE | FREE),
	ROW(APPFINCLOSEWAIT, CLOSE_ABORT, 0, CLOSED, ABRT | TCP | WAKE | FREE),
	ROW(APPFINCLOSEWAIT, PEER_ABORT, 0, PROCESSABORT, ERST | FIN | WAKE),
	QUEUED(APPFINCLOSEWAIT),
	ENDS(APPFINCLOSEWAIT),
	ROW(PEERFINCLOSEWAIT, CLOSE_ABORT, CLS, PEERFINCLOSEWAIT, 0),
	ROW(PEERFINCLOSEWAIT, CLOSE_ABORT, 0, PEERFINCLOSEWAIT, ABRT | WAKE),
	ROW(PEERFINCLOSEWAIT, PEER_CLOSED, CLS, CLOSED, WAKE | FREE),
	ROW(PEERFINCLOSEWAIT, PEER_CLOSED, 0, CLOSED, ABRT | WAKE | FREE),
	ROW(PEERFINCLOSEWAIT, PEER_ABORT, CLS, CLOSED, ERST | WAKE | FREE),
	ROW(PEERFINCLOSEWAIT, PEER_ABORT, 0, CLOSED, ABRT | ERST | WAKE | FREE),
	QUEUED(PEERFINCLOSEWAIT),
	ENDS(PEERFINCLOSEWAIT),
	ROW(PROCESSABORT, CLOSE, 0, CLOSED, ABRT | TCP | WAKE | FREE),
	ROW(PROCESSABORT, CLOSE_ABORT, 0, CLOSED, ABRT | TCP | WAKE | FREE),
	ENDS(PROCESSABORT),
};

static const struct expect *find_expected(enum smc_state s,
					  enum smc_state_event ev,
					  unsigned int flags)
{
	const struct expect *e;

	for (e = expected; e < expected + ARRAY_SIZE(expected); e++)
		if (e->from == s && e->ev == ev &&
		    (flags & e->flags) == e->flags)
			return e;
	return NULL;
}

static void check_row(enum smc_state s, enum smc_state_event ev,
		      unsigned int flags)
{
	const struct smc_state_step *step = smc_state_next(s, ev, flags);
	const struct expect *e = find_expected(s, ev, flags);
	enum smc_state to = e ? e->to : s;
	unsigned int actions = e ? e->actions : 0;

	if (step->next != to || step->actions != actions)
		fail_msg("%s + %s (flags %#x): %s %#x, not %s %#x",
			 state_name(s), smc_state_event_name(ev), flags,
			 state_name(step->next), step->actions,
			 state_name(to), actions);
}

static void smc_state_next__specification(void **state)
{
	unsigned int flags;
	size_t i;
	int ev;

	(void)state;
	for (i = 0; i < N_STATES; i++)
		for (ev = 0; ev < SMC_EV_COUNT; ev++)
			for (flags = 0; flags <= SMC_ST_ALL; flags++)
				check_row(all_states[i], ev, flags);
}

static void smc_state_shut_check__all(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < N_STATES; i++) {
		enum smc_state s = all_states[i];
		int ok = s == SMC_ACTIVE ||
			 (s >= SMC_PEERCLOSEWAIT1 && s <= SMC_PEERFINCLOSEWAIT);

		assert_int_equal(smc_state_shut_check(s), ok ? 0 : -ENOTCONN);
	}
}

static void smc_state_may_send__all(void **state)
{
	unsigned int flags;
	size_t i;

	(void)state;
	for (i = 0; i < N_STATES; i++)
		for (flags = 0; flags <= SMC_ST_ALL; flags++) {
			enum smc_state s = all_states[i];
			bool want = s == SMC_ACTIVE ||
				    (s == SMC_APPCLOSEWAIT1 && !(flags & PCL));

			assert_int_equal(smc_state_may_send(s, flags), want);
		}
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
	if (act & SMC_DO_SENT) {
		act &= ~SMC_DO_SENT;
		if (e->flags & SMC_ST_DONE_QUEUED)
			act |= SMC_DO_SEND_DONE;
		if (e->flags & SMC_ST_CLOSE_QUEUED)
			act |= SMC_DO_SEND_CLOSED;
	}
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
			 state_name(e->state), act & SENDS,
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
static int make_move(struct world *w, int side, int move)
{
	struct end *e = &w->end[side];
	int released = e->flags & SMC_ST_RELEASED;

	switch (move) {
	case MOVE_DELIVER:
		return deliver(e, &w->end[!side]);
	case MOVE_FLUSH:
		if (!e->staged)
			return 0;
		e->staged = 0;
		step_end(e, SMC_EV_FLUSHED);
		return 1;
	case MOVE_WRITE:
		if (released || e->staged ||
		    !smc_state_may_send(e->state, e->flags))
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
	int id, side, move;

	for (id = 0; id < n_worlds; id++)
		for (side = 0; side < 2; side++)
			for (move = 0; move < MOVES; move++) {
				struct world w = worlds[id];
				int to = -1;

				if (make_move(&w, side, move))
					to = world_id(&w);
				if (move < MOVE_AUTO)
					next_world[id][side * MOVE_AUTO +
						       move] = to;
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
				 state_name(e[0].state), e[0].flags,
				 e[0].tx, e[0].rx, state_name(e[1].state),
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
		cmocka_unit_test(smc_state_event_name__all),
		cmocka_unit_test(smc_state_next__no_state),
		cmocka_unit_test(smc_state_next__every_cell),
		cmocka_unit_test(smc_state_next__specification),
		cmocka_unit_test(smc_state_shut_check__all),
		cmocka_unit_test(smc_state_may_send__all),
		cmocka_unit_test(state__two_ends_always_finish),
	};

	return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
