// SPDX-License-Identifier: GPL-2.0
/*
 * Connection states and what closes them.  PURE: no kernel services.
 *
 * The table below is the whole life of a connection after its handshake.  A
 * cell holds up to three rules, tried in order: the first one whose flags are
 * all set applies, a cell without a match changes nothing.  Reading one state
 * from top to bottom tells everything that can happen in it.
 *
 * Where RFC 7609 and its first implementation let close() wait until the
 * staged data is written, here close() returns at once: the step carries
 * SMC_DO_FLUSH, and "closed" follows the last byte (SMC_EV_FLUSHED) or "abort"
 * ends the wait (SMC_EV_TIMEOUT).  "closed" is never sent before the last
 * byte; when the peer will not take it any more, "abort" is sent instead.
 *
 * Context: any; the caller serialises the steps of one connection
 * (state_lock).  Tests: selftests/unit/unit_state.c.
 */
#include <linux/errno.h>
#include <linux/types.h>

#include "state.h"

#define RULES		3

/* One rule: applies if all @need flags are set; @need 0 always applies. */
struct rule {
	u8 need;
	struct smc_state_step step;
};

#define RELEASED	SMC_ST_RELEASED
#define PEER_CLOSED	SMC_ST_PEER_CLOSED
#define DONE_QUEUED	SMC_ST_DONE_QUEUED
#define CLOSE_QUEUED	SMC_ST_CLOSE_QUEUED
#define CLOSE_SENT	SMC_ST_CLOSE_SENT
#define FLUSH		SMC_DO_FLUSH
#define SEND_DONE	SMC_DO_SEND_DONE
#define SEND_CLOSED	SMC_DO_SEND_CLOSED
#define SEND_ABORT	SMC_DO_SEND_ABORT
#define TCP_SHUT_WR	SMC_DO_TCP_SHUT_WR
#define TCP_SHUT	SMC_DO_TCP_SHUT
#define TCP_ABORT	SMC_DO_TCP_ABORT
#define RESET		SMC_DO_ERR_RESET
#define ABORTED		SMC_DO_ERR_ABORTED
#define RCV_EOF		SMC_DO_RCV_EOF
#define WAKE		SMC_DO_WAKE
#define FREE		SMC_DO_FREE
#define SENT		SMC_DO_SENT

#define RULE(need, next, do)	{ (need), { (next), (do) } }

/* What was queued has been sent with the last byte. */
#define ON_FLUSHED(state)						\
	[SMC_EV_FLUSHED] = {						\
		RULE(CLOSE_QUEUED, state, SENT | WAKE),			\
		RULE(DONE_QUEUED, state, SENT | WAKE),			\
	}

/* The path to the peer is gone, or an orphan has waited long enough. */
#define ON_END								\
	[SMC_EV_TIMEOUT] = {						\
		/* all is delivered, only the peer's end is open */	\
		RULE(CLOSE_SENT, SMC_CLOSED, TCP_ABORT | WAKE | FREE),	\
		RULE(0, SMC_CLOSED,					\
		     SEND_ABORT | TCP_ABORT | WAKE | FREE),		\
	},								\
	[SMC_EV_KILLED] = {						\
		RULE(0, SMC_CLOSED, SEND_ABORT | TCP_ABORT | ABORTED |	\
		     RCV_EOF | WAKE | FREE),				\
	}

/* Peer aborted: wait until the program has seen the error and closed. */
#define TO_PROCESSABORT							\
	RULE(0, SMC_PROCESSABORT, RESET | RCV_EOF | WAKE)

/*
 * The connection is not the socket's yet: the caller ignores all other events,
 * and looks again at what they have left.
 */
static const struct rule init_rules[SMC_EV_COUNT][RULES] = {
	/* no WAKE: hs_done() wakes connect() */
	[SMC_EV_ESTABLISHED] = {
		RULE(0, SMC_ACTIVE, 0),
	},
};

