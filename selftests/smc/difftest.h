/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the differential tester know of each other: see difftest.c. */
#ifndef SMC_DIFFTEST_H
#define SMC_DIFFTEST_H

#include "lib/sockcase.h"
#include "lib/tcpinfo.h"
#include "lib/util.h"
#include "lib/wait.h"

#include <signal.h>
#include <sys/uio.h>

/* -- scripts: difftest_script.c -- */

#define MAX_OPS		40
#define NUM_SLOTS	6
#define SLOT_NAMES	"cslabd"
#define NUM_RINGS	3
#define NUM_FLAG_WORDS	8

/* sizes of rings asked for; the first one is the smallest there is */
extern const int ring_sizes[NUM_RINGS];

enum op_code {
	OP_SEND, OP_RECV, OP_XFER, OP_FILL, OP_DRAIN, OP_POLL, OP_INQ, OP_OUTQ,
	OP_ATMARK, OP_SHUT, OP_CLOSE, OP_LINGER, OP_LOWAT, OP_RCVTIMEO,
	OP_SNDTIMEO, OP_OOBINLINE, OP_CORK, OP_SOERR, OP_SOCKNAME, OP_PEERNAME,
	OP_NEW, OP_BIND, OP_LISTEN, OP_CONNECT, OP_UNCONNECT, OP_ACCEPT,
	OP_COUNT
};

extern const struct op_info {
	const char *name;
	int slots, nums;
} op_info[OP_COUNT];

extern const struct flag_word {
	const char *word;
	int flag;
} flag_words[NUM_FLAG_WORDS];

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

void op_print(FILE *f, const struct op *op);
void script_print(FILE *f, const struct script *sc);
void script_read(struct script *sc, const char *path);

/* -- difftest_gen.c -- */

void script_make(struct script *sc, unsigned int seed);

/* -- what is known about a connection, waiting: difftest_model.c -- */

#define LIMIT		6000	/* bytes on the way that fit in any ring */
#define MAX_PEND	4	/* connections not accepted */
#define NO_MARK		UINT64_MAX
#define TRACE_LEN	96
#define TCP_BUF		262144	/* SO_SNDBUF, SO_RCVBUF of TCP sockets */
#define AREA		(256 * 1024)

struct flow {
	uint64_t wr, rd, mark;
	uint64_t before; /* bytes received that were the handshake's */
	int key;
	bool counted;	/* "before" is known */
	bool urg_new;	/* the mark has not shown as POLLPRI yet */
	bool fin;	/* no more will be written */
	bool rst;	/* the reader's side is reset */
	bool rst_seen;	/* and its error has been there */
	bool full;	/* more on the way than fits */
	bool lossy;	/* what is on the way may be dropped */
	bool more;	/* held back */
	bool rx_shut;	/* reader has SHUT_RD */
	bool rx_gone;	/* reader has closed */
};

struct pend {
	struct flow *in, *out;	/* as the accepting side sees them */
};

struct slot {
	int fd;
	struct flow *in, *out;
	bool listening, inl, cork, timeo_rcv, timeo_snd;
	int linger, npend;
	struct pend pend[MAX_PEND];
};

struct run {
	enum kind kind;
	int listener, ring, nflows;
	bool smc;
	struct slot slot[NUM_SLOTS];
	struct flow flow[4 * MAX_OPS];
	char trace[MAX_OPS + NUM_SLOTS][TRACE_LEN];
};

/* Options of the program. */
struct config {
	enum kind kind;		/* against TCP */
	bool smc;		/* rings are SMC's, not TCP's buffers */
	const char *host;
	int tick_us;		/* interrupts a blocking call */
	int wait_ms;		/* settle() gives up */
};

extern struct config config;
extern sig_atomic_t sigpipes;	/* since the call began */
extern unsigned char *area;	/* AREA bytes, then some without access */

void memory_init(void);
const unsigned char *flow_bytes(const struct flow *f, uint64_t pos);
int memory_layout(struct iovec *iov, int len, int pieces, int hole);
int events_now(int fd);
uint64_t on_way(const struct flow *f);
struct slot *reader_of(struct run *run, const struct flow *f);
void push_held(struct slot *s);
bool settle(struct slot *s);
void tick(bool on);
long sleeps(void);
bool too_early(int rc, long slept);
void skip_mark(struct slot *s);
void advance(struct flow *f, int n);
bool bytes_right(const struct flow *f, uint64_t pos, const unsigned char *buf,
		 int len);
int read_some(struct slot *s, int len);

/* -- data calls: difftest_run.c -- */

/* the line of a call; "out" has room for TRACE_LEN */
#define SAY(...) snprintf(out, TRACE_LEN, __VA_ARGS__)

int new_socket(struct run *run);
struct sockaddr_in host_addr(int port);
struct flow *new_flow(struct run *run);
void set_blocking(int fd, bool on);
void reset_reader(struct slot *s);
void drop_listener(struct slot *s);
void op_send(struct run *run, struct slot *s, const struct op *op, char *out);
void op_recv(struct slot *s, const struct op *op, char *out);
void op_xfer(struct run *run, struct slot *s, const struct op *op, char *out);
void op_fill(struct run *run, struct slot *s, char *out);
void op_drain(struct run *run, struct slot *s, char *out);
void op_poll(struct slot *s, char *out);

/* -- other calls, the run of a script: difftest_calls.c -- */

int make_listener(struct run *run);
void script_run(struct run *run, const struct script *sc);

/* -- deviations that are documented: difftest_rules.c -- */

struct rule {
	const char *name;
	/* is this what makes the answers of the call differ? */
	bool (*explains)(const struct script *sc, int call, const char *tcp,
			 const char *smc);
};

extern bool rules_on;			/* the sockets are SMC's */
extern bool rules_rdma;			/* and over RDMA */
/* What TCP answered to the script's calls: a call refused has done nothing. */
extern const struct run *rules_tcp;

const struct rule *rule_find(const struct script *sc, int call,
			     const char *tcp, const char *smc);
void rule_count(const struct rule *r);
int rule_report(int scripts);

#endif /* SMC_DIFFTEST_H */
