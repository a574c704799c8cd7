/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connection states and what closes them.  PURE: no kernel services.
 *
 * One constant table says for each state and event what the next state is and
 * what has to be done (RFC 7609 section 4.6).  The caller holds the facts the
 * outcome depends on as SMC_ST_* flags, looks the step up and carries it out:
 * first it stores error, shutdown and the next state, then it sends, ends TCP,
 * wakes and frees.
 *
 * Context: any; the caller serialises the steps of one connection
 * (state_lock).  Tests: selftests/unit/unit_state.c.
 */
#ifndef SMC_STATE_H
#define SMC_STATE_H

#include <linux/types.h>

/* The numbers are ABI: sock_diag, tracing and BPF programs see them. */
#define SMC_STATE_LIST(X)			\
	X(SMC_ACTIVE,		1,  "ACTIVE")		\
	X(SMC_INIT,		2,  "INIT")		\
	X(SMC_CLOSED,		7,  "CLOSED")		\
	X(SMC_LISTEN,		10, "LISTEN")		\
	X(SMC_PEERCLOSEWAIT1,	20, "PEERCLOSEWAIT1")	\
	X(SMC_PEERCLOSEWAIT2,	21, "PEERCLOSEWAIT2")	\
	X(SMC_APPCLOSEWAIT1,	22, "APPCLOSEWAIT1")	\
	X(SMC_APPCLOSEWAIT2,	23, "APPCLOSEWAIT2")	\
	X(SMC_APPFINCLOSEWAIT,	24, "APPFINCLOSEWAIT")	\
	X(SMC_PEERFINCLOSEWAIT,	25, "PEERFINCLOSEWAIT")	\
	X(SMC_PEERABORTWAIT,	26, "PEERABORTWAIT")	\
	X(SMC_PROCESSABORT,	27, "PROCESSABORT")

#define SMC_STATE_ENUM(sym, nr, name)	sym = nr,
enum smc_state {
	SMC_STATE_LIST(SMC_STATE_ENUM)
};

/*
 * Events, local ones first, then the peer's, then the group's and time's.  In
 * state.c two that are neighbours here may share their rules ("...").
 */
#define SMC_STATE_EVENT_LIST(X)						\
	X(SMC_EV_ESTABLISHED,	"established")	/* handshake done */	\
	X(SMC_EV_SHUT_WR,	"shut_wr")	/* shutdown(WR) */	\
	X(SMC_EV_CLOSE,		"close")	/* close, shut RDWR */	\
	X(SMC_EV_CLOSE_ABORT,	"close_abort")	/* bytes get lost */	\
	X(SMC_EV_PEER_DONE,	"peer_done")	/* CDC: only done */	\
	X(SMC_EV_PEER_CLOSED,	"peer_closed")	/* CDC: closed */	\
	X(SMC_EV_PEER_ABORT,	"peer_abort")	/* CDC: abort */	\
	X(SMC_EV_FLUSHED,	"flushed")	/* all staged written */\
	X(SMC_EV_TIMEOUT,	"timeout")	/* orphan waited enough */\
	X(SMC_EV_KILLED,	"killed")	/* group or link died */

#define SMC_STATE_EVENT_ENUM(sym, name)	sym,
enum smc_state_event {
	SMC_STATE_EVENT_LIST(SMC_STATE_EVENT_ENUM)
	SMC_EV_COUNT
};

/*
 * SMC_EV_CLOSE_ABORT is a close that loses bytes: some are unread, or the
 * linger time is 0, or the peer closed before it took what is staged.
 *
 * Facts about the connection, kept by the caller.  For close() RELEASED is set
 * before the step is looked up, for shutdown(RDWR) it is not; PEER_CLOSED is
 * set after the step of SMC_EV_PEER_CLOSED; a step with SMC_DO_FLUSH sets the
 * matching _QUEUED flags, SMC_DO_SENT and other sends clear them.
 */
#define SMC_ST_RELEASED		0x01	/* program closed its descriptor */
#define SMC_ST_PEER_CLOSED	0x02	/* peer said closed earlier */
#define SMC_ST_DONE_QUEUED	0x04	/* done waits for the flush */
#define SMC_ST_CLOSE_QUEUED	0x08	/* closed waits for the flush */
#define SMC_ST_CLOSE_SENT	0x10	/* closed or abort is sent */
#define SMC_ST_ALL		0x1f

/*
 * Actions.  With FLUSH the sends of the same step wait until the last staged
 * byte is written (SMC_EV_FLUSHED); a send without FLUSH happens at once,
 * after one last push of what the peer's window takes, and forgets what was
 * queued.  SENT: what was queued has been sent with the last byte.  FREE:
 * nothing more can come; free the connection now if the program has let go of
 * the socket, else when it does.  ERR_RESET is no error if all is over by then.
 */
#define SMC_DO_FLUSH		0x0001	/* sends below wait for the flush */
#define SMC_DO_SEND_DONE	0x0002	/* CDC sending done */
#define SMC_DO_SEND_CLOSED	0x0004	/* CDC connection closed */
#define SMC_DO_SEND_ABORT	0x0008	/* CDC abort, if a path is left */
#define SMC_DO_TCP_SHUT_WR	0x0010	/* FIN on the TCP connection */
#define SMC_DO_TCP_SHUT		0x0020	/* shut both directions there */
#define SMC_DO_TCP_ABORT	0x0040	/* RST there */
#define SMC_DO_ERR_RESET	0x0080	/* sk_err = ECONNRESET or EPIPE */
#define SMC_DO_ERR_ABORTED	0x0100	/* sk_err = abort_err */
#define SMC_DO_RCV_EOF		0x0200	/* end of file after buffered data */
#define SMC_DO_WAKE		0x0400	/* wake all waiters */
#define SMC_DO_FREE		0x0800	/* connection is over */
#define SMC_DO_SENT		0x1000	/* nothing is queued any more */
#define SMC_DO_ALL		0x1fff

/**
 * struct smc_state_step - outcome of an event
 * @next: state to go to, an enum smc_state
 * @actions: SMC_DO_* bits
 */
struct smc_state_step {
	u8 next;
	u16 actions;
};

const struct smc_state_step *smc_state_next(enum smc_state s,
					    enum smc_state_event ev,
					    unsigned int flags);
int smc_state_shut_check(enum smc_state s);
bool smc_state_may_send(enum smc_state s, unsigned int flags);
const char *smc_state_event_name(enum smc_state_event ev);

#endif /* SMC_STATE_H */