static const struct rule active_rules[SMC_EV_COUNT][RULES] = {
	[SMC_EV_SHUT_WR] = {
		RULE(0, SMC_PEERCLOSEWAIT1,
		     FLUSH | SEND_DONE | TCP_SHUT_WR | WAKE),
	},
	[SMC_EV_CLOSE] = {
		RULE(0, SMC_PEERCLOSEWAIT1,
		     FLUSH | SEND_CLOSED | TCP_SHUT | WAKE),
	},
	[SMC_EV_CLOSE_ABORT] = {
		RULE(0, SMC_PEERCLOSEWAIT1, SEND_ABORT | TCP_SHUT | WAKE),
	},
	[SMC_EV_PEER_DONE ... SMC_EV_PEER_CLOSED] = {
		RULE(0, SMC_APPCLOSEWAIT1, RCV_EOF | WAKE),
	},
	[SMC_EV_PEER_ABORT] = {
		TO_PROCESSABORT,
	},
	ON_END,
};

/*
 * PEERCLOSEWAIT1 and 2: we finished first.  Either only "done" was asked for
 * (shutdown), or "closed" was sent or waits for the flush.
 */
#define PEERCLOSEWAIT(state)						\
	[SMC_EV_CLOSE] = {						\
		RULE(CLOSE_SENT, state, 0),				\
		RULE(CLOSE_QUEUED, state, 0),				\
		RULE(0, state, FLUSH | SEND_CLOSED | TCP_SHUT | WAKE),	\
	},								\
	[SMC_EV_CLOSE_ABORT] = {					\
		RULE(CLOSE_SENT, state, SEND_ABORT),			\
		RULE(0, state, SEND_ABORT | TCP_SHUT | WAKE),		\
	},								\
	[SMC_EV_PEER_CLOSED] = {					\
		RULE(RELEASED | CLOSE_SENT, SMC_CLOSED,			\
		     RCV_EOF | WAKE | FREE),				\
		/* it will not take what is still staged */		\
		RULE(RELEASED, SMC_CLOSED,				\
		     SEND_ABORT | RCV_EOF | WAKE | FREE),		\
		RULE(0, SMC_APPFINCLOSEWAIT, RCV_EOF | WAKE),		\
	},								\
	[SMC_EV_PEER_ABORT] = {						\
		RULE(CLOSE_SENT, SMC_CLOSED,				\
		     RESET | RCV_EOF | WAKE | FREE),			\
		RULE(CLOSE_QUEUED, SMC_CLOSED,				\
		     SEND_ABORT | RESET | RCV_EOF | WAKE | FREE),	\
		TO_PROCESSABORT,					\
	},								\
	ON_FLUSHED(state),						\
	ON_END

static const struct rule peerclosewait1_rules[SMC_EV_COUNT][RULES] = {
	[SMC_EV_PEER_DONE] = {
		RULE(0, SMC_PEERCLOSEWAIT2, RCV_EOF | WAKE),
	},
	PEERCLOSEWAIT(SMC_PEERCLOSEWAIT1),
};

static const struct rule peerclosewait2_rules[SMC_EV_COUNT][RULES] = {
	PEERCLOSEWAIT(SMC_PEERCLOSEWAIT2),
};

/*
 * APPCLOSEWAIT1 and 2: the peer finished first, with "done" (it still reads)
 * or with "closed" (it does not).  A peer that says "closed" after "done" ends
 * the flush of an orphan later, in PEERFINCLOSEWAIT.
 */
#define APPCLOSEWAIT(state)						\
	[SMC_EV_CLOSE] = {						\
		RULE(PEER_CLOSED, SMC_CLOSED,				\
		     SEND_CLOSED | TCP_SHUT | WAKE | FREE),		\
		RULE(0, SMC_PEERFINCLOSEWAIT,				\
		     FLUSH | SEND_CLOSED | TCP_SHUT | WAKE),		\
	},								\
	[SMC_EV_CLOSE_ABORT] = {					\
		RULE(PEER_CLOSED, SMC_CLOSED,				\
		     SEND_ABORT | TCP_SHUT | WAKE | FREE),		\
		RULE(0, SMC_PEERFINCLOSEWAIT,				\
		     SEND_ABORT | TCP_SHUT | WAKE),			\
	},								\
	[SMC_EV_PEER_DONE ... SMC_EV_PEER_CLOSED] = {			\
		RULE(0, state, RCV_EOF | WAKE),				\
	},								\
	ON_FLUSHED(state),						\
	ON_END

static const struct rule appclosewait1_rules[SMC_EV_COUNT][RULES] = {
	[SMC_EV_SHUT_WR] = {
		RULE(PEER_CLOSED, SMC_APPCLOSEWAIT2,
		     SEND_DONE | TCP_SHUT_WR | WAKE),
		RULE(0, SMC_APPCLOSEWAIT2,
		     FLUSH | SEND_DONE | TCP_SHUT_WR | WAKE),
	},
	[SMC_EV_PEER_ABORT] = {
		TO_PROCESSABORT,
	},
	APPCLOSEWAIT(SMC_APPCLOSEWAIT1),
};

static const struct rule appclosewait2_rules[SMC_EV_COUNT][RULES] = {
	/* The peer waits for an answer, and close() will find nothing to do. */
	[SMC_EV_PEER_ABORT] = {
		RULE(0, SMC_CLOSED,
		     SEND_ABORT | RESET | RCV_EOF | WAKE | FREE),
	},
	APPCLOSEWAIT(SMC_APPCLOSEWAIT2),
};

/* Both are done with sending, the peer has closed, our program has not. */
static const struct rule appfinclosewait_rules[SMC_EV_COUNT][RULES] = {
	[SMC_EV_CLOSE] = {
		RULE(CLOSE_SENT, SMC_CLOSED, WAKE | FREE),
		RULE(0, SMC_CLOSED, SEND_CLOSED | TCP_SHUT | WAKE | FREE),
	},
	[SMC_EV_CLOSE_ABORT] = {
		RULE(CLOSE_SENT, SMC_CLOSED, WAKE | FREE),
		RULE(0, SMC_CLOSED, SEND_ABORT | TCP_SHUT | WAKE | FREE),
	},
	[SMC_EV_PEER_ABORT] = {
		TO_PROCESSABORT,
	},
	ON_FLUSHED(SMC_APPFINCLOSEWAIT),
	ON_END,
};

/* The peer was done with sending, then we closed; it still reads. */
static const struct rule peerfinclosewait_rules[SMC_EV_COUNT][RULES] = {
	[SMC_EV_CLOSE_ABORT] = {
		RULE(CLOSE_SENT, SMC_PEERFINCLOSEWAIT, 0),
		RULE(0, SMC_PEERFINCLOSEWAIT, SEND_ABORT | WAKE),
	},
	[SMC_EV_PEER_CLOSED] = {
		RULE(CLOSE_SENT, SMC_CLOSED, WAKE | FREE),
		RULE(0, SMC_CLOSED, SEND_ABORT | WAKE | FREE),
	},
	[SMC_EV_PEER_ABORT] = {
		RULE(CLOSE_SENT, SMC_CLOSED, RESET | WAKE | FREE),
		RULE(0, SMC_CLOSED, SEND_ABORT | RESET | WAKE | FREE),
	},
	ON_FLUSHED(SMC_PEERFINCLOSEWAIT),
	ON_END,
};

/* The peer aborted; the program has still to learn of it and to close. */
static const struct rule processabort_rules[SMC_EV_COUNT][RULES] = {
	[SMC_EV_CLOSE ... SMC_EV_CLOSE_ABORT] = {
		RULE(0, SMC_CLOSED, SEND_ABORT | TCP_SHUT | WAKE | FREE),
	},
	ON_END,
};

/* Over; what is left is that the program lets go of the socket. */
static const struct rule closed_rules[SMC_EV_COUNT][RULES] = {
	[SMC_EV_CLOSE ... SMC_EV_CLOSE_ABORT] = {
		RULE(0, SMC_CLOSED, FREE),
	},
};

/*
 * State by state: its rules, and the step that changes nothing.  No connection
 * is in those without rules: sock_diag shows LISTEN for listeners, and
 * PEERABORTWAIT is the specification's, where close() waits for an abort.
 */
#define ROW(state, table)						\
	[state] = { .rules = table, .stay = { state, 0 } }

static const struct {
	const struct rule (*rules)[RULES];
	struct smc_state_step stay;
} states[] = {
	ROW(SMC_ACTIVE, active_rules),
	ROW(SMC_INIT, init_rules),
	ROW(SMC_CLOSED, closed_rules),
	ROW(SMC_LISTEN, NULL),
	ROW(SMC_PEERCLOSEWAIT1, peerclosewait1_rules),
	ROW(SMC_PEERCLOSEWAIT2, peerclosewait2_rules),
	ROW(SMC_APPCLOSEWAIT1, appclosewait1_rules),
	ROW(SMC_APPCLOSEWAIT2, appclosewait2_rules),
	ROW(SMC_APPFINCLOSEWAIT, appfinclosewait_rules),
	ROW(SMC_PEERFINCLOSEWAIT, peerfinclosewait_rules),
	ROW(SMC_PEERABORTWAIT, NULL),
	ROW(SMC_PROCESSABORT, processabort_rules),
};

/* What smc_state_next() answers to a number that is no state. */
static const struct smc_state_step no_state;

#define STATES		(sizeof(states) / sizeof(states[0]))

#define EVENT_NAME(sym, label)		\
	[sym] = label,

/**
 * smc_state_next() - look up what an event does
 * @s: current state
 * @ev: what happened
 * @flags: SMC_ST_* facts, see there when each is set
 *
 * Context: any; the caller serialises the steps of one connection.
 * Return: never NULL; an event that means nothing in this state gives a step
 * to the same state without actions.
 */
const struct smc_state_step *smc_state_next(enum smc_state s,
					    enum smc_state_event ev,
					    unsigned int flags)
{
	const struct rule *rule;
	int i;

	if (s >= STATES)
		return &no_state;
	if (ev >= SMC_EV_COUNT || !states[s].rules)
		return &states[s].stay;
	rule = states[s].rules[ev];
	for (i = 0; i < RULES && rule[i].step.next; i++)
		if ((flags & rule[i].need) == rule[i].need)
			return &rule[i].step;
	return &states[s].stay;
}

/**
 * smc_state_shut_check() - may the program shut the connection down?
 * @s: current state
 *
 * Context: any.
 * Return: 0, or -ENOTCONN.
 */
int smc_state_shut_check(enum smc_state s)
{
	switch (s) {
	case SMC_ACTIVE:
	case SMC_PEERCLOSEWAIT1:
	case SMC_PEERCLOSEWAIT2:
	case SMC_APPCLOSEWAIT1:
	case SMC_APPCLOSEWAIT2:
	case SMC_APPFINCLOSEWAIT:
	case SMC_PEERFINCLOSEWAIT:
		return 0;
	default:
		return -ENOTCONN;
	}
}

/**
 * smc_state_may_send() - may the program send?
 * @s: current state
 * @flags: SMC_ST_* facts
 *
 * Context: any.
 * Return: false also when the peer has closed: it would not read the bytes.
 */
bool smc_state_may_send(enum smc_state s, unsigned int flags)
{
	switch (s) {
	case SMC_ACTIVE:
		return true;
	case SMC_APPCLOSEWAIT1:
		return !(flags & SMC_ST_PEER_CLOSED);
	default:
		return false;
	}
}

/**
 * smc_state_event_name() - name of an event for traces
 * @ev: event, any number
 *
 * Context: any.
 * Return: constant string, "?" for a number that is no event.
 */
const char *smc_state_event_name(enum smc_state_event ev)
{
	static const char * const names[] = {
		SMC_STATE_EVENT_LIST(EVENT_NAME)
	};

	if (ev >= SMC_EV_COUNT)
		return "?";
	return names[ev];
}
